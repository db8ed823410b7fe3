package queue

import (
	"math"
	"time"

	"github.com/anteroom/anteroom"
)

// refresh is when a visitor with this estimate asks again: a sixth of the wait, so that few polls
// are needed far away from the turn and a freed place finds its owner at once near it. A fifth of
// jitter to both sides keeps crowds from asking in step. Always whole seconds.
//
// A small crowd asks every ten seconds at least: it costs nothing, people see their place fall, and a
// raised limit finds them soon. A large one is spread so that a room has refreshPerSecond polls, up to
// the longest interval.
func refresh(s Settings, e Estimate, waiting int, draw uint64) time.Duration {
	most := refreshMax
	if s.Method == anteroom.Random {
		most = refreshLottery
	}
	if !e.Known {
		return jitter(refreshUnknown, most, draw)
	}
	spread := time.Duration(waiting/refreshPerSecond) * time.Second
	most = min(most, max(refreshSmall, spread))
	return jitter(min(e.Middle/6, most), most, draw)
}

// firstRefresh is when a new visitor asks again: soon, because the first check-in registers the
// ticket and shows that the visitor keeps cookies.
func firstRefresh() time.Duration { return refreshMin }

// jitter spreads an interval and rounds it to whole seconds. It keeps the mean: the fraction of a
// second decides by chance.
func jitter(d, most time.Duration, draw uint64) time.Duration {
	spread := float64(draw>>32) / (1 << 32) // [0, 1)
	round := float64(draw&0xffffffff) / (1 << 32)
	s := math.Floor(d.Seconds()*(0.8+0.4*spread) + round)
	return min(max(time.Duration(s)*time.Second, refreshMin), most)
}
