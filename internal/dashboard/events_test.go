package dashboard_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// listener is an open page: it takes the stream of events until it is closed or the server ends it.
type listener struct {
	header http.Header
	stop   context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	status int
	text   strings.Builder
	hang   chan struct{} // while not nil, Write blocks until it is closed: a page that takes nothing
}

func (l *listener) Header() http.Header { return l.header }
func (l *listener) WriteHeader(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status
}
func (l *listener) Flush() {}

func (l *listener) Write(b []byte) (int, error) {
	if l.hang != nil {
		<-l.hang
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// events are those that came so far.
func (l *listener) events(t *testing.T) []streamEvent {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []streamEvent
	for line := range strings.Lines(l.text.String()) {
		if body, ok := strings.CutPrefix(line, "data: "); ok {
			var e streamEvent
			if err := json.Unmarshal([]byte(body), &e); err != nil {
				t.Fatalf("%v in %q", err, body)
			}
			out = append(out, e)
		}
	}
	return out
}

type streamEvent struct {
	At      int64  `json:"at"`
	Version string `json:"version"`
	Rooms   []struct {
		ID      string `json:"id"`
		State   string `json:"state"`
		Status  string `json:"status"`
		Active  int    `json:"active"`
		Waiting int    `json:"waiting"`
		Longest string `json:"longest"`
	} `json:"rooms"`
}

func (l *listener) beats() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), ": alive")
}

func (l *listener) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// listen opens a page's stream. It runs inside a synctest bubble.
func (w *world) listen(cookie *http.Cookie, hang chan struct{}) *listener {
	ctx, cancel := context.WithCancel(w.t.Context())
	l := &listener{header: http.Header{}, stop: cancel, done: make(chan struct{}), hang: hang}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/dashboard/events", nil)
	r.AddCookie(cookie)
	go func() {
		defer close(l.done)
		w.dash.ServeHTTP(l, r)
	}()
	synctest.Wait()
	return l
}

// run starts the sampling and gives the function that ends it.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.dash.Run(ctx) }()
	synctest.Wait()
	return func() { cancel(); <-done }
}

func TestEvents(t *testing.T) {
	t.Parallel()
	t.Run("FirstAllThenWhatChanged", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, room("r1", "shop"), room("r2", "news"))
			stop := w.run()
			l := w.listen(w.signIn(), nil)
			if got := l.header.Get("Content-Type"); got != "text/event-stream" {
				t.Errorf("content type %q", got)
			}
			if e := l.events(t); len(e) != 1 || len(e[0].Rooms) != 2 {
				t.Fatalf("at the beginning: %+v", e)
			}
			time.Sleep(10 * time.Second)
			if e := l.events(t); len(e) != 1 {
				t.Errorf("%d events while nothing changed, want the first only", len(e))
			}
			calm := room("r1", "shop")
			calm.Status = queue.Status{State: queue.Open, Active: 7}
			w.set(calm, room("r2", "news"))
			time.Sleep(1500 * time.Millisecond)
			e := l.events(t)
			if len(e) != 2 || len(e[1].Rooms) != 1 {
				t.Fatalf("after one room changed: %+v", e)
			}
			if r := e[1].Rooms[0]; r.ID != "r1" || r.State != "open" || r.Active != 7 || r.Status != "Not queueing" {
				t.Errorf("the changed room is %+v", r)
			}
			if e[0].Version != e[1].Version {
				t.Error("counts changed the version of the settings")
			}
			l.stop()
			<-l.done
			stop()
		})
	})
	t.Run("NewVersionForSettings", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, room("r1", "shop"))
			stop := w.run()
			l := w.listen(w.signIn(), nil)
			renamed := room("r1", "store")
			for _, next := range [][]string{{"r1"}, {"r1", "r2"}, {}} {
				rooms := w.list()[:0]
				for _, id := range next {
					rooms = append(rooms, renamed)
					rooms[len(rooms)-1].Config.ID = id
				}
				w.set(rooms...)
				time.Sleep(1500 * time.Millisecond)
			}
			seen := map[string]bool{}
			for _, e := range l.events(t) {
				seen[e.Version] = true
			}
			if len(seen) != 4 {
				t.Errorf("%d versions for first, renamed, added, removed", len(seen))
			}
			l.stop()
			<-l.done
			stop()
		})
	})
	t.Run("HeartbeatsThenEndOfSession", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, room("r1", "shop"))
			stop := w.run()
			l := w.listen(w.signIn(), nil)
			time.Sleep(46 * time.Second)
			if n := l.beats(); n != 3 {
				t.Errorf("%d heartbeats in 46 s, want 3", n)
			}
			w.revoke()
			time.Sleep(15 * time.Second)
			if !l.ended() {
				t.Error("the stream goes on without a token in force")
			}
			stop()
		})
	})
	t.Run("EndWithTheServer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, room("r1", "shop"))
			stop := w.run()
			cookie := w.signIn()
			l := w.listen(cookie, nil)
			stop()
			synctest.Wait()
			if !l.ended() {
				t.Error("the stream outlives the sampling")
			}
			late := w.listen(cookie, nil)
			<-late.done
			if late.status != http.StatusServiceUnavailable {
				t.Errorf("a stream after the end: status %d", late.status)
			}
		})
	})
}

