package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/sys"
	"github.com/anteroom/anteroom/internal/ticket"
)

// Options say where a store keeps its things.
type Options struct {
	// JetStream holds the buckets.
	JetStream jetstream.JetStream
	// Dir is the data directory; the admin token and the mark of the configuration stand in it.
	Dir string
	// AdminToken replaces the token in Dir when it is not empty, without touching the file.
	AdminToken string
	// Export is the file that gets the whole configuration after each change; "" writes none.
	Export string
	// Logger takes failures that no caller waits for.
	Logger *slog.Logger
	// Now is the clock; nil is the real one.
	Now func() time.Time
	// LoadPause is the longest pause while a bucket is loaded; longer, and it counts as damaged.
	// 0 means 5 s.
	LoadPause time.Duration
}

// Bounds of a store.
const (
	writeTimeout   = 10 * time.Second
	closeTimeout   = 10 * time.Second
	attemptsMax    = 30 // writes that lose against another writer before one gives up
	loadPause      = 5 * time.Second
	rewatchDelay   = 100 * time.Millisecond
	configBucket   = "anteroom_config"
	secretsBucket  = "anteroom_secrets"
	defaultName    = "default"
	timeResolution = time.Microsecond
)

// Store is the configuration of this node. Its methods may be called from everywhere at once.
type Store struct {
	o      Options
	group  *sys.Group
	config *bucket[config.Snapshot]
	keys   *bucket[keyRing]
	// turn has one place: writers of this node stand in line instead of losing against each other.
	turn    chan struct{}
	exports chan struct{} // a snapshot waits to be exported

	token      string
	tokenFresh bool

	closing sync.Once
	closed  error // set by closing
}

// Open reads the configuration, makes the default account and zone at the first start, and watches
// for changes until Close. It fails when something that was saved is missing, rather than go on with
// less.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = sys.Now
	}
	if o.LoadPause == 0 {
		o.LoadPause = loadPause
	}
	s := &Store{
		o: o, group: sys.NewGroup(context.WithoutCancel(ctx)),
		turn: make(chan struct{}, 1), exports: make(chan struct{}, 1),
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) start(ctx context.Context) error {
	var err error
	if s.token, s.tokenFresh, err = adminToken(s.o); err != nil {
		return err
	}
	if s.config, err = openBucket(ctx, s, configBucket, configContent()); err != nil {
		return s.explain(err)
	}
	if s.keys, err = openBucket(ctx, s, secretsBucket, ringContent()); err != nil {
		return s.explain(err)
	}
	if err := s.checkMark(ctx); err != nil {
		return err
	}
	if err := s.makeDefaults(ctx); err != nil {
		return err
	}
	if _, err := s.RotateIfDue(ctx); err != nil {
		return err
	}
	s.group.Go("store export", s.runExport)
	s.OnChange(func(_, _ *config.Snapshot) { s.wantExport() })
	s.OnKeys(func([]ticket.Key) { s.wantExport() })
	s.wantExport()
	s.group.Go("store key rotation", s.runRotation)
	return nil
}

// Close ends the watch and the export in bounded time. A second Close is fine.
func (s *Store) Close() error {
	s.closing.Do(func() {
		if err := s.group.Stop(closeTimeout); err != nil {
			s.closed = fmt.Errorf("the store does not stop: %w", err)
		}
	})
	return s.closed
}

// Snapshot is the newest configuration that this node has seen. It costs one atomic load.
func (s *Store) Snapshot() *config.Snapshot { return s.config.value() }

// OnChange calls f after every change of the configuration, one call at a time and in order. A write
// returns after all subscribers have seen it; f must be quick and must not write to the store. Call
// OnChange first and Snapshot then, so that no change is missed between. The returned function ends
// the subscription.
func (s *Store) OnChange(f func(old, now *config.Snapshot)) (cancel func()) {
	return s.config.subscribe(f)
}

// makeDefaults makes the account and the zone that are always there.
func (s *Store) makeDefaults(ctx context.Context) error {
	err := s.write(ctx, func(now *config.Snapshot) (change, error) {
		if len(now.Accounts) > 0 {
			return change{}, nil
		}
		account := config.Account{ID: newID(), Name: defaultName, CreatedOn: s.now()}
		return put(accountKey(account.ID), account)
	})
	if err != nil {
		return err
	}
	return s.write(ctx, func(now *config.Snapshot) (change, error) {
		if len(now.Zones) > 0 {
			return change{}, nil
		}
		zone := config.Zone{ID: newID(), AccountID: now.Accounts[0].ID, Name: defaultName, CreatedOn: s.now()}
		return put(zoneKey(zone.ID), zone)
	})
}

// write runs one change of the configuration after the other writers of this node.
func (s *Store) write(ctx context.Context, decide func(*config.Snapshot) (change, error)) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return unavailable(context.Cause(ctx))
	}
	return s.config.write(ctx, decide)
}

// now is the time in the form in which it is stored: it reads back as it was written.
func (s *Store) now() time.Time { return s.o.Now().UTC().Truncate(timeResolution) }

// unavailable is the error of a store that does not answer.
func unavailable(cause error) error {
	return anteroom.Errorf(anteroom.CodeUnavailable, "the configuration store does not answer: %w", cause).
		WithHint("try again; if it stays so, look at the disk and the log")
}
