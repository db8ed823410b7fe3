package queue_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// guest is one visitor with a cookie jar at a room whose time the test moves by hand.
type guest struct {
	w *world
	p *person
}

func (w *world) guest() guest { return guest{w, &person{arrived: w.now}} }

func (g guest) enter() queue.Answer { return g.w.ask(g.p, queue.Enter) }
func (g guest) check() queue.Answer { return g.w.ask(g.p, queue.Check) }

// inside tells whether a request of the guest goes to the origin.
func (g guest) inside() bool { return g.enter().Verdict == queue.Admitted }

// line makes a full room and n guests who wait in order of arrival, a tenth of a second apart.
func line(t *testing.T, set queue.Settings, n int) (*world, []guest) {
	t.Helper()
	w := newWorld(t, 3, set)
	for range set.TotalActiveUsers {
		if !w.guest().inside() {
			t.Fatal("the room is full too early")
		}
	}
	guests := make([]guest, n)
	for i := range guests {
		guests[i] = w.guest()
		if guests[i].inside() {
			t.Fatal("the room is not full")
		}
		w.run(100 * time.Millisecond)
	}
	for _, g := range guests {
		g.check()
	}
	return w, guests
}

// TestT4SwitchingMethodsKeepsTheOrder is case T4 of the published behaviour: a line 1 2 3 4 5, the
// method becomes random, one of them enters, the method becomes FIFO again: the others keep their order.
func TestT4SwitchingMethodsKeepsTheOrder(t *testing.T) {
	t.Parallel()
	set := fifo(1, 100, time.Minute)
	w, guests := line(t, set, 5)
	w.set.Method = anteroom.Random
	w.room.Configure(w.now, w.set)
	lucky := -1
	for range 600 {
		w.run(time.Second)
		for i, g := range guests {
			if lucky < 0 && g.inside() {
				lucky = i
			}
		}
		if lucky >= 0 {
			break
		}
	}
	if lucky < 0 {
		t.Fatal("nobody won the lottery in ten minutes")
	}
	w.set.Method = anteroom.FIFO
	w.room.Configure(w.now, w.set)
	place := 0
	for i, g := range guests {
		if i == lucky {
			continue
		}
		place++
		if a := g.check(); a.Position != place {
			t.Errorf("guest %d is at place %d, want %d", i+1, a.Position, place)
		}
	}
}

func TestSessionsEndAsPublished(t *testing.T) {
	t.Parallel()
	visits := func(w *world, g guest, at ...time.Duration) {
		for _, d := range at {
			w.run(w.start.Add(d).Sub(w.now))
			if !g.inside() {
				t.Errorf("thrown out at %v", d)
			}
		}
	}
	t.Run("T5RenewedSession", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 1, fifo(10, 10, 5*time.Minute))
		g := w.guest()
		visits(w, g, 0, 4*time.Minute, 8*time.Minute, 12*time.Minute)
		w.run(w.start.Add(17*time.Minute - time.Second).Sub(w.now))
		if n := w.room.Status(w.now).Active; n != 1 {
			t.Errorf("%d active one second before the end at 17 min", n)
		}
		w.run(2 * time.Second)
		if n := w.room.Status(w.now).Active; n != 0 {
			t.Errorf("%d active after the end at 17 min", n)
		}
	})
	t.Run("T6FixedSessionGoesToTheBack", func(t *testing.T) {
		t.Parallel()
		set := fifo(1, 10, 5*time.Minute)
		set.FixedSessions = true
		w := newWorld(t, 1, set)
		g, next, last := w.guest(), w.guest(), w.guest()
		visits(w, g, 0)
		next.enter()
		last.enter()
		w.run(time.Second)
		visits(w, g, 4*time.Minute)
		for range 12 {
			next.enter()
			last.enter()
			w.run(10 * time.Second)
		}
		if a := g.enter(); a.Verdict != queue.Waiting || a.Known || a.Position != 2 {
			t.Errorf("at 6 min %+v, want the back of the line", a)
		}
		if !next.inside() {
			t.Error("who waited did not get the place")
		}
	})
	t.Run("T7FixedSessionBeginsAnew", func(t *testing.T) {
		t.Parallel()
		set := fifo(10, 10, 5*time.Minute)
		set.FixedSessions = true
		w := newWorld(t, 1, set)
		g := w.guest()
		visits(w, g, 0, 4*time.Minute)
		first := g.p.cookie.ID
		w.run(w.start.Add(6 * time.Minute).Sub(w.now))
		if a := g.enter(); !a.Entered || a.ID == first {
			t.Errorf("%+v, want a new visitor's session", a)
		}
	})
	t.Run("T10OneRequestIsActiveForTheWholeSession", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 1, fifo(10, 10, 30*time.Minute))
		visits(w, w.guest(), 0)
		w.run(10 * time.Minute)
		if n := w.room.Status(w.now).Active; n != 1 {
			t.Errorf("%d active after 10 min of a session of 30", n)
		}
	})
}

