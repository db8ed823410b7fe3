package coord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

const (
	// priorEvery is how often a room keeps its experience; a kill -9 forgets what came after.
	priorEvery = time.Minute
	// priorChange is the part by which it must have changed to be worth a write.
	priorChange = 0.01
	// beyondMax bounds what a file may claim of sessions.
	beyondMax = 24 * time.Hour
)

// priorFile keeps what a room has learned of sessions and visitors, for its first estimates after a restart.
// A room without it begins with an ordinary visit, so a lost or damaged file does little harm.
type priorFile struct {
	path string

	mu   sync.Mutex
	kept queue.Prior
}

// priorForm is the file's JSON.
type priorForm struct {
	// BeyondSeconds is how long sessions last beyond the session duration, LeavePerSecond which part of the
	// waiting visitors gives up a second.
	BeyondSeconds  float64 `json:"beyond_seconds"`
	LeavePerSecond float64 `json:"leave_per_second"`
}

// read gives what is kept; the zero value when nothing is.
func (f *priorFile) read() (queue.Prior, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, err := os.ReadFile(filepath.Clean(f.path))
	if errors.Is(err, fs.ErrNotExist) {
		return queue.Prior{}, nil
	}
	if err != nil {
		return queue.Prior{}, fmt.Errorf("read what the room has learned: %w", err)
	}
	var form priorForm
	if err := json.Unmarshal(data, &form); err != nil {
		return queue.Prior{}, fmt.Errorf("%s: %w", f.path, err)
	}
	if !(form.BeyondSeconds >= 0 && form.BeyondSeconds <= beyondMax.Seconds()) || !(form.LeavePerSecond >= 0 && form.LeavePerSecond <= 1) {
		return queue.Prior{}, fmt.Errorf("%s: %v seconds, %v a second are no experience", f.path, form.BeyondSeconds, form.LeavePerSecond)
	}
	f.kept = queue.Prior{Beyond: time.Duration(form.BeyondSeconds * float64(time.Second)), Theta: form.LeavePerSecond}
	return f.kept, nil
}

// write keeps the experience when it has changed. The old file stands until the new one is whole.
func (f *priorFile) write(p queue.Prior) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if alike(p.Beyond.Seconds(), f.kept.Beyond.Seconds()) && alike(p.Theta, f.kept.Theta) {
		return nil
	}
	data, err := json.Marshal(priorForm{p.Beyond.Seconds(), p.Theta})
	if err == nil {
		err = os.WriteFile(f.path+".new", append(data, '\n'), 0o600)
	}
	if err == nil {
		err = os.Rename(f.path+".new", f.path)
	}
	if err != nil {
		return fmt.Errorf("keep what the room has learned: %w", err)
	}
	f.kept = p
	return nil
}

func alike(a, b float64) bool { return math.Abs(a-b) <= priorChange*math.Abs(b) }

// remove deletes the file of a room that is no more.
func (f *priorFile) remove() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what a room has learned: %w", err)
	}
	return nil
}

// keepPrior writes what the room has learned by now.
func (r *room) keepPrior() {
	r.mu.Lock()
	p, ok := r.pair.Learned()
	r.mu.Unlock()
	if !ok {
		return
	}
	if err := r.prior.write(p); err != nil {
		r.logger.Warn("the room's first estimates after a restart will be rough", "error", err)
	}
}
