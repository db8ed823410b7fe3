package waitingroom

import (
	"context"

	"github.com/anteroom/anteroom/internal/queue"
)

// Rooms is what the gate needs of the coordinator. Rooms are named by their id.
type Rooms interface {
	// Ask decides one request. It is quick and never blocks on another data center.
	//
	// For a visitor without a ticket the gate expects: Look says Turn when a newcomer would enter at
	// this moment, and Check and Enter begin a ticket with NewID when they do not admit.
	Ask(ctx context.Context, room string, ask queue.Ask) (queue.Answer, error)
	// Await returns when the ticket's turn has come (true), or ctx ends or the ticket is not at the
	// head (false).
	Await(ctx context.Context, room string, id queue.ID) bool
}

// Sessions is what the adapter needs of the coordinator besides.
type Sessions interface {
	// Touch renews a session: a request of it has ended or is still running. It does not block.
	Touch(room string, id queue.ID)
	// End ends a session at the origin's command; its place is free when End returns.
	End(ctx context.Context, room string, id queue.ID)
}
