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
func New(o Options) http.Handler { return http.NotFoundHandler() }