func TestQueuedCookieLastsFiveMinutes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		away time.Duration
		kept bool
	}{
		{"T8ReturnsAfter4m59s", 4*time.Minute + 59*time.Second, true},
		{"T9ReturnsAfter5m1s", 5*time.Minute + 1*time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, guests := line(t, fifo(1, 10, time.Hour), 2)
			before := guests[0].p.cookie
			for end := w.now.Add(c.away); w.now.Before(end); {
				w.run(min(time.Minute, end.Sub(w.now)))
				guests[1].check()
			}
			if s := w.room.Status(w.now); !c.kept && s.Waiting != 1 {
				t.Errorf("%d are counted although one left", s.Waiting)
			}
			a := guests[0].enter()
			if kept := a.Known && a.ID == before.ID && a.Arrival.Equal(before.Arrival) && a.Position == 1; kept != c.kept {
				t.Errorf("%+v, place kept %v, want %v", a, kept, c.kept)
			}
		})
	}
}

// TestT46EarlyCheckInsDoNotCount: a visitor who asks every second has one counted attempt per interval.
func TestT46EarlyCheckInsDoNotCount(t *testing.T) {
	t.Parallel()
	set := fifo(1, 1, 30*time.Minute)
	set.QueueAll = true
	w := newWorld(t, 1, set)
	g := w.guest()
	g.enter()
	w.run(2 * time.Second)
	told, counted := g.check(), 0
	for range 120 {
		w.run(time.Second)
		a := g.check()
		if a.LastSeen.Equal(told.LastSeen) {
			continue
		}
		if gap := a.LastSeen.Sub(told.LastSeen); gap < told.Refresh-time.Second {
			t.Errorf("counted after %v, the interval was %v", gap, told.Refresh)
		}
		counted++
		told = a
	}
	if counted < 4 || counted > 8 {
		t.Errorf("%d counted in two minutes, want about 6", counted)
	}
}

func TestQueueAllAdmitsNobodyAndKeepsSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, fifo(10, 10, time.Minute))
	inside := w.guest()
	inside.enter()
	w.set.QueueAll = true
	w.room.Configure(w.now, w.set)
	late := w.guest()
	a := late.enter()
	if a.Verdict != queue.Waiting || a.Estimate.Known {
		t.Errorf("%+v, want to wait for an unknown time", a)
	}
	w.run(10 * time.Second)
	if !inside.inside() || late.inside() {
		t.Error("queue_all must keep sessions and admit nobody")
	}
	w.set.Method = anteroom.Reject
	w.room.Configure(w.now, w.set)
	if a := w.guest().enter(); a.Verdict != queue.Waiting {
		t.Errorf("%+v: queue_all goes before the method", a)
	}
	w.set.Method, w.set.QueueAll = anteroom.FIFO, false
	w.room.Configure(w.now, w.set)
	w.run(5 * time.Second)
	if !late.inside() {
		t.Error("nobody enters after queue_all ends")
	}
}

func TestMethodsWithoutALine(t *testing.T) {
	t.Parallel()
	t.Run("PassthroughAdmitsAndCounts", func(t *testing.T) {
		t.Parallel()
		set := fifo(2, 1, time.Minute)
		set.Method = anteroom.Passthrough
		w := newWorld(t, 1, set)
		for range 20 {
			if !w.guest().inside() {
				t.Fatal("passthrough made somebody wait")
			}
		}
		if n := w.room.Status(w.now).Active; n != 20 {
			t.Errorf("%d active, want 20", n)
		}
	})
	t.Run("PassthroughToFIFOAdmitsNobodyUntilThereIsRoom", func(t *testing.T) {
		t.Parallel()
		set := fifo(5, 5, 10*time.Second)
		set.Method = anteroom.Passthrough
		w := newWorld(t, 1, set)
		for range 20 {
			w.guest().enter()
		}
		w.set.Method = anteroom.FIFO
		w.room.Configure(w.now, w.set)
		next := w.guest()
		if next.inside() {
			t.Error("a room with 20 of 5 let one more in")
		}
		w.run(9 * time.Second)
		if next.inside() {
			t.Error("let in before the 20 were gone")
		}
		w.run(60 * time.Second)
		if !next.inside() {
			t.Error("not let in after the 20 were gone and their permits cool")
		}
	})
	t.Run("RejectAdmitsNobodyAndKeepsPlaces", func(t *testing.T) {
		t.Parallel()
		w, guests := line(t, fifo(1, 10, 10*time.Second), 2)
		w.set.Method = anteroom.Reject
		w.room.Configure(w.now, w.set)
		if a := w.guest().enter(); a.Verdict != queue.Refused || !a.ID.IsZero() {
			t.Errorf("%+v, want a refusal without a ticket", a)
		}
		w.run(30 * time.Second)
		if a := guests[0].enter(); a.Verdict != queue.Refused {
			t.Errorf("%+v, want a refusal", a)
		}
		w.set.Method = anteroom.FIFO
		w.room.Configure(w.now, w.set)
		w.run(2 * time.Second)
		if !guests[0].inside() {
			t.Error("the place was lost while the room was closed")
		}
	})
}

