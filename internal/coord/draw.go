package coord

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/sys"
)

// Draws tells what a room publishes of its draws.
func (n *Node) Draws(_ context.Context, id string) (queue.DrawState, error) {
	r, err := n.room(id)
	if err != nil {
		return queue.DrawState{}, err
	}
	return r.drawState()
}

// SealDraw closes the list of a room's open draw. It is durable when SealDraw returns.
func (n *Node) SealDraw(_ context.Context, id string) (queue.DrawState, error) {
	r, err := n.room(id)
	if err != nil {
		return queue.DrawState{}, err
	}
	return r.sealDraw()
}

// EndDraw draws the places of the sealed list and publishes the record.
func (n *Node) EndDraw(_ context.Context, id string, external queue.DrawExternal) (queue.DrawState, error) {
	r, err := n.room(id)
	if err != nil {
		return queue.DrawState{}, err
	}
	return r.endDraw(external)
}

// DrawRecord opens the record of a draw: JSON in gzip.
func (n *Node) DrawRecord(_ context.Context, id string, number uint64) (io.ReadCloser, error) {
	r, err := n.room(id)
	if err != nil {
		return nil, err
	}
	return r.drawn.open(number)
}

func (r *room) drawState() (queue.DrawState, error) {
	r.mu.Lock()
	state := r.pair.Draws()
	r.mu.Unlock()
	var err error
	state.Records, err = r.drawn.list()
	return state, err
}

// sealDraw closes the list. The room answers nobody meanwhile: some 1.5 s with a million in line.
func (r *room) sealDraw() (queue.DrawState, error) {
	r.drawing.Lock()
	defer r.drawing.Unlock()
	var next queue.Seed
	sys.RandomBytes(next[:])
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return queue.DrawState{}, ErrNoRoom
	}
	now := r.clock.Now()
	err := r.pair.Seal(now, next)
	r.afterLocked(now)
	r.mu.Unlock()
	if err != nil {
		return queue.DrawState{}, err
	}
	r.log.sync()
	return r.drawState()
}

// endDraw writes the record before anybody moves: what a crash leaves in between is finished by
// finishDraw. A record that cannot be written draws nothing, and nothing of it is published.
func (r *room) endDraw(external queue.DrawExternal) (queue.DrawState, error) {
	r.drawing.Lock()
	defer r.drawing.Unlock()
	if done, err := r.finishDraw(); done || err != nil {
		return queue.DrawState{}, errors.Join(err, errDrawn(done)) // a record that may have been seen is never exchanged
	}
	r.mu.Lock()
	sealed := r.pair.SealedDraw()
	r.mu.Unlock()
	if sealed == nil {
		return queue.DrawState{}, anteroom.Errorf(anteroom.CodeConflict, "no list is sealed").At("action").WithHint("close it with the action seal first")
	}
	record := sealed.Record(external) // outside of the lock: it takes seconds for a million
	if faults := record.VerifyForm(); len(faults) > 0 {
		return queue.DrawState{}, atExternal(faults)
	}
	if err := r.drawn.write(record); err != nil {
		return queue.DrawState{}, anteroom.Errorf(anteroom.CodeUnavailable, "write the record of the draw: %w", err).
			WithHint("mend the data directory, then draw again")
	}
	for more := true; more; {
		var err error
		if more, err = r.drawPlaces(external.Value); err != nil {
			return queue.DrawState{}, err
		}
	}
	r.log.sync()
	return r.drawState()
}

// drawBatch is how many places are drawn while everybody else waits for the room's lock.
const drawBatch = 10_000

// drawPlaces draws some places, and ends the draw with the last one.
func (r *room) drawPlaces(external []byte) (more bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false, ErrNoRoom // the next start finishes the draw
	}
	now := r.clock.Now()
	if more = r.pair.DrawPlaces(now, external, drawBatch); !more {
		r.pair.EndDraw(now, external)
	}
	r.afterLocked(now)
	return more, nil
}

// atExternal names the fields as the caller knows them.
func atExternal(faults anteroom.Errors) anteroom.Errors {
	for _, f := range faults {
		switch f.Field {
		case "external.value":
			f.Field = "external"
		case "external.note":
			f.Field = "note"
		}
	}
	return faults
}

// errDrawn tells that a draw has ended by a record that was there already.
func errDrawn(done bool) error {
	if !done {
		return nil
	}
	return anteroom.Errorf(anteroom.CodeConflict, "the draw had its record already and is finished by it").At("action").
		WithHint("fetch the record")
}

// finishDraw ends a draw whose record was published before a crash, and tells whether there was one.
func (r *room) finishDraw() (done bool, err error) {
	r.mu.Lock()
	sealed := r.pair.SealedDraw()
	r.mu.Unlock()
	if sealed == nil {
		return false, nil
	}
	kept, err := r.drawn.list()
	if err != nil || !slices.Contains(kept, sealed.Number()) {
		return false, err
	}
	record, err := r.drawn.read(sealed.Number())
	if err != nil {
		return false, err
	}
	if record.Commitment != sealed.Commitment() {
		return false, anteroom.Errorf(anteroom.CodeConflict, "the record of draw %d is of another seed than the journal's", sealed.Number()).
			WithHint("move the file %s away, then draw again", r.drawn.path(sealed.Number()))
	}
	for more := true; more; {
		if more, err = r.drawPlaces(record.External.Value); err != nil {
			return false, err
		}
	}
	return true, nil
}
