package waitingroom

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/sys"
)

// bodyDrainTime is how long a waiting visitor's client may take to send a body that goes nowhere. The
// server reads up to 256 KiB of it away to keep the connection, and closes it beyond; without this
// bound a client that sends a byte now and then would hold the connection for ever.
const bodyDrainTime = 5 * time.Second

// Visit is what the origin learns of a request that may go on. The zero value is a request that no room
// concerns.
type Visit struct {
	// RoomID and RoomName are of the room that the visitor was admitted to.
	RoomID, RoomName string
	// Ticket names the visitor's session.
	Ticket queue.ID
}

// Origin takes the requests that may go on.
type Origin interface {
	// ServeVisit answers like http.Handler. The writer supports http.ResponseController.
	ServeVisit(w http.ResponseWriter, r *http.Request, v Visit)
}

// Client is who asks, and for what, as far as trusted proxies vouch for it.
type Client struct {
	Addr netip.Addr
	// HTTPS tells that the visitor came over TLS.
	HTTPS bool
	// Host is the host of the request, PublicHost the one that the visitor asked for according to a
	// trusted proxy. A room of either covers the request: the first one is what the origin goes by, and
	// the second may come from the visitor through a proxy that passes it on.
	Host, PublicHost string
}

// Meter counts what the gate does. Its methods are called once a request and must be quick.
type Meter interface {
	// Decided counts one request. room is the room's name, empty when none covers the request.
	Decided(room string, kind Kind, outcome Outcome)
}

// Options are what a Handler is made of. Every field but Meter and Records is required.
type Options struct {
	Gate     *Gate
	Sessions Sessions
	Origin   Origin
	// Client tells who sent a request.
	Client func(r *http.Request) Client
	Meter  Meter
	// Records publishes the records of draws; nil publishes none.
	Records Records
	// Now is the clock of the coordinator, so that cookies and sessions agree; nil means the wall clock.
	Now func() time.Time
}

// Handler is the gate as an http.Handler around an origin. Run must run beside it.
type Handler struct {
	options Options
	draws   *Draws
	holds   holds
	flights flights
	scratch sync.Pool // of *exchange
}

// NewHandler makes a handler.
func NewHandler(o Options) *Handler {
	if o.Meter == nil {
		o.Meter = silent{}
	}
	if o.Now == nil {
		o.Now = sys.Now
	}
	h := &Handler{options: o, draws: NewDraws(), holds: newHolds()}
	h.scratch.New = func() any { return &exchange{} }
	return h
}

type silent struct{}

func (silent) Decided(string, Kind, Outcome) {}

// exchange is one request and its answer; the buffers are used again.
type exchange struct {
	request Request
	answer  Answer
}

// ServeHTTP decides a request, and answers it or lets it go to the origin.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, _ := h.scratch.Get().(*exchange)
	h.read(r, &x.request)
	if !h.decide(r.Context(), x) {
		h.release(x)
		gone(w)
		return
	}
	a := &x.answer
	h.options.Meter.Decided(a.RoomName, a.Kind, a.Outcome)
	switch a.Action {
	case Forward:
		f := newFlight(w, r, h, a)
		h.release(x) // before the origin answers: that may take hours
		h.forward(f, r)
	case Pass:
		h.release(x)
		h.options.Origin.ServeVisit(w, r, Visit{})
	case Respond, Hold:
		reply(w, r, a)
		h.release(x)
	case Publish:
		h.publish(w, r, a, &x.request)
		h.release(x)
	}
}

func (h *Handler) release(x *exchange) {
	x.request = Request{}
	h.scratch.Put(x)
}

// decide asks the gate, and holds the request when the gate wants it so. It is false when the client
// has gone meanwhile.
func (h *Handler) decide(ctx context.Context, x *exchange) bool {
	h.draws.Fill(&x.request)
	h.options.Gate.Decide(ctx, &x.request, &x.answer)
	if x.answer.Action != Hold {
		return true
	}
	h.hold(ctx, x.answer.RoomID, x.answer.Ticket)
	if ctx.Err() != nil {
		return false
	}
	x.request.Held, x.request.Now = true, h.options.Now()
	h.draws.Fill(&x.request)
	h.options.Gate.Decide(ctx, &x.request, &x.answer)
	return true
}

