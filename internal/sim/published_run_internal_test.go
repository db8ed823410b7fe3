package sim

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
)

// publishedGuest is a visitor of these tests.
type publishedGuest struct {
	arrived, entered time.Duration
	left             time.Duration // the end of the session after the last request
	admitted         bool
	gone             bool // never asks again
	cookie           cookie
	center, node     int
	browse           time.Duration
}

// waited is the time in the room.
func (g *publishedGuest) waited() time.Duration { return g.entered - g.arrived }

// publishedParty is a world with guests.
type publishedParty struct {
	e      *engine
	s      *publishedSystem
	guests []*publishedGuest
	rng    *rand.Rand
	center func() int
	browse func() time.Duration
}

// publishedQuiet is a network with a fixed delay and no faults.
func publishedQuiet() publishedNet {
	return publishedNet{delay: func(center int) time.Duration { return time.Duration(2+7*center) * time.Millisecond }}
}

// publishedWorld has these limits and a session of one minute.
func publishedWorld(m anteroom.Method, total, perMinute, centers, nodes int) World {
	return World{
		Seed: 1, Duration: time.Hour, Algorithm: Published,
		Room:    Room{Method: m, TotalActiveUsers: total, NewUsersPerMinute: perMinute, Session: time.Minute},
		Network: Network{Centers: centers, Nodes: nodes},
	}
}

func newPublishedParty(w World) *publishedParty {
	e := newEngine(w.Seed, w.Duration)
	p := &publishedParty{e: e, s: newPublished(e, w, publishedQuiet()), rng: rand.New(rand.NewPCG(w.Seed, 7))}
	p.center = func() int { return p.rng.IntN(w.Network.Centers) }
	p.browse = func() time.Duration { return 0 }
	return p
}

// comes lets a guest arrive.
func (p *publishedParty) comes(at time.Duration) *publishedGuest {
	g := &publishedGuest{arrived: at, center: p.center(), node: p.rng.IntN(len(p.s.centers[0].workers)), browse: p.browse()}
	p.guests = append(p.guests, g)
	p.e.after(at, func() { p.asks(g) })
	return g
}

// asks sends a guest's request. Guests wait for as long as it takes, browse for their time with a
// request each ten seconds, and go.
func (p *publishedParty) asks(g *publishedGuest) {
	if g.gone {
		return
	}
	now := p.e.since()
	r := request{center: g.center, node: g.node, cookie: g.cookie}
	binary.BigEndian.PutUint64(r.fresh[:], p.rng.Uint64())
	answer := p.s.ask(r)
	g.cookie = answer.cookie
	if !answer.admitted {
		p.e.after(answer.refresh, func() { p.asks(g) })
		return
	}
	if answer.entered && !g.admitted {
		g.admitted, g.entered = true, now
	}
	g.left = now + p.s.room.Session
	if rest := g.entered + g.browse - now; rest > 0 {
		p.e.after(min(rest, 10*time.Second), func() { p.asks(g) })
	}
}

func (p *publishedParty) run() {
	for p.e.step() {
	}
}

// entries are the guests who entered, in order of entry.
func (p *publishedParty) entries() []*publishedGuest {
	in := slices.DeleteFunc(slices.Clone(p.guests), func(g *publishedGuest) bool { return !g.admitted })
	slices.SortStableFunc(in, func(a, b *publishedGuest) int { return cmp.Compare(a.entered, b.entered) })
	return in
}

