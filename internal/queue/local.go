package queue

import (
	"time"

	"github.com/anteroom/anteroom"
)

// LocalConfig is what a data center's coordinator of one room is made from.
type LocalConfig struct {
	DataCenter string
	// Incarnation grows with each start of this coordinator; it begins at 1.
	Incarnation uint64
	// Complete tells that what is restored is the whole memory of the incarnations before: the journal was
	// written before each answer. Otherwise what they held and nobody remembers is quarantined.
	Complete bool
	// Room names the room in the records of its draws.
	Room string
	// Seed is that of the room's first draw. It must be secret until that draw has ended.
	Seed     Seed
	Settings Settings
	Pace     Pace
	// Prior is what earlier days have shown of sessions and visitors; the zero value is no experience.
	Prior Prior
	// Trace keeps the IDs of tickets whose turn has come, for Called.
	Trace bool
}

// Local is the coordinator of one room in one data center. It holds the exact registry of tickets
// and sessions, and the rights and permits it was granted. It is not safe for concurrent use.
type Local struct {
	cfg LocalConfig
	set Settings
	clock

	tickets  registry
	sessions sessions
	permits  permits
	est      estimator

	rights  escrow
	permit  escrow
	tag     uint32 // of this data center
	forgot  int64  // when the last incarnation began that did not remember everything; 0 for none
	settled bool   // it was told what its incarnation inherits
	epoch   uint64
	granted uint64 // Seq of the last grant applied
	turns   uint64 // cumulative turns of the last grant applied
	others  int    // how many wait in other data centers
	queue   bool   // somebody waits there
	spare   bool   // there are more free places than visitors in line
	ranks   ranks  // where they wait
	moves   moves
	time    roomTime
	fair    rounds // of turns that it gives by itself
	draws   drawing

	// order counts how often the keys changed their meaning. Everyone of a class with a key up to dueKey
	// has their turn in this order; marks repeat the last grant.
	order  uint64
	dueKey [ClassesMax]int64
	marks  [ClassesMax]Mark

	// pending newcomers were told to wait and have not registered yet: one count per second.
	pending   [pendingSpan]int
	pendingAt int64

	report    reporting
	advanced  int64 // up to when time has passed; see advance
	over      int64 // sessions last seen up to here are over, although their cookie may think otherwise
	held      int   // tickets whose request is held
	journal   []Record
	seq       uint64 // of the last record
	woken     []ID
	called    []ID // with Trace
	admitted  uint64
	joined    uint64
	abandoned uint64
	lapsed    uint64
}

// pendingSpan is pendingHold in seconds, and one for the running second.
const pendingSpan = int64(pendingHold/time.Second) + 1

// reporting is what is known of the reports sent.
type reporting struct {
	seq        uint64
	full       bool   // the next report must be full
	sent       bool   // a full one is under way
	fullSeq    uint64 // the number of the first of them
	at         int64
	unanswered int64  // stamp of the first report since the last answer; 0 when all are answered
	asked      uint64 // its number
	idle       int    // what newcomers could use, as last reported
	lack       int    // due visitors without a right, as last reported
	freed      bool   // rights became free since the last report
	urgent     bool   // a newcomer could not be served since the last report
	newcomers  int
	changed    bool // anything changed since the last report
}

// clock turns times into stamps: microseconds since the Unix epoch by the monotonic clock, which
// never go back, whatever happens to the wall clock.
type clock struct {
	base time.Time
	wall int64
	last int64
}

func newClock(now time.Time) clock {
	return clock{base: now, wall: now.UnixMicro(), last: now.UnixMicro()}
}

func (c *clock) stamp(now time.Time) int64 {
	c.last = max(c.last, c.wall+now.Sub(c.base).Microseconds())
	return c.last
}

// tenths is a stamp as a ticket stores it. The range of 13 years outlives every process.
func (c *clock) tenths(stamp int64) uint32 {
	return uint32(max(0, stamp-c.wall) / (second / 10))
}

func (c *clock) fromTenths(t uint32) int64 { return c.wall + int64(t)*(second/10) }

func timeOf(stamp int64) time.Time {
	if stamp == 0 {
		return time.Time{}
	}
	return time.UnixMicro(stamp).UTC()
}

func stampOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// NewLocal makes a coordinator that knows nobody and holds nothing.
func NewLocal(now time.Time, cfg LocalConfig) *Local {
	c := newClock(now)
	l := &Local{
		cfg:      cfg,
		set:      cfg.Settings,
		clock:    c,
		tickets:  newRegistry(c.last),
		sessions: newSessions(c.last),
		tag:      Tag(cfg.DataCenter),
		report:   reporting{full: true, changed: true},
	}
	l.est.prior = cfg.Prior
	l.forget(c.last)
	l.draws.number, l.draws.seed = 1, cfg.Seed
	l.tickets.emptyLines(l.set.drawn())
	if l.axis() != 0 { // a journal begins with times of arrival
		l.reorder(c.last)
	}
	return l
}

