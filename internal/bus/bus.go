package bus

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options say where a bus keeps its data and whom it tells.
type Options struct {
	// Dir is the data directory. It is made when missing, for its owner only. The bus keeps a lock
	// file and the directory "jetstream" in it; the rest is free for others.
	Dir string
	// Logger takes what the server says: details at debug, what an operator should see at warn.
	Logger *slog.Logger
	// ReadyTimeout is how long a start may take; 0 means 10 s.
	ReadyTimeout time.Duration
}

// Bus is a running NATS server in this process with one connection to it.
type Bus struct{}

// Open locks the directory, starts the server and connects to it. Every write that JetStream
// acknowledges on it is on disk. The context bounds the start, not the life of the bus.
func Open(ctx context.Context, o Options) (*Bus, error) { return nil, errors.ErrUnsupported }

// Conn is the connection of the bus. It lives until Close.
func (b *Bus) Conn() *nats.Conn { return nil }

// JetStream is the JetStream context of Conn.
func (b *Bus) JetStream() jetstream.JetStream { return nil }

// Dial makes a further in-process connection; its owner closes it.
func (b *Bus) Dial(name string) (*nats.Conn, error) { return nil, errors.ErrUnsupported }

// Dir is the data directory.
func (b *Bus) Dir() string { return "" }

// Close ends the connection and the server and releases the directory, in bounded time. A second
// Close is fine.
func (b *Bus) Close() error { return nil }
