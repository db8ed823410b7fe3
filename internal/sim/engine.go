package sim

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// engine is virtual time: a clock and what is to happen. Events of one moment happen in the order in
// which they were scheduled, so a run depends on nothing but its seed.
type engine struct {
	now    time.Time
	start  time.Time
	end    time.Time
	rng    *rand.Rand
	agenda agenda
	seq    uint64
	events int
}

// birth is when every world begins.
func birth() time.Time { return time.Date(2026, 5, 27, 15, 54, 0, 0, time.UTC) }

func newEngine(seed uint64, d time.Duration) *engine {
	return &engine{now: birth(), start: birth(), end: birth().Add(d), rng: rand.New(rand.NewPCG(seed, 0x5eed))}
}

// since is how long the run lasts by now.
func (e *engine) since() time.Duration { return e.now.Sub(e.start) }

// after lets something happen once.
func (e *engine) after(d time.Duration, do func()) {
	e.seq++
	heap.Push(&e.agenda, event{e.now.Add(max(d, 0)), e.seq, do})
}

// every lets something happen again and again, for the first time after one interval.
func (e *engine) every(d time.Duration, do func()) {
	e.after(d, func() { do(); e.every(d, do) })
}

// step lets the next event happen; false at the end of the run.
func (e *engine) step() bool {
	if len(e.agenda) == 0 || e.agenda[0].at.After(e.end) {
		e.now = e.end
		return false
	}
	next := heap.Pop(&e.agenda).(event) //nolint:forcetypeassert // the agenda holds nothing else
	e.now = next.at
	e.events++
	next.do()
	return true
}

// exponential draws a duration with the mean.
func (e *engine) exponential(mean time.Duration) time.Duration {
	return time.Duration(e.rng.ExpFloat64() * float64(mean))
}

type event struct {
	at  time.Time
	seq uint64
	do  func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at.Before(a[j].at) || a[i].at.Equal(a[j].at) && a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) } //nolint:forcetypeassert // see step

func (a *agenda) Pop() any {
	old := *a
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*a = old[:len(old)-1]
	return e
}
