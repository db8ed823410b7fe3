package queue

import (
	"math"
	"time"

	"github.com/anteroom/anteroom"
)

// Reason says why a visitor is promised a later moment than before.
type Reason uint8

// The reasons. A promise moves later for no other.
const (
	// ReasonNone tells that the promise holds.
	ReasonNone Reason = iota
	// ReasonSettings: the operator admits fewer visitors than before, or for longer.
	ReasonSettings
	// ReasonSlower: visitors stay longer at the origin than it looked before, so places come free more
	// slowly.
	ReasonSlower
	// ReasonAhead: more visitors are before this one than was known: some came back to their place, have a
	// higher priority, or came elsewhere a moment earlier.
	ReasonAhead
)

// String is the reason as the JSON object has it; empty for none.
func (r Reason) String() string {
	return [...]string{"", "settings", "visits", "ahead"}[r]
}

// promise is what a visitor was told last.
type promise struct {
	at     uint32 // the moment of entry, in tenths of a second as ticket.seen; 0 for none
	pace   uint16 // the rate of admission that it was reckoned with; see paceOf
	reason Reason // why it is later than an earlier one
}

// Bounds of promises.
const (
	// promiseSlack is the part of the whole wait by which an estimate may be later than the promise without a
	// word, and promiseLeast the least that counts: pages show minutes.
	promiseSlack = 0.1
	promiseLeast = 10 * time.Second
	// paceSlack is the part by which the rate of admission may be lower without being the reason.
	paceSlack = 0.03
	// settingsMemory is for how long changed settings explain a lower rate.
	settingsMemory = 5 * time.Minute
	// promiseTrust is the least part of the estimate that a kept promise may be: below it, keeping it would be
	// a lie, and the room is slower than it looked.
	promiseTrust = 0.5
)

// shown is the wait that the visitor reads as a promise: the end of a range.
func (e *Estimate) shown() time.Duration {
	if e.Ranged {
		return e.High
	}
	return e.Middle
}

// keep compares an estimate with what the visitor of a ticket was promised. One that is later by over a tenth
// of the whole wait needs a reason; without one the promise stands. note makes the ticket remember it.
func (l *Local) keep(now int64, e *Estimate, tk *ticket, turns int, note bool) {
	p := tk.promise
	switch {
	case l.set.Method == anteroom.Random:
		return
	case !e.Known:
		p = promise{} // the visitor is told that nothing is promised any more
	case p.at == 0:
		p = promise{at: l.tenths(now + e.shown().Microseconds()), pace: paceOf(l.est.rate(l.set))}
	default:
		left := time.Duration(l.fromTenths(p.at)-now) * time.Microsecond
		whole := float64(l.fromTenths(p.at)-l.fromRoom(tk.arrival)) / float64(second)
		slack := max(promiseLeast, seconds(promiseSlack*whole))
		if e.shown() > left+slack {
			p = l.moveLater(now, e, p, turns, left+slack)
		}
		if at := l.tenths(now + e.shown().Microseconds()); at < p.at {
			p.at, p.pace = at, paceOf(l.est.rate(l.set))
		}
		e.Reason = p.reason
	}
	if note {
		tk.promise = p
	}
}

// moveLater finds the reason why an estimate is above the most that keeps a promise, or bounds it.
func (l *Local) moveLater(now int64, e *Estimate, p promise, turns int, most time.Duration) promise {
	var reason Reason
	pace := p.rate()
	switch {
	case l.est.rate(l.set) < (1-paceSlack)*pace && l.est.lowered != 0 && now-l.est.lowered < settingsMemory.Microseconds():
		reason = ReasonSettings
	case l.est.rate(l.set) < (1-paceSlack)*pace:
		reason = ReasonSlower
	case lineWait(float64(turns), pace, l.est.theta()) > most:
		reason = ReasonAhead
	case most < seconds(promiseTrust*e.Middle.Seconds()):
		reason = ReasonSlower
	default:
		e.Middle, e.Low = min(e.Middle, most), min(e.Low, most)
		if e.Ranged {
			e.High = most
		}
		return p
	}
	return promise{at: l.tenths(now + e.shown().Microseconds()), pace: paceOf(l.est.rate(l.set)), reason: reason}
}

// paceOf stores a rate a second in two bytes, to less than a thousandth.
func paceOf(rate float64) uint16 {
	return uint16(min(max(0, (math.Log2(max(rate, 1e-9))+paceZero)*paceGrain), math.MaxUint16))
}

// rate is the stored rate.
func (p *promise) rate() float64 { return math.Exp2(float64(p.pace)/paceGrain - paceZero) }

// The stored logarithm begins at 2^-paceZero and has paceGrain steps for each doubling.
const (
	paceZero  = 30
	paceGrain = 1024
)
