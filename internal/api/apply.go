package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/anteroom/anteroom/internal/config"
)

// Client speaks to the API of a running server.
type Client struct {
	// URL is the admin address, such as http://127.0.0.1:8081.
	URL   string
	Token string
	// Zone is the ID of the zone; empty means the first one.
	Zone string
	HTTP *http.Client
}

// Diff is what an apply changes, or has changed.
type Diff struct {
	Rooms []RoomDiff
	// Others are the names of the server's rooms that the file does not have. They stay.
	Others []string
}

// RoomDiff is the difference of one room.
type RoomDiff struct {
	Name    string
	Created bool
	// Fields are the changed fields; none of them means unchanged.
	Fields []FieldDiff
	// Done tells that the server has it.
	Done bool
}

// FieldDiff is a changed field, values as JSON.
type FieldDiff struct {
	Field    string
	Old, New string
}

// String shows the difference for people, one room a paragraph.
func (d Diff) String() string { return "" }

// Apply makes the server's rooms equal to the site's: missing ones are created, differing ones
// changed, others stay. Everything is checked first, and nothing is applied when a room is invalid.
// With dryRun nothing is applied at all. On a failure midway the Diff says what was done.
func Apply(ctx context.Context, c *Client, site config.Site, dryRun bool) (Diff, error) {
	return Diff{}, errors.ErrUnsupported
}
