package sim

import "time"

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
	if f.Kind == NodesLost {
		c.healed()
	}
}

func (c *checks) healed() {
	c.striking--
	c.r.look.disturbed = c.striking > 0
	c.quietAt = c.r.e.since()
	c.last = c.quietAt
}

// Work conservation: while somebody present waits, no right stays idle for over conserveSpan seconds. A
// right on its way is idle, too; on average so many are as enter in that time.
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
	if on := recent + conserveSlack + len(r.centers)/10; least > on {
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
}

// recovered is the time from the end of the last fault until use was back.
func (c *checks) recovered() time.Duration {
	bad := c.r.look.use.bad
	if !c.any || bad <= c.last {
		return 0
	}
	return bad - c.last
}
