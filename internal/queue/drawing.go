package queue

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/anteroom/anteroom"
)

// drawing is the life of a room's draws. One is always open: its seed is secret, its commitment is
// published, and it keys whoever joins. A seal closes the list of those who wait for it and opens the
// next one, so that no seed that becomes known ever keys a later ticket.
type drawing struct {
	number uint64 // of the open draw, from 1
	seed   Seed   // of the open draw
	notice *DrawNotice
	sealed *SealedDraw
	past   []*DrawNotice // the last draws that ended, oldest first
	// placed is how many of the sealed tickets have their places, which begin at base. A restart and a
	// change of all keys begin anew.
	placed int
	base   [ClassesMax]int64
}

// DrawPhase is how far a draw is.
type DrawPhase string

// The phases of a draw.
const (
	DrawOpen   DrawPhase = "open"   // whoever joins takes part
	DrawSealed DrawPhase = "sealed" // the list is closed, places are not drawn yet
	DrawEnded  DrawPhase = "drawn"  // the places are drawn, the record is published
)

// DrawNotice is what a room publishes of a draw. It never changes: a new phase has a new notice.
type DrawNotice struct {
	Phase      DrawPhase
	Number     uint64
	Method     DrawMethod
	Commitment Hash
	// Seal is the list and At its time, from the seal until the record, which has both.
	Seal DrawSeal
	At   time.Time
}

// DrawState is what a room publishes of its draws.
type DrawState struct {
	// Open is the draw that newcomers belong to; nil in a room that draws nothing.
	Open *DrawNotice
	// Sealed is the draw whose list is closed and whose end is awaited; nil when there is none.
	Sealed *DrawNotice
	// Past are the last draws that ended, oldest first.
	Past []*DrawNotice
	// Records are the numbers of the draws whose records are kept, oldest first. Whoever keeps them fills
	// it in.
	Records []uint64
}

// Any tells that there is something to tell.
func (s *DrawState) Any() bool { return s.Open != nil || s.Sealed != nil || len(s.Records) > 0 }

// SealedDraw is a draw between its seal and its end. It never changes.
type SealedDraw struct {
	notice DrawNotice
	room   string
	seed   Seed
	// tickets are in ascending order of their public ids, as the root has them.
	tickets []sealedTicket
}

type sealedTicket struct{ public, id ID }

// Number tells the draws of a room apart.
func (s *SealedDraw) Number() uint64 { return s.notice.Number }

// Commitment is what was published of the draw from its beginning.
func (s *SealedDraw) Commitment() Hash { return s.notice.Commitment }

// Record is the record of the draw with this external randomness. It takes long for many tickets.
func (s *SealedDraw) Record(external DrawExternal) *DrawRecord {
	r := &DrawRecord{
		Room: s.room, Number: s.notice.Number, Method: s.notice.Method, Seed: Hash(s.seed), External: external,
		Tickets: make([]DrawTicket, len(s.tickets)),
	}
	for i, t := range s.tickets {
		r.Tickets[i].ID = t.public
	}
	r.Complete()
	return r
}

// newSealedDraw closes a list.
func newSealedDraw(room string, number uint64, method DrawMethod, seed Seed, at int64, ids []ID) *SealedDraw {
	s := &SealedDraw{room: room, seed: seed, tickets: make([]sealedTicket, len(ids))}
	for i, id := range ids {
		s.tickets[i] = sealedTicket{PublicID(id), id}
	}
	slices.SortFunc(s.tickets, func(a, b sealedTicket) int { return compareIDs(a.public, b.public) })
	public := make([]ID, len(s.tickets))
	for i := range s.tickets {
		public[i] = s.tickets[i].public
	}
	s.notice = DrawNotice{
		Phase: DrawSealed, Number: number, Method: method, Commitment: DrawCommitment(room, number, method, seed),
		Seal: DrawSeal{Count: len(public), Root: MerkleRoot(public)}, At: timeOf(at),
	}
	return s
}

