package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sim"
)

const (
	// experimentName runs the worlds of the published experiment with both algorithms.
	experimentName = "published-experiment"
	// seedsMax bounds the runs of one command.
	seedsMax = 1_000_000
	// failedShown is how many failed seeds are printed.
	failedShown = 20
)

type simulateCommand struct {
	World     string  `arg:"" optional:"" help:"A named world, a YAML file, random-faults or published-experiment. Without one the worlds are listed."`
	Seed      *uint64 `help:"The seed of the run. Default: the world's own, 1." placeholder:"N"`
	Algorithm *string `help:"rights, the product's own, or published, for comparison." placeholder:"NAME"`
	Compare   bool    `help:"Both algorithms on the same arrivals, side by side."`
	Plot      string  `help:"Draw the room over time and the waits into this directory." placeholder:"DIR"`
	Seeds     int     `help:"Run this many seeds on all cores and print the worst of each figure. Without a world: random faults." placeholder:"N"`
	From      uint64  `default:"1" help:"The first of the seeds." placeholder:"N"`
	JSON      bool    `name:"json" help:"Print figures for programs."`
	YAML      bool    `name:"yaml" help:"Print the world as a file to change, and run nothing."`
}

// Run lists worlds, runs one, or runs many seeds.
func (c simulateCommand) Run(ctx context.Context, con console) error {
	if err := c.check(); err != nil {
		return err
	}
	switch {
	case c.World == "" && c.Seeds == 0:
		return listWorlds(con.out)
	case c.World == experimentName:
		return c.runEach(ctx, con, sim.Experiment())
	}
	world, err := c.world()
	if err != nil {
		return err
	}
	switch {
	case c.YAML:
		return world(c.seed(world)).WriteYAML(con.out)
	case c.Seeds > 0:
		return c.runSeeds(ctx, con, world)
	}
	return c.runEach(ctx, con, []sim.World{world(c.seed(world))})
}

// check refuses flags that say nothing together.
func (c simulateCommand) check() error {
	refuse := func(field, hint, text string) error {
		return anteroom.Errorf(anteroom.CodeInvalid, "%s", text).At(field).WithHint("%s", hint)
	}
	switch {
	case c.Seed != nil && *c.Seed == 0:
		return refuse("--seed", "the range starts at 1", "0 is no seed")
	case c.From == 0 || c.From > math.MaxUint64-seedsMax:
		return refuse("--from", fmt.Sprintf("the range is 1 to %d", uint64(math.MaxUint64-seedsMax)), fmt.Sprintf("%d is no first seed", c.From))
	case c.Seeds < 0 || c.Seeds > seedsMax:
		return refuse("--seeds", fmt.Sprintf("the range is 1 to %d", seedsMax), fmt.Sprintf("%d runs cannot be done", c.Seeds))
	case c.Seeds > 0 && (c.Seed != nil || c.Compare || c.Plot != "" || c.YAML):
		return refuse("--seeds", "leave out --seeds, or --seed, --compare, --plot and --yaml", "many seeds print the worst figures and nothing else")
	case c.World == experimentName && c.Seeds > 0:
		return refuse("--seeds", "name one of its worlds, such as published-atonce-fifo", "the experiment has several worlds")
	case c.World == experimentName && c.Algorithm != nil:
		return refuse("--algorithm", "leave it out", "the experiment runs both algorithms")
	case c.World == experimentName && c.YAML, c.World == "" && c.YAML:
		return refuse("--yaml", "name a world, such as flash", "there is no single world to print")
	case c.Algorithm != nil && c.Compare:
		return refuse("--algorithm", "leave it out", "--compare runs both algorithms")
	case c.Algorithm != nil && *c.Algorithm != string(sim.Rights) && *c.Algorithm != string(sim.Published):
		return refuse("--algorithm", "use rights or published", fmt.Sprintf("%q is not allowed", *c.Algorithm))
	}
	return nil
}

// seed is the seed of a single run.
func (c simulateCommand) seed(world func(uint64) sim.World) uint64 {
	if c.Seed != nil {
		return *c.Seed
	}
	return world(0).Seed
}

