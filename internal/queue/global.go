package queue

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/anteroom/anteroom"
)

// GlobalConfig is what the global coordinator of one room is made from.
type GlobalConfig struct {
	// Epoch must be above that of every earlier leader.
	Epoch    uint64
	Settings Settings
	Pace     Pace
	// Ledger is what the ledger says after it was written under Epoch. A lone node has none: nil.
	Ledger *Bounds
}

// Global is the coordinator of one room over all data centers. It owns both limits: what data
// centers hold and what is in its pool always add up to the limit. It moves the frontiers, before
// which everyone has their turn, and hands out rights and permits. It is not safe for concurrent use.
type Global struct {
	set   Settings
	pace  Pace
	epoch uint64
	clock
	shift   int64 // from this clock to the room's time
	timed   bool  // shift is known: the room's time goes on as it was under the leader before
	deposed bool
	books   books

	centers []*center // in order of their names
	lines   [ClassesMax]merged
	fair    rounds
	bucket  bucketOfTurns
	// order is the key order that the merged histograms are in; reports in another are not merged.
	order   uint64
	ordered bool
	ranks   ranks
	spare   bool // more could have their turn than wait
	est     estimator
}

// center is what the global coordinator knows of one data center.
type center struct {
	name        string
	incarnation uint64
	newest      uint64 // the highest incarnation that was ever heard of; the one before is over
	joined      bool   // its account is known under this epoch; until then its bound counts
	seq         uint64 // of the last report counted

	rights, permits ledger

	need      int    // visitors with their turn, as reported
	turns     uint64 // cumulative turns given
	turnsSeen uint64 // of them, those that the last report knew
	refused   int
	oldest    int64 // key of the first refused visitor

	share     float64         // newcomers a second, fading
	arrivals  float64         // newcomers a second, in the last report
	pace      float64         // sessions that end a second, fading
	heard     int64           // stamp of the last report
	fresh     bool            // a report has come since the last tick
	silent    bool            // it should have reported and has not
	partial   [ClassesMax]int // turns given in each frontier's own second
	unordered bool            // its histogram is in another order, or incomplete
	dirty     bool            // a grant is due although no number has changed

	sent      Terms // the last grant
	sentSeq   uint64
	sentAt    int64
	grantSeen uint64 // the last grant that it has applied, as reported
	echo      int64
	echoAt    int64

	movesSeen, releasedSeen uint64
	experience              Experience
	notices                 []Move
	// owed are rights that were released for guests here and could not be given yet.
	owed   int
	owedAt int64
	// asked is when it was first asked to give something back and has not been heard since; 0 when it was not.
	asked   int64
	noticed uint64 // number of the last notice
}

// ledger is the account of one data center for one kind of entitlement.
type ledger struct {
	granted     uint64
	returned    uint64
	inherited   uint64
	idle        int
	debt        int
	quarantined int
	most        int // the most to hold from now on
	excess      int // idle ones far beyond its share of traffic
}

func (l *ledger) out() int { return int(l.granted - l.returned) }

// merge takes over what a report says. Grants under way are not in it: they pay debts, and the rest will
// be idle when they arrive.
func (l *ledger) merge(a Account) {
	l.returned = max(l.returned, a.Returned)
	coming := int(l.granted - min(l.granted, a.Granted))
	paid := min(a.Debt, coming)
	l.debt = a.Debt - paid
	l.idle = a.Idle + coming - paid
	l.quarantined = a.Quarantined
}

// begin opens the account of a new incarnation, or the known account under a new epoch.
func (l *ledger) begin(inherited int, a Account) {
	*l = ledger{granted: max(uint64(inherited), a.Granted), returned: a.Returned, inherited: uint64(inherited), most: inherited}
}

// shareMemory is the time constant of a data center's traffic share, paceMemory that of the rate
// at which its sessions end.
const (
	shareMemory = 90 * time.Second
	paceMemory  = 30 * time.Second
)

// NewGlobal makes a coordinator that leads with the configured epoch. It grants nothing to a data center
// before it has heard it under that epoch.
func NewGlobal(now time.Time, cfg GlobalConfig) *Global {
	g := &Global{set: cfg.Settings, pace: cfg.Pace, epoch: cfg.Epoch, clock: newClock(now)}
	for i := range g.lines {
		g.lines[i] = newMerged()
	}
	if cfg.Ledger == nil {
		return g
	}
	g.books = books{kept: true, written: *cfg.Ledger}
	for _, b := range cfg.Ledger.Centers {
		c := g.center(b.DataCenter)
		c.incarnation, c.newest = b.Incarnation, b.Incarnation
		c.rights = ledger{granted: uint64(b.Rights), most: b.Rights}
		c.permits = ledger{granted: uint64(b.Permits), most: b.Permits}
	}
	return g
}

// Configure puts new settings in force.
func (g *Global) Configure(now time.Time, s Settings) {
	g.stamp(now)
	g.set = s
}

