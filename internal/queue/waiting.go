package queue

import (
	"math"
	"time"

	"github.com/anteroom/anteroom"
)

// newcomer answers a visitor who has no ticket and no session: in if there is room and nobody waits,
// else to the end of the line. A new ticket is not registered yet. Its place is the time of arrival
// in the cookie, and the first check-in registers it: a client that drops cookies never counts.
func (l *Local) newcomer(now int64, ask Ask) Answer {
	if l.rejects() {
		return Answer{Verdict: Refused}
	}
	if ask.Purpose == Enter {
		l.report.newcomers++
		if l.canWalkIn(now) {
			a := l.admit(now, ask.NewID, l.toRoom(now), false)
			l.report.urgent = l.report.urgent || l.idle() < l.report.idle/2 // more should come before they run out
			return a
		}
	}
	a := Answer{Verdict: Waiting}
	a.Waiting = l.crowd() + l.pendingCount(now) + 1
	if ask.Purpose == Look {
		a.Turn = l.canWalkIn(now)
		a.Estimate = l.estimate(now, l.turnsOfLast(now, ask.Class), a.Waiting)
		a.Refresh = refresh(l.set, a.Estimate, a.Waiting, ask.Draw)
		return a
	}
	l.pend(now)
	here := timeOf(l.toRoom(now))
	a.ID, a.Arrival, a.LastSeen, a.Home = ask.NewID, here, here, l.tag
	a.Refresh = firstRefresh()
	if l.ordered(now) {
		a.Position = a.Waiting
	}
	a.Estimate = l.estimate(now, l.turnsOfLast(now, ask.Class), a.Waiting)
	return a
}

// turnsOfLast is after how many turns a newcomer's would come.
func (l *Local) turnsOfLast(now int64, class uint8) int {
	turns := l.present() + l.pendingCount(now) + 1
	if l.queue {
		class = l.set.classOf(class)
		end := place{l.toRoom(now), math.MaxUint32}
		turns = max(turns, l.tickets.due.len()+l.overClasses(l.ahead(now, class, end)+1, class))
	}
	return turns
}

// estimate is the wait for so many turns in a crowd.
func (l *Local) estimate(now int64, turns, waiting int) Estimate {
	e := l.est.of(now, l.set, turns-min(turns-1, l.idle()), waiting)
	l.sharpen(now, &e, turns)
	return e
}

// canWalkIn tells whether a newcomer may enter without queueing: nobody waits, and a right and a permit
// are idle that are kept neither for the due nor for those who have yet to register.
func (l *Local) canWalkIn(now int64) bool {
	switch {
	case l.set.QueueAll:
		return false
	case l.set.Method == anteroom.Passthrough:
		return true
	default:
		kept := l.tickets.due.len() + l.pendingCount(now)
		return l.tickets.present() == 0 && (!l.queue || l.spare || l.alone(now)) && l.idle() > kept
	}
}

// rejects tells that the room turns visitors away. queue_all goes before the method: they wait then.
func (l *Local) rejects() bool { return l.set.Method == anteroom.Reject && !l.set.QueueAll }

// idle is how many may enter this instant under both limits.
func (l *Local) idle() int { return min(l.rights.idle(), l.permit.idle()) }

// waiting is how many visitors wait or have their turn and are expected.
func (l *Local) waiting() int { return l.tickets.inLine + l.tickets.due.len() }

// present is how many of them are there.
func (l *Local) present() int { return l.tickets.present() + l.tickets.due.len() }

// crowd is the same over all data centers, as far as is known.
func (l *Local) crowd() int { return l.waiting() + l.others }

// ordered tells that a place in line means something and may be told. What a draw will decide is not.
func (l *Local) ordered(now int64) bool {
	shuffling := l.set.QueueAll && !l.set.Shuffle.Until.IsZero() && l.toRoom(now) < l.set.Shuffle.Until.UnixMicro()
	return l.set.Method != anteroom.Random && !shuffling
}

