package api

import (
	"encoding/hex"
	"net/http"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// roomStatus is the published status of a room.
type roomStatus struct {
	Status               string `json:"status"`
	EventID              string `json:"event_id"`
	EstimatedQueued      int    `json:"estimated_queued_users"`
	EstimatedTotalActive int    `json:"estimated_total_active_users"`
	MaxEstimatedMinutes  int    `json:"max_estimated_time_minutes"`
	// Draw is left out of the published form where a room draws nothing.
	Draw *drawState `json:"draw,omitempty"`
}

func (h *handler) roomStatus(r *http.Request) (reply, error) {
	record, err := h.room(r)
	if err != nil {
		return reply{}, err
	}
	now, err := h.o.Rooms.Status(r.Context(), record.Room.ID)
	if err != nil && !record.Room.Suspended {
		return reply{}, err
	}
	status := roomStatus{
		Status:               "not_queueing",
		EstimatedQueued:      now.Waiting,
		EstimatedTotalActive: now.Active,
		MaxEstimatedMinutes:  minutes(now.Longest),
	}
	switch {
	case record.Room.Suspended:
		status.Status = "suspended"
	case now.State == queue.Queueing:
		status.Status = "queueing"
	}
	if draws, err := h.o.Rooms.Draws(r.Context(), record.Room.ID); err == nil && draws.Any() {
		status.Draw = drawStateOf(record.Room.ID, &draws)
	}
	return reply{result: status}, nil
}

// minutes is the longest wait that anybody is told, rounded up; 0 when none is known.
func minutes(e queue.Estimate) int {
	if !e.Known {
		return 0
	}
	return int((max(e.Middle, e.High) + time.Minute - 1) / time.Minute)
}

// endSession ends one session early: the next visitor in line gets its place.
func (h *handler) endSession(r *http.Request) (reply, error) {
	record, err := h.room(r)
	if err != nil {
		return reply{}, err
	}
	var id queue.ID
	given := r.PathValue("ticket")
	if len(given) != hex.EncodedLen(len(id)) {
		return reply{}, badTicket()
	}
	if _, err := hex.Decode(id[:], []byte(given)); err != nil {
		return reply{}, badTicket()
	}
	return reply{result: deleted{id.String()}}, h.o.Rooms.EndSession(r.Context(), record.Room.ID, id)
}

func badTicket() error {
	return anteroom.Errorf(anteroom.CodeInvalid, "a ticket is 32 hexadecimal digits").At("ticket").
		WithHint("the origin finds it in the header Anteroom-Ticket of an admitted request")
}
