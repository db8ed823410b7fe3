package queue

import "time"

// advance lets time pass until now: sessions end, permits cool, absent tickets go, unclaimed turns
// lapse. Its cost is that of what changed.
func (l *Local) advance(now time.Time) int64 {
	t := l.stamp(now)
	if t-l.advanced < milli {
		return t
	}
	l.advanced = t
	l.est.advance(t, l.sessions.overdue, l.waiting())
	l.sessions.age(t, l.set.Session)
	l.sessions.expire(t, l.set, func(s *session) { l.afterSession(t, s) })
	if freed := l.permits.cool(t); freed > 0 {
		l.permit.used -= freed
		l.report.changed = true
	}
	l.giveBack()
	l.tickets.lost.due(t, func(slot uint32, spoke int64) { l.loseOrWait(t, slot, spoke) })
	l.tickets.lapses.due(t, func(slot uint32, _ int64) { l.maybeLapse(t, slot) })
	return t
}

// afterSession frees what an ended session held. The journal learns of the end before anybody else gets
// the place, so that a restart does not bring the session back.
func (l *Local) afterSession(now int64, s *session) {
	l.rights.used--
	l.est.exit()
	l.report.changed = true
	l.record(Record{Kind: RecordEnd, ID: s.id, At: now})
}

// giveBack returns what is called back as soon as it is idle, and reports it soon: somebody waits for it.
func (l *Local) giveBack() {
	rights, permits := l.rights.give(), l.permit.give()
	l.report.urgent = l.report.urgent || rights || permits
}

// loseOrWait gives up a ticket that was not seen for TicketGrace, or looks again later.
func (l *Local) loseOrWait(now int64, slot uint32, spoke int64) {
	t := l.tickets.slab.at(slot)
	if t.spoke != uint16(spoke) || t.id.IsZero() {
		return
	}
	if end := l.fromTenths(t.seen) + TicketGrace.Microseconds(); end > now {
		t.spoke = uint16(l.tickets.lost.add(end, slot))
		return
	}
	l.record(Record{Kind: RecordEnd, ID: t.id, At: now})
	l.letGo(t)
	l.tickets.drop(slot, t)
	l.abandoned++
	l.est.leave()
	l.report.changed = true
}

// maybeLapse lets an unclaimed turn go to the next in line. The ticket keeps its place.
func (l *Local) maybeLapse(now int64, slot uint32) {
	t := l.tickets.slab.at(slot)
	if t.id.IsZero() || t.state != ticketDue || l.fromTenths(t.until) > now {
		return
	}
	if !l.absent(now, t) && l.tickets.due.rank(place{t.key, slot}) >= l.idle() {
		// The turn could not have been claimed: no right was at hand. Look again later.
		l.remind(now, slot, t)
		return
	}
	l.lapse(slot, t)
}

// absent tells that a visitor has not asked when it was time to.
func (l *Local) absent(now int64, t *ticket) bool {
	return l.fromTenths(t.next)+TurnGrace.Microseconds() <= now
}

func (l *Local) lapse(slot uint32, t *ticket) {
	l.tickets.move(slot, t, ticketLapsed)
	l.lapsed++
	l.report.changed = true
}

// Tick lets time pass when nobody asks.
func (l *Local) Tick(now time.Time) { l.advance(now) }

// ReportDue tells whether the coordinator has something to report now.
func (l *Local) ReportDue(now time.Time) bool {
	t := l.stamp(now)
	since := time.Duration(t-l.report.at) * time.Microsecond
	switch {
	case l.report.full:
		return !l.report.sent || since >= l.cfg.Pace.Surplus // it is repeated until it is acknowledged
	case l.report.urgent && since >= l.cfg.Pace.Urgent:
		return true
	case l.surplus() && since >= l.cfg.Pace.Surplus:
		return true
	case l.report.changed || l.waiting() > 0:
		return since >= l.cfg.Pace.Report
	default:
		return since >= l.cfg.Pace.Idle
	}
}