// has tells whether the ticket is in the list.
func (s *SealedDraw) has(id ID) bool {
	_, ok := slices.BinarySearchFunc(s.tickets, PublicID(id), func(t sealedTicket, public ID) int { return compareIDs(t.public, public) })
	return ok
}

// drawMethod is how the room draws; empty when it does not.
func (s *Settings) drawMethod() DrawMethod {
	switch {
	case s.Method == anteroom.Random:
		return DrawRandom
	case !s.Shuffle.Until.IsZero():
		return DrawShuffle
	default:
		return ""
	}
}

// openDraw is what is published of the open draw. The method is the one in force: another one has
// another commitment, which nobody can take for the one published before.
func (l *Local) openDraw() *DrawNotice {
	method, d := l.set.drawMethod(), &l.draws
	if method == "" {
		return nil
	}
	if d.notice == nil || d.notice.Number != d.number || d.notice.Method != method {
		d.notice = &DrawNotice{
			Phase: DrawOpen, Number: d.number, Method: method,
			Commitment: DrawCommitment(l.cfg.Room, d.number, method, d.seed),
		}
	}
	return d.notice
}

// Draws tells what the room publishes of its draws.
func (l *Local) Draws() DrawState {
	s := DrawState{Open: l.openDraw(), Past: slices.Clone(l.draws.past)}
	if l.draws.sealed != nil {
		s.Sealed = &l.draws.sealed.notice
	}
	return s
}

// DrawOf tells which draw a ticket belongs to: the open one when it is not known here, nil in a room
// that draws nothing.
func (l *Local) DrawOf(id ID) *DrawNotice {
	open, d := l.openDraw(), &l.draws
	if _, t, ok := l.tickets.find(id); ok {
		switch {
		case d.sealed != nil && d.sealed.has(id):
			return &d.sealed.notice
		case t.lot() != 0:
			return d.ofLot(t.lot())
		}
	}
	return open
}

// SealedDraw is the draw whose end is awaited, nil when there is none.
func (l *Local) SealedDraw() *SealedDraw { return l.draws.sealed }

// seal closes the list of the open draw: everyone who waits and has no drawn place yet. Next is the secret
// seed of the draw that is open from then on.
func (l *Local) seal(now int64, next Seed) error {
	open, d := l.openDraw(), &l.draws
	switch {
	case d.sealed != nil:
		return anteroom.Errorf(anteroom.CodeConflict, "the list of draw %d is sealed already", d.sealed.notice.Number).At("action").
			WithHint("end it with the action draw first")
	case open == nil:
		return anteroom.Errorf(anteroom.CodeConflict, "the room draws nothing: places go by arrival").At("action").
			WithHint("set queueing_method to random")
	}
	ids := l.undrawn()
	if len(ids) == 0 || len(ids) > DrawTicketsMax {
		return anteroom.Errorf(anteroom.CodeConflict, "%d visitors wait for a place, want 1 to %d", len(ids), DrawTicketsMax).At("action").
			WithHint("seal when visitors wait; who has a turn or a drawn place takes no part")
	}
	l.record(seedRecord(Record{Kind: RecordSeed, At: now, Order: d.number}, d.seed)) // a list that a crash cut off ends here
	for _, id := range ids {
		l.record(Record{Kind: RecordSealed, ID: id, At: now, Order: d.number})
	}
	d.sealed = newSealedDraw(l.cfg.Room, d.number, open.Method, d.seed, now, ids)
	l.record(d.sealed.record(next))
	d.number, d.seed = d.number+1, next
	return nil
}

// undrawn are the tickets that the open draw is for.
func (l *Local) undrawn() []ID {
	var ids []ID
	for slot := range l.tickets.slab.used {
		t := l.tickets.slab.at(slot)
		if t.id.IsZero() || t.state != ticketWaiting || t.lot() != 0 {
			continue
		}
		if l.axis() != 0 || l.set.Shuffle.includes(t.arrival) {
			ids = append(ids, t.id)
		}
	}
	return ids
}

