package waitingroom

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// own answers requests to the gate's own paths. They exist on each host that a room covers.
func (g *Gate) own(ctx context.Context, t *Table, r *Request, a *Answer) {
	a.Kind = WaitEndpoint
	m, ok := t.named(r)
	switch kind := Classify(r); {
	case kind == Preflight:
		permit(r, a)
	case r.Path != waitPath && r.Path != drawPath:
		refuse(r, a, statusNotFound, "There is nothing at this path.")
	case r.Method != "GET" && r.Method != "HEAD":
		refuse(r, a, statusMethod, "Only GET and HEAD are answered here.")
		a.set("Allow", "GET, HEAD")
	case !ok:
		refuse(r, a, statusNotFound, "This host has no waiting room of that id.")
	case r.Path == drawPath:
		m.publish(r, a)
	case kind == Speculative:
		a.Kind = Speculative
		m.respond(r, &queue.Answer{}, a)
	case m.suspended:
		m.mark(a)
		m.respond(r, &queue.Answer{Turn: true, Known: true}, a)
	default:
		m.mark(a)
		v := visit{room: m, keys: t.keys, rooms: g.rooms}
		v.open(r)
		v.check(ctx, r, a)
	}
}

// check tells the waiting page how things stand. The room may have the request held until the turn comes.
func (v *visit) check(ctx context.Context, r *Request, a *Answer) {
	q, err := v.ask(ctx, r, queue.Check)
	if err != nil {
		v.stalled(r, a, queue.Check)
		return
	}
	// A visitor who has no cookie yet gets it first: a broken connection would cost the place.
	if q.Head && !q.Turn && q.Known && q.Verdict == queue.Waiting && !r.Held && r.Method == "GET" {
		a.Action, a.Ticket = Hold, q.ID
		return
	}
	v.keep(r, &q, a)
	v.room.respond(r, &q, a)
}

// named finds the room that the query asks for, if one of its routes is on this host.
func (t *Table) named(r *Request) (*room, bool) {
	i, ok := t.byID[queryValue(r.Query, "room")]
	if !ok {
		return nil, false
	}
	for _, own := range t.rooms[i].routes {
		if at, ok := t.routes.Match(r.Host, own.Path); ok && at == i {
			return &t.rooms[i], true
		}
	}
	return nil, false
}

// queryValue is the first value of a query's parameter, or empty.
func queryValue(query, name string) string {
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key != name {
			continue
		}
		if strings.ContainsAny(value, "%+") {
			value, _ = url.QueryUnescape(value)
		}
		return value
	}
	return ""
}

// permit answers a preflight for a path of ours: reading one's own state harms nobody.
func permit(r *Request, a *Answer) {
	a.Action, a.Status = Respond, statusNoBody
	neverStored(a)
	if !isOrigin(r.Origin) {
		return
	}
	allowOrigin(r, a)
	a.set("Access-Control-Allow-Methods", "GET, HEAD")
	a.set("Access-Control-Allow-Headers", "Accept, Cache-Control, Content-Type, X-Requested-With")
	a.set("Access-Control-Max-Age", "600")
}

// refuse answers a request that is wrong in itself, in the envelope of the API.
func refuse(r *Request, a *Answer, status int, text string) {
	a.Action, a.Status, a.Outcome = Respond, status, Faulty
	neverStored(a)
	a.set("Content-Type", "application/json")
	allowOrigin(r, a)
	if r.Method != "HEAD" {
		a.Body = append(a.Body, `{"success":false,"errors":[{"code":`...)
		a.Body = strconv.AppendInt(a.Body, int64(errorCode(status)), 10)
		a.Body = append(a.Body, `,"message":"`...)
		a.Body = append(a.Body, text...)
		a.Body = append(a.Body, `"}],"messages":[],"result":null}`...)
	}
}

// errorCode is the released code of an error that the gate makes itself.
func errorCode(status int) anteroom.Code {
	switch status {
	case statusNotFound:
		return anteroom.CodeNotFound
	case statusMethod:
		return anteroom.CodeMethod
	}
	return anteroom.CodeInvalid
}
