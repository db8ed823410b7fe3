package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/api"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/edge"
)

// applyTimeout bounds one request of apply.
const applyTimeout = 30 * time.Second

type siteFile struct {
	File string `short:"f" required:"" help:"The site file: YAML with waiting_rooms. \"-\" is standard input." placeholder:"FILE"`
}

type applyCommand struct {
	siteFile
	Server string `default:"http://127.0.0.1:8081" help:"The admin address of the running server."`
	Token  string `env:"ANTEROOM_TOKEN,ANTEROOM_ADMIN_TOKEN" help:"The API token. Default: the one in the data directory."`
	Data   string `default:"./anteroom-data" help:"The server's data directory, for its token."`
	DryRun bool   `help:"Show the difference and change nothing."`
}

// Run shows the difference between file and server, and makes the server equal to the file.
func (c applyCommand) Run(ctx context.Context, con console) error {
	site, err := c.read()
	if err != nil {
		return err
	}
	token, err := c.token()
	if err != nil {
		return err
	}
	client := &api.Client{URL: strings.TrimSuffix(c.Server, "/"), Token: token, HTTP: &http.Client{Timeout: applyTimeout}}
	diff, err := api.Apply(ctx, client, site, c.DryRun)
	fmt.Fprint(con.out, diff.String())
	return err
}

// token finds the API token.
func (c applyCommand) token() (string, error) {
	if c.Token != "" {
		return c.Token, nil
	}
	path := filepath.Join(c.Data, "admin-token")
	b, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return "", badInput{anteroom.Errorf(anteroom.CodeAuth, "no API token: %w", err).
			WithHint("give --token or set ANTEROOM_TOKEN, or point --data to the server's data directory")}
	}
	return strings.TrimSpace(string(b)), nil
}

// read reads and checks the file.
func (f siteFile) read() (config.Site, error) {
	name, data, err := f.open()
	if err != nil {
		return config.Site{}, badInput{anteroom.Errorf(anteroom.CodeInvalid, "cannot read the site file: %w", err).
			WithHint("check the name given with -f")}
	}
	site, err := config.DecodeSite(name, data, edge.Checks())
	if err != nil {
		return config.Site{}, badInput{err}
	}
	return site, nil
}

// open gives the name and the content of the file.
func (f siteFile) open() (name string, data []byte, err error) {
	if f.File == "-" {
		data, err = readAll(os.Stdin)
		return "standard input", data, err
	}
	data, err = os.ReadFile(f.File)
	return f.File, data, err
}

type checkCommand struct{ siteFile }

// Run checks the file as apply would.
func (c checkCommand) Run(con console) error {
	site, err := c.read()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s is sound: %d waiting rooms\n", c.File, len(site.Rooms))
	return err
}
