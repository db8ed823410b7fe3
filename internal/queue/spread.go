package queue

import (
	"math"
	"time"
)

// Bounds of an estimate. They hold for nine of ten visitors in the worlds of docs/simulation.md.
const (
	// spreadBase is the part by which a settled estimate of a long wait is wrong in spite of everything.
	spreadBase = 0.06
	// spreadYoung is the same in the first settleTime of a queue, when nobody has seen how it moves.
	spreadYoung = 0.25
	// spreadSigmas is how many standard deviations of what is drawn by chance lie within the bounds.
	spreadSigmas = 2
	// spreadDelay is what messages and check-ins take, whatever the wait.
	spreadDelay = 5 * time.Second
	// An estimate is shown as a range while it may be wrong by over rangedPart of it and rangedLeast: pages
	// show minutes.
	rangedPart  = 0.15
	rangedLeast = time.Minute
)

// bound gives an estimate of the wait for n turns its bounds: places come free by chance, sessions last
// differently, and how long was learned from few.
func (e *estimator) bound(now int64, s Settings, est *Estimate, n float64) {
	part := math.Hypot(e.unlearned(s), e.unsteady(s, n))
	if !e.rateBinds(s) {
		part = math.Hypot(part, spreadSigmas/math.Sqrt(max(n, 1)))
	}
	if !e.settled(now) {
		part = math.Hypot(part, spreadYoung)
	}
	part = math.Hypot(part, spreadBase)
	est.Low = max(0, seconds(est.Middle.Seconds()/(1+part))-spreadDelay)
	est.High = seconds(est.Middle.Seconds()*(1+part)) + spreadDelay
	est.Ranged = !e.settled(now) || est.High-est.Middle > max(rangedLeast, seconds(rangedPart*est.Middle.Seconds()))
}

// unlearned is the part by which the rate of admission may be wrong because few sessions have ended yet.
func (e *estimator) unlearned(s Settings) float64 {
	if s.FixedSessions || e.rateBinds(s) {
		return 0
	}
	return spreadSigmas * e.beyond() / e.hold(s) / math.Sqrt(e.seen().Exits+priorExits)
}

// leaveDoubt is the part of those who give up of whom nobody knows whether they will: some come back to their
// place, and who waits for long has more patience.
const leaveDoubt = 0.4

// unsteady is the part by which the wait would be longer if fewer gave up than was learned.
func (e *estimator) unsteady(s Settings, n float64) float64 {
	mu := e.rate(s)
	wait, most := lineWait(n, mu, e.theta()), lineWait(n, mu, 0)
	if wait <= 0 || most > waitMax {
		return 0
	}
	doubt := min(1, leaveDoubt+spreadSigmas/math.Sqrt(e.seen().Left+1))
	return doubt * (most.Seconds()/wait.Seconds() - 1)
}
