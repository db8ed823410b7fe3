package queue

// experience is what this data center has seen.
func (l *Local) experience(now int64) Experience {
	x := l.est.all
	x.Active, x.Young, x.YoungLeft = l.youth(now)
	return x
}

// learn keeps the estimator's picture of the sessions in force.
func (l *Local) learn(now int64) {
	x := &l.est.recent
	x.Active, x.Young, x.YoungLeft = l.youth(now)
	if l.est.rooms {
		l.est.course.hear(now, l.est.room)
	}
	l.est.limit(now, l.set)
}

// limit notes when settings admit fewer visitors than before.
func (e *estimator) limit(now int64, s Settings) {
	old := &e.limits
	if s.TotalActiveUsers < old.TotalActiveUsers || s.NewUsersPerMinute < old.NewUsersPerMinute || old.Session > 0 && s.Session > old.Session {
		e.lowered = now
	}
	old.TotalActiveUsers, old.NewUsersPerMinute, old.Session = s.TotalActiveUsers, s.NewUsersPerMinute, s.Session
}

// youth tells how many sessions are in force, how many of them are younger than the session duration,
// and how many seconds these have until then in all. Sessions that ended early are among the young
// until they would have grown up.
func (l *Local) youth(now int64) (active, young int, left float64) {
	s := &l.sessions
	young = len(s.young)
	ends := s.youngAt + int64(young)*l.set.Session.Milliseconds() // their sum, in milliseconds since the base
	return s.active, young, float64(ends-int64(young)*((now-s.base)/milli)) / 1000
}

// learned is what all data centers have seen of late; nothing when there is only one.
func (g *Global) learned() Experience {
	if len(g.centers) < 2 {
		return Experience{}
	}
	x := g.est.recent
	for _, c := range g.centers {
		x.Active += c.experience.Active
		x.Young += c.experience.Young
		x.YoungLeft += c.experience.YoungLeft
	}
	return x
}
