package queue_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// fleet is a room in several data centers whose messages are carried by hand, so that a test decides what
// arrives, when, and to whom.
type fleet struct {
	*world
	set    queue.Settings
	global *queue.Global
	locals map[string]*queue.Local
	bounds queue.Bounds // the ledger
	writes int
}

func newFleet(t testing.TB, set queue.Settings, names ...string) *fleet {
	t.Helper()
	f := &fleet{world: newWorld(t, 1, set), set: set, locals: map[string]*queue.Local{}}
	f.events = nil
	for _, name := range names {
		f.start(name, 1, false)
	}
	f.global = f.lead(1)
	f.settle()
	return f
}

// lead elects a leader: it writes the ledger under its epoch first.
func (f *fleet) lead(epoch uint64) *queue.Global {
	f.bounds.Epoch = epoch
	ledger := f.bounds
	return queue.NewGlobal(f.now, queue.GlobalConfig{Epoch: epoch, Settings: f.set, Pace: queue.WidePace(), Ledger: &ledger})
}

// start begins an incarnation without a memory.
func (f *fleet) start(name string, incarnation uint64, complete bool) {
	f.locals[name] = queue.NewLocal(f.now, queue.LocalConfig{
		DataCenter: name, Incarnation: incarnation, Complete: complete, Settings: f.set, Pace: queue.WidePace(),
	})
}

// settle lets everybody talk until nothing changes.
func (f *fleet) settle() {
	for range 8 {
		f.exchange(f.global)
	}
}

// exchange carries all reports to a leader and its grants back.
func (f *fleet) exchange(g *queue.Global) {
	f.now = f.now.Add(200 * time.Millisecond)
	for _, name := range f.names() {
		g.Report(f.now, f.locals[name].Report(f.now))
	}
	f.deliver(f.decide(g))
}

// decide lets a leader decide and keeps its ledger.
func (f *fleet) decide(g *queue.Global) []queue.Addressed {
	d := g.Tick(f.now)
	if d.Write != nil {
		ok := d.Write.Epoch == f.bounds.Epoch // compare and set: who took over has changed it
		if ok {
			f.bounds = *d.Write
			f.writes++
		}
		g.Wrote(ok)
		d.Grants = append(d.Grants, g.Tick(f.now).Grants...)
	}
	return d.Grants
}

func (f *fleet) deliver(grants []queue.Addressed) {
	for _, a := range grants {
		if l := f.locals[a.DataCenter]; l != nil {
			l.Grant(f.now, a.Grant)
		}
	}
}

func (f *fleet) names() (out []string) {
	for _, name := range []string{"a", "b", "c", "d"} {
		if f.locals[name] != nil {
			out = append(out, name)
		}
	}
	return out
}

// held is what a data center holds of rights.
func (f *fleet) held(name string) int {
	rights, _ := f.locals[name].Accounts()
	return rights.Held()
}

// come lets somebody new ask at a data center.
func (f *fleet) come(name string) *person { return f.comeIn(name, 0) }

// comeIn is the same with a priority class.
func (f *fleet) comeIn(name string, class uint8) *person {
	p := &person{arrived: f.now}
	f.at(name, p, class)
	return p
}

// at lets somebody ask at a data center and tells whether they are in.
func (f *fleet) at(name string, p *person, class uint8) bool {
	a := f.locals[name].Ask(f.now, queue.Ask{
		ID: p.cookie.ID, Arrival: p.cookie.Arrival, Accepted: p.cookie.Accepted, LastSeen: p.cookie.LastSeen,
		Refresh: p.cookie.Refresh, Home: p.cookie.Home, Class: class, NewID: f.freshID(), Draw: f.rng.Uint64(),
	})
	p.cookie = a
	return a.Verdict == queue.Admitted
}

// fill lets so many in at a data center.
func (f *fleet) fill(name string, n int) []*person {
	out := make([]*person, n)
	for i := range out {
		out[i] = f.come(name)
		for range 10 {
			if out[i].cookie.Verdict == queue.Admitted {
				break
			}
			f.exchange(f.global)
			f.at(name, out[i], 0)
		}
		if out[i].cookie.Verdict != queue.Admitted {
			f.t.Fatalf("visitor %d of %d does not get into %s", i, n, name)
		}
	}
	return out
}
