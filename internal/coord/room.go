package coord

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/sys"
)

// room is one waiting room on this node: the core, its lock, its journal and the held requests.
type room struct {
	clock sys.Clock
	seed  queue.Seed
	log   *journal
	quiet atomic.Bool // nobody is here; time passes in large steps

	mu       sync.Mutex
	pair     *queue.Pair
	settings queue.Settings
	records  []queue.Record           // scratch
	woken    []queue.ID               // scratch
	held     map[queue.ID]*heldTicket // held requests by ticket
	draining bool
}

// heldTicket is a visitor whose requests are held. Several tabs may wait for one turn.
type heldTicket struct {
	turn    chan struct{} // closed when the turn comes
	waiters int
}

// roomDeps is what a room needs of its node.
type roomDeps struct {
	clock sys.Clock
	fail  func(error)
}

// openRoom brings a room to life from its journal.
func openRoom(path string, cfg queue.LocalConfig, deps roomDeps) (*room, error) {
	sys.RandomBytes(cfg.Seed[:])
	log, old, err := openJournal(path, cfg.Seed, deps.fail)
	if err != nil {
		return nil, err
	}
	cfg.Seed = old.seed
	now := deps.clock.Now()
	r := &room{clock: deps.clock, seed: old.seed, log: log, settings: cfg.Settings, held: map[queue.ID]*heldTicket{}}
	r.pair = queue.NewPair(now, cfg, slices.Values(old.records))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.afterLocked(now)
	return r, nil
}

// ask decides one request and returns when the decision is durable.
func (r *room) ask(ask queue.Ask) queue.Answer {
	r.mu.Lock()
	now := r.clock.Now()
	a := r.pair.Ask(now, ask)
	r.afterLocked(now)
	r.mu.Unlock()
	if a.Seq > 0 {
		r.log.wait(a.Seq)
	}
	return a
}

// afterLocked lets the two coordinators talk, wakes whose turn has come and hands records to the
// journal. It follows every step of the core.
func (r *room) afterLocked(now time.Time) {
	r.pair.Pump(now)
	r.woken = r.pair.Woken(r.woken[:0])
	for _, id := range r.woken {
		if h := r.held[id]; h != nil {
			close(h.turn)
			delete(r.held, id)
		}
	}
	if r.pair.Pending() {
		var seq uint64
		r.records, seq = r.pair.Drain(r.records[:0])
		r.log.add(r.records, seq)
	}
	if r.quiet.Load() {
		r.quiet.Store(r.pair.Quiet())
	}
}

// await holds a request until the ticket's turn comes.
func (r *room) await(ctx context.Context, id queue.ID) bool {
	h, turn := r.hold(id)
	if h == nil {
		return turn
	}
	select {
	case <-h.turn:
		return true
	case <-ctx.Done():
		r.release(id, h)
		return false
	}
}

func (r *room) hold(id queue.ID) (h *heldTicket, turn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	held, turn := r.pair.Hold(now, id)
	if !held {
		return nil, turn
	}
	if r.draining {
		r.pair.Release(now, id)
		return nil, false
	}
	if h = r.held[id]; h == nil {
		h = &heldTicket{turn: make(chan struct{})}
		r.held[id] = h
	}
	h.waiters++
	return h, false
}

func (r *room) release(id queue.ID, h *heldTicket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.waiters--; h.waiters == 0 && r.held[id] == h {
		delete(r.held, id)
		r.pair.Release(r.clock.Now(), id)
	}
}

// tick lets time pass.
func (r *room) tick() {
	r.mu.Lock()
	now := r.clock.Now()
	r.pair.Tick(now)
	r.afterLocked(now)
	r.quiet.Store(r.pair.Quiet())
	size := r.pair.Size()
	r.mu.Unlock()
	r.log.flush()
	if r.log.bulky(size) {
		r.compact()
	}
}

// compact replaces the journal's history by a snapshot.
func (r *room) compact() {
	r.mu.Lock()
	now := r.clock.Now()
	r.afterLocked(now)
	r.log.beginCompact()
	snapshot := r.pair.Snapshot(now)
	r.mu.Unlock()
	if err := r.log.finishCompact(r.seed, snapshot); err != nil {
		r.log.fail(err)
	}
}

func (r *room) configure(s queue.Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s == r.settings {
		return
	}
	now := r.clock.Now()
	r.settings = s
	r.pair.Configure(now, s)
	r.afterLocked(now)
}

func (r *room) touch(id queue.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	r.pair.Touch(now, id)
	r.afterLocked(now)
}

func (r *room) end(id queue.ID) bool {
	r.mu.Lock()
	now := r.clock.Now()
	seq, ok := r.pair.End(now, id)
	r.afterLocked(now)
	r.mu.Unlock()
	r.log.wait(seq)
	return ok
}

func (r *room) status() queue.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	s := r.pair.Status(now)
	r.afterLocked(now)
	return s
}

// drain ends every held request and holds no more.
func (r *room) drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
	for id, h := range r.held {
		close(h.turn)
		delete(r.held, id)
	}
}

// close ends every held request and closes the journal.
func (r *room) close() error {
	r.drain()
	r.mu.Lock()
	r.afterLocked(r.clock.Now())
	r.mu.Unlock()
	return r.log.close()
}
