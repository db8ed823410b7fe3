package queue

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// Snapshot is the durable state of a Local as records: replaying them restores it. It begins with
// the order in force and the turns given, then sessions, cooling permits and tickets.
func (l *Local) Snapshot(now time.Time) []Record {
	t := l.advance(now)
	out := make([]Record, 0, 2+2*l.sessions.active+len(l.tickets.byID)+l.permits.count)
	out = append(out,
		Record{Kind: RecordOrder, At: t, Order: l.order, Key: int64(l.axis())},
		Record{Kind: RecordOver, At: l.over})
	if l.forgetful(t) || l.permit.quarantined > 0 {
		out = append(out, Record{Kind: RecordForgot, At: l.forgot})
	}
	for class, key := range l.dueKey {
		if key != 0 {
			out = append(out, Record{Kind: RecordTurn, At: t, Order: l.order, Key: key, Class: uint8(class)})
		}
	}
	out = l.draws.snapshot(out)
	out = l.snapshotSessions(out)
	for slot := range l.tickets.slab.used {
		if k := l.tickets.slab.at(slot); !k.id.IsZero() {
			out = append(out, Record{Kind: RecordJoin, ID: k.id, At: k.arrival, Key: k.key, Class: k.class()})
			if n := l.draws.ofLot(k.lot()); n != nil {
				out = append(out, Record{Kind: RecordPlace, ID: k.id, At: k.arrival, Key: k.key, Order: n.Number})
			}
		}
	}
	return out
}

// snapshotSessions writes each session as its admission and last touch. Admissions of the last
// minute whose session is over still cool their permits.
func (l *Local) snapshotSessions(out []Record) []Record {
	recent := map[int64]int{} // admissions in the window by the millisecond in which they are free again
	for _, c := range l.permits.used {
		recent[c.at] += c.n
	}
	for slot := range l.sessions.slab.used {
		s := l.sessions.slab.at(slot)
		if s.id.IsZero() {
			continue
		}
		out = append(out, Record{Kind: RecordAdmit, ID: s.id, At: s.accepted, Arrival: s.arrival})
		if s.served != 0 {
			out = append(out, Record{Kind: RecordServed, ID: s.id, At: s.served})
		}
		if free := coolAt(max(s.accepted, s.served)); recent[free] > 0 {
			recent[free]--
		}
		if s.state == sessionEnded {
			out = append(out, Record{Kind: RecordEnd, ID: s.id, At: s.seen})
		} else {
			out = append(out, Record{Kind: RecordTouch, ID: s.id, At: s.seen})
		}
	}
	for _, c := range l.permits.used {
		for range recent[c.at] {
			out = append(out, Record{Kind: RecordCooled, At: c.at - permitCooling.Microseconds()})
		}
	}
	return out
}

// Restore replays records into a Local that has not served anybody yet. Sessions whose end has
// passed are forgotten, tickets get a fresh grace. Rights and permits that are in use are debts until the
// global coordinator says what was out. Settings are those of the configuration, which may have changed.
func (l *Local) Restore(now time.Time, records iter.Seq[Record]) {
	t := l.stamp(now)
	r := replay{admitted: map[ID]*session{}, tickets: map[ID]Record{}, cools: map[ID]int{}}
	r.draws = drawReplay{drawing: l.draws, room: l.cfg.Room}
	for rec := range records {
		r.apply(rec)
	}
	r.pull(t)
	l.over, l.forgot = r.over, r.forgot
	l.journal, l.seq = l.journal[:0], 0
	l.forget(t)
	l.draws = r.draws.drawing
	l.restoreSessions(t, &r)
	l.restoreTickets(t, &r)
	l.report.full, l.report.sent = true, false
}

// replay is the state that records add up to.
type replay struct {
	over     int64
	forgot   int64
	newest   int64 // the latest time of any record
	admitted map[ID]*session
	tickets  map[ID]Record
	cooling  []int64
	cools    map[ID]int // index in cooling by session
	order    uint64
	axis     int64
	dueKey   [ClassesMax]int64
	draws    drawReplay
}

func (r *replay) apply(rec Record) {
	r.newest = max(r.newest, rec.At)
	switch rec.Kind {
	case RecordJoin:
		r.tickets[rec.ID] = rec
	case RecordTurn:
		if rec.Order == r.order {
			r.dueKey[rec.Class] = max(r.dueKey[rec.Class], rec.Key)
		}
	case RecordAdmit:
		delete(r.tickets, rec.ID)
		r.admitted[rec.ID] = &session{id: rec.ID, arrival: rec.Arrival, accepted: rec.At, seen: rec.At, durable: rec.At}
		r.cools[rec.ID] = len(r.cooling)
		r.cooling = append(r.cooling, rec.At)
	case RecordTouch:
		if s := r.admitted[rec.ID]; s != nil && s.state == sessionActive {
			s.seen, s.durable = max(s.seen, rec.At), max(s.seen, rec.At)
		}
	case RecordLeft:
		delete(r.admitted, rec.ID) // its permit still cools
	case RecordForgot:
		r.forgot = max(r.forgot, rec.At)
	case RecordOver:
		r.over = max(r.over, rec.At)
	case RecordServed:
		if i, ok := r.cools[rec.ID]; ok {
			r.cooling[i] = rec.At
		}
		if s := r.admitted[rec.ID]; s != nil {
			s.served = rec.At
		}
	case RecordEnd:
		delete(r.tickets, rec.ID)
		s := r.admitted[rec.ID]
		if s == nil { // a ticket that was given up
			s = &session{id: rec.ID}
			r.admitted[rec.ID] = s
		}
		s.state, s.seen = sessionEnded, rec.At
	case RecordOrder:
		r.order, r.axis, r.dueKey = rec.Order, rec.Key, [ClassesMax]int64{}
	case RecordCooled:
		r.cooling = append(r.cooling, rec.At)
	case RecordPlace:
		if t, ok := r.tickets[rec.ID]; ok {
			t.Key, t.Order = rec.Key, rec.Order
			r.tickets[rec.ID] = t
		}
	case RecordSeed, RecordSealed, RecordSeal, RecordDrawn:
		r.draws.apply(rec)
	}
}

