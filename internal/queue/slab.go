package queue

// slabPage is how many entries one page of a slab holds.
const slabPage = 4096

// slab stores entries in pages, so that it grows without copying and an entry keeps its address.
// Entries hold no pointers, which keeps a million of them out of the garbage collector's way.
type slab[T any] struct {
	pages []*[slabPage]T
	free  []uint32
	used  uint32
}

func (s *slab[T]) at(slot uint32) *T { return &s.pages[slot/slabPage][slot%slabPage] }

// take gives a slot for a new entry, zeroed.
func (s *slab[T]) take() uint32 {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		var zero T
		*s.at(slot) = zero
		return slot
	}
	slot := s.used
	if slot%slabPage == 0 {
		s.pages = append(s.pages, new([slabPage]T))
	}
	s.used++
	return slot
}

func (s *slab[T]) give(slot uint32) { s.free = append(s.free, slot) }
