package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/bus"
	"github.com/anteroom/anteroom/internal/store"
)

// childDir tells the test binary that it is the child of a test and works in this directory.
const childDir = "ANTEROOM_TEST_CHILD_DIR"

// beChild writes rooms until it is killed and prints the name of each one that was acknowledged.
func beChild() bool {
	dir := os.Getenv(childDir)
	if dir == "" {
		return false
	}
	ctx := context.Background()
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	b, err := bus.Open(ctx, bus.Options{Dir: dir})
	fail(err)
	s, err := store.Open(ctx, store.Options{JetStream: b.JetStream(), Dir: dir})
	fail(err)
	for i := 0; ; i++ {
		record, err := s.CreateRoom(ctx, s.Snapshot().Zones[0].ID, room(fmt.Sprintf("r%d-%d", os.Getpid(), i)), anteroom.Extras{})
		fail(err)
		fmt.Println(record.Room.Name)
	}
}

// TestKilledWriter: kill -9 at any moment loses nothing that was acknowledged, several times over.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range 3 {
		killWriter(t, dir, acknowledged, 10+7*round)
		b := openBus(t, dir) // the killed process has left no lock
		s := open(t, b)
		have := map[string]bool{}
		for _, r := range s.Snapshot().Rooms {
			have[r.Room.Name] = true
		}
		for name := range acknowledged {
			if !have[name] {
				t.Errorf("round %d: the acknowledged room %s is lost", round, name)
			}
		}
		must(t, s.Close())
		must(t, b.Close())
	}
}

// killWriter lets a child write and kills it after some acknowledged rooms.
func killWriter(t *testing.T, dir string, acknowledged map[string]bool, after int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if strings.HasPrefix(lines.Text(), "failed") {
			t.Fatal(lines.Text())
		}
		acknowledged[lines.Text()] = true
		if n == 1 {
			if _, err := bus.Open(t.Context(), bus.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(child.Process.Pid)) {
				t.Errorf("a second process gets the directory of a living one: %v", err)
			}
		}
		if n == after {
			must(t, child.Process.Kill())
		}
	}
	_ = child.Wait() // killed
	if len(acknowledged) < after {
		t.Fatalf("only %d rooms were acknowledged", len(acknowledged))
	}
}
