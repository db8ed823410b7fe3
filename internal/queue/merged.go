package queue

import (
	"container/heap"
	"slices"
)

// merged is the waiting histogram over all data centers, and the frontier in it. Adding a change
// and moving the frontier cost the logarithm of the number of seconds in which somebody waits.
type merged struct {
	frontier int64
	buckets  map[int64]*bucketCounts
	next     bucketHeap // keys of buckets at or after the frontier; may hold emptied ones
	waiting  int        // sum over all buckets, less what has its turn already
	each     []int      // the same by data center
	skipped  []int      // by data center: tickets in the frontier's bucket that have their turn
}

// bucketCounts is how many tickets of one second wait in each data center.
type bucketCounts struct{ by []int }

func newMerged() merged { return merged{buckets: map[int64]*bucketCounts{}} }

// insertCenter makes room for a data center at index i.
func (m *merged) insertCenter(i int) {
	m.grow(i)
	m.each = slices.Insert(m.each, i, 0)
	m.skipped = slices.Insert(m.skipped, i, 0)
	for _, b := range m.buckets { // unordered: each bucket by itself
		if len(b.by) > i {
			b.by = slices.Insert(b.by, i, 0)
		}
	}
}

func (m *merged) grow(n int) {
	for len(m.each) < n {
		m.each = append(m.each, 0)
		m.skipped = append(m.skipped, 0)
	}
}

func (m *merged) waitingIn(i int) int {
	if i >= len(m.each) {
		return 0
	}
	return m.each[i]
}

// set says how many tickets of a second wait in a data center. What lies before the frontier has its
// turn and is not counted.
func (m *merged) set(i int, at int64, count int) {
	m.grow(i + 1)
	b := m.buckets[at]
	if at < m.frontier || b == nil && count == 0 {
		return
	}
	if b == nil {
		b = &bucketCounts{}
		m.buckets[at] = b
		heap.Push(&m.next, at)
	}
	for len(b.by) <= i {
		b.by = append(b.by, 0)
	}
	change := count - b.by[i]
	b.by[i] = count
	m.each[i] += change
	m.waiting += change
	if at != m.frontier && !slices.ContainsFunc(b.by, func(n int) bool { return n != 0 }) {
		delete(m.buckets, at) // its key in the heap finds nothing
	}
}

// clear forgets the tickets of a data center.
func (m *merged) clear(i int) {
	m.grow(i + 1)
	for _, b := range m.buckets { // unordered: each bucket by itself
		if i < len(b.by) {
			m.each[i] -= b.by[i]
			m.waiting -= b.by[i]
			b.by[i] = 0
		}
	}
	m.skip(i, 0)
}

// resume moves the frontier of a new leader to where a data center has already been told it is.
func (m *merged) resume(frontier int64) {
	m.frontier = max(m.frontier, frontier)
	for len(m.next) > 0 && m.next[0] < m.frontier {
		if b := m.buckets[m.next[0]]; b != nil {
			for i, n := range b.by {
				m.each[i] -= n
				m.waiting -= n
			}
			delete(m.buckets, m.next[0])
		}
		heap.Pop(&m.next)
	}
}

// skip says how many tickets of the frontier's own second have their turn although they are still
// counted.
func (m *merged) skip(i, n int) {
	m.grow(i + 1)
	most := 0
	if b := m.buckets[m.frontier]; b != nil && i < len(b.by) {
		most = b.by[i] // some may have left before they heard of their turn
	}
	n = min(n, most)
	m.each[i] += m.skipped[i] - n
	m.waiting += m.skipped[i] - n
	m.skipped[i] = n
}

// left is how many tickets of a bucket still wait for their turn in a data center.
func (m *merged) left(at int64, b *bucketCounts, i int) int {
	if i >= len(b.by) {
		return 0
	}
	n := b.by[i]
	if at == m.frontier {
		n -= m.skipped[i]
	}
	return max(0, n)
}

// advance gives as many turns as it can, oldest seconds first; the second in which they run out is
// shared among the data centers in proportion to who waits there.
func (m *merged) advance(turns, class int, centers []*center) {
	for turns > 0 && len(m.next) > 0 {
		at := m.next[0]
		b := m.buckets[at]
		if b == nil { // emptied
			heap.Pop(&m.next)
			continue
		}
		total := 0
		for i := range centers {
			total += m.left(at, b, i)
		}
		if at != m.frontier && total > 0 {
			m.enter(at, class, centers)
		}
		if total > turns {
			m.share(b, turns, total, class, centers)
			return
		}
		for i, c := range centers {
			c.turns += uint64(m.left(at, b, i))
		}
		turns -= total
		m.pass(at, b, class, centers)
	}
}

// enter moves the frontier to the beginning of a second.
func (m *merged) enter(at int64, class int, centers []*center) {
	m.frontier = at
	for i, c := range centers {
		c.partial[class] = 0
		m.skip(i, 0)
	}
}

// pass moves the frontier behind a second: everyone in it has their turn.
func (m *merged) pass(at int64, b *bucketCounts, class int, centers []*center) {
	for i := range b.by {
		m.each[i] -= b.by[i]
		m.waiting -= b.by[i]
	}
	delete(m.buckets, at)
	heap.Pop(&m.next)
	m.enter(max(m.frontier, at+1), class, centers)
}

// share gives the last turns to the oldest tickets of one second, so that at any time each data center has
// had its part of the turns given in this second: whoever is in the middle of the own tickets of a second is
// in the middle of all. What does not divide goes to who lacks most of its part.
func (m *merged) share(b *bucketCounts, turns, total, class int, centers []*center) {
	at := m.frontier // entered by now
	given, all, passed := 0, total, turns
	for _, c := range centers {
		all += c.partial[class]
		passed += c.partial[class]
	}
	parts, lacks := make([]int, len(centers)), make([]int, len(centers))
	for i, c := range centers {
		left := m.left(at, b, i)
		lack := (left+c.partial[class])*passed - c.partial[class]*all // of its part, times all
		parts[i] = min(max(0, lack/all), left, turns-given)
		given += parts[i]
		lacks[i] = lack - parts[i]*all
	}
	for ; given < turns; given++ {
		i := neediest(lacks, func(i int) bool { return parts[i] < m.left(at, b, i) })
		parts[i]++
		lacks[i] -= all
	}
	for i, c := range centers {
		c.turns += uint64(parts[i])
		c.partial[class] += parts[i]
		m.skip(i, m.skipped[i]+parts[i])
	}
}

// neediest is the data center that lacks most of its part, of those where anybody is left.
func neediest(lacks []int, left func(i int) bool) (best int) {
	best = -1
	for i, lack := range lacks {
		if left(i) && (best < 0 || lack > lacks[best]) {
			best = i
		}
	}
	return best
}

// bucketHeap is a heap of seconds.
type bucketHeap []int64

func (h bucketHeap) Len() int           { return len(h) }
func (h bucketHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h bucketHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a second.
func (h *bucketHeap) Push(x any) {
	if at, ok := x.(int64); ok {
		*h = append(*h, at)
	}
}

// Pop takes the last one.
func (h *bucketHeap) Pop() any {
	old := *h
	at := old[len(old)-1]
	*h = old[:len(old)-1]
	return at
}
