package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

// Options say where a store keeps its things.
type Options struct {
	// JetStream holds the buckets.
	JetStream jetstream.JetStream
	// Dir is the data directory; the admin token stands in it.
	Dir string
	// AdminToken replaces the token in Dir when it is not empty, without touching the file.
	AdminToken string
	// Export is the file that gets the whole configuration after each change; "" writes none.
	Export string
	// Logger takes failures that no caller waits for.
	Logger *slog.Logger
	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// Store is the configuration of this node. Its methods may be called from everywhere at once.
type Store struct{}

// Open reads the configuration, makes the default account and zone at the first start, and watches
// for changes until Close.
func Open(ctx context.Context, o Options) (*Store, error) { return nil, errors.ErrUnsupported }

// Close ends the watch and the export in bounded time. A second Close is fine.
func (s *Store) Close() error { return nil }

// Snapshot is the newest configuration that this node has seen. It costs one atomic load.
func (s *Store) Snapshot() *config.Snapshot { return nil }

// OnChange calls f after every change of the configuration, one call at a time and in order. A write
// returns after all subscribers have seen it; f must be quick and must not write to the store. The
// returned function ends the subscription.
func (s *Store) OnChange(f func(old, now *config.Snapshot)) (cancel func()) { return func() {} }

// CreateRoom adds a valid room to a zone. ID and times of the given one are ignored.
func (s *Store) CreateRoom(ctx context.Context, zone string, room anteroom.Room, x anteroom.Extras) (config.RoomRecord, error) {
	return config.RoomRecord{}, errors.ErrUnsupported
}

// EditRoom changes a room or its extras: edit gets the record as it is and returns what it shall be.
// It may run several times when others write at the same time. When match is not 0 it must be the
// present revision, else the error has anteroom.CodeConflict. A record that comes back the same is
// not written: its time of change and its revision stay.
func (s *Store) EditRoom(ctx context.Context, zone, id string, match uint64,
	edit func(config.RoomRecord) (config.RoomRecord, error),
) (config.RoomRecord, error) {
	return config.RoomRecord{}, errors.ErrUnsupported
}

// DeleteRoom removes a room with all that belongs to it; match as in EditRoom.
func (s *Store) DeleteRoom(ctx context.Context, zone, id string, match uint64) error {
	return errors.ErrUnsupported
}

// AdminToken is the bootstrap token of the administration. Fresh tells that this start made it.
func (s *Store) AdminToken() (token string, fresh bool) { return "", false }
