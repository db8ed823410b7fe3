package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anteroom/anteroom/internal/sim"
)

// options are what a report covers and where it goes.
type options struct {
	seeds int
	docs  string // the directory of the page
	only  string // the named worlds to run, separated by commas; empty for all
}

func main() {
	var o options
	flag.IntVar(&o.seeds, "seeds", 10_000, "random worlds to run")
	flag.StringVar(&o.docs, "docs", "docs", "directory of simulation.md and of simulation/ with its pictures")
	flag.StringVar(&o.only, "worlds", "", "named worlds to run, separated by commas; all without it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := write(ctx, o, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "simulation:", err)
		os.Exit(1)
	}
}

// write runs everything and writes the page. A broken promise is on the page and is an error, too.
func write(ctx context.Context, o options, progress io.Writer) error {
	if o.seeds < 1 {
		return errors.New("-seeds is below 1")
	}
	begin := time.Now()
	r := report{options: o}
	fmt.Fprintln(progress, "the named worlds")
	if err := r.runNamed(ctx, progress); err != nil {
		return err
	}
	fmt.Fprintln(progress, "random faults")
	if err := r.runRandom(ctx, progress); err != nil {
		return err
	}
	r.took = time.Since(begin)
	if err := r.draw(); err != nil {
		return err
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.docs, "simulation.md"), page, 0o644); err != nil {
		return err
	}
	if broken := r.broken(); len(broken) > 0 {
		return fmt.Errorf("%d runs broke a promise; the page names them", len(broken))
	}
	return nil
}

// report is what the runs showed.
type report struct {
	options
	results []*sim.Result // of the named worlds, in their order, the published algorithm after ours
	spread  sim.Spread
	took    time.Duration
}

// runNamed runs every named world with both algorithms.
func (r *report) runNamed(ctx context.Context, progress io.Writer) error {
	var worlds []sim.World
	for _, w := range sim.Worlds() {
		if r.only != "" && !slices.Contains(strings.Split(r.only, ","), w.Name) {
			continue
		}
		for _, a := range []sim.Algorithm{sim.Rights, sim.Published} {
			if w.Algorithm = a; a == sim.Rights || isComparable(&w) {
				worlds = append(worlds, w)
			}
		}
	}
	r.results = make([]*sim.Result, len(worlds))
	var failed error
	done := 0
	err := sim.Sweep(ctx, len(worlds), func(i int) sim.World { return worlds[i] }, func(i int, result *sim.Result, err error) {
		done++
		fmt.Fprintf(progress, "%d of %d: %s, %s\n", done, len(worlds), worlds[i].Name, worlds[i].Algorithm)
		if r.results[i] = result; err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s, %s: %w", worlds[i].Name, worlds[i].Algorithm, err))
		}
	}, func(time.Duration) {})
	return errors.Join(err, failed)
}

// isComparable tells the worlds that the published algorithm can run: it knows no classes and no events.
func isComparable(w *sim.World) bool { return len(w.Room.Classes) == 0 && w.Room.Opens == 0 }

// runRandom runs the worlds with random faults.
func (r *report) runRandom(ctx context.Context, progress io.Writer) error {
	done := 0
	return sim.Sweep(ctx, r.seeds, func(i int) sim.World { return sim.RandomFaults(uint64(i) + 1) }, func(i int, result *sim.Result, err error) {
		if done++; done%500 == 0 {
			fmt.Fprintf(progress, "%d of %d\n", done, r.seeds)
		}
		if err != nil {
			r.spread.Fail(uint64(i)+1, err.Error())
			return
		}
		r.spread.Add(result)
	}, func(time.Duration) {})
}

// broken lists the commands that run each failed run again, with the first thing that broke.
func (r *report) broken() []failure {
	var all []failure
	for _, result := range r.results {
		if why := result.Failures(); len(why) > 0 {
			all = append(all, failure{fmt.Sprintf("anteroom simulate %s", result.World.Name), why[0]})
		}
	}
	for _, f := range r.spread.Failed() {
		all = append(all, failure{fmt.Sprintf("anteroom simulate %s --seed %d", sim.RandomName, f.Seed), f.Why[0]})
	}
	return all
}

type failure struct{ Command, Why string }
