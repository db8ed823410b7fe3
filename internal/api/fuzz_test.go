package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/api"
	"github.com/anteroom/anteroom/internal/config"
)

// memory is a configuration of one room without a disk, for the many rounds of a fuzz test.
type memory struct{ now config.Snapshot }

func newMemory() *memory {
	room := config.RoomRecord{Zone: "z", Room: config.Defaults(), Revision: 1}
	room.Room.ID = "r"
	return &memory{config.Snapshot{Zones: []config.Zone{{ID: "z"}}, Rooms: []config.RoomRecord{room}}}
}

func (m *memory) Snapshot() *config.Snapshot { now := m.now; return &now }

func (m *memory) CreateRoom(context.Context, string, anteroom.Room, anteroom.Extras) (config.RoomRecord, error) {
	return config.RoomRecord{}, errors.ErrUnsupported
}

func (m *memory) EditRoom(_ context.Context, _, _ string, _ uint64,
	edit func(config.RoomRecord) (config.RoomRecord, error),
) (config.RoomRecord, error) {
	edited, err := edit(m.now.Rooms[0])
	if err == nil {
		m.now.Rooms = []config.RoomRecord{edited}
	}
	return edited, err
}

func (m *memory) DeleteRoom(context.Context, string, string, uint64) error {
	return errors.ErrUnsupported
}

// FuzzJSON sends any body to every endpoint that takes one: the answer is always an envelope, never
// our fault, and a room that was accepted can be read and written back without a change.
func FuzzJSON(f *testing.F) {
	for body := range invalid() {
		f.Add([]byte(body))
	}
	f.Add([]byte(minimal("shop", "")))
	f.Add([]byte(`{"session_duration":"90s"}`))
	const rooms, target = "/zones/z/waiting_rooms", "/zones/z/waiting_rooms/r"
	handler := api.New(api.Options{Config: newMemory(), Auth: api.NewAuthenticator(token)})
	f.Fuzz(func(t *testing.T, body []byte) {
		do := func(method, path, body string) (int, json.RawMessage) {
			r := httptest.NewRequestWithContext(t.Context(), method, api.Base+path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			var a answer
			if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || a.Success == nil || *a.Success != (w.Code == http.StatusOK) || w.Code >= 500 {
				t.Fatalf("%s %s with %q: %d %s", method, path, body, w.Code, w.Body)
			}
			return w.Code, a.Result
		}
		do(http.MethodPut, target+"/extras", string(body))
		do(http.MethodPatch, target+"/extras", string(body))
		do(http.MethodPatch, target, string(body))
		if code, room := do(http.MethodPut, target, string(body)); code == http.StatusOK {
			if code, again := do(http.MethodPut, target, string(room)); code != http.StatusOK || string(again) != string(room) {
				t.Fatalf("%s came back as %s", room, again)
			}
		}
		do(http.MethodPost, rooms+"?dry_run=true", string(body))
		do(http.MethodPut, target, minimal("target", ""))
	})
}
