package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

// sweepStopTimeout is how long a sweep that is given up waits for its runs. A run cannot be
// interrupted; one that takes longer ends with the process.
const sweepStopTimeout = 200 * time.Millisecond

// Sweep carries out n runs on all cores. each gets the outcome of each run, one at a time and in the
// order in which they end; it gets an error instead of a result when the run could not be carried out or
// panicked. advance is called from many goroutines with the virtual time that has passed in some run.
func Sweep(ctx context.Context, n int, world func(i int) World, each func(i int, r *Result, err error), advance func(time.Duration)) error {
	return sweepWith(ctx, n, func(i int) (*Result, error) { return guarded(Run, world(i), advance) }, each)
}

// sweepWith does the same with any run.
func sweepWith(ctx context.Context, n int, run func(i int) (*Result, error), each func(i int, r *Result, err error)) (err error) {
	type outcome struct {
		i      int
		result *Result
		err    error
	}
	outcomes := make(chan outcome)
	var next atomic.Int64
	group := sys.NewGroup(ctx)
	defer func() { err = errors.Join(err, group.Stop(sweepStopTimeout)) }()
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go("simulation", func(ctx context.Context) {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				r, err := run(i)
				select {
				case outcomes <- outcome{i, r, err}:
				case <-ctx.Done():
				}
			}
		})
	}
	for range n {
		select {
		case o := <-outcomes:
			each(o.i, o.result, o.err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// runner is the type of Run.
type runner func(w World, progress func(done, total time.Duration)) (*Result, error)

// guarded runs a world and turns a panic, with which the core reports broken invariants, into an error:
// the other runs go on, and the seed can be named.
func guarded(run runner, w World, advance func(time.Duration)) (r *Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	var passed time.Duration
	r, err = run(w, func(done, _ time.Duration) {
		advance(done - passed)
		passed = done
	})
	return r, err
}
