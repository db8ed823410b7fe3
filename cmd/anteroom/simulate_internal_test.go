package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/sim"
)

// smallWorld is a run of a few milliseconds.
const smallWorld = `
name: small
about: a short run of a small room
duration: 3m
room: {total_active_users: 20, new_users_per_minute: 90, session_duration: 10s}
network: {data_centers: 2, nodes: 1}
crowd: {load: atonce, visitors: 50, browse: 20s, gap: 5s}
`

// simulated carries out a command and returns what it said.
func simulated(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"simulate"}, args...), console{&o, &e})
	return code, o.String(), e.String()
}

func worldFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSimulateLists(t *testing.T) {
	t.Parallel()
	code, out, errs := simulated(t)
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, w := range sim.Worlds() {
		if !strings.Contains(out, w.Name+"  ") || !strings.Contains(out, w.About) {
			t.Errorf("the list lacks %s:\n%s", w.Name, out)
		}
	}
	for _, want := range []string{sim.RandomName, experimentName, "--yaml"} {
		if !strings.Contains(out, want) {
			t.Errorf("the list lacks %s:\n%s", want, out)
		}
	}
}

func TestSimulateFile(t *testing.T) {
	t.Parallel()
	file := worldFile(t, "small.yaml", smallWorld)
	code, out, errs := simulated(t, file)
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{"small: a short run of a small room", "seed 1, 3m0s of virtual time, 2 data centers", "utilisation", "over users, max", "rights"} {
		if !strings.Contains(out, want) {
			t.Errorf("the figures lack %q:\n%s", want, out)
		}
	}
	if _, again, _ := simulated(t, file); again != out {
		t.Errorf("the same seed gave\n%s\nand\n%s", out, again)
	}
}