// drawPlaces gives the next sealed tickets that still wait the places of the final seed, and tells whether
// some are left. When the room does not draw that way any more, the record stands and nobody moves.
func (l *Local) drawPlaces(now int64, external []byte, most int) (more bool) {
	d, s := &l.draws, l.draws.sealed
	if s == nil || l.set.drawMethod() != s.notice.Method {
		return false
	}
	if d.placed == 0 {
		for class := range d.base {
			d.base[class] = l.drawBase(uint8(class))
		}
	}
	final := FinalSeed(s.seed, external)
	next := s.tickets[d.placed:]
	for _, t := range next[:min(most, len(next))] {
		d.placed++
		if slot, tk, ok := l.tickets.find(t.id); ok && tk.state == ticketWaiting {
			l.assign(now, slot, tk, d.base[tk.class()]+drawKey(s.notice.Method, final, t.public, 0))
		}
	}
	return d.placed < len(s.tickets)
}

// endDraw draws the places that are not drawn yet and makes the sealed draw one of the past.
func (l *Local) endDraw(now int64, external []byte) {
	s := l.draws.sealed
	if s == nil {
		return
	}
	l.drawPlaces(now, external, len(s.tickets))
	ended := DrawNotice{Phase: DrawEnded, Number: s.notice.Number, Method: s.notice.Method, Commitment: s.notice.Commitment}
	l.draws.end(&ended)
	l.record(seedRecord(Record{Kind: RecordDrawn, At: now, Order: ended.Number, Class: methodCode(ended.Method)}, Seed(ended.Commitment)))
	l.report.changed, l.report.freed = true, true
}

// end makes a draw one of the past.
func (d *drawing) end(n *DrawNotice) {
	d.sealed, d.placed = nil, 0
	d.past = append(d.past, n)
	d.past = d.past[max(0, len(d.past)-lotsMax):]
}

// drawBase is the key at which the places of a draw begin: behind everyone of the class who had a turn.
func (l *Local) drawBase(class uint8) int64 {
	if l.axis() == 0 {
		return l.set.Shuffle.From.UnixMicro()
	}
	return max(l.dueKey[class], l.marks[class].Frontier*second) + 1
}

// assign moves a ticket to its place in the sealed draw.
func (l *Local) assign(now int64, slot uint32, t *ticket, key int64) {
	l.tickets.exit(slot, t)
	t.key = key
	t.setLot(lotOf(l.draws.sealed.notice.Number))
	l.tickets.enter(slot, t)
	l.record(Record{Kind: RecordPlace, ID: t.id, At: now, Key: key, Order: l.draws.sealed.notice.Number})
}

// Seal closes the list of the open draw and lets the room stand still until EndDraw: with the old keys the
// operator, who can know them, could let some of the sealed enter before the draw, and with nobody of
// the sealed entering, newcomers would pass them. Next is the secret seed of the next draw.
func (p *Pair) Seal(now time.Time, next Seed) error {
	if err := p.seal(p.advance(now), next); err != nil {
		return err
	}
	p.Configure(now, p.settings)
	return nil
}

// DrawPlaces draws some places of the sealed list and tells whether more are left. Whoever draws many does
// so in parts, so that those who are inside need not wait for it. The record must be durable before, and
// each part has the same external randomness.
func (p *Pair) DrawPlaces(now time.Time, external []byte, most int) (more bool) {
	return p.drawPlaces(p.advance(now), external, most)
}

// EndDraw draws the places that are left, and the room goes on. The record must be durable before.
func (p *Pair) EndDraw(now time.Time, external []byte) {
	p.endDraw(p.advance(now), external)
	p.Configure(now, p.settings)
}

// Ask decides one request of a visitor.
func (p *Pair) Ask(now time.Time, ask Ask) Answer {
	a := p.Local.Ask(now, ask)
	if a.Verdict == Waiting {
		a.Draw = p.DrawOf(a.ID)
	}
	return a
}

