package queue

// wheel reminds of slots at a time. An entry is a hint: whoever takes it out checks whether its
// time has really come and puts it back otherwise, so a ticket that is seen often costs one entry
// per lifetime and not one per visit.
type wheel struct {
	grain   int64 // microseconds of one spoke
	current int64 // all spokes before this one are done
	spokes  map[int64][]uint32
	n       int
}

func newWheel(grain, now int64) wheel {
	return wheel{grain: grain, current: now / grain, spokes: map[int64][]uint32{}}
}

// add reminds of the slot at or shortly after the time: at most one grain late, never early. The
// spoke it returns tells this entry from an older one of the same slot.
func (w *wheel) add(at int64, slot uint32) (spoke int64) {
	spoke = max((at+w.grain-1)/w.grain, w.current)
	w.spokes[spoke] = append(w.spokes[spoke], slot)
	w.n++
	return spoke
}

// due takes out every entry whose time has come.
func (w *wheel) due(now int64, visit func(slot uint32, spoke int64)) {
	last := now / w.grain
	if w.n == 0 {
		w.current = max(w.current, last)
		return
	}
	for w.current <= last {
		spoke := w.current
		slots := w.spokes[spoke]
		delete(w.spokes, spoke)
		w.n -= len(slots)
		w.current++ // before the visits: what they put back belongs to a later spoke
		for _, s := range slots {
			visit(s, spoke)
		}
	}
}
