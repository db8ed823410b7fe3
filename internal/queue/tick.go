package queue

import (
	"math"
	"time"
)

// advance lets time pass until now: sessions end, permits cool, absent tickets go, unclaimed turns
// lapse. Its cost is that of what changed.
func (l *Local) advance(now time.Time) int64 {
	t := l.stamp(now)
	if t-l.advanced < milli {
		return t
	}
	l.advanced = t
	l.est.advance(t, l.sessions.overdue, l.present())
	l.sessions.age(t, l.set.Session)
	l.learn(t)
	l.sessions.expire(t, l.set, func(s *session) { l.afterSession(t, s) })
	if freed := l.permits.cool(t); freed > 0 {
		l.permit.used -= freed
		l.report.changed, l.report.freed = true, true
	}
	l.uncovered(t)
	l.release(t)
	l.giveBack(t)
	l.tickets.lost.due(t, func(slot uint32, spoke int64) { l.lookAfter(t, slot, spoke) })
	l.tickets.lapses.due(t, func(slot uint32, _ int64) { l.maybeLapse(t, slot) })
	if l.alone(t) {
		l.serveOwn(t)
	}
	return t
}

// release ends the quarantine of what an earlier incarnation held, when the last of its sessions must be
// over and the last of its permits must have cooled.
func (l *Local) release(now int64) {
	if l.rights.quarantined > 0 && !l.forgetful(now) {
		l.rights.quarantined = 0
		l.report.changed = true
	}
	if l.permit.quarantined > 0 && now >= coolAt(l.forgot) {
		l.permit.quarantined = 0
		l.report.changed = true
	}
}

// afterSession frees what an ended session held. The journal learns of the end before anybody else gets
// the place, so that a restart does not bring the session back.
func (l *Local) afterSession(now int64, s *session) {
	l.rights.used--
	l.est.exit()
	l.moves.uncover(s.id)
	l.report.changed, l.report.freed = true, true
	l.record(Record{Kind: RecordEnd, ID: s.id, At: now})
}

// giveBack returns what is called back as soon as it is idle, and reports it soon: somebody waits for it.
// While visitors wait in other data centers, everything goes back that nobody due will take: it returns
// with the next turn. A data center that is cut off keeps what it has.
func (l *Local) giveBack(now int64) {
	keepRights, keepPermits := math.MaxInt, math.MaxInt
	if l.queue && !l.spare && !l.alone(now) {
		keepRights, keepPermits = l.tickets.due.len(), l.tickets.due.len()
	}
	called := l.rights.held() > l.rights.most || l.permit.held() > l.permit.most
	rights, permits := l.rights.give(keepRights), l.permit.give(keepPermits)
	l.report.changed = l.report.changed || rights || permits
	l.report.urgent = l.report.urgent || called && (rights || permits)
}

// lookAfter gives up a ticket that was not seen for TicketGrace, and notes one whose visitor has not
// asked when it was time to; else it looks again later.
func (l *Local) lookAfter(now int64, slot uint32, spoke int64) {
	t := l.tickets.slab.at(slot)
	if t.spoke != uint16(spoke) || t.id.IsZero() {
		return
	}
	if l.fromTenths(t.seen)+TicketGrace.Microseconds() <= now {
		l.lose(now, slot, t)
		return
	}
	if l.absent(now, t) && !t.absent() {
		l.tickets.miss(t)
		l.est.leave()
		l.report.changed, l.report.freed = true, true
	}
	l.watch(slot, t)
}

// watch sets the time at which a ticket is looked after.
func (l *Local) watch(slot uint32, t *ticket) {
	at := l.fromTenths(t.seen) + TicketGrace.Microseconds()
	if !t.absent() {
		at = min(at, l.fromTenths(t.next)+TurnGrace.Microseconds())
	}
	t.spoke = uint16(l.tickets.lost.add(at, slot))
}

