package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anteroom/anteroom"
)

// Client speaks to the API of a running server.
type Client struct {
	// URL is the admin address, such as http://127.0.0.1:8081.
	URL   string
	Token string
	// Zone is the ID of the zone; empty means the first one.
	Zone string
	// HTTP makes the requests; nil means one with a timeout.
	HTTP *http.Client
}

// Bounds of a client.
const (
	clientTimeout  = 30 * time.Second
	answerBytesMax = 512 << 20
	pagesMax       = 10_000
)

// answer is an envelope whose result is not decoded yet.
type answer struct {
	Success bool            `json:"success"`
	Errors  []item          `json:"errors"`
	Result  json.RawMessage `json:"result"`
}

// call makes one request and decodes the result into out when out is not nil.
func (c *Client) call(ctx context.Context, method, path string, body, out any) error {
	request, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: clientTimeout}
	}
	response, err := client.Do(request)
	if err != nil {
		return anteroom.Errorf(anteroom.CodeUnavailable, "the server does not answer: %w", err).
			WithHint("is it running, and is %s its admin address?", c.URL)
	}
	result, err := decodeAnswer(response)
	if err = errors.Join(err, response.Body.Close()); err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return nil
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("cannot encode the request: %w", err)
		}
		reader = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+Base+path, reader)
	if err != nil {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the address of the server cannot be used: %w", err).
			WithHint("write it such as http://127.0.0.1:8081")
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	request.Header.Set("Content-Type", "application/json")
	return request, nil
}

// decodeAnswer gives the result, or the errors that the server named.
func decodeAnswer(response *http.Response) (json.RawMessage, error) {
	data, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax))
	if err != nil {
		return nil, fmt.Errorf("the server's answer broke off: %w", err)
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil || !a.Success && len(a.Errors) == 0 {
		return nil, anteroom.Errorf(anteroom.CodeUnavailable, "the server answers %s without the API's envelope", response.Status).
			WithHint("is this the admin address of Anteroom?")
	}
	if a.Success {
		return a.Result, nil
	}
	var list anteroom.Errors
	for _, i := range a.Errors {
		e := anteroom.Errorf(anteroom.Code(i.Code), "%s", i.Message)
		if e.Code == anteroom.CodeAuth {
			e.Hint = "the token stands in the file admin-token of the server's data directory"
		}
		list = append(list, e)
	}
	return nil, list
}

// zone is the ID of the zone to work in.
func (c *Client) zone(ctx context.Context) (string, error) {
	if c.Zone != "" {
		return c.Zone, nil
	}
	var zones []reference
	if err := c.call(ctx, http.MethodGet, "/zones", nil, &zones); err != nil {
		return "", err
	}
	if len(zones) == 0 {
		return "", anteroom.Errorf(anteroom.CodeNoRoute, "the server has no zone")
	}
	return zones[0].ID, nil
}

// rooms are all rooms of a zone.
func (c *Client) rooms(ctx context.Context, path string) ([]anteroom.Room, error) {
	var all []anteroom.Room
	for page := range pagesMax {
		var part []anteroom.Room
		query := "?per_page=" + strconv.Itoa(perPage) + "&page=" + strconv.Itoa(page+1)
		if err := c.call(ctx, http.MethodGet, path+query, nil, &part); err != nil {
			return nil, err
		}
		if len(part) == 0 {
			break
		}
		all = append(all, part...)
	}
	return all, nil
}