// inForce are the settings while a sealed list waits for its draw.
func (p *Pair) inForce() Settings {
	s := p.settings
	s.QueueAll = s.QueueAll || p.draws.sealed != nil
	return s
}

// record closes the list in the journal; what follows it is the seed of the next draw.
func (s *SealedDraw) record(next Seed) Record {
	return seedRecord(Record{
		Kind: RecordSeal, At: s.notice.At.UnixMicro(), Order: s.notice.Number, Class: methodCode(s.notice.Method),
	}, next)
}

// methodCode is a method as a number in the journal.
func methodCode(m DrawMethod) uint8 { return uint8(slices.Index(DrawMethods(), m)) }

func methodOf(code uint8) DrawMethod {
	if m := DrawMethods(); int(code) < len(m) {
		return m[code]
	}
	return ""
}

// seedRecord puts 32 bytes into the fields of a record that has no use for them.
func seedRecord(r Record, s Seed) Record {
	copy(r.ID[:], s[:16])
	r.Arrival = int64(binary.BigEndian.Uint64(s[16:]))
	r.Key = int64(binary.BigEndian.Uint64(s[24:]))
	return r
}

// seedOf takes them out again.
func (r *Record) seedOf() (s Seed) {
	copy(s[:], r.ID[:])
	binary.BigEndian.PutUint64(s[16:], uint64(r.Arrival))
	binary.BigEndian.PutUint64(s[24:], uint64(r.Key))
	return s
}

// snapshot appends what restores the draws, but for the places of tickets.
func (d *drawing) snapshot(dst []Record) []Record {
	for _, n := range d.past {
		dst = append(dst, seedRecord(Record{Kind: RecordDrawn, Order: n.Number, Class: methodCode(n.Method)}, Seed(n.Commitment)))
	}
	if d.sealed == nil {
		return append(dst, seedRecord(Record{Kind: RecordSeed, Order: d.number}, d.seed))
	}
	number := d.sealed.notice.Number
	dst = append(dst, seedRecord(Record{Kind: RecordSeed, Order: number}, d.sealed.seed))
	for _, t := range d.sealed.tickets {
		dst = append(dst, Record{Kind: RecordSealed, ID: t.id, Order: number})
	}
	return append(dst, d.sealed.record(d.seed))
}

// ofLot is the draw of a ticket's mark; nil when there is none.
func (d *drawing) ofLot(lot uint8) *DrawNotice {
	for _, n := range d.past {
		if lotOf(n.Number) == lot {
			return n
		}
	}
	return nil
}

// size is how many records a snapshot has of the draws.
func (d *drawing) size() int {
	if d.sealed == nil {
		return len(d.past) + 1
	}
	return len(d.past) + len(d.sealed.tickets)
}

// drawReplay is what the records of draws add up to.
type drawReplay struct {
	drawing
	room string
	list []ID // of a seal that is not closed yet
}

func (r *drawReplay) apply(rec Record) {
	switch rec.Kind { //nolint:exhaustive // the other records are those of replay
	case RecordSeed:
		r.number, r.seed, r.list = rec.Order, rec.seedOf(), nil
	case RecordSealed:
		r.list = append(r.list, rec.ID)
	case RecordSeal:
		r.sealed = newSealedDraw(r.room, rec.Order, methodOf(rec.Class), r.seed, rec.At, r.list)
		r.number, r.seed, r.list = rec.Order+1, rec.seedOf(), nil
	case RecordDrawn:
		r.end(&DrawNotice{Phase: DrawEnded, Number: rec.Order, Method: methodOf(rec.Class), Commitment: Hash(rec.seedOf())})
	default:
	}
}

// lotsMax is how many draws the marks of tickets tell apart.
const lotsMax = 7

// lotOf is the mark of tickets that have a place of the draw. It is never 0.
func lotOf(number uint64) uint8 { return uint8(number%lotsMax) + 1 }
