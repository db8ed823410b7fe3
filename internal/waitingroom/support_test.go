package waitingroom_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

const roomID = "699d98642c564d2e855e9661899b7252"

var errAbsent = errors.New("the coordinator does not answer")

// start is the time of the tests' requests.
func start() time.Time { return time.Date(2026, 11, 30, 10, 23, 45, 0, time.UTC) }

// rooms is a scripted coordinator: it says what the test tells it to and notes what it was asked.
type rooms struct {
	answer func(queue.Ask) (queue.Answer, error)
	await  func(ctx context.Context, id queue.ID) bool

	mu      sync.Mutex
	asks    []queue.Ask
	touched []queue.ID
	ended   []queue.ID
}

func (r *rooms) Ask(_ context.Context, _ string, ask queue.Ask) (queue.Answer, error) {
	r.mu.Lock()
	r.asks = append(r.asks, ask)
	r.mu.Unlock()
	return r.answer(ask)
}

func (r *rooms) Await(ctx context.Context, _ string, id queue.ID) bool {
	if r.await == nil {
		return false
	}
	return r.await(ctx, id)
}

func (r *rooms) Touch(_ string, id queue.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.touched = append(r.touched, id)
}

func (r *rooms) End(ctx context.Context, _ string, id queue.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	r.ended = append(r.ended, id)
}

// purposes lists what was asked, such as "look enter".
func (r *rooms) purposes() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, 0, len(r.asks))
	for _, a := range r.asks {
		names = append(names, [...]string{"enter", "check", "look"}[a.Purpose])
	}
	return strings.Join(names, " ")
}

func (r *rooms) counts() (touched, ended int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.touched), len(r.ended)
}

// scene is what the coordinator would say to a visitor in some state of the room.
func scene(name string) func(queue.Ask) (queue.Answer, error) {
	now := start()
	in := func(a queue.Ask) queue.Answer {
		id, arrival, known := a.ID, a.Arrival, true
		if id.IsZero() {
			id, arrival, known = a.NewID, now, false
		}
		return queue.Answer{Verdict: queue.Admitted, ID: id, Arrival: arrival, Accepted: now, LastSeen: now, Known: known}
	}
	wait := func(a queue.Ask) queue.Answer {
		return queue.Answer{
			ID: a.ID, Arrival: a.Arrival, LastSeen: now, Refresh: 17 * time.Second, Known: true, Position: 5, Waiting: 9,
			Estimate: queue.Estimate{Known: true, Low: time.Minute, Middle: 2 * time.Minute, High: 3 * time.Minute},
		}
	}
	return func(a queue.Ask) (queue.Answer, error) {
		switch name {
		case "Open": // a newcomer enters
			if a.Purpose == queue.Enter {
				return in(a), nil
			}
			if a.Purpose == queue.Look {
				return queue.Answer{Turn: true}, nil
			}
			return queue.Answer{ID: a.NewID, Arrival: now, LastSeen: now, Refresh: time.Second, Turn: true}, nil
		case "Full": // a newcomer waits
			if a.Purpose == queue.Look {
				return queue.Answer{Waiting: 9, Refresh: 20 * time.Second}, nil
			}
			return queue.Answer{ID: a.NewID, Arrival: now, LastSeen: now, Refresh: time.Second, Position: 10, Waiting: 10}, nil
		case "Queued":
			return wait(a), nil
		case "Turn":
			if a.Purpose == queue.Enter {
				return in(a), nil
			}
			q := wait(a)
			q.Turn, q.Head = true, true
			return q, nil
		case "Head":
			q := wait(a)
			q.Head = true
			return q, nil
		case "NewHead": // a newcomer whose turn is near
			return queue.Answer{ID: a.NewID, Arrival: now, LastSeen: now, Refresh: time.Second, Head: true}, nil
		case "InsideHead":
			q := in(a)
			q.Head = true
			return q, nil
		case "Inside":
			return in(a), nil
		case "Refused":
			return queue.Answer{Verdict: queue.Refused}, nil
		}
		return queue.Answer{}, errAbsent
	}
}

// config is a room for shop.test.
func config(change ...func(*waitingroom.Config)) waitingroom.Config {
	c := waitingroom.Config{Room: anteroom.Room{
		ID: roomID, Name: "shop", Host: "shop.test", Path: "/",
		TotalActiveUsers: 10, NewUsersPerMinute: 10, SessionDuration: 5,
		QueueingMethod: anteroom.FIFO, QueueingStatusCode: 200, JSONResponseEnabled: true,
		DefaultTemplateLanguage: "en-US",
	}}
	for _, f := range change {
		f(&c)
	}
	return c
}

