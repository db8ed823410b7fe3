package demo_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/demo"
	"github.com/anteroom/anteroom/internal/queue"
)

// world is the demonstration without a network: the real core of the waiting room and the real shop
// behind an HTTP transport. It runs in a synctest bubble, so that minutes take milliseconds.
type world struct {
	t    *testing.T
	shop http.Handler

	mu       sync.Mutex
	pair     *queue.Pair // guarded by mu, as all below
	rng      *rand.Rand
	settings queue.Settings
	early    int // check-ins before the told time
	due      map[queue.ID]time.Time
	paths    map[string]int // requests that reached the shop
	down     bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	room, extras := demo.Room(), demo.Extras()
	settings := queue.Settings{
		Method: room.QueueingMethod, TotalActiveUsers: room.TotalActiveUsers,
		NewUsersPerMinute: room.NewUsersPerMinute, Session: room.Session(extras),
	}
	return &world{
		t: t, shop: demo.Shop(), settings: settings, rng: rand.New(rand.NewPCG(1, 2)), due: map[queue.ID]time.Time{}, paths: map[string]int{},
		pair: queue.NewPair(time.Now(), queue.LocalConfig{
			DataCenter: "here", Incarnation: 1, Settings: settings, Pace: queue.NearPace(),
		}, nil),
	}
}

// tick lets time pass in the room until the context ends.
func (w *world) tick(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(200 * time.Millisecond)
		w.mu.Lock()
		w.pair.Tick(time.Now())
		w.pair.Pump(time.Now())
		_, _ = w.pair.Drain(nil)
		w.mu.Unlock()
	}
}

func (w *world) status() queue.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pair.Status(time.Now())
}

func (w *world) newID() (id queue.ID) {
	binary.LittleEndian.PutUint64(id[:8], w.rng.Uint64()|1)
	binary.LittleEndian.PutUint64(id[8:], w.rng.Uint64())
	return id
}

// ask is one request at the door. The cookie is plain JSON here.
func (w *world) ask(cookie string) queue.Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	ask := queue.Ask{Purpose: queue.Enter, NewID: w.newID(), Draw: w.rng.Uint64()}
	if cookie != "" {
		var c queue.Answer
		if err := json.Unmarshal([]byte(cookie), &c); err != nil {
			w.t.Errorf("cookie %q: %v", cookie, err)
		}
		ask.ID, ask.Arrival, ask.Accepted, ask.LastSeen, ask.Refresh = c.ID, c.Arrival, c.Accepted, c.LastSeen, c.Refresh
	}
	if now.Before(w.due[ask.ID]) {
		w.early++
	}
	a := w.pair.Ask(now, ask)
	w.pair.Pump(now)
	delete(w.due, ask.ID)
	if a.Verdict == queue.Waiting {
		w.due[a.ID] = now.Add(a.Refresh)
	}
	return a
}

// encoded is the cookie of an answer.
func (w *world) encoded(a queue.Answer) []byte {
	body, err := json.Marshal(queue.Answer{
		ID: a.ID, Arrival: a.Arrival, Accepted: a.Accepted, LastSeen: a.LastSeen, Refresh: a.Refresh,
	})
	if err != nil {
		w.t.Error(err)
	}
	return body
}

// RoundTrip is the room and the shop behind it.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	down := w.down
	w.mu.Unlock()
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if down {
		return nil, errors.New("connection refused")
	}
	rec := httptest.NewRecorder()
	cookie := ""
	if c, err := r.Cookie("room"); err == nil {
		raw, err := hex.DecodeString(c.Value)
		if err != nil {
			w.t.Errorf("cookie %q: %v", c.Value, err)
		}
		cookie = string(raw)
	}
	a := w.ask(cookie)
	http.SetCookie(rec, &http.Cookie{Name: "room", Value: hex.EncodeToString(w.encoded(a)), Path: "/"})
	switch {
	case a.Verdict == queue.Admitted:
		w.mu.Lock()
		w.paths[r.Method+" "+r.URL.Path]++
		w.mu.Unlock()
		r.Header.Set("Anteroom-Ticket", a.ID.String())
		r.RequestURI = r.URL.RequestURI()
		w.shop.ServeHTTP(rec, r)
		if rec.Header().Get("Anteroom-Command") == "revoke" {
			w.mu.Lock()
			w.pair.End(time.Now(), a.ID)
			w.mu.Unlock()
		}
	case r.Header.Get("Accept") == "application/json":
		rec.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(rec, `{"cfWaitingRoom":{"inWaitingRoom":true,"refreshIntervalSeconds":%d}}`, int(a.Refresh/time.Second))
	case r.Header.Get("Sec-Fetch-Dest") != "document":
		w.t.Errorf("a waiting visitor asks for %s", r.URL)
	default:
		rec.Header().Set("Refresh", strconv.Itoa(int(a.Refresh/time.Second)))
		_, _ = io.WriteString(rec, "please wait")
	}
	return rec.Result(), nil
}

// visit runs visitors in a bubble and lets the test look on; it ends both.
func visit(t *testing.T, seed uint64, look func(w *world, v *demo.Visitors)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		v, err := demo.NewVisitors(demo.Options{
			URL: "http://shop.test:8080", Log: slog.New(slog.DiscardHandler), Seed: seed, Transport: w,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- v.Run(ctx) }()
		ticked := make(chan struct{})
		go func() { defer close(ticked); w.tick(ctx) }()
		look(w, v)
		cancel()
		<-ticked
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// person opens the page and waits for the turn as the waiting page's script does: with the told
// interval, and at once when the turn comes. It gives the wait.
func (w *world) person() time.Duration {
	came := time.Now()
	a := w.ask("")
	for a.Verdict != queue.Admitted {
		pause := a.Refresh
		if a.Head || a.Turn {
			pause = min(pause, time.Second) // the held request
		}
		time.Sleep(pause)
		if time.Since(came) > 10*time.Minute {
			return time.Since(came)
		}
		w.mu.Lock()
		delete(w.due, a.ID) // a held request ends before the told time
		w.mu.Unlock()
		a = w.ask(string(w.encoded(a)))
	}
	return time.Since(came)
}

// configure changes the room's settings as an operator does.
func (w *world) configure(change func(s *queue.Settings)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.settings)
	w.pair.Configure(time.Now(), w.settings)
}

func (w *world) set(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}
