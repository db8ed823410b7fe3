package main

import (
	"errors"
	"io"
	"strings"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

// readAll reads a site file from a stream, up to the largest that is accepted and one byte more.
func readAll(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, config.SiteBytesMax+1))
}

// flagErrors turns faults of fields into faults of flags: the field total_active_users is the flag
// --total-active-users.
func flagErrors(err error) anteroom.Errors {
	var many anteroom.Errors
	var one *anteroom.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &many):
	case errors.As(err, &one):
		many = anteroom.Errors{one}
	default:
		many = anteroom.Errors{anteroom.Errorf(anteroom.CodeInvalid, "%w", err)}
	}
	out := make(anteroom.Errors, len(many))
	for i, e := range many {
		c := *e
		if c.Field != "" && !strings.HasPrefix(c.Field, "--") {
			c.Text = strings.TrimSpace(strings.TrimPrefix(c.Text, c.Field))
			c.Field = "--" + strings.ReplaceAll(c.Field, "_", "-")
		}
		out[i] = &c
	}
	return out
}
