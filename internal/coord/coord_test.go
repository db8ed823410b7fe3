package coord_test

import (
	"context"
	"encoding/binary"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/coord"
	"github.com/anteroom/anteroom/internal/queue"
)

const roomID = "0123456789abcdef0123456789abcdef"

func settings(total int, session time.Duration) queue.Settings {
	return queue.Settings{Method: anteroom.FIFO, TotalActiveUsers: total, NewUsersPerMinute: total, Session: session}
}

// start opens a node with one room and lets its time pass. The node stops with the test or by the
// function it returns.
func start(t *testing.T, dir string, s queue.Settings) (*coord.Node, func()) {
	t.Helper()
	n, err := coord.Open(coord.Options{Dir: dir, DataCenter: "here", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err = n.Add([]coord.Room{{ID: roomID, Settings: s}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() { n.Run(ctx) })
	stop := sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return n, stop
}

type visitor struct {
	cookie queue.Answer
}

var ids atomic.Uint64 //nolint:gochecknoglobals // unique ids over all tests

func (v *visitor) ask(t *testing.T, n *coord.Node, p queue.Purpose) queue.Answer {
	t.Helper()
	ask := queue.Ask{
		Purpose: p, ID: v.cookie.ID, Arrival: v.cookie.Arrival, Accepted: v.cookie.Accepted,
		LastSeen: v.cookie.LastSeen, Refresh: v.cookie.Refresh, Draw: 1 << 63,
	}
	binary.BigEndian.PutUint64(ask.NewID[:], ids.Add(1))
	a, err := n.Ask(t.Context(), roomID, ask)
	if err != nil {
		t.Fatal(err)
	}
	if !a.ID.IsZero() {
		v.cookie = a
	}
	return a
}

func TestHeldRequestIsAnsweredWhenTheTurnComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := settings(1, 5*time.Second)
		s.NewUsersPerMinute = 100
		n, stop := start(t, t.TempDir(), s)
		defer stop()
		var inside, next, after visitor
		if a := inside.ask(t, n, queue.Enter); a.Verdict != queue.Admitted {
			t.Fatalf("the first visitor of an empty room: %+v", a)
		}
		next.ask(t, n, queue.Enter)
		after.ask(t, n, queue.Enter)
		if a := next.ask(t, n, queue.Check); a.Turn || a.Position != 1 {
			t.Fatalf("turn %v at place %d while the room is full", a.Turn, a.Position)
		}
		after.ask(t, n, queue.Check)
		began := time.Now()
		// The estimate of a cold room is long, so let it learn from the visitor ahead first.
		turn := false
		for !turn && time.Since(began) < time.Minute {
			ctx, cancel := context.WithTimeout(t.Context(), queue.HoldMax)
			turn = n.Await(ctx, roomID, next.cookie.ID)
			cancel()
			if !turn {
				time.Sleep(time.Second)
				turn = next.ask(t, n, queue.Check).Turn
			}
		}
		if waited := time.Since(began); !turn || waited < 4*time.Second || waited > 7*time.Second {
			t.Fatalf("turn %v after %v, the session ahead lasts 5s", turn, waited)
		}
		if a := after.ask(t, n, queue.Enter); a.Verdict == queue.Admitted {
			t.Error("who came later entered first")
		}
		if a := next.ask(t, n, queue.Enter); a.Verdict != queue.Admitted {
			t.Errorf("the turn was told and not kept: %+v", a)
		}
	})
}

func TestRestartKeepsPlacesSessionsAndLimits(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{false, true} {
		name := "Graceful"
		if kill {
			name = "TornLastFrame"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { restart(t, kill) })
		})
	}
}

