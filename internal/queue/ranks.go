package queue

import (
	"math"
	"slices"
)

// rankGrowth is how much denser the picture is at the head: from one point to the next, the tickets before
// it grow by this part. Sixty points are enough for a million.
const rankGrowth = 4

// ranksEvery is the least time between two looks at the whole lines.
const ranksEvery = second

// ranks is a rough picture of the lines over all data centers, from which each data center tells its
// visitors how many are before them. It is made anew now and then, at the cost of the seconds in
// which somebody waits.
type ranks struct {
	at     int64
	points []Rank
}

// look makes the picture anew when it is old.
func (g *Global) look(now int64) ranks {
	if len(g.centers) < 2 || now-g.ranks.at < ranksEvery {
		return g.ranks
	}
	g.ranks = ranks{at: now}
	for class := range g.lines {
		passed := 0
		for _, c := range g.centers {
			passed += c.partial[class]
		}
		g.ranks.points = g.lines[class].sketch(g.ranks.points, uint8(class), passed)
	}
	return g.ranks
}

// sketch appends how many wait before some seconds of the line. So many of the frontier's own second have
// passed: the others stand at its end. The last point is behind everybody.
func (m *merged) sketch(points []Rank, class uint8, passed int) []Rank {
	if m.waiting == 0 {
		return points
	}
	seconds := make([]int64, 0, len(m.buckets))
	for at := range m.buckets { // unordered: sorted below
		seconds = append(seconds, at)
	}
	slices.Sort(seconds)
	before, next := 0, 0
	for _, at := range seconds {
		left := 0
		for i := range m.buckets[at].by {
			left += m.left(at, m.buckets[at], i)
		}
		key := at * second
		if at == m.frontier && left > 0 {
			key += second * int64(passed) / int64(passed+left)
		}
		if before >= next {
			points = append(points, Rank{Key: key, Class: class, Before: int32(before)})
			next = before + max(1, before/rankGrowth)
		}
		before += left
	}
	return append(points, Rank{Key: (seconds[len(seconds)-1] + 1) * second, Class: class, Before: int32(before)})
}

// ahead tells how many are before a place in the line of its class over all data centers: by the picture,
// less those who have had their turn since it was made. Within one second the own tickets tell the place:
// each data center gets its part of the turns.
func (l *Local) ahead(now int64, class uint8, p place) int {
	line := &l.tickets.lines[class]
	passed := l.passed(now)
	if fresh := l.ranks.at - picturedAfter; p.key > fresh && !l.set.drawn() {
		return max(0, l.lately(line, class, fresh, line.rank(p))-passed)
	}
	lower, upper, found := around(l.ranks.points, class, p.key)
	if !found {
		return 0
	}
	if upper.Key == 0 { // behind the last point
		return max(0, int(lower.Before)-passed)
	}
	span, from := float64(upper.Before-lower.Before), 0
	if lower.Before > 0 {
		from = line.rank(place{lower.Key, 0})
	}
	own, mine := line.rank(place{upper.Key, 0})-from, line.rank(p)-from
	part := float64(p.key-lower.Key) / float64(upper.Key-lower.Key)
	if own > 0 && upper.Key-lower.Key <= second {
		part = (float64(mine) + 0.5) / float64(own)
	}
	if lower.Before == 0 { // of these, some are gone, and part is of the rest
		return int(part * max(0, span-float64(passed)))
	}
	return max(0, int(float64(lower.Before)+part*span)-passed)
}

// picturedAfter is after how much time the tickets of a second have been reported by everybody.
const picturedAfter = 2 * second

// lately is how many are before a ticket that came a moment ago, when others who came with it have not been
// reported yet: so many times the own ones as there are in the picture.
func (l *Local) lately(line *line, class uint8, fresh int64, mine int) int {
	pictured, known := before(l.ranks.points, class, fresh), line.rank(place{fresh, 0})
	times := 1.0
	if known > 0 {
		times = max(1, float64(pictured)/float64(known))
	}
	return max(min(before(l.ranks.points, class, math.MaxInt64), pictured+mine-known), pictured+int(times*float64(mine-known)))
}

// passed is how many have had their turn since the picture was made.
func (l *Local) passed(now int64) int {
	age := float64(max(0, l.toRoom(now)-l.ranks.at)) / float64(second)
	return int(age * l.est.rate(l.set))
}

// before tells how many wait before a key by the picture of the lines.
func before(points []Rank, class uint8, key int64) int {
	lower, upper, found := around(points, class, key)
	switch {
	case !found:
		return 0
	case upper.Key == 0: // behind the last point
		return int(lower.Before)
	default:
		part := float64(key-lower.Key) / float64(upper.Key-lower.Key)
		return int(float64(lower.Before) + part*float64(upper.Before-lower.Before))
	}
}

// around gives the last point up to a key and the first one after it; the zero Rank when there is none.
func around(points []Rank, class uint8, key int64) (lower, upper Rank, found bool) {
	for _, p := range points {
		if p.Class != class {
			continue
		}
		if p.Key > key {
			return lower, p, found
		}
		lower, found = p, true
	}
	return lower, Rank{}, found
}
