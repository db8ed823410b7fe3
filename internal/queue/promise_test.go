package queue_test

import (
	"slices"
	"testing"
	"time"
)

// TestEstimatesComeTrue compares what people were told with what happened, by quarters of their wait. A cold
// room has seen nobody leave yet, so its first quarter may be wrong by half where active users bind.
func TestEstimatesComeTrue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		total, rate  int
		first, later float64 // median relative error
	}{
		{"ActiveUsersBind", 200, 200, 0.5, 0.2},
		{"RateBinds", 500, 60, 0.3, 0.15},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 21, fifo(c.total, c.rate, 20*time.Second))
			w.flash(1500, 30*time.Second, time.Minute)
			w.run(30 * time.Minute)
			for q, list := range estimateErrors(w.people) {
				if len(list) < 100 {
					t.Fatalf("only %d samples in quarter %d", len(list), q+1)
				}
				limit := c.later
				if q == 0 {
					limit = c.first
				}
				m := list[len(list)/2]
				if m > limit {
					t.Errorf("quarter %d: want at most %.0f %%", q+1, 100*limit)
				}
				t.Logf("quarter %d: median error %.0f %%, 90th percentile %.0f %%", q+1, 100*m, 100*list[len(list)*9/10])
			}
		})
	}
}

// estimateErrors are the relative errors of estimates by quarter of the wait, in order of size. Short waits
// and the last seconds say nothing.
func estimateErrors(people []*person) (errs [4][]float64) {
	for _, p := range people {
		whole := p.entered.Sub(p.arrived)
		if !p.inside || whole < time.Minute {
			continue
		}
		for _, s := range p.told {
			left := p.entered.Sub(s.at)
			if left < 20*time.Second {
				continue
			}
			quarter := min(3, int(4*s.at.Sub(p.arrived)/whole))
			errs[quarter] = append(errs[quarter], (s.wait-left).Abs().Seconds()/left.Seconds())
		}
	}
	for q := range errs {
		slices.Sort(errs[q])
	}
	return errs
}
