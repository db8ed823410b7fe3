package sim

import (
	"math"
	"math/bits"
)

// publishedPart is a worker's part of the slots: the data center's share of them, by the number of its
// workers. A fraction becomes a whole slot with its own probability, so that small parts do not
// vanish; draw decides.
func publishedPart(slots int, s publishedShare, workers int, draw uint64) int {
	if slots <= 0 || s.users <= 0 {
		return 0
	}
	whole := uint64(slots) * uint64(s.users)
	among := uint64(s.of) * uint64(max(workers, 1))
	up, _ := bits.Mul64(draw, among) // evenly from 0 to among - 1
	if up < whole%among {
		return int(whole/among) + 1
	}
	return int(whole / among)
}

// What follows was published later: slots that history gives to nobody are open to workers anywhere,
// and the fewer people are active, the fewer workers are thought to compete. It is arithmetic for
// comparison; rooms of the simulation run the first version.

// publishedAnywhere is how many users of a past minute belong to no data center's share, when shares
// are taken of the limit.
func publishedAnywhere(limit int, users ...int) int {
	for _, n := range users {
		limit -= n
	}
	return max(limit, 0)
}

// publishedUtilisation is the factor by which the number of competing workers shrinks in a room that
// is little used. The curve makes it fall more steeply.
func publishedUtilisation(active, total int, curve float64) float64 {
	return math.Pow(min(1, float64(active)/float64(total)), curve)
}

// publishedAdapted is the even part of one of so many workers by utilisation. At least one worker
// competes: itself.
func publishedAdapted(slots, workers int, utilisation float64) int {
	return int(math.Round(float64(slots) / max(1, float64(workers)*utilisation)))
}

// publishedEven is the part of one of so many workers when all have the same.
func publishedEven(slots, workers int) int { return publishedAdapted(slots, workers, 1) }

// publishedCounter is one counter that all workers of a data center ask.
type publishedCounter struct{ budget, value int }

// take gives the value before it and counts one more; below the budget the caller may enter.
func (c *publishedCounter) take() (value int, enters bool) {
	value = c.value
	c.value++
	return value, value < c.budget
}
