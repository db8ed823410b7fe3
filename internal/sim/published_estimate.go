package sim

import (
	"math"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// publishedWaitMax is the longest wait that is called known.
const publishedWaitMax = 24 * time.Hour

// publishedWindow is over how many minutes the rate of admission is averaged, the current one included.
const publishedWindow = 3

// publishedRate is the mean number of entries a minute over the last minutes, or since the room opened.
func publishedRate(t publishedTally, now, opened time.Time) float64 {
	current := publishedMinuteOf(now)
	n := 0
	for m := current - publishedWindow + 1; m <= current; m++ {
		n += t.in(publishedAdmitted, m)
	}
	span := min(now.Sub((current - publishedWindow + 1).start()), now.Sub(opened))
	return float64(n) / max(span, time.Minute).Minutes()
}

// publishedLine estimates the wait behind so many people in order of arrival.
func publishedLine(ahead int, perMinute float64) queue.Estimate {
	wait := publishedMinutes(float64(ahead) / perMinute)
	if perMinute <= 0 || wait > publishedWaitMax {
		return queue.Estimate{}
	}
	return queue.Estimate{Known: true, Low: wait, Middle: wait, High: wait}
}

// publishedRace estimates the waits that 25, 50 and 75 % of the waiting people do not exceed, when
// each of them has the same chance in each minute.
func publishedRace(waiting int, perMinute float64) queue.Estimate {
	if perMinute <= 0 {
		return queue.Estimate{}
	}
	chance := perMinute / float64(max(waiting, 1))
	e := queue.Estimate{
		Known:  true,
		Low:    publishedRaceWait(0.25, chance),
		Middle: publishedRaceWait(0.50, chance),
		High:   publishedRaceWait(0.75, chance),
	}
	if e.Middle > publishedWaitMax {
		return queue.Estimate{}
	}
	return e
}

// publishedRaceWait is the time within which somebody with the chance in each minute enters with the
// probability p. The formula knows no chance of one or more: then everybody enters within the minute.
func publishedRaceWait(p, chance float64) time.Duration {
	if chance >= 1 {
		return publishedMinutes(p / chance)
	}
	return publishedMinutes(math.Log1p(-p) / math.Log1p(-chance))
}

// publishedMinutes is a duration that never overflows.
func publishedMinutes(m float64) time.Duration {
	if d := m * float64(time.Minute); d < math.MaxInt64 {
		return time.Duration(d)
	}
	return math.MaxInt64
}