// Deposed tells that another leader has a higher epoch. A deposed coordinator does nothing any more.
func (g *Global) Deposed() bool { return g.deposed }

// Epoch is the epoch with which it leads.
func (g *Global) Epoch() uint64 { return g.epoch }

// Report merges what a data center says. Reports of an old incarnation, and repeated or overtaken
// ones, change nothing. One with a higher epoch deposes this coordinator before anything of it counts:
// what it gives back belongs to the new leader.
func (g *Global) Report(now time.Time, r Report) {
	t := g.stamp(now)
	if r.Epoch > g.epoch {
		g.deposed = true
	}
	if g.deposed {
		return
	}
	c := g.center(r.DataCenter)
	if r.Incarnation < c.newest {
		return
	}
	c.newest = r.Incarnation
	if r.Epoch < g.epoch {
		c.dirty = true // the announcement has not arrived
		return
	}
	if r.Incarnation < c.incarnation || c.joined && r.Incarnation == c.incarnation && r.Seq <= c.seq {
		return
	}
	if !c.joined || r.Incarnation > c.incarnation {
		g.welcome(c, r)
	}
	c.seq = r.Seq
	before := c.rights.returned
	c.rights.merge(r.Rights)
	c.permits.merge(r.Permits)
	c.need, c.turnsSeen, c.grantSeen = r.Need, r.TurnsSeen, r.GrantSeen
	c.refused, c.oldest = r.Refused, r.Oldest
	c.fresh, c.silent, c.asked = true, false, 0
	c.echo, c.echoAt = r.Sent, t
	if !g.timed && r.Synced {
		g.timed, g.shift = true, r.Sent+r.Shift-t
	}
	g.mergeTraffic(t, c, r)
	g.est.add(r.Experience.since(c.experience))
	c.experience = r.Experience
	g.mergeMoves(t, c, r, c.rights.returned-before)
	g.mergeLines(c, r)
}

// welcome opens the account of a data center that was not heard under this epoch, or that comes back in
// a new incarnation. A new incarnation inherits everything that was out: whoever uses it is perhaps
// still there. The account of the same incarnation is what it says itself, for it no longer listens to
// any leader before.
func (g *Global) welcome(c *center, r Report) {
	// Guests on credit are known as debts: they may come back, so a new incarnation inherits these, too.
	inheritedRights, inheritedPermits := c.rights.out()+c.rights.debt, c.permits.out()+c.permits.debt
	if r.Settled {
		inheritedRights, inheritedPermits = 0, 0
	}
	fresh := center{
		name: c.name, incarnation: r.Incarnation, newest: c.newest, joined: true, unordered: true, dirty: true,
		heard: c.heard, share: c.share, owed: c.owed, owedAt: c.owedAt,
		turns: r.TurnsSeen, sentSeq: r.GrantSeen,
		experience: r.Experience, movesSeen: firstNumber(r.Moved), releasedSeen: firstNumber(r.Released),
	}
	fresh.rights.begin(inheritedRights, r.Rights)
	fresh.permits.begin(inheritedPermits, r.Permits)
	*c = fresh
	i := slices.Index(g.centers, c)
	for class := range g.lines {
		g.lines[class].clear(i)
	}
}

// firstNumber is the number before the first of a list, 0 for an empty one.
func firstNumber(moves []Move) uint64 {
	if len(moves) == 0 {
		return 0
	}
	return moves[0].Number - 1
}

func (g *Global) mergeTraffic(now int64, c *center, r Report) {
	if c.heard != 0 && now > c.heard {
		dt := float64(now-c.heard) / float64(second)
		fade := min(1, dt/shareMemory.Seconds())
		c.share += (float64(r.Newcomers)/dt - c.share) * fade
		fade = min(1, dt/paceMemory.Seconds())
		c.pace += (max(0, r.Experience.Exits-c.experience.Exits)/dt - c.pace) * fade
		c.arrivals = float64(r.Newcomers) / dt
	}
	c.heard = now
}

// mergeLines merges the waiting histograms. When the keys changed their meaning, the merged lines
// begin anew with the full histograms of the new order.
func (g *Global) mergeLines(c *center, r Report) {
	if !g.ordered || r.Order > g.order {
		if !r.Full {
			c.unordered = true
			return
		}
		g.reorder(c, r.Order)
	}
	if r.Order != g.order || c.unordered && !r.Full {
		c.unordered = true
		return
	}
	c.unordered = false
	i := slices.Index(g.centers, c)
	if r.Full {
		g.resume(i, c, r)
	}
	for _, b := range r.Buckets {
		g.lines[b.Class].set(i, b.At, int(b.Count))
	}
	for class := range g.lines {
		// The report may have been made before the last grant arrived: what has its turn is still counted.
		g.lines[class].skip(i, c.partial[class]-min(c.partial[class], partialSeen(r.Marks[class], g.lines[class].frontier)))
	}
}