// Configure puts new settings in force.
func (l *Local) Configure(now time.Time, s Settings) {
	t := l.advance(now)
	old := l.set
	l.set = s
	l.report.changed = true
	if s.TotalActiveUsers < old.TotalActiveUsers || s.NewUsersPerMinute < old.NewUsersPerMinute {
		l.shrink(t, old)
	}
	if old.Session != s.Session || old.FixedSessions != s.FixedSessions {
		// A longer session must not bring back those that were over by the shorter one.
		l.over = max(l.over, t-old.Session.Microseconds())
		l.record(Record{Kind: RecordOver, At: l.over})
		l.sessions.reschedule(s)
	}
	if s.Method == anteroom.Passthrough && old.Method != s.Method {
		l.wakeAll()
	}
	if (old.Method == anteroom.Random) != (s.Method == anteroom.Random) || old.Shuffle != s.Shuffle {
		l.reorder(t)
	}
}

// shrink gives back this data center's part of what a lowered limit is above. The global coordinator will
// say the same, but may be out of reach.
func (l *Local) shrink(now int64, old Settings) {
	part := func(e *escrow, limit, before int) {
		if limit < before {
			e.most = min(e.most, e.held()*max(0, limit)/before)
		}
	}
	part(&l.rights, l.set.TotalActiveUsers, old.TotalActiveUsers)
	part(&l.permit, l.set.NewUsersPerMinute, old.NewUsersPerMinute)
	l.giveBack(now)
}

// nextOrder is the number of the next key order. Its lowest bit tells the axis, so that data centers that
// heard of a new method at different moments do not take each other's keys for their own.
func nextOrder(order uint64, axis int) uint64 {
	next := order + 1
	if next&1 != uint64(axis) {
		next++
	}
	return next
}

// reorder gives every ticket the key of the method in force. The ticket itself stays as it is, so a
// later change back restores the order of arrival. Who had a turn keeps it: those keys are before all
// others.
func (l *Local) reorder(now int64) {
	l.order = nextOrder(l.order, l.axis())
	l.draws.placed = 0
	l.dueKey, l.marks = [ClassesMax]int64{}, [ClassesMax]Mark{}
	l.record(Record{Kind: RecordOrder, At: now, Order: l.order, Key: int64(l.axis())})
	called, waiting := l.tickets.slots()
	l.tickets.emptyLines(l.set.drawn())
	for i, slot := range called {
		l.rekey(slot, int64(i-len(called)))
	}
	for _, slot := range waiting {
		t := l.tickets.slab.at(slot)
		l.rekey(slot, l.keyFor(t.class(), t.id, t.arrival))
	}
	l.report.full, l.report.sent = true, false
}

// rekey puts a ticket that stands in no line at another place.
func (l *Local) rekey(slot uint32, key int64) {
	t := l.tickets.slab.at(slot)
	t.key = key
	t.setLot(0)
	l.tickets.enter(slot, t)
	l.record(Record{Kind: RecordJoin, ID: t.id, At: t.arrival, Key: key, Class: t.class()})
}

// axis tells what keys mean: 1 for the lottery's virtual time, 0 for times of arrival.
func (l *Local) axis() int {
	if l.set.Method == anteroom.Random {
		return 1
	}
	return 0
}

// keyFor is the place of a ticket that joins now.
func (l *Local) keyFor(class uint8, id ID, arrival int64) int64 {
	if l.axis() != 0 {
		return l.drawBase(class) + l.draws.seed.draw(id)
	}
	return l.set.Shuffle.key(id, arrival)
}

// Ask decides one request of a visitor.
func (l *Local) Ask(now time.Time, ask Ask) Answer {
	t := l.advance(now)
	if ask.ID.IsZero() {
		return l.newcomer(t, ask)
	}
	if slot, s, ok := l.sessions.find(ask.ID); ok && !l.cameBack(ask, slot, s) {
		return l.askSession(t, ask, slot, s)
	}
	slot, tk, waits := l.tickets.find(ask.ID)
	if waits && ask.Accepted.IsZero() {
		return l.askTicket(t, ask, slot, tk)
	}
	if waits && ask.Purpose == Enter { // the visitor waited here before another data center let them in
		l.letGo(tk)
		l.tickets.drop(slot, tk)
	}
	return l.askUnknown(t, ask)
}

