package waitingroom

import (
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// Action is what the listener does with a request.
type Action uint8

// The actions.
const (
	Pass    Action = iota // no room concerns it: to the origin, without cookie and without a visit
	Forward               // the visitor is in: to the origin, the cookie goes on the answer
	Respond               // the gate answers with Status, Headers and Body
	Hold                  // wait for the turn with Rooms.Await, then decide again with Held set
	Publish               // the record of RoomID's draw number Draw
)

// Outcome is how a request ended at the gate, for metrics.
type Outcome uint8

// The outcomes.
const (
	Passed   Outcome = iota // no room, a suspended one, or a preflight
	Admitted                // to the origin with a session
	Waited                  // told to wait
	Turned                  // told that the turn has come
	Rejected                // told that nobody enters
	Stalled                 // the coordinator did not answer; the visitor was told to wait
	Faulty                  // a wrong request to a path of ours
)

// String is the outcome as a metric's label.
func (o Outcome) String() string {
	switch o {
	case Passed:
		return "passed"
	case Admitted:
		return "admitted"
	case Waited:
		return "waiting"
	case Turned:
		return "turn"
	case Rejected:
		return "rejected"
	case Stalled:
		return "stalled"
	case Faulty:
		return "faulty"
	}
	return "unknown"
}

// Header is one field of an answer's header.
type Header struct{ Name, Value string }

// Answer is what the gate decided. The caller may use one Answer for many requests: its buffers are
// kept, and what it held is valid until the next call of Decide.
type Answer struct {
	Action  Action
	Kind    Kind
	Outcome Outcome

	// RoomID and RoomName are of the room that covers the request; empty when none does.
	RoomID, RoomName string
	// Ticket names the visitor's ticket or session; zero when there is none.
	Ticket queue.ID
	// Session is the room's session duration. Renew tells that the end of the request, and a long
	// request while it runs, prolong the session.
	Session time.Duration
	Renew   bool
	// Revocable tells that the origin may end the session by a header of its response.
	Revocable bool

	// Draw is the number of the draw whose record is asked for.
	Draw uint64

	// Status, Headers and Body are the response of Respond. Body is empty for HEAD.
	Status  int
	Headers []Header
	Body    []byte
	// Cookie is the value of a Set-Cookie header for Forward and Respond; empty when there is none.
	Cookie []byte
	// ExpireCookie is the Set-Cookie value that takes the visitor's cookie away after a revocation.
	ExpireCookie string
}

// reset empties an answer and keeps its buffers.
func (a *Answer) reset() {
	*a = Answer{Headers: a.Headers[:0], Body: a.Body[:0], Cookie: a.Cookie[:0]}
}

// set adds a header field.
func (a *Answer) set(name, value string) { a.Headers = append(a.Headers, Header{name, value}) }
