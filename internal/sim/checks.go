package sim

import (
	"slices"
	"time"
)

// checks are the invariants that need the whole picture.
type checks struct {
	r        *run
	striking int           // faults that last
	quietAt  time.Duration // since when no fault lasts
	idle     []int         // idle rights of the last seconds
	last     time.Duration // the end of the last fault
	any      bool
}

func newChecks(r *run) *checks { return &checks{r: r} }

func (c *checks) faulty(f Fault) {
	c.any = true
	c.striking++
	c.r.look.disturbed = c.striking > 1 || f.Kind != LowerLimit
}

func (c *checks) healed() {
	c.striking--
	c.r.look.disturbed = c.striking > 0
	c.quietAt = c.r.e.since()
	c.last = c.quietAt
}

// Work conservation: while somebody present waits, no right stays idle for over conserveSpan seconds. A
// right on its way is idle, too: on average so many are as enter in that time, at the beginning of a wave twice
// as many.
const (
	conserveSpan = 3
	conserveRest = time.Minute // quarantine and backlog after a fault
)

// conserve looks whether rights lie idle while visitors wait.
func (c *checks) conserve() {
	r, ok := c.r.system.(*rooms)
	if !ok || isLottery(&c.r.w) || c.r.w.Room.Pacing > 0 || c.r.w.Room.Poll > 0 || !c.r.w.Room.Held {
		return
	}
	since := c.r.e.since()
	calm := c.striking == 0 && (!c.any || since-c.quietAt > conserveRest+c.r.w.Room.Session)
	if c.r.look.present < waitersMin || !calm || since < c.r.w.Room.Opens+conserveRest {
		c.idle = c.idle[:0]
		return
	}
	c.idle = append(c.idle, r.unused())
	if len(c.idle) < conserveSpan {
		return
	}
	least := c.idle[len(c.idle)-conserveSpan]
	for _, n := range c.idle[len(c.idle)-conserveSpan:] {
		least = min(least, n)
	}
	recent := max(conserveSpan*c.r.look.entries.count(c.r.e.now, time.Minute)/60, c.r.look.lately.count(c.r.e.now, conserveSpan*time.Second))
	if on := 2*recent + conserveSlack + len(r.centers)/10; least > on {
		c.r.look.complain("%d rights were idle for %d s while visitors waited; %d are on their way", least, conserveSpan, on)
		c.idle = c.idle[:0]
	}
}

const conserveSlack = 3

// unused is how many visitors could be inside by both limits and are not, those left out whose turn it is.
func (r *rooms) unused() int {
	due := 0
	rights, permits := r.settings.TotalActiveUsers, r.settings.NewUsersPerMinute
	for _, dc := range r.centers {
		if dc.local == nil {
			continue
		}
		x, y := dc.local.Accounts()
		rights -= x.Held() - x.Idle + x.Debt
		permits -= y.Held() - y.Idle + y.Debt
		due += dc.local.Due()
	}
	return min(rights, permits) - due
}

// finish looks at what is left at the end.
func (c *checks) finish() {
	for _, v := range c.r.people.all {
		if v.inside && v.entered.Before(v.arrived) {
			c.r.look.complain("somebody entered before they came")
		}
	}
	c.passedOver()
}

// recovered is the time from the end of the last fault until use was back.
func (c *checks) recovered() time.Duration {
	bad := c.r.look.use.bad
	if !c.any || bad <= c.last {
		return 0
	}
	return bad - c.last
}

// Others whose turn came later may enter before somebody whose turn has come in so many spans of time, no more.
// Winners of a lottery ask again within 20 s, and may find no right once or twice.
const (
	passedOverSpan = 10 * time.Second
	passedOverMax  = 10
)

// passedOver looks for visitors who had their turn and starved while later ones went on entering. A fault may
// keep a data center from its rights, and who polls on their own terms may be late by themselves.
func (c *checks) passedOver() {
	if c.any || c.r.w.Algorithm != Rights || c.r.w.Room.Pacing > 0 || c.r.w.Room.Poll > 0 {
		return
	}
	var list []*visitor
	for _, v := range c.r.people.all {
		if v.inside && !v.anew && !v.turn.IsZero() {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b *visitor) int { return a.turn.Compare(b.turn) })
	first := c.r.e.end // entry of those whose turn came later
	for i, v := range slices.Backward(list) {
		own := !v.wasAway && !v.moved && v.strategy == obedient
		if own && v.entered.Sub(first) > passedOverMax*passedOverSpan && v.overtaken(list[i+1:]) > passedOverMax {
			c.r.look.complain("somebody whose turn had come in data center %d was passed over for %v", v.center, v.entered.Sub(first))
		}
		if v.entered.Before(first) {
			first = v.entered
		}
	}
}

// overtaken is in how many spans any of the others entered before the visitor.
func (v *visitor) overtaken(others []*visitor) int {
	spans := map[int64]bool{}
	for _, other := range others {
		if other.entered.Before(v.entered) {
			spans[other.entered.Unix()/int64(passedOverSpan.Seconds())] = true
		}
	}
	return len(spans)
}