// surplus tells that rights are idle which nobody due will take, while others wait; or that due
// visitors lack rights.
func (l *Local) surplus() bool {
	idle, need := l.idle(), l.tickets.due.len()
	return l.tickets.line.len() > 0 && idle > need || need > idle
}

// Report tells the global coordinator what changed since the last report.
func (l *Local) Report(now time.Time) Report {
	t := l.advance(now)
	l.report.seq++
	r := Report{
		DataCenter: l.cfg.DataCenter, Incarnation: l.cfg.Incarnation, Epoch: l.epoch, Seq: l.report.seq,
		Full: l.report.full, GrantSeen: l.granted,
		Rights: l.rights.account(), Permits: l.permit.account(),
		Need: l.tickets.due.len(), TurnsSeen: l.turns,
		Order: l.order, Frontier: l.frontier, Partial: l.partial,
		Newcomers: l.report.newcomers, Admitted: l.admitted,
	}
	r.Buckets = l.tickets.changes(l.report.full)
	l.report = reporting{seq: l.report.seq, at: t, full: r.Full, sent: r.Full, fullSeq: l.report.fullSeq}
	if r.Full {
		l.report.fullSeq = r.Seq
	}
	return r
}

// Grant applies what the global coordinator decided. An old or foreign grant changes nothing.
func (l *Local) Grant(now time.Time, g Grant) {
	t := l.advance(now)
	if g.Epoch < l.epoch || g.Epoch == l.epoch && g.Seq <= l.granted {
		return
	}
	if l.report.sent && g.ReportSeen >= l.report.fullSeq {
		l.report.full, l.report.sent = false, false
	}
	if g.Epoch > l.epoch {
		l.report.full, l.report.sent = true, false
	}
	l.epoch, l.granted, l.others = g.Epoch, g.Seq, g.Others
	l.tickets.acknowledge(g.ReportSeen)
	l.rights.grant(g.Rights, g.RightsMax)
	l.permit.grant(g.Permits, g.PermitsMax)
	l.giveBack()
	if g.Order == l.order {
		l.turns = g.Turns
		l.moveFrontier(t, g)
	}
}

// moveFrontier gives their turn to the tickets before the frontier, and to the oldest of its own
// second. Partial is cumulative for one frontier, so a lost or repeated grant changes nothing.
func (l *Local) moveFrontier(now int64, g Grant) {
	if g.Frontier < l.frontier {
		return
	}
	more := g.Partial
	if g.Frontier == l.frontier {
		more -= l.partial
	}
	before := l.dueKey
	l.frontier, l.partial = g.Frontier, g.Partial
	for {
		p, ok := l.tickets.line.first()
		if !ok || bucketOf(p.key) > g.Frontier {
			break
		}
		if bucketOf(p.key) == g.Frontier {
			if more <= 0 {
				break
			}
			more--
		}
		l.dueKey = max(l.dueKey, p.key)
		l.callUp(now, p.slot)
	}
	if l.dueKey != before {
		l.report.changed = true
		l.record(Record{Kind: RecordTurn, Key: l.dueKey, Order: l.order, At: now})
	}
}

// callUp gives a ticket its turn. One whose visitor is overdue for a check-in is passed over at
// once: no right waits for who has left, and the place is kept all the same.
func (l *Local) callUp(now int64, slot uint32) {
	t := l.tickets.slab.at(slot)
	l.tickets.move(slot, t, ticketDue)
	if l.absent(now, t) {
		l.lapse(slot, t)
		return
	}
	l.remind(now, slot, t)
}

// wake lists the held visitors who may enter now.
func (l *Local) wake() {
	n := l.idle()
	if l.held == 0 || l.set.QueueAll || l.rejects() {
		return
	}
	for p := range l.tickets.due.all {
		if n--; n < 0 {
			return
		}
		l.letGo(l.tickets.slab.at(p.slot))
	}
}
