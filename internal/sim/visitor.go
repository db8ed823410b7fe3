package sim

import (
	"encoding/binary"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// strategy is how a visitor polls.
type strategy uint8

const (
	obedient strategy = iota
	fast              // ten times as often as told
	lucky             // only just after each full minute
	greedy            // one of ten cookies of a person
)

// visitor is one person, or for the greedy one cookie of a person.
type visitor struct {
	cookie   cookie
	center   int
	node     int
	class    uint8
	strategy strategy
	group    *group

	arrived  time.Time
	turn     time.Time // when the room decided; zero before
	entered  time.Time
	leaves   time.Time // the end of the visit
	last     time.Time // the last request that the origin saw
	patience time.Time // gives up then; zero for never
	browse   time.Duration
	away     time.Duration // goes away once for so long after the next answer; 0 for not
	absent   bool          // is away now
	wasAway  bool
	passed   bool // was not there when the line came to their place
	inside   bool
	counted  bool // among the active
	waits    bool // was told to wait
	moved    bool // has changed the data center
	anew     bool // stayed away for too long and stands in line anew
	gone     bool
	asleep   bool // waits in a held request

	told      []told
	first     told // the first range after two minutes
	haveFirst bool
	held      bool // was held back although there was room
}

// told is an estimate that a visitor was shown.
type told struct {
	at             time.Time
	low, mid, high time.Duration
	ranged         bool
	reason         queue.Reason // why it is later than before
}

// group is a person with several cookies.
type group struct{ in bool }

// Times of visitors.
const (
	scriptMin     = 50 * time.Millisecond // the page's script asks so soon after the page came
	scriptSpread  = 250 * time.Millisecond
	retryAfter    = 2 * time.Second // after a request that found nobody
	cookiesEach   = 10
	fastFactor    = 10
	luckyMin      = time.Second
	luckySpread   = 2 * time.Second
	gapMost       = 0.9 // of the session duration, between two requests at the origin
	firstRangeAge = 2 * time.Minute
)

// people are the visitors of a run.
type people struct {
	e      *engine
	w      *World
	system system
	look   *observer
	crowd  *crowd
	all    []*visitor
	byID   map[queue.ID]*visitor
	nextID uint64
	polls  int
}

func newPeople(e *engine, w *World, s system, o *observer) *people {
	p := &people{e: e, w: w, system: s, look: o, byID: map[queue.ID]*visitor{}}
	p.crowd = newCrowd(w, e, p.arrive)
	return p
}

// arrive brings one person, with ten cookies when the person is greedy.
func (p *people) arrive(center int, browse time.Duration) {
	p.crowd.count++
	s := p.strategy()
	n := 1
	var g *group
	if s == greedy {
		n, g = cookiesEach, &group{}
	}
	for range n {
		v := &visitor{center: center, strategy: s, group: g, arrived: p.e.now, browse: browse}
		p.equip(v)
		p.all = append(p.all, v)
		p.visit(v)
	}
}

// strategy draws how a visitor polls. The greedy ones are a share of all cookies.
func (p *people) strategy() strategy {
	c := &p.w.Crowd
	x := p.crowd.rng.Float64()
	persons := c.Cookies / cookiesEach
	switch {
	case x < c.Fast:
		return fast
	case x < c.Fast+c.Lucky:
		return lucky
	case x < c.Fast+c.Lucky+persons:
		return greedy
	default:
		return obedient
	}
}

// equip draws the rest of a visitor.
func (p *people) equip(v *visitor) {
	c := &p.w.Crowd
	if c.Patience > 0 {
		v.patience = v.arrived.Add(p.crowd.exponential(c.Patience))
	}
	if p.crowd.rng.Float64() < c.Returns {
		v.away = p.crowd.exponential(c.AwayMean) + 1
	}
	if n := len(p.w.Room.Classes); n > 0 {
		v.class = uint8(p.crowd.rng.IntN(n))
	}
	v.node = p.crowd.rng.IntN(max(1, p.w.Network.Nodes))
}

func (p *people) freshID() (id queue.ID) {
	p.nextID++
	binary.BigEndian.PutUint64(id[:], p.nextID)
	binary.BigEndian.PutUint64(id[8:], p.e.rng.Uint64())
	return id
}

// visit is one request of somebody who is not inside.
func (p *people) visit(v *visitor) {
	if v.gone || v.inside {
		return
	}
	if v.group != nil && v.group.in || !v.patience.IsZero() && p.e.now.After(v.patience) {
		v.gone = true
		p.look.left(v)
		return
	}
	first := v.cookie.id.IsZero()
	if v.absent {
		v.absent = false
		v.passed = v.passed || v.turn.IsZero() && p.look.latest.After(v.arrived)
		p.look.back()
	}
	r := p.ask(v)
	switch {
	case r.lost:
		p.e.after(retryAfter, func() { p.visit(v) })
		p.look.waits(v)
	case r.admitted:
		p.enter(v)
	default:
		p.wait(v, r, first)
	}
}

// ask sends a request and keeps the cookie of the answer.
func (p *people) ask(v *visitor) reply {
	if !v.inside {
		p.polls++
	}
	if p.w.Crowd.Moves > 0 && p.e.rng.Float64() < p.w.Crowd.Moves && !v.cookie.id.IsZero() {
		v.center, v.moved = p.e.rng.IntN(p.w.Network.Centers), true
	}
	r := p.system.ask(request{
		center: v.center, node: v.node, cookie: v.cookie, class: v.class,
		draw: p.e.rng.Uint64(), fresh: p.freshID(),
	})
	if r.lost {
		return r
	}
	if r.cookie.id != v.cookie.id {
		v.anew = !v.cookie.id.IsZero() && !v.inside
		delete(p.byID, v.cookie.id)
		p.byID[r.cookie.id] = v
	}
	v.cookie = r.cookie
	return r
}

// wait lets a visitor who was not admitted ask again when it is time.
func (p *people) wait(v *visitor, r reply, first bool) {
	p.look.waits(v)
	v.hear(p.e.now, r.estimate)
	switch {
	case first:
		p.e.after(scriptMin+time.Duration(p.e.rng.Int64N(int64(scriptSpread))), func() { p.visit(v) })
	case v.away > 0:
		away := v.away
		v.away, v.absent, v.wasAway = 0, true, true
		p.look.absent()
		p.e.after(away, func() { p.visit(v) })
	case r.head && p.w.Room.Held && v.strategy == obedient && p.hold(v):
	default:
		p.e.after(p.interval(v, r.refresh), func() { p.visit(v) })
	}
}

// hold keeps a request of the visitor open; false when the room does not.
func (p *people) hold(v *visitor) bool {
	v.asleep = p.system.await(v.center, v.cookie, func() {
		v.asleep = false
		p.e.after(0, func() { p.visit(v) })
	})
	return v.asleep
}

// interval is when a visitor of a strategy asks again.
func (p *people) interval(v *visitor, told time.Duration) time.Duration {
	if p.w.Room.Poll > 0 {
		told = p.w.Room.Poll
	}
	switch v.strategy {
	case fast:
		return told / fastFactor
	case lucky:
		minute := p.e.now.Truncate(time.Minute).Add(time.Minute)
		return minute.Sub(p.e.now) + luckyMin + time.Duration(p.e.rng.Int64N(int64(luckySpread)))
	case obedient, greedy:
	}
	return told
}

// hear remembers what the visitor was shown.
func (v *visitor) hear(now time.Time, e queue.Estimate) {
	if !e.Known {
		return
	}
	t := told{now, e.Low, e.Middle, e.High, e.Ranged, e.Reason}
	v.told = append(v.told, t)
	if !v.haveFirst && now.Sub(v.arrived) >= firstRangeAge {
		v.first, v.haveFirst = t, true
	}
}

// enter begins the visit at the origin.
func (p *people) enter(v *visitor) {
	v.inside, v.entered, v.leaves = true, p.e.now, p.e.now.Add(v.browse)
	if v.group != nil {
		v.group.in = true
	}
	p.look.enters(v)
	p.browse(v)
}

// browse plans the next request at the origin.
func (p *people) browse(v *visitor) {
	p.look.seen(v)
	left := v.leaves.Sub(p.e.now)
	if left <= 0 {
		return
	}
	gap := min(p.e.exponential(p.w.Crowd.Gap), time.Duration(gapMost*float64(p.w.Room.Session)), left)
	p.e.after(gap, func() { p.click(v) })
}

// click is one more request of somebody inside.
func (p *people) click(v *visitor) {
	r := p.ask(v)
	switch {
	case r.lost:
		p.e.after(retryAfter, func() { p.retryClick(v) })
	case r.admitted:
		p.browse(v)
	default:
		p.look.thrownOut(v)
	}
}

// retryClick asks again after a request that found nobody. The session may be over by then.
func (p *people) retryClick(v *visitor) {
	if p.e.now.Sub(v.last) >= p.w.Room.Session {
		return
	}
	p.click(v)
}
