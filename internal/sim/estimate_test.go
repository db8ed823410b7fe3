package sim_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/sim"
)

// smaller runs a named world with a change that makes it short.
func smaller(t *testing.T, name string, seed uint64, change func(w *sim.World)) *sim.Result {
	t.Helper()
	w, ok := sim.Named(name)
	if !ok {
		t.Fatalf("there is no world %s", name)
	}
	w.Seed = seed
	if change != nil {
		change(&w)
	}
	r, err := sim.Run(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range r.Broken {
		t.Errorf("%s", fault)
	}
	return r
}

// TestEstimates: the waits that visitors are shown come true.
func TestEstimates(t *testing.T) {
	t.Parallel()
	shorter := func(d time.Duration) func(*sim.World) {
		return func(w *sim.World) { w.Duration = d }
	}
	for _, c := range []struct {
		test, world string
		seed        uint64
		change      func(w *sim.World)
	}{
		{"Flash", "flash", 1, shorter(20 * time.Minute)},
		{"FlashInOneDataCenter", "flash-1", 2, shorter(20 * time.Minute)},
		{"RateBinds", "rate", 3, shorter(25 * time.Minute)},
		{"Ramp", "ramp", 4, shorter(25 * time.Minute)},
		{"Diurnal", "diurnal", 5, shorter(40 * time.Minute)},
	} {
		t.Run(c.test, func(t *testing.T) {
			t.Parallel()
			r := smaller(t, c.world, c.seed, c.change)
			for q, most := range [4]float64{0.20, 0.05, 0.05, 0.05} {
				if e := r.Estimates[q]; e.Samples < 1000 || e.Median > most || e.P90 > 0.5 {
					t.Errorf("quarter %d of the wait: median error %.1f %%, 90th percentile %.0f %% of %d, want at most %.0f %% and 50 %%",
						q+1, 100*e.Median, 100*e.P90, e.Samples, 100*most)
				}
			}
			if r.FirstRanged < 1000 || r.FirstRange < 0.9 {
				t.Errorf("%.1f %% of %d entered within the range first shown after two minutes, want 90 %%", 100*r.FirstRange, r.FirstRanged)
			}
			if r.Unexplained > 0 || r.MovedLater > 0.05 {
				t.Errorf("%d promises moved later without a reason, %.1f %% of all in any case, want none and 5 %%", r.Unexplained, 100*r.MovedLater)
			}
		})
	}
}

// TestPromisesUnderALoweredLimit: whoever is told a later moment is told why.
func TestPromisesUnderALoweredLimit(t *testing.T) {
	t.Parallel()
	r := smaller(t, "lower-limit", 1, func(w *sim.World) { w.Duration = 15 * time.Minute })
	if r.Unexplained > 0 {
		t.Errorf("%d promises moved later without a reason", r.Unexplained)
	}
	if r.MovedLater == 0 {
		t.Error("no promise moved although the limit was halved for five minutes")
	}
}