func TestSimulateCompare(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plots")
	code, out, errs := simulated(t, worldFile(t, "small.yaml", smallWorld), "--compare", "--seed", "5", "--plot", dir)
	if code != exitOK || !strings.Contains(errs, dir) {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if !strings.Contains(out, "rights") || !strings.Contains(out, "published") || !strings.Contains(out, "seed 5") {
		t.Errorf("the comparison says\n%s", out)
	}
	for _, name := range []string{"small-rights-5", "small-rights-5-waits", "small-published-5", "small-published-5-waits"} {
		data, err := os.ReadFile(filepath.Join(dir, name+".png"))
		if err != nil {
			t.Error(err)
		} else if _, err := png.Decode(bytes.NewReader(data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSimulateJSON(t *testing.T) {
	t.Parallel()
	code, out, errs := simulated(t, worldFile(t, "small.yaml", smallWorld), "--compare", "--json")
	var got []struct {
		Algorithm string
		Figures   map[string]float64
	}
	if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil || len(got) != 2 || got[0].Figures["visitors"] == 0 {
		t.Fatalf("exit code %d, %v: %s%s", code, err, errs, out)
	}
}

// TestSimulateYAML: the printed world is one that runs, with what the command line says of it.
func TestSimulateYAML(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"flash"}, {"random-faults"}, {"lottery"}} {
		code, out, errs := simulated(t, append(args, "--yaml", "--seed", "12", "--algorithm", "published")...)
		w, err := sim.ReadWorld(strings.NewReader(out))
		if code != exitOK || err != nil || w.Seed != 12 || w.Algorithm != sim.Published || w.Name != args[0] {
			t.Errorf("%v: exit code %d, %v: %+v %s", args, code, err, w, errs)
		}
	}
}

func TestSimulateSeeds(t *testing.T) {
	t.Parallel()
	file := worldFile(t, "small.yaml", smallWorld)
	code, out, errs := simulated(t, file, "--seeds", "5", "--from", "3")
	if code != exitOK || errs != "" || !strings.Contains(out, "small: 5 runs, seeds 3 to 7") || !strings.Contains(out, "worst") {
		t.Fatalf("exit code %d: %s%s", code, errs, out)
	}
	code, out, errs = simulated(t, file, "--seeds", "5", "--json")
	var got struct {
		Runs    int
		Figures map[string]struct{ Worst float64 }
	}
	if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil || got.Runs != 5 || len(got.Figures) == 0 {
		t.Fatalf("exit code %d, %v: %s%s", code, err, errs, out)
	}
}

// TestFailedSeeds: what is said of failed seeds has the one command that runs each of them again.
func TestFailedSeeds(t *testing.T) {
	t.Parallel()
	var all sim.Spread
	for seed := range uint64(30) {
		all.Fail(seed+1, "a right twice")
	}
	published := "published"
	for _, c := range []struct {
		command simulateCommand
		want    string
	}{
		{simulateCommand{Seeds: 100}, "anteroom simulate random-faults --seed 1\n    a right twice"},
		{simulateCommand{Seeds: 100, World: "moves"}, "anteroom simulate moves --seed 20\n"},
		{simulateCommand{Seeds: 100, World: "my sale's.yaml"}, `anteroom simulate 'my sale'\''s.yaml' --seed 2`},
		{simulateCommand{Seeds: 100, Algorithm: &published}, "random-faults --seed 3 --algorithm published"},
		{simulateCommand{Seeds: 100}, "30 of 100 runs broke a promise"},
		{simulateCommand{Seeds: 100}, "and 10 more"},
	} {
		err := c.command.seedVerdict(&all)
		if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err) != exitFailure {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if err := (simulateCommand{}).seedVerdict(&sim.Spread{}); err != nil {
		t.Error(err)
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	sound := &sim.Result{World: sim.Defaults()}
	broken := &sim.Result{World: sim.Defaults(), BrokenCount: 1, Broken: []string{"at 5s: a right twice"}}
	if err := verdict([]*sim.Result{sound}); err != nil {
		t.Error(err)
	}
	if err := verdict([]*sim.Result{sound, broken}); err == nil || exitCode(err) != exitFailure || !strings.Contains(err.Error(), "flash: at 5s: a right twice") {
		t.Errorf("got %v", err)
	}
}

func TestSimulateRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"NoWorld", []string{"nowhere"}, []string{`"nowhere"`, "anteroom simulate lists"}},
		{"BadFile", []string{worldFile(t, "bad.yaml", "duration: 5\nroom: {total_active_users: 0}")}, []string{"bad.yaml cannot be run", "duration: \"5\"", "room.total_active_users: 0 is below 1"}},
		{"Directory", []string{t.TempDir()}, []string{"directory"}},
		{"SeedZero", []string{"flash", "--seed", "0"}, []string{"--seed", "starts at 1"}},
		{"SeedNoNumber", []string{"flash", "--seed", "x"}, []string{"--seed", "x"}},
		{"FromZero", []string{"--seeds", "2", "--from", "0"}, []string{"--from", "1 to"}},
		{"SeedsNegative", []string{"--seeds=-1"}, []string{"--seeds", "1 to 1000000"}},
		{"SeedsAndSeed", []string{"--seeds", "5", "--seed", "5"}, []string{"--seeds", "--seed"}},
		{"SeedsAndPlot", []string{"--seeds", "5", "--plot", "x"}, []string{"--plot"}},
		{"ExperimentSeeds", []string{experimentName, "--seeds", "5"}, []string{"--seeds", "published-atonce-fifo"}},
		{"ExperimentAlgorithm", []string{experimentName, "--algorithm", "rights"}, []string{"--algorithm"}},
		{"ExperimentYAML", []string{experimentName, "--yaml"}, []string{"--yaml", "flash"}},
		{"NoWorldYAML", []string{"--yaml"}, []string{"--yaml", "flash"}},
		{"Algorithm", []string{"flash", "--algorithm", "best"}, []string{"--algorithm", "best", "rights or published"}},
		{"AlgorithmCompare", []string{"flash", "--algorithm", "rights", "--compare"}, []string{"--algorithm", "--compare"}},
		{"PlotIntoFile", []string{worldFile(t, "small.yaml", smallWorld), "--plot", worldFile(t, "plain", "")}, []string{"--plot", "directory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := simulated(t, c.args...)
			if code != exitUsage || out != "" {
				t.Errorf("exit code %d: %s%s", code, errs, out)
			}
			for _, want := range c.want {
				if !strings.Contains(errs, want) {
					t.Errorf("the message lacks %q: %s", want, errs)
				}
			}
		})
	}
}

// TestSimulateInterrupted: who presses Ctrl-C does not wait for the end of an hour's run.
func TestSimulateInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"simulate", worldFile(t, "small.yaml", smallWorld), "--seeds", "1000"}, console{&out, &errs})
	if code != exitFailure || !strings.Contains(errs.String(), "interrupted") || out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, errs.String(), out.String())
	}
}

// TestNoBarForPrograms: a pipe gets no progress bar.
func TestNoBarForPrograms(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "messages"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, con := range []console{{err: file}, {err: &bytes.Buffer{}}} {
		advance, finish := con.progress("x", time.Second)
		advance(time.Second)
		finish()
	}
	if info, err := file.Stat(); err != nil || info.Size() > 0 {
		t.Errorf("a file got %d bytes of a bar, %v", info.Size(), err)
	}
}
