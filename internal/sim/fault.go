package sim

import (
	"bytes"
	"maps"
	"slices"

	"github.com/anteroom/anteroom/internal/queue"
)

// strike begins a fault and returns what ends it.
func (r *rooms) strike(f Fault) (heal func()) {
	dc := r.centers[f.Center%len(r.centers)]
	switch f.Kind {
	case Partition:
		r.net.cut[dc.index]++
		return func() { r.net.cut[dc.index]-- }
	case LeaderLoss:
		for _, l := range r.leaders {
			l.halted = true
		}
		r.leaders = nil
		return r.elect
	case TwoLeaders:
		return r.split()
	case Crash, Amnesia, Restart:
		return r.crash(f.Kind, dc)
	case NodesLost:
		return nil // nodes hold nothing
	case LowerLimit:
		old := r.settings.TotalActiveUsers
		r.configure(func(s *queue.Settings) { s.TotalActiveUsers = old / 2 })
		return func() { r.configure(func(s *queue.Settings) { s.TotalActiveUsers = old }) }
	case LedgerSilent:
		r.ledger.silent++
		return func() { r.ledger.silent-- }
	}
	return nil
}

// split elects a second leader while the first goes on. Half of the data centers are out of the first
// one's reach, the others out of the second one's.
func (r *rooms) split() (heal func()) {
	old := r.leading()
	if old == nil {
		return nil
	}
	old.apart = map[int]bool{}
	far := map[int]bool{}
	for i := range r.centers {
		if r.e.rng.IntN(2) == 0 {
			old.apart[i] = true
		} else {
			far[i] = true
		}
	}
	r.elect()
	parted := true
	var part func()
	part = func() { // the new leader is there as soon as the ledger has answered
		if l := r.leading(); l != nil && l != old {
			l.apart = far
		} else if parted {
			r.e.after(localTick, part)
		}
	}
	part()
	return func() {
		parted = false
		for _, l := range r.leaders {
			l.apart = nil
		}
	}
}

// crash stops a data center's coordinator and brings it back with what is remembered.
func (r *rooms) crash(kind FaultKind, dc *dataCenter) (heal func()) {
	if dc.local == nil {
		return nil // it is down already
	}
	var memory []queue.Record
	complete := false
	switch kind {
	case Crash:
		memory = slices.Clone(dc.snapshot)
	case Restart:
		memory, complete = slices.Clone(dc.journal), true
	case Amnesia, Partition, LeaderLoss, TwoLeaders, NodesLost, LowerLimit, LedgerSilent:
	}
	dc.stop()
	return func() { dc.start(memory, complete) }
}

// sortedIDs lists the keys of a map in order.
func sortedIDs[V any](m map[queue.ID]V) []queue.ID {
	return slices.SortedFunc(maps.Keys(m), func(a, b queue.ID) int { return bytes.Compare(a[:], b[:]) })
}
