package queue

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom"
)

func TestStoredPace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := math.Exp2(rapid.Float64Range(-20, 20).Draw(t, "log"))
		if p := (promise{pace: paceOf(rate)}); math.Abs(p.rate()/rate-1) > 0.001 {
			t.Fatalf("a rate of %v is stored as %v", rate, p.rate())
		}
	})
	for _, rate := range []float64{0, -1, math.Inf(1)} {
		if p := (promise{pace: paceOf(rate)}); math.IsNaN(p.rate()) {
			t.Errorf("a rate of %v is stored as no number", rate)
		}
	}
}

// TestPromises: a ticket was promised ten minutes, with 600 turns before it at one a second.
func TestPromises(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) Estimate {
		return Estimate{Known: true, Low: d / 2, Middle: d, High: d + d/10}
	}
	for _, c := range []struct {
		name   string
		change func(l *Local, now int64)
		next   Estimate
		turns  int
		want   time.Duration // shown after a minute
		reason Reason
	}{
		{"Holds", nil, at(9 * time.Minute), 540, 9 * time.Minute, ReasonNone},
		{"Earlier", nil, at(5 * time.Minute), 300, 5 * time.Minute, ReasonNone},
		{"ALittleLater", nil, at(9*time.Minute + 55*time.Second), 540, 9*time.Minute + 55*time.Second, ReasonNone},
		{"MuchLaterForNoReason", nil, at(12 * time.Minute), 540, 10 * time.Minute, ReasonNone},
		{"MoreAhead", nil, at(12 * time.Minute), 720, 12 * time.Minute, ReasonAhead},
		{"NobodyKnowsWhy", nil, at(25 * time.Minute), 540, 25 * time.Minute, ReasonSlower},
		{"VisitsLonger", func(l *Local, _ int64) {
			l.est.add(Experience{Exits: 1000, Beyond: 100_000})
		}, at(15 * time.Minute), 540, 15 * time.Minute, ReasonSlower},
		{"LowerLimit", func(l *Local, now int64) {
			l.set.NewUsersPerMinute = 30
			l.est.limit(now, l.set)
		}, at(18 * time.Minute), 540, 18 * time.Minute, ReasonSettings},
		{"LongerSessions", func(l *Local, now int64) {
			l.set.Session *= 4
			l.est.limit(now, l.set)
		}, at(18 * time.Minute), 540, 18 * time.Minute, ReasonSettings},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Unix(1_800_000_000, 0)
			l := NewLocal(begin, LocalConfig{
				Settings: Settings{Method: anteroom.FIFO, TotalActiveUsers: 70, NewUsersPerMinute: 60, Session: time.Minute},
				Prior:    Prior{Beyond: time.Millisecond},
			})
			now := l.advance(begin)
			l.est.limit(now, l.set)
			tk := &ticket{arrival: now}
			first := at(10 * time.Minute)
			l.keep(now, &first, tk, 600, true)
			now += 60 * second
			if c.change != nil {
				c.change(l, now)
			}
			look := c.next
			l.keep(now, &look, tk, c.turns, false)
			l.keep(now, &c.next, tk, c.turns, true)
			if look != c.next {
				t.Errorf("a look is told %+v, a check-in %+v", look, c.next)
			}
			if (c.next.Middle-c.want).Abs() > 200*time.Millisecond || c.next.Reason != c.reason {
				t.Errorf("shown %v for %q, want %v for %q", c.next.Middle, c.next.Reason, c.want, c.reason)
			}
			unknown := Estimate{}
			if l.keep(now, &unknown, tk, c.turns, true); tk.promise != (promise{}) {
				t.Errorf("%+v is promised although the wait is not known", tk.promise)
			}
		})
	}
}

// TestBounds hold the estimate, and are narrower with more experience.
func TestBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := Settings{
			Method: anteroom.FIFO, TotalActiveUsers: rapid.IntRange(1, 100_000).Draw(t, "users"),
			NewUsersPerMinute: rapid.IntRange(1, 100_000).Draw(t, "rate"), Session: time.Minute,
		}
		var e estimator
		e.add(Experience{
			Exits: rapid.Float64Range(0, 1e5).Draw(t, "exits"), Beyond: rapid.Float64Range(0, 1e7).Draw(t, "beyond"),
			Left: rapid.Float64Range(0, 1e5).Draw(t, "left"), Waited: rapid.Float64Range(0, 1e8).Draw(t, "waited"),
		})
		n := rapid.IntRange(1, 1_000_000).Draw(t, "n")
		young := e.line(1, set, n)
		e.queued = 1
		old := e.line(settleTime.Microseconds()+1, set, n)
		if old.Known && (old.Low < 0 || old.Low > old.Middle || old.High < old.Middle) {
			t.Fatalf("%+v", old)
		}
		if young.Known && (!young.Ranged || young.High < old.High) {
			t.Fatalf("%+v at first, %+v later", young, old)
		}
	})
}

// TestCourse: 600 a minute entered within ten seconds. The next of them enter when their permits have cooled.
func TestCourse(t *testing.T) {
	t.Parallel()
	var c course
	x, now := Experience{Active: 1}, int64(1_800_000_000)*second
	c.hear(now, x)
	for range 10 {
		now += second
		x.Active += 60
		c.hear(now, x)
	}
	if !c.whole(600) || c.whole(700) {
		t.Errorf("600 permits are known: %v, 700: %v", c.whole(600), c.whole(700))
	}
	now += 20 * second
	x.Exits = 30 * faded(0)
	x.Active -= 30
	c.hear(now, x) // an exit is no entry
	for _, e := range []struct{ n, want float64 }{{60, 32}, {300, 36}, {600, 41}, {900, 96.5}, {6300, 641}} {
		if got := c.again(now, e.n, 600); math.Abs(got-e.want) > 1.5 {
			t.Errorf("turn %.0f comes in %.1f s, want %.1f", e.n, got, e.want)
		}
	}
	c.hear(now+second, Experience{Active: 5}) // another leader
	if c.whole(600) {
		t.Error("what a leader before has told still counts")
	}
}

// TestTurnsOfASecondGoInProportion: no data center waits for the others' tickets of the same second.
func TestTurnsOfASecondGoInProportion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMerged()
		counts := rapid.SliceOfN(rapid.IntRange(0, 200), 2, 20).Draw(t, "counts")
		centers, all := make([]*center, len(counts)), 0
		for i, n := range counts {
			centers[i] = &center{}
			m.set(i, 7, n)
			all += n
		}
		for given := 0; given < all; {
			n := min(rapid.IntRange(1, 30).Draw(t, "turns"), all-given)
			m.advance(n, 0, centers)
			if given += n; given == all {
				break
			}
			sum := 0
			for i, c := range centers {
				sum += c.partial[0]
				if part := float64(counts[i]) * float64(given) / float64(all); math.Abs(float64(c.partial[0])-part) > 1.000001 {
					t.Fatalf("data center %d has %d turns of %.2f: %v", i, c.partial[0], part, counts)
				}
			}
			if sum != given {
				t.Fatalf("%d turns were given, not %d", sum, given)
			}
		}
	})
}
