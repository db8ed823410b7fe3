package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sim"
)

// text is the page without its tables.
//
//go:embed report.tmpl
var text string

// brokenShown is how many failed runs the page names.
const brokenShown = 20

// kind says in which table of the page a world stands.
func kind(w *sim.World) string {
	switch {
	case strings.HasPrefix(w.Name, "published-"):
		return "experiment"
	case w.Room.Method == anteroom.Random:
		return "lottery"
	case len(w.Faults) > 0:
		return "fault"
	case len(w.Room.Classes) > 0, w.Room.Opens > 0, w.Crowd.Moves > 0, w.Network.Skew > 0, w.Network.Loss > 0:
		return "room"
	}
	return "load"
}

// of lists the results of some kinds of worlds.
func (r *report) of(kinds ...string) []*sim.Result {
	var list []*sim.Result
	for _, result := range r.results {
		if slices.Contains(kinds, kind(&result.World)) {
			list = append(list, result)
		}
	}
	return list
}

// page is the page in Markdown.
func (r *report) page() ([]byte, error) {
	limits := []string{"over_users", "over_users_mean", "over_rate", "over_rate_mean", "broken", "utilisation", "lowest_use", "needless"}
	order := []string{"turns_inverted_1s", "turns_inverted_max_s", "entries_inverted", "entries_inverted_1s", "entries_inverted_max_s", "handover_mean_s", "handover_p95_s"}
	cost := []string{"messages_per_s", "messages_per_center_per_s", "bytes_per_s", "polls_per_s", "peak_entries", "wait_p10_s", "wait_p50_s", "wait_p90_s", "wait_p99_s"}
	estimates := []string{
		"estimate_error_q1", "estimate_error_q2", "estimate_error_q3", "estimate_error_q4",
		"estimate_error_q1_p90", "estimate_error_q2_p90", "estimate_error_q3_p90", "estimate_error_q4_p90", "first_range", "moved_later",
	}
	draws := []string{"over_users", "over_rate", "broken", "utilisation", "chi_square", "fast_rank", "lucky_rank", "cookies_rank", "wait_p50_s", "wait_p90_s"}
	faults := []string{"over_users", "over_rate", "broken", "utilisation", "lowest_use", "recovered_s", "turns_inverted_1s", "turns_inverted_max_s", "entries_inverted_max_s"}
	broken := r.broken()
	worst := r.spread.Table()
	worlds := sim.Table{Head: []string{"world", "what it shows"}}
	for _, w := range sim.Worlds() {
		worlds.Rows = append(worlds.Rows, []string{"`" + w.Name + "`", w.About})
	}
	values := map[string]any{
		"Seeds": r.seeds, "Command": r.command(), "Date": time.Now().UTC().Format(time.DateOnly), "Took": r.took.Round(time.Second),
		"Machine": machine(), "Go": runtime.Version(), "Commit": commit(), "Runs": len(r.results), "Ran": r.spread.Runs(),
		"Events": r.events(), "Broken": len(broken), "Failures": broken[:min(len(broken), brokenShown)],
		"Worlds": markdown(worlds), "Random": markdown(worst),
		"Limits": r.table(limits, "load", "room"), "Order": r.table(order, "load", "room"), "Cost": r.table(cost, "load", "room"),
		"Estimates": r.table(estimates, "load", "room"), "Lottery": r.table(draws, "lottery"), "Faults": r.table(faults, "fault"),
		"Experiment": r.table(sim.ExperimentFigures(), "experiment"), "Heats": r.pictures("experiment", "-waits"), "Courses": r.courses(),
	}
	var b bytes.Buffer
	err := template.Must(template.New("page").Parse(text)).Execute(&b, values)
	return b.Bytes(), err
}

// command is what repeats the report.
func (r *report) command() string {
	if r.only == "" {
		return fmt.Sprintf("make sim-report SEEDS=%d", r.seeds)
	}
	return fmt.Sprintf("go run ./bench/simulation -seeds %d -worlds %s", r.seeds, r.only)
}

func (r *report) table(keys []string, kinds ...string) string {
	return markdown(sim.OneEach(r.of(kinds...), keys...))
}

func markdown(t sim.Table) string {
	var b strings.Builder
	_ = t.WriteMarkdown(&b) // a builder takes everything
	return strings.TrimSuffix(b.String(), "\n")
}

// events is how many million events a second the named worlds took, on one core.
func (r *report) events() string {
	events, seconds := 0, 0.0
	for _, result := range r.results {
		events += result.Events
		seconds += result.Elapsed.Seconds()
	}
	return fmt.Sprintf("%.1f million events in %.0f s on a core", float64(events)/1e6, seconds)
}

// drawn are the worlds whose course is shown.
func drawn() []string { return []string{"flash", "rate-paced", "newdc", "partition", "leader-loss"} }

// courses are the pictures of rooms over time.
func (r *report) courses() []string {
	var names []string
	for _, result := range r.results {
		if slices.Contains(drawn(), result.World.Name) {
			names = append(names, fileName(result, ""))
		}
	}
	return names
}

// pictures are those of all worlds of a kind.
func (r *report) pictures(of, suffix string) []string {
	var names []string
	for _, result := range r.of(of) {
		names = append(names, fileName(result, suffix))
	}
	return names
}

func fileName(r *sim.Result, suffix string) string {
	return r.World.Name + "-" + string(r.World.Algorithm) + suffix
}

// draw writes the pictures of the page and removes those of an earlier one.
func (r *report) draw() error {
	dir := filepath.Join(r.docs, "simulation")
	old, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, result := range r.results {
		if kind(&result.World) == "experiment" {
			err = drawFile(filepath.Join(dir, fileName(result, "-waits")), result.WriteWaits)
		} else if slices.Contains(drawn(), result.World.Name) {
			err = drawFile(filepath.Join(dir, fileName(result, "")), result.WriteCourse)
		}
		if err != nil {
			return fmt.Errorf("draw %s: %w", result.World.Name, err)
		}
	}
	return nil
}

func drawFile(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return os.WriteFile(path+".png", b.Bytes(), 0o644)
}

// machine is the processor and how many of its cores there are.
func machine() string {
	model := runtime.GOARCH
	if file, err := os.Open("/proc/cpuinfo"); err == nil {
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "model name"); ok {
				model = strings.TrimSpace(strings.TrimLeft(name, " \t:"))
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s", model, runtime.NumCPU(), runtime.GOOS)
}

// commit is what was measured; empty outside a checkout.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
