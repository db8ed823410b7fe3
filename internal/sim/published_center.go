package sim

import (
	"slices"
	"time"
)

// publishedCenter is the object of a data center. It adds up what its workers tell and knows what the
// others counted, as of its last exchange with the global object.
type publishedCenter struct {
	index   int
	workers []*publishedWorker
	own     publishedTally
	others  publishedTally
	heard   time.Time // when the report was sent whose answer others is
	cut     int       // partitions in force
}

func (c *publishedCenter) all() publishedTally { return c.own.plus(c.others, 1) }

// count is how many workers the data center knows to live: those that it heard of lately.
func (c *publishedCenter) count(since time.Time) int {
	n := 0
	for _, w := range c.workers {
		if !w.heard.Before(since) {
			n++
		}
	}
	return max(n, 1)
}

// worker is the worker that answers for a node: its own or, while that is dead, the next one that
// lives. At most half of them are ever dead.
func (c *publishedCenter) worker(node int) *publishedWorker {
	i := node % len(c.workers)
	for c.workers[i].dead {
		i = (i + 1) % len(c.workers)
	}
	return c.workers[i]
}

// publishedGlobal keeps the last report of each data center, in memory only, and tells everyone about
// all others.
type publishedGlobal struct {
	reports []publishedReport
	total   publishedTally // of the reports
	bytes   int            // of a message with every report
}

type publishedReport struct {
	sent  time.Time
	tally publishedTally
}

func newPublishedGlobal(centers int) *publishedGlobal {
	return &publishedGlobal{reports: make([]publishedReport, centers)}
}

// take replaces a data center's report by a newer one.
func (g *publishedGlobal) take(center int, r publishedReport) {
	old := g.reports[center]
	if r.sent.Before(old.sent) {
		return
	}
	g.reports[center] = r
	g.total = g.total.plus(old.tally, -1).plus(r.tally, 1)
	g.bytes += r.tally.bytes() - old.tally.bytes()
}

// others is what all other data centers counted.
func (g *publishedGlobal) others(center int) publishedTally {
	return g.total.plus(g.reports[center].tally, -1)
}

// report exchanges a data center's counters for those of the others.
func (s *publishedSystem) report(c *publishedCenter) {
	c.own = c.own.since(s.oldest())
	r := publishedReport{s.e.now, slices.Clone(c.own)}
	s.send(c, r.tally.bytes(), func() {
		if s.lost > 0 {
			return
		}
		s.global.take(c.index, r)
		others := s.global.others(c.index)
		s.send(c, s.global.bytes, func() {
			if !r.sent.Before(c.heard) {
				c.others, c.heard = others, r.sent
			}
		})
	})
}

// oldest is the minute before which nothing counts any more, with room for clocks that are wrong.
func (s *publishedSystem) oldest() publishedMinute {
	return publishedMinuteOf(s.e.now.Add(-max(s.room.Session, publishedGrace) - 2*time.Minute))
}

// send carries a message between a data center and the global object.
func (s *publishedSystem) send(c *publishedCenter, bytes int, arrive func()) {
	const envelope = 64
	s.messages++
	s.bytes += envelope + bytes
	if c.cut > 0 || s.net.lost != nil && s.net.lost() {
		return
	}
	s.e.after(s.net.delay(c.index), func() {
		if c.cut == 0 {
			arrive()
		}
	})
}
