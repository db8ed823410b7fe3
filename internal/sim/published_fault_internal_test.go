package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
)

// publishedCrowd is a room of three data centers and two nodes with a hundred places, into which so
// many come within the first seconds; they stay for three minutes.
func publishedCrowd(net publishedNet, guests int) *publishedParty {
	w := publishedWorld(anteroom.FIFO, 100, 100, 3, 2)
	w.Duration = 20 * time.Minute
	p := newPublishedParty(w)
	p.e = newEngine(w.Seed, w.Duration)
	p.s = newPublished(p.e, w, net)
	p.browse = func() time.Duration { return 3 * time.Minute }
	for i := range guests {
		p.comes(time.Duration(i) * 100 * time.Millisecond)
	}
	return p
}

// to lets time pass until so long after the start.
func (p *publishedParty) to(d time.Duration) {
	stop := false
	p.e.after(d-p.e.since(), func() { stop = true })
	for !stop && p.e.step() {
	}
}

// TestPublishedFaults strikes and heals: the room goes on, and what a fault hides comes back.
func TestPublishedFaults(t *testing.T) {
	t.Parallel()
	t.Run("PartitionHidesSessions", func(t *testing.T) {
		t.Parallel()
		p := publishedCrowd(publishedQuiet(), 60)
		p.to(time.Minute + 30*time.Second)
		if got := p.s.counts().active; got != 60 {
			t.Fatalf("%d active, want 60", got)
		}
		heal := p.s.strike(Fault{Kind: Partition, Center: 0})
		p.to(3*time.Minute + 30*time.Second) // renewals of others are unknown, their old minutes expire
		hidden := p.s.counts().active
		heal()
		p.to(3*time.Minute + 40*time.Second)
		if got := p.s.counts().active; hidden >= got || got != 60 {
			t.Errorf("%d active seen by the data center cut off, %d afterwards, want fewer and then 60", hidden, got)
		}
	})
	t.Run("LeaderLossRebuilds", func(t *testing.T) {
		t.Parallel()
		p := publishedCrowd(publishedQuiet(), 60)
		p.to(time.Minute + 30*time.Second)
		heal := p.s.strike(Fault{Kind: LeaderLoss})
		p.to(time.Minute + 40*time.Second)
		heal()
		if got := len(p.s.global.total); got != 0 {
			t.Errorf("the new global object remembers %d counters", got)
		}
		p.to(time.Minute + 50*time.Second)
		if got := p.s.counts().active; got != 60 {
			t.Errorf("%d active after the reports, want 60", got)
		}
	})
	t.Run("LostNodesAreReplaced", func(t *testing.T) {
		t.Parallel()
		p := publishedCrowd(publishedQuiet(), 60)
		p.to(time.Minute)
		heal := p.s.strike(Fault{Kind: NodesLost, Center: 1})
		c := p.s.centers[1]
		if c.worker(0) != c.workers[1] {
			t.Error("a dead node answers")
		}
		p.to(2 * time.Minute)
		if got := c.count(p.e.now.Add(-3 * time.Second)); got != 1 {
			t.Errorf("%d workers known, want 1", got)
		}
		heal()
		if got := c.count(p.e.now.Add(-3 * time.Second)); got != 2 || c.worker(0) != c.workers[0] {
			t.Errorf("%d workers known, want 2", got)
		}
		p.to(2*time.Minute + 10*time.Second)
		if got := p.s.counts().active; got != 60 {
			t.Errorf("%d active, want 60", got)
		}
	})
	t.Run("LowerLimit", func(t *testing.T) {
		t.Parallel()
		p := publishedCrowd(publishedQuiet(), 0)
		heal := p.s.strike(Fault{Kind: LowerLimit})
		low := p.s.counts().free
		heal()
		if got := p.s.counts().free; low != 50 || got != 100 {
			t.Errorf("%d free, then %d; want 50 and 100", low, got)
		}
	})
	for _, kind := range []FaultKind{TwoLeaders, Crash, Amnesia, Restart, LedgerSilent} {
		t.Run(fmt.Sprintf("Nothing_%s", kind), func(t *testing.T) {
			t.Parallel()
			if publishedCrowd(publishedQuiet(), 0).s.strike(Fault{Kind: kind}) != nil {
				t.Error("something broke that is not there")
			}
		})
	}
}

// TestPublishedLoss is a network that loses half of the messages, and clocks that are two seconds apart: what
// is known is late, but in the end it is right.
func TestPublishedLoss(t *testing.T) {
	t.Parallel()
	net, rng := publishedQuiet(), rand.New(rand.NewPCG(3, 4))
	net.lost = func() bool { return rng.IntN(2) == 0 }
	net.skew = func(center, node int) time.Duration { return time.Duration(center-1+node) * time.Second }
	p := publishedCrowd(net, 60)
	p.to(2 * time.Minute)
	for _, c := range p.s.centers {
		if r := publishedRoomOf(c.all(), p.e.now, p.s.room.Session); r.active != 60 || r.waiting != 0 {
			t.Errorf("data center %d sees %d active and %d waiting, want 60 and 0", c.index, r.active, r.waiting)
		}
	}
}

