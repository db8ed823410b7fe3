package sim

import (
	"math"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
)

// publishedRaffle is a room of one worker that hears nothing: the test releases the slots.
func publishedRaffle(d time.Duration) (*engine, *publishedSystem) {
	w := publishedWorld(anteroom.Random, 0, 0, 1, 1)
	w.Room.Sync = 2 * d
	e := newEngine(1, d)
	return e, newPublished(e, w, publishedQuiet())
}

// release gives the worker these slots instead of what it has.
func (s *publishedSystem) release(slots int) {
	w := s.centers[0].workers[0]
	w.fresh, w.plan = nil, publishedPlan{everyone: true, budget: slots}
}

// TestPublishedEarlyCheckIns is T46: who asks each second has one chance in 20 s, and the cookie stays as it
// is in between.
func TestPublishedEarlyCheckIns(t *testing.T) {
	t.Parallel()
	e, s := publishedRaffle(time.Hour)
	s.refresh = publishedRefresh{20 * time.Second, 0}
	first := s.ask(request{})
	last, counted := first.cookie, 0
	e.after(time.Microsecond, func() {})
	e.step()
	if got := s.ask(request{cookie: last}).refresh; got != 20*time.Second {
		t.Errorf("again in %v at once, want whole seconds", got)
	}
	for range 60 {
		e.after(time.Second, func() {})
		e.step()
		answer := s.ask(request{cookie: last})
		due := last.seen.Add(20 * time.Second)
		switch {
		case answer.admitted:
			t.Fatal("admitted without a slot")
		case e.now.Before(due):
			if answer.cookie != last || answer.refresh != due.Sub(e.now).Round(time.Second) {
				t.Fatalf("after %v: cookie %+v, again in %v", e.since(), answer.cookie, answer.refresh)
			}
		case !answer.cookie.seen.Equal(e.now):
			t.Fatalf("after %v: the check-in did not count", e.since())
		default:
			counted++
		}
		last = answer.cookie
	}
	if counted != 3 {
		t.Errorf("%d check-ins counted in a minute, want 3", counted)
	}
	s.release(1)
	for _, c := range []struct {
		name string
		ago  time.Duration // since the last check-in
		wins bool
	}{{"Early", 19 * time.Second, false}, {"InTime", 20 * time.Second, true}} {
		last.seen = e.now.Add(-c.ago)
		if got := s.ask(request{cookie: last}); got.admitted != c.wins || got.entered != c.wins {
			t.Errorf("%s: admitted %v, want %v", c.name, got.admitted, c.wins)
		}
	}
}

// publishedRivals lets five visitors check in about each full and half minute and a sixth between
// them, and releases one slot a minute. It counts who wins; winners stay for the next round.
func publishedRivals(minutes int, release func(u float64) time.Duration, refresh publishedRefresh) (wins [6]float64) {
	e, s := publishedRaffle(time.Duration(minutes+1) * time.Minute)
	s.refresh = refresh
	approximately := func() time.Duration { return time.Duration(e.rng.Float64() * float64(time.Second)) }
	var visit func(who int, c cookie, tick time.Time)
	visit = func(who int, c cookie, tick time.Time) {
		answer := s.ask(request{cookie: c})
		if c = answer.cookie; answer.admitted {
			wins[who] += 1 / float64(minutes)
			c.accepted, c.refresh = time.Time{}, refresh.mean
		}
		again := c.refresh
		if refresh.jitter == 0 { // near the same moments for ever
			tick = tick.Add(30 * time.Second)
			again = tick.Sub(e.now) + approximately()
		}
		e.after(again, func() { visit(who, c, tick) })
	}
	for who := range wins {
		offset := time.Duration(0)
		if who == 5 {
			offset = 15 * time.Second
		}
		e.after(offset+approximately(), func() { visit(who, cookie{}, e.start.Add(offset)) })
	}
	for m := range minutes {
		e.after(time.Duration(m+1)*time.Minute+release(e.rng.Float64()), func() { s.release(1) })
	}
	for e.step() {
	}
	return wins
}

// TestPublishedRace are T47 to T49: who checks in alone wins half of the slots that appear at random moments
// and none of those that appear before the others come; intervals that vary make all equal.
func TestPublishedRace(t *testing.T) {
	t.Parallel()
	anytime := func(u float64) time.Duration { return time.Duration(u * float64(time.Minute)) }
	late := func(float64) time.Duration { return 59 * time.Second }
	fixed := publishedRefresh{29 * time.Second, 0}
	for _, c := range []struct {
		name        string
		minutes     int
		release     func(u float64) time.Duration
		refresh     publishedRefresh
		loner, each float64
	}{
		{"T47", 3000, anytime, fixed, 0.5, 0.1},
		{"T48", 1000, late, fixed, 0, 0.2},
		{"T49", 8000, anytime, publishedRefresh{30 * time.Second, 3}, 1. / 6, 1. / 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wins := publishedRivals(c.minutes, c.release, c.refresh)
			t.Logf("%.3f", wins)
			for who, got := range wins {
				want := c.each
				if who == 5 {
					want = c.loner
				}
				if math.Abs(got-want) > 0.04 {
					t.Errorf("visitor %d wins %.3f, want %.3f", who, got, want)
				}
			}
		})
	}
}

