package sim

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
)

// Spread collects the figures of many runs: the worst of each, with its seed, and the median. It keeps
// no result, and the order in which they come does not matter.
type Spread struct {
	seeds  []uint64
	values [][]float64 // by figure, then by run
	asked  []map[string]goal
	failed []Failed
}

// Failed is a run that exceeded a limit or broke an invariant.
type Failed struct {
	Seed uint64   `json:"seed"`
	Why  []string `json:"why"`
}

// Add takes the figures of a run.
func (s *Spread) Add(r *Result) {
	fs := figures()
	if s.values == nil {
		s.values = make([][]float64, len(fs))
	}
	s.seeds = append(s.seeds, r.World.Seed)
	s.asked = append(s.asked, goals(&r.World))
	for i, f := range fs {
		s.values[i] = append(s.values[i], f.read(r))
	}
	if why := r.Failures(); len(why) > 0 {
		s.Fail(r.World.Seed, why...)
	}
}

// Fail notes a run that failed, also one that has no result.
func (s *Spread) Fail(seed uint64, why ...string) { s.failed = append(s.failed, Failed{seed, why}) }

// Runs counts the runs with a result.
func (s *Spread) Runs() int { return len(s.seeds) }

// Failed lists the runs that failed, in order of their seeds.
func (s *Spread) Failed() []Failed {
	return slices.SortedFunc(slices.Values(s.failed), func(a, b Failed) int { return cmp.Compare(a.Seed, b.Seed) })
}

// extreme is what a spread shows of one figure.
type extreme struct {
	Worst  float64 `json:"worst"`
	Seed   uint64  `json:"seed"`
	Tenth  float64 `json:"worst_tenth"` // nine in ten runs are better
	Median float64 `json:"median"`
}

// extremeOf is the extreme of a figure; false when no run has it or it has no bad end.
func (s *Spread) extremeOf(i int, f *figure) (extreme, bool) {
	if s.values == nil || f.bad == 0 {
		return extreme{}, false
	}
	var runs []int
	for run, v := range s.values[i] {
		if !math.IsNaN(v) {
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return extreme{}, false
	}
	slices.SortFunc(runs, func(a, b int) int { // the worst first
		return cmp.Or(-f.bad*cmp.Compare(s.values[i][a], s.values[i][b]), cmp.Compare(s.seeds[a], s.seeds[b]))
	})
	at := func(n int) float64 { return s.values[i][runs[n]] }
	return extreme{at(0), s.seeds[runs[0]], at(len(runs) / 10), at(len(runs) / 2)}, true
}

// Table has a line for each figure that has a bad end.
func (s *Spread) Table() Table {
	t := Table{Head: []string{"figure", "asked", "worst", "in seed", "worst tenth", "median"}}
	for i, f := range figures() {
		x, ok := s.extremeOf(i, &f)
		if !ok {
			continue
		}
		g, asked := s.asked[0][f.key]
		word := ""
		if asked {
			word = g.text(f.unit)
		}
		t.Rows = append(t.Rows, []string{
			f.title, word, f.cell(x.Worst, g, asked), strconv.FormatUint(x.Seed, 10), f.unit.text(x.Tenth), f.unit.text(x.Median),
		})
	}
	return t
}

// WriteJSON writes the same for programs.
func (s *Spread) WriteJSON(w io.Writer) error {
	all := struct {
		Runs    int                `json:"runs"`
		Figures map[string]extreme `json:"figures"`
		Failed  []Failed           `json:"failed"`
	}{s.Runs(), map[string]extreme{}, append([]Failed{}, s.Failed()...)}
	for i, f := range figures() {
		if x, ok := s.extremeOf(i, &f); ok {
			all.Figures[f.key] = x
		}
	}
	return indented(w, all)
}
