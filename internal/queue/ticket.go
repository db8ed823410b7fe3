package queue

import (
	"cmp"
	"slices"
)

// Units of the core's times, in microseconds.
const (
	milli  = int64(1000)
	second = 1000 * milli
)

// ticketState is where a registered ticket stands.
type ticketState uint8

const (
	ticketWaiting ticketState = iota // in line
	ticketDue                        // its turn has come; a right is kept for it, or will be
	ticketLapsed                     // its turn has come and was not claimed in time; the place is kept
	ticketLate                       // the same, and the visitor is back: a right is kept for longer
)

// called tells that the turn has come and the visitor is expected.
func (s ticketState) called() bool { return s == ticketDue || s == ticketLate }

// ticket is one registered visitor who waits. It is 56 bytes and holds no pointers.
type ticket struct {
	id      ID
	arrival int64 // stamp
	key     int64 // place in the current order
	// seen is the time of the last request, next the time at which the following one is due, until
	// the time at which an unclaimed turn lapses; all in tenths of a second since the epoch of the
	// coordinator.
	seen, next, until uint32
	spoke             uint16 // of the ticket's entry in registry.lost, its lowest bits
	state             ticketState
	marks             uint8 // the priority class, and what follows
	promise           promise
}

// Marks of a ticket above its class: a request of the visitor is being held open; the visitor has not
// asked when it was time to; the lot, which tells of which draw the place is.
const (
	heldMark   = 0x80
	absentMark = 0x40
	lotShift   = 3
	lotMark    = 7 << lotShift
	classMark  = ClassesMax - 1
)

func (t *ticket) class() uint8 { return t.marks & classMark }
func (t *ticket) held() bool   { return t.marks&heldMark != 0 }
func (t *ticket) absent() bool { return t.marks&absentMark != 0 }

// lot is lotOf the draw of which the ticket has a place, 0 when it has none.
func (t *ticket) lot() uint8       { return t.marks & lotMark >> lotShift }
func (t *ticket) setLot(lot uint8) { t.marks = t.marks&^lotMark | lot<<lotShift }

func (t *ticket) hold(on bool) {
	t.marks &^= heldMark
	if on {
		t.marks |= heldMark
	}
}

// registry holds the tickets of a room in one data center: by ID, in line, and by the time at which
// they are given up.
type registry struct {
	byID   map[ID]uint32
	slab   slab[ticket]
	lines  [ClassesMax]line // waiting tickets of each class by key
	inLine int              // how many stand in them
	away   int              // of them, those whose visitors are absent: they get no turn
	due    line             // tickets whose turn has come, by key: the first ones get the next rights
	late   int              // of them, those that had let it lapse
	lost   wheel
	lapses wheel

	// counts is the waiting histogram: present tickets in line by the second of their key. dirty names the
	// seconds that changed and the first report that tells of it; it is forgotten with its receipt.
	counts map[int64]int32
	dirty  map[int64]uint64
	report uint64 // number of the next report
}

func newRegistry(now int64) registry {
	return registry{
		byID:   map[ID]uint32{},
		lost:   newWheel(second, now),
		lapses: newWheel(second, now),
		counts: map[int64]int32{},
		dirty:  map[int64]uint64{},
		report: 1,
	}
}

// emptyLines takes every ticket out of line. Tickets with the same key go by their public ids when the
// keys are drawn, as in the record of a draw, and else in the order in which they came.
func (r *registry) emptyLines(drawn bool) {
	var tie func(a, b uint32) int
	if drawn {
		tie = r.byPublicID
	}
	for class := range r.lines {
		r.lines[class] = line{tie: tie}
	}
	r.due = line{tie: tie}
	r.inLine, r.away, r.late = 0, 0, 0
	clear(r.counts)
	clear(r.dirty)
}

func (r *registry) byPublicID(a, b uint32) int {
	return compareIDs(PublicID(r.slab.at(a).id), PublicID(r.slab.at(b).id))
}

// find gives the ticket with the ID.
func (r *registry) find(id ID) (uint32, *ticket, bool) {
	slot, ok := r.byID[id]
	if !ok {
		return 0, nil, false
	}
	return slot, r.slab.at(slot), true
}

// add registers a ticket in the state it has.
func (r *registry) add(t ticket) (uint32, *ticket) {
	slot := r.slab.take()
	p := r.slab.at(slot)
	*p = t
	r.byID[t.id] = slot
	r.enter(slot, p)
	return slot, p
}

// drop forgets a ticket.
func (r *registry) drop(slot uint32, t *ticket) {
	r.exit(slot, t)
	delete(r.byID, t.id)
	t.id = ID{} // an entry of a wheel that still names the slot finds nobody
	r.slab.give(slot)
}

