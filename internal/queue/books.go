package queue

import "time"

// Accounts tells what this data center holds and uses: rights and permits.
func (l *Local) Accounts() (rights, permits Account) { return l.rights.account(), l.permit.account() }

// Settled tells that it knows what its incarnation has inherited.
func (l *Local) Settled() bool { return l.settled }

// Epoch is the epoch of the leader that it follows.
func (l *Local) Epoch() uint64 { return l.epoch }

// InLine is how many tickets wait here for their turn.
func (l *Local) InLine() int { return l.tickets.inLine }

// Due is how many tickets have their turn here: rights are kept for them, or will be.
func (l *Local) Due() int { return l.tickets.due.len() }

// RoomTime is the room's time as far as it is known here.
func (l *Local) RoomTime(now time.Time) time.Time { return timeOf(l.toRoom(l.stamp(now))) }

// Called drains the IDs of tickets whose turn has come, in order, when LocalConfig.Trace is set.
func (l *Local) Called() []ID {
	out := l.called
	l.called = nil
	return out
}

func (l *Local) trace(id ID) {
	if l.cfg.Trace {
		l.called = append(l.called, id)
	}
}

// Present is how many of those in line are there: the others have not asked when it was time to.
func (l *Local) Present() int { return l.tickets.present() }

// Capacity is how many rights and permits this data center can have in use: what it holds, without what it
// will give back as soon as it is idle.
func (l *Local) Capacity() (rights, permits int) { return l.rights.capacity(), l.permit.capacity() }
