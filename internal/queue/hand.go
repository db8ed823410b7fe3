package queue

import (
	"cmp"
	"slices"
)

// wishes are how many rights and permits a data center should be able to have out.
type wishes struct{ rights, permits int }

// kindOf is one kind of entitlement in the hands of the global coordinator.
type kindOf struct {
	of   func(*center) *ledger
	most func(Bound) int
	wish func(*wishes) *int
	pace bool // newcomers of an open room are paced by it
}

func (g *Global) rights() kindOf {
	return kindOf{
		of:   func(c *center) *ledger { return &c.rights },
		most: func(b Bound) int { return b.Rights },
		wish: func(w *wishes) *int { return &w.rights },
	}
}

func (g *Global) permits() kindOf {
	return kindOf{
		of:   func(c *center) *ledger { return &c.permits },
		most: func(b Bound) int { return b.Permits },
		wish: func(w *wishes) *int { return &w.permits },
		pace: true,
	}
}

// reachable tells that a data center can use what it has.
func (c *center) reachable() bool { return c.joined && !c.silent && c.newest == c.incarnation }

// pool is what no data center has. It is below zero after a limit was lowered.
func (g *Global) pool(k kindOf, limit int) int {
	for _, c := range g.centers {
		limit -= k.of(c).out()
		if !k.pace {
			limit -= c.owed
		}
	}
	return limit
}

// free is how many entitlements are unused: in the pool, or idle where they can be used.
func (g *Global) free(k kindOf, limit int) int {
	free := g.pool(k, limit)
	for _, c := range g.centers {
		free -= k.of(c).debt
		if c.reachable() {
			free += c.unused(k.of(c).idle, g.last)
		}
	}
	return free
}

// unused is how many of the idle ones newcomers have probably left since the last report: they walk in
// without asking the global coordinator. Counting them as free would give turns for which there is no
// right.
func (c *center) unused(idle int, now int64) int {
	walked := int(c.arrivals * float64(now-c.heard) / float64(second))
	return idle - max(0, min(walked, idle-c.outstanding()))
}

// hander gives from the pool.
type hander struct {
	g    *Global
	kind kindOf
	pool int
	wish []wishes
}

// give hands up to n out, as far as pool and ledger go. What the ledger forbids is wished for.
func (h *hander) give(i, n int) {
	c := h.g.centers[i]
	n = min(n, h.pool)
	if n <= 0 || !c.reachable() {
		return
	}
	l := h.kind.of(c)
	if w := h.kind.wish(&h.wish[i]); l.out()+n > *w {
		*w = l.out() + n
	}
	most := 0
	if h.g.books.welcomed(c.name, c.incarnation) {
		most = h.g.books.most(c.name, h.kind.most)
	}
	if n = min(n, most-l.out()); n <= 0 {
		return
	}
	l.granted += uint64(n)
	paid := min(n, l.debt)
	l.debt -= paid
	l.idle += n - paid
	h.pool -= n
}

// hand distributes the pool: debts first, then visitors who found no right by the age of their turn,
// then others whose turn has come, then newcomers. What is missing then is called back from data
// centers where it is idle, and so is a pool below zero after a limit was lowered.
func (g *Global) hand(k kindOf, limit int, wish []wishes) {
	h := hander{g: g, kind: k, pool: g.pool(k, limit), wish: wish}
	for i, c := range g.centers {
		g.settle(g.last, c)
		l := k.of(c)
		l.excess = 0
		if w := k.wish(&wish[i]); !k.pace && c.owed > 0 {
			*w = max(*w, l.out()+c.owed) // what the ledger does not allow yet
		}
		if l.debt > 0 {
			h.give(i, l.debt)
		}
	}
	for _, c := range g.centers {
		h.pool -= k.of(c).debt // what the ledger does not allow yet is kept for them
	}
	if h.pool > 0 {
		for _, i := range g.byRefusal() {
			h.give(i, g.centers[i].outstanding()-k.of(g.centers[i]).idle)
		}
	}
	switch {
	case g.lone():
		h.give(0, h.pool) // nobody else could need it, and what is at hand is what visitors are told of
	case h.pool > 0 && g.Waiting() == 0 && g.admits():
		h.spread()
	}
	g.recall(k, limit)
}

// byRefusal lists the data centers whose visitors have their turn: first those who refused some for lack
// of a right, in order of the refused ones' keys.
func (g *Global) byRefusal() []int {
	var list []int
	for i, c := range g.centers {
		if c.outstanding() > 0 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		x, y := g.centers[a], g.centers[b]
		switch {
		case x.refused > 0 && y.refused > 0:
			return cmp.Compare(x.oldest, y.oldest)
		case x.refused > 0:
			return -1
		case y.refused > 0:
			return 1
		default:
			return 0
		}
	})
	return list
}