// move changes a ticket's state and with it the line it stands in.
func (r *registry) move(slot uint32, t *ticket, to ticketState) {
	r.exit(slot, t)
	t.state = to
	r.enter(slot, t)
}

func (r *registry) enter(slot uint32, t *ticket) {
	switch t.state {
	case ticketWaiting:
		r.lines[t.class()].insert(place{t.key, slot})
		r.inLine++
		r.appear(t, 1)
	case ticketLate:
		r.late++
		r.due.insert(place{t.key, slot})
	case ticketDue:
		r.due.insert(place{t.key, slot})
	case ticketLapsed:
	}
}

func (r *registry) exit(slot uint32, t *ticket) {
	switch t.state {
	case ticketWaiting:
		r.lines[t.class()].remove(place{t.key, slot})
		r.inLine--
		r.appear(t, -1)
	case ticketLate:
		r.late--
		r.due.remove(place{t.key, slot})
	case ticketDue:
		r.due.remove(place{t.key, slot})
	case ticketLapsed:
	}
}

// appear counts a ticket that steps into or out of the line.
func (r *registry) appear(t *ticket, by int) {
	if t.absent() {
		r.away += by
		return
	}
	r.count(t, int32(by))
}

// miss notes that a ticket's visitor is absent, meet that the visitor is back.
func (r *registry) miss(t *ticket) {
	if t.state == ticketWaiting {
		r.count(t, -1)
		r.away++
	}
	t.marks |= absentMark
}

func (r *registry) meet(t *ticket) {
	if t.state == ticketWaiting {
		r.count(t, 1)
		r.away--
	}
	t.marks &^= absentMark
}

// present is how many in line are there.
func (r *registry) present() int { return r.inLine - r.away }

func (r *registry) count(t *ticket, by int32) {
	b := bucketID(t.class(), bucketOf(t.key))
	if r.counts[b] += by; r.counts[b] == 0 {
		delete(r.counts, b)
	}
	r.dirty[b] = r.report
}

// changes lists the seconds that changed and were not acknowledged, or the whole histogram.
func (r *registry) changes(full bool) []Bucket {
	var out []Bucket
	if full {
		for at, n := range r.counts { // unordered: sorted below
			out = append(out, bucketFor(at, n))
		}
	} else {
		for at := range r.dirty { // unordered: sorted below
			out = append(out, bucketFor(at, r.counts[at]))
		}
	}
	slices.SortFunc(out, func(a, b Bucket) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Class, b.Class))
	})
	r.report++
	return out
}

// acknowledge forgets the changes that a counted report has told of.
func (r *registry) acknowledge(report uint64) {
	for at, first := range r.dirty { // unordered: each by itself
		if first <= report {
			delete(r.dirty, at)
		}
	}
}

// bucketOf is the second of a key.
func bucketOf(key int64) int64 {
	b := key / second
	if key%second < 0 {
		b--
	}
	return b
}

// bucketID is a second of one class as a single number.
func bucketID(class uint8, at int64) int64 { return at*ClassesMax + int64(class) }

func bucketFor(id int64, count int32) Bucket {
	class := ((id % ClassesMax) + ClassesMax) % ClassesMax
	return Bucket{At: (id - class) / ClassesMax, Class: uint8(class), Count: count}
}

// backlog is how many wait in line by class.
func (r *registry) backlog() (n [ClassesMax]int) {
	for class := range r.lines {
		n[class] = r.lines[class].len()
	}
	return n
}

// slots lists the tickets whose turn has come, also those that let it lapse, and the waiting ones, each
// in order.
func (r *registry) slots() (called, waiting []uint32) {
	for slot := range r.slab.used {
		if t := r.slab.at(slot); !t.id.IsZero() && t.state != ticketWaiting {
			called = append(called, slot)
		}
	}
	slices.SortFunc(called, func(a, b uint32) int {
		return r.due.compare(place{r.slab.at(a).key, a}, place{r.slab.at(b).key, b})
	})
	waiting = make([]uint32, 0, r.inLine)
	for class := range r.lines {
		for p := range r.lines[class].all {
			waiting = append(waiting, p.slot)
		}
	}
	return called, waiting
}

// rank is how many tickets go before this one; false for a ticket that has lapsed.
func (r *registry) rank(slot uint32, t *ticket) (int, bool) {
	switch t.state {
	case ticketDue, ticketLate:
		return r.due.rank(place{t.key, slot}), true
	case ticketWaiting:
		return r.due.len() + r.lines[t.class()].rank(place{t.key, slot}), true
	case ticketLapsed:
	}
	return 0, false
}
