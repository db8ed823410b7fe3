package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// leader is one global coordinator.
type leader struct {
	rooms  *rooms
	global *queue.Global
	skew   time.Duration
	rev    int          // of the ledger, as it last wrote or read it
	apart  map[int]bool // data centers that it cannot reach
	halted bool         // it was deposed or is dead
}

// ledger is the durable memory of bounds, written by compare-and-set.
type ledger struct {
	e      *engine
	bounds queue.Bounds
	rev    int
	takes  time.Duration
	silent int // faults that keep it from answering
}

// swap writes when the revision is the expected one and tells the outcome after a while. A silent ledger
// answers when it is back.
func (l *ledger) swap(rev int, next queue.Bounds, done func(rev int, ok bool)) {
	l.e.after(l.takes, func() {
		if l.silent > 0 {
			l.e.after(100*time.Millisecond, func() { l.swap(rev, next, done) })
			return
		}
		if l.rev != rev {
			done(l.rev, false)
			return
		}
		l.rev++
		l.bounds = queue.Bounds{Epoch: next.Epoch, Centers: slices.Clone(next.Centers)}
		done(l.rev, true)
	})
}

// elect lets a new leader take over: it reads the ledger and writes it under its own epoch; from then on
// the one before can write nothing.
func (r *rooms) elect() {
	r.epoch++
	epoch := r.epoch
	next := queue.Bounds{Epoch: epoch, Centers: slices.Clone(r.ledger.bounds.Centers)}
	r.ledger.swap(r.ledger.rev, next, func(rev int, ok bool) {
		if !ok {
			r.elect() // somebody wrote in between
			return
		}
		l := &leader{rooms: r, skew: r.drawSkew(), rev: rev}
		l.global = queue.NewGlobal(l.now(), queue.GlobalConfig{Epoch: epoch, Settings: r.settings, Pace: r.pace(), Ledger: &next})
		r.leaders = append(r.leaders, l)
	})
}

func (l *leader) now() time.Time { return l.rooms.e.now.Add(l.skew) }

// leading is the leader elected last; nil while there is none.
func (r *rooms) leading() *leader {
	if len(r.leaders) == 0 {
		return nil
	}
	return r.leaders[len(r.leaders)-1]
}

// heard hands a report to every leader that it reaches.
func (r *rooms) heard(report queue.Report) {
	i := r.indexOf(report.DataCenter)
	for _, l := range slices.Clone(r.leaders) {
		if !l.apart[i] {
			l.global.Report(l.now(), report)
		}
	}
	r.dismiss()
}

func (r *rooms) indexOf(name string) int {
	i, _ := slices.BinarySearchFunc(r.centers, name, func(dc *dataCenter, n string) int { return cmp.Compare(dc.name, n) })
	return i
}

// decide lets every leader decide.
func (r *rooms) decide() {
	for _, l := range slices.Clone(r.leaders) {
		l.decide()
	}
	r.dismiss()
}

// dismiss forgets leaders that know that they are deposed.
func (r *rooms) dismiss() {
	r.leaders = slices.DeleteFunc(r.leaders, func(l *leader) bool { return l.halted || l.global.Deposed() })
}

// decide carries out what the coordinator wants done.
func (l *leader) decide() {
	r := l.rooms
	d := l.global.Tick(l.now())
	if d.Write != nil {
		r.ledger.swap(l.rev, *d.Write, func(rev int, ok bool) {
			if l.halted {
				return
			}
			if ok {
				l.rev = rev
			}
			l.global.Wrote(ok)
			if ok {
				l.decide()
			}
		})
	}
	for _, a := range d.Grants {
		i := r.indexOf(a.DataCenter)
		if l.apart[i] {
			continue
		}
		decided := r.e.now
		r.net.down(i, wireSize(a.Grant), func() { r.centers[i].granted(a.Grant, decided) })
	}
}

// granted applies a grant. The turns in it were given when the leader made it: that data centers hear of one
// decision at different moments inverts no turns. Entries are compared as they happened.
func (dc *dataCenter) granted(g queue.Grant, decided time.Time) {
	if dc.local == nil {
		return
	}
	dc.local.Grant(dc.now(), g)
	dc.called(decided)
	dc.after()
}
