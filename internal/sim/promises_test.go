package sim_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/sim"
)

// runFor runs a world for a while and must be able to.
func runFor(t *testing.T, w sim.World, lasts time.Duration) *sim.Result {
	t.Helper()
	w.Duration = min(w.Duration, lasts)
	r, err := sim.Run(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFaults: random faults hurt neither the limits nor an invariant. test/simulation runs many more.
func TestFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("Seed%d", seed+1), func(t *testing.T) {
			t.Parallel()
			r := runFor(t, sim.RandomFaults(seed+1), time.Hour)
			for _, why := range r.Failures() {
				t.Errorf("%s: anteroom simulate %s --seed %d", why, sim.RandomName, seed+1)
			}
		})
	}
}

// TestReproducible: a seed replays a run down to the last message, and another seed is another run.
func TestReproducible(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, a sim.Algorithm) *sim.Result {
		w := sim.RandomFaults(7) // every random choice of a world comes up in it
		w.Seed, w.Algorithm, w.Faults = seed, a, nil
		r := runFor(t, w, 4*time.Minute)
		r.Elapsed = 0
		return r
	}
	for _, a := range []sim.Algorithm{sim.Rights, sim.Published} {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			one := run(7, a)
			if one.Admitted == 0 || one.StillWaiting == 0 {
				t.Fatalf("%d admitted, %d waiting: the run shows nothing", one.Admitted, one.StillWaiting)
			}
			if !reflect.DeepEqual(one, run(7, a)) {
				t.Error("two runs of one seed differ")
			}
			other := run(8, a)
			if other.World.Seed = 7; reflect.DeepEqual(one, other) {
				t.Error("the runs of two seeds are the same")
			}
		})
	}
}

// TestReproducibleFaults: faults are replayed as well.
func TestReproducibleFaults(t *testing.T) {
	t.Parallel()
	w := sim.RandomFaults(3)
	one, two := runFor(t, w, time.Hour), runFor(t, w, time.Hour)
	one.Elapsed, two.Elapsed = 0, 0
	if !reflect.DeepEqual(one, two) {
		t.Errorf("two runs of one seed differ: %d and %d events", one.Events, two.Events)
	}
}

// TestSameVisitors: both algorithms meet the same crowd. The published one lets more in than the limit says
// when a crowd comes at once; the product's own does not.
func TestSameVisitors(t *testing.T) {
	t.Parallel()
	flash := sim.Defaults()
	own := runFor(t, flash, 3*time.Minute)
	flash.Algorithm = sim.Published
	other := runFor(t, flash, 3*time.Minute)
	if own.Visitors < 10_000 || own.Visitors != other.Visitors {
		t.Fatalf("%d visitors come here, %d there", own.Visitors, other.Visitors)
	}
	for i, p := range own.Passages {
		if p.Arrived != other.Passages[i].Arrived {
			t.Fatalf("visitor %d comes after %v here and after %v there", i, p.Arrived, other.Passages[i].Arrived)
		}
	}
	if own.OverUsers.Max > 0 || own.OverRate.Max > 0 || own.BrokenCount > 0 {
		t.Errorf("%v", own.Failures())
	}
	if other.OverUsers.Max == 0 {
		t.Error("the published algorithm kept the limit in the flash crowd: the comparison shows nothing")
	}
}