func ring(t testing.TB) *ticket.Ring {
	t.Helper()
	r, err := ticket.NewRing(ticket.Key{ID: 7, Secret: ticket.Secret(bytes.Repeat([]byte{5}, 32))})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func gate(t testing.TB, r waitingroom.Rooms, configs ...waitingroom.Config) *waitingroom.Gate {
	t.Helper()
	table, err := waitingroom.Compile(configs, ring(t))
	if err != nil {
		t.Fatal(err)
	}
	g := waitingroom.NewGate(r)
	g.Set(table)
	return g
}

// request is a plain browser's navigation, changed by the test.
func request(change ...func(*waitingroom.Request)) *waitingroom.Request {
	r := &waitingroom.Request{
		Method: "GET", Host: "shop.test", Path: "/cart", Query: "a=b",
		Accept:    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
		FetchDest: "document", FetchMode: "navigate",
		Now: start(), NewID: queue.ID{1, 2, 3}, Draw: 42, Nonce: [waitingroom.NonceSize]byte{9},
	}
	for _, f := range change {
		f(r)
	}
	return r
}

// as makes a request of some kind.
func as(kind waitingroom.Kind) func(*waitingroom.Request) {
	return func(r *waitingroom.Request) {
		switch kind {
		case waitingroom.Navigation:
		case waitingroom.JSONClient:
			r.FetchDest, r.FetchMode, r.Accept = "", "", "application/json"
		case waitingroom.Background:
			r.FetchDest, r.FetchMode, r.Accept = "empty", "cors", "*/*"
		case waitingroom.Subresource:
			r.FetchDest, r.FetchMode, r.Accept = "image", "no-cors", "image/webp,*/*"
		case waitingroom.Upgrade:
			r.FetchDest, r.FetchMode, r.Accept, r.Upgrade = "empty", "websocket", "", "websocket"
		case waitingroom.ServiceWorker:
			r.FetchDest, r.FetchMode, r.Accept, r.ServiceWorker = "serviceworker", "same-origin", "*/*", "script"
		case waitingroom.Speculative:
			r.Purpose = "prefetch"
		case waitingroom.Preflight:
			r.Method, r.Origin, r.PreflightMethod, r.FetchDest, r.FetchMode = "OPTIONS", "https://app.test", "GET", "empty", "cors"
		case waitingroom.WaitEndpoint:
			r.Path, r.Query, r.FetchDest, r.FetchMode, r.Accept = "/.anteroom/wait", "room="+roomID, "empty", "cors", "application/json"
		}
	}
}

// holds gives the request a cookie.
func holds(t testing.TB, tk ticket.Ticket) func(*waitingroom.Request) {
	t.Helper()
	sealed := string(ring(t).Append(nil, roomID, tk, ticket.Nonce{3}))
	return func(r *waitingroom.Request) { r.Cookies = append(r.Cookies, "__anteroom="+sealed) }
}

// place is a queued visitor's ticket, seat an admitted one's.
func place() ticket.Ticket {
	now := start()
	return ticket.Ticket{ID: ticket.ID{4}, Arrival: now.Add(-time.Minute), LastSeen: now.Add(-20 * time.Second), Refresh: 20 * time.Second}
}

func seat() ticket.Ticket {
	t := place()
	t.Accepted = start().Add(-30 * time.Second)
	t.LastSeen = start().Add(-10 * time.Second)
	return t
}

// stale is the ticket of a session that is over by what it says itself.
func stale() ticket.Ticket {
	t := seat()
	t.Arrival, t.Accepted, t.LastSeen = t.Arrival.Add(-time.Hour), t.Accepted.Add(-time.Hour), t.LastSeen.Add(-time.Hour)
	return t
}

func value(a *waitingroom.Answer, name string) string {
	for _, h := range a.Headers {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

// sealed opens the ticket in an answer's cookie.
func sealed(t testing.TB, setCookie string) (ticket.Ticket, bool) {
	t.Helper()
	c, err := http.ParseSetCookie(setCookie)
	if err != nil {
		return ticket.Ticket{}, false
	}
	tk, err := ring(t).Open(roomID, c.Value, start())
	return tk, err == nil
}

func decide(t testing.TB, g *waitingroom.Gate, r *waitingroom.Request) *waitingroom.Answer {
	t.Helper()
	var a waitingroom.Answer
	g.Decide(t.Context(), r, &a)
	return &a
}
