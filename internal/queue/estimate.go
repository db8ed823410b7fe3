package queue

import (
	"math"
	"time"

	"github.com/anteroom/anteroom"
)

// Bounds of the estimator.
const (
	// settleTime and settleExits are how long a queue must have lasted, and how many sessions must
	// have ended, before the estimate is shown without a range.
	settleTime  = 2 * time.Minute
	settleExits = 20
	// priorExits and priorBeyond are the experience a new room begins with: so many sessions that
	// stayed this long beyond the session duration.
	priorExits  = 3.0
	priorBeyond = 60.0
	// memory is the time after which an observation counts a third.
	memory = 20 * time.Minute
	// waitMax is the longest wait that is called known, as published: 24 hours.
	waitMax = 24 * time.Hour
)

// estimator learns how long a place at the origin is held and how many visitors give up waiting.
//
// The rate of admission is min(new_users_per_minute, total_active_users / hold). hold is the
// session duration plus the active seconds beyond it per ended session; sessions still running
// count, which makes it honest from the first minute on. The wait for n people ahead, some of whom
// give up at the rate theta, is ln(1 + theta n / mu) / theta.
type estimator struct {
	last   int64   // stamp of the last advance
	beyond float64 // active seconds beyond the session duration, fading
	exits  float64 // ended sessions, fading
	left   float64 // tickets that gave up, fading
	waited float64 // seconds waited by tickets, fading
	joined float64 // tickets that joined, fading
	spent  float64 // seconds observed, fading
	seen   int     // sessions ended in all
	queued int64   // stamp since when visitors wait without a pause; 0 while nobody does
}

// advance lets time pass: running sessions older than the session duration and waiting tickets age.
func (e *estimator) advance(now int64, overdue, waiting int) {
	dt := float64(now-e.last) / float64(second)
	if e.last == 0 || dt <= 0 {
		e.last = now
		return
	}
	e.last = now
	e.beyond += dt * float64(overdue)
	e.waited += dt * float64(waiting)
	e.spent += dt
	switch {
	case waiting == 0:
		e.queued = 0
	case e.queued == 0:
		e.queued = now
	}
	fade := math.Exp(-dt / memory.Seconds())
	e.beyond *= fade
	e.exits *= fade
	e.left *= fade
	e.waited *= fade
	e.joined *= fade
	e.spent *= fade
}

func (e *estimator) exit()  { e.exits++; e.seen++ }
func (e *estimator) leave() { e.left++ }
func (e *estimator) join()  { e.joined++ }

// hold is how many seconds an admission occupies a place.
func (e *estimator) hold(s Settings) float64 {
	if s.FixedSessions {
		return s.Session.Seconds()
	}
	return s.Session.Seconds() + (e.beyond+priorExits*priorBeyond)/(e.exits+priorExits)
}

// rate is how many visitors enter a second while somebody waits.
func (e *estimator) rate(s Settings) float64 {
	return min(float64(s.NewUsersPerMinute)/60, float64(s.TotalActiveUsers)/e.hold(s))
}

// rateBinds tells whether new_users_per_minute is the tighter limit.
func (e *estimator) rateBinds(s Settings) bool {
	return float64(s.NewUsersPerMinute)/60 < float64(s.TotalActiveUsers)/e.hold(s)
}

// settled tells whether the estimate is based on enough experience to stand without a range.
func (e *estimator) settled(now int64) bool {
	return e.seen >= settleExits && e.queued != 0 && now-e.queued >= settleTime.Microseconds()
}

// line estimates the wait of a visitor who is n-th in a line.
func (e *estimator) line(now int64, s Settings, n int) Estimate {
	mu := e.rate(s)
	wait := lineWait(float64(n), mu, e.theta())
	if wait > waitMax {
		return Estimate{}
	}
	if e.settled(now) {
		return Estimate{Known: true, Low: wait, Middle: wait, High: wait}
	}
	return Estimate{Known: true, Ranged: true, Low: wait * 6 / 10, Middle: wait, High: wait * 16 / 10}
}

// theta is the rate at which one waiting visitor gives up. A visitor counts as gone only after
// TicketGrace, which the seconds waited include; few observations mean none is assumed.
func (e *estimator) theta() float64 {
	if e.left < 5 || e.waited <= 0 {
		return 0
	}
	return e.left / e.waited
}

// lottery estimates the waits that 25, 50 and 75 % of n waiting visitors do not exceed.
func (e *estimator) lottery(now int64, s Settings, n int) Estimate {
	mu := e.rate(s)
	growth := 0.0 // of the crowd, per second
	if e.settled(now) && e.spent > 0 {
		growth = e.joined/e.spent - mu - e.left/e.spent
	}
	est := Estimate{
		Known:  true,
		Low:    lotteryWait(0.25, float64(n), mu, growth),
		Middle: lotteryWait(0.50, float64(n), mu, growth),
		High:   lotteryWait(0.75, float64(n), mu, growth),
	}
	if est.Middle > waitMax {
		return Estimate{}
	}
	return est
}

// of estimates by the room's method; n is the place in line, waiting the whole crowd.
func (e *estimator) of(now int64, s Settings, n, waiting int) Estimate {
	switch {
	case s.QueueAll, s.Method == anteroom.Reject, s.TotalActiveUsers == 0:
		return Estimate{}
	case s.Method == anteroom.Random:
		return e.lottery(now, s, max(waiting, 1))
	default:
		return e.line(now, s, n)
	}
}

// lineWait is the time until n visitors are gone who leave at mu a second together and at theta a
// second each. It grows without bound as mu goes to zero.
func lineWait(n, mu, theta float64) time.Duration {
	if n <= 0 {
		return 0
	}
	if mu <= 0 {
		return math.MaxInt64
	}
	if theta*n/mu < 1e-6 {
		return seconds(n / mu)
	}
	return seconds(math.Log1p(theta*n/mu) / theta)
}

// lotteryWait is the time in which one of n waiting visitors wins with the chance p, when mu win a
// second and the crowd grows by growth a second. Without growth it is the published formula,
// counted in minutes: ln(1-p) / ln(1-P), P being the chance within one minute.
func lotteryWait(p, n, mu, growth float64) time.Duration {
	switch {
	case mu <= 0:
		return math.MaxInt64
	case math.Abs(growth) < mu/1000:
		perMinute := mu * 60 / n
		if perMinute >= 1 {
			return seconds(n / mu * p)
		}
		return seconds(60 * math.Log1p(-p) / math.Log1p(-perMinute))
	default:
		// The crowd n + growth t is drained at mu: the chance to wait longer than t is
		// (1 + growth t / n)^(-mu/growth).
		return seconds(n / growth * (math.Pow(1-p, -growth/mu) - 1))
	}
}

// seconds is a duration that never overflows.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(s * 1e9)
}
