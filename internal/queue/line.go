package queue

import (
	"cmp"
	"slices"
)

// chunkMax is how many places one chunk of a line holds. It bounds the copying that an insertion
// or a removal in the middle costs.
const chunkMax = 512

// place is one ticket's place in a line: its key, and its slot in the slab.
type place struct {
	key  int64
	slot uint32
}

// line keeps tickets in order of their keys and knows each one's rank. All operations cost the
// logarithm of the line plus at most one chunk, so a place in a line of a million is found as fast
// as in a line of a thousand.
//
// It is a sorted list cut into chunks, with a Fenwick tree over the chunks' lengths. Newcomers
// append at the end and the first in line leave from the front, so chunks are nearly always full.
type line struct {
	firsts []int64  // the first key of each chunk, kept apart so that a search stays in few cache lines
	chunks []*chunk // none is empty
	tree   []int32  // Fenwick tree over the chunks' lengths
	n      int
	// tie puts two slots of the same key in order; nil goes by the slots.
	tie func(a, b uint32) int
}

// compare is the order of places.
func (l *line) compare(a, b place) int {
	switch {
	case a.key != b.key:
		return cmp.Compare(a.key, b.key)
	case l.tie == nil || a.slot == b.slot:
		return cmp.Compare(a.slot, b.slot)
	default:
		return l.tie(a.slot, b.slot)
	}
}

// chunk holds places in order, keys and slots apart to save the padding.
type chunk struct {
	keys  []int64
	slots []uint32
}

func newChunk() *chunk {
	return &chunk{keys: make([]int64, 0, chunkMax), slots: make([]uint32, 0, chunkMax)}
}

// find gives the index of p in a chunk, or where it belongs.
func (l *line) find(c *chunk, p place) (int, bool) {
	lo, hi := 0, len(c.keys)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if l.compare(place{c.keys[mid], c.slots[mid]}, p) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(c.keys) && c.keys[lo] == p.key && c.slots[lo] == p.slot
}

func (c *chunk) insert(i int, p place) {
	c.keys = slices.Insert(c.keys, i, p.key)
	c.slots = slices.Insert(c.slots, i, p.slot)
}

func (c *chunk) remove(i int) {
	c.keys = slices.Delete(c.keys, i, i+1)
	c.slots = slices.Delete(c.slots, i, i+1)
}

// split moves the upper half into a new chunk.
func (c *chunk) split() *chunk {
	half := len(c.keys) / 2
	upper := newChunk()
	upper.keys = append(upper.keys, c.keys[half:]...)
	upper.slots = append(upper.slots, c.slots[half:]...)
	c.keys, c.slots = c.keys[:half], c.slots[:half]
	return upper
}

// len is how many tickets are in line.
func (l *line) len() int { return l.n }

// chunkOf gives the chunk that holds, or would hold, the place.
func (l *line) chunkOf(p place) int {
	i, _ := slices.BinarySearch(l.firsts, p.key)
	// Places of equal key may begin in the chunk before the one whose first key equals it.
	for i > 0 && (i == len(l.chunks) || l.compare(l.at(i, 0), p) > 0) {
		i--
	}
	for i+1 < len(l.chunks) && l.compare(l.at(i+1, 0), p) <= 0 {
		i++
	}
	return i
}

func (l *line) at(chunk, i int) place {
	c := l.chunks[chunk]
	return place{c.keys[i], c.slots[i]}
}

// insert puts a place into the line. The same place must not be in it.
func (l *line) insert(p place) {
	l.n++
	if len(l.chunks) == 0 {
		l.addChunk(0, newChunk())
	}
	i := l.chunkOf(p)
	c := l.chunks[i]
	if len(c.keys) == chunkMax {
		i, c = l.makeRoom(i, p)
	}
	j, _ := l.find(c, p)
	c.insert(j, p)
	l.firsts[i] = c.keys[0]
	l.add(i, 1)
}

// makeRoom splits a full chunk, or opens a new one behind the last when the place comes after all
// others, so that a growing line has full chunks.
func (l *line) makeRoom(i int, p place) (int, *chunk) {
	c := l.chunks[i]
	if i == len(l.chunks)-1 && l.compare(l.at(i, chunkMax-1), p) < 0 {
		l.addChunk(i+1, newChunk())
		return i + 1, l.chunks[i+1]
	}
	l.addChunk(i+1, c.split())
	if l.compare(l.at(i+1, 0), p) <= 0 {
		i++
	}
	return i, l.chunks[i]
}

// remove takes a place out and tells whether it was there.
func (l *line) remove(p place) bool {
	if l.n == 0 {
		return false
	}
	i := l.chunkOf(p)
	c := l.chunks[i]
	j, ok := l.find(c, p)
	if !ok {
		return false
	}
	c.remove(j)
	l.n--
	if len(c.keys) == 0 {
		l.dropChunk(i)
		return true
	}
	l.firsts[i] = c.keys[0]
	l.add(i, -1)
	return true
}

// rank is how many places are before p.
func (l *line) rank(p place) int {
	if l.n == 0 {
		return 0
	}
	i := l.chunkOf(p)
	j, _ := l.find(l.chunks[i], p)
	return l.before(i) + j
}

// first is the place at the front.
func (l *line) first() (place, bool) {
	if l.n == 0 {
		return place{}, false
	}
	return l.at(0, 0), true
}

// all yields the places in order.
func (l *line) all(yield func(place) bool) {
	for i, c := range l.chunks {
		for j := range c.keys {
			if !yield(l.at(i, j)) {
				return
			}
		}
	}
}

func (l *line) addChunk(i int, c *chunk) {
	first := int64(0)
	if len(c.keys) > 0 {
		first = c.keys[0]
	}
	l.chunks = slices.Insert(l.chunks, i, c)
	l.firsts = slices.Insert(l.firsts, i, first)
	l.rebuild()
}

func (l *line) dropChunk(i int) {
	l.chunks = slices.Delete(l.chunks, i, i+1)
	l.firsts = slices.Delete(l.firsts, i, i+1)
	l.rebuild()
}

// rebuild makes the tree anew. It happens once per half a chunk of changes at most.
func (l *line) rebuild() {
	l.tree = slices.Grow(l.tree[:0], len(l.chunks)+1)[:len(l.chunks)+1]
	clear(l.tree)
	for i, c := range l.chunks {
		l.tree[i+1] += int32(len(c.keys))
		if up := (i + 1) + (i+1)&-(i+1); up < len(l.tree) {
			l.tree[up] += l.tree[i+1]
		}
	}
}

// add changes the length of one chunk in the tree.
func (l *line) add(chunk int, by int32) {
	for i := chunk + 1; i < len(l.tree); i += i & -i {
		l.tree[i] += by
	}
}

// before is how many places the chunks before this one hold.
func (l *line) before(chunk int) int {
	sum := int32(0)
	for i := chunk; i > 0; i -= i & -i {
		sum += l.tree[i]
	}
	return int(sum)
}
