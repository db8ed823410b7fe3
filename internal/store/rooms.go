package store

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

// CreateRoom adds a valid room to a zone. ID and times of the given one are ignored.
func (s *Store) CreateRoom(ctx context.Context, zone string, room anteroom.Room, x anteroom.Extras) (config.RoomRecord, error) {
	config.Complete(&room)
	room.ID, room.CreatedOn = newID(), s.now()
	room.ModifiedOn = room.CreatedOn
	created := config.RoomRecord{Zone: zone, Room: room, Extras: x}
	err := s.write(ctx, func(now *config.Snapshot) (change, error) {
		if _, ok := now.Zone(zone); !ok {
			return change{}, noZone()
		}
		if err := clashes(now, &created); err != nil {
			return change{}, err
		}
		return put(roomKey(zone, room.ID), created)
	})
	if err != nil {
		return config.RoomRecord{}, err
	}
	return s.written(zone, room.ID, created), nil
}

// written is the record as the watch brought it; by now somebody else may have deleted it again.
func (s *Store) written(zone, id string, record config.RoomRecord) config.RoomRecord {
	if seen, ok := s.Snapshot().Room(zone, id); ok {
		return seen
	}
	return record
}

// EditRoom changes a room or its extras: edit gets the record as it is and returns what it shall be.
// It may run several times when others write at the same time. When match is not 0 it must be the
// present revision, else the error has anteroom.CodeConflict. A record that comes back the same is
// not written: its time of change and its revision stay.
func (s *Store) EditRoom(ctx context.Context, zone, id string, match uint64,
	edit func(config.RoomRecord) (config.RoomRecord, error),
) (config.RoomRecord, error) {
	var edited config.RoomRecord
	err := s.write(ctx, func(now *config.Snapshot) (change, error) {
		old, err := find(now, zone, id, match)
		if err != nil {
			return change{}, err
		}
		if edited, err = edit(clone(old)); err != nil {
			return change{}, err
		}
		same, err := s.settle(&edited, &old)
		if err != nil || same {
			return change{}, err
		}
		if err := clashes(now, &edited); err != nil {
			return change{}, err
		}
		return put(roomKey(zone, id), edited)
	})
	if err != nil {
		return config.RoomRecord{}, err
	}
	return s.written(zone, id, edited), nil
}

// settle gives an edited record what no edit may change, and tells whether it is the same as before.
func (s *Store) settle(edited, old *config.RoomRecord) (same bool, err error) {
	config.Complete(&edited.Room)
	edited.Zone, edited.Revision = old.Zone, old.Revision
	edited.Room.ID, edited.Room.CreatedOn, edited.Room.ModifiedOn = old.Room.ID, old.Room.CreatedOn, old.Room.ModifiedOn
	before, errBefore := encode(old.Room)
	after, errAfter := encode(edited.Room)
	if err := errors.Join(errBefore, errAfter); err != nil {
		return false, err
	}
	if !bytes.Equal(before, after) {
		edited.Room.ModifiedOn = s.now()
		return false, nil
	}
	return edited.Extras == old.Extras, nil
}

// DeleteRoom removes a room with all that belongs to it; match as in EditRoom.
func (s *Store) DeleteRoom(ctx context.Context, zone, id string, match uint64) error {
	return s.write(ctx, func(now *config.Snapshot) (change, error) {
		_, err := find(now, zone, id, match)
		return change{key: roomKey(zone, id), deletes: true}, err
	})
}

func find(now *config.Snapshot, zone, id string, match uint64) (config.RoomRecord, error) {
	if _, ok := now.Zone(zone); !ok {
		return config.RoomRecord{}, noZone()
	}
	record, ok := now.Room(zone, id)
	if !ok {
		return record, anteroom.Errorf(anteroom.CodeNotFound, "Object not found.")
	}
	if match != 0 && match != record.Revision {
		return record, anteroom.Errorf(anteroom.CodeConflict, "the waiting room has changed since it was read").
			WithHint("read it again and repeat the change")
	}
	return record, nil
}

func noZone() error {
	return anteroom.Errorf(anteroom.CodeNoRoute, "there is no such zone").
		WithHint("GET /zones lists the zones")
}

// clashes are the faults of a record beside all other rooms.
func clashes(now *config.Snapshot, record *config.RoomRecord) error {
	var faults anteroom.Errors
	for i := range now.Rooms {
		if now.Rooms[i].Room.ID != record.Room.ID {
			faults = append(faults, config.Clashes(record, &now.Rooms[i])...)
		}
	}
	return faults.OrNil()
}

// clone shares nothing with the snapshot, so that an edit may write into it.
func clone(record config.RoomRecord) config.RoomRecord {
	record.Room.AdditionalRoutes = slices.Clone(record.Room.AdditionalRoutes)
	record.Room.EnabledOriginCommands = slices.Clone(record.Room.EnabledOriginCommands)
	return record
}