// TestPublishedReportsInOrder: an older report does not replace a newer one.
func TestPublishedReportsInOrder(t *testing.T) {
	t.Parallel()
	g := newPublishedGlobal(2)
	tally := func(people int) publishedTally {
		return publishedTally{{kind: publishedActive, minute: 7, people: people}}
	}
	g.take(0, publishedReport{birth().Add(2), tally(5)})
	g.take(0, publishedReport{birth().Add(1), tally(3)})
	g.take(1, publishedReport{birth(), tally(2)})
	if got := g.total.in(publishedActive, 7); got != 7 {
		t.Errorf("%d active, want 7", got)
	}
	if got := g.others(1).in(publishedActive, 7); got != 5 {
		t.Errorf("%d active elsewhere, want 5", got)
	}
	g.take(0, publishedReport{birth().Add(3), nil})
	if got, want := g.bytes, tally(2).bytes(); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

// TestPublishedCookies is what the cookie carries, and when it is worth nothing any more.
func TestPublishedCookies(t *testing.T) {
	t.Parallel()
	ask := func(s *publishedSystem, c cookie) reply { return s.ask(request{cookie: c, fresh: [16]byte{9}}) }
	now := birth()
	for _, c := range []struct {
		name     string
		cookie   cookie
		free     bool
		admitted bool
		entered  bool
		keeps    bool // the ticket
	}{
		{"NewAndFree", cookie{}, true, true, true, false},
		{"NewAndFull", cookie{}, false, false, false, false},
		{"ASession", cookie{accepted: now.Add(-time.Hour), seen: now.Add(-59 * time.Second)}, false, true, false, true},
		{"ASessionThatIsOver", cookie{accepted: now.Add(-time.Hour), seen: now.Add(-time.Minute)}, false, false, false, false},
		{"ASessionThatIsOverAndFree", cookie{accepted: now.Add(-time.Hour), seen: now.Add(-time.Minute)}, true, true, true, false},
		{"T8", cookie{seen: now.Add(-4*time.Minute - 59*time.Second)}, false, false, false, true},
		{"T9", cookie{seen: now.Add(-5*time.Minute - time.Second)}, false, false, false, false},
		{"SeenByAClockAhead", cookie{accepted: now, seen: now.Add(time.Second)}, false, true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, s := publishedRaffle(time.Hour)
			if c.free {
				s.release(1)
			}
			if !c.cookie.seen.IsZero() {
				c.cookie.id, c.cookie.arrival = [16]byte{1}, now.Add(-time.Hour)
			}
			got := ask(s, c.cookie)
			if got.admitted != c.admitted || got.entered != c.entered || got.head {
				t.Errorf("%+v", got)
			}
			if keeps := got.cookie.id == c.cookie.id && got.cookie.arrival.Equal(c.cookie.arrival); keeps != c.keeps {
				t.Errorf("cookie %+v, want to keep the ticket: %v", got.cookie, c.keeps)
			}
			if got.admitted != (got.refresh == 0) {
				t.Errorf("again in %v", got.refresh)
			}
		})
	}
}

// TestPublishedCookieOfAVisit is T3 and T5: the cookie of somebody who waits ten minutes and renews the session.
func TestPublishedCookieOfAVisit(t *testing.T) {
	t.Parallel()
	e, s := publishedRaffle(time.Hour)
	s.room.Session = 5 * time.Minute
	wait := func(d time.Duration) {
		e.after(d, func() {})
		e.step()
	}
	wait(30 * time.Second)
	c := s.ask(request{fresh: [16]byte{1}}).cookie
	for range 20 {
		wait(30 * time.Second)
		c = s.ask(request{cookie: c}).cookie
	}
	wait(43 * time.Second)
	s.release(1)
	c = s.ask(request{cookie: c}).cookie
	accepted := birth().Add(11*time.Minute + 13*time.Second)
	if want := (cookie{id: [16]byte{1}, arrival: birth(), accepted: accepted, seen: accepted}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	for range 3 {
		wait(4 * time.Minute)
		answer := s.ask(request{cookie: c})
		if c = answer.cookie; !answer.admitted || answer.entered || !c.accepted.Equal(accepted) || !c.seen.Equal(e.now) {
			t.Fatalf("after %v: %+v", e.since(), answer)
		}
	}
	wait(5 * time.Minute)
	if s.ask(request{cookie: c}).admitted {
		t.Error("the session does not end")
	}
}

// TestPublishedRepeats runs a seed twice.
func TestPublishedRepeats(t *testing.T) {
	t.Parallel()
	run := func() string {
		p := publishedCrowd(publishedQuiet(), 300)
		p.run()
		messages, bytes := p.s.traffic()
		return fmt.Sprintln(p.e.events, messages, bytes, p.s.turns())
	}
	if a, b := run(), run(); a != b {
		t.Error("the same seed gave two runs")
	}
}

// TestPublishedInterface: nothing is held and there are no books to check.
func TestPublishedInterface(t *testing.T) {
	t.Parallel()
	_, s := publishedRaffle(time.Hour)
	if s.await(0, cookie{}, func() {}) || s.audit() != nil {
		t.Error("a request is held, or something is audited")
	}
	w := publishedWorld(anteroom.FIFO, 1, 1, 1, 0)
	w.Room.Poll = 7 * time.Second
	p := newPublishedParty(w)
	p.s.ask(request{})
	if got := p.s.ask(request{}); got.refresh != 7*time.Second {
		t.Errorf("again in %v, want the world's interval of 7 s", got.refresh)
	}
}
