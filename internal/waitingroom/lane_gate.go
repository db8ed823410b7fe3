package waitingroom

import (
	"context"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// expiryMargin is how long before the end of a ticket's grace the lane leaves the decision to Decide,
// so that no clock makes a new visitor of its holder here.
const expiryMargin = 5 * time.Second

// decideWaiting answers a visitor who holds a place in line and stays there. It is false when anything
// else is to be done; then [Gate.Decide] decides in full. It asks the room only in ways that admit
// nobody, and that change nothing for a question that follows: a check-in counts once.
func (g *Gate) decideWaiting(ctx context.Context, r *Request, a *Answer) bool {
	a.reset()
	t := g.table.Load()
	if t == nil || t.routes.Split(r.Host, r.Path) {
		return false
	}
	i, ok := t.routes.Match(r.Host, r.Path)
	switch {
	case !ok:
		return false
	case i < len(t.rooms):
		v := visit{room: &t.rooms[i], keys: t.keys, rooms: g.rooms}
		a.Kind = Classify(r)
		return a.Kind != Preflight && v.waits(r, a) && v.wait(ctx, r, a)
	case r.Path != waitPath:
		return false
	}
	m, ok := t.named(r)
	if kind := Classify(r); !ok || kind == Preflight || kind == Speculative {
		return false
	}
	a.Kind = WaitEndpoint
	v := visit{room: m, keys: t.keys, rooms: g.rooms}
	if !v.waits(r, a) {
		return false
	}
	v.check(ctx, r, a)
	return a.Action == Respond
}

// waits tells a visitor who holds a place in a room with a line.
func (v *visit) waits(r *Request, a *Answer) bool {
	m := v.room
	if m.suspended || m.method == anteroom.Passthrough && !m.queueAll {
		return false
	}
	m.mark(a)
	v.open(r)
	return v.holds == place && r.Now.Sub(v.ticket.LastSeen) < queue.TicketGrace-expiryMargin
}

// wait answers a request that [visit.decide] would answer with the wish to wait.
func (v *visit) wait(ctx context.Context, r *Request, a *Answer) bool {
	purpose := queue.Look
	switch courseOf(a.Kind, v.holds, r.safe()) {
	case leave:
		v.room.respond(r, &queue.Answer{}, a)
		return true
	case enter:
		purpose = queue.Check
	case glance, observe:
	}
	q, err := v.ask(ctx, r, purpose)
	switch {
	case err != nil:
		v.stalled(r, a, purpose)
		return true
	case q.Verdict == queue.Admitted || q.Turn:
		return false
	case purpose == queue.Check:
		// The ticket may be unknown: of a session that is over. Then this check-in has begun a new one.
		v.keep(r, &q, a)
	}
	v.room.respond(r, &q, a)
	return true
}
