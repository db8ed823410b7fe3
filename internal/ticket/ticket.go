package ticket

import (
	"encoding/binary"
	"errors"
	"time"
)

// ID names one visit. It is random, unique and never zero.
type ID = [16]byte

// Ticket is what a cookie says about a visitor. Times count in whole milliseconds.
type Ticket struct {
	ID ID
	// Arrival is when the visitor joined; it decides the place in line.
	Arrival time.Time
	// Accepted is when the visitor was admitted; zero while queued.
	Accepted time.Time
	// LastSeen is the last counted request.
	LastSeen time.Time
	// Refresh is the interval after LastSeen before which a request is no attempt to enter: 0 to 49 days.
	Refresh time.Duration
}

// Bucket is the minute of the arrival in UTC, published as bucketId.
func (t Ticket) Bucket() time.Time { return t.Arrival.UTC().Truncate(time.Minute) }

// Bounds of what [Ring.Open] accepts.
const (
	// Skew is how far a time may lie ahead of the reader's clock.
	Skew = 5 * time.Second
	// MaxAge is how long ago the visitor may have been seen last. Rooms apply finer ages.
	MaxAge = 24 * time.Hour
)

// Errors of [Ring.Open]. The bearer is a new visitor in each case.
var (
	// ErrForeign is a text that this ring cannot open for this room: garbage, cut short, changed, of another
	// room, of an unknown key or version, or with contents that no ticket has.
	ErrForeign = errors.New("the ticket cannot be opened for this room")
	// ErrFuture is a ticket with a time more than [Skew] ahead.
	ErrFuture = errors.New("the ticket has a time in the future")
	// ErrOld is a ticket that was last seen more than [MaxAge] ago.
	ErrOld = errors.New("the ticket is too old")
)

// Sizes of the plain contents and of their parts.
const (
	idSize    = 16
	timeSize  = 8
	plainSize = idSize + 3*timeSize + 4

	refreshMillisMax = 1<<32 - 1
)

// put writes the contents to b, which holds plainSize bytes. Nodes' clocks differ, so a visitor may be seen by
// one node "before" another let it arrive: later steps are raised to the earlier ones, for a ticket whose
// times stand in the wrong order would be refused and its bearer would lose the place.
func (t Ticket) put(b []byte) {
	arrival, accepted, seen := t.Arrival.UnixMilli(), t.Accepted.UnixMilli(), t.LastSeen.UnixMilli()
	seen = max(seen, arrival)
	if !t.Accepted.IsZero() {
		accepted = max(accepted, arrival)
		seen = max(seen, accepted)
	}
	copy(b, t.ID[:])
	binary.BigEndian.PutUint64(b[idSize:], uint64(arrival))
	binary.BigEndian.PutUint64(b[idSize+timeSize:], uint64(accepted))
	binary.BigEndian.PutUint64(b[idSize+2*timeSize:], uint64(seen))
	refresh := min(max(t.Refresh.Milliseconds(), 0), refreshMillisMax)
	binary.BigEndian.PutUint32(b[idSize+3*timeSize:], uint32(refresh))
}

// parse reads what put wrote. A zero time survives as such: its milliseconds are those of the year 1.
func parse(b []byte) Ticket {
	at := func(i int) time.Time {
		return time.UnixMilli(int64(binary.BigEndian.Uint64(b[idSize+i*timeSize:]))).UTC()
	}
	return Ticket{
		ID:       ID(b[:idSize]),
		Arrival:  at(0),
		Accepted: at(1),
		LastSeen: at(2),
		Refresh:  time.Duration(binary.BigEndian.Uint32(b[idSize+3*timeSize:])) * time.Millisecond,
	}
}

// check says whether a ticket that was opened may be used at the given time.
func (t Ticket) check(now time.Time) error {
	if t.ID == (ID{}) || t.Arrival.After(t.LastSeen) {
		return ErrForeign
	}
	if !t.Accepted.IsZero() && (t.Accepted.Before(t.Arrival) || t.Accepted.After(t.LastSeen)) {
		return ErrForeign
	}
	// LastSeen is the latest of the three, so it alone decides both bounds.
	if t.LastSeen.After(now.Add(Skew)) {
		return ErrFuture
	}
	if t.LastSeen.Before(now.Add(-MaxAge)) {
		return ErrOld
	}
	return nil
}
