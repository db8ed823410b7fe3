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
	// stayed this long beyond the session duration: an ordinary visit.
	priorExits  = 3.0
	priorBeyond = 120.0
	// thetaPrior is how many seconds of waiting the prior of giving up is worth.
	thetaPrior = 10000.0
	// memory is the time after which an observation counts a third.
	memory = 20 * time.Minute
	// waitMax is the longest wait that is called known, as published: 24 hours.
	waitMax = 24 * time.Hour
)

// Experience is what a data center has seen of sessions and of waiting visitors. The sums only grow, so
// the global coordinator can add up what is new in each report.
type Experience struct {
	// Exits are sessions that ended, Beyond the seconds that sessions lasted beyond the session duration.
	Exits, Beyond float64
	// Left are visitors who gave up waiting, Waited the seconds that visitors have waited.
	Left, Waited float64
	// Joined are tickets that were registered.
	Joined float64
	// Active are sessions in force; Young of them are not yet older than the session duration, and
	// YoungLeft is how many seconds these have until then, in all.
	Active, Young int
	YoungLeft     float64
}

// since is what has come to the sums after an earlier look.
func (x Experience) since(old Experience) Experience {
	return Experience{
		Exits: max(0, x.Exits-old.Exits), Beyond: max(0, x.Beyond-old.Beyond), Left: max(0, x.Left-old.Left),
		Waited: max(0, x.Waited-old.Waited), Joined: max(0, x.Joined-old.Joined),
	}
}

// estimator learns how long a place at the origin is held and how many visitors give up waiting.
//
// The rate of admission is min(new_users_per_minute, total_active_users / hold). hold is the
// session duration plus the active seconds beyond it per ended session; sessions still running
// count, which makes it honest from the first minute on. The wait for n people ahead, some of whom
// give up at the rate theta, is ln(1 + theta n / mu) / theta.
type estimator struct {
	last   int64      // stamp of the last advance
	all    Experience // of this incarnation
	recent Experience // fading
	spent  float64    // seconds observed, fading
	queued int64      // stamp since when visitors wait without a pause; 0 while nobody does
	// prior is what earlier days have shown, worth priorExits sessions.
	prior Prior
	// room is what all data centers together have seen, when there are others.
	room   Experience
	rooms  bool
	course course
	// limits are the settings in force, lowered the stamp since when they admit fewer than before.
	limits  Settings
	lowered int64
}

// advance lets time pass: running sessions older than the session duration and waiting tickets age.
func (e *estimator) advance(now int64, overdue, waiting int) {
	dt := float64(now-e.last) / float64(second)
	if e.last == 0 || dt <= 0 {
		e.last = now
		return
	}
	e.last = now
	e.add(Experience{Beyond: dt * float64(overdue), Waited: dt * float64(waiting)})
	e.spent += dt
	switch {
	case waiting == 0:
		e.queued = 0
	case e.queued == 0:
		e.queued = now
	}
	e.fade(dt)
}

// add takes in what was seen.
func (e *estimator) add(x Experience) {
	for _, sum := range []*Experience{&e.all, &e.recent} {
		sum.Exits += x.Exits
		sum.Beyond += x.Beyond
		sum.Left += x.Left
		sum.Waited += x.Waited
		sum.Joined += x.Joined
	}
}

// fade lets old observations count less.
func (e *estimator) fade(dt float64) {
	fade := faded(int64(dt * float64(second)))
	e.recent.Exits *= fade
	e.recent.Beyond *= fade
	e.recent.Left *= fade
	e.recent.Waited *= fade
	e.recent.Joined *= fade
	e.spent *= fade
}

// faded is what an observation of some time ago counts.
func faded(age int64) float64 { return math.Exp(-float64(age) / float64(memory.Microseconds())) }

func (e *estimator) exit()  { e.add(Experience{Exits: 1}) }
func (e *estimator) leave() { e.add(Experience{Left: 1}) }
func (e *estimator) join()  { e.add(Experience{Joined: 1}) }

// comeBack takes back that a visitor has left.
func (e *estimator) comeBack() {
	e.all.Left, e.recent.Left = max(0, e.all.Left-1), max(0, e.recent.Left-1)
}

// seen is the experience that counts: that of all data centers, or one's own while that is all.
func (e *estimator) seen() Experience {
	if e.rooms {
		return e.room
	}
	return e.recent
}

// beyond is how many seconds a session lasts beyond the session duration.
func (e *estimator) beyond() float64 {
	prior := e.prior.Beyond.Seconds()
	if e.prior.Beyond == 0 {
		prior = priorBeyond
	}
	x := e.seen()
	return (x.Beyond + priorExits*prior) / (x.Exits + priorExits)
}

// hold is how many seconds an admission occupies a place.
func (e *estimator) hold(s Settings) float64 {
	if s.FixedSessions {
		return s.Session.Seconds()
	}
	return s.Session.Seconds() + e.beyond()
}

// excess is by how many admissions the room is behind the pace of the long run, because more of the
// sessions in force than usual are young: none of them can end before the session duration is over.
// After a crowd that found the room empty it is more than a quarter of all places.
func (e *estimator) excess(s Settings) float64 {
	x := e.seen()
	if x.Active == 0 || e.rateBinds(s) {
		return 0
	}
	hold, beyond := e.hold(s), e.beyond()
	if s.FixedSessions {
		beyond = 0
	}
	left := x.YoungLeft + float64(x.Active)*beyond // seconds until all places are free once
	usual := (beyond*beyond + hold*hold) / (2 * hold)
	return left/hold - float64(x.Active)*usual/hold
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
	return e.seen().Exits >= settleExits && e.queued != 0 && now-e.queued >= settleTime.Microseconds()
}

// line estimates the wait of a visitor who is n-th in a line.
func (e *estimator) line(now int64, s Settings, n int) Estimate {
	mu := e.rate(s)
	wait := lineWait(max(float64(n), float64(n)+e.excess(s)), mu, e.theta())
	if wait > waitMax {
		return Estimate{}
	}
	est := Estimate{Known: true, Middle: wait}
	e.bound(now, s, &est, float64(n))
	return est
}

// theta is the rate at which one waiting visitor gives up. Few observations mean what earlier days say.
func (e *estimator) theta() float64 {
	x := e.seen()
	if x.Left+thetaPrior*e.prior.Theta < 5 || x.Waited <= 0 {
		return e.prior.Theta
	}
	return (x.Left + thetaPrior*e.prior.Theta) / (x.Waited + thetaPrior)
}

// lottery estimates the waits that 25, 50 and 75 % of n waiting visitors do not exceed.
func (e *estimator) lottery(now int64, s Settings, n int) Estimate {
	mu := e.rate(s)
	growth := 0.0 // of the crowd, per second
	if e.settled(now) && e.spent > 0 {
		growth = e.seen().Joined/e.spent - mu - e.seen().Left/e.spent
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
