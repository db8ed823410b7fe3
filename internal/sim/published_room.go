package sim

import (
	"math"
	"time"
)

// publishedGrace is how long a waiting visitor who is not seen keeps a place.
const publishedGrace = 5 * time.Minute

// publishedBucket are the people who wait since one minute.
type publishedBucket struct {
	minute   publishedMinute
	waiting  int
	reserved int // slots that are theirs
}

// publishedRoom is the state of the whole room as somebody sees it who has heard the reports.
type publishedRoom struct {
	active   int
	admitted int // in the current minute
	buckets  []publishedBucket
	waiting  int
}

// publishedRoomOf reads the state of the room from a tally.
func publishedRoomOf(t publishedTally, now time.Time, session time.Duration) publishedRoom {
	r := publishedRoom{admitted: t.in(publishedAdmitted, publishedMinuteOf(now))}
	for _, c := range t {
		switch {
		case c.kind == publishedActive && c.minute.lasts(session, now):
			r.active += c.people
		case c.kind == publishedWaiting && c.minute.lasts(publishedGrace, now):
			if n := len(r.buckets); n == 0 || r.buckets[n-1].minute != c.bucket {
				r.buckets = append(r.buckets, publishedBucket{minute: c.bucket})
			}
			r.buckets[len(r.buckets)-1].waiting += c.people
		}
	}
	r.active = max(r.active, 0)
	r.settle()
	return r
}

// settle drops buckets in which nobody is left. A bucket can look as if fewer than nobody waited
// while the report of a move is under way.
func (r *publishedRoom) settle() {
	kept := r.buckets[:0]
	for _, b := range r.buckets {
		if b.waiting > 0 {
			kept = append(kept, b)
			r.waiting += b.waiting
		}
	}
	r.buckets = kept
}

// slots is how many people may enter now.
func (r *publishedRoom) slots(total, perMinute int) int {
	return max(0, min(total-r.active, perMinute-r.admitted))
}

// reserve gives slots to the oldest buckets first and returns what is left for newcomers.
func (r *publishedRoom) reserve(slots int) (left int) {
	for i := range r.buckets {
		b := &r.buckets[i]
		b.reserved = min(b.waiting, slots)
		slots -= b.reserved
	}
	return slots
}

// ahead is how many people up to and including the bucket have no slot yet.
func (r *publishedRoom) ahead(bucket publishedMinute) int {
	n := 0
	for _, b := range r.buckets {
		if b.minute <= bucket {
			n += b.waiting - b.reserved
		}
	}
	return n
}

// publishedShare is the part of one data center in the traffic of a past minute.
type publishedShare struct{ users, of int }

// publishedShareMinute is the minute whose traffic divides the slots: the last but one before the
// current minute, which is closed and known everywhere.
func publishedShareMinute(now time.Time) publishedMinute { return publishedMinuteOf(now) - 2 }

// publishedShareOf is a data center's share by what it counted itself and by what all counted. Nobody
// had traffic: every data center has the same share.
func publishedShareOf(own, all publishedTally, now time.Time, centers int) publishedShare {
	m := publishedShareMinute(now)
	s := publishedShare{max(own.in(publishedUsers, m), 0), all.in(publishedUsers, m)}
	if s.of <= 0 {
		return publishedShare{1, centers}
	}
	return s
}

// publishedPlan is what a worker does until it hears more.
type publishedPlan struct {
	publishedRoom
	free int // slots of the whole room
	// covered bounds the buckets that may enter at every worker: those before it. The people of the
	// bucket itself share the budget.
	covered  publishedMinute
	open     bool // newcomers share the budget
	everyone bool // everybody shares the budget: the method is random
	budget   int  // worker slots
	rate     float64
}

// publishedPlanOf divides the slots. The budget is the worker's part of what has to be divided: of the
// slots of the first bucket that has too few, or of what is left for newcomers, or, when the method is
// random, of everything.
func publishedPlanOf(r publishedRoom, slots int, random bool, part func(slots int) int) publishedPlan {
	left := r.reserve(slots)
	p := publishedPlan{publishedRoom: r, free: slots, everyone: random}
	switch {
	case random:
		p.budget = part(slots)
	case slots == 0: // nothing is covered
	case left > 0:
		p.covered, p.open, p.budget = math.MaxInt64, true, part(left)
	default:
		p.covered = r.buckets[len(r.buckets)-1].minute + 1
		for _, b := range r.buckets {
			if b.reserved < b.waiting {
				p.covered, p.budget = b.minute, part(b.reserved)
				break
			}
		}
	}
	return p
}

// admits decides about a visitor who asks now, and spends a worker slot where it takes one.
func (p *publishedPlan) admits(bucket publishedMinute, newcomer bool) bool {
	switch {
	case p.everyone:
	case newcomer && !p.open, bucket > p.covered:
		return false
	case !newcomer && bucket < p.covered:
		return true
	}
	if p.budget <= 0 {
		return false
	}
	p.budget--
	return true
}
