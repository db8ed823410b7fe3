package waitingroom_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// inside says that every visitor is in, now.
func inside(a queue.Ask) (queue.Answer, error) {
	now := time.Now()
	return queue.Answer{Verdict: queue.Admitted, ID: queue.ID{4}, Arrival: now, Accepted: now, LastSeen: now, Known: !a.ID.IsZero()}, nil
}

// TestLongRequestsProlongTheirSession runs requests of a given length in virtual time and counts the
// touches.
func TestLongRequestsProlongTheirSession(t *testing.T) {
	t.Parallel()
	revoke := func(c *waitingroom.Config) { c.Room.EnabledOriginCommands = []string{"revoke"} }
	session := func(d time.Duration) func(*waitingroom.Config) {
		return func(c *waitingroom.Config) { c.Extras.SessionDuration = anteroom.Duration(d) }
	}
	fixed := func(c *waitingroom.Config) { c.Room.DisableSessionRenewal = true }
	for name, test := range map[string]struct {
		config  waitingroom.Config
		length  time.Duration
		command string
		purpose string
		least   int
		most    int
	}{
		"Short":       {config(session(time.Minute)), 50 * time.Millisecond, "", "", 0, 0},
		"AtItsEnd":    {config(session(time.Minute)), time.Second, "", "", 1, 1},
		"EachTenth":   {config(session(5 * time.Minute)), 61 * time.Second, "", "", 7, 7},
		"EachQuarter": {config(session(4 * time.Second)), 10500 * time.Millisecond, "", "", 9, 11},
		"Shortest":    {config(session(time.Second)), 2 * time.Second, "", "", 5, 9},
		"Fixed":       {config(session(time.Minute), fixed), time.Hour, "", "", 0, 0},
		"Revoked":     {config(session(time.Minute), revoke), time.Second, "revoke", "", 0, 0},
		"Speculative": {config(session(time.Minute)), time.Minute, "", "prefetch", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				coordinator := &rooms{answer: inside}
				h := handler(t, coordinator, &origin{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Anteroom-Command", test.command)
					time.Sleep(test.length)
					w.WriteHeader(http.StatusOK)
				})}, test.config)
				ctx, cancel := context.WithCancel(t.Context())
				go h.Run(ctx)
				r := httptest.NewRequestWithContext(ctx, "GET", "http://shop.test/", http.NoBody)
				if test.purpose != "" {
					tk := seat()
					tk.Arrival, tk.Accepted, tk.LastSeen = time.Now(), time.Now(), time.Now()
					r.Header.Set("Cookie", cookieOf(t, tk))
					r.Header.Set("Sec-Purpose", test.purpose)
				}
				h.ServeHTTP(httptest.NewRecorder(), r)
				touched, _ := coordinator.counts()
				if touched < test.least || touched > test.most {
					t.Errorf("touched %d times, want %d to %d", touched, test.least, test.most)
				}
				time.Sleep(time.Hour)
				if later, _ := coordinator.counts(); later != touched {
					t.Errorf("touched %d times after the request", later-touched)
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}

// TestLongRequestsLeaveTheListInAnyOrder ends requests from the front, the middle and the back.
func TestLongRequestsLeaveTheListInAnyOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n byte
		coordinator := &rooms{answer: func(queue.Ask) (queue.Answer, error) {
			n++
			now := time.Now()
			return queue.Answer{Verdict: queue.Admitted, ID: queue.ID{n}, Arrival: now, Accepted: now, LastSeen: now}, nil
		}}
		ends := map[string]chan struct{}{"/1": make(chan struct{}), "/2": make(chan struct{}), "/3": make(chan struct{}), "/4": make(chan struct{})}
		h := handler(t, coordinator, &origin{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-ends[r.URL.Path] })}, config())
		for _, path := range []string{"/1", "/2", "/3", "/4"} {
			go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "http://shop.test"+path, http.NoBody))
			synctest.Wait()
		}
		left := 4
		for _, path := range []string{"/2", "/4", "/1", "/3"} {
			before, _ := coordinator.counts()
			time.Sleep(11 * time.Second)
			h.Tick(time.Now())
			if after, _ := coordinator.counts(); after-before != left {
				t.Errorf("%d touches with %d requests under way", after-before, left)
			}
			close(ends[path])
			synctest.Wait()
			left--
		}
		before, _ := coordinator.counts()
		time.Sleep(11 * time.Second)
		h.Tick(time.Now())
		if after, _ := coordinator.counts(); after != before {
			t.Errorf("%d touches without a request", after-before)
		}
	})
}
