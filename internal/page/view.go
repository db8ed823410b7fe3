package page

import (
	"time"

	"github.com/anteroom/anteroom"
)

// Draw is what is published of a draw, for one visitor.
type Draw struct {
	Number uint64
	// Phase is open, sealed or drawn; Method is random or shuffle.
	Phase, Method string
	// Commitment binds the draw's secret seed. It is in hexadecimal digits, like Ticket and Root.
	Commitment string
	// Ticket is the visitor's public ticket, by which a record lists it; empty before there is a ticket.
	Ticket string
	// Sealed is how many tickets are in the sealed list, and Root its Merkle root; 0 and empty before
	// the seal.
	Sealed int
	Root   string
	// Record is where the record is, a same-origin path; empty before the draw.
	Record string
}

// View is the state of one waiting visitor, as a page or JSON can show it. Every published variable
// derives from it.
type View struct {
	RoomID   string
	RoomName string
	// TicketID is the visitor's public ticket number: 32 hexadecimal digits.
	TicketID string
	Method   anteroom.Method
	QueueAll bool

	// Known is false when no honest estimate exists.
	Known bool
	// Wait25, Wait and Wait75 are the waits that 25, 50 and 75 % of a lottery's visitors do not
	// exceed. In a line Wait is the estimate, Wait25 and Wait75 its range while Ranged.
	Wait25, Wait, Wait75 time.Duration
	Ranged               bool
	// Reason is why the wait is longer than this visitor was promised before: settings, visits
	// or ahead; empty while the promise holds.
	Reason string

	// Position is the place in line, 1 is next, 0 is unknown (lottery, rejected, no line).
	Position int
	// Waiting is how many wait in all.
	Waiting int
	// Turn tells that the visitor may enter now.
	Turn bool

	// Refresh is when to ask again; 0 for a rejected visitor.
	Refresh time.Duration
	// LastUpdated is the time of the last counted check-in.
	LastUpdated time.Time
	// New tells that this request began the visit: the page then says that cookies hold the place.
	New bool

	// Draw is the published draw that the visitor belongs to; its Number is 0 where nothing is drawn.
	Draw Draw

	// Language is a published locale such as "de-DE".
	Language string
	// Return is the same-origin path and query the visitor asked for; it is never a full URL.
	Return string
	// WaitURL is where the page's script asks for its state: a same-origin path.
	WaitURL string
}
