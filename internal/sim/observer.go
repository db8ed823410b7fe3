package sim

import (
	"fmt"
	"time"
)

// brokenMax is how many violations a result lists.
const brokenMax = 100

// observer stands outside the room and counts real people. It believes nothing that a room says.
type observer struct {
	e *engine
	w *World

	limit    int       // total_active_users that binds
	draining bool      // the limit was lowered; who is inside may stay
	lowered  time.Time // since then; data centers need a moment to hear of it
	// disturbed tells that a fault lasts. Data centers that no leader reaches keep their part of a lowered
	// limit each, not the sum: one may have room while another is still above its part.
	disturbed bool

	active  int
	present int       // people who wait, those who are away left out
	latest  time.Time // the latest arrival of those whose turn has come
	entries entryWindow
	recent  entryWindow // of the last second
	lately  entryWindow // of the last few

	overUsers, overRate excess
	peak                int
	use                 usage
	newcomers, needless int
	admitted, gaveUp    int
	series              []Point
	broken              []string
	brokenCount         int
}

// excess gathers how far a limit was exceeded.
type excess struct {
	max int
	sum float64
	n   int
}

func (x *excess) add(over int) {
	x.max = max(x.max, over)
	x.sum += float64(max(0, over))
	x.n++
}

func (x *excess) result() Excess {
	if x.n == 0 {
		return Excess{}
	}
	return Excess{max(0, x.max), x.sum / float64(x.n)}
}

// entryWindow is the entries of a sliding span of time.
type entryWindow struct {
	times []time.Time
	from  int
}

func (w *entryWindow) add(at time.Time) { w.times = append(w.times, at) }

// count tells how many entries lie in the span that ends now.
func (w *entryWindow) count(now time.Time, span time.Duration) int {
	for w.from < len(w.times) && now.Sub(w.times[w.from]) >= span {
		w.from++
	}
	return len(w.times) - w.from
}

func newObserver(e *engine, w *World) *observer {
	return &observer{e: e, w: w, limit: w.Room.TotalActiveUsers}
}

// complain notes a violation.
func (o *observer) complain(format string, args ...any) {
	o.brokenCount++
	if len(o.broken) < brokenMax {
		o.broken = append(o.broken, fmt.Sprintf("%9.3f s: ", o.e.since().Seconds())+fmt.Sprintf(format, args...))
	}
}

// waits notes a visitor who was not admitted.
func (o *observer) waits(v *visitor) {
	if v.waits {
		return
	}
	v.waits = true
	o.newcomers++
	v.held = o.present == 0 && o.spacious()
	o.present++
}

// spacious tells that both limits have 2 % to spare.
func (o *observer) spacious() bool {
	const spare = 0.98
	return float64(o.active) < spare*float64(o.limit) &&
		float64(o.entries.count(o.e.now, time.Minute)) < spare*float64(o.w.Room.NewUsersPerMinute)
}

func (o *observer) absent() { o.present-- }
func (o *observer) back()   { o.present++ }

// left notes a visitor who gave up.
func (o *observer) left(v *visitor) {
	o.gaveUp++
	if v.waits && !v.absent {
		o.present--
	}
}

// needlessAfter is how long a newcomer may be held although there is room.
const needlessAfter = 500 * time.Millisecond

// enters notes an admission and looks at both limits.
func (o *observer) enters(v *visitor) {
	if v.waits {
		o.present--
		if v.held && v.entered.Sub(v.arrived) > needlessAfter {
			o.needless++
		}
	} else {
		o.newcomers++
		v.turn = v.entered
		o.called(v)
	}
	o.admitted++
	o.entries.add(o.e.now)
	o.recent.add(o.e.now)
	o.lately.add(o.e.now)
	o.peak = max(o.peak, o.recent.count(o.e.now, time.Second))
	o.seen(v)
	if over := o.entries.count(o.e.now, time.Minute) - o.w.Room.NewUsersPerMinute; over > 0 {
		o.complain("%d entries above new_users_per_minute within 60 s", over)
	}
	if over := o.active - o.limit; over > 0 && !o.draining {
		o.complain("%d active users above the limit of %d", over, o.limit)
	} else if over > 0 && o.e.now.Sub(o.lowered) > lowerGrace && !o.disturbed {
		o.complain("somebody entered although %d are active and the limit was lowered to %d", o.active, o.limit)
	}
}

