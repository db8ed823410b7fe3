package sim

import (
	"bytes"
	"encoding/json"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom"
)

// sample is a result of the flash crowd as it should be.
func sample(change func(r *Result)) *Result {
	r := &Result{
		World: Defaults(), Visitors: 23210, Admitted: 20111, GaveUp: 3001, StillWaiting: 98,
		Utilisation: 0.9951, LowestUse: 0.981, Needless: 0.0001,
		EntryOrder:   Inversions{Any: 0.002, Seconds: 0.000002, Max: 4900 * time.Millisecond},
		TurnOrder:    Inversions{Any: 0.0001, Max: 2600 * time.Millisecond},
		HandoverMean: 400 * time.Millisecond, HandoverP95: time.Second,
		MovedLater: 0.02, FirstRange: 0.9, FirstRanged: 50,
		Messages: 46, Bytes: 7100, Polls: 84.2, PeakEntries: 1375,
	}
	for i := range r.Estimates {
		r.Estimates[i] = ErrorQuantiles{Median: 0.03, P90: 0.3, Samples: 100}
	}
	for i := range 101 {
		r.Passages = append(r.Passages, Passage{Arrived: time.Duration(i) * time.Second, Waited: time.Duration(i) * time.Minute, Entered: true})
		r.Series = append(r.Series, Point{At: time.Duration(i) * time.Second, Limit: 2000, Active: 20 * i, Waiting: 50})
	}
	change(r)
	return r
}

func keep(*Result) {}

