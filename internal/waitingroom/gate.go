package waitingroom

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
)

// Gate decides requests by the table in force. It is safe for concurrent use.
type Gate struct {
	rooms Rooms
	table atomic.Pointer[Table]
}

// NewGate makes a gate without a table: it lets everything pass until Set.
func NewGate(rooms Rooms) *Gate { return &Gate{rooms: rooms} }

// Set puts a table in force. Decisions under way keep the one that they began with.
func (g *Gate) Set(t *Table) { g.table.Store(t) }

// Decide answers one request. The answer's former content is lost, its buffers are used again.
func (g *Gate) Decide(ctx context.Context, r *Request, a *Answer) {
	a.reset()
	t := g.table.Load()
	if t == nil {
		return
	}
	if t.routes.Split(r.Host, r.Path) {
		refuse(r, a, statusBad, "The path of this request can be read in two ways.")
		return
	}
	i, ok := t.routes.Match(r.Host, r.Path)
	if !ok && r.PublicHost != "" && r.PublicHost != r.Host {
		r.Host = r.PublicHost
		i, ok = t.routes.Match(r.Host, r.Path)
	}
	if !ok {
		return
	}
	if r.Method == "TRACE" || r.Method == "CONNECT" && r.Upgrade == "" {
		refuse(r, a, statusMethod, "This method is not for a page.")
		a.set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		return
	}
	if i >= len(t.rooms) {
		g.own(ctx, t, r, a)
		return
	}
	m := &t.rooms[i]
	m.mark(a)
	if m.suspended {
		return
	}
	if a.Kind = Classify(r); a.Kind == Preflight {
		return
	}
	v := visit{room: m, keys: t.keys, rooms: g.rooms}
	v.open(r)
	v.decide(ctx, r, a)
}

// mark says which room the answer is about.
func (m *room) mark(a *Answer) { a.RoomID, a.RoomName = m.id, m.name }

// holding is what a visitor's cookie says about the visitor.
type holding uint8

const (
	nothing holding = iota // a new visitor
	place                  // in line
	session                // admitted, and in force as far as the cookie knows
	stale                  // admitted, but seen too long ago as far as the cookie knows
)

// course is how a request asks the room.
type course uint8

const (
	enter   course = iota // it takes part: it gets a place or a session
	glance                // it enters with a session, or when a newcomer would; it takes no place
	observe               // it has no effect, and enters only with a session
	leave                 // it has no effect and nothing to hope for
)

// courseOf is the course of a kind of request by what the visitor holds. The package comment says why.
func courseOf(k Kind, h holding, safe bool) course {
	switch k {
	case Navigation, JSONClient:
		return enter
	case Speculative:
		if h == nothing || h == place {
			return leave
		}
		return observe
	case Background:
		if h == session || !safe && h != place {
			return enter
		}
	case Subresource, Upgrade, ServiceWorker, Preflight, WaitEndpoint:
		if h == session {
			return enter
		}
	}
	return glance
}

// visit is one request to one room.
type visit struct {
	room   *room
	keys   *ticket.Ring
	rooms  Rooms
	ticket ticket.Ticket // zero ID without a usable cookie
	holds  holding
}

// open reads the visitor's cookie.
func (v *visit) open(r *Request) {
	t, ok := v.room.findTicket(v.keys, r)
	switch {
	case !ok:
	case t.Accepted.IsZero():
		v.ticket, v.holds = t, place
	case v.room.lasts(t, r.Now):
		v.ticket, v.holds = t, session
	default:
		v.ticket, v.holds = t, stale
	}
}

// lasts tells that the session of a ticket is in force, by what the ticket itself says.
func (m *room) lasts(t ticket.Ticket, now time.Time) bool {
	from := t.LastSeen
	if m.fixed {
		from = t.Accepted
	}
	return now.Before(from.Add(m.session))
}

