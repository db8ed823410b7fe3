package dashboard

// point is one sample in 24 bytes. Seconds since 1970 fit 32 bits until the year 2106.
type point struct {
	at                                     uint32
	limit, active, free, waiting, admitted int32
}

// merged is the point that stands for both: peaks of what should be low, the low of what should be
// high, so that a short overload stays visible in a long chart. The order of merging is immaterial.
func merged(a, b point) point {
	return point{
		at:       min(a.at, b.at),
		limit:    max(a.limit, b.limit),
		active:   max(a.active, b.active),
		free:     min(a.free, b.free),
		waiting:  max(a.waiting, b.waiting),
		admitted: max(a.admitted, b.admitted),
	}
}

// ring holds the newest points in order of time, at most lenMax of them. It takes memory as it
// fills, so that a young room is small.
type ring struct {
	buf    []point
	oldest int // index in buf
	n      int
	lenMax int
}

func (r *ring) at(i int) *point { return &r.buf[(r.oldest+i)%len(r.buf)] }

// last is nil in an empty ring.
func (r *ring) last() *point {
	if r.n == 0 {
		return nil
	}
	return r.at(r.n - 1)
}

// push appends a point and drops the oldest when the ring is full.
func (r *ring) push(p point) {
	if r.n == len(r.buf) && r.n < r.lenMax {
		r.grow()
	}
	if r.n == r.lenMax {
		r.oldest = (r.oldest + 1) % len(r.buf)
		r.n--
	}
	r.n++
	*r.at(r.n - 1) = p
}

// grow makes room. The ring has never been full before, so its oldest point is the first.
func (r *ring) grow() {
	next := make([]point, min(max(16, 2*len(r.buf)), r.lenMax))
	copy(next, r.buf)
	r.buf = next
}

// cutAfter drops the points later than t.
func (r *ring) cutAfter(t uint32) {
	for r.n > 0 && r.last().at > t {
		r.n--
	}
}
