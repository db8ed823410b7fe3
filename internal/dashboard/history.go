package dashboard

import (
	"sync"
	"time"
)

// Bounds of the history. A room takes 24 B times 9,540 points, 229 kB, once a day has passed; all
// rooms together at most 59 MB. Rooms beyond historyRoomsMax have live counts but no chart.
const (
	historyRoomsMax = 256
	fineStep        = time.Second
	fineSpan        = 15 * time.Minute
	coarseStep      = 10 * time.Second
	coarseSpan      = 24 * time.Hour
)

// Sample is what a room's chart shows of one moment.
type Sample struct {
	// Limit is total_active_users at that moment.
	Limit int
	// Active, Free and Waiting are the active users, the free slots and the queued users.
	Active, Free, Waiting int
	// Admitted is how many were admitted in the 60 s before.
	Admitted int
}

// Point is a sample with its time.
type Point struct {
	At time.Time
	Sample
}

// History remembers samples of each room in bounded memory: one a second for 15 minutes and one
// every 10 s for a day. It lives in memory only and begins anew with the process. It reads no clock
// and is safe for concurrent use.
type History struct {
	mu    sync.Mutex
	rooms map[string]*track // guarded by mu, and the tracks as well
}

// track is the history of one room, twice.
type track struct{ fine, coarse ring }

// NewHistory makes an empty history.
func NewHistory() *History { return &History{rooms: map[string]*track{}} }

// Add appends a sample. Of several within one second the chart keeps the extremes. When the clock
// was set back, points later than now are forgotten: they are lived through again.
func (h *History) Add(now time.Time, roomID string, s Sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.rooms[roomID]
	if t == nil {
		if len(h.rooms) >= historyRoomsMax {
			return
		}
		t = &track{
			fine:   ring{lenMax: int(fineSpan / fineStep)},
			coarse: ring{lenMax: int(coarseSpan / coarseStep)},
		}
		h.rooms[roomID] = t
	}
	p := packed(now, s)
	t.fine.fold(p, fineStep)
	t.coarse.fold(p, coarseStep)
}

// Keep forgets every room that keep does not want.
func (h *History) Keep(keep func(roomID string) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.rooms {
		if !keep(id) {
			delete(h.rooms, id)
		}
	}
}

// Range gives the room's points of [from, to], oldest first, and the time from one to the next when
// none is missing. It merges neighbours until no more than pointsMax, at least 2, are left: the
// peak of active and waiting users and the low of free slots stand for the merged ones, at the
// beginning of their common step.
func (h *History) Range(roomID string, from, to time.Time, pointsMax int) ([]Point, time.Duration) {
	step := fineStep
	if to.Sub(from) > fineSpan {
		step = coarseStep
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	wide := widened(step, to.Sub(from), pointsMax)
	t := h.rooms[roomID]
	if t == nil {
		return nil, wide
	}
	source := &t.fine
	if step == coarseStep {
		source = &t.coarse
	}
	return source.between(from, to, wide), wide
}

// widened is the smallest multiple of step that divides the span, wherever it begins, into at most
// pointsMax parts.
func widened(step, span time.Duration, pointsMax int) time.Duration {
	steps := int(span / step)
	return step * time.Duration(1+steps/(max(2, pointsMax)-1))
}

// fold appends p at the beginning of its step, or merges it into the point that is there.
func (r *ring) fold(p point, step time.Duration) {
	r.cutAfter(p.at)
	p.at = floor(p.at, step)
	if last := r.last(); last != nil && last.at == p.at {
		*last = merged(*last, p)
		return
	}
	r.push(p)
}

// between gives the points of [from, to], merged to the step.
func (r *ring) between(from, to time.Time, step time.Duration) []Point {
	var out []Point
	var open point
	for i := range r.n {
		p := *r.at(i)
		if at := p.time(); at.Before(from) || at.After(to) {
			continue
		}
		p.at = floor(p.at, step)
		switch {
		case out != nil && open.at == p.at:
			open = merged(open, p)
			out[len(out)-1] = open.unpacked()
		default:
			open = p
			out = append(out, open.unpacked())
		}
	}
	return out
}

func floor(at uint32, step time.Duration) uint32 { return at - at%uint32(step/time.Second) }

func packed(now time.Time, s Sample) point {
	return point{
		at:       uint32(now.Unix()),
		limit:    int32(s.Limit),
		active:   int32(s.Active),
		free:     int32(s.Free),
		waiting:  int32(s.Waiting),
		admitted: int32(s.Admitted),
	}
}

func (p point) time() time.Time { return time.Unix(int64(p.at), 0) }

func (p point) unpacked() Point {
	return Point{At: p.time(), Sample: Sample{
		Limit:    int(p.limit),
		Active:   int(p.active),
		Free:     int(p.free),
		Waiting:  int(p.waiting),
		Admitted: int(p.admitted),
	}}
}
