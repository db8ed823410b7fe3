package queue

import "slices"

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

// ahead tells how many are before a ticket in the line of its class over all data centers: by the picture,
// less those who have entered since it was made.
func (l *Local) ahead(now int64, tk *ticket) int {
	n := before(l.ranks.points, tk.class(), tk.key)
	age := float64(max(0, l.toRoom(now)-l.ranks.at)) / float64(second)
	return max(0, n-int(age*l.est.rate(l.set)))
}

// before tells how many wait before a key by the picture of the lines.
func before(points []Rank, class uint8, key int64) int {
	lower, upper := Rank{}, Rank{}
	found := false
	for _, p := range points {
		if p.Class != class {
			continue
		}
		if p.Key > key {
			upper = p
			break
		}
		lower, found = p, true
	}
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