// gone answers a client that has most likely gone, or whose server is about to stop.
func gone(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Retry-After", seconds(1))
	w.WriteHeader(http.StatusServiceUnavailable)
}

// hold waits for the turn, up to HoldMax. When too many are held already it returns at once.
func (h *Handler) hold(ctx context.Context, room string, id queue.ID) {
	if !h.holds.take(room) {
		return
	}
	defer h.holds.leave(room)
	ctx, cancel := context.WithTimeout(ctx, queue.HoldMax)
	defer cancel()
	h.options.Gate.rooms.Await(ctx, room, id)
}

// read makes the gate's request of an HTTP request.
func (h *Handler) read(r *http.Request, q *Request) {
	c := h.options.Client(r)
	path, query := target(r)
	*q = Request{
		Method:          r.Method,
		Host:            c.Host,
		PublicHost:      c.PublicHost,
		Path:            path,
		Query:           query,
		Cookies:         r.Header["Cookie"],
		Accept:          field(r.Header, "Accept"),
		AcceptLanguage:  field(r.Header, "Accept-Language"),
		ContentType:     field(r.Header, "Content-Type"),
		FetchDest:       field(r.Header, "Sec-Fetch-Dest"),
		FetchMode:       field(r.Header, "Sec-Fetch-Mode"),
		Purpose:         purpose(r.Header),
		RequestedWith:   field(r.Header, "X-Requested-With"),
		Upgrade:         field(r.Header, "Upgrade"),
		Origin:          field(r.Header, "Origin"),
		PreflightMethod: field(r.Header, "Access-Control-Request-Method"),
		ServiceWorker:   field(r.Header, "Service-Worker"),
		Peer:            c.Addr,
		HTTPS:           c.HTTPS,
		Now:             h.options.Now(),
	}
	if r.ContentLength != 0 || overrides(r.Header) {
		q.PreflightMethod = "" // no browser's preflight has a body, or another method in a header
	}
	if q.Upgrade == "" && r.Method == http.MethodConnect {
		q.Upgrade = field(r.Header, ":protocol") // an extended CONNECT of HTTP/2
	}
}

// overrides tells that a header asks the origin to take the request for one of another method.
func overrides(h http.Header) bool {
	for _, name := range [...]string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"} {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// target is the raw path and query of the request line. Only clients that talk to a proxy send a
// whole URL there.
func target(r *http.Request) (path, query string) {
	if strings.HasPrefix(r.RequestURI, "/") {
		path, query, _ = strings.Cut(r.RequestURI, "?")
		return path, query
	}
	return r.URL.EscapedPath(), r.URL.RawQuery
}

// field is a header's value; several are joined. name must be in canonical form.
func field(h http.Header, name string) string {
	switch values := h[name]; len(values) {
	case 0:
		return ""
	case 1:
		return values[0]
	default:
		return strings.Join(values, ", ")
	}
}

// purpose is the first header that may tell of a speculative load.
func purpose(h http.Header) string {
	for _, name := range [...]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		if v := field(h, name); v != "" {
			return v
		}
	}
	return ""
}

// write sends an answer of the gate. The body of the request stays unread.
func write(w http.ResponseWriter, r *http.Request, a *Answer) {
	header := w.Header()
	values := make([]string, len(a.Headers), len(a.Headers)+2) // one allocation for all values
	for i, f := range a.Headers {
		values[i] = f.Value
		header[f.Name] = values[i : i+1 : i+1]
	}
	if len(a.Cookie) > 0 {
		header.Add("Set-Cookie", string(a.Cookie))
	}
	if r.ContentLength != 0 {
		// Some listeners have no deadlines. This one is taken off again for the next request.
		_ = http.NewResponseController(w).SetReadDeadline(sys.Now().Add(bodyDrainTime))
	}
	if len(a.Body) > 0 {
		header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the client may have gone; nobody is left to tell
}