func (l *Local) lose(now int64, slot uint32, t *ticket) {
	l.record(Record{Kind: RecordEnd, ID: t.id, At: now})
	l.letGo(t)
	l.tickets.drop(slot, t)
	l.abandoned++
	l.report.changed, l.report.freed = true, true
}

// maybeLapse lets an unclaimed turn go to the next in line. The ticket keeps its place.
func (l *Local) maybeLapse(now int64, slot uint32) {
	t := l.tickets.slab.at(slot)
	if t.id.IsZero() || !t.state.called() || l.fromTenths(t.until) > now {
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
	l.report.changed, l.report.freed = true, true
}

// Tick lets time pass when nobody asks.
func (l *Local) Tick(now time.Time) { l.advance(now) }

// ReportDue tells whether the coordinator has something to report now.
func (l *Local) ReportDue(now time.Time) bool {
	t := l.stamp(now)
	since := time.Duration(t-l.report.at) * time.Microsecond
	switch {
	case l.report.full:
		return !l.report.sent || since >= l.cfg.Pace.Report // it is repeated until it is acknowledged
	case l.report.urgent && since >= l.cfg.Pace.Urgent:
		return true
	case l.surplus() && since >= l.cfg.Pace.Surplus:
		return true
	case l.report.changed || l.present() > 0 || l.queue:
		return since >= l.cfg.Pace.Report
	default:
		return since >= l.cfg.Pace.Idle
	}
}

// surplus tells that rights became free which nobody due will take, while others wait; or that due
// visitors lack rights. What was reported once is not reported again.
func (l *Local) surplus() bool {
	lack := l.lack()
	return l.report.freed && (l.tickets.present() > 0 || l.queue) || lack > 0 && lack != l.report.lack
}

// lack is how many due visitors find no right.
func (l *Local) lack() int { return max(0, l.tickets.due.len()-l.idle()) }

// Report tells the global coordinator what changed since the last report.
func (l *Local) Report(now time.Time) Report {
	t := l.advance(now)
	l.report.seq++
	r := Report{
		DataCenter: l.cfg.DataCenter, Incarnation: l.cfg.Incarnation, Epoch: l.epoch, Seq: l.report.seq,
		Full: l.report.full, GrantSeen: l.granted,
		Rights: l.rights.account(), Permits: l.permit.account(),
		Need: l.tickets.due.len(), TurnsSeen: l.turns,
		Refused: l.lack(), Settled: l.settled,
		Sent: t, Shift: l.time.shift, Synced: l.time.known,
		Order: l.order, Marks: l.marks,
		Moved: tell(l.moves.taken, l.report.seq), Released: tell(l.moves.released, l.report.seq), NoticesSeen: l.moves.noticesSeen,
		Newcomers: l.report.newcomers, Admitted: l.admitted, Experience: l.experience(t),
	}
	if p, ok := l.tickets.due.first(); ok {
		r.Oldest = p.key
	}
	r.Buckets = l.tickets.changes(l.report.full)
	old := l.report
	l.report = reporting{
		seq: old.seq, at: t, full: r.Full, sent: r.Full, fullSeq: old.fullSeq,
		unanswered: old.unanswered, asked: old.asked, lack: l.lack(), idle: l.idle(),
	}
	if r.Full && !old.sent { // those after it are full, too, until one is acknowledged
		l.report.fullSeq = r.Seq
	}
	if old.unanswered == 0 {
		l.report.unanswered, l.report.asked = t, r.Seq
	}
	return r
}

// callUp gives a ticket its turn. One whose visitor is overdue for a check-in is passed over at
// once: no right waits for who has left, and the place is kept all the same.
func (l *Local) callUp(now int64, slot uint32) {
	t := l.tickets.slab.at(slot)
	l.trace(t.id)
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
		t := l.tickets.slab.at(p.slot)
		if !l.turn(p.slot, t) {
			continue // what is idle is kept for others
		}
		if n--; n < 0 {
			return
		}
		l.letGo(t)
	}
}
