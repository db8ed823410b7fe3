package sim

import (
	"math"
	"reflect"
	"slices"

	"github.com/anteroom/anteroom"
)

// goal is what a figure is asked to be: between low and high.
type goal struct{ low, high float64 }

func atMost(v float64) goal  { return goal{math.Inf(-1), v} }
func atLeast(v float64) goal { return goal{v, math.Inf(1)} }

// met tells whether a value is as asked. A figure that a run has none of misses nothing.
func (g goal) met(v float64) bool { return math.IsNaN(v) || v >= g.low && v <= g.high }

// text says what is asked.
func (g goal) text(u unit) string {
	switch {
	case math.IsInf(g.low, -1) && g.high == 0:
		return "0"
	case math.IsInf(g.low, -1):
		return "≤ " + u.bound(g.high)
	case math.IsInf(g.high, 1):
		return "≥ " + u.bound(g.low)
	}
	return u.bound(g.low) + " to " + u.bound(g.high)
}

// goals is what a world asks, by the keys of figures. The limits and the invariants hold in every
// world; the other goals were set for the worlds of the study and say nothing about a smaller room.
// The published algorithm is there for comparison: nothing is asked of it.
func goals(w *World) map[string]goal {
	if w.Algorithm != Rights {
		return nil
	}
	asked := map[string]goal{"over_users": atMost(0), "over_rate": atMost(0), "broken": atMost(0)}
	if !isStudied(w) {
		return asked
	}
	asked["messages_per_center_per_s"] = atMost(4)
	if use, ok := useGoal(w); ok {
		asked["utilisation"] = atLeast(use)
	}
	switch {
	case w.Room.Method == anteroom.Random:
		asked["chi_square"] = atMost(1.5)
		asked["fast_rank"], asked["lucky_rank"] = goal{0.45, 0.55}, goal{0.45, 0.55}
	case isPlain(w):
		fifoGoals(asked)
	case slices.ContainsFunc(w.Faults, func(f Fault) bool { return f.Kind == LeaderLoss }):
		asked["recovered_s"] = atMost(3)
	}
	return asked
}

// isStudied tells the named worlds, whatever their seed.
func isStudied(w *World) bool {
	original, ok := Named(w.Name)
	original.Seed, original.Algorithm = w.Seed, w.Algorithm
	return ok && reflect.DeepEqual(original, *w)
}

// isPlain tells the worlds in which nothing stands in the way of order and estimates.
func isPlain(w *World) bool {
	return len(w.Faults) == 0 && len(w.Room.Classes) == 0 && w.Room.Opens == 0 && w.Network.Loss == 0 && w.Crowd.Moves == 0
}

func fifoGoals(asked map[string]goal) {
	asked["turns_inverted_1s"] = atMost(0.00001)
	asked["turns_inverted_max_s"] = atMost(5)
	asked["entries_inverted_max_s"] = atMost(6)
	asked["estimate_error_q1"] = atMost(0.20)
	for _, later := range []string{"estimate_error_q2", "estimate_error_q3", "estimate_error_q4"} {
		asked[later] = atMost(0.05)
		asked[later+"_p90"] = atMost(0.5)
	}
	asked["estimate_error_q1_p90"] = atMost(0.5)
	asked["moved_later"] = atMost(0.05)
}

// useGoal is the least use asked of a world. A room that has yet to open, fixed polls and what the
// published experiment leaves open have none.
func useGoal(w *World) (least float64, ok bool) {
	counted := w.Crowd.Load == AtOnce || w.Crowd.Load == Even
	if counted || w.Room.Poll > 0 || w.Room.Pacing > 0 || w.Room.Method == anteroom.Random {
		return 0, false
	}
	held := (w.Room.Session + w.Crowd.Browse).Seconds()
	if float64(w.Room.NewUsersPerMinute)/60 < float64(w.Room.TotalActiveUsers)/held {
		return 0.975, true
	}
	for _, f := range w.Faults {
		return faultUse(f.Kind)
	}
	if w.Room.TotalActiveUsers/w.Network.Centers < 100 {
		return 0.985, true
	}
	return 0.99, true
}

// faultUse is the least use asked of the flash crowd with one fault.
func faultUse(kind FaultKind) (least float64, ok bool) {
	switch kind {
	case Partition:
		return 0.97, true
	case LeaderLoss:
		return 0.98, true
	case Crash, Restart, Amnesia:
		return 0.985, true
	case TwoLeaders, NodesLost, LedgerSilent:
		return 0.98, true
	case LowerLimit: // until the sessions above the new limit have ended nobody may enter
	}
	return 0, false
}
