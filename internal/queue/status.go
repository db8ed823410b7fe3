package queue

import (
	"time"

	"github.com/anteroom/anteroom"
)

// Status tells the room's counts as this data center knows them.
func (l *Local) Status(now time.Time) Status {
	t := l.advance(now)
	s := Status{
		State:          Queueing,
		Waiting:        l.waiting(),
		Active:         l.sessions.active,
		Free:           max(0, l.idle()-l.tickets.due.len()),
		AdmittedMinute: l.permits.since(t - time.Minute.Microseconds()),
		Admitted:       l.admitted,
		Joined:         l.joined,
		Abandoned:      l.abandoned,
		Lapsed:         l.lapsed,
	}
	if l.canWalkIn(t) {
		s.State = Open
	}
	if s.Waiting > 0 {
		s.Longest = l.est.of(t, l.set, s.Waiting, s.Waiting)
		if l.set.Method != anteroom.Random && !s.Longest.Ranged {
			s.Longest.Low, s.Longest.High = s.Longest.Middle, s.Longest.Middle // nobody is told the bounds
		}
		s.OldestWait = time.Duration(l.toRoom(t)-l.oldestArrival()) * time.Microsecond
	}
	return s
}

// oldestArrival is the arrival of the first in line. In a lottery the order tells nothing about
// arrivals, so it is the arrival of whoever is next.
func (l *Local) oldestArrival() int64 {
	p, ok := l.tickets.due.first()
	for class := 0; !ok && class < ClassesMax; class++ {
		p, ok = l.tickets.lines[class].first()
	}
	if !ok {
		return l.toRoom(l.last)
	}
	return l.tickets.slab.at(p.slot).arrival
}
