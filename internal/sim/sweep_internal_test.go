package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestSweep: each run comes back once with its own number, errors and panics beside results.
func TestSweep(t *testing.T) {
	t.Parallel()
	const n = 100
	var passed atomic.Int64
	run := func(i int) (*Result, error) {
		w := Defaults()
		w.Seed = uint64(i)
		return guarded(func(w World, progress func(done, total time.Duration)) (*Result, error) {
			progress(w.Duration/2, w.Duration)
			progress(w.Duration, w.Duration)
			switch w.Seed {
			case 13:
				panic("a right twice")
			case 14:
				return nil, errors.New("no room")
			}
			return &Result{World: w}, nil
		}, w, func(d time.Duration) { passed.Add(int64(d)) })
	}
	var seen []int
	err := sweepWith(t.Context(), n, run, func(i int, r *Result, err error) {
		seen = append(seen, i)
		switch {
		case i == 13 && (r != nil || !strings.Contains(err.Error(), "panic: a right twice") || !strings.Contains(err.Error(), "sweep_internal_test.go")):
			t.Errorf("the panic became %v, %v", r, err)
		case i == 14 && err == nil, i != 13 && i != 14 && (err != nil || r.World.Seed != uint64(i)):
			t.Errorf("run %d: %v, %v", i, r, err)
		}
	})
	slices.Sort(seen)
	if err != nil || len(seen) != n || seen[0] != 0 || seen[n-1] != n-1 || len(slices.Compact(seen)) != n {
		t.Errorf("%v: %d runs: %v", err, len(seen), seen)
	}
	if passed.Load() != int64(n*time.Hour) {
		t.Errorf("the progress is %v", time.Duration(passed.Load()))
	}
}

func TestSweepOfNothing(t *testing.T) {
	t.Parallel()
	if err := sweepWith(t.Context(), 0, nil, nil); err != nil {
		t.Error(err)
	}
}

// TestSweepInterrupted: who waits for a sweep is free at once when the context ends.
func TestSweepInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	err := sweepWith(ctx, 1000, func(int) (*Result, error) {
		cancel()
		return &Result{}, nil
	}, func(int, *Result, error) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
