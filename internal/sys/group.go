package sys

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Group owns goroutines: it names them, cancels their context on Stop and waits for them.
// The zero value is not ready; use NewGroup.
type Group struct {
	ctx    context.Context //nolint:containedctx // the group is the owner of this context's life
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	running map[string]int // guarded by mu; goroutines by name, for the error of a late stop
}

// ErrStop is the cause of a planned end.
var ErrStop = errors.New("stopped by its owner")

// NewGroup makes a group below the parent's context.
func NewGroup(parent context.Context) *Group {
	ctx, cancel := context.WithCancelCause(parent)
	return &Group{ctx: ctx, cancel: cancel, running: map[string]int{}}
}

// Context ends when the group stops.
func (g *Group) Context() context.Context { return g.ctx }

// Go starts a named goroutine. It must return soon after its context ends.
func (g *Group) Go(name string, run func(ctx context.Context)) {
	g.count(name, 1)
	g.wg.Go(func() {
		defer g.count(name, -1)
		run(g.ctx)
	})
}

// Stop ends the context and waits up to the deadline. The error names the goroutines that are late.
// A second Stop, or one before any Go, is fine.
func (g *Group) Stop(deadline time.Duration) error {
	g.cancel(ErrStop)
	done := make(chan struct{})
	go func() { g.wg.Wait(); close(done) }()
	t := time.NewTimer(deadline)
	defer t.Stop()
	select {
	case <-done:
		return nil
	case <-t.C:
		g.mu.Lock()
		defer g.mu.Unlock()
		return fmt.Errorf("still running %v after the stop: %v", deadline, g.running)
	}
}

func (g *Group) count(name string, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running[name] += by; g.running[name] == 0 {
		delete(g.running, name)
	}
}