// askSession answers the holder of a session that is known here.
func (l *Local) askSession(now int64, ask Ask, slot uint32, s *session) Answer {
	if s.state == sessionActive && s.end(l.set) <= now {
		l.endSession(now, slot, s)
	}
	if s.state == sessionEnded {
		return l.newcomer(now, ask)
	}
	a := Answer{Verdict: Admitted, Known: true, Home: l.tag}
	if ask.Purpose == Enter {
		a.Seq = l.touch(now, s)
		if l.from(ask) {
			l.moves.take(s.id, stampOf(ask.LastSeen), ask.Home)
		}
	}
	l.sessionCookie(&a, s)
	return a
}

// forget notes that this incarnation does not remember everything before it.
func (l *Local) forget(now int64) {
	if !l.cfg.Complete {
		l.forgot = now
		l.record(Record{Kind: RecordForgot, At: now})
	}
}

// forgetful tells that some sessions in force may not be remembered: their rights are
// among those that were inherited, even when others that are remembered have ended by now.
func (l *Local) forgetful(now int64) bool {
	return l.forgot != 0 && now < l.forgot+(l.set.Session+sessionMargin).Microseconds()
}

// from tells that the cookie was given by another data center.
func (l *Local) from(ask Ask) bool { return ask.Home != 0 && ask.Home != l.tag }

// cameBack forgets a session that ended here after it had moved away, when its visitor returns: the end
// was that of this data center's share in it.
func (l *Local) cameBack(ask Ask, slot uint32, s *session) bool {
	if s.state != sessionEnded || !l.from(ask) || ask.Accepted.IsZero() || ask.Purpose != Enter {
		return false
	}
	l.sessions.forget(slot, s)
	return true
}

// sessionCookie fills in what the cookie of a session carries.
func (l *Local) sessionCookie(a *Answer, s *session) {
	a.ID, a.Arrival, a.Home = s.id, timeOf(s.arrival), l.tag
	a.Accepted, a.LastSeen = timeOf(l.toRoom(s.accepted)), timeOf(s.told)
}

// touch renews a session. It returns the record that must be durable before the origin sees the
// request, or 0 while an earlier one covers it: the journal learns of a session only each sixty-fourth
// part of its duration, and a restored session gets that much more time.
func (l *Local) touch(now int64, s *session) uint64 {
	s.seen = max(s.seen, now)
	s.told = l.toRoom(s.seen)
	if l.set.FixedSessions || now-s.durable < l.touchGrain() {
		return 0
	}
	s.durable = now
	return l.record(Record{Kind: RecordTouch, ID: s.id, At: now})
}

func (l *Local) touchGrain() int64 {
	return min(max(l.set.Session.Microseconds()/64, 50*milli), 5*second)
}

// Touch renews a session without asking: at the end of a long request, and while it lasts. The first
// one tells that the request which began the session took long to reach the origin: the admission
// counts from now on, so that the limit a minute holds there, too.
func (l *Local) Touch(now time.Time, id ID) (seq uint64) {
	t := l.advance(now)
	_, s, ok := l.sessions.find(id)
	if !ok || s.state != sessionActive || s.end(l.set) <= t {
		return 0
	}
	if s.served == 0 {
		s.served = t
		l.permits.extend(s.accepted, t)
		l.record(Record{Kind: RecordServed, ID: s.id, At: t})
	}
	return l.touch(t, s)
}

// End ends a session or gives up a ticket, and tells whether there was one. Its cookie is spent.
func (l *Local) End(now time.Time, id ID) (seq uint64, ok bool) {
	t := l.advance(now)
	if slot, s, found := l.sessions.find(id); found && s.state == sessionActive {
		l.endSession(t, slot, s)
		return l.seq, true
	}
	if slot, tk, found := l.tickets.find(id); found {
		l.letGo(tk)
		l.tickets.drop(slot, tk)
		l.sessions.remember(t, id, l.set)
		l.report.changed = true
		return l.record(Record{Kind: RecordEnd, ID: id, At: t}), true
	}
	return 0, false
}

func (l *Local) endSession(now int64, slot uint32, s *session) {
	l.sessions.finish(now, slot, s, l.set)
	l.afterSession(now, s)
	l.giveBack(now)
}

// askUnknown answers a visitor whose cookie is sound but whom this coordinator does not know: it
// lost its memory, or the visitor came from another data center. The cookie alone restores the place.
func (l *Local) askUnknown(now int64, ask Ask) Answer {
	if !ask.Accepted.IsZero() {
		s := session{
			id: ask.ID, arrival: stampOf(ask.Arrival),
			accepted: l.fromRoom(stampOf(ask.Accepted)), seen: l.fromRoom(stampOf(ask.LastSeen)),
		}
		if s.end(l.set)+l.time.doubt() <= now || s.end(l.set)-(l.set.Session+sessionMargin).Microseconds() <= l.over {
			return l.newcomer(now, ask)
		}
		return l.adopt(now, ask, s)
	}
	if l.toRoom(now)-stampOf(ask.LastSeen) > TicketGrace.Microseconds() {
		return l.newcomer(now, ask)
	}
	return l.register(now, ask)
}

