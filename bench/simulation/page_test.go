package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/sim"
)

// filled is a report of runs that have not run: every named world, with both algorithms.
func filled(t *testing.T) *report {
	t.Helper()
	r := &report{options: options{seeds: 3, docs: t.TempDir()}}
	for _, w := range sim.Worlds() {
		for _, a := range []sim.Algorithm{sim.Rights, sim.Published} {
			if w.Algorithm = a; a == sim.Rights || isComparable(&w) {
				r.results = append(r.results, &sim.Result{World: w, Series: []sim.Point{{}, {At: w.Duration}}, Utilisation: 0.5})
			}
		}
	}
	for seed := range uint64(3) {
		r.spread.Add(&sim.Result{World: sim.RandomFaults(seed + 1)})
	}
	return r
}

// TestPage: each world is in a table, each picture that the page shows was drawn, and the page has one title.
func TestPage(t *testing.T) {
	t.Parallel()
	r := filled(t)
	if err := r.draw(); err != nil {
		t.Fatal(err)
	}
	data, err := r.page()
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, w := range sim.Worlds() {
		if !strings.Contains(page, "| "+w.Name+" | rights |") {
			t.Errorf("the page has no figures of %s", w.Name)
		}
	}
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(page, -1)
	if len(links) < 12 {
		t.Errorf("the page has %d pictures", len(links))
	}
	for _, link := range links {
		if info, err := os.Stat(filepath.Join(r.docs, link[1])); err != nil || info.Size() > 40_000 {
			t.Errorf("%s: %v", link[1], err)
		}
	}
	if n := strings.Count("\n"+page, "\n# "); n != 1 {
		t.Errorf("the page has %d titles", n)
	}
	if !strings.Contains(page, "No run exceeded a limit") || !strings.Contains(page, "≥ 99 %") || strings.Contains(page, "<no value>") {
		t.Errorf("the page says\n%s", page)
	}
}

// TestBrokenPage: a run that broke a promise stands on the page with the command that runs it again.
func TestBrokenPage(t *testing.T) {
	t.Parallel()
	r := filled(t)
	r.results[0].OverUsers.Max = 2
	r.spread.Fail(7, "a right twice")
	data, err := r.page()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"**2 runs broke a promise.**", "- `anteroom simulate flash`: 2 visitors above total_active_users",
		"- `anteroom simulate random-faults --seed 7`: a right twice", "**2 !**",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page lacks %q:\n%s", want, data)
		}
	}
}
