package queue

import (
	"time"

	"github.com/anteroom/anteroom"
)

// Grant applies what the global coordinator decided. A grant for another incarnation, of a leader that
// was deposed, or an old one changes nothing.
func (l *Local) Grant(now time.Time, g Grant) {
	t := l.advance(now)
	if g.Epoch > l.epoch {
		l.follow(g.Epoch)
	}
	if g.Epoch < l.epoch || g.Announces() || g.Incarnation != l.cfg.Incarnation || g.Seq <= l.granted {
		return
	}
	l.receive(t, g)
	l.rights.grant(g.Rights, g.RightsMax)
	l.permit.grant(g.Permits, g.PermitsMax)
	if !l.settled {
		l.settled = true
		l.inherit(t, g)
	}
	l.heed(t, g.Notices)
	if g.Order > l.order && g.Order&1 == uint64(l.axis()) {
		l.renumber(t, g.Order)
	}
	if g.Order == l.order && !l.report.full {
		l.turns = g.Turns
		for class, m := range g.Marks {
			l.moveFrontier(t, uint8(class), m)
		}
	}
	if g.RightsMax < l.rights.held() || g.PermitsMax < l.permit.held() {
		l.report.changed = true // it is answered, also when nothing is idle
	}
	l.giveBack(t)
}

// follow accepts a new leader. From here on it believes no leader before, and reports in full.
func (l *Local) follow(epoch uint64) {
	l.epoch, l.granted = epoch, 0
	l.moves.noticesSeen = 0
	l.time.rtt = 0
	l.report.full, l.report.sent, l.report.unanswered = true, false, 0
}

// receive takes note of what a grant says about messages, time and the other data centers.
func (l *Local) receive(now int64, g Grant) {
	if l.report.sent && g.ReportSeen >= l.report.fullSeq {
		l.report.full, l.report.sent = false, false
	}
	if g.Resync && !l.report.sent {
		l.report.full = true
	}
	if g.ReportSeen >= l.report.asked {
		l.report.unanswered = 0
	}
	l.granted, l.queue, l.others, l.spare = g.Seq, g.Queue, g.Others, g.Spare
	l.ranks = ranks{g.RanksAt, g.Ranks}
	l.tickets.acknowledge(g.ReportSeen)
	l.moves.acknowledge(g.ReportSeen)
	l.time.measure(now, g)
	if g.Experience != (Experience{}) {
		l.est.room, l.est.rooms = g.Experience, true
	}
}

// inherit learns what was out when this incarnation began. A complete memory knows who uses it; else it
// is in use by visitors who are not remembered.
func (l *Local) inherit(now int64, g Grant) {
	if l.forgetful(now) {
		l.rights.inherit(g.InheritedRights)
	}
	if l.forgot != 0 && now < coolAt(l.forgot) {
		l.permit.inherit(g.InheritedPermits)
	}
}

// renumber takes over the other data centers' count of key orders on the same axis. Marks count again when
// the leader has merged these keys in that order.
func (l *Local) renumber(now int64, order uint64) {
	l.order = order
	l.marks = [ClassesMax]Mark{}
	l.record(Record{Kind: RecordOrder, At: now, Order: l.order, Key: int64(l.axis())})
	l.recordTurns(now)
	l.report.full, l.report.sent = true, false
}

// moveFrontier gives their turn to the tickets before the frontier, and to the oldest of its own
// second. Partial is cumulative for one frontier, so a lost or repeated grant changes nothing.
func (l *Local) moveFrontier(now int64, class uint8, g Mark) {
	seen := l.marks[class]
	if g.Frontier < seen.Frontier || g == seen {
		return
	}
	more := g.Partial
	if g.Frontier == seen.Frontier {
		more -= seen.Partial
	}
	l.marks[class] = g
	line := &l.tickets.lines[class]
	before := l.dueKey[class]
	for {
		p, ok := line.first()
		if !ok || bucketOf(p.key) > g.Frontier {
			break
		}
		if bucketOf(p.key) == g.Frontier && !l.tickets.slab.at(p.slot).absent() {
			if more <= 0 {
				break
			}
			more--
		}
		l.callNext(now, class)
	}
	if l.dueKey[class] != before {
		l.recordTurns(now)
	}
}

// callNext gives the first ticket of a class its turn.
func (l *Local) callNext(now int64, class uint8) {
	p, _ := l.tickets.lines[class].first()
	l.dueKey[class] = max(l.dueKey[class], p.key)
	l.report.changed = true
	l.callUp(now, p.slot)
}

// recordTurns notes how far turns are given.
func (l *Local) recordTurns(now int64) {
	for class, key := range l.dueKey {
		if key != 0 {
			l.record(Record{Kind: RecordTurn, Key: key, Order: l.order, At: now, Class: uint8(class)})
		}
	}
}

// alone tells that the global coordinator has not answered for so long that this data center goes on by
// itself: it lives on the rights it has.
func (l *Local) alone(now int64) bool {
	return l.settled && l.report.unanswered != 0 && now-l.report.unanswered > autonomyAfter.Microseconds()
}

// serveOwn gives the own oldest tickets their turn, as many as rights are at hand.
func (l *Local) serveOwn(now int64) {
	if l.set.QueueAll || l.set.Method == anteroom.Reject {
		return
	}
	called := false
	for n := 1; n > 0; {
		n = min(l.idle()-l.tickets.due.len(), l.tickets.present())
		for class, turns := range l.fair.share(max(0, n), l.tickets.backlog(), l.set.weights()) {
			for range turns {
				l.callNext(now, uint8(class))
				called = true
			}
		}
	}
	if called {
		l.recordTurns(now)
	}
}
