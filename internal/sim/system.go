package sim

import (
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// system is the algorithm that a world runs: what answers the requests of visitors. It schedules on
// the engine whatever happens by itself.
type system interface {
	// ask is one request of a visitor at a node of a data center. The answer is used at once: the way
	// to the visitor is not simulated.
	ask(r request) reply
	// await holds the request of a visitor who was told that the turn is near. wake is called when the
	// turn has come or the hold is over. False tells that nothing is held.
	await(center int, c cookie, wake func()) bool
	// strike begins a fault and returns what ends it; nil when the system has nothing that could break
	// like this.
	strike(f Fault) (heal func())
	// counts tells the room's own view.
	counts() counts
	// traffic tells messages and bytes between data centers so far.
	traffic() (messages, bytes int)
	// audit checks the system's own books and names what is broken.
	audit() []string
	// turns drains the turns given since the last call.
	turns() []turn
}

// request is what a visitor sends.
type request struct {
	center, node int
	cookie       cookie
	draw         uint64
	fresh        queue.ID // the ID of a new ticket, should one be made
	class        uint8
}

// cookie is what a visitor keeps of the last answer. The published algorithm reads Arrival as its
// bucket.
type cookie struct {
	id       queue.ID
	arrival  time.Time
	accepted time.Time
	seen     time.Time
	refresh  time.Duration
	home     uint32 // tag of the data center that gave it
}

// reply is the answer to a request.
type reply struct {
	lost     bool // nobody answered
	admitted bool
	entered  bool // by this request
	cookie   cookie
	refresh  time.Duration // when to ask again
	head     bool          // the request may be held
	estimate queue.Estimate
}

// counts are what a room believes.
type counts struct{ active, waiting, free int }

// turn is the moment at which the room decided that a ticket may enter.
type turn struct {
	id queue.ID
	at time.Time
}