// called notes a visitor whose turn has come.
func (o *observer) called(v *visitor) {
	if v.arrived.After(o.latest) {
		o.latest = v.arrived
	}
}

// seen notes a request at the origin: the visitor is active for the session duration from now on.
func (o *observer) seen(v *visitor) {
	v.last = o.e.now
	if v.counted {
		return
	}
	v.counted = true
	o.active++
	o.watch(v, o.w.Room.Session)
}

// watch looks whether a visitor is still active after a while.
func (o *observer) watch(v *visitor, after time.Duration) {
	o.e.after(after, func() {
		if left := o.w.Room.Session - o.e.now.Sub(v.last); left > 0 && (!v.moved || left > lateMove) {
			o.watch(v, left)
			return
		}
		v.counted = false
		o.active--
	})
}

// thrownOut notes somebody inside who was sent to the line.
func (o *observer) thrownOut(v *visitor) {
	if left := o.w.Room.Session - o.e.now.Sub(v.last); left > 0 && (!v.moved || left > lateMove) {
		o.complain("an active session was ended %v too early in data center %d", left, v.center)
	}
}

// lateMove is the last part of a session in which it may not find a right in another data center.
const lateMove = 10 * time.Second

// lowerGrace is how long data centers may need to hear of a lowered limit.
const lowerGrace = 10 * time.Second

// relimit puts another limit in force.
func (o *observer) relimit(limit int) {
	o.draining = limit < o.limit
	o.limit, o.lowered = limit, o.e.now
}

// sampleEvery is the grain of time averages.
const sampleEvery = 200 * time.Millisecond

// waitersMin is how many must wait for the use of the room to count.
const waitersMin = 5

// sample looks at the room.
func (o *observer) sample() {
	minute := o.entries.count(o.e.now, time.Minute)
	if o.draining && o.active <= o.limit {
		o.draining = false
	}
	if !o.draining {
		o.overUsers.add(o.active - o.limit)
	}
	o.overRate.add(minute - o.w.Room.NewUsersPerMinute)
	if o.present >= waitersMin && o.e.since() >= o.w.Room.Opens {
		use := max(float64(o.active)/float64(max(1, o.limit)), float64(minute)/float64(max(1, o.w.Room.NewUsersPerMinute)))
		o.use.add(o.e.since(), min(1, use))
	}
}

// plot adds a point to the course of the room.
func (o *observer) plot(c counts) {
	o.series = append(o.series, Point{
		At: o.e.since(), Limit: o.limit, Active: o.active, Minute: o.entries.count(o.e.now, time.Minute),
		Waiting: o.present, Slots: c.free,
	})
}

// usage is the use of the room while visitors wait.
type usage struct {
	sum    float64
	n      int
	recent []useSample // of the last ten seconds
	worst  float64
	bad    time.Duration // until when they were not
}

type useSample struct {
	at  time.Duration
	use float64
}

// useSpan is the span over which use is looked at for the worst moment, and goodUse what is well.
const (
	useSpan = 10 * time.Second
	goodUse = 0.97
)

func (u *usage) add(at time.Duration, use float64) {
	u.sum += use
	u.n++
	u.recent = append(u.recent, useSample{at, use})
	for at-u.recent[0].at >= useSpan {
		u.recent = u.recent[1:]
	}
	sum := 0.0
	for _, s := range u.recent {
		sum += s.use
	}
	mean := sum / float64(len(u.recent))
	if len(u.recent) < int(useSpan/sampleEvery) {
		return // the queue has just begun, or had a break
	}
	if u.worst == 0 || mean < u.worst {
		u.worst = mean
	}
	if mean < goodUse {
		u.bad = at
	}
}

// mean is the time average; 1 when nobody ever waited.
func (u *usage) mean() float64 {
	if u.n == 0 {
		return 1
	}
	return u.sum / float64(u.n)
}
