package demo_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/demo"
)

// buyer is a browser in the shop.
type buyer struct {
	t      *testing.T
	client *http.Client
	base   string
	ticket string
}

func newBuyer(t *testing.T) *buyer {
	t.Helper()
	server := httptest.NewServer(demo.Shop())
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &buyer{t: t, client: &http.Client{Jar: jar}, base: server.URL, ticket: strings.Repeat("0123456789abcdef", 2)}
}

func (b *buyer) send(method, path, accept string, form url.Values) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	if b.ticket != "" {
		r.Header.Set("Anteroom-Ticket", b.ticket)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer, string(body)
}

func TestShopPages(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		path, kind string
		status     int
		has        string
	}{
		"Home":          {"/", "text/html; charset=utf-8", 200, "The Nightfall Tour"},
		"Show":          {"/shows/gdansk", "text/html; charset=utf-8", 200, "Gdańsk"},
		"EmptyCart":     {"/cart", "text/html; charset=utf-8", 200, "It is empty"},
		"Style":         {"/shop.css", "text/css; charset=utf-8", 200, "body {"},
		"Poster":        {"/posters/lyon.svg", "image/svg+xml", 200, "Lyon</text>"},
		"API":           {"/api/shows", "application/json", 200, `"slug":"tallinn"`},
		"UnknownShow":   {"/shows/%3Cscript%3E", "text/html; charset=utf-8", 404, "no such page"},
		"UnknownPage":   {"/wp-login.php", "text/html; charset=utf-8", 404, "no such page"},
		"UnknownPoster": {"/posters/lyon.png", "text/plain; charset=utf-8", 404, "no such poster"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, body := newBuyer(t).send(http.MethodGet, c.path, "text/html", nil)
			if answer.StatusCode != c.status || answer.Header.Get("Content-Type") != c.kind || !strings.Contains(body, c.has) {
				t.Errorf("status %d, type %q, body %.300q", answer.StatusCode, answer.Header.Get("Content-Type"), body)
			}
			if answer.Header.Get("Refresh") != "" {
				t.Error("a shop page must not look like a waiting page")
			}
		})
	}
}

func TestShopNamesNoOtherSite(t *testing.T) {
	t.Parallel()
	b := newBuyer(t)
	address := regexp.MustCompile(`(?:src|href|action)="([^"]*)"|url\(([^)]*)\)`)
	for _, path := range []string{"/", "/shows/lisbon", "/cart", "/shop.css", "/posters/lisbon.svg", "/nothing"} {
		answer, body := b.send(http.MethodGet, path, "text/html", nil)
		for _, m := range address.FindAllStringSubmatch(body, -1) {
			if to := m[1] + m[2]; !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "#") {
				t.Errorf("%s points to %q", path, to)
			}
		}
		if strings.Contains(body, "<script") || strings.Contains(body, "style=") {
			t.Errorf("%s has something in it that its policy forbids", path)
		}
		if html := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html"); html && !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s has no policy", path)
		}
	}
}

func TestShopShowsTheTicket(t *testing.T) {
	t.Parallel()
	b := newBuyer(t)
	if _, body := b.send(http.MethodGet, "/", "text/html", nil); !strings.Contains(body, "<code>01234567</code>") {
		t.Error("the page does not show the ticket")
	}
	b.ticket = "<b>"
	if _, body := b.send(http.MethodGet, "/", "text/html", nil); strings.Contains(body, "<b>") {
		t.Error("the ticket is not escaped")
	}
	b.ticket = ""
	if _, body := b.send(http.MethodGet, "/", "text/html", nil); !strings.Contains(body, "No waiting room") {
		t.Error("the page does not say that there is no waiting room")
	}
}

func TestShopSpeaksJSON(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		accept string
		json   bool
	}{
		"OnlyJSON":       {"application/json", true},
		"JSONFirst":      {"application/json, text/html;q=0.8", true},
		"JSONAndAny":     {"application/json, text/plain, */*", true},
		"Browser":        {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false},
		"HTMLOverJSON":   {"application/json;q=0.5, text/html", false},
		"Anything":       {"*/*", false},
		"Empty":          {"", false},
		"UpperCase":      {"Application/JSON", true},
		"UnreadQuality":  {"application/json;q=x, text/html", false},
		"JSONNotWelcome": {"application/json;q=0", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBuyer(t)
			_, body := b.send(http.MethodGet, "/", c.accept, nil)
			var told struct {
				Room *struct {
					InWaitingRoom *bool `json:"inWaitingRoom"`
				} `json:"cfWaitingRoom"`
				Ticket string           `json:"ticket"`
				Shows  []map[string]any `json:"shows"`
			}
			err := json.Unmarshal([]byte(body), &told)
			if (err == nil) != c.json {
				t.Fatalf("JSON: %v, want %v: %.100q", err == nil, c.json, body)
			}
			if c.json && (told.Room == nil || told.Room.InWaitingRoom == nil || *told.Room.InWaitingRoom || told.Ticket != b.ticket || len(told.Shows) != 6) {
				t.Errorf("%s", body)
			}
		})
	}
}

// add puts tickets into the cart.
func (b *buyer) add(show, tickets string) (*http.Response, string) {
	b.t.Helper()
	return b.send(http.MethodPost, "/cart", "text/html", url.Values{"show": {show}, "tickets": {tickets}})
}

func TestCartRefuses(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string][2]string{
		"UnknownShow": {"paris", "1"}, "None": {"lyon", "0"}, "TooMany": {"lyon", "5"},
		"NoNumber": {"lyon", "x"}, "Nothing": {"", ""}, "Dots": {"lyon.2", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if answer, _ := newBuyer(t).add(bad[0], bad[1]); answer.StatusCode != http.StatusBadRequest {
				t.Errorf("status %d", answer.StatusCode)
			}
		})
	}
}

func TestCart(t *testing.T) {
	t.Parallel()
	b := newBuyer(t)
	answer, body := b.add("lyon", "3")
	if answer.Request.URL.Path != "/cart" || !strings.Contains(body, "3 × Lyon") || !strings.Contains(body, "€186") || !strings.Contains(body, "Cart (3)") {
		t.Errorf("at %s: %s", answer.Request.URL, body)
	}
	answer, body = b.send(http.MethodPost, "/order", "text/html", url.Values{})
	if answer.Header.Get("Anteroom-Command") != "revoke" || !strings.Contains(body, "Thank you") || strings.Contains(body, "Cart (3)") {
		t.Errorf("an order answers %v %s", answer.Header, body)
	}
	if _, body := b.send(http.MethodGet, "/cart", "text/html", nil); !strings.Contains(body, "It is empty") {
		t.Error("the cart survived the order")
	}
}
