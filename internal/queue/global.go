package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/anteroom/anteroom"
)

// Global is the coordinator of one room over all data centers. It owns both limits: what data
// centers hold and what is in its pool always add up to the limit. It moves the frontier, before
// which everyone has their turn, and hands out rights and permits. It is not safe for concurrent use.
type Global struct {
	set   Settings
	epoch uint64
	clock

	centers []*center // in order of their names
	line    merged
	// order is the key order that the merged histogram is in; reports in another are not merged.
	order   uint64
	ordered bool
}

// center is what the global coordinator knows of one data center.
type center struct {
	name        string
	incarnation uint64
	seq         uint64 // of the last report counted

	rights, permits ledger

	need      int    // visitors with their turn, as reported
	turns     uint64 // cumulative turns given
	turnsSeen uint64 // of them, those that the last report knew

	share     float64 // newcomers a second, fading
	pace      float64 // admissions a second, fading
	admitted  uint64  // admissions, as reported
	heard     int64   // stamp of the last report
	partial   int     // turns given in the frontier's own second
	sent      Grant   // the last grant
	grantSeen uint64  // the last grant that it has applied, as reported
	unordered bool    // its histogram is in another order
}

// ledger is the account of one data center for one kind of entitlement.
type ledger struct {
	granted  uint64
	returned uint64
	idle     int
	debt     int
	most     int // the most to hold from now on
}

func (l *ledger) out() int { return int(l.granted - l.returned) }

func (l *ledger) merge(a Account) {
	l.returned = max(l.returned, a.Returned)
	// Grants under way are not in the report yet and will be idle when they arrive.
	l.idle = a.Idle + int(l.granted-min(l.granted, a.Granted))
	l.debt = a.Debt
}

// shareMemory is the time constant of a data center's traffic share, paceMemory that of its rate of
// admissions.
const (
	shareMemory = 90 * time.Second
	paceMemory  = 30 * time.Second
)

// NewGlobal makes a coordinator that leads with the epoch, which must be above every earlier one.
func NewGlobal(now time.Time, epoch uint64, s Settings) *Global {
	return &Global{set: s, epoch: epoch, clock: newClock(now), line: newMerged()}
}

// Configure puts new settings in force.
func (g *Global) Configure(now time.Time, s Settings) {
	g.stamp(now)
	g.set = s
}

// Report merges what a data center says. Reports of an old incarnation, and repeated or overtaken
// ones, change nothing.
func (g *Global) Report(now time.Time, r Report) {
	t := g.stamp(now)
	c := g.center(r.DataCenter)
	switch {
	case r.Incarnation < c.incarnation:
		return
	case r.Incarnation > c.incarnation:
		if !r.Full {
			return // a new incarnation introduces itself in full
		}
		g.welcome(c, r)
	case r.Seq <= c.seq:
		return
	}
	c.seq = r.Seq
	c.rights.merge(r.Rights)
	c.permits.merge(r.Permits)
	c.need, c.turnsSeen, c.grantSeen = r.Need, r.TurnsSeen, r.GrantSeen
	g.mergeTraffic(t, c, r)
	g.mergeLine(c, r)
}

// welcome begins the accounts of a new incarnation with what it says to hold.
func (g *Global) welcome(c *center, r Report) {
	*c = center{name: c.name, incarnation: r.Incarnation, sent: Grant{}, heard: c.heard, share: c.share}
	c.rights = ledger{granted: r.Rights.Granted, returned: r.Rights.Returned}
	c.permits = ledger{granted: r.Permits.Granted, returned: r.Permits.Returned}
	c.turns = r.TurnsSeen
}

func (g *Global) mergeTraffic(now int64, c *center, r Report) {
	if c.heard != 0 && now > c.heard {
		dt := float64(now-c.heard) / float64(second)
		fade := min(1, dt/shareMemory.Seconds())
		c.share += (float64(r.Newcomers)/dt - c.share) * fade
		fade = min(1, dt/paceMemory.Seconds())
		c.pace += (float64(r.Admitted-min(r.Admitted, c.admitted))/dt - c.pace) * fade
	}
	c.heard, c.admitted = now, r.Admitted
}

// mergeLine merges the waiting histogram. When the keys changed their meaning, the merged line
// begins anew with the full histograms of the new order.
func (g *Global) mergeLine(c *center, r Report) {
	if !g.ordered || r.Order > g.order {
		if !r.Full {
			return
		}
		g.order, g.ordered = r.Order, true
		g.line = newMerged()
		for _, other := range g.centers {
			other.unordered = other != c
			other.partial = 0
		}
	}
	if r.Order != g.order {
		c.unordered = true
		return
	}
	if c.unordered && !r.Full {
		return
	}
	c.unordered = false
	i := slices.Index(g.centers, c)
	if r.Full {
		g.line.clear(i)
		g.line.resume(r.Frontier)
		if r.Frontier == g.line.frontier {
			c.partial = max(c.partial, r.Partial)
		}
	}
	for _, b := range r.Buckets {
		g.line.set(i, b.At, int(b.Count))
	}
	if r.Frontier < g.line.frontier || r.Frontier == g.line.frontier && r.Partial < c.partial {
		// The report was made before the last grant arrived: what has its turn is still counted.
		g.line.skip(i, c.partial-partialSeen(r, g.line.frontier))
	} else {
		g.line.skip(i, 0)
	}
}

func partialSeen(r Report, frontier int64) int {
	if r.Frontier == frontier {
		return r.Partial
	}
	return 0
}