// Parts of what is spare in an open room.
const (
	spreadShare = 0.8 // goes to the data centers; the rest stays for urgent requests
	evenShare   = 0.1 // of that is spread evenly, the rest by traffic
	spreadSlack = 0.8 // a data center with this part of its share gets no more yet
	// A data center with so many times its share gives the rest back when the pool runs short.
	spreadExcess = 1.5
)

// spread gives spare entitlements to data centers by their share of newcomers, a tenth evenly, so
// that newcomers enter without a round trip. Only who has just reported gets any: the others' idle
// ones are not known. One that has far more than its share gives back when the pool runs short.
func (h *hander) spread() {
	var open []int
	sum, spare := 0.0, float64(h.pool)
	for i, c := range h.g.centers {
		if !c.reachable() {
			continue
		}
		open = append(open, i)
		sum += c.share
		spare += float64(h.kind.of(c).idle)
	}
	short := float64(h.pool) < (1-spreadShare)*spare
	spare = h.paced(spare) * spreadShare
	for _, i := range open {
		c := h.g.centers[i]
		part := 1 / float64(len(open))
		if sum > 0 {
			part = evenShare*part + (1-evenShare)*c.share/sum
		}
		target := int(spare * part)
		l := h.kind.of(c)
		switch {
		case c.fresh && float64(l.idle) < spreadSlack*float64(target):
			h.give(i, target-l.idle)
		case short && float64(l.idle) > spreadExcess*float64(target)+2:
			l.excess = l.idle - target
		}
	}
}

// lone tells that there is only one data center. A leader that has just begun may not have heard of others yet.
func (g *Global) lone() bool {
	return len(g.centers) == 1 && (!g.books.kept || g.last-g.wall > silentReports*g.pace.Report.Microseconds())
}

// paced bounds what newcomers of an open room may use at once.
func (h *hander) paced(spare float64) float64 {
	if !h.kind.pace || h.g.set.Pacing <= 0 {
		return spare
	}
	return min(spare, float64(h.g.set.NewUsersPerMinute)/60*h.g.set.Pacing.Seconds()/spreadShare)
}

// recall says how much each data center may hold: all it has, less what others need more, and less
// its part of what is out above the limit.
func (g *Global) recall(k kindOf, limit int) {
	missing, total := 0, 0
	for _, c := range g.centers {
		l := k.of(c)
		missing += max(0, c.outstanding()-l.idle) + l.debt
		total += l.out()
	}
	missing = max(0, missing-max(0, limit-total))
	for _, c := range g.centers {
		l := k.of(c)
		if !c.joined {
			continue
		}
		back := 0
		if c.reachable() {
			back = max(0, min(missing, l.idle-c.outstanding()))
		}
		missing -= back
		l.most = l.out() - max(back, l.excess)
		if back > 0 && c.asked == 0 {
			c.asked = g.last
		}
	}
	g.cut(k, total-limit)
}

// cut calls back what is out above the limit. What is quarantined goes first: a data center inherits its
// bound, which is more than it ever held, and nobody may use the difference. After a limit was lowered
// each data center is asked for all of the rest, for nobody knows where visitors leave first: nobody
// enters before enough have left, and what comes back too much is given again.
func (g *Global) cut(k kindOf, over int) {
	for _, c := range g.centers {
		if l := k.of(c); over > 0 && c.joined && l.quarantined > 0 {
			n := min(over, l.quarantined)
			l.most = min(l.most, l.out()-n)
			over -= n
		}
	}
	for _, c := range g.centers {
		if l := k.of(c); over > 0 && c.joined {
			l.most = max(0, min(l.most, l.out()-over))
		}
	}
}

// rewrite makes the ledger to be written: when a data center needs a higher bound, or comes in a new
// incarnation. Bounds that are far too high are lowered by the way. Nil when nothing is to be written
// or a write is under way.
func (g *Global) rewrite(wish []wishes) *Bounds {
	if !g.books.kept || g.books.writing {
		return nil
	}
	next := Bounds{Epoch: g.epoch, Centers: make([]Bound, 0, len(g.centers))}
	needed := false
	for i, c := range g.centers {
		old, _ := g.books.written.find(c.name)
		b := Bound{DataCenter: c.name, Incarnation: c.incarnation}
		if !c.joined {
			if old.Incarnation != 0 {
				next.Centers = append(next.Centers, old)
			}
			continue
		}
		rights, permits := max(wish[i].rights, c.rights.out()), max(wish[i].permits, c.permits.out())
		needed = needed || rights > old.Rights || permits > old.Permits || c.incarnation != old.Incarnation
		b.Rights, b.Permits = rebound(old.Rights, rights), rebound(old.Permits, permits)
		next.Centers = append(next.Centers, b)
	}
	if !needed {
		return nil
	}
	g.books.next, g.books.writing = next, true
	return &next
}

// Wrote answers Decision.Write: the ledger is durable, or somebody else has written it, which tells
// that this coordinator is deposed.
func (g *Global) Wrote(ok bool) {
	if !ok {
		g.deposed = true
		return
	}
	g.books.written, g.books.writing = g.books.next, false
}