// pull moves everything into the past when the clock was set back between the runs: times that lie ahead
// would let newcomers pass the line and sessions last for as long.
func (r *replay) pull(now int64) {
	shift := r.newest - now
	if shift <= 0 {
		return
	}
	r.newest = now
	if r.forgot != 0 {
		r.forgot -= shift
	}
	for _, s := range r.admitted { // unordered: each by itself
		s.arrival -= shift
		s.accepted -= shift
		s.seen -= shift
		s.durable -= shift
	}
	for id, t := range r.tickets { // unordered: each by itself
		t.At -= shift
		if r.axis == 0 {
			t.Key -= shift
		}
		r.tickets[id] = t
	}
	for i := range r.cooling {
		r.cooling[i] -= shift
	}
	for class := range r.dueKey {
		if r.axis == 0 && r.dueKey[class] != 0 {
			r.dueKey[class] -= shift
		}
	}
}

// mayBeLost tells an admission whose answer the visitor may not have got, because of the crash.
func (r *replay) mayBeLost(s *session) bool {
	return s.state == sessionActive && s.served == 0 && s.seen == s.accepted && s.accepted > r.newest-crashWindow.Microseconds()
}

// restoreSessions brings back the sessions that may still be in force. Their last touches may be
// newer than the journal knows, by the grain of touches, so each one gets that much longer.
func (l *Local) restoreSessions(now int64, r *replay) {
	list := make([]*session, 0, len(r.admitted))
	for _, s := range r.admitted { // unordered: sorted below
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *session) int {
		return cmp.Or(cmp.Compare(a.accepted, b.accepted), slices.Compare(a.id[:], b.id[:]))
	})
	for _, s := range list {
		l.learnFrom(now, s)
		s.slack = l.touchGrain() + adoptSlack.Microseconds()
		if r.mayBeLost(s) {
			s.slack += lostSlack.Microseconds()
			if i, ok := r.cools[s.id]; ok {
				r.cooling[i] = now
			}
		}
		switch {
		case s.state == sessionActive && s.end(l.set) > now:
			if !l.cfg.Complete {
				s.seen = max(s.seen, now) // it may have been seen until a moment ago
			}
			s.told = l.toRoom(s.seen)
			l.sessions.begin(*s, l.set)
			l.rights.used++
		case s.state == sessionEnded && s.seen+remembered(l.set) > now:
			l.sessions.remember(s.seen, s.id, l.set)
		}
	}
	slices.Sort(r.cooling)
	for _, at := range r.cooling {
		if at = min(at, now); now < coolAt(at) {
			l.permits.use(at)
			l.permit.used++
		}
	}
}

// learnFrom learns from a restored session how long visitors stay.
func (l *Local) learnFrom(now int64, s *session) {
	if s.accepted == 0 { // a ticket that was given up
		return
	}
	x := Experience{}
	end := now
	if s.state == sessionEnded {
		x.Exits, end = 1, s.seen
	}
	x.Beyond = max(0, float64(end-s.accepted)/float64(second)-l.set.Session.Seconds())
	l.est.add(x)
}

// restoreTickets brings back the line. Keys of another order than the configuration's are made anew.
func (l *Local) restoreTickets(now int64, r *replay) {
	l.order = r.order
	same := r.axis == int64(l.axis())
	if same {
		l.dueKey = r.dueKey
	} else {
		l.order = nextOrder(r.order, l.axis())
		l.dueKey = [ClassesMax]int64{}
		l.record(Record{Kind: RecordOrder, At: now, Order: l.order, Key: int64(l.axis())})
	}
	list := make([]Record, 0, len(r.tickets))
	for _, rec := range r.tickets { // unordered: sorted below
		list = append(list, rec)
	}
	slices.SortFunc(list, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), slices.Compare(a.ID[:], b.ID[:]))
	})
	seen := l.tenths(now)
	for _, rec := range list {
		key, state := rec.Key, ticketWaiting
		switch {
		case rec.Key <= r.dueKey[rec.Class]:
			state = ticketLapsed // its right went with the restart; it goes next when it asks
			if !same {
				key = min(key, 0)
			}
		case !same:
			key = l.keyFor(rec.Class, rec.ID, rec.At)
		}
		if !same {
			l.record(Record{Kind: RecordJoin, ID: rec.ID, At: rec.At, Key: key, Class: rec.Class})
		}
		slot, t := l.tickets.add(ticket{id: rec.ID, arrival: rec.At, key: key, seen: seen, next: seen, state: state, marks: rec.Class})
		t.next = l.tenths(now + refreshMax.Microseconds())
		if same && rec.Order != 0 {
			t.setLot(lotOf(rec.Order))
		}
		l.watch(slot, t)
	}
}
