package queue

import "time"

// sessionState is where a session stands.
type sessionState uint8

const (
	sessionActive sessionState = iota // in force; holds a right
	sessionEnded                      // over; remembered so that its cookie cannot come back
)

// session is one admitted visitor. All times are stamps in microseconds.
type session struct {
	id       ID
	arrival  int64
	accepted int64
	seen     int64 // the last touch; of an ended session the time of the end
	told     int64 // the same in the room's time, as cookies carry it
	durable  int64 // the last touch that the journal knows
	served   int64 // the first touch: the origin has surely seen the visitor by then; 0 before it
	slack    int64 // added to the end of a restored session, whose last touches may be unknown
	spoke    int64 // of the session's entry in sessions.ends
	state    sessionState
	overdue  bool // active for longer than the session duration
}

// end is when a session is over if nobody touches it any more.
func (s *session) end(set Settings) int64 {
	from := s.seen
	if set.FixedSessions {
		from = s.accepted
	}
	return from + (set.Session + sessionMargin).Microseconds() + s.slack
}

// sessions holds the admitted visitors of a room in one data center.
type sessions struct {
	byID   map[ID]uint32
	slab   slab[session]
	ends   wheel // active sessions by their end, ended ones by the time they are forgotten
	active int

	// young are active sessions not yet older than the session duration, oldest first; overdue
	// counts the others. The estimator ages by it.
	young   []youngSession
	base    int64
	youngAt int64 // sum of the times at which these were accepted, in milliseconds since base
	overdue int
}

type youngSession struct {
	slot     uint32
	accepted int64
}

func newSessions(now int64) sessions {
	return sessions{byID: map[ID]uint32{}, ends: newWheel(20*milli, now), base: now}
}

func (s *sessions) find(id ID) (uint32, *session, bool) {
	slot, ok := s.byID[id]
	if !ok {
		return 0, nil, false
	}
	return slot, s.slab.at(slot), true
}

// begin starts a session.
func (s *sessions) begin(v session, set Settings) {
	slot := s.slab.take()
	p := s.slab.at(slot)
	*p = v
	s.byID[v.id] = slot
	s.active++
	s.young = append(s.young, youngSession{slot, v.accepted})
	s.youngAt += (v.accepted - s.base) / milli
	p.spoke = s.ends.add(p.end(set), slot)
}

// remembered is how long the ID of an ended session stays known: longer than its cookie could claim it.
func remembered(set Settings) int64 {
	return max(endedMemory, set.Session+time.Minute).Microseconds()
}

// remember notes an ID whose cookie is spent.
func (s *sessions) remember(at int64, id ID, set Settings) {
	slot := s.slab.take()
	p := s.slab.at(slot)
	*p = session{id: id, seen: at, state: sessionEnded}
	s.byID[id] = slot
	p.spoke = s.ends.add(at+remembered(set), slot)
}

// finish ends an active session and remembers it for a while.
func (s *sessions) finish(now int64, slot uint32, v *session, set Settings) {
	v.state = sessionEnded
	v.seen = now
	s.active--
	if v.overdue {
		v.overdue = false
		s.overdue--
	}
	v.spoke = s.ends.add(now+remembered(set), slot)
}

// leave forgets an active session that has gone to another data center.
func (s *sessions) leave(slot uint32, v *session) {
	s.active--
	if v.overdue {
		s.overdue--
	}
	s.forget(slot, v)
}

func (s *sessions) forget(slot uint32, v *session) {
	delete(s.byID, v.id)
	*v = session{state: sessionEnded}
	s.slab.give(slot)
}

// expire finishes every session whose end has come and forgets the ones that ended long ago.
func (s *sessions) expire(now int64, set Settings, finished func(v *session)) {
	s.ends.due(now, func(slot uint32, spoke int64) {
		v := s.slab.at(slot)
		switch {
		case v.spoke != spoke: // an entry of an earlier life of the slot
		case v.state == sessionEnded:
			s.forget(slot, v)
		case v.end(set) > now:
			v.spoke = s.ends.add(v.end(set), slot)
		default:
			s.finish(now, slot, v, set)
			finished(v)
		}
	})
}

// reschedule looks at every session anew, after the session duration has changed.
func (s *sessions) reschedule(set Settings) {
	for slot := range s.slab.used {
		if v := s.slab.at(slot); v.state == sessionActive {
			v.spoke = s.ends.add(v.end(set), slot)
		}
	}
}

// age counts the sessions that have become older than the session duration.
func (s *sessions) age(now int64, d time.Duration) {
	i := 0
	for ; i < len(s.young) && now-s.young[i].accepted >= d.Microseconds(); i++ {
		y := s.young[i]
		s.youngAt -= (y.accepted - s.base) / milli
		v := s.slab.at(y.slot)
		if v.state == sessionActive && v.accepted == y.accepted && !v.overdue {
			v.overdue = true
			s.overdue++
		}
	}
	s.young = s.young[i:]
}
