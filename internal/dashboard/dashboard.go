package dashboard

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// Room is one waiting room as the dashboard shows it: its configuration and its counts now.
type Room struct {
	Config anteroom.Room
	Extras anteroom.Extras
	Status queue.Status
}

// Auth tells who may look.
type Auth interface {
	// Valid tells whether the token is in force. It must take the same time for every wrong token.
	Valid(token string) bool
}

// Options are what the dashboard needs of the node that it belongs to.
type Options struct {
	// Rooms lists every room with its counts. It is called once a second by Run and once for each
	// page, from several goroutines, and must not block: read a snapshot. Required.
	Rooms func() []Room
	// Auth checks the admin token. Required.
	Auth Auth
	// Log takes sign-ins and broken pages. Required.
	Log *slog.Logger
	// VisitorURL is the address of the visitors' listener, such as http://127.0.0.1:8080. Scheme and
	// port of the links to the protected sites come from it, and the host for rooms that cover every
	// host. Empty means that there are no such links.
	VisitorURL string
	// RoomsURL is the API's address of the default zone's rooms, to which the example on the empty
	// page posts, such as http://127.0.0.1:8081/client/v4/zones/ZONE/waiting_rooms.
	RoomsURL string
}

// Dashboard serves the pages. It answers every path: / (which leads to the pages and takes a token
// from a ready link, /?token=...) and all below /dashboard/.
type Dashboard struct{}

// New makes a dashboard. Its charts and live counts begin when Run does.
func New(o Options) *Dashboard { return &Dashboard{} }

// Run samples every room once a second into the history and to the open pages until the context
// ends; then it closes the event streams, so that a graceful shutdown of the server need not wait
// for them. Call it once.
func (d *Dashboard) Run(ctx context.Context) {}

// ServeHTTP answers one request.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {}