// most is the greatest number of people with a session at once.
func (p *publishedParty) most() int {
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	for _, g := range p.entries() {
		changes = append(changes, change{g.entered, 1}, change{g.left, -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now, most := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}

// minute is the greatest number of entries in 60 s.
func (p *publishedParty) minute() int {
	in, first, most := p.entries(), 0, 0
	for i, g := range in {
		for g.entered-in[first].entered >= time.Minute {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// publishedCorrelation is Pearson's.
func publishedCorrelation(in []*publishedGuest) float64 {
	var n, x, y, xx, yy, xy float64
	for _, g := range in {
		a, b := g.arrived.Seconds(), g.waited().Seconds()
		n, x, y, xx, yy, xy = n+1, x+a, y+b, xx+a*a, yy+b*b, xy+a*b
	}
	return (n*xy - x*y) / math.Sqrt((n*xx-x*x)*(n*yy-y*y))
}

// publishedMeanRank is the mean place in the order of entry, from 0 to 1, of the guests who match.
func publishedMeanRank(in []*publishedGuest, match func(g *publishedGuest) bool) float64 {
	sum, n := 0.0, 0
	for i, g := range in {
		if match(g) {
			sum, n = sum+float64(i)/float64(len(in)-1), n+1
		}
	}
	return sum / float64(n)
}

// TestPublishedFlash is the flash crowd of the algorithm's known weakness: data centers spend their
// shares of a total that is one synchronisation old.
func TestPublishedFlash(t *testing.T) {
	t.Parallel()
	over := func(sync time.Duration) int {
		w := publishedWorld(anteroom.FIFO, 2000, 3000, 20, 3)
		w.Room.Sync, w.Duration = sync, publishedFlashLasts
		p := newPublishedParty(w)
		weights := make([]float64, 20)
		for i := range weights {
			weights[i] = math.Pow(float64(i+1), -0.55)
		}
		p.center = func() int { return publishedPick(weights, p.rng.Float64()) }
		p.browse = func() time.Duration { return time.Duration(p.rng.ExpFloat64() * float64(2*time.Minute)) }
		for at := 0.0; at < publishedFlashLasts.Seconds(); {
			at += p.rng.ExpFloat64() / publishedFlashRate(at)
			p.comes(time.Duration(at * float64(time.Second)))
		}
		p.run()
		messages, bytes := p.s.traffic()
		excess := p.most() - 2000
		t.Logf("sync %v: %d guests, %d entered, at most %d over 2000 active (%.1f %%), %d over 3000 a minute; %.1f messages and %.1f kB a second",
			sync, len(p.guests), len(p.entries()), excess, float64(excess)/20, p.minute()-3000, float64(messages)/publishedFlashLasts.Seconds(), float64(bytes)/1000/publishedFlashLasts.Seconds())
		return excess
	}
	fast, slow := over(time.Second), over(5*time.Second)
	if fast <= 0 || slow <= fast {
		t.Errorf("%d over at 1 s, %d at 5 s, want an excess that grows with the interval", fast, slow)
	}
}

// publishedFlashLasts is long enough for the crowd to arrive and for the first to leave.
const publishedFlashLasts = 4 * time.Minute

// publishedFlashRate is the arrivals a second of the flash crowd.
func publishedFlashRate(at float64) float64 {
	switch {
	case at < 10:
		return 10 * max(50*at/10, 0.3)
	case at < 30:
		return 500
	default:
		return 3
	}
}

func publishedPick(weights []float64, u float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u *= sum
	for i, w := range weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// TestPublishedAlone is a room of one worker, which knows everything: it keeps both limits at every
// synchronisation.
func TestPublishedAlone(t *testing.T) {
	t.Parallel()
	w := publishedWorld(anteroom.FIFO, 50, 50, 1, 1)
	w.Duration = 20 * time.Minute
	p := newPublishedParty(w)
	for i := range 300 {
		p.comes(time.Duration(i) * 100 * time.Millisecond)
	}
	p.run()
	if got := p.most(); got > 50 {
		t.Errorf("%d active, limit 50", got)
	}
	if got := len(p.entries()); got != 300 {
		t.Errorf("%d of 300 entered", got)
	}
	if got := p.s.counts(); got != (counts{free: 50}) {
		t.Errorf("%+v, want an empty room", got)
	}
	if got := len(p.s.turns()); got != 300 {
		t.Errorf("%d turns, want 300", got)
	}
	if got := len(p.s.turns()); got != 0 {
		t.Errorf("%d turns twice", got)
	}
}

// TestPublishedLoadTest is T55: 200 visitors come within a minute to a room of 300, and nobody waits.
func TestPublishedLoadTest(t *testing.T) {
	t.Parallel()
	w := publishedWorld(anteroom.FIFO, 300, 300, 2, 3)
	w.Duration = 5 * time.Minute
	p := newPublishedParty(w)
	p.browse = func() time.Duration { return 190 * time.Second }
	for i := range 200 {
		p.comes(time.Duration(i) * 300 * time.Millisecond)
	}
	p.run()
	for _, g := range p.guests {
		if !g.admitted || g.waited() != 0 {
			t.Fatalf("somebody waits %v", g.waited())
		}
	}
	if got := p.most(); got != 200 {
		t.Errorf("%d at once, want 200", got)
	}
}

// TestPublishedExperiment are T50 and T51: 10,000 visitors within 30 minutes who stay for a minute. The
// short form is a quarter of it.
func TestPublishedExperiment(t *testing.T) {
	t.Parallel()
	visitors, places := 10_000, 500
	if testing.Short() {
		visitors, places = visitors/4, places/4
	}
	run := func(m anteroom.Method) *publishedParty {
		w := publishedWorld(m, places, places, 4, 3)
		w.Duration = 75 * time.Minute
		p := newPublishedParty(w)
		p.browse = func() time.Duration { return time.Duration((0.95 + 0.1*p.rng.Float64()) * float64(time.Minute)) }
		for i := range visitors {
			p.comes(time.Duration(i) * 30 * time.Minute / time.Duration(visitors))
		}
		p.run()
		return p
	}
	t.Run("T50FIFOGrowsLinearly", func(t *testing.T) {
		t.Parallel()
		in := run(anteroom.FIFO).entries()
		if len(in) != visitors {
			t.Fatalf("%d entered", len(in))
		}
		r := publishedCorrelation(in)
		spread := publishedSpread(in)
		t.Logf("correlation %.3f, median spread inside a minute %v", r, spread)
		if r < 0.95 || spread > 5*time.Minute {
			t.Errorf("correlation %.3f, spread %v inside a minute: no line", r, spread)
		}
	})
	t.Run("T51RandomIsLevel", func(t *testing.T) {
		t.Parallel()
		in := run(anteroom.Random).entries()
		r := publishedCorrelation(in)
		spread := publishedSpread(in)
		t.Logf("%d entered, correlation %.3f, median spread inside a minute %v", len(in), r, spread)
		if math.Abs(r) > 0.35 || spread < 10*time.Minute {
			t.Errorf("correlation %.3f, spread %v inside a minute: the arrival decides", r, spread)
		}
	})
}

// publishedSpread is the median over arrival minutes of the distance between the 10th and the 90th
// percentile of their waits.
func publishedSpread(in []*publishedGuest) time.Duration {
	var spreads []time.Duration
	for m := range 30 {
		var waits []time.Duration
		for _, g := range in {
			if int(g.arrived.Minutes()) == m {
				waits = append(waits, g.waited())
			}
		}
		slices.Sort(waits)
		spreads = append(spreads, waits[len(waits)*9/10]-waits[len(waits)/10])
	}
	slices.Sort(spreads)
	return spreads[len(spreads)/2]
}
