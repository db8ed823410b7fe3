package queue

import "time"

// priorDays is how many sessions the experience of earlier days is worth when it is kept: a quiet day changes
// little of it, a busy one renews it.
const priorDays = 100.0

// Prior is what earlier days have shown: how long sessions last beyond the session duration on average,
// and which part of the waiting visitors gives up a second.
type Prior struct {
	Beyond time.Duration
	Theta  float64
}

// Learned is the experience to be kept for the next start: that of earlier days and of this one. False while
// too few sessions have ended to say more than before.
func (l *Local) Learned() (Prior, bool) { return l.est.learned() }

func (e *estimator) learned() (Prior, bool) {
	if e.all.Exits < settleExits {
		return e.prior, false
	}
	weight, beyond := priorDays, e.prior.Beyond.Seconds()
	if e.prior.Beyond == 0 {
		weight, beyond = priorExits, priorBeyond
	}
	p := e.prior
	// No time at all would look like no experience.
	p.Beyond = max(time.Millisecond, seconds((e.all.Beyond+weight*beyond)/(e.all.Exits+weight)))
	if e.all.Waited > 0 {
		p.Theta = (e.all.Left + thetaPrior*e.prior.Theta) / (e.all.Waited + thetaPrior)
	}
	return p, true
}
