package demo

import (
	"math"
	"math/rand/v2"
	"time"
)

// Bounds and times of the visitors.
const (
	aliveMax       = 64 // visitors at one time, also when an operator opens the room wide
	connectionsMax = 32 // to the listener, all visitors together

	arrivalTick = 250 * time.Millisecond
	opening     = 36 // visitors that come at once, so that a line stands before a person has clicked
	openingTime = 2 * time.Second

	// The line that visitors still join goes up and down in waves; who sees a longer one turns back.
	lineMiddle  = 20
	lineSwing   = 6
	wavePeriod  = 3 * time.Minute
	arrivalRate = 1.4 // visitors a second while the line is short enough

	// A stay and the rest of the session after it decide how soon a place is free again: see Room.
	stayMin, stayMax         = 15 * time.Second, 70 * time.Second
	thinkMin, thinkMax       = 2 * time.Second, 8 * time.Second
	impatientShare           = 0.04
	patienceMin, patienceMax = 20 * time.Second, 70 * time.Second
	jsonShare                = 0.25 // visitors with an app
	orderShare               = 0.3  // visitors who order at the end, which frees their place at once
)

// arrivals is how many come in the tick that begins at this time after the start, while so many
// already wait. draw is uniform in [0, 1).
func arrivals(since time.Duration, waiting int, draw float64) int {
	if since < openingTime {
		ticks := int(openingTime / arrivalTick)
		return opening*int(since/arrivalTick+1)/ticks - opening*int(since/arrivalTick)/ticks
	}
	wave := math.Sin(2 * math.Pi * float64(since) / float64(wavePeriod))
	if float64(waiting) >= lineMiddle+lineSwing*wave || draw >= arrivalRate*arrivalTick.Seconds() {
		return 0
	}
	return 1
}

// intent is what one visitor means to do.
type intent struct {
	json bool
	// patience ends a wait; zero is endless.
	patience time.Duration
	stay     time.Duration
	orders   bool
}

func drawIntent(rng *rand.Rand) intent {
	in := intent{json: rng.Float64() < jsonShare, stay: between(rng, stayMin, stayMax)}
	in.orders = !in.json && rng.Float64() < orderShare
	if rng.Float64() < impatientShare {
		in.patience = between(rng, patienceMin, patienceMax)
	}
	return in
}

func between(rng *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(rng.Int64N(int64(high-low)))
}
