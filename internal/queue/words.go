package queue

import (
	"encoding/hex"
	"time"

	"github.com/anteroom/anteroom"
)

// ID names one ticket, and the session that the ticket becomes. It is random and unique.
type ID [16]byte

// String is the ID in 32 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero tells the ID that no ticket has.
func (id ID) IsZero() bool { return id == ID{} }

// Settings are a room's rules as the core needs them. They may change at any time.
type Settings struct {
	Method            anteroom.Method
	TotalActiveUsers  int
	NewUsersPerMinute int
	// Session is how long a session lasts after the last touch; at least 1 s.
	Session time.Duration
	// FixedSessions makes Session count from the admission: touches do not renew.
	FixedSessions bool
	// QueueAll admits nobody new.
	QueueAll bool
	// Pacing spreads admissions: at most this much of the rate of new_users_per_minute at once. 0 is off.
	Pacing time.Duration
	// Weights of the priority classes: while several classes wait, each gives turns in proportion. A class
	// without a weight is class 0; with no weights at all there is only that.
	Weights [ClassesMax]int
	// Shuffle draws the order of those who came in a span of time, as before the start of an event.
	Shuffle Shuffle
}

// Shuffle is a span of arrivals whose order is drawn: whoever came in it is as likely first as last.
// Those before it go first, those after it behind. The zero value shuffles nobody.
type Shuffle struct {
	From, Until time.Time
	// Seed is the draw's final seed; see docs/draw.md.
	Seed Seed
}

// includes tells whether a ticket of this arrival takes part.
func (s *Shuffle) includes(arrival int64) bool {
	return !s.Until.IsZero() && arrival >= s.From.UnixMicro() && arrival < s.Until.UnixMicro()
}

// classOf is the class of a ticket that asks for one.
func (s *Settings) classOf(class uint8) uint8 {
	if class >= ClassesMax || s.Weights[class] <= 0 {
		return 0
	}
	return class
}

// weights are the weights in force: at least 1 for class 0.
func (s *Settings) weights() [ClassesMax]int {
	w := s.Weights
	w[0] = max(1, w[0])
	return w
}

// Purpose says what a request wants of the room.
type Purpose uint8

// The purposes of a request.
const (
	// Enter is a request that goes to the origin when admitted.
	Enter Purpose = iota
	// Check asks for the state and takes no place at the origin: a status poll of the page. It
	// keeps a ticket alive and never admits.
	Check
	// Look asks without any effect: it takes no place, renews nothing, counts nothing.
	Look
)

// Ask is one request of a visitor: what its cookie says, and the draws that an answer may need.
type Ask struct {
	Purpose Purpose
	// ID, Arrival, Accepted, LastSeen and Refresh come from the visitor's cookie. A visitor without
	// a usable cookie has a zero ID. Accepted is zero while queued.
	ID       ID
	Arrival  time.Time
	Accepted time.Time
	LastSeen time.Time
	Refresh  time.Duration
	// NewID is a fresh random ID for a visitor who has none, or whose old one is spent.
	NewID ID
	// Home is the tag of the data center that gave the cookie; 0 when the cookie does not say.
	Home uint32
	// Class is the visitor's priority class. It counts when the ticket is registered.
	Class uint8
	// Draw is a uniform random number for jitter and lottery.
	Draw uint64
}

// Verdict is the room's decision on one request.
type Verdict uint8

// The verdicts.
const (
	Waiting  Verdict = iota // the visitor stays in line
	Admitted                // the visitor has a session; the request goes to the origin
	Refused                 // the room rejects newcomers
)

// Answer is what the room says to one request.
type Answer struct {
	Verdict Verdict
	// ID, Arrival, Accepted, LastSeen and Refresh are what the cookie must carry from now on.
	// ID differs from the asked one when a new visitor begins.
	ID       ID
	Arrival  time.Time
	Accepted time.Time
	LastSeen time.Time
	Refresh  time.Duration
	// Home is the tag of this data center, for the cookie.
	Home uint32
	// Turn tells a waiting visitor that the next request to enter will be admitted; for a Look
	// without a ticket, that a newcomer would be.
	Turn bool
	// Head tells that the turn is near and a request may be held until it comes; see Local.Hold.
	Head bool
	// Entered tells that this very request began the session.
	Entered bool
	// Known tells that the cookie's ticket was in force; false for a new visitor.
	Known bool
	// Position is the exact place in line, 1 is next; 0 when it is not known or there is no order.
	Position int
	// Waiting is how many visitors wait in all.
	Waiting int
	// Estimate is the expected wait.
	Estimate Estimate
	// Draw is what is published of the draw that a waiting visitor belongs to; nil in a room that draws
	// nothing. It never changes.
	Draw *DrawNotice
	// Seq is the number of the last journal record that must be durable before the answer is acted
	// on; 0 when there is nothing to wait for.
	Seq uint64
}

// Estimate is an expected wait. For a lottery, Low, Middle and High are the waits that 25, 50 and
// 75 % of the waiting visitors do not exceed; for a line Middle is the estimate, and nine of ten
// visitors enter between Low and High.
type Estimate struct {
	// Known is false when nothing honest can be said: nobody is admitted, or all must queue.
	Known             bool
	Low, Middle, High time.Duration
	// Ranged tells that the estimate is still uncertain and should be shown as a range.
	Ranged bool
	// Reason says why the wait is longer than this visitor was promised before.
	Reason Reason
}

// State is what the room does with newcomers at the moment.
type State uint8

// The states of a room.
const (
	Open     State = iota // newcomers enter
	Queueing              // newcomers wait
)

// Status is a snapshot of the room's counts.
type Status struct {
	State State
	// Waiting are tickets that wait or have their turn; tickets that lapsed are not among them.
	Waiting int
	// Active are sessions in force.
	Active int
	// Free is how many more could enter this instant under both limits.
	Free int
	// AdmittedMinute is how many were admitted in the last 60 s.
	AdmittedMinute int
	// Longest is the wait estimated for the last in line, OldestWait how long the first in line has
	// waited so far.
	Longest    Estimate
	OldestWait time.Duration
	// Admitted, Joined, Abandoned and Lapsed count since the room began.
	Admitted, Joined, Abandoned, Lapsed uint64
}
