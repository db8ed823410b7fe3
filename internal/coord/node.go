package coord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/sys"
)

// Times of a node.
const (
	// tickInterval is how often time passes in a room where somebody is, quietTicks how many ticks
	// make one in a room where nobody is.
	tickInterval = 20 * time.Millisecond
	quietTicks   = 50
	// failLogGap is the least time between two log lines about a failing journal.
	failLogGap = time.Minute
	// closeTimeout is how long rewrites of journals may take at the end.
	closeTimeout = 5 * time.Second
)

// Options say where a node keeps its journals and who it is.
type Options struct {
	// Dir is the directory of the journals; it is made when missing.
	Dir string
	// DataCenter is the name of this node's data center.
	DataCenter string
	Logger     *slog.Logger
	// Clock is the one that the gate uses too; the zero value is a new one.
	Clock sys.Clock
}

// Room is a room's id and its rules.
type Room struct {
	ID       string
	Settings queue.Settings
}

// Node runs the coordinators of all rooms on this node. It is safe for concurrent use.
type Node struct {
	opts        Options
	incarnation uint64
	rooms       atomic.Pointer[map[string]*room]

	mu       sync.Mutex // serialises Configure and Close
	closed   bool
	failing  atomic.Int64 // journals that lack records
	lastFail atomic.Int64
}

// Open makes a node without rooms.
func Open(o Options) (*Node, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, anteroom.Errorf(anteroom.CodeUnavailable, "make the directory of the journals: %w", err).
			WithHint("choose a directory that this user may write with --data")
	}
	if o.Clock == (sys.Clock{}) {
		o.Clock = sys.NewClock()
	}
	n := &Node{opts: o, incarnation: uint64(o.Clock.Now().UnixMicro())}
	n.rooms.Store(&map[string]*room{})
	return n, nil
}

// Add makes these rooms live beside the present ones: new ones are restored from their journal,
// present ones get their new rules without anybody losing a place. A room that cannot be opened is an
// error; the others are live all the same.
func (n *Node) Add(rooms []Room) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errors.New("the node is closed")
	}
	old := *n.rooms.Load()
	next := maps.Clone(old)
	var faults []error
	for _, spec := range rooms {
		if r := old[spec.ID]; r != nil {
			r.configure(spec.Settings)
			continue
		}
		r, err := n.open(spec)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		next[spec.ID] = r
	}
	n.rooms.Store(&next)
	return errors.Join(faults...)
}

// Keep ends every room that is not among these, and deletes its files.
func (n *Node) Keep(rooms []Room) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := *n.rooms.Load()
	next := make(map[string]*room, len(rooms))
	for _, spec := range rooms {
		if r := old[spec.ID]; r != nil {
			next[spec.ID] = r
		}
	}
	n.rooms.Store(&next)
	var faults []error
	for id, r := range old {
		if next[id] == nil {
			faults = append(faults, r.close(), os.Remove(r.log.path), os.RemoveAll(r.drawn.dir), r.prior.remove())
		}
	}
	return errors.Join(faults...)
}

// Drain answers every held request and holds no more: the node is about to stop.
func (n *Node) Drain() {
	for _, r := range *n.rooms.Load() {
		r.drain()
	}
}

func (n *Node) open(spec Room) (*room, error) {
	if spec.ID != filepath.Base(spec.ID) {
		return nil, fmt.Errorf("room id %q is no file name", spec.ID)
	}
	cfg := queue.LocalConfig{
		DataCenter: n.opts.DataCenter, Incarnation: n.incarnation, Room: spec.ID,
		Settings: spec.Settings, Pace: queue.NearPace(),
	}
	return openRoom(filepath.Join(n.opts.Dir, spec.ID), cfg, roomDeps{n.opts.Clock, n.journalFault(), n.opts.Logger})
}

// journalFault makes the function that a journal tells of its failures. Rooms go on without one:
// turning visitors away would be the worse failure. Failing tells the operator's probe.
func (n *Node) journalFault() func(error) {
	broken := false // a journal calls it under its lock
	return func(err error) {
		switch {
		case err == nil:
			broken = false
			n.failing.Add(-1)
			n.opts.Logger.Info("journal is whole again")
			return
		case !broken:
			broken = true
			n.failing.Add(1)
		}
		n.logFault(err)
	}
}

func (n *Node) logFault(err error) {
	now := sys.Now().UnixNano()
	if last := n.lastFail.Load(); now-last >= int64(failLogGap) && n.lastFail.CompareAndSwap(last, now) {
		n.opts.Logger.Error("journal is not written, a restart now would forget recent admissions", "error", err)
	}
}

// Failing tells whether a journal lacks records, so that a crash now would forget recent admissions.
func (n *Node) Failing() bool { return n.failing.Load() > 0 }

// Run lets time pass in all rooms until the context ends.
func (n *Node) Run(ctx context.Context) {
	background := sys.NewGroup(ctx)
	defer func() { _ = background.Stop(closeTimeout) }() // Close waits for each journal anyway
	t := sys.NewTicker(tickInterval)
	defer t.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for _, r := range *n.rooms.Load() {
			if !r.quiet.Load() || i%quietTicks == 0 {
				r.tick(func(run func()) { background.Go("journal", func(context.Context) { run() }) })
			}
		}
	}
}

// Close ends every held request and writes what is left. Answers after it are errors.
func (n *Node) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	old := *n.rooms.Swap(&map[string]*room{})
	var faults []error
	for _, r := range old {
		faults = append(faults, r.close())
	}
	return errors.Join(faults...)
}

// ErrNoRoom tells that a room is not live on this node: it was removed a moment ago.
var ErrNoRoom = errors.New("the room is not live on this node")

func (n *Node) room(id string) (*room, error) {
	if r := (*n.rooms.Load())[id]; r != nil {
		return r, nil
	}
	return nil, ErrNoRoom
}

// Ask decides one request of a visitor. An admission is durable when it returns.
func (n *Node) Ask(_ context.Context, id string, ask queue.Ask) (queue.Answer, error) {
	r, err := n.room(id)
	if err != nil {
		return queue.Answer{}, err
	}
	return r.ask(ask)
}

// Await returns true when the ticket's turn has come or the node is about to stop, and false when the
// context ends first or the ticket does not wait at the head of the line.
func (n *Node) Await(ctx context.Context, id string, ticket queue.ID) bool {
	r, err := n.room(id)
	return err == nil && r.await(ctx, ticket)
}

// Touch renews a session: a request of it has ended or is still running.
func (n *Node) Touch(id string, session queue.ID) {
	if r, err := n.room(id); err == nil {
		r.touch(session)
	}
}

// End ends a session or gives up a ticket. Its place is free when End returns; its cookie is spent.
func (n *Node) End(_ context.Context, id string, ticket queue.ID) error {
	r, err := n.room(id)
	if err != nil {
		return err
	}
	if !r.end(ticket) {
		return anteroom.Errorf(anteroom.CodeNotFound, "no session or ticket %s in this room", ticket)
	}
	return nil
}

// Status tells a room's counts.
func (n *Node) Status(_ context.Context, id string) (queue.Status, error) {
	r, err := n.room(id)
	if err != nil {
		return queue.Status{}, err
	}
	return r.status(), nil
}