func restart(t *testing.T, kill bool) {
	dir := t.TempDir()
	n, stop := start(t, dir, settings(3, time.Minute))
	all := make([]visitor, 8)
	for i := range all {
		all[i].ask(t, n, queue.Enter)
	}
	for i := range all[3:] {
		all[3+i].ask(t, n, queue.Check)
	}
	stop()
	path := filepath.Join(dir, roomID+".journal")
	if kill {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.WriteString("\x21\x00\x00\x00torn"); err != nil {
			t.Fatal(err)
		}
		if err = f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	n, stop = start(t, dir, settings(3, time.Minute))
	defer stop()
	if s, err := n.Status(t.Context(), roomID); err != nil || s.Active != 3 || s.Waiting != 5 {
		t.Fatalf("after the restart %d active and %d waiting (%v), want 3 and 5", s.Active, s.Waiting, err)
	}
	var late visitor
	if a := late.ask(t, n, queue.Enter); a.Verdict == queue.Admitted {
		t.Error("a newcomer entered a full room right after the restart")
	}
	for i := range all {
		a := all[i].ask(t, n, queue.Enter)
		if inside := i < 3; (a.Verdict == queue.Admitted) != inside || !inside && a.Position != i-2 {
			t.Errorf("visitor %d: verdict %d at place %d", i, a.Verdict, a.Position)
		}
	}
}

func TestJournalShrinksAndStillRestores(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		n, stop := start(t, dir, settings(100, time.Second))
		var v visitor
		v.ask(t, n, queue.Enter)
		for range 60000 { // each touch is a record: a session of 1 s is written every 50 ms
			time.Sleep(50 * time.Millisecond)
			v.ask(t, n, queue.Enter)
		}
		stop()
		info, err := os.Stat(filepath.Join(dir, roomID+".journal"))
		if err != nil || info.Size() > 1<<20+100_000 {
			t.Fatalf("journal has %d bytes (%v) for one session", info.Size(), err)
		}
		n, stop = start(t, dir, settings(100, time.Second))
		defer stop()
		if a := v.ask(t, n, queue.Enter); a.Verdict != queue.Admitted || !a.Known || a.Entered {
			t.Errorf("the session did not survive: %+v", a)
		}
	})
}

func TestForeignJournalIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, roomID+".journal"), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := coord.Open(coord.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err = n.Add([]coord.Room{{ID: roomID, Settings: settings(1, time.Minute)}}); err == nil {
		t.Error("a file that is no journal was overwritten")
	}
}

func TestConcurrentVisitorsNeverExceedTheLimit(t *testing.T) {
	t.Parallel()
	n, stop := start(t, t.TempDir(), settings(50, time.Hour))
	defer stop()
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				var v visitor
				if v.ask(t, n, queue.Enter).Verdict == queue.Admitted {
					admitted.Add(1)
				}
				v.ask(t, n, queue.Check)
			}
		})
	}
	wg.Wait()
	if admitted.Load() != 50 {
		t.Errorf("%d of 800 entered a room for 50", admitted.Load())
	}
}

func TestRemovedRoomForgetsAndAnswersNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, stop := start(t, dir, settings(1, time.Minute))
	defer stop()
	var v visitor
	v.ask(t, n, queue.Enter)
	if err := n.Keep(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Ask(t.Context(), roomID, queue.Ask{}); err == nil {
		t.Error("a removed room answers")
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("files left behind: %v %v", left, err)
	}
}

// TestFullDiskKeepsTheRoomOpenAndHeals puts the journal on a file that refuses more than a few bytes,
// as a full disk would, then lets it write again.
func TestFullDiskKeepsTheRoomOpenAndHeals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, stop := start(t, dir, settings(100, time.Hour))
	defer stop()
	var v visitor
	v.ask(t, n, queue.Enter)
	if err := os.Remove(filepath.Join(dir, roomID+".journal")); err != nil {
		t.Fatal(err)
	}
	coord.BreakJournal(t, n, roomID)
	var w visitor
	if a := w.ask(t, n, queue.Enter); a.Verdict != queue.Admitted {
		t.Fatalf("a failing disk turned a visitor away: %+v", a)
	}
	for end := time.Now().Add(10 * time.Second); n.Failing() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if n.Failing() {
		t.Fatal("the journal was not replaced after its failure")
	}
	stop()
	n, stop = start(t, dir, settings(100, time.Hour))
	defer stop()
	for _, known := range []*visitor{&v, &w} {
		if a := known.ask(t, n, queue.Enter); a.Verdict != queue.Admitted || a.Entered {
			t.Errorf("a session from around the failure is lost: %+v", a)
		}
	}
}
