package sim

import (
	"fmt"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// books follows what the data centers can use by their own accounts, after each of their steps: together
// it must never be above a limit.
type books struct {
	held    [2][]int // rights and permits by data center
	sum     [2]int
	seen    []counters   // of the running incarnation
	allowed [2]int       // the sum may be so high: a lowered limit only lets it fall
	below   [2]time.Time // since when the sum is within a lowered limit
}

// counters are what never falls within an incarnation.
type counters struct {
	incarnation                                    uint64
	granted, returned, permitGranted, permitReturn uint64
	epoch                                          uint64
}

func (b *books) begin(n int) {
	b.held[0], b.held[1] = make([]int, n), make([]int, n)
	b.seen = make([]counters, n)
}

// look checks the account of a data center after one of its steps. What one held that went down goes on
// counting: its visitors are still there.
func (b *books) look(r *rooms, dc *dataCenter) {
	rights, permits := dc.local.Accounts()
	b.monotone(r, dc, rights, permits)
	if !dc.local.Settled() {
		return // until it knows what it inherits, what it held before counts
	}
	limits := [2]int{r.settings.TotalActiveUsers, r.settings.NewUsersPerMinute}
	usableRights, usablePermits := dc.local.Capacity()
	for kind, usable := range [2]int{usableRights, usablePermits} {
		before := b.sum[kind]
		b.sum[kind] += usable - b.held[kind][dc.index]
		b.held[kind][dc.index] = usable
		if b.sum[kind] > limits[kind] && b.sum[kind] > before && b.sum[kind] > b.allowed[kind] {
			r.complain("the data centers can use %d %s, the limit is %d; %s took the last", b.sum[kind], [2]string{"rights", "permits"}[kind], limits[kind], dc.name)
		}
		b.tighten(r, kind, limits[kind])
	}
}

// flightTime is how long a right may be on its way from one data center to another.
const flightTime = 3 * time.Second

// tighten lets a lowered limit bind once the sum has been below it for a while: before that rights on their
// way are missing in it.
func (b *books) tighten(r *rooms, kind, limit int) {
	switch {
	case limit >= b.allowed[kind]:
		b.allowed[kind], b.below[kind] = limit, time.Time{}
	case b.sum[kind] > limit:
		b.below[kind] = time.Time{}
	case b.below[kind].IsZero():
		b.below[kind] = r.e.now
	case r.e.now.Sub(b.below[kind]) > flightTime:
		b.allowed[kind] = limit
	}
}

// monotone checks that cumulative counters and epochs never fall.
func (b *books) monotone(r *rooms, dc *dataCenter, rights, permits queue.Account) {
	now := counters{dc.incarnation, rights.Granted, rights.Returned, permits.Granted, permits.Returned, dc.local.Epoch()}
	old := b.seen[dc.index]
	b.seen[dc.index] = now
	if old.incarnation != now.incarnation {
		return
	}
	if now.granted < old.granted || now.returned < old.returned || now.permitGranted < old.permitGranted ||
		now.permitReturn < old.permitReturn || now.epoch < old.epoch {
		r.complain("a counter of %s fell from %+v to %+v", dc.name, old, now)
	}
	if now.returned > now.granted || now.permitReturn > now.permitGranted {
		r.complain("%s gave back more than it got: %+v", dc.name, now)
	}
}

// audit compares the leader's merged lines with the registries, at the end of a run: everything on the
// way is delivered first.
func (r *rooms) audit() []string {
	l := r.leading()
	if l == nil || len(r.leaders) != 1 {
		return nil
	}
	waiting := 0
	for range 3 {
		waiting = 0
		for _, dc := range r.centers {
			if dc.local == nil || r.net.cut[dc.index] > 0 {
				return nil // the fault lasts to the end of the run
			}
			l.global.Report(l.now(), dc.local.Report(dc.now()))
		}
		for _, a := range l.global.Tick(l.now()).Grants {
			dc := r.centers[r.indexOf(a.DataCenter)]
			dc.local.Grant(dc.now(), a.Grant)
		}
		for _, dc := range r.centers {
			waiting += dc.local.Present()
		}
	}
	if waiting != l.global.Waiting() {
		return []string{fmt.Sprintf("the leader counts %d waiting tickets, the data centers have %d", l.global.Waiting(), waiting)}
	}
	return nil
}