// latecomer sends a visitor to the head of the line whose session moves here in its last seconds and
// finds no right: its former home will not hold one for it any longer.
func (l *Local) latecomer(now int64, ask Ask) Answer {
	a := l.newcomer(now, ask)
	if a.Verdict == Waiting {
		a.Arrival = ask.Arrival
	}
	return a
}

// pend notes a newcomer who was told to wait and has yet to register.
func (l *Local) pend(now int64) {
	l.rollPending(now)
	l.pending[l.toRoom(now)/second%pendingSpan]++
}

// settle notes that one of them has registered.
func (l *Local) settle(now, arrival int64) {
	l.rollPending(now)
	if s := arrival / second; s > l.toRoom(now)/second-pendingSpan && l.pending[s%pendingSpan] > 0 {
		l.pending[s%pendingSpan]--
	}
}

func (l *Local) rollPending(now int64) {
	s := l.toRoom(now) / second
	for i := max(l.pendingAt+1, s-pendingSpan+1); i <= s; i++ {
		l.pending[i%pendingSpan] = 0
	}
	l.pendingAt = max(l.pendingAt, s)
}

func (l *Local) pendingCount(now int64) (n int) {
	l.rollPending(now)
	for _, p := range l.pending {
		n += p
	}
	return n
}

// register takes a ticket into the registry at the place its cookie proves.
func (l *Local) register(now int64, ask Ask) Answer {
	arrival := min(stampOf(ask.Arrival), l.toRoom(now))
	if ask.Purpose == Look {
		a := Answer{Verdict: Waiting, Known: true, Waiting: l.crowd() + 1, Home: l.tag}
		l.ticketCookie(&a, ask)
		a.Estimate = l.estimate(now, l.turnsOfLast(now, ask.Class), a.Waiting)
		return a
	}
	l.settle(now, arrival)
	class := l.set.classOf(ask.Class)
	key := l.keyFor(class, ask.ID, arrival)
	state := ticketWaiting
	if key <= l.dueKey[class] || bucketOf(key) < l.marks[class].Frontier {
		state = ticketDue
	}
	seen := l.tenths(now)
	if state == ticketDue {
		l.trace(ask.ID)
	}
	slot, tk := l.tickets.add(ticket{id: ask.ID, arrival: arrival, key: key, seen: seen, next: seen, state: state, marks: class})
	l.watch(slot, tk)
	l.joined++
	l.est.join()
	l.report.changed = true
	l.report.urgent = l.report.urgent || l.spare || !l.queue && l.waiting() == 1
	l.record(Record{Kind: RecordJoin, ID: ask.ID, At: arrival, Key: key, Class: class})
	return l.askTicket(now, ask, slot, tk)
}

// ticketCookie keeps in the cookie what it already says.
func (l *Local) ticketCookie(a *Answer, ask Ask) {
	a.ID, a.Arrival, a.LastSeen, a.Refresh, a.Home = ask.ID, ask.Arrival, ask.LastSeen, ask.Refresh, l.tag
}

// askTicket answers a visitor who waits.
func (l *Local) askTicket(now int64, ask Ask, slot uint32, tk *ticket) Answer {
	if ask.Purpose != Look {
		tk.seen = l.tenths(now)
		tk.next = max(tk.next, tk.seen)
		l.comeBack(now, slot, tk)
		l.stepUp(now, slot, tk)
	}
	if ask.Purpose == Enter && l.mayEnter(slot, tk) {
		arrival := tk.arrival
		l.letGo(tk) // another tab of the same visitor
		l.tickets.drop(slot, tk)
		return l.admit(now, ask.ID, arrival, true)
	}
	a := Answer{Verdict: Waiting, Known: true, Turn: l.mayEnter(slot, tk)}
	if l.rejects() {
		a.Verdict = Refused // the place is kept for the day the room opens again
	}
	turns := l.describe(now, &a, slot, tk)
	if !a.Turn {
		l.keep(now, &a.Estimate, tk, turns, ask.Purpose != Look)
	}
	l.ticketCookie(&a, ask)
	a.Arrival = timeOf(tk.arrival)
	if ask.Purpose == Look {
		return a
	}
	if l.toRoom(now) >= stampOf(ask.LastSeen)+(ask.Refresh-earlyMax).Microseconds() || ask.Refresh > refreshMax {
		// A check-in that counts. An earlier one is answered and changes nothing.
		a.LastSeen = timeOf(l.toRoom(now))
		a.Refresh = refresh(l.set, a.Estimate, a.Waiting, ask.Draw)
	}
	if !a.Turn || tk.until == 0 {
		// Who was told that it is their turn, and only asks again, does not keep the right for ever.
		in := a.Refresh
		if tk.state == ticketLate {
			in = max(in, lateRhythm)
		}
		l.expect(now, slot, tk, in)
	}
	return a
}

