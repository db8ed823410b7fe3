package sim

import "time"

// Result is what a run showed. Counts are of real people, as an observer outside the room saw them.
type Result struct {
	World World

	Visitors, Admitted, GaveUp, StillWaiting int

	OverUsers, OverRate Excess
	// Utilisation is the time average of max(active / total_active_users, entries in the last 60 s /
	// new_users_per_minute) while at least five visitors wait.
	Utilisation float64
	// LowestUse is the least use over ten seconds of waiting visitors, RecoveredIn the time from the
	// end of the last fault until use over ten seconds was back at 97 %.
	LowestUse   float64
	RecoveredIn time.Duration

	// EntryOrder compares arrivals with entries, TurnOrder with the moments at which the room decided.
	EntryOrder, TurnOrder Inversions
	// Handover is the time from turn to entry.
	HandoverMean, HandoverP95 time.Duration
	// Needless is the share of newcomers who waited over half a second although both limits had 2 %
	// to spare and nobody else waited.
	Needless float64

	// Estimates are the relative errors of shown waits by quarter of the wait.
	Estimates [4]ErrorQuantiles
	// FirstRange is the share of admitted visitors who entered within the range that they were first
	// shown after two minutes; FirstRanged counts them.
	FirstRange  float64
	FirstRanged int
	// MovedLater is the share of shown waits that moved the promised moment later by over a tenth of
	// the visitor's wait.
	MovedLater float64
	// Unexplained counts shown waits that moved what a registered visitor had been promised later by over a
	// tenth of the whole promised wait without a reason.
	Unexplained int

	// Messages and Bytes cross between data centers per second; Polls come from visitors.
	Messages, Bytes, Polls float64
	PeakEntries            int // entries in one second

	Lottery LotteryFacts

	// Passages are the visitors' arrivals and waits, in order of arrival; Series is the course of the
	// room, one point a second.
	Passages []Passage
	Series   []Point

	// Broken lists violations of invariants, at most a hundred; BrokenCount counts them all.
	Broken      []string
	BrokenCount int

	Events  int           // of the simulation
	Elapsed time.Duration // of real time
}

// Excess is how far a limit was exceeded: in the worst moment, and on average over the run.
type Excess struct {
	Max  int
	Mean float64
}

// Inversions counts pairs of visitors of whom the later arrival went first.
type Inversions struct {
	Any     float64 // share of all pairs
	Seconds float64 // share of pairs inverted by over a second
	Max     time.Duration
}

// ErrorQuantiles are the median and the 90th percentile of relative errors.
type ErrorQuantiles struct {
	Median, P90 float64
	Samples     int
}

// LotteryFacts tell whether a lottery was fair.
type LotteryFacts struct {
	ChiSquare float64 // per degree of freedom, arrival decile against rank decile; fair is 1
	// Fast, Lucky and Cookies are mean ranks in [0, 1] by strategy; fair is 0.5, and about 0.09 for the
	// best of ten cookies. A strategy that nobody has is 0.
	Fast, Lucky, Cookies float64
}

// Passage is one visitor's way.
type Passage struct {
	Arrived time.Duration // since the start of the run
	Waited  time.Duration
	Entered bool
}

// Point is the state of the room at one moment.
type Point struct {
	At      time.Duration
	Limit   int // total_active_users
	Active  int // people
	Minute  int // entries in the last 60 s
	Waiting int // people
	Slots   int // free places, as the room knows them
}

// Wait gives the wait below which the share p of the admitted visitors stayed.
func (r *Result) Wait(p float64) time.Duration { return waitQuantile(r.Passages, p) }
