package waitingroom

import (
	"net/http"
	"strconv"

	"github.com/anteroom/anteroom/internal/page"
	"github.com/anteroom/anteroom/internal/queue"
)

// drawPath is where the records of draws are published.
const drawPath = ReservedPath + "draw"

// Records gives the records of draws to everybody who asks: they are published.
type Records interface {
	// ServeDrawRecord answers with the record of a draw, or fails before it has written anything.
	ServeDrawRecord(w http.ResponseWriter, r *http.Request, room string, number uint64) error
}

// draw is what the page shows of the draw that a visitor belongs to.
func (m *room) draw(q *queue.Answer) page.Draw {
	n := q.Draw
	if n == nil {
		return page.Draw{}
	}
	d := page.Draw{Number: n.Number, Phase: string(n.Phase), Method: string(n.Method), Commitment: n.Commitment.String(), Sealed: n.Seal.Count}
	if !q.ID.IsZero() {
		d.Ticket = queue.PublicID(q.ID).String()
	}
	switch n.Phase {
	case queue.DrawSealed:
		d.Root = n.Seal.Root.String()
	case queue.DrawEnded:
		d.Record = m.drawURL + strconv.FormatUint(n.Number, 10)
	case queue.DrawOpen:
	}
	return d
}

// publish lets the handler answer with a record: it may be far larger than an answer of the gate.
func (m *room) publish(r *Request, a *Answer) {
	number, err := strconv.ParseUint(queryValue(r.Query, "number"), 10, 64)
	if err != nil {
		refuse(r, a, statusNotFound, "There is no draw of that number.")
		return
	}
	m.mark(a)
	a.Action, a.Draw = Publish, number
}

// publish answers with the record of a draw.
func (h *Handler) publish(w http.ResponseWriter, r *http.Request, a *Answer, q *Request) {
	if h.options.Records != nil && h.options.Records.ServeDrawRecord(w, r, a.RoomID, a.Draw) == nil {
		return
	}
	a.reset()
	refuse(q, a, statusNotFound, "There is no record of that draw: it has not ended, or was long ago.")
	reply(w, r, a)
}
