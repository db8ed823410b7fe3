package queue_test

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// world is a room on a lone node with simulated people, on a virtual clock. An observer outside the
// room counts who is inside; it believes nothing that the room says about itself.
type world struct {
	t      testing.TB
	now    time.Time
	start  time.Time
	rng    *rand.Rand
	set    queue.Settings
	room   *queue.Pair
	events agenda
	people []*person
	nextID uint64

	scheduled int // events so far: breaks ties in time

	entries []time.Time // admissions in order
	turns   []*person   // people in order of their turn
	over    int         // the worst excess over either limit
	inside  map[queue.ID]time.Time
	busy    time.Duration // places in use, while somebody waits
	could   time.Duration
	journal []queue.Record
	tick    time.Duration
}

type person struct {
	cookie           queue.Answer
	arrived, entered time.Time
	leaves           time.Time
	patience         time.Time
	browse           time.Duration
	poll             func(told time.Duration) time.Duration
	inside, gone     bool
	told             []promise
	returns          time.Duration // goes away once while waiting, and comes back after this
}

// promise is an estimate that a person was shown, and when.
type promise struct {
	at   time.Time
	wait time.Duration
}

type event struct {
	at  time.Time
	seq int
	do  func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at.Before(a[j].at) || a[i].at.Equal(a[j].at) && a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any) {
	if e, ok := x.(event); ok {
		*a = append(*a, e)
	}
}

func (a *agenda) Pop() any {
	old := *a
	e := old[len(old)-1]
	*a = old[:len(old)-1]
	return e
}

// epoch is when a world begins.
func epoch() time.Time { return time.Date(2026, 5, 27, 15, 54, 0, 0, time.UTC) }

func newWorld(t testing.TB, seed uint64, set queue.Settings) *world {
	w := &world{
		t: t, now: epoch(), start: epoch(), rng: rand.New(rand.NewPCG(seed, 1)), set: set,
		inside: map[queue.ID]time.Time{}, tick: 40 * time.Millisecond,
	}
	w.room = queue.NewPair(w.now, w.config(1), nil)
	w.every(w.tick, func() { w.room.Tick(w.now); w.pump() })
	w.every(500*time.Millisecond, w.observe)
	return w
}

func (w *world) config(incarnation uint64) queue.LocalConfig {
	return queue.LocalConfig{DataCenter: "here", Incarnation: incarnation, Seed: queue.Seed{7}, Settings: w.set, Pace: queue.NearPace()}
}

func (w *world) at(t time.Time, do func()) {
	w.scheduled++
	heap.Push(&w.events, event{t, w.scheduled, do})
}

func (w *world) after(d time.Duration, do func()) { w.at(w.now.Add(d), do) }

func (w *world) every(d time.Duration, do func()) {
	w.after(d, func() { do(); w.every(d, do) })
}

func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	for len(w.events) > 0 && !w.events[0].at.After(end) {
		e, ok := heap.Pop(&w.events).(event)
		if !ok {
			w.t.Fatal("something else than an event")
		}
		w.now = e.at
		e.do()
	}
	w.now = end
}

func (w *world) pump() {
	w.room.Pump(w.now)
	w.journal, _ = w.room.Drain(w.journal)
}

func (w *world) freshID() (id queue.ID) {
	w.nextID++
	binary.BigEndian.PutUint64(id[:], w.nextID)
	binary.BigEndian.PutUint64(id[8:], w.rng.Uint64())
	return id
}

// arrive brings a person who browses for a while once inside.
func (w *world) arrive(browse time.Duration) *person {
	p := &person{
		arrived: w.now, browse: browse, patience: w.now.Add(100 * time.Hour),
		poll: func(told time.Duration) time.Duration { return told },
	}
	w.people = append(w.people, p)
	w.visit(p)
	return p
}

func (w *world) ask(p *person, purpose queue.Purpose) queue.Answer {
	a := w.room.Ask(w.now, queue.Ask{
		Purpose: purpose, ID: p.cookie.ID, Arrival: p.cookie.Arrival, Accepted: p.cookie.Accepted,
		LastSeen: p.cookie.LastSeen, Refresh: p.cookie.Refresh, NewID: w.freshID(), Draw: w.rng.Uint64(),
	})
	w.pump()
	if !a.ID.IsZero() {
		p.cookie = a
	}
	return a
}

// visit is one request of a person: into the shop if admitted, else another wait.
func (w *world) visit(p *person) {
	if p.gone {
		return
	}
	if !p.inside && w.now.After(p.patience) {
		p.gone = true
		return
	}
	a := w.ask(p, queue.Enter)
	switch a.Verdict {
	case queue.Admitted:
		w.enter(p, a)
	case queue.Waiting:
		if a.Estimate.Known {
			p.told = append(p.told, promise{w.now, a.Estimate.Middle})
		}
		if p.returns > 0 {
			w.after(p.returns, func() { w.visit(p) })
			p.returns = 0
			return
		}
		w.after(p.poll(a.Refresh), func() { w.visit(p) })
	case queue.Refused:
		p.gone = true
	}
}