// reorder begins anew in another key order.
func (g *Global) reorder(first *center, order uint64) {
	g.order, g.ordered = order, true
	for class := range g.lines {
		g.lines[class] = newMerged()
		g.lines[class].grow(len(g.centers))
	}
	for _, c := range g.centers {
		c.unordered = c != first
		c.partial = [ClassesMax]int{}
	}
}

// resume takes a full histogram in place of what was known, and up to where its sender was told that
// turns are given.
func (g *Global) resume(i int, c *center, r Report) {
	for class := range g.lines {
		m := &g.lines[class]
		m.clear(i)
		if r.Marks[class].Frontier > m.frontier {
			m.resume(r.Marks[class].Frontier)
			for _, other := range g.centers {
				other.partial[class] = 0
			}
		}
		if r.Marks[class].Frontier == m.frontier {
			c.partial[class] = max(c.partial[class], r.Marks[class].Partial)
		}
	}
}

// partialSeen is how many turns in the frontier's second a report knows; all of them when the report's
// sender is ahead, which happens while it was on its own.
func partialSeen(m Mark, frontier int64) int {
	switch {
	case m.Frontier == frontier:
		return m.Partial
	case m.Frontier > frontier:
		return math.MaxInt32
	default:
		return 0
	}
}

func (g *Global) center(name string) *center {
	i, ok := slices.BinarySearchFunc(g.centers, name, func(c *center, n string) int { return cmp.Compare(c.name, n) })
	if !ok {
		g.centers = slices.Insert(g.centers, i, &center{name: name, unordered: true, dirty: true})
		for class := range g.lines {
			g.lines[class].insertCenter(i)
		}
	}
	return g.centers[i]
}

// Decision is what the global coordinator wants done, in this order: Write makes the ledger durable by
// compare-and-set and is answered with Wrote; grants are sent. Grants that need a higher bound than is
// durable are not among them: they follow the next Tick after Wrote.
type Decision struct {
	Write  *Bounds
	Grants []Addressed
}

// Tick decides: it moves the frontiers by as many turns as there are free rights and permits, and
// gives rights and permits to those who need them.
func (g *Global) Tick(now time.Time) Decision {
	t := g.stamp(now)
	if g.deposed {
		return Decision{}
	}
	g.listen(t)
	g.est.advance(t, 0, 0)
	g.giveTurns(t)
	wish := make([]wishes, len(g.centers))
	g.hand(g.rights(), g.set.TotalActiveUsers, wish)
	g.hand(g.permits(), g.set.NewUsersPerMinute, wish)
	d := Decision{Write: g.rewrite(wish), Grants: g.grants(t)}
	for _, c := range g.centers {
		c.fresh = c.fresh && g.books.writing // what the ledger did not allow yet is given after the write
	}
	return d
}

// silentReports is after how many missing reports a data center counts as silent.
const silentReports = 3

// listen finds data centers that should have reported and have not. They get no turns: nobody knows
// whether their visitors are there, and their turns would keep the others waiting. Back again, they
// report in full.
func (g *Global) listen(now int64) {
	for i, c := range g.centers {
		waits := c.need > 0
		for class := range g.lines {
			waits = waits || g.lines[class].waitingIn(i) > 0
		}
		late := waits && now-c.heard > silentReports*g.pace.Report.Microseconds()
		mute := c.asked != 0 && now-c.asked > g.pace.Idle.Microseconds()
		if c.silent || !c.joined || !late && !mute {
			continue
		}
		c.silent, c.unordered = true, true
		for class := range g.lines {
			g.lines[class].clear(i)
		}
	}
}

// outstanding is how many visitors of the data center have their turn and have not entered, as far
// as is known: the reported ones and those of turns that the report did not know yet.
func (c *center) outstanding() int {
	if !c.reachable() {
		return 0
	}
	return c.need + int(c.turns-min(c.turns, c.turnsSeen))
}

// Waiting is how many tickets wait over all data centers.
func (g *Global) Waiting() (n int) {
	for class := range g.lines {
		n += g.lines[class].waiting
	}
	return n
}

// admits tells that the room lets anybody in.
func (g *Global) admits() bool { return !g.set.QueueAll && g.set.Method != anteroom.Reject }

// ahead is how many turns a lottery draws ahead of the free places: as many as places come free in the
// lookahead, by how many did of late. The pace is bounded by what the limits allow in the long run, so
// that a burst does not call up hundreds.
func (g *Global) ahead() int {
	if g.set.Method != anteroom.Random {
		return 0
	}
	pace := 0.0
	for _, c := range g.centers {
		pace += c.pace
	}
	most := min(float64(g.set.NewUsersPerMinute)/60, float64(g.set.TotalActiveUsers)/g.set.Session.Seconds())
	return int(min(pace, most) * lookahead.Seconds())
}