func (g *Global) center(name string) *center {
	i, ok := slices.BinarySearchFunc(g.centers, name, func(c *center, n string) int { return cmp.Compare(c.name, n) })
	if !ok {
		g.centers = slices.Insert(g.centers, i, &center{name: name, unordered: true})
		g.line.insertCenter(i)
	}
	return g.centers[i]
}

// Tick decides: it moves the frontier by as many turns as there are free rights and permits, and
// gives rights and permits to those who need them. It returns a grant for each data center whose
// grant changed, with its name.
func (g *Global) Tick(now time.Time) []Addressed {
	g.stamp(now)
	g.giveTurns()
	g.hand(func(c *center) *ledger { return &c.rights }, g.set.TotalActiveUsers)
	g.hand(func(c *center) *ledger { return &c.permits }, g.set.NewUsersPerMinute)
	return g.grants()
}

// Addressed is a grant and the data center it is for.
type Addressed struct {
	DataCenter string
	Grant      Grant
}

// giveTurns moves the frontier over as many tickets as may enter now.
func (g *Global) giveTurns() {
	if g.set.QueueAll || g.set.Method == anteroom.Reject {
		return
	}
	free := min(
		g.free(func(c *center) *ledger { return &c.rights }, g.set.TotalActiveUsers),
		g.free(func(c *center) *ledger { return &c.permits }, g.set.NewUsersPerMinute))
	for _, c := range g.centers {
		free -= c.outstanding()
	}
	if free += g.ahead(); free > 0 {
		g.line.advance(free, g.centers)
	}
}

// ahead is how many turns a lottery draws ahead of the free places. The pace is bounded by what the
// limits allow in the long run, so that an opening burst does not call up hundreds.
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

// outstanding is how many visitors of the data center have their turn and have not entered, as far
// as is known: the reported ones and those of turns that the report did not know yet.
func (c *center) outstanding() int {
	return c.need + int(c.turns-min(c.turns, c.turnsSeen))
}

// free is how many entitlements are unused: in the pool, or idle in a data center.
func (g *Global) free(of func(*center) *ledger, limit int) int {
	pool := limit
	for _, c := range g.centers {
		l := of(c)
		pool += l.idle - l.out() - l.debt
	}
	return pool
}

// hand distributes the pool: debts first, then visitors who have their turn, then newcomers. What is
// missing then is called back from data centers where it is idle, and so is a pool below zero after a
// limit was lowered.
func (g *Global) hand(of func(*center) *ledger, limit int) {
	pool := limit
	for _, c := range g.centers {
		pool -= of(c).out()
	}
	give := func(c *center, n int) {
		if n = min(n, pool); n > 0 {
			of(c).granted += uint64(n)
			of(c).idle += n
			pool -= n
		}
	}
	for _, c := range g.centers {
		if l := of(c); l.debt > 0 {
			paid := max(0, min(l.debt, pool))
			l.granted += uint64(paid)
			l.debt -= paid
			pool -= paid
		}
	}
	for _, c := range g.centers {
		give(c, c.outstanding()-of(c).idle)
	}
	if g.line.waiting == 0 {
		g.spread(pool, give)
	}
	g.recall(of, limit)
}

// recall says how much each data center may hold: all it has, less what others need more, and less
// its part of what is out above a lowered limit.
func (g *Global) recall(of func(*center) *ledger, limit int) {
	missing, total := 0, 0
	for _, c := range g.centers {
		missing += max(0, c.outstanding()-of(c).idle)
		total += of(c).out()
	}
	for _, c := range g.centers {
		l := of(c)
		back := max(0, min(missing, l.idle-c.outstanding()))
		missing -= back
		l.most = l.out() - back
		if total > limit {
			l.most = min(l.most, l.out()*limit/total)
		}
	}
}

// spread gives spare entitlements to data centers by their share of newcomers, a tenth evenly, so
// that newcomers enter without a round trip. A fifth stays in the pool for urgent requests, except
// when there is only one data center.
func (g *Global) spread(pool int, give func(*center, int)) {
	if pool <= 0 || len(g.centers) == 0 {
		return
	}
	if len(g.centers) == 1 {
		give(g.centers[0], pool)
		return
	}
	sum := 0.0
	for _, c := range g.centers {
		sum += c.share
	}
	spare := float64(pool) * 0.8
	for _, c := range g.centers {
		part := 1 / float64(len(g.centers))
		if sum > 0 {
			part = 0.1*part + 0.9*c.share/sum
		}
		give(c, int(spare*part))
	}
}

// grants makes the grants that differ from the last ones sent.
func (g *Global) grants() []Addressed {
	var out []Addressed
	for i, c := range g.centers {
		n := Grant{
			Epoch: g.epoch, Seq: c.sent.Seq, ReportSeen: c.seq,
			Rights: c.rights.granted, Permits: c.permits.granted,
			RightsMax: c.rights.most, PermitsMax: c.permits.most,
			Order: g.order, Frontier: g.line.frontier, Partial: c.partial, Turns: c.turns,
			Others: g.line.waiting - g.line.waitingIn(i),
		}
		if n == c.sent && c.grantSeen >= n.Seq {
			continue
		}
		n.Seq++
		c.sent = n
		out = append(out, Addressed{c.name, n})
	}
	return out
}

// Waiting is how many tickets wait over all data centers.
func (g *Global) Waiting() int { return g.line.waiting }
