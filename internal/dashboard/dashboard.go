package dashboard

import (
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
type Dashboard struct {
	options  Options
	history  *History
	feed     *feed
	sessions *sessions
	guesses  *guesses
	pages    *pages
	handler  http.Handler
}

// New makes a dashboard. Its charts and live counts begin when Run does.
func New(o Options) *Dashboard {
	d := &Dashboard{
		options:  o,
		history:  NewHistory(),
		feed:     newFeed(),
		sessions: newSessions(),
		guesses:  newGuesses(),
		pages:    newPages(),
	}
	d.handler = hardened(http.NewCrossOriginProtection().Handler(d.routes()))
	return d
}

// ServeHTTP answers one request.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.handler.ServeHTTP(w, r) }

func (d *Dashboard) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /dashboard/assets/{name}", serveAsset)
	mux.HandleFunc("POST /dashboard/login", d.login)
	mux.HandleFunc("POST /dashboard/logout", d.logout)
	mux.HandleFunc("GET /dashboard/events", d.signedIn(d.events))
	mux.HandleFunc("GET /dashboard/rooms/{id}/series", d.signedIn(d.seriesJSON))

	mux.HandleFunc("GET /dashboard/rooms/{id}", d.page(d.roomPage))
	mux.HandleFunc("GET "+homePath+"{$}", d.page(d.roomsPage))
	mux.HandleFunc("GET /{$}", d.page(toHome))
	mux.HandleFunc("GET /dashboard", d.page(toHome))
	mux.HandleFunc("GET /dashboard/login", d.page(toHome))
	mux.HandleFunc("/", d.notFound)
	return mux
}

func toHome(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, homePath, http.StatusSeeOther)
}

// contentPolicy lets a page load what this package serves and nothing else. No style or script may
// stand in a page itself.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func hardened(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