// TestPublishedPrequeue are T52 and T53: an event that opens after a quarter of an hour.
func TestPublishedPrequeue(t *testing.T) {
	t.Parallel()
	const before, after = 900, 100 // guests
	run := func(shuffle bool) []*publishedGuest {
		w := publishedWorld(anteroom.FIFO, 100, 100, 2, 2)
		w.Room.Opens, w.Room.Shuffle = 15*time.Minute, shuffle
		w.Duration = 90 * time.Minute
		p := newPublishedParty(w)
		for i := range before {
			p.comes(time.Duration(i) * time.Second)
		}
		for i := range after {
			p.comes(15*time.Minute + time.Duration(i+1)*time.Second)
		}
		p.run()
		return p.entries()
	}
	arrived := func(from, to time.Duration) func(g *publishedGuest) bool {
		return func(g *publishedGuest) bool { return g.arrived >= from && g.arrived < to }
	}
	for _, c := range []struct {
		name        string
		shuffle     bool
		first, last [2]float64 // bounds of the mean rank of those who came in the first and in the last minutes
	}{
		{"T52Shuffled", true, [2]float64{0.35, 0.55}, [2]float64{0.35, 0.55}},
		{"T53InOrder", false, [2]float64{0.1, 0.2}, [2]float64{0.7, 0.8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := run(c.shuffle)
			if len(in) != before+after {
				t.Fatalf("%d of %d entered", len(in), before+after)
			}
			if in[0].entered < 15*time.Minute {
				t.Errorf("somebody entered after %v, before it opened", in[0].entered)
			}
			first := publishedMeanRank(in, arrived(0, 5*time.Minute))
			last := publishedMeanRank(in, arrived(10*time.Minute, 15*time.Minute))
			late := publishedMeanRank(in, arrived(15*time.Minute, time.Hour))
			t.Logf("mean ranks: first five minutes %.3f, last five %.3f, after the opening %.3f", first, last, late)
			if first < c.first[0] || first > c.first[1] || last < c.last[0] || last > c.last[1] {
				t.Errorf("mean ranks %.3f and %.3f, want %v and %v", first, last, c.first, c.last)
			}
			// Fully behind all is 0.95; when the last of the line are covered, newcomers may ask before them.
			if late < 0.92 {
				t.Errorf("those who came after the opening have mean rank %.3f, want behind all", late)
			}
		})
	}
}

// TestPublishedLeavers is T54: 90 of the 100 people of the oldest bucket are gone, and the next one has to
// wait until their places expire.
func TestPublishedLeavers(t *testing.T) {
	t.Parallel()
	w := publishedWorld(anteroom.FIFO, 50, 50, 1, 1)
	w.Room.Opens, w.Duration = 2*time.Minute, 10*time.Minute
	p := newPublishedParty(w)
	var leavers, next []*publishedGuest
	for i := range 100 {
		if g := p.comes(time.Duration(i) * time.Second / 2); i >= 10 {
			leavers = append(leavers, g)
		}
		next = append(next, p.comes(time.Minute+time.Duration(i)*time.Second/2))
	}
	p.e.after(55*time.Second, func() {
		for _, g := range leavers {
			g.gone = true
		}
	})
	p.run()
	expired := 6 * time.Minute // the end of the minute of their last check-in, and five more
	early, late := 0, 0
	for _, g := range p.entries() {
		if g.entered < expired {
			early++
		} else {
			late++
		}
	}
	if early != 10 {
		t.Errorf("%d entered before the places expired, want the 10 who are still there", early)
	}
	if late < 50 || next[0].entered < expired || next[0].entered > expired+time.Minute {
		t.Errorf("%d entered afterwards, the first of the next bucket after %v", late, next[0].entered)
	}
}

// TestPublishedWave is the other half of T51: a random room that everybody joins at once fills at once,
// and then again each time those inside have gone.
func TestPublishedWave(t *testing.T) {
	t.Parallel()
	w := publishedWorld(anteroom.Random, 200, 200, 4, 3)
	w.Duration = 45 * time.Minute
	p := newPublishedParty(w)
	p.browse = func() time.Duration { return time.Duration((0.95 + 0.1*p.rng.Float64()) * float64(time.Minute)) }
	for range 2000 {
		g := p.comes(time.Duration(p.rng.Float64() * float64(10*time.Second)))
		g.cookie.arrival = p.e.start.Add(-time.Duration(p.rng.Float64() * float64(30*time.Minute))) // as they pretend
	}
	p.run()
	in := p.entries()
	if len(in) != 2000 {
		t.Fatalf("%d of 2000 entered", len(in))
	}
	waves, last := 1, time.Duration(0)
	for _, g := range in {
		if g.entered-last > 30*time.Second {
			waves++
		}
		last = g.entered
	}
	t.Logf("%d waves, the last entry after %v", waves, last)
	if waves < 4 || waves > 10 {
		t.Errorf("%d waves", waves)
	}
	for m := range 3 {
		from := time.Duration(m) * 10 * time.Minute
		rank := publishedMeanRank(in, func(g *publishedGuest) bool {
			ago := p.e.start.Sub(g.cookie.arrival)
			return ago > from && ago <= from+10*time.Minute
		})
		if math.Abs(rank-0.5) > 0.05 {
			t.Errorf("those of %v to %v ago have mean rank %.3f, want 0.5", from, from+10*time.Minute, rank)
		}
	}
}