// decide asks the room in the way that the kind of request may.
func (v *visit) decide(ctx context.Context, r *Request, a *Answer) {
	course := courseOf(a.Kind, v.holds, r.safe())
	if course == leave {
		v.room.respond(r, &queue.Answer{}, a)
		return
	}
	if course != enter {
		q, err := v.ask(ctx, r, queue.Look)
		switch {
		case err != nil:
			v.stalled(r, a, queue.Look)
			return
		case course == observe && q.Verdict == queue.Admitted:
			v.forward(r, &q, a, false)
			return
		case q.Verdict != queue.Admitted && (course == observe || q.Known || !q.Turn):
			v.room.respond(r, &q, a)
			return
		}
	}
	q, err := v.ask(ctx, r, queue.Enter)
	switch {
	case err != nil:
		v.stalled(r, a, queue.Enter)
	case q.Verdict == queue.Admitted:
		v.forward(r, &q, a, true)
	default:
		v.keep(r, &q, a)
		v.room.respond(r, &q, a)
	}
}

// ask puts the visitor's case to the coordinator.
func (v *visit) ask(ctx context.Context, r *Request, p queue.Purpose) (queue.Answer, error) {
	return v.rooms.Ask(ctx, v.room.id, queue.Ask{
		Purpose:  p,
		ID:       v.ticket.ID,
		Arrival:  v.ticket.Arrival,
		Accepted: v.ticket.Accepted,
		LastSeen: v.ticket.LastSeen,
		Refresh:  v.ticket.Refresh,
		NewID:    r.NewID,
		Draw:     r.Draw,
	})
}

// forward lets the request go to the origin. A counted one renews cookie and session.
func (v *visit) forward(r *Request, q *queue.Answer, a *Answer, counted bool) {
	m := v.room
	a.Action, a.Outcome = Forward, Admitted
	a.Ticket, a.Session = q.ID, m.session
	a.Revocable = m.revocable
	a.ExpireCookie = m.cookies.expire[index(r.HTTPS)]
	if counted {
		a.Renew = !m.fixed
		v.keep(r, q, a)
	}
}

// keep seals what the room said into the answer's cookie, when there is a ticket to keep.
func (v *visit) keep(r *Request, q *queue.Answer, a *Answer) {
	if q.ID.IsZero() {
		return
	}
	a.Ticket = q.ID
	v.room.seal(v.keys, r, q, a)
}

// stalled answers while the coordinator does not; see the package comment.
func (v *visit) stalled(r *Request, a *Answer, p queue.Purpose) {
	m := v.room
	q := v.witness(r, p)
	if v.holds == session && a.Kind != WaitEndpoint {
		v.forward(r, &q, a, a.Kind != Speculative)
		return
	}
	if m.method == anteroom.Passthrough && !m.queueAll && a.Kind != WaitEndpoint {
		return // such a room only counts; it must not cost the site a visitor
	}
	if p != queue.Look {
		v.keep(r, &q, a)
	}
	m.respond(r, &q, a)
	a.Status, a.Outcome = statusAway, Stalled
}

const (
	// stallRefresh and stallSpread bound the refresh interval while the coordinator does not answer.
	stallRefresh = 5 * time.Second
	stallSpread  = 6
)

// witness is what the gate itself can say of the visitor: the cookie, and that they are here now. A new
// visitor of a room with a line gets a ticket, so that the time of arrival counts.
func (v *visit) witness(r *Request, p queue.Purpose) queue.Answer {
	t := v.ticket
	q := queue.Answer{ID: t.ID, Arrival: t.Arrival, Accepted: t.Accepted, LastSeen: t.LastSeen, Refresh: t.Refresh, Known: true}
	switch v.holds {
	case session:
		q.LastSeen = r.Now
		return q
	case place:
		if !r.Now.Before(t.LastSeen.Add(t.Refresh)) {
			q.LastSeen = r.Now
		}
	case stale, nothing:
		q = queue.Answer{}
		if p != queue.Look && v.room.method != anteroom.Reject {
			q = queue.Answer{ID: r.NewID, Arrival: r.Now, LastSeen: r.Now}
		}
	}
	if v.room.method == anteroom.Reject {
		q.Verdict = queue.Refused // a place is kept for the day the room opens again
	}
	q.Refresh = stallRefresh + time.Duration(r.Draw%stallSpread)*time.Second
	return q
}
