package demo_test

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/demo"
	"github.com/anteroom/anteroom/internal/queue"
)

func TestRoomIsValid(t *testing.T) {
	t.Parallel()
	r, x := demo.Room(), demo.Extras()
	if err := config.ValidateRoom(&r, config.Checks{}); err != nil {
		t.Error(err)
	}
	if err := config.ValidateExtras(&x); err != nil {
		t.Error(err)
	}
}

// The promise of the demonstration: whoever opens the link meets a line in a room that is full, and
// gets in soon.
func TestAPersonWaitsInLineAndGetsIn(t *testing.T) {
	t.Parallel()
	visit(t, 7, func(w *world, v *demo.Visitors) {
		waits := map[int]time.Duration{}
		var people sync.WaitGroup
		var mu sync.Mutex // of waits
		low, high, active := 1000, 0, []int{}
		for second := range 300 {
			if slices.Contains([]int{3, 10, 30, 75, 130, 200}, second) {
				people.Go(func() {
					wait := w.person()
					mu.Lock()
					defer mu.Unlock()
					waits[second] = wait
				})
			}
			time.Sleep(time.Second)
			if s := w.status(); second > 6 && s.State != queue.Queueing {
				t.Errorf("no line after %d s: %+v", second, s)
			} else if second > 120 {
				low, high = min(low, s.Waiting), max(high, s.Waiting)
				active = append(active, s.Active)
			}
		}
		people.Wait()
		for came, wait := range waits {
			if wait < 20*time.Second || wait > 100*time.Second {
				t.Errorf("who came after %d s waited %v", came, wait)
			}
		}
		sum := 0
		for _, n := range active {
			sum += n
		}
		if mean := float64(sum) / float64(len(active)); mean < 23 || slices.Max(active) > 25 {
			t.Errorf("%.1f active on average and %d at most in a room of 25 with a line", mean, slices.Max(active))
		}
		if low < 5 || high > 35 || high-low < 5 {
			t.Errorf("the line has %d to %d visitors, want waves between 5 and 35", low, high)
		}
		w.checkVisits(v.Counts())
	})
}

// checkVisits tells whether the visitors did what visitors do, after five minutes.
func (w *world) checkVisits(c demo.Counts) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.Failed > 0 || c.Left < 60 || c.GaveUp == 0 {
		w.t.Errorf("after 5 minutes: %+v", c)
	}
	if w.early > 0 {
		w.t.Errorf("%d check-ins came before the told time", w.early)
	}
	for _, path := range []string{
		"GET /", "GET /api/shows", "GET /shop.css", "POST /cart", "GET /cart", "POST /order", "GET /shows/porto",
	} {
		if w.paths[path] == 0 {
			w.t.Errorf("nobody asked for %s: %v", path, w.paths)
		}
	}
}

func TestCountsAddUp(t *testing.T) {
	t.Parallel()
	visit(t, 3, func(_ *world, v *demo.Visitors) {
		for range 80 {
			time.Sleep(900 * time.Millisecond)
			synctest.Wait()
			c := v.Counts()
			if c.Arrived != uint64(c.Waiting+c.Inside)+c.Left+c.GaveUp+c.Failed || c.Waiting < 0 || c.Inside < 0 {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func TestVisitorsAreBounded(t *testing.T) {
	t.Parallel()
	visit(t, 5, func(w *world, v *demo.Visitors) {
		w.configure(func(s *queue.Settings) { s.TotalActiveUsers, s.NewUsersPerMinute = 100000, 100000 })
		most := 0
		for range 75 {
			time.Sleep(time.Second)
			c := v.Counts()
			most = max(most, c.Waiting+c.Inside)
		}
		if most != 64 {
			t.Errorf("up to %d visitors in a room without limits, want the bound of 64", most)
		}
		w.configure(func(s *queue.Settings) { s.QueueAll = true })
		time.Sleep(2 * time.Minute)
		if c := v.Counts(); c.Waiting > 30 || c.Inside > 0 {
			t.Errorf("when all must queue: %+v", c)
		}
	})
}

func TestVisitorsOutliveAnOutage(t *testing.T) {
	t.Parallel()
	visit(t, 5, func(w *world, v *demo.Visitors) {
		w.set(true)
		time.Sleep(time.Minute)
		c := v.Counts()
		if c.Failed == 0 || c.Inside > 0 {
			t.Errorf("while nothing answers: %+v", c)
		}
		if c.Requests > 60*40 {
			t.Errorf("%d requests in a minute at a server that is down", c.Requests)
		}
		w.set(false)
		time.Sleep(10 * time.Second)
		if c := v.Counts(); c.Inside == 0 {
			t.Errorf("after the outage: %+v", c)
		}
	})
}

func TestBadURLs(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]string{
		"NoScheme": "127.0.0.1:8080", "OtherScheme": "ftp://127.0.0.1", "NoHost": "http://", "OnlyPort": "http://:8080", "Broken": "http://[::1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := demo.NewVisitors(demo.Options{URL: u}); err == nil {
				t.Errorf("%q was taken", u)
			}
		})
	}
}

// scripted answers each visitor as the function says; the argument counts the visitor's requests.
func scripted(t *testing.T, answer func(n int) (header http.Header, status int, body string)) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 0
		if c, err := r.Cookie("n"); err == nil {
			n = len(c.Value)
		}
		n++
		http.SetCookie(w, &http.Cookie{Name: "n", Value: strings.Repeat("i", n), Path: "/"})
		header, status, body := answer(n)
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// direct carries requests to a handler without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, r)
	return rec.Result(), nil
}

