package store

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/sys"
)

// The keys of the configuration bucket.
func accountKey(id string) string    { return "account." + id }
func zoneKey(id string) string       { return "zone." + id }
func roomKey(zone, id string) string { return "room." + zone + "." + id }

// newID is a fresh ID in the published form: 32 hexadecimal digits.
func newID() string {
	var b [16]byte
	sys.RandomBytes(b[:])
	return hex.EncodeToString(b[:])
}

// configContent reads the configuration bucket.
func configContent() content[config.Snapshot] {
	return content[config.Snapshot]{decode: decodeConfig, build: buildSnapshot}
}

func decodeConfig(key string, value []byte, revision uint64) (any, error) {
	switch kind, _, _ := strings.Cut(key, "."); kind {
	case "account":
		return decode[config.Account](value)
	case "zone":
		return decode[config.Zone](value)
	case "room":
		record, err := decode[config.RoomRecord](value)
		record.Revision = revision
		return &record, err
	}
	return nil, nil //nolint:nilnil // a kind of a later version is no fault
}

func decode[T any](data []byte) (T, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("not readable: %w", err)
	}
	return v, nil
}

func buildSnapshot(decoded map[string]any, revision uint64) *config.Snapshot {
	s := &config.Snapshot{Revision: revision}
	var rooms []*config.RoomRecord // sorted before they are copied: they are large
	for _, v := range decoded {
		switch v := v.(type) {
		case config.Account:
			s.Accounts = append(s.Accounts, v)
		case config.Zone:
			s.Zones = append(s.Zones, v)
		case *config.RoomRecord:
			rooms = append(rooms, v)
		}
	}
	slices.SortFunc(s.Accounts, func(a, b config.Account) int {
		return cmp.Or(a.CreatedOn.Compare(b.CreatedOn), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(s.Zones, func(a, b config.Zone) int {
		return cmp.Or(a.CreatedOn.Compare(b.CreatedOn), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(rooms, func(a, b *config.RoomRecord) int {
		return cmp.Or(a.Room.CreatedOn.Compare(b.Room.CreatedOn), cmp.Compare(a.Room.ID, b.Room.ID))
	})
	s.Rooms = make([]config.RoomRecord, len(rooms))
	for i, record := range rooms {
		s.Rooms[i] = *record
	}
	return s
}