// adopt takes over a session that only the cookie knows. It is honoured even without a right: one that
// moves here is covered by its former home for a while, one that was forgotten here by the quarantine.
func (l *Local) adopt(now int64, ask Ask, s session) Answer {
	a := Answer{Verdict: Admitted, Known: true}
	if ask.Purpose != Enter {
		s.told = l.toRoom(s.seen)
		l.sessionCookie(&a, &s)
		return a
	}
	moved := l.from(ask)
	until := s.end(l.set) - coverMargin
	known := !moved && (l.rights.recognise() || l.forgetful(now))
	if !known && ask.Home != 0 && l.rights.idle() == 0 {
		if until < now+coverMin {
			return l.latecomer(now, ask)
		}
		l.moves.shelter(s.id, until)
	}
	if moved && !l.settled {
		l.rights.foreign++
	}
	if moved {
		l.moves.take(s.id, stampOf(ask.LastSeen), ask.Home)
	}
	s.seen, s.durable = max(s.seen, now), now
	s.told = l.toRoom(s.seen)
	if !moved && now-s.accepted < permitCooling.Microseconds() {
		l.permit.recognise()
		l.permits.use(now) // the admission may not be known here either
		l.permit.used++
	}
	l.sessions.begin(s, l.set)
	l.rights.used++
	l.report.changed = true
	l.record(Record{Kind: RecordAdmit, ID: s.id, At: s.accepted, Arrival: s.arrival})
	a.Seq = l.record(Record{Kind: RecordTouch, ID: s.id, At: now})
	l.sessionCookie(&a, &s)
	return a
}

// Hold marks a visitor whose request is kept open until the turn comes. It is not held when the
// turn has come already, or when the visitor does not wait at the head of the line; then the caller
// answers at once.
func (l *Local) Hold(now time.Time, id ID) (held, turn bool) {
	t := l.advance(now)
	slot, tk, ok := l.tickets.find(id)
	if !ok || l.mayEnter(slot, tk) || !l.head(t, slot, tk) {
		return false, ok && l.mayEnter(slot, tk)
	}
	if !tk.held() {
		tk.hold(true)
		l.held++
	}
	l.expect(t, slot, tk, HoldMax)
	return true, false
}

// letGo ends the hold of a ticket and wakes its request.
func (l *Local) letGo(tk *ticket) {
	if tk.held() {
		tk.hold(false)
		l.held--
		l.woken = append(l.woken, tk.id)
	}
}

// wakeAll wakes every held request: everyone may enter.
func (l *Local) wakeAll() {
	for class := range l.tickets.lines {
		for p := range l.tickets.lines[class].all {
			if l.held == 0 {
				return
			}
			l.letGo(l.tickets.slab.at(p.slot))
		}
	}
	for p := range l.tickets.due.all {
		l.letGo(l.tickets.slab.at(p.slot))
	}
}

// Release ends a Hold. The visitor is expected to ask again at once.
func (l *Local) Release(now time.Time, id ID) {
	t := l.advance(now)
	if slot, tk, ok := l.tickets.find(id); ok && tk.held() {
		tk.hold(false)
		l.held--
		l.expect(t, slot, tk, 0)
	}
}

// Woken drains the IDs of held visitors whose turn has come.
func (l *Local) Woken(dst []ID) []ID {
	l.wake()
	dst = append(dst, l.woken...)
	l.woken = l.woken[:0]
	return dst
}

// Drain hands over the records made since the last call, to be made durable in order, and the
// number of the last one.
func (l *Local) Drain(dst []Record) ([]Record, uint64) {
	dst = append(dst, l.journal...)
	l.journal = l.journal[:0]
	return dst, l.seq
}

// Quiet tells that nobody is here: no ticket, no session, no cooling permit. Time may pass for a
// quiet room in large steps.
func (l *Local) Quiet() bool {
	return len(l.tickets.byID) == 0 && l.sessions.active == 0 && l.permits.count == 0
}

// Size is how many records a snapshot would have, about.
func (l *Local) Size() int {
	return len(l.tickets.byID) + 2*len(l.sessions.byID) + l.permits.count + l.draws.size()
}

// Pending tells whether Drain has anything to hand over.
func (l *Local) Pending() bool { return len(l.journal) > 0 }

func (l *Local) record(r Record) uint64 {
	l.journal = append(l.journal, r)
	l.seq++
	return l.seq
}