// world finds the world by its name or file. What it returns makes the world of a seed; 0 is the world's own.
func (c simulateCommand) world() (func(seed uint64) sim.World, error) {
	if c.World == "" || c.World == sim.RandomName {
		return func(seed uint64) sim.World { return c.with(sim.RandomFaults(max(seed, 1)), 0) }, nil
	}
	if w, ok := sim.Named(c.World); ok {
		return func(seed uint64) sim.World { return c.with(w, seed) }, nil
	}
	w, err := readWorld(c.World)
	if err != nil {
		return nil, badInput{err}
	}
	return func(seed uint64) sim.World { return c.with(w, seed) }, nil
}

// with sets what the command line says of a world.
func (c simulateCommand) with(w sim.World, seed uint64) sim.World {
	if seed != 0 {
		w.Seed = seed
	}
	if c.Algorithm != nil {
		w.Algorithm = sim.Algorithm(*c.Algorithm)
	}
	return w
}

func readWorld(name string) (sim.World, error) {
	data, err := os.ReadFile(filepath.Clean(name))
	if errors.Is(err, fs.ErrNotExist) {
		return sim.World{}, anteroom.Errorf(anteroom.CodeInvalid, "there is no world and no file %q", name).
			WithHint("anteroom simulate lists the worlds")
	}
	if err != nil {
		return sim.World{}, anteroom.Errorf(anteroom.CodeInvalid, "cannot read the world: %w", err).WithHint("check the name of the file")
	}
	w, err := sim.ReadWorld(bytes.NewReader(data))
	if err != nil {
		return sim.World{}, fmt.Errorf("%s cannot be run:\n%w", name, err)
	}
	return w, nil
}

