package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/anteroom/anteroom"
)

// RandomName is the name of the worlds that RandomFaults makes.
const RandomName = "random-faults"

// faultMargin is how long a random world is left alone at its beginning and its end: a queue has to
// form first, and what a fault did has to show.
const faultMargin = time.Minute

// RandomFaults is a world with a small room and one to four faults. Everything in it is drawn from
// the seed, so the seed alone replays it.
func RandomFaults(seed uint64) World {
	d := dice{rand.New(rand.NewPCG(seed, 0xfa0175))}
	w := Defaults()
	w.Name, w.About, w.Seed = RandomName, "a small room, one to four faults, everything drawn from the seed", seed
	w.Duration = d.between(10*time.Minute, 14*time.Minute)
	d.network(&w.Network)
	d.room(&w.Room)
	d.crowd(&w)
	for range 1 + d.IntN(4) {
		w.Faults = append(w.Faults, d.fault(&w))
	}
	return w
}

// dice draws what a world is made of.
type dice struct{ *rand.Rand }

// between draws whole milliseconds, so that a world reads well when it is printed.
func (d dice) between(low, high time.Duration) time.Duration {
	return low + time.Duration(d.Int64N(int64((high-low)/time.Millisecond)+1))*time.Millisecond
}

// sometimes is true in a quarter of the draws.
func (d dice) sometimes() bool { return d.IntN(4) == 0 }

func (d dice) network(n *Network) {
	n.Centers, n.Nodes = 2+d.IntN(12), 1+d.IntN(3)
	n.Jitter = d.Float64() * 0.4
	n.Loss = d.Float64() * 0.02
	n.Skew = 2 * time.Second
	n.Ledger = d.between(time.Millisecond, 50*time.Millisecond)
}

func (d dice) room(r *Room) {
	r.TotalActiveUsers = 120 + d.IntN(181)
	r.Session = d.between(30*time.Second, time.Minute).Round(time.Second)
	r.NewUsersPerMinute = 3 * r.TotalActiveUsers / 2 // as far above what the room admits as in the study
	if d.sometimes() {
		r.NewUsersPerMinute = r.TotalActiveUsers / 2
	}
	if d.sometimes() {
		r.Method = anteroom.Random
	}
	if d.sometimes() {
		r.Pacing = 5 * time.Second
	}
	r.Held = !d.sometimes()
}

func (d dice) crowd(w *World) {
	c := &w.Crowd
	c.Load = []Load{Flash, Steady, Ramp, Diurnal}[d.IntN(4)]
	c.Browse = d.between(30*time.Second, 90*time.Second).Round(time.Second)
	held := (w.Room.Session + c.Browse).Seconds()
	c.Rate = 0.9 * min(float64(w.Room.TotalActiveUsers)/held, float64(w.Room.NewUsersPerMinute)/60)
	c.Gap = d.between(5*time.Second, 10*time.Second)
	c.Patience = d.between(5*time.Minute, time.Hour).Round(time.Second)
	c.Returns = d.Float64() * 0.1
	c.Moves = d.Float64() * 0.005
	c.Skewed = d.Float64()
}

func (d dice) fault(w *World) Fault {
	all := faultKinds()
	if slices.ContainsFunc(w.Faults, func(f Fault) bool { return f.Kind == LowerLimit }) { // one is enough: they must not overlap
		all = slices.DeleteFunc(all, func(k FaultKind) bool { return k == LowerLimit })
	}
	kind := all[d.IntN(len(all))]
	f := Fault{Kind: kind, Center: d.IntN(w.Network.Centers)}
	f.At = d.between(faultMargin, w.Duration-3*faultMargin)
	switch kind {
	case Partition, NodesLost, LowerLimit, TwoLeaders:
		f.For = d.between(time.Second, 90*time.Second)
	case LeaderLoss, LedgerSilent:
		f.For = d.between(time.Second, 30*time.Second)
	case Crash, Amnesia, Restart:
		f.For = d.between(100*time.Millisecond, 10*time.Second)
	}
	return f
}

// faultKinds lists every kind of fault.
func faultKinds() []FaultKind {
	return []FaultKind{Partition, LeaderLoss, TwoLeaders, Crash, Amnesia, Restart, NodesLost, LowerLimit, LedgerSilent}
}
