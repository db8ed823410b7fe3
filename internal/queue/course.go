package queue

import "math"

// course is when visitors entered the room of late, over all data centers, second by second: where
// new_users_per_minute binds, each entry comes again when its permit has cooled. A data center knows its own
// permits to the millisecond; of the others it hears how many sessions are in force and have ended.
type course struct {
	seconds [courseSpan]float64 // entries by second; the current one is seconds[at%courseSpan]
	at      int64               // the current second
	last    Experience          // as it was heard last
	heard   int64               // stamp of that
	since   int64               // the first second that is known; 0 before
}

// courseSpan is how many seconds the course remembers: permitCooling, rounded up.
const courseSpan = 61

// courseLag is how long after the fact an entry elsewhere is heard of, about: reports come each second.
const courseLag = 600 * milli

// hear takes in what all data centers have seen. Its fading sums are made whole again.
func (c *course) hear(now int64, x Experience) {
	if x == c.last {
		return
	}
	entered := float64(x.Active-c.last.Active) + x.Exits - c.last.Exits*faded(now-c.heard)
	known := c.heard != 0 && x.Exits >= c.last.Exits*faded(now-c.heard)/2 // else another leader has begun anew
	c.last, c.heard = x, now
	c.roll(now - courseLag)
	switch {
	case !known:
		*c = course{at: c.at, last: x, heard: now, since: c.at}
	default:
		c.seconds[c.at%courseSpan] += entered
	}
}

// roll forgets the seconds that are too long ago.
func (c *course) roll(now int64) {
	s := now / second
	for i := max(c.at+1, s-courseSpan+1); i <= s; i++ {
		c.seconds[i%courseSpan] = 0
	}
	c.at = max(c.at, s)
}

// whole tells that a full round of all permits is known, or nearly all of them in less.
func (c *course) whole(all float64) bool {
	return c.since != 0 && (c.at-c.since >= courseSpan || c.sum() >= nearlyAll*all)
}

// sum is how many entered in the time that is remembered.
func (c *course) sum() (n float64) {
	for _, entered := range c.seconds {
		n += entered
	}
	return n
}

// again tells in how many seconds the n-th permit from now will be used when each is used again as soon as
// it has cooled: whole rounds of all permits, and the rest by the course of the last round.
func (c *course) again(now int64, n, all float64) float64 {
	sum := c.sum()
	if sum <= 0 {
		return 0
	}
	// What is lost on the way between cooling and use makes a round longer than the cooling.
	round := permitCooling.Seconds() * min(max(1, all/sum), roundMost)
	rounds := max(0, math.Ceil(n/sum)-1)
	n -= rounds * sum
	for i := range int64(courseSpan) {
		at := c.at - courseSpan + 1 + i
		entered := c.seconds[at%courseSpan]
		if n -= entered; n <= 0 {
			part := 1.0
			if entered > 0 {
				part += n / entered
			}
			return rounds*round + max(0, float64(at)+part+round-float64(now)/float64(second))
		}
	}
	return (rounds + 1) * round
}

// nearlyAll is the part of the permits whose use must be known, when less than a minute is.
const nearlyAll = 0.9

// roundMost bounds how much longer a round of permits is taken to be than their cooling.
const roundMost = 1.05
