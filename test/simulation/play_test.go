package simulation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/sim"
)

// play runs worlds on all cores. Each must keep the limits and break no invariant.
func play(t *testing.T, worlds ...sim.World) []*sim.Result {
	t.Helper()
	results := make([]*sim.Result, len(worlds))
	err := sim.Sweep(t.Context(), len(worlds), func(i int) sim.World { return worlds[i] }, func(i int, r *sim.Result, err error) {
		switch w := &worlds[i]; {
		case err != nil:
			t.Errorf("%v\n\t%s", err, replay(w))
		case len(r.Failures()) > 0:
			t.Errorf("%s\n\t%s", strings.Join(r.Failures(), "\n\t"), replay(w))
		}
		results[i] = r
	}, func(time.Duration) {})
	if err != nil || t.Failed() {
		t.Fatalf("%d worlds did not all come to a good end: %v", len(worlds), err)
	}
	return results
}

// replay is the command that repeats a run. A world that is shortened here begins in the same way when it is
// run in full.
func replay(w *sim.World) string {
	return fmt.Sprintf("anteroom simulate %s --seed %d", w.Name, w.Seed)
}

// named is a world with another seed.
func named(t *testing.T, name string, seed uint64) sim.World {
	t.Helper()
	w, ok := sim.Named(name)
	if !ok {
		t.Fatalf("there is no world %s", name)
	}
	w.Seed = seed
	return w
}
