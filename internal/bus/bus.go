package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sys"
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

// Bounds of a bus.
const (
	readyTimeout = 10 * time.Second
	closeTimeout = 10 * time.Second
	// PayloadBytesMax is the largest message: a room with the largest custom page, escaped as JSON.
	PayloadBytesMax = 8 << 20
)

// Bus is a running NATS server in this process with one connection to it.
type Bus struct {
	dir    string
	logger *slog.Logger
	group  *sys.Group
	lock   *lock
	server *server.Server
	conn   *nats.Conn
	stream jetstream.JetStream

	closing sync.Once
	closed  error // set by closing

	mu    sync.Mutex
	conns []*nats.Conn // guarded by mu; all connections that were made
}

// Open locks the directory, starts the server and connects to it. Every write that JetStream
// acknowledges on it is on disk, except to a stream that asks for asynchronous persistence. The
// context bounds the start, not the life of the bus.
func Open(ctx context.Context, o Options) (*Bus, error) {
	if o.Dir == "" {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "no data directory is given").WithHint("name one with --data")
	}
	if o.ReadyTimeout == 0 {
		o.ReadyTimeout = readyTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Bus{dir: o.Dir, logger: o.Logger, group: sys.NewGroup(context.WithoutCancel(ctx))}
	if err := b.start(ctx, o.ReadyTimeout); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Bus) start(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := makeDir(b.dir); err != nil {
		return err
	}
	var err error
	if b.lock, err = takeLock(b.dir); err != nil {
		return err
	}
	before := listStreams(b.dir)
	if err := b.startServer(ctx); err != nil {
		return err
	}
	return b.checkRecovered(ctx, before)
}

// makeDir makes the data directory for its owner only: keys and visitors' places are in it.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return anteroom.Errorf(anteroom.CodeUnavailable, "cannot make the data directory %s: %w", dir, err).
			WithHint("choose another one with --data, or let this user write there")
	}
	return nil
}

func (b *Bus) startServer(ctx context.Context) error {
	started, err := server.NewServer(&server.Options{
		ServerName: "anteroom",
		DontListen: true,
		JetStream:  true,
		StoreDir:   b.dir,
		// Without it an acknowledged write may be lost for two minutes.
		SyncAlways: true,
		MaxPayload: PayloadBytesMax,
		NoSigs:     true,
	})
	if err != nil {
		return fmt.Errorf("cannot make the embedded NATS server: %w", err)
	}
	b.server = started
	notes := &notes{logger: b.logger}
	b.server.SetLoggerV2(notes, false, false, false)
	// Start returns only when JetStream has read its files, which a broken disk can make long.
	ready := make(chan struct{})
	b.group.Go("nats start", func(context.Context) { b.server.Start(); close(ready) })
	select {
	case <-ready:
	case <-ctx.Done():
		return anteroom.Errorf(anteroom.CodeUnavailable, "the store in %s is not ready: %w", b.dir, context.Cause(ctx)).
			WithHint("look at the disk and the log, then start again")
	}
	return b.connect(ctx, notes)
}

func (b *Bus) connect(ctx context.Context, notes *notes) error {
	var err error
	if b.conn, err = b.Dial("anteroom"); err != nil {
		return err
	}
	if b.stream, err = jetstream.New(b.conn); err != nil {
		return fmt.Errorf("cannot use JetStream: %w", err)
	}
	// The server runs on without a store when it cannot read it, so ask.
	if _, err = b.stream.AccountInfo(ctx); err != nil {
		return anteroom.Errorf(anteroom.CodeUnavailable, "the store in %s cannot be used: %s: %w", b.dir, notes.last(), err).
			WithHint("let this user read and write everything in it, and look for free space on the disk")
	}
	return nil
}

// Conn is the connection of the bus. It lives until Close.
func (b *Bus) Conn() *nats.Conn { return b.conn }

// JetStream is the JetStream context of Conn.
func (b *Bus) JetStream() jetstream.JetStream { return b.stream }

// Dir is the data directory.
func (b *Bus) Dir() string { return b.dir }

// Dial makes a further in-process connection. Its owner closes it when done; Close ends what is left.
func (b *Bus) Dial(name string) (*nats.Conn, error) {
	conn, err := nats.Connect("", nats.InProcessServer(b.server), nats.Name(name), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			b.logger.Warn("the bus reports a fault of a connection", "connection", name, "error", err)
		}))
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the embedded NATS server: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conns = append(slices.DeleteFunc(b.conns, (*nats.Conn).IsClosed), conn)
	return conn, nil
}

// Close ends the connection and the server and releases the directory, in bounded time. A second
// Close is fine.
func (b *Bus) Close() error {
	b.closing.Do(func() { b.closed = b.close() })
	return b.closed
}

func (b *Bus) close() error {
	b.mu.Lock()
	for _, conn := range b.conns {
		conn.Close()
	}
	b.mu.Unlock()
	if b.server != nil {
		b.group.Go("nats stop", func(context.Context) { b.server.Shutdown(); b.server.WaitForShutdown() })
	}
	if err := b.group.Stop(closeTimeout); err != nil {
		return fmt.Errorf("the embedded NATS server does not stop, %s stays locked: %w", b.dir, err)
	}
	return b.lock.release()
}
