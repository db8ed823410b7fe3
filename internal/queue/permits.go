package queue

import (
	"cmp"
	"slices"
)

// permits counts the admissions of the last permitCooling: each one's permit cools for that long
// before it may be used again, which makes the sliding window exact.
type permits struct {
	used  []cooling // oldest first, one entry a millisecond
	count int
}

type cooling struct {
	at int64 // when the permits are free again
	n  int
}

// use starts the cooling of one permit that was used at the stamp. Stamps do not fall.
func (p *permits) use(used int64) {
	p.count++
	at := coolAt(used)
	if n := len(p.used); n > 0 && p.used[n-1].at >= at {
		p.used[n-1].n++
		return
	}
	p.used = append(p.used, cooling{at, 1})
}

// extend lets the permit that was used at one stamp cool as if it had been used at a later one.
func (p *permits) extend(from, to int64) {
	at := coolAt(from)
	i, ok := slices.BinarySearchFunc(p.used, at, func(c cooling, at int64) int { return cmp.Compare(c.at, at) })
	if !ok || p.used[i].n == 0 {
		return // it has cooled, or stands in a later entry already
	}
	p.used[i].n--
	p.count--
	p.use(to)
}

// cool frees the permits whose time has come and returns how many.
func (p *permits) cool(now int64) (freed int) {
	i := 0
	for ; i < len(p.used) && p.used[i].at <= now; i++ {
		freed += p.used[i].n
	}
	p.used = p.used[i:]
	p.count -= freed
	return freed
}

// scheduleMax bounds how many entries freeAt looks at.
const scheduleMax = 256

// freeAt is when the n-th permit from now will have cooled; false when that is too far away to say.
func (p *permits) freeAt(n int) (stamp int64, ok bool) {
	for i := 0; i < len(p.used) && i < scheduleMax; i++ {
		if n -= p.used[i].n; n <= 0 {
			return p.used[i].at, true
		}
	}
	return 0, false
}

// since is how many admissions were at or after the stamp.
func (p *permits) since(stamp int64) (n int) {
	for i := len(p.used) - 1; i >= 0 && p.used[i].at >= stamp+permitCooling.Microseconds(); i-- {
		n += p.used[i].n
	}
	return n
}

// coolAt is when the permit of an admission is free again, rounded up to whole milliseconds: later
// is the safe side.
func coolAt(admitted int64) int64 {
	return (admitted + permitCooling.Microseconds() + milli - 1) / milli * milli
}