func TestEventStreamsAreBounded(t *testing.T) {
	t.Parallel()
	t.Run("InNumber", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, room("r1", "shop"))
			stop := w.run()
			cookie := w.signIn()
			var open []*listener
			for range 64 {
				open = append(open, w.listen(cookie, nil))
			}
			refused := w.listen(cookie, nil)
			if !refused.ended() || refused.status != http.StatusServiceUnavailable || refused.header.Get("Retry-After") == "" {
				t.Errorf("stream 65: ended %v, status %d", refused.ended(), refused.status)
			}
			open[0].stop()
			<-open[0].done
			if l := w.listen(cookie, nil); l.ended() {
				t.Error("the place of a closed page was not given to the next")
			}
			stop()
			for _, l := range open {
				<-l.done
			}
		})
	})
	t.Run("InBacklog", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, room("r1", "shop"))
			stop := w.run()
			cookie := w.signIn()
			hang := make(chan struct{})
			stuck, fine := w.listen(cookie, hang), w.listen(cookie, nil)
			time.Sleep(500 * time.Millisecond) // between the samples
			for i := range 30 {
				changed := room("r1", "shop")
				changed.Status.Waiting = i
				w.set(changed)
				time.Sleep(time.Second)
			}
			if n := len(fine.events(t)); n < 30 {
				t.Errorf("a page that keeps up got %d events while another hangs", n)
			}
			close(hang)
			synctest.Wait()
			if !stuck.ended() {
				t.Error("a page that took nothing for 30 s is still served")
			}
			if n := len(stuck.events(t)); n > 10 {
				t.Errorf("%d events were kept for a page that takes none", n)
			}
			fine.stop()
			stop()
			<-fine.done
		})
	})
}

func TestChartData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t, room("r1", "shop"))
		stop := w.run()
		grow := room("r1", "shop")
		for hour := range 3 {
			grow.Status.Waiting = hour
			w.set(grow)
			time.Sleep(time.Hour)
		}
		cookie := w.signIn()
		for key, want := range map[string]struct{ points, step, first int64 }{
			"5m": {301, 1, 2}, "1h": {361, 10, 2}, "24h": {85, 130, 0}, "nonsense": {301, 1, 2},
		} {
			answer := w.get("/dashboard/rooms/r1/series?range="+key, cookie)
			var s struct {
				From, To, Step               int64
				At                           []int64
				Limit, Active, Free, Waiting []int
			}
			if err := json.Unmarshal([]byte(text(t, answer)), &s); err != nil {
				t.Fatal(err)
			}
			n := int64(len(s.At))
			if n < want.points*9/10 || n > want.points || s.Step != want.step {
				t.Errorf("%s: %d points with step %d, want about %d with %d", key, n, s.Step, want.points, want.step)
			}
			if len(s.Limit) != len(s.At) || len(s.Active) != len(s.At) || len(s.Free) != len(s.At) || len(s.Waiting) != len(s.At) {
				t.Errorf("%s: the columns differ in length", key)
			}
			if !slices.IsSorted(s.At) || s.Limit[0] != 1200 || s.Active[0] != 1200 || s.Waiting[len(s.Waiting)-1] != 2 {
				t.Errorf("%s: the data is not what was measured", key)
			}
			if first := s.Waiting[1]; first != int(want.first) {
				t.Errorf("%s: begins with %d waiting, want %d", key, first, want.first)
			}
		}
		w.set() // a room that is gone takes its history along
		time.Sleep(2 * time.Second)
		if body := text(t, w.get("/dashboard/rooms/r1/series", cookie)); !strings.Contains(body, `"at":[]`) {
			t.Errorf("after the room was deleted: %.200s", body)
		}
		stop()
	})
}