// TestLapsedTurnGoesOnAndThePlaceIsKept is the whole kind of "slots handed to people who left": a
// limit of 4, six visitors; those who go away do not hold up the others and do not stay in the count.
func TestLapsedTurnGoesOnAndThePlaceIsKept(t *testing.T) {
	t.Parallel()
	set := fifo(4, 100, 40*time.Second)
	w, guests := line(t, set, 6)
	gone, present := guests[:2], guests[2:]
	for range 120 {
		w.run(time.Second)
		for _, g := range present {
			g.enter()
		}
	}
	for i, g := range present {
		if !g.inside() {
			t.Errorf("visitor %d waits behind people who left", i+3)
		}
	}
	if s := w.room.Status(w.now); s.Waiting != 0 {
		t.Errorf("%d waiting, everyone present is inside", s.Waiting)
	}
	w.run(41 * time.Second) // a place becomes free
	if a := w.ask(gone[0].p, queue.Look); !a.Turn {
		t.Errorf("%+v: the next request would enter", a)
	}
	if a := gone[0].enter(); a.Verdict != queue.Admitted || !a.Known {
		t.Errorf("who let the turn lapse came back and got %+v, want to go next", a)
	}
}

func TestEndedSessionFreesThePlaceAndItsCookieIsSpent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 9, fifo(1, 100, 30*time.Minute))
	a, b := w.guest(), w.guest()
	a.enter()
	b.enter()
	w.run(time.Second)
	b.check()
	if _, ok := w.room.End(w.now, a.p.cookie.ID); !ok {
		t.Fatal("no session to end")
	}
	w.run(time.Second)
	if !b.inside() {
		t.Error("the freed place went to nobody")
	}
	if a.inside() {
		t.Error("the ended session's cookie still passes")
	}
}

// TestOldCookieCannotTakeTheSamePlaceTwice: a queued cookie is spent once its visitor has entered.
func TestOldCookieCannotTakeTheSamePlaceTwice(t *testing.T) {
	t.Parallel()
	w, guests := line(t, fifo(1, 100, 10*time.Second), 2)
	queued := guests[0].p.cookie
	for !guests[0].inside() {
		w.run(time.Second)
		guests[1].check()
	}
	w.run(11 * time.Second) // the session is over
	replay := guest{w, &person{cookie: queued}}
	if a := replay.enter(); a.Known || a.Verdict == queue.Admitted {
		t.Errorf("%+v: a spent cookie went ahead of the line", a)
	}
}

func TestVisitorsWithoutCookiesDoNotInflateTheQueue(t *testing.T) {
	t.Parallel()
	w, _ := line(t, fifo(1, 1, time.Hour), 3)
	for range 500 {
		w.guest().enter() // never comes back with the cookie
		w.run(100 * time.Millisecond)
	}
	if n := w.room.Status(w.now).Waiting; n != 3 {
		t.Errorf("%d waiting, want the 3 who keep cookies", n)
	}
}

func TestLookHasNoEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, fifo(5, 5, 10*time.Second))
	for range 100 {
		if a := w.ask(&person{}, queue.Look); !a.ID.IsZero() || !a.Turn {
			t.Fatalf("%+v, want no ticket, and that a newcomer would enter", a)
		}
	}
	if s := w.room.Status(w.now); s.Active+s.Waiting != 0 || s.State != queue.Open {
		t.Errorf("%+v after nothing but looks", s)
	}
	g := w.guest()
	g.enter()
	w.run(9 * time.Second)
	w.ask(g.p, queue.Look)
	w.run(2 * time.Second)
	if n := w.room.Status(w.now).Active; n != 0 {
		t.Error("a look renewed the session")
	}
}

func TestLimitsChangeLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5, fifo(50, 50, 20*time.Second))
	w.flash(400, 5*time.Second, 30*time.Second)
	w.run(time.Minute)
	w.set.TotalActiveUsers, w.set.NewUsersPerMinute = 20, 20
	w.room.Configure(w.now, w.set)
	admitted := len(w.entries)
	w.run(time.Minute) // those above the new limit leave, nobody enters before
	w.over = 0
	w.run(2 * time.Minute)
	if w.over > 0 {
		t.Errorf("%d over the lowered limit after a minute", w.over)
	}
	if len(w.entries) == admitted {
		t.Error("nobody was admitted under the lowered limit")
	}
	w.set.TotalActiveUsers, w.set.NewUsersPerMinute = 200, 200
	w.room.Configure(w.now, w.set)
	before := len(w.entries)
	w.run(30 * time.Second)
	if len(w.entries) < before+100 {
		t.Errorf("%d entered in 30 s after the limit was raised by 180", len(w.entries)-before)
	}
	if w.over > 0 {
		t.Errorf("%d over the raised limit", w.over)
	}
}
