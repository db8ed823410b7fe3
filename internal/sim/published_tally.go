package sim

import (
	"cmp"
	"slices"
	"time"
)

// publishedMinute is a calendar minute, counted from the Unix epoch. Visitors who came in one minute
// are one bucket and have no order among them.
type publishedMinute int64

func publishedMinuteOf(t time.Time) publishedMinute { return publishedMinute(t.Unix() / 60) }

func (m publishedMinute) start() time.Time { return time.Unix(int64(m)*60, 0).UTC() }

// lasts tells whether somebody who was last seen in the minute may still be there at the moment. The
// counter knows the minute only, so everybody stays as long as the last visitor of the minute might.
func (m publishedMinute) lasts(d time.Duration, now time.Time) bool {
	return (m + 1).start().Add(d).After(now)
}

// publishedKind says what a cell counts.
type publishedKind uint8

const (
	publishedActive   publishedKind = iota // people at the origin, by the minute of their last check-in
	publishedUsers                         // different people who sent a request in the minute
	publishedAdmitted                      // entries in the minute
	publishedWaiting                       // waiting people by bucket and by the minute of their last check-in
)

// publishedCell is one counter. Its people may be negative: a visitor who moves to another worker is
// taken away there and was added elsewhere.
type publishedCell struct {
	kind   publishedKind
	bucket publishedMinute // of publishedWaiting
	minute publishedMinute
	people int
}

func (c publishedCell) compare(o publishedCell) int {
	return cmp.Or(cmp.Compare(c.kind, o.kind), cmp.Compare(c.bucket, o.bucket), cmp.Compare(c.minute, o.minute))
}

// publishedTally is what a worker, a data center or the whole room counted: cells in order, none of
// them zero.
type publishedTally []publishedCell

// with is the tally with some more people in one cell; it may use the memory of the old one.
func (t publishedTally) with(c publishedCell) publishedTally {
	i, found := slices.BinarySearchFunc(t, c, publishedCell.compare)
	if !found {
		return slices.Insert(t, i, c)
	}
	if t[i].people += c.people; t[i].people == 0 {
		return slices.Delete(t, i, i+1)
	}
	return t
}

// plus is a new tally with everything of both, the other one times sign.
func (t publishedTally) plus(o publishedTally, sign int) publishedTally {
	sum := make(publishedTally, 0, len(t)+len(o))
	for len(t) > 0 || len(o) > 0 {
		switch {
		case len(o) == 0 || len(t) > 0 && t[0].compare(o[0]) < 0:
			sum, t = append(sum, t[0]), t[1:]
		case len(t) == 0 || t[0].compare(o[0]) > 0:
			c := o[0]
			c.people *= sign
			sum, o = append(sum, c), o[1:]
		default:
			if c := t[0]; c.people+sign*o[0].people != 0 {
				c.people += sign * o[0].people
				sum = append(sum, c)
			}
			t, o = t[1:], o[1:]
		}
	}
	return sum
}

// since is the tally without what happened before the minute; it uses the memory of the old one.
func (t publishedTally) since(m publishedMinute) publishedTally {
	return slices.DeleteFunc(t, func(c publishedCell) bool { return c.minute < m })
}

// in is how many people the tally counts of a kind in a minute.
func (t publishedTally) in(k publishedKind, m publishedMinute) int {
	i, found := slices.BinarySearchFunc(t, publishedCell{kind: k, minute: m}, publishedCell.compare)
	if !found {
		return 0
	}
	return t[i].people
}

// bytes is about how much of a message the tally takes when it is written tightly: most minutes are
// near the one before, most counts are small.
func (t publishedTally) bytes() int {
	const cell = 5
	return cell * len(t)
}
