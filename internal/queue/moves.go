package queue

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Tag is the short form of a data center's name that a cookie carries. It is never 0.
func Tag(dataCenter string) uint32 {
	sum := sha256.Sum256([]byte(dataCenter))
	return max(1, binary.BigEndian.Uint32(sum[:]))
}

// noticesMax bounds the notices that wait for one data center. One that is dropped leaves two rights out for
// one session until it ends where it was, and its guest's debt is paid from the pool.
const noticesMax = 1024

// mergeMoves tells former homes of sessions that have moved, and lets the rights that these release
// follow to where the sessions are. So many rights came back with this very report.
func (g *Global) mergeMoves(now int64, c *center, r Report, returned uint64) {
	for _, m := range r.Moved {
		if m.Number > c.movesSeen {
			c.movesSeen = m.Number
			g.notify(c, m)
		}
	}
	c.notices = slices.DeleteFunc(c.notices, func(m Move) bool { return m.Number <= r.NoticesSeen })
	for _, m := range r.Released {
		if m.Number > c.releasedSeen {
			c.releasedSeen = m.Number
			// A leader before may have counted the return, and given the right already.
			if returned > 0 || g.pool(g.rights(), g.set.TotalActiveUsers) > 0 {
				g.transfer(now, m.To)
			}
			returned -= min(returned, 1)
		}
	}
}

// notify lets the former home of a session know that it has moved to a data center.
func (g *Global) notify(to *center, m Move) {
	for _, home := range g.centers {
		if home == to || Tag(home.name) != m.Home || len(home.notices) >= noticesMax {
			continue
		}
		home.noticed++
		home.notices = append(home.notices, Move{Number: home.noticed, ID: m.ID, Seen: m.Seen, To: to.name})
		home.dirty = true
	}
}

// transfer gives a right that was released for a data center to it, before anybody else can get it:
// the session there is honoured on credit. It is among what the former home has returned. One that cannot
// be given yet, because the data center was not heard or the ledger does not allow it, is owed.
func (g *Global) transfer(now int64, to string) {
	c := g.center(to)
	if c.owed == 0 {
		c.owedAt = now
	}
	c.owed++
	g.settle(now, c)
}

// settle gives what is owed. When nobody there is on credit, or the session that it was for must be over, it
// is free again.
func (g *Global) settle(now int64, c *center) {
	if c.owed > 0 && (c.reachable() && c.rights.debt == 0 || now-c.owedAt > (g.set.Session+sessionMargin).Microseconds()) {
		c.owed = 0
	}
	for c.owed > 0 && c.reachable() && c.rights.debt > 0 && c.rights.out() < g.books.most(c.name, g.rights().most) {
		c.rights.granted++
		c.rights.debt--
		c.owed--
	}
}

// moves is what a data center knows of sessions that change their home.
type moves struct {
	taken, released             []moveOut
	takenNumber, releasedNumber uint64
	noticesSeen                 uint64
	// covers are sessions that were taken over on credit, in order of the times until which the former
	// home still holds a right for them.
	covers []cover
}

// moveOut is a move to tell of, and the first report that did.
type moveOut struct {
	Move
	report uint64
}

// cover is a session that is honoured because another data center still holds its right.
type cover struct {
	until int64
	id    ID
}

// acknowledge forgets what a counted report has told.
func (m *moves) acknowledge(report uint64) {
	told := func(o moveOut) bool { return o.report != 0 && o.report <= report }
	m.taken = slices.DeleteFunc(m.taken, told)
	m.released = slices.DeleteFunc(m.released, told)
}

// tell lists what is to be told in a report.
func tell(list []moveOut, report uint64) []Move {
	if len(list) == 0 {
		return nil
	}
	out := make([]Move, len(list))
	for i := range list {
		if list[i].report == 0 {
			list[i].report = report
		}
		out[i] = list[i].Move
	}
	return out
}

// take notes a session that was taken over.
func (m *moves) take(id ID, seen int64, home uint32) {
	m.takenNumber++
	m.taken = append(m.taken, moveOut{Move: Move{Number: m.takenNumber, ID: id, Seen: seen, Home: home}})
}

// release notes a session whose right was let go to another data center.
func (m *moves) release(id ID, to string) {
	m.releasedNumber++
	m.released = append(m.released, moveOut{Move: Move{Number: m.releasedNumber, ID: id, To: to}})
}

// shelter notes that a session is covered until a stamp.
func (m *moves) shelter(id ID, until int64) {
	i, _ := slices.BinarySearchFunc(m.covers, until, func(c cover, at int64) int {
		if c.until <= at {
			return -1
		}
		return 1
	})
	m.covers = slices.Insert(m.covers, i, cover{until, id})
}

// uncover takes a session off the covered ones.
func (m *moves) uncover(id ID) {
	m.covers = slices.DeleteFunc(m.covers, func(c cover) bool { return c.id == id })
}

// coverMargin is how much earlier than its cookie says a session counts as given up by its former home:
// what clocks differ by, and a message's way. coverMin is how long the former home must hold the right
// from now on, so that it can follow. One that moves later than that and finds no right goes to the
// head of the line.
const (
	coverMargin = 5 * second
	coverMin    = 5 * second
)

// sightGrain is the grain of times in cookies. A session knows the time that its last cookie carries, so
// nothing else can make two readings of one moment differ.
const sightGrain = milli

// heed looks at notices of sessions that have moved away. A visitor who was here since then is kept; for
// the others the right leaves with the session.
func (l *Local) heed(now int64, notices []Move) {
	for _, m := range notices {
		if m.Number <= l.moves.noticesSeen {
			continue
		}
		l.moves.noticesSeen = m.Number
		l.report.changed = true
		slot, s, ok := l.sessions.find(m.ID)
		if !ok || s.state != sessionActive || s.told > m.Seen+sightGrain {
			continue
		}
		l.moves.uncover(m.ID)
		l.sessions.leave(slot, s)
		if l.rights.debt() == 0 {
			l.rights.returned++
			l.moves.release(m.ID, m.To)
		} // else the right pays a debt here: two full data centers may swap visitors
		l.rights.used--
		l.report.urgent = true
		l.record(Record{Kind: RecordLeft, ID: m.ID, At: now})
	}
}

// uncovered ends sessions on credit whose cover is over and that could not be paid: their places belong
// to others by now. It happens only to a data center that is cut off or full of such guests.
func (l *Local) uncovered(now int64) {
	for len(l.moves.covers) > 0 && l.moves.covers[0].until <= now {
		c := l.moves.covers[0]
		l.moves.covers = l.moves.covers[1:]
		slot, s, ok := l.sessions.find(c.id)
		if ok && s.state == sessionActive && l.rights.debt() > len(l.moves.covers) {
			l.endSession(now, slot, s)
		}
	}
}
