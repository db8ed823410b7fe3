package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sys"
)

// change is one write of a key. The zero change writes nothing.
type change struct {
	key     string
	value   []byte
	deletes bool
}

// put is the change that sets a key to the JSON form of a value.
func put(key string, value any) (change, error) {
	data, err := encode(value)
	return change{key: key, value: data}, err
}

// encode is JSON without escaped angle brackets: templates are full of them.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, fmt.Errorf("cannot encode for the store: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// errIncomplete tells that a bucket has entries that cannot be read.
var errIncomplete = errors.New("the bucket has entries that are never delivered")

// state is a value built from all entries of a bucket at one revision.
type state[T any] struct {
	value    *T
	revision uint64
}

// content says how a bucket is read.
type content[T any] struct {
	// decode turns the value of one key into what build collects.
	decode func(key string, value []byte, revision uint64) (any, error)
	// build makes the value of all keys. It must not keep the map.
	build func(decoded map[string]any, revision uint64) *T
}

// bucket is a key-value bucket whose content is kept in memory by a watch, as one immutable value.
type bucket[T any] struct {
	name      string
	jetstream jetstream.JetStream
	kv        jetstream.KeyValue
	logger    *slog.Logger
	pause     time.Duration // see Options.LoadPause
	content[T]

	current atomic.Pointer[state[T]]

	mu          sync.Mutex
	delivered   uint64           // guarded by mu; every subscriber has seen this revision
	progress    chan struct{}    // guarded by mu; closed and replaced when delivered grows
	subscribers []*subscriber[T] // guarded by mu
}

type subscriber[T any] struct{ call func(old, now *T) }

// openBucket makes the bucket when missing and returns when its content is in memory.
func openBucket[T any](ctx context.Context, s *Store, name string, c content[T]) (*bucket[T], error) {
	b := &bucket[T]{name: name, jetstream: s.o.JetStream, logger: s.o.Logger, pause: s.o.LoadPause, content: c, progress: make(chan struct{})}
	var err error
	b.kv, err = b.jetstream.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		b.kv, err = b.jetstream.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, Storage: jetstream.FileStorage})
	}
	if err != nil {
		return nil, unavailable(err)
	}
	first := make(chan error, 1)
	s.group.Go("store watch "+name, func(ctx context.Context) { b.follow(ctx, first) })
	select {
	case err := <-first:
		return b, err
	case <-ctx.Done():
		return nil, unavailable(context.Cause(ctx))
	}
}

// follow keeps the memory equal to the bucket until the context ends. When a watch breaks off it
// begins another one, which delivers everything anew. First is told once: nil when everything is
// here, or why it cannot be.
func (b *bucket[T]) follow(ctx context.Context, first chan<- error) {
	tell := func(err error) {
		select {
		case first <- err:
		default: // nobody listens any more
		}
	}
	for {
		err := b.watch(ctx, func() { tell(nil) })
		if ctx.Err() == nil {
			b.logger.WarnContext(ctx, "the watch of the configuration broke off", "bucket", b.name, "error", err)
		}
		tell(unavailable(err))
		if sys.Sleep(ctx, rewatchDelay) != nil {
			return
		}
	}
}

func (b *bucket[T]) watch(ctx context.Context, ready func()) error {
	watcher, err := b.kv.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("cannot watch: %w", err)
	}
	defer func() { _ = watcher.Stop() }() // it fails when the connection is gone, and then it is stopped
	decoded, revision, loading := map[string]any{}, uint64(0), true
	stalled := sys.NewTimer(b.pause)
	defer stalled.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stalled.C:
			// What JetStream cannot read it does not deliver, and the end of the load never comes.
			if loading {
				return fmt.Errorf("only %d entries arrived: %w", len(decoded), errIncomplete)
			}
		case e, ok := <-watcher.Updates():
			switch {
			case !ok:
				return errors.New("the updates ended")
			case e != nil:
				stalled.Reset(b.pause)
				b.take(decoded, e)
				revision = max(revision, e.Revision())
			default: // everything that was there is here
				if revision, err = b.last(ctx, revision); err != nil {
					return err
				}
				loading = false
			}
		}
		if !loading {
			b.deliver(&state[T]{b.build(decoded, revision), revision})
			ready()
		}
	}
}

