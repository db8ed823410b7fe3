package api

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/queue"
)

// Configuration is what the API needs of the store.
type Configuration interface {
	Snapshot() *config.Snapshot
	CreateRoom(ctx context.Context, zone string, room anteroom.Room, x anteroom.Extras) (config.RoomRecord, error)
	EditRoom(ctx context.Context, zone, id string, match uint64,
		edit func(config.RoomRecord) (config.RoomRecord, error)) (config.RoomRecord, error)
	DeleteRoom(ctx context.Context, zone, id string, match uint64) error
}

// Rooms is what the API needs of the coordinators.
type Rooms interface {
	// Status is the room's state now.
	Status(ctx context.Context, roomID string) (queue.Status, error)
	// EndSession ends one session early. An unknown one is an error with anteroom.CodeNotFound.
	EndSession(ctx context.Context, roomID string, id queue.ID) error
	// Draws tells what the room publishes of its draws; SealDraw and EndDraw go on with them and tell what
	// has become.
	Draws(ctx context.Context, roomID string) (queue.DrawState, error)
	SealDraw(ctx context.Context, roomID string) (queue.DrawState, error)
	EndDraw(ctx context.Context, roomID string, external queue.DrawExternal) (queue.DrawState, error)
	// ServeDrawRecord answers with the record of a draw, or fails before it has written anything.
	ServeDrawRecord(w http.ResponseWriter, r *http.Request, roomID string, number uint64) error
}

// Options are the parts that the API connects.
type Options struct {
	Config Configuration
	Rooms  Rooms
	Auth   *Authenticator
	Checks config.Checks
	Logger *slog.Logger
}

// Base is the path under which everything of this package stands.
const Base = "/client/v4"

// New makes the handler for everything under Base.
func New(o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &handler{o: o, mux: http.NewServeMux()}
	for path, m := range h.paths() {
		h.mux.HandleFunc(Base+path, h.respond(m.serve))
	}
	// Literal names stand beside the ids of rooms and must never be taken for one.
	const zone, room = "/zones/{zone}/waiting_rooms", "/zones/{zone}/waiting_rooms/{room}"
	for _, path := range []string{zone + "/settings", zone + "/preview", room + "/{rest...}", "/{rest...}"} {
		h.mux.HandleFunc(Base+path, h.respond(nothingHere))
	}
	h.mux.HandleFunc("/", h.respond(nothingHere))
	return h
}

// paths are the endpoints.
func (h *handler) paths() map[string]methods {
	const room = "/zones/{zone}/waiting_rooms/{room}"
	return map[string]methods{
		"/zones":                            {http.MethodGet: h.listZones},
		"/zones/{zone}":                     {http.MethodGet: h.getZone},
		"/accounts":                         {http.MethodGet: h.listAccounts},
		"/accounts/{account}":               {http.MethodGet: h.getAccount},
		"/user/tokens/verify":               {http.MethodGet: h.verifyToken},
		"/accounts/{account}/waiting_rooms": {http.MethodGet: h.listAccountRooms},
		"/zones/{zone}/waiting_rooms":       {http.MethodGet: h.listRooms, http.MethodPost: h.createRoom},
		room + "/status":                    {http.MethodGet: h.roomStatus},
		room + "/draw":                      {http.MethodGet: h.getDraw, http.MethodPost: h.goOnWithDraw},
		room + "/draw/{number}":             {http.MethodGet: h.getDrawRecord},
		room + "/sessions/{ticket}":         {http.MethodDelete: h.endSession},
		room: {
			http.MethodGet: h.getRoom, http.MethodPut: h.putRoom,
			http.MethodPatch: h.patchRoom, http.MethodDelete: h.deleteRoom,
		},
		room + "/extras": {
			http.MethodGet: h.getExtras, http.MethodPut: h.putExtras, http.MethodPatch: h.patchExtras,
		},
	}
}

// nothingHere answers paths that this version does not have.
func nothingHere(*http.Request) (reply, error) {
	return reply{}, anteroom.Errorf(anteroom.CodeNoRoute, "there is nothing at this path in this version").
		WithHint("docs/api.md lists the endpoints")
}
