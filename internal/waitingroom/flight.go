package waitingroom

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/sys"
)

const (
	// commandRevoke is the origin's command that ends the session of its response.
	commandRevoke = "revoke"
	// flightsMax bounds how many long requests prolong their sessions while they run. Those beyond
	// still do so at their end.
	flightsMax = 1 << 16
	// touchMin is the length of a request below which its end does not prolong the session: its
	// beginning has just done so.
	touchMin = 100 * time.Millisecond
	// touchMax is the longest gap between two touches of a long request; a quarter of the session is
	// the other bound.
	touchMax = 10 * time.Second
	// tickEvery is how often Run looks for long requests: a quarter of the shortest session.
	tickEvery = 250 * time.Millisecond
)

// forward sends an admitted request to the origin.
func (h *Handler) forward(f *flight, r *http.Request) {
	h.flights.add(f)
	defer h.land(f)
	h.options.Origin.ServeVisit(f, r, Visit{RoomID: f.room, RoomName: f.roomName, Ticket: f.ticket})
	// An origin that wrote nothing leaves the header to the server, which sends it after us.
	f.finish() //nolint:contextcheck // it takes the request's own context
}

// land ends a forwarded request, also one that panicked to break off its answer.
func (h *Handler) land(f *flight) {
	h.flights.remove(f)
	if f.renew && !f.revoked && sys.Since(f.begun) >= touchMin {
		h.options.Sessions.Touch(f.room, f.ticket)
	}
}

// Run prolongs the sessions of long requests until the context ends.
func (h *Handler) Run(ctx context.Context) {
	ticker := sys.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.Tick(sys.Now())
		}
	}
}

// Tick prolongs the sessions of requests that have been running for long; Run calls it.
func (h *Handler) Tick(now time.Time) {
	for _, s := range h.flights.due(now) {
		h.options.Sessions.Touch(s.room, s.ticket)
	}
}

// flight is one request at the origin. As a ResponseWriter it adds the visitor's cookie to the
// final header and carries out the origin's command; everything else goes through.
type flight struct {
	http.ResponseWriter
	handler *Handler
	request *http.Request

	room, roomName string
	ticket         queue.ID
	cookie, expire string
	renew          bool
	revocable      bool
	finished       bool // the final header has been seen
	revoked        bool
	begun          time.Time

	// The rest belongs to flights.
	prev, next *flight
	listed     bool
	every      time.Duration
	touch      time.Time
}

func newFlight(w http.ResponseWriter, r *http.Request, h *Handler, a *Answer) *flight {
	now := sys.Now()
	every := min(a.Session/4, touchMax)
	return &flight{
		ResponseWriter: w,
		handler:        h,
		request:        r,
		room:           a.RoomID,
		roomName:       a.RoomName,
		ticket:         a.Ticket,
		cookie:         string(a.Cookie),
		expire:         a.ExpireCookie,
		renew:          a.Renew,
		revocable:      a.Revocable,
		begun:          now,
		every:          every,
		touch:          now.Add(every),
	}
}

// Unwrap serves http.ResponseController.
func (f *flight) Unwrap() http.ResponseWriter { return f.ResponseWriter }

// WriteHeader completes a final header; interim ones go through as they are.
func (f *flight) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		f.finish()
	}
	f.ResponseWriter.WriteHeader(status)
}

// Write completes the header of an origin that did not call WriteHeader.
func (f *flight) Write(b []byte) (int, error) {
	f.finish()
	return f.ResponseWriter.Write(b)
}

// ReadFrom keeps the server's way of sending files and connections without copies.
func (f *flight) ReadFrom(r io.Reader) (int64, error) {
	f.finish()
	return io.Copy(f.ResponseWriter, r)
}

// FlushError sends what is buffered, the header first.
func (f *flight) FlushError() error {
	f.finish()
	return http.NewResponseController(f.ResponseWriter).Flush()
}

// Flush is FlushError for those who know http.Flusher only.
func (f *flight) Flush() { _ = f.FlushError() }

// Hijack hands over the connection. The cookie is in the header map by then: who switches protocols
// writes that map.
func (f *flight) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	f.finish()
	return http.NewResponseController(f.ResponseWriter).Hijack()
}

// finish does once what the final header needs.
func (f *flight) finish() {
	if f.finished {
		return
	}
	f.finished = true
	header := f.Header()
	cookie := f.cookie
	if takeCommand(header) == commandRevoke && f.revocable {
		f.revoked = true
		cookie = f.expire
		// The place is free even if the visitor has gone meanwhile.
		f.handler.options.Sessions.End(context.WithoutCancel(f.request.Context()), f.room, f.ticket)
	}
	if cookie != "" {
		header.Add("Set-Cookie", cookie)
	}
}

// takeCommand removes the origin's command from the header; it is not the visitor's business.
func takeCommand(h http.Header) string {
	command := ""
	for _, name := range [...]string{"Cf-Waiting-Room-Command", "Anteroom-Command"} {
		for _, v := range h[name] {
			if v = strings.ToLower(strings.TrimSpace(v)); v != "" {
				command = v
			}
		}
		delete(h, name)
	}
	return command
}

// flights lists the requests whose sessions must be prolonged while they run. The zero value is
// ready.
type flights struct {
	mu    sync.Mutex
	first *flight // guarded by mu, as are prev, next, listed and touch of every flight in the list
	count int     // guarded by mu
}

// seat names one session.
type seat struct {
	room   string
	ticket queue.ID
}

func (l *flights) add(f *flight) {
	if !f.renew {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count >= flightsMax {
		return
	}
	l.count++
	f.listed = true
	if f.next = l.first; f.next != nil {
		f.next.prev = f
	}
	l.first = f
}

func (l *flights) remove(f *flight) {
	if !f.renew {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !f.listed {
		return
	}
	l.count--
	f.listed = false
	if f.prev != nil {
		f.prev.next = f.next
	} else {
		l.first = f.next
	}
	if f.next != nil {
		f.next.prev = f.prev
	}
}

// due gives the sessions that want a touch now, and sets the time of the next one.
func (l *flights) due(now time.Time) []seat {
	l.mu.Lock()
	defer l.mu.Unlock()
	var seats []seat
	for f := l.first; f != nil; f = f.next {
		if !now.Before(f.touch) {
			f.touch = now.Add(f.every)
			seats = append(seats, seat{f.room, f.ticket})
		}
	}
	return seats
}
