package waitingroom_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
)

func TestHold(t *testing.T) {
	t.Parallel()
	var turn atomic.Bool
	coordinator := &rooms{
		answer: func(a queue.Ask) (queue.Answer, error) {
			if turn.Load() {
				return scene("Turn")(a)
			}
			return scene("Head")(a)
		},
		await: func(ctx context.Context, id queue.ID) bool {
			deadline, ok := ctx.Deadline()
			if !ok || deadline.IsZero() || id != queue.ID(place().ID) {
				t.Errorf("awaits %v until %v", id, deadline)
			}
			turn.Store(true)
			return true
		},
	}
	s, _ := site(t, coordinator, hello, config())
	resp, body := get(t, s, "GET", "/.anteroom/wait?room="+roomID, "", "Cookie", cookieOf(t, place()))
	if resp.StatusCode != 200 || !strings.Contains(body, `"yourTurn":true`) || len(resp.Cookies()) != 1 {
		t.Errorf("%d %s %v", resp.StatusCode, body, resp.Header)
	}
	if got := coordinator.purposes(); len(coordinator.asks) != 2 || !strings.HasPrefix(got, "check ") {
		t.Errorf("asked %s", got)
	}
}

// TestHoldWithoutATurn: the visitor is answered in any case, and held once only.
func TestHoldWithoutATurn(t *testing.T) {
	t.Parallel()
	var held atomic.Int32
	coordinator := &rooms{answer: scene("Head"), await: func(context.Context, queue.ID) bool { held.Add(1); return false }}
	s, _ := site(t, coordinator, hello, config())
	resp, body := get(t, s, "GET", "/.anteroom/wait?room="+roomID, "", "Cookie", cookieOf(t, place()))
	if resp.StatusCode != 200 || !strings.Contains(body, `"yourTurn":false`) || held.Load() != 1 {
		t.Errorf("%d %s, held %d times", resp.StatusCode, body, held.Load())
	}
}

func TestHoldEndsWithTheClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	coordinator := &rooms{answer: scene("Head"), await: func(ctx context.Context, _ queue.ID) bool {
		cancel()
		<-ctx.Done()
		return false
	}}
	h := handler(t, coordinator, &origin{}, config())
	r := httptest.NewRequestWithContext(ctx, "GET", "http://shop.test/.anteroom/wait?room="+roomID, http.NoBody)
	r.Header.Set("Cookie", cookieOf(t, place()))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := coordinator.purposes(); got != "check" {
		t.Errorf("a visitor who has gone counts as present: asked %s", got)
	}
	if w.Code != 503 || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestHoldIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1024
	release := make(chan struct{})
	arrived := make(chan struct{}, 2*most)
	coordinator := &rooms{answer: scene("Head"), await: func(context.Context, queue.ID) bool {
		arrived <- struct{}{}
		<-release
		return false
	}}
	h := handler(t, coordinator, &origin{}, config())
	ask := func() {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://shop.test/.anteroom/wait?room="+roomID, http.NoBody)
		r.Header.Set("Cookie", cookieOf(t, place()))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	var all sync.WaitGroup
	for range most {
		all.Go(ask)
	}
	for range most {
		<-arrived
	}
	ask() // one too many: answered at once, or this never returns
	close(release)
	all.Wait()
	ask() // places come back
	if n := len(arrived); n != 1 {
		t.Errorf("%d requests held after the release, want 1", n)
	}
}

// TestAnswerAfterAHoldIsOfItsOwnTime: twelve seconds later the clock and the draws are others.
func TestAnswerAfterAHoldIsOfItsOwnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		coordinator := &rooms{await: func(ctx context.Context, _ queue.ID) bool { <-ctx.Done(); return false }}
		coordinator.answer = func(a queue.Ask) (queue.Answer, error) {
			if len(coordinator.asks) == 1 {
				return queue.Answer{ID: a.ID, Arrival: a.Arrival, Known: true, Head: true}, nil
			}
			return queue.Answer{Verdict: queue.Admitted, ID: a.ID, Arrival: begin, Accepted: begin, LastSeen: begin, Known: true}, nil
		}
		h := handler(t, coordinator, &origin{}, config())
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://shop.test/.anteroom/wait?room="+roomID, http.NoBody)
		r.Header.Set("Cookie", cookieOf(t, ticket.Ticket{ID: ticket.ID{4}, Arrival: begin, LastSeen: begin}))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if took := time.Since(begin); took != 12*time.Second {
			t.Errorf("held for %v", took)
		}
		if cookie := w.Header().Get("Set-Cookie"); !strings.Contains(cookie, "Max-Age=288;") {
			t.Errorf("cookie %s", cookie)
		}
		if len(coordinator.asks) != 2 || coordinator.asks[0].NewID == coordinator.asks[1].NewID || coordinator.asks[0].Draw == coordinator.asks[1].Draw {
			t.Errorf("asked %+v", coordinator.asks)
		}
	})
}