func text(t *testing.T, table Table) string {
	t.Helper()
	var b bytes.Buffer
	if err := table.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// spaced gives the lines of a text with single spaces.
func spaced(text string) []string {
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	return lines
}

func TestSideBySide(t *testing.T) {
	t.Parallel()
	theirs := sample(func(r *Result) {
		r.World.Algorithm = Published
		r.OverUsers = Excess{Max: 574, Mean: 47.92}
		r.Utilisation = 0.8729
	})
	mine := sample(func(r *Result) { r.Estimates[3].Median = 0.08 })
	table := SideBySide(mine, theirs)
	got := text(t, table)
	for _, want := range []string{
		"figure asked rights published",
		"visitors 23,210 23,210",
		"over users, max 0 0 574",
		"over users, mean 0 47.92",
		"utilisation ≥ 99 % 99.51 % 87.29 %",
		"turns inverted > 1 s ≤ 0.001 % 0 % 0 %",
		"entries inverted > 1 s 0.0002 % 0.0002 %",
		"entries, longest inversion ≤ 6 s 4.9 s 4.9 s",
		"wait, p10", "wait, p50", "wait, p90", "wait, p99",
		"estimate error Q4, median ≤ 5 % 8.00 % ! 3.00 %",
		"messages 46.0/s 46.0/s",
		"messages per data center ≤ 4/s 2.3/s 2.3/s",
		"bytes 7.1 kB/s 7.1 kB/s",
		"polls 84.2/s 84.2/s",
		"peak entries in 1 s 1,375 1,375",
		"broken invariants 0 0 0",
	} {
		if !slices.ContainsFunc(spaced(got), func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("no line begins with %q in\n%s", want, got)
		}
	}
	if !table.Missed() {
		t.Error("an estimate is not as asked and the table does not say so")
	}
	if strings.Contains(got, "chi²") || strings.Contains(got, "back to 97 %") {
		t.Errorf("a first come, first served run without faults has no such line:\n%s", got)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	table := OneEach([]*Result{sample(keep), sample(func(r *Result) { r.OverUsers.Max = 3 })}, "visitors", "over_users", "chi_square")
	var b bytes.Buffer
	if err := table.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	want := `| world | algorithm | visitors | over users, max |
|---|---|---|---|
| asked |  |  | 0 |
| flash | rights | 23,210 | 0 |
| flash | rights | 23,210 | **3 !** |
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestDifferentGoals: what is asked stands beside the values when it is not the same everywhere.
func TestDifferentGoals(t *testing.T) {
	t.Parallel()
	rate := sample(func(r *Result) { r.World, _ = Named("rate"); r.Utilisation = 0.97 })
	table := OneEach([]*Result{sample(keep), rate}, "utilisation")
	got := []string{table.Rows[0][2], table.Rows[1][2], table.Rows[2][2]}
	if want := []string{"", "99.51 % (≥ 99 %)", "97.00 % (≥ 97.5 %) !"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestGoals: goals were set for the named worlds; the limits hold everywhere; nothing is asked of the published
// algorithm.
func TestGoals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		world func() World
		want  map[string]string // absent is ""
	}{
		{"Flash", Defaults, map[string]string{"over_users": "0", "utilisation": "≥ 99 %", "turns_inverted_max_s": "≤ 5 s", "estimate_error_q1": "≤ 20 %"}},
		{"AnotherSeed", func() World { w := Defaults(); w.Seed = 9; return w }, map[string]string{"utilisation": "≥ 99 %"}},
		{"Changed", func() World { w := Defaults(); w.Room.TotalActiveUsers = 5; return w }, map[string]string{"over_users": "0", "broken": "0", "utilisation": ""}},
		{"Published", func() World { w := Defaults(); w.Algorithm = Published; return w }, map[string]string{"over_users": "", "utilisation": ""}},
		{"SmallShares", named("flash-200"), map[string]string{"utilisation": "≥ 98.5 %"}},
		{"Rate", named("rate"), map[string]string{"utilisation": "≥ 97.5 %"}},
		{"Paced", named("rate-paced"), map[string]string{"utilisation": "", "over_rate": "0"}},
		{"Lottery", named("lottery"), map[string]string{"chi_square": "≤ 1.5", "lucky_rank": "0.45 to 0.55", "turns_inverted_max_s": ""}},
		{"Partition", named("partition"), map[string]string{"utilisation": "≥ 97 %", "turns_inverted_max_s": ""}},
		{"LeaderLoss", named("leader-loss"), map[string]string{"recovered_s": "≤ 3 s"}},
		{"LowerLimit", named("lower-limit"), map[string]string{"utilisation": "", "over_users": "0"}},
		{"Random", func() World { return RandomFaults(3) }, map[string]string{"over_users": "0", "over_rate": "0", "broken": "0", "utilisation": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := c.world()
			asked := goals(&w)
			for key, want := range c.want {
				got := ""
				if g, ok := asked[key]; ok {
					got = g.text(unitOf(t, key))
				}
				if got != want {
					t.Errorf("%s: asked %q, want %q", key, got, want)
				}
			}
		})
	}
}

func named(name string) func() World {
	return func() World {
		w, _ := Named(name)
		return w
	}
}

func unitOf(t *testing.T, key string) unit {
	t.Helper()
	all := figures()
	i := slices.IndexFunc(all, func(f figure) bool { return f.key == key })
	if i < 0 {
		t.Fatalf("no figure %s", key)
	}
	return all[i].unit
}

// TestGoalKeys: every goal belongs to a figure, and the figures' keys differ.
func TestGoalKeys(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, f := range figures() {
		if keys[f.key] || f.title == "" {
			t.Errorf("the figure %q stands twice or has no title", f.key)
		}
		keys[f.key] = true
	}
	for _, w := range append(Worlds(), RandomFaults(1)) {
		for key := range goals(&w) {
			if !keys[key] {
				t.Errorf("%s asks %q, which is no figure", w.Name, key)
			}
		}
	}
	for _, key := range ExperimentFigures() {
		if !keys[key] {
			t.Errorf("the experiment shows %q, which is no figure", key)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1,234,567": inCount.text(1234567), "-1,234": inCount.text(-1234), "999": inCount.text(999), "-": inCount.text(math.NaN()),
		"12.35 %": inShare.text(0.12345), "0.0050 %": inShare.text(0.00005), "0 %": inShare.text(0),
		"1.5 s": inSeconds.text(1.5), "0.97": inPlain.text(0.966), "5 %": inShare.bound(0.05), "10 s": inSeconds.bound(10),
		"100": inCount.bound(100), "4/s": inPerSecond.bound(4), "1.5": inPlain.bound(1.5),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	if why := sample(keep).Failures(); len(why) > 0 {
		t.Errorf("a sound run has %q", why)
	}
	broken := func(r *Result) {
		r.OverUsers.Max, r.OverRate.Max = 2, 3
		r.Broken, r.BrokenCount = slices.Repeat([]string{"at 5s: a right twice"}, 7), 700
	}
	why := sample(broken).Failures()
	if len(why) != 8 || !strings.HasPrefix(why[0], "2 visitors above total_active_users") || why[7] != "695 more broken invariants" {
		t.Errorf("got %q", why)
	}
	theirs := sample(func(r *Result) { broken(r); r.World.Algorithm = Published })
	if why := theirs.Failures(); len(why) > 0 {
		t.Errorf("the comparison has %q", why)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := WriteJSON(&b, sample(func(r *Result) { r.OverUsers.Max = 1 })); err != nil {
		t.Fatal(err)
	}
	var got []resultJSON
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got) != 1 {
		t.Fatalf("%v in %s", err, &b)
	}
	r := got[0]
	if _, has := r.Figures["chi_square"]; has || r.World != "flash" || r.Figures["utilisation"] != 0.9951 ||
		!slices.Equal(r.Missed, []string{"over_users"}) || len(r.Failures) != 1 {
		t.Errorf("got %+v", r)
	}
}

// TestSpread: the worst of each figure does not depend on the order of the runs and names its seed.
func TestSpread(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "runs")
		runs := make([]*Result, n)
		for i := range runs {
			runs[i] = sample(func(r *Result) {
				r.World = RandomFaults(uint64(i) + 1)
				r.World.Room.Method = anteroom.FIFO
				r.Utilisation = float64(rapid.IntRange(90, 100).Draw(rt, "use")) / 100
				r.OverUsers.Max = rapid.IntRange(0, 1).Draw(rt, "over")
			})
		}
		var a, b Spread
		for _, r := range runs {
			a.Add(r)
		}
		for _, r := range rapid.Permutation(runs).Draw(rt, "order") {
			b.Add(r)
		}
		if x, y := text(t, a.Table()), text(t, b.Table()); x != y {
			rt.Fatalf("the order matters:\n%s\n%s", x, y)
		}
		worst := slices.MinFunc(runs, func(a, b *Result) int { return int(1000 * (a.Utilisation - b.Utilisation)) })
		want := "utilisation " + inShare.text(worst.Utilisation) + " " + grouped(int64(worst.World.Seed)) + " "
		if got := spaced(text(t, a.Table())); !slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, want) }) {
			rt.Fatalf("no line begins with %q in %q", want, got)
		}
		over := 0
		for _, r := range runs {
			over += r.OverUsers.Max
		}
		if len(a.Failed()) != over || a.Runs() != n || !slices.IsSortedFunc(b.Failed(), func(a, b Failed) int { return int(a.Seed) - int(b.Seed) }) {
			rt.Fatalf("%d failed of %d with %d over", len(a.Failed()), a.Runs(), over)
		}
	})
}

func TestEmptySpread(t *testing.T) {
	t.Parallel()
	var s Spread
	s.Fail(7, "panic: x")
	var b bytes.Buffer
	if err := s.WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"seed": 7`) {
		t.Errorf("%v: %s", err, &b)
	}
	if table := s.Table(); len(table.Rows) != 0 {
		t.Errorf("no run has %v", table.Rows)
	}
}

// TestPictures: a result can be drawn, and only those who entered are on the heat map.
func TestPictures(t *testing.T) {
	t.Parallel()
	var course, waits, fewer bytes.Buffer
	r := sample(keep)
	if err := r.WriteCourse(&course); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteWaits(&waits); err != nil {
		t.Fatal(err)
	}
	for i := range r.Passages {
		r.Passages[i].Entered = i%2 == 0
	}
	if err := r.WriteWaits(&fewer); err != nil || bytes.Equal(fewer.Bytes(), waits.Bytes()) {
		t.Errorf("%v: who did not enter is on the heat map", err)
	}
	for _, b := range []*bytes.Buffer{&course, &waits} {
		if _, err := png.Decode(b); err != nil {
			t.Error(err)
		}
	}
}
