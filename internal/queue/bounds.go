package queue

import (
	"cmp"
	"math"
	"slices"
)

// Bounds is the ledger of a room: what each data center may hold at most. It is durable and written by
// compare-and-set: a leader writes it before it sends a grant that needs more, and before it welcomes
// a new incarnation. Whoever takes over reads it, writes it under the new epoch (from then on every
// write of the former leader fails), and counts a data center that it has not heard with its bound.
type Bounds struct {
	Epoch   uint64
	Centers []Bound // in order of their names
}

// Bound is the ledger's line on one data center.
type Bound struct {
	DataCenter      string
	Incarnation     uint64
	Rights, Permits int
}

// find gives the line of a data center.
func (b *Bounds) find(name string) (Bound, bool) {
	i, ok := slices.BinarySearchFunc(b.Centers, name, func(c Bound, n string) int { return cmp.Compare(c.DataCenter, n) })
	if !ok {
		return Bound{DataCenter: name}, false
	}
	return b.Centers[i], true
}

// headroom is how much higher than needed a bound is written, so that steady use writes nothing.
func headroom(n int) int { return n + n/20 + 2 }

// rebound is what a bound should be when so many are out and wished for: as it is while that fits and
// is not far too much.
func rebound(bound, wish int) int {
	if wish <= bound && bound <= 2*headroom(wish) {
		return bound
	}
	return headroom(wish)
}

// books is a leader's way with the ledger.
type books struct {
	kept    bool // there is a ledger; a lone node has none and knows no bounds
	writing bool
	written Bounds // the last that is known to be durable
	next    Bounds // the one being written
}

// most is how many of one kind a data center may have out now: what is durable, and while a write is
// under way what that says, too.
func (b *books) most(name string, of func(Bound) int) int {
	if !b.kept {
		return math.MaxInt
	}
	now, _ := b.written.find(name)
	most := of(now)
	if b.writing {
		next, _ := b.next.find(name)
		most = min(most, of(next))
	}
	return most
}

// welcomed tells whether the ledger knows the incarnation.
func (b *books) welcomed(name string, incarnation uint64) bool {
	if !b.kept {
		return true
	}
	now, ok := b.written.find(name)
	return ok && now.Incarnation == incarnation
}