// take brings one update into the map. What cannot be read is left out and logged: one damaged
// record must not take the others away.
func (b *bucket[T]) take(decoded map[string]any, e jetstream.KeyValueEntry) {
	delete(decoded, e.Key())
	if e.Operation() != jetstream.KeyValuePut {
		return
	}
	v, err := b.decode(e.Key(), e.Value(), e.Revision())
	if err != nil {
		b.logger.Error("an entry of the store cannot be read", "bucket", b.name, "key", e.Key(),
			"revision", e.Revision(), "error", err)
		return
	}
	decoded[e.Key()] = v
}

// last is the revision of the newest message, which may be gone by now: a deleted key that was
// cleaned up. Writes are checked against it.
func (b *bucket[T]) last(ctx context.Context, seen uint64) (uint64, error) {
	stream, err := b.jetstream.Stream(ctx, "KV_"+b.name)
	if err != nil {
		return 0, fmt.Errorf("cannot look at the bucket: %w", err)
	}
	return max(seen, stream.CachedInfo().State.LastSeq), nil
}

// deliver makes the state the current one and tells the subscribers, then those who wait for it.
func (b *bucket[T]) deliver(now *state[T]) {
	old := b.current.Swap(now)
	if old != nil && old.revision == now.revision {
		return // a new watch brought what was there
	}
	b.mu.Lock()
	subscribers := b.subscribers
	b.mu.Unlock()
	if old != nil {
		for _, s := range subscribers {
			s.call(old.value, now.value)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.delivered = now.revision
	close(b.progress)
	b.progress = make(chan struct{})
}

func (b *bucket[T]) value() *T { return b.current.Load().value }

func (b *bucket[T]) subscribe(f func(old, now *T)) (cancel func()) {
	added := &subscriber[T]{f}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscribers = append(slices.Clip(b.subscribers), added)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		var kept []*subscriber[T]
		for _, s := range b.subscribers {
			if s != added {
				kept = append(kept, s)
			}
		}
		b.subscribers = kept
	}
}

// await returns when every subscriber has seen the revision.
func (b *bucket[T]) await(ctx context.Context, revision uint64) error {
	for {
		b.mu.Lock()
		delivered, progress := b.delivered, b.progress
		b.mu.Unlock()
		if delivered >= revision {
			return nil
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return unavailable(context.Cause(ctx))
		}
	}
}

// write decides on the newest content and writes when the bucket has not changed meanwhile, else it
// decides anew. So what a decision has checked, such as a name being unique, still holds when it is
// written, whoever else writes. It returns when the change has arrived here.
func (b *bucket[T]) write(ctx context.Context, decide func(*T) (change, error)) error {
	for range attemptsMax {
		now := b.current.Load()
		c, decided := decide(now.value)
		if decided == nil && c.key != "" {
			revision, err := b.publish(ctx, c, now.revision)
			if err == nil {
				return b.await(ctx, revision)
			}
			if !isConflict(err) {
				return b.refused(err)
			}
		}
		last, err := b.last(ctx, now.revision)
		if err != nil {
			return unavailable(err)
		}
		if last == now.revision { // the decision to write nothing was made on the newest content
			return decided
		}
		if err := b.await(ctx, last); err != nil {
			return err
		}
	}
	return anteroom.Errorf(anteroom.CodeConflict, "%d other changes came first", attemptsMax).WithHint("try again")
}

func (b *bucket[T]) publish(ctx context.Context, c change, after uint64) (uint64, error) {
	m := &nats.Msg{Subject: "$KV." + b.name + "." + c.key, Data: c.value}
	if c.deletes {
		m.Header = nats.Header{"KV-Operation": {"DEL"}}
	}
	ack, err := b.jetstream.PublishMsg(ctx, m, jetstream.WithExpectLastSequence(after))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// isConflict tells that the bucket has changed since it was read.
func isConflict(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

func (b *bucket[T]) refused(err error) error {
	if errors.Is(err, nats.ErrMaxPayload) {
		return anteroom.Errorf(anteroom.CodeTooLarge, "the object is too large to be stored: %w", err).
			WithHint("shorten the custom page")
	}
	return unavailable(err)
}
