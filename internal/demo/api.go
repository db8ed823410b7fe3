package demo

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/anteroom/anteroom"
)

// Room is the demonstration's room. It covers every host and path.
func Room() anteroom.Room { return anteroom.Room{} }

// Extras are the demonstration's settings beyond the published ones.
func Extras() anteroom.Extras { return anteroom.Extras{} }

// Shop is the sample shop: a few pages, a small JSON API, a cart. It needs no other server and makes
// no request. It answers JSON, with the cfWaitingRoom object of an admitted visitor, when the client
// prefers JSON.
func Shop() http.Handler { return nil }

// Options say where the visitors go.
type Options struct {
	// URL is the visitors' listener on loopback, such as http://127.0.0.1:8080.
	URL string
	// Log takes one line of counts a minute and the reason of a failed visit. Required.
	Log *slog.Logger
	// Seed makes the plan of arrivals and stays repeatable; the answers of the room still decide.
	Seed uint64
	// Transport carries the requests; nil means real, bounded connections.
	Transport http.RoundTripper
}

// Counts tell what the visitors have done so far.
type Counts struct {
	// Waiting and Inside are alive now.
	Waiting, Inside int
	// Arrived is Waiting + Inside + Left + GaveUp + Failed.
	Arrived, Left, GaveUp, Failed uint64
	Requests                      uint64
}

// Visitors are simulated visitors of one address.
type Visitors struct{}

// NewVisitors prepares visitors; the error tells what is wrong with the URL.
func NewVisitors(o Options) (*Visitors, error) { return &Visitors{}, nil }

// Run lets visitors arrive in waves until the context ends, waits for all of them to stop and
// returns nil; an error means that some did not stop in time.
func (v *Visitors) Run(ctx context.Context) error { return nil }

// Counts is a snapshot.
func (v *Visitors) Counts() Counts { return Counts{} }
