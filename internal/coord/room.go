package coord

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/sys"
)

// room is one waiting room on this node: the core, its lock, its journal and the held requests.
type room struct {
	clock  sys.Clock
	logger *slog.Logger
	seed   queue.Seed
	log    *journal
	quiet  atomic.Bool // nobody is here; time passes in large steps
	drawn  drawRecords
	prior  priorFile
	// drawing is held while a draw is sealed or ended; it is taken before mu.
	drawing sync.Mutex

	mu       sync.Mutex
	pair     *queue.Pair
	settings queue.Settings
	records  []queue.Record           // scratch
	woken    []queue.ID               // scratch
	held     map[queue.ID]*heldTicket // held requests by ticket
	draining bool
	closed   bool // the journal is closed: nothing may change any more

	compactAfter time.Time // no rewrite of the journal before this; used by tick alone
	priorAfter   time.Time // the experience is not written before this; used by tick alone
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
	log   *slog.Logger
}

// openRoom brings a room to life from its journal. Its files begin with base.
func openRoom(base string, cfg queue.LocalConfig, deps roomDeps) (*room, error) {
	sys.RandomBytes(cfg.Seed[:])
	path := base + ".journal"
	log, old, err := openJournal(path, cfg.Seed, deps.fail)
	if err != nil {
		return nil, err
	}
	cfg.Seed = old.seed
	now := deps.clock.Now()
	if old.cut > 0 {
		deps.log.Warn("the end of a journal was torn and is cut off", "path", path, "bytes", old.cut)
	}
	r := &room{
		clock: deps.clock, logger: deps.log, seed: old.seed, log: log, drawn: drawRecords{base + ".draws"},
		settings: cfg.Settings, held: map[queue.ID]*heldTicket{}, prior: priorFile{path: base + ".prior"},
		priorAfter: now.Add(priorEvery),
	}
	if cfg.Prior, err = r.prior.read(); err != nil {
		deps.log.Warn("what the room has learned is lost; it learns anew", "error", err)
	}
	r.pair = queue.NewPair(now, cfg, slices.Values(old.records))
	r.mu.Lock()
	r.afterLocked(now)
	r.mu.Unlock()
	if _, err := r.finishDraw(); err != nil {
		// The list stays sealed and can be drawn again: a room must not be away for it.
		deps.log.Error("a draw that was cut off is not finished", "path", path, "error", err)
	}
	return r, nil
}

// ask decides one request and returns when the decision is durable.
func (r *room) ask(ask queue.Ask) (queue.Answer, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return queue.Answer{}, ErrNoRoom
	}
	now := r.clock.Now()
	a := r.pair.Ask(now, ask)
	r.afterLocked(now)
	r.mu.Unlock()
	if a.Seq > 0 {
		r.log.wait(a.Seq)
	}
	return a, nil
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
	if r.draining {
		return nil, false
	}
	held, turn := r.pair.Hold(now, id)
	if !held {
		return nil, turn
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
	if h.waiters--; h.waiters == 0 && r.held[id] == h && !r.closed {
		delete(r.held, id)
		r.pair.Release(r.clock.Now(), id)
	}
}

// tick lets time pass, and rewrites the journal by the way of background when it has become bulky.
func (r *room) tick(background func(run func())) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	now := r.clock.Now()
	r.pair.Tick(now)
	r.afterLocked(now)
	r.quiet.Store(r.pair.Quiet())
	size := r.pair.Size()
	r.mu.Unlock()
	r.log.flush()
	if r.log.bulky(size) && !now.Before(r.compactAfter) {
		r.compactAfter = now.Add(compactGap)
		background(r.compact)
	}
	if !now.Before(r.priorAfter) {
		r.priorAfter = now.Add(priorEvery)
		background(r.keepPrior)
	}
}

// compactGap is the least time between two rewrites of a journal: one that failed is not repeated at once.
const compactGap = 5 * time.Second

// compact replaces the journal's history by a snapshot.
func (r *room) compact() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	now := r.clock.Now()
	r.afterLocked(now)
	r.log.beginCompact()
	snapshot := r.pair.Snapshot(now)
	r.mu.Unlock()
	if err := r.log.finishCompact(r.seed, snapshot); err != nil && !errors.Is(err, errJournalEnded) {
		r.logger.Warn("a journal cannot be rewritten and goes on growing", "path", r.log.path, "error", err)
	}
}

func (r *room) configure(s queue.Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s == r.settings || r.closed {
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
	if r.closed {
		return
	}
	now := r.clock.Now()
	r.pair.Touch(now, id)
	r.afterLocked(now)
}

func (r *room) end(id queue.ID) bool {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return false
	}
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
	if !r.closed {
		r.afterLocked(now)
	}
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
	r.closed = true
	r.mu.Unlock()
	r.keepPrior()
	return r.log.close()
}
