package config

import (
	"time"

	"github.com/anteroom/anteroom"
)

// Account owns zones. There is always at least the default one.
type Account struct {
	// ID is 32 hexadecimal digits, made once.
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedOn time.Time `json:"created_on"`
}

// Zone is a group of rooms, as the published API has it. There is always at least the default one.
type Zone struct {
	// ID is 32 hexadecimal digits, made once.
	ID        string    `json:"id"`
	AccountID string    `json:"account_id"`
	Name      string    `json:"name"`
	CreatedOn time.Time `json:"created_on"`
}

// RoomRecord is a room with everything that belongs to it, at one revision.
type RoomRecord struct {
	Zone   string          `json:"zone"`
	Room   anteroom.Room   `json:"room"`
	Extras anteroom.Extras `json:"extras"`
	// Revision grows with every change of the room or its extras. It is 0 before the first write.
	Revision uint64 `json:"-"`
}

// Snapshot is the whole configuration at one revision. Nobody changes it once it is made, so that
// readers need no lock; whoever wants another value makes a copy.
type Snapshot struct {
	Accounts []Account
	Zones    []Zone
	// Rooms are in a stable order: by creation, then by ID.
	Rooms []RoomRecord
	// Revision is the revision of the newest change that is contained.
	Revision uint64
}

// Room finds a room of a zone.
func (s *Snapshot) Room(zone, id string) (RoomRecord, bool) {
	for i := range s.Rooms {
		if s.Rooms[i].Room.ID == id && s.Rooms[i].Zone == zone {
			return s.Rooms[i], true
		}
	}
	return RoomRecord{}, false
}

// ZoneRooms lists the rooms of a zone in the stable order.
func (s *Snapshot) ZoneRooms(zone string) []RoomRecord {
	var rooms []RoomRecord
	for i := range s.Rooms {
		if s.Rooms[i].Zone == zone {
			rooms = append(rooms, s.Rooms[i])
		}
	}
	return rooms
}

// Zone finds a zone by its ID.
func (s *Snapshot) Zone(id string) (Zone, bool) {
	for _, z := range s.Zones {
		if z.ID == id {
			return z, true
		}
	}
	return Zone{}, false
}

// Account finds an account by its ID.
func (s *Snapshot) Account(id string) (Account, bool) {
	for _, a := range s.Accounts {
		if a.ID == id {
			return a, true
		}
	}
	return Account{}, false
}