// describe fills in position and estimate, and tells after how many turns the visitor's comes.
func (l *Local) describe(now int64, a *Answer, slot uint32, tk *ticket) (turns int) {
	a.Waiting = l.crowd()
	place, inLine := l.placeOf(slot, tk)
	if !inLine {
		a.Waiting++ // a lapsed ticket that is here counts itself
	}
	turns = l.turnsBefore(now, place, slot, tk)
	a.Estimate = l.estimate(now, turns, a.Waiting)
	if l.ordered(now) {
		a.Position = max(place, turns)
	}
	if a.Turn {
		a.Estimate = Estimate{Known: true}
	}
	coming := tk.state.called() || l.spare // a right is on its way
	a.Head = a.Turn || coming && a.Estimate.Known || a.Estimate.Known && a.Estimate.Middle < headWait
	return turns
}

// placeOf is the ticket's place in the line of its class in this data center; false when it lapsed and
// goes next.
func (l *Local) placeOf(slot uint32, tk *ticket) (place int, inLine bool) {
	rank, inLine := l.tickets.rank(slot, tk)
	return rank + 1, inLine
}

// turnsBefore is after how many turns the turn of a ticket comes: over all data centers and classes, and
// without the absent, who get none.
func (l *Local) turnsBefore(now int64, rank int, slot uint32, tk *ticket) int {
	if tk.state != ticketWaiting {
		return rank
	}
	called := l.tickets.due.len()
	turns := rank - called
	if n := l.tickets.inLine; n > 0 {
		turns = max(1, turns*l.tickets.present()/n)
	}
	if l.queue {
		turns = max(turns, 1+l.ahead(now, tk.class(), place{tk.key, slot}))
	}
	return called + l.overClasses(turns, tk.class())
}

// overClasses adds the turns that other classes get meanwhile.
func (l *Local) overClasses(turns int, class uint8) int {
	weights, sum := l.set.weights(), 0
	for other, n := range l.tickets.backlog() {
		if other == int(class) || n > 0 || before(l.ranks.points, uint8(other), math.MaxInt64) > 0 {
			sum += weights[other]
		}
	}
	return min(turns*sum/max(1, weights[class]), max(turns, l.crowd()))
}

// sharpen replaces the estimate near the head of a line by what is known: when the rate of admission
// binds, a place is free when its permit has cooled, and no earlier in any case.
func (l *Local) sharpen(now int64, e *Estimate, turns int) {
	if !e.Known || l.set.Method != anteroom.FIFO {
		return
	}
	wait, ok := l.cooled(now, e, turns)
	if !ok {
		return
	}
	ready := !l.est.rooms && turns <= l.rights.idle() // only permits keep those before from entering
	if wait > e.Middle || ready || l.est.rateBinds(l.set) {
		e.Middle = wait
		l.est.bound(now, l.set, e, float64(turns))
	}
}

// cooled is in how much time the permit for a turn will have cooled; false when that is not known.
// The permits of a lone data center are known exactly.
func (l *Local) cooled(now int64, e *Estimate, turns int) (time.Duration, bool) {
	if !l.est.rooms {
		need := turns - l.permit.idle()
		if need <= 0 {
			return 0, false
		}
		at, ok := l.permits.freeAt(need)
		return time.Duration(at-now) * time.Microsecond, ok
	}
	all := float64(l.set.NewUsersPerMinute)
	if !l.est.rateBinds(l.set) || !l.est.course.whole(all) {
		return 0, false
	}
	need := e.Middle.Seconds() * l.est.rate(l.set) // of those before, some will give up
	return seconds(l.est.course.again(now, need, all)), true
}

