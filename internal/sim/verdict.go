package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// brokenShown is how many broken invariants a verdict names.
const brokenShown = 5

// Failures names the limits that were exceeded and the invariants that broke; none is a sound run. The
// published algorithm is there for comparison: it has no failures.
func (r *Result) Failures() []string {
	var why []string
	if r.World.Algorithm != Rights {
		return why
	}
	if n := r.OverUsers.Max; n > 0 {
		why = append(why, fmt.Sprintf("%d visitors above total_active_users", n))
	}
	if n := r.OverRate.Max; n > 0 {
		why = append(why, fmt.Sprintf("%d visitors above new_users_per_minute within 60 s", n))
	}
	for _, b := range r.Broken[:min(len(r.Broken), brokenShown)] {
		why = append(why, strings.TrimSpace(b))
	}
	if more := r.BrokenCount - brokenShown; more > 0 {
		why = append(why, fmt.Sprintf("%d more broken invariants", more))
	}
	return why
}

// resultJSON is a result for programs.
type resultJSON struct {
	World     string             `json:"world"`
	Algorithm Algorithm          `json:"algorithm"`
	Seed      uint64             `json:"seed"`
	Figures   map[string]float64 `json:"figures"`
	Missed    []string           `json:"missed"`   // keys of figures that are not as asked
	Failures  []string           `json:"failures"` // limits and invariants
}

// WriteJSON writes the figures of results as a list. A figure that a run has none of is left out.
func WriteJSON(w io.Writer, results ...*Result) error {
	list := make([]resultJSON, len(results))
	for i, r := range results {
		list[i] = resultJSON{
			r.World.Name, r.World.Algorithm, r.World.Seed,
			map[string]float64{},
			[]string{},
			append([]string{}, r.Failures()...),
		}
		asked := goals(&r.World)
		for _, f := range figures() {
			v := f.read(r)
			if !math.IsNaN(v) {
				list[i].Figures[f.key] = v
			}
			if g, ok := asked[f.key]; ok && !g.met(v) {
				list[i].Missed = append(list[i].Missed, f.key)
			}
		}
	}
	return indented(w, list)
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
