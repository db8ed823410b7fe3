package sim

import (
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// publishedWorker answers visitors. Between two synchronisations it knows nobody.
type publishedWorker struct {
	skew  time.Duration // of its clock
	fresh publishedTally
	plan  publishedPlan
	heard time.Time // by the data center
	dead  bool
}

// count notes a change of one counter until the next synchronisation. Only waiting people have a bucket.
func (w *publishedWorker) count(k publishedKind, bucket, minute publishedMinute, people int) {
	w.fresh = w.fresh.with(publishedCell{k, bucket, minute, people})
}

// synchronise tells the data center what the worker counted since the last time and makes a new plan.
func (s *publishedSystem) synchronise(c *publishedCenter, w *publishedWorker) {
	if w.dead {
		return
	}
	c.own, w.fresh = c.own.plus(w.fresh, 1), nil
	w.heard = s.e.now
	now := s.e.now.Add(w.skew)
	all := c.all()
	room := publishedRoomOf(all, now, s.room.Session)
	slots := room.slots(s.limit(), s.room.NewUsersPerMinute)
	if now.Before(s.opens) {
		slots = 0
	}
	share := publishedShareOf(c.own, all, now, len(s.centers))
	workers := c.count(s.e.now.Add(-3 * s.room.Sync))
	w.plan = publishedPlanOf(room, slots, s.random(), func(n int) int {
		return publishedPart(n, share, workers, s.e.rng.Uint64())
	})
	w.plan.rate = publishedRate(all, now, s.opens)
}

// ask is one request. A visitor whose session is over, or who did not come for too long, has lost the
// cookie and is new.
func (s *publishedSystem) ask(r request) reply {
	w := s.centers[r.center].worker(r.node)
	now, c := s.e.now.Add(w.skew), r.cookie
	if now.Before(c.seen) { // by the clock of another worker
		now = c.seen
	}
	silent := now.Sub(c.seen)
	known := !c.seen.IsZero()
	switch {
	case known && !c.accepted.IsZero() && silent < s.room.Session:
		return w.renew(c, now)
	case known && c.accepted.IsZero() && silent < publishedGrace:
		return s.checkIn(w, c, now)
	default:
		return s.welcome(w, r, now)
	}
}

// renew answers a visitor with a session.
func (w *publishedWorker) renew(c cookie, now time.Time) reply {
	if before, m := publishedMinuteOf(c.seen), publishedMinuteOf(now); before != m {
		w.count(publishedActive, 0, before, -1)
		w.count(publishedActive, 0, m, 1)
		w.count(publishedUsers, 0, m, 1)
	}
	c.seen = now
	return reply{admitted: true, cookie: c}
}

// checkIn answers a waiting visitor. Who comes before the time is told the rest, in whole seconds, and
// has no chance.
func (s *publishedSystem) checkIn(w *publishedWorker, c cookie, now time.Time) reply {
	bucket := publishedMinuteOf(c.arrival)
	if due := c.seen.Add(c.refresh); now.Before(due) {
		rest := (due.Sub(now) + time.Second - 1).Truncate(time.Second)
		return reply{cookie: c, refresh: rest, estimate: s.estimate(&w.plan, bucket)}
	}
	before := publishedMinuteOf(c.seen)
	if before != publishedMinuteOf(now) {
		w.count(publishedUsers, 0, publishedMinuteOf(now), 1)
	}
	w.count(publishedWaiting, bucket, before, -1)
	if w.plan.admits(bucket, false) {
		return s.admit(w, c, now)
	}
	return s.queue(w, c, now)
}

// welcome answers a visitor without a cookie that counts. A cookie that only names an arrival is of a
// visitor who pretends to have come then, as in the published experiment.
func (s *publishedSystem) welcome(w *publishedWorker, r request, now time.Time) reply {
	arrived := now
	if r.cookie.seen.IsZero() && !r.cookie.arrival.IsZero() {
		arrived = r.cookie.arrival
	}
	bucket := s.bucket(arrived)
	c := cookie{id: r.fresh, arrival: bucket.start()}
	w.count(publishedUsers, 0, publishedMinuteOf(now), 1)
	if w.plan.admits(bucket, true) {
		return s.admit(w, c, now)
	}
	return s.queue(w, c, now)
}

// admit begins a session.
func (s *publishedSystem) admit(w *publishedWorker, c cookie, now time.Time) reply {
	m := publishedMinuteOf(now)
	w.count(publishedActive, 0, m, 1)
	w.count(publishedAdmitted, 0, m, 1)
	c.accepted, c.seen, c.refresh = now, now, 0
	s.given = append(s.given, turn{c.id, s.e.now})
	return reply{admitted: true, entered: true, cookie: c}
}

// queue counts a visitor as waiting, from now on until the next check-in.
func (s *publishedSystem) queue(w *publishedWorker, c cookie, now time.Time) reply {
	bucket := publishedMinuteOf(c.arrival)
	w.count(publishedWaiting, bucket, publishedMinuteOf(now), 1)
	c.seen = now
	c.refresh = s.refresh.mean + time.Duration(s.e.rng.IntN(2*s.refresh.jitter+1)-s.refresh.jitter)*time.Second
	return reply{cookie: c, refresh: c.refresh, estimate: s.estimate(&w.plan, bucket)}
}

func (s *publishedSystem) estimate(p *publishedPlan, bucket publishedMinute) queue.Estimate {
	switch {
	case s.e.now.Before(s.opens):
		return queue.Estimate{}
	case s.random():
		return publishedRace(p.waiting, p.rate)
	default:
		return publishedLine(max(p.ahead(bucket), 1), p.rate)
	}
}
