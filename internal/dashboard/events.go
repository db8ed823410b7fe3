package dashboard

import (
	"context"
	"net/http"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

// Times of sampling and of the event streams.
const (
	sampleEvery    = time.Second
	heartbeatEvery = 15 * time.Second // shorter than the idle limit of common proxies
	writeTimeout   = 10 * time.Second // a page that takes nothing for so long is gone
)

// Run samples every room once a second into the history and to the open pages until the context
// ends; then it closes the event streams, so that a graceful shutdown of the server need not wait
// for them. Call it once.
func (d *Dashboard) Run(ctx context.Context) {
	defer d.feed.close()
	tick := sys.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		d.sample(sys.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (d *Dashboard) sample(now time.Time) {
	rooms := sorted(d.options.Rooms())
	lines := make([]line, len(rooms))
	there := make(map[string]bool, len(rooms))
	for i, r := range rooms {
		l := lineOf(r)
		lines[i], there[l.ID] = l, true
	}
	d.history.Keep(func(id string) bool { return there[id] })
	for _, l := range lines {
		d.history.Add(now, l.ID, Sample{
			Limit: l.Limit, Active: l.Active, Free: l.Free, Waiting: l.Waiting, Admitted: l.Admitted,
		})
	}
	d.feed.publish(now, version(rooms), lines)
}

// events is the stream of server-sent events for one open page.
func (d *Dashboard) events(w http.ResponseWriter, r *http.Request) {
	updates, picture, ok := d.feed.join()
	if !ok {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "Too many open pages, or the server is stopping.", http.StatusServiceUnavailable)
		return
	}
	defer d.feed.leave(updates)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s := stream{w: w, control: http.NewResponseController(w)}
	if !s.send(append([]byte("retry: 2000\n\n"), picture...)) {
		return
	}
	d.follow(r, s, updates)
}

// follow sends until the page, its session or the server ends.
func (d *Dashboard) follow(r *http.Request, s stream, updates <-chan []byte) {
	beat := sys.NewTicker(heartbeatEvery)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case message, ok := <-updates:
			if !ok || !s.send(message) {
				return
			}
		case <-beat.C:
			if !d.allowed(r) || !s.send([]byte(": alive\n\n")) {
				return
			}
		}
	}
}

type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// send writes and flushes; false means that the page is gone.
func (s stream) send(message []byte) bool {
	// Not every writer has deadlines; one that has none cannot hang on a socket either.
	_ = s.control.SetWriteDeadline(sys.Now().Add(writeTimeout))
	if _, err := s.w.Write(message); err != nil {
		return false
	}
	return s.control.Flush() == nil
}