func (w *world) enter(p *person, a queue.Answer) {
	if !p.inside {
		p.inside, p.entered, p.leaves = true, w.now, w.now.Add(p.browse)
		w.entries = append(w.entries, w.now)
		w.turns = append(w.turns, p)
	}
	w.inside[a.ID] = w.now
	next := time.Duration(float64(w.set.Session) * (0.1 + 0.5*w.rng.Float64()))
	if w.now.Add(next).Before(p.leaves) {
		w.after(next, func() { w.visit(p) })
	}
}

// observe counts people inside and admissions in the last minute, from outside.
func (w *world) observe() { w.count(w.room.Status(w.now).Waiting) }

func (w *world) count(waiting int) {
	active := 0
	for id, seen := range w.inside {
		if w.now.Sub(seen) < w.set.Session {
			active++
		} else {
			delete(w.inside, id)
		}
	}
	i, _ := slices.BinarySearchFunc(w.entries, w.now.Add(-time.Minute), time.Time.Compare)
	recent := len(w.entries) - i
	w.over = max(w.over, active-w.set.TotalActiveUsers, recent-w.set.NewUsersPerMinute)
	if waiting >= 5 {
		w.could += time.Second
		use := max(float64(active)/float64(w.set.TotalActiveUsers), float64(recent)/float64(w.set.NewUsersPerMinute))
		w.busy += time.Duration(use * float64(time.Second))
	}
}

// crash kills the room and restores it from its journal.
func (w *world) crash(incarnation uint64) {
	fresh := queue.NewPair(w.now, w.config(incarnation), slices.Values(w.journal))
	w.room = fresh
	w.journal = append(w.journal[:0], fresh.Snapshot(w.now)...)
	w.pump()
}

func (w *world) utilisation() float64 {
	if w.could == 0 {
		return 1
	}
	return float64(w.busy) / float64(w.could)
}

// inversions counts pairs who entered in the wrong order by more than the slack.
func (w *world) inversions(slack time.Duration) (bad int, worst time.Duration) {
	latest := time.Time{}
	for _, p := range w.turns {
		if d := latest.Sub(p.arrived); d > slack {
			bad++
			worst = max(worst, d)
		}
		if p.arrived.After(latest) {
			latest = p.arrived
		}
	}
	return bad, worst
}

func (w *world) flash(n int, over time.Duration, browse time.Duration) {
	for range n {
		w.at(w.now.Add(time.Duration(w.rng.Float64()*float64(over))), func() {
			p := w.arrive(time.Duration(w.rng.ExpFloat64() * float64(browse)))
			if w.rng.IntN(20) == 0 {
				p.returns = time.Duration(w.rng.ExpFloat64() * float64(90*time.Second))
			}
		})
	}
}

func fifo(total, perMinute int, session time.Duration) queue.Settings {
	return queue.Settings{Method: anteroom.FIFO, TotalActiveUsers: total, NewUsersPerMinute: perMinute, Session: session}
}

func TestFlashCrowdKeepsBothLimitsAndTheOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  queue.Settings
		use  float64
	}{
		{"ActiveUsersBind", fifo(200, 200, 20*time.Second), 0.98},
		{"RateBinds", fifo(500, 60, 20*time.Second), 0.97},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, c.set)
			w.flash(2000, 10*time.Second, 40*time.Second)
			w.run(20 * time.Minute)
			if w.over > 0 {
				t.Errorf("%d over a limit", w.over)
			}
			if u := w.utilisation(); u < c.use {
				t.Errorf("utilisation %.4f, want %.2f", u, c.use)
			}
			if bad, worst := w.inversions(10 * time.Second); bad > 20 {
				t.Errorf("%d entered more than 10 s out of order, worst %v", bad, worst)
			}
			t.Log(fmt.Sprintf("utilisation %.4f, admitted %d, ", w.utilisation(), len(w.entries)), fmt.Sprint(w.inversions(time.Second)))
		})
	}
}

func TestCrashKeepsPlacesSessionsAndLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, fifo(100, 100, 15*time.Second))
	w.flash(1500, 20*time.Second, 30*time.Second)
	for i := range uint64(6) {
		w.at(w.now.Add(time.Duration(i+1)*47*time.Second), func() { w.crash(i + 2) })
	}
	w.run(15 * time.Minute)
	if w.over > 0 {
		t.Errorf("%d over a limit", w.over)
	}
	if u := w.utilisation(); u < 0.95 {
		t.Errorf("utilisation %.4f with six crashes", u)
	}
	for _, p := range w.people {
		if p.inside && p.cookie.Arrival.Sub(p.arrived).Abs() > time.Millisecond {
			t.Fatalf("a visitor who came at %v was served as one of %v", p.arrived, p.cookie.Arrival)
		}
	}
	t.Log(w.utilisation(), len(w.entries))
	t.Log(w.inversions(time.Second))
}