// head tells whether the visitor's turn is near.
func (l *Local) head(now int64, slot uint32, tk *ticket) bool {
	var a Answer
	l.describe(now, &a, slot, tk)
	return a.Head
}

// expect notes when the visitor will ask again; an unclaimed turn lapses TurnGrace after that.
func (l *Local) expect(now int64, slot uint32, tk *ticket, in time.Duration) {
	tk.next = l.tenths(now + in.Microseconds())
	if tk.state.called() {
		l.remind(now, slot, tk)
	}
}

// remind sets the time at which an unclaimed turn lapses.
func (l *Local) remind(now int64, slot uint32, tk *ticket) {
	until := max(now, l.fromTenths(tk.next)) + TurnGrace.Microseconds()
	tk.until = l.tenths(until)
	l.tickets.lapses.add(until, slot)
}

// comeBack restores the turn of a ticket that had let it lapse: it goes next, and the right is kept until
// the next time in its own rhythm.
func (l *Local) comeBack(now int64, slot uint32, tk *ticket) {
	if tk.absent() {
		l.tickets.meet(tk)
		l.est.comeBack()
		l.report.changed = true
	}
	if tk.state == ticketLapsed {
		l.tickets.move(slot, tk, ticketLate)
		l.remind(now, slot, tk)
		l.report.changed = true
	}
}

// stepUp gives the only visitor in line who is there the turn at once, if a right is at hand that is kept
// for nobody.
func (l *Local) stepUp(now int64, slot uint32, tk *ticket) {
	if tk.state != ticketWaiting || l.tickets.present() > 1 || l.queue && !l.alone(now) || l.set.QueueAll ||
		l.rejects() || l.idle() <= l.tickets.due.len()+l.pendingCount(now) {
		return
	}
	l.tickets.exit(slot, tk)
	tk.key = min(tk.key, l.dueKey[tk.class()]) // the journal tells by the key who had a turn
	l.tickets.enter(slot, tk)
	l.record(Record{Kind: RecordJoin, ID: tk.id, At: tk.arrival, Key: tk.key, Class: tk.class()})
	l.callUp(now, slot)
	l.report.changed = true
}

// turn tells whether a right and a permit are at hand for this very ticket; one that has lapsed is due
// again with the next request. In a line the rights
// belong to the due tickets in the order of their keys, so nobody who asks more often gains; the
// winners of a lottery take them as they come, unless a published draw has given them places.
func (l *Local) turn(slot uint32, tk *ticket) bool {
	switch {
	case l.set.QueueAll || l.rejects() || tk.state == ticketWaiting:
		return false
	case l.set.Method == anteroom.Random && tk.lot() == 0:
		return l.idle() > l.tickets.late || tk.state == ticketLate && l.idle() > 0
	default:
		return l.tickets.due.rank(place{tk.key, slot}) < l.idle()
	}
}

func (l *Local) mayEnter(slot uint32, tk *ticket) bool {
	return l.turn(slot, tk) || l.set.Method == anteroom.Passthrough && !l.set.QueueAll
}

// admit begins a session. The caller has made sure that a right and a permit are idle, except when
// the method lets everyone pass.
func (l *Local) admit(now int64, id ID, arrival int64, known bool) Answer {
	s := session{id: id, arrival: arrival, accepted: now, seen: now, durable: now, told: l.toRoom(now)}
	l.sessions.begin(s, l.set)
	l.permits.use(now)
	l.rights.used++
	l.permit.used++
	l.admitted++
	l.report.changed = true
	a := Answer{Verdict: Admitted, Entered: true, Known: known}
	a.Seq = l.record(Record{Kind: RecordAdmit, ID: id, At: now, Arrival: arrival})
	l.sessionCookie(&a, &s)
	return a
}