func listWorlds(w io.Writer) error {
	t := sim.Table{Head: []string{"world", "what it shows"}}
	for _, world := range sim.Worlds() {
		t.Rows = append(t.Rows, []string{world.Name, world.About})
	}
	t.Rows = append(t.Rows,
		[]string{experimentName, "the four published worlds with both algorithms"},
		[]string{sim.RandomName, sim.RandomFaults(1).About})
	if err := t.WriteText(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nRun one with anteroom simulate WORLD; --yaml prints it as a file to change.\n")
	return err
}

// runEach runs worlds once, with both algorithms where that is asked, and prints their figures.
func (c simulateCommand) runEach(ctx context.Context, con console, worlds []sim.World) error {
	var runs []sim.World
	for _, w := range worlds {
		if c.Seed != nil {
			w.Seed = *c.Seed
		}
		for _, a := range c.algorithms(w.Algorithm) {
			w.Algorithm = a
			runs = append(runs, w)
		}
	}
	results := make([]*sim.Result, len(runs))
	var failed error
	err := sweep(ctx, con, len(runs), func(i int) sim.World { return runs[i] }, func(i int, r *sim.Result, err error) {
		if results[i] = r; err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s, seed %d: %w", runs[i].Name, runs[i].Seed, err))
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if err := c.draw(con, results); err != nil {
		return err
	}
	if err := c.print(con.out, results); err != nil {
		return err
	}
	return verdict(results)
}

func (c simulateCommand) algorithms(own sim.Algorithm) []sim.Algorithm {
	if c.Compare || c.World == experimentName {
		return []sim.Algorithm{sim.Rights, sim.Published}
	}
	return []sim.Algorithm{own}
}

// sweep runs worlds and shows the progress.
func sweep(ctx context.Context, con console, n int, world func(i int) sim.World, each func(int, *sim.Result, error)) error {
	var total time.Duration
	for i := range n {
		total += world(i).Duration
	}
	advance, finish := con.progress("simulating", total)
	defer finish()
	err := sim.Sweep(ctx, n, world, each, advance)
	if ctx.Err() != nil {
		return errors.New("interrupted: there are no figures of an unfinished run")
	}
	return err
}

func (c simulateCommand) print(w io.Writer, results []*sim.Result) error {
	if c.JSON {
		return sim.WriteJSON(w, results...)
	}
	if c.World == experimentName {
		return printExperiment(w, results)
	}
	world := &results[0].World
	fmt.Fprintf(w, "%s: %s\n", world.Name, world.About)
	fmt.Fprintf(w, "seed %d, %v of virtual time, %d data centers, %d events\n\n",
		world.Seed, world.Duration, world.Network.Centers, results[0].Events)
	t := sim.SideBySide(results...)
	if err := t.WriteText(w); err != nil {
		return err
	}
	return legend(w, &t)
}

func printExperiment(w io.Writer, results []*sim.Result) error {
	fmt.Fprintf(w, "%s: 10,000 visitors who stay about a minute, 4 data centers with 3 nodes, seed %d\n\n", experimentName, results[0].World.Seed)
	t := sim.OneEach(results, sim.ExperimentFigures()...)
	if err := t.WriteText(w); err != nil {
		return err
	}
	return legend(w, &t)
}

// legend explains the mark, when the table has one.
func legend(w io.Writer, t *sim.Table) error {
	if !t.Missed() {
		return nil
	}
	_, err := fmt.Fprintln(w, "\n! is not as asked")
	return err
}

// verdict is an error when a run exceeded a limit or broke an invariant.
func verdict(results []*sim.Result) error {
	var broken []string
	for _, r := range results {
		for _, why := range r.Failures() {
			broken = append(broken, "  "+r.World.Name+": "+why)
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("the promises were broken:\n%s", strings.Join(broken, "\n"))
}

// draw writes two pictures of each result.
func (c simulateCommand) draw(con console, results []*sim.Result) error {
	if c.Plot == "" {
		return nil
	}
	if err := os.MkdirAll(c.Plot, 0o750); err != nil {
		return badInput{anteroom.Errorf(anteroom.CodeInvalid, "cannot make the directory of the plots: %w", err).At("--plot").
			WithHint("give a directory that can be written to")}
	}
	for _, r := range results {
		name := fmt.Sprintf("%s-%s-%d", r.World.Name, r.World.Algorithm, r.World.Seed)
		for path, write := range map[string]func(io.Writer) error{
			filepath.Join(c.Plot, name+".png"):       r.WriteCourse,
			filepath.Join(c.Plot, name+"-waits.png"): r.WriteWaits,
		} {
			if err := writeFile(path, write); err != nil {
				return fmt.Errorf("draw %s: %w", path, err)
			}
		}
	}
	fmt.Fprintf(con.err, "plots are in %s\n", c.Plot)
	return nil
}

func writeFile(path string, write func(io.Writer) error) (err error) {
	file, err := os.Create(filepath.Clean(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}

// runSeeds runs a world with many seeds and prints the worst of each figure.
func (c simulateCommand) runSeeds(ctx context.Context, con console, world func(uint64) sim.World) error {
	var all sim.Spread
	seed := func(i int) uint64 { return c.From + uint64(i) }
	err := sweep(ctx, con, c.Seeds, func(i int) sim.World { return world(seed(i)) }, func(i int, r *sim.Result, err error) {
		if err != nil {
			all.Fail(seed(i), err.Error())
			return
		}
		all.Add(r)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		if err := all.WriteJSON(con.out); err != nil {
			return err
		}
	} else if err := c.printSpread(con.out, &all, world(c.From).Name); err != nil {
		return err
	}
	return c.seedVerdict(&all)
}

func (c simulateCommand) printSpread(w io.Writer, all *sim.Spread, name string) error {
	fmt.Fprintf(w, "%s: %d runs, seeds %d to %d\n\n", name, c.Seeds, c.From, c.From+uint64(c.Seeds)-1)
	t := all.Table()
	if err := t.WriteText(w); err != nil {
		return err
	}
	return legend(w, &t)
}

// seedVerdict is an error that says how to run each failed seed again.
func (c simulateCommand) seedVerdict(all *sim.Spread) error {
	failed := all.Failed()
	if len(failed) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d runs broke a promise:", len(failed), c.Seeds)
	for _, f := range failed[:min(len(failed), failedShown)] {
		fmt.Fprintf(&b, "\n\n  %s\n    %s", c.replay(f.Seed), strings.Join(f.Why, "\n    "))
	}
	if more := len(failed) - failedShown; more > 0 {
		fmt.Fprintf(&b, "\n\n  and %d more", more)
	}
	return errors.New(b.String())
}

// replay is the command that runs one seed again.
func (c simulateCommand) replay(seed uint64) string {
	name := c.World
	switch {
	case name == "":
		name = sim.RandomName
	case strings.ContainsAny(name, " '\"$&;*?()<>|\\"):
		name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	command := fmt.Sprintf("anteroom simulate %s --seed %d", name, seed)
	if c.Algorithm != nil {
		command += " --algorithm " + *c.Algorithm
	}
	return command
}
