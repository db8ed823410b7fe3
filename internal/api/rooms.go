package api

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

// deleted is the result of a DELETE.
type deleted struct {
	ID string `json:"id"`
}

func (h *handler) listRooms(r *http.Request) (reply, error) {
	zone, err := h.zone(r)
	if err != nil {
		return reply{}, err
	}
	return paged(r, roomsOf(h.o.Config.Snapshot(), func(id string) bool { return id == zone.ID }))
}

func (h *handler) listAccountRooms(r *http.Request) (reply, error) {
	account, err := h.account(r)
	if err != nil {
		return reply{}, err
	}
	now := h.o.Config.Snapshot()
	return paged(r, roomsOf(now, func(id string) bool {
		zone, ok := now.Zone(id)
		return ok && zone.AccountID == account.ID
	}))
}

func roomsOf(now *config.Snapshot, inZone func(id string) bool) []anteroom.Room {
	var rooms []anteroom.Room
	for i := range now.Rooms {
		if inZone(now.Rooms[i].Zone) {
			rooms = append(rooms, now.Rooms[i].Room)
		}
	}
	return rooms
}

func (h *handler) createRoom(r *http.Request) (reply, error) {
	zone, err := h.zone(r)
	if err != nil {
		return reply{}, err
	}
	room, dry, err := h.decodeRoom(r)
	if err != nil {
		return reply{}, err
	}
	if dry {
		return reply{result: room}, nil
	}
	record, err := h.o.Config.CreateRoom(r.Context(), zone.ID, room, anteroom.Extras{})
	return reply{result: record.Room, revision: record.Revision}, err
}

// decodeRoom reads the body of a create or a full replace.
func (h *handler) decodeRoom(r *http.Request) (room anteroom.Room, dry bool, err error) {
	if dry, err = dryRun(r); err != nil {
		return room, dry, err
	}
	body, err := readBody(r)
	if err != nil {
		return room, dry, err
	}
	room, err = config.DecodeRoom(body, h.o.Checks)
	return room, dry, err
}

func (h *handler) getRoom(r *http.Request) (reply, error) {
	record, err := h.room(r)
	return reply{result: record.Room, revision: record.Revision}, err
}

func (h *handler) putRoom(r *http.Request) (reply, error) {
	if _, err := h.room(r); err != nil {
		return reply{}, err // whether the room exists matters more than what the body says
	}
	room, dry, err := h.decodeRoom(r)
	if err != nil {
		return reply{}, err
	}
	return h.edit(r, dry, func(record config.RoomRecord) (config.RoomRecord, error) {
		old := record.Room
		record.Room = room
		record.Room.ID, record.Room.CreatedOn, record.Room.ModifiedOn = old.ID, old.CreatedOn, old.ModifiedOn
		return record, nil
	})
}

func (h *handler) patchRoom(r *http.Request) (reply, error) {
	if _, err := h.room(r); err != nil {
		return reply{}, err
	}
	dry, err := dryRun(r)
	if err != nil {
		return reply{}, err
	}
	body, err := readBody(r)
	if err != nil {
		return reply{}, err
	}
	return h.edit(r, dry, func(record config.RoomRecord) (config.RoomRecord, error) {
		record.Room, err = config.PatchRoom(record.Room, body, h.o.Checks)
		return record, err
	})
}

// edit changes the room of the request and answers it as it is then.
func (h *handler) edit(r *http.Request, dry bool, change func(config.RoomRecord) (config.RoomRecord, error)) (reply, error) {
	match, err := h.match(r)
	if err != nil {
		return reply{}, err
	}
	var record config.RoomRecord
	if dry {
		if record, err = h.room(r); err == nil {
			record, err = change(record)
		}
		return reply{result: record.Room}, err
	}
	record, err = h.o.Config.EditRoom(r.Context(), r.PathValue("zone"), r.PathValue("room"), match, change)
	return reply{result: record.Room, revision: record.Revision}, err
}

func (h *handler) deleteRoom(r *http.Request) (reply, error) {
	match, err := h.match(r)
	if err != nil {
		return reply{}, err
	}
	id := r.PathValue("room")
	return reply{result: deleted{id}}, h.o.Config.DeleteRoom(r.Context(), r.PathValue("zone"), id, match)
}

// room finds the room that the path names.
func (h *handler) room(r *http.Request) (config.RoomRecord, error) {
	zone, err := h.zone(r)
	if err != nil {
		return config.RoomRecord{}, err
	}
	record, ok := h.o.Config.Snapshot().Room(zone.ID, r.PathValue("room"))
	if !ok {
		return record, anteroom.Errorf(anteroom.CodeNotFound, "Object not found.")
	}
	return record, nil
}

func etag(revision uint64) string { return `"` + strconv.FormatUint(revision, 10) + `"` }

// match is the revision that If-Match demands; 0 demands none.
func (h *handler) match(r *http.Request) (uint64, error) {
	given := r.Header.Get("If-Match")
	if given == "" || strings.TrimSpace(given) == "*" {
		return 0, nil
	}
	record, err := h.room(r)
	if err != nil {
		return 0, err
	}
	for tag := range strings.SplitSeq(given, ",") {
		if strings.TrimSpace(tag) == etag(record.Revision) {
			return record.Revision, nil
		}
	}
	return 0, anteroom.Errorf(anteroom.CodeConflict, "the waiting room has changed since it was read").
		WithHint("its ETag is now %s; read it again and repeat the change", etag(record.Revision))
}

// dryRun tells whether the body is only to be checked.
func dryRun(r *http.Request) (bool, error) {
	given := r.URL.Query().Get("dry_run")
	if given == "" {
		return false, nil
	}
	dry, err := strconv.ParseBool(given)
	if err != nil {
		return false, anteroom.Errorf(anteroom.CodeInvalid, "%q is not allowed", given).At("dry_run").WithHint("use true or false")
	}
	return dry, nil
}

func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, anteroom.Errorf(anteroom.CodeTooLarge, "the body has more than %d bytes", large.Limit)
	}
	if err != nil {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the body did not arrive as announced: %w", err)
	}
	return body, nil
}