func TestVisitorsDoAsTold(t *testing.T) {
	t.Parallel()
	json := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	cases := map[string]struct {
		answer func(n int) (http.Header, int, string)
		want   func(c demo.Counts) bool
	}{
		"RefreshHeader": {
			func(n int) (http.Header, int, string) {
				if n < 4 {
					return http.Header{"Refresh": {"5; url=/"}}, 200, "wait"
				}
				return nil, 200, "shop"
			},
			func(c demo.Counts) bool { return c.Inside == 36 && c.Waiting < 5 },
		},
		"RetryAfter": {
			func(n int) (http.Header, int, string) {
				if n < 4 {
					return http.Header{"Retry-After": {"5"}}, 429, "later"
				}
				return nil, 200, "shop"
			},
			func(c demo.Counts) bool { return c.Inside == 36 && c.Waiting < 5 },
		},
		"JSONInterval": {
			func(n int) (http.Header, int, string) {
				if n < 4 {
					return json, 200, `{"cfWaitingRoom":{"inWaitingRoom":true,"refreshIntervalSeconds":5}}`
				}
				return json, 200, `{"cfWaitingRoom":{"inWaitingRoom":false}}`
			},
			func(c demo.Counts) bool { return c.Inside == 36 && c.Waiting < 5 },
		},
		"RejectedByHeader": {
			func(int) (http.Header, int, string) { return http.Header{"Anteroom-State": {"rejected"}}, 200, "no" },
			func(c demo.Counts) bool { return c.GaveUp >= 36 && c.Inside == 0 },
		},
		"RejectedByJSON": {
			func(int) (http.Header, int, string) {
				return json, 200, `{"cfWaitingRoom":{"inWaitingRoom":true,"isRejectQueue":true}}`
			},
			func(c demo.Counts) bool { return c.GaveUp >= 36 && c.Inside == 0 },
		},
		"OriginDown": {
			func(int) (http.Header, int, string) { return nil, 502, "bad gateway" },
			func(c demo.Counts) bool { return c.Inside == 0 && c.Requests > 100 },
		},
		"ZeroInterval": {
			func(int) (http.Header, int, string) { return http.Header{"Refresh": {"0"}}, 200, "wait" },
			func(c demo.Counts) bool { return c.Inside == 0 && c.Requests <= 36*19 },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				v, err := demo.NewVisitors(demo.Options{
					URL: "http://x.test", Log: slog.New(slog.DiscardHandler), Transport: direct{scripted(t, c.answer)},
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- v.Run(ctx) }()
				time.Sleep(17500 * time.Millisecond)
				synctest.Wait()
				if got := v.Counts(); !c.want(got) {
					t.Errorf("after 17.5 s: %+v", got)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// connections counts a server's open connections. A server learns of the end of one a little after its
// client has opened the next, so what counts is for how long there were more than 32.
type connections struct {
	mu      sync.Mutex
	now     int
	over    time.Time // since when there are more than 32; zero while there are not
	longest time.Duration
	full    chan struct{} // closed when 32 are open for the first time
	once    sync.Once
}

func (c *connections) change(_ net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s {
	case http.StateNew:
		c.now++
		if c.now == 33 {
			c.over = time.Now()
		}
		if c.now == 32 {
			c.once.Do(func() { close(c.full) })
		}
	case http.StateClosed, http.StateHijacked:
		c.now--
		if c.now == 32 {
			c.longest = max(c.longest, time.Since(c.over))
			c.over = time.Time{}
		}
	case http.StateActive, http.StateIdle:
	}
}

func TestRealConnectionsAreBoundedAndStop(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	open := &connections{full: make(chan struct{})}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	server.Config.ConnState = open.change
	server.Start()
	defer server.Close()
	defer close(hang)
	v, err := demo.NewVisitors(demo.Options{URL: server.URL, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx) }()
	select {
	case <-open.full:
	case <-time.After(10 * time.Second):
		t.Fatal("36 visitors do not open 32 connections")
	}
	for v.Counts().Arrived < 36 {
		time.Sleep(20 * time.Millisecond)
	}
	open.mu.Lock()
	if !open.over.IsZero() {
		open.longest = max(open.longest, time.Since(open.over))
	}
	open.over = time.Now() // from here on they end
	open.mu.Unlock()
	stopped := time.Now()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if late := time.Since(stopped); late > 2*time.Second {
		t.Errorf("the visitors took %v to stop in the middle of requests", late)
	}
	open.mu.Lock()
	defer open.mu.Unlock()
	if open.longest > 500*time.Millisecond {
		t.Errorf("more than 32 connections for %v", open.longest)
	}
	if c := v.Counts(); c.Waiting != 0 || c.Inside != 0 {
		t.Errorf("after the end: %+v", c)
	}
}
