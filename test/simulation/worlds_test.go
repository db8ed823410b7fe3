package simulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/sim"
)

// seedsOfFaults is how many random worlds are run.
const seedsOfFaults = 200

// TestRandomFaults: whatever breaks, nobody enters above a limit and no invariant is hurt.
func TestRandomFaults(t *testing.T) {
	t.Parallel()
	worlds := make([]sim.World, seedsOfFaults)
	for i := range worlds {
		worlds[i] = sim.RandomFaults(uint64(i) + 1)
	}
	admitted := 0
	for _, r := range play(t, worlds...) {
		admitted += r.Admitted
	}
	if admitted < 1000*seedsOfFaults {
		t.Errorf("%d runs admitted %d visitors, which says little about limits", seedsOfFaults, admitted)
	}
}

// TestNamedWorlds: the invariants hold in every named world: the limits, work conservation, lines that add
// up to the registries, counters and epochs that never fall.
func TestNamedWorlds(t *testing.T) {
	t.Parallel()
	var worlds []sim.World
	for _, w := range sim.Worlds() {
		if elsewhere := slices.Concat(fullNames(), lotteryNames()); !slices.Contains(elsewhere, w.Name) {
			w.Duration = min(w.Duration, lasting(&w))
			worlds = append(worlds, w)
		}
	}
	for _, r := range play(t, worlds...) {
		if slices.Contains(plainNames(), r.World.Name) {
			checkTurns(t, r)
		}
	}
}

// lasting is how much of a world shows what it is there for. After a fault two minutes pass before work
// conservation is asked for again. The flash crowd has entered after 20 minutes; the other half of the loads
// that are stretched over the run has the longer queue.
func lasting(w *sim.World) time.Duration {
	switch {
	case len(w.Faults) > 0:
		return w.Faults[0].At + w.Faults[0].For + 4*time.Minute
	case w.Crowd.Load == sim.Ramp, w.Crowd.Load == sim.Diurnal:
		return w.Duration
	case w.Crowd.Load == sim.Even:
		return 25 * time.Minute
	default:
		return 20 * time.Minute
	}
}

// fullNames are the worlds that the tests of use run to their end.
func fullNames() []string { return []string{"flash", "flash-200", "rate"} }

// plainNames are further worlds in which nothing stands in the way of the order.
func plainNames() []string {
	return []string{"flash-1", "flash-2", "rate-paced", "steady", "ramp", "newdc", "diurnal", "skew", "published-uniform-fifo", "published-atonce-fifo"}
}

// TestUse: a room with a queue is full, and in FIFO turns come in the order of arrivals.
func TestUse(t *testing.T) {
	t.Parallel()
	least := map[string]float64{"flash": 0.993, "flash-200": 0.989, "rate": 0.975}
	var worlds []sim.World
	for _, name := range fullNames() {
		worlds = append(worlds, named(t, name, 1))
	}
	for _, r := range play(t, append(worlds, named(t, "flash", 2))...) {
		if want := least[r.World.Name]; r.Utilisation < want {
			t.Errorf("utilisation %.2f %%, want %.2f %%\n\t%s", 100*r.Utilisation, 100*want, replay(&r.World))
		}
		checkTurns(t, r)
	}
}

// checkTurns: less than 0.001 % of the pairs of visitors get their turns in the wrong order although over a
// second lies between their arrivals, and at most 5 s do.
func checkTurns(t *testing.T, r *sim.Result) {
	t.Helper()
	if o := r.TurnOrder; o.Seconds >= 0.00001 || o.Max > 5*time.Second {
		t.Errorf("%.5f %% of the turns are inverted by over a second, at most %v; want below 0.001 %% and 5 s\n\t%s",
			100*o.Seconds, o.Max, replay(&r.World))
	}
	if r.Admitted < 1000 {
		t.Errorf("%s: only %d visitors entered", r.World.Name, r.Admitted)
	}
}
