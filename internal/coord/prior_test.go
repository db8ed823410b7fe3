package coord_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/coord"
	"github.com/anteroom/anteroom/internal/queue"
)

// visits lets so many visitors stay for a while in a room with places for all.
func visits(t *testing.T, n *coord.Node, count int, stay time.Duration) {
	t.Helper()
	inside := make([]visitor, count)
	for end := time.Now().Add(stay); time.Now().Before(end); time.Sleep(time.Second) {
		for i := range inside {
			inside[i].ask(t, n, queue.Enter)
		}
	}
	time.Sleep(3 * time.Second)
}

// firstEstimate is what the first visitor in line hears while one session is in force.
func firstEstimate(t *testing.T, n *coord.Node) time.Duration {
	t.Helper()
	var inside, next visitor
	inside.ask(t, n, queue.Enter)
	next.ask(t, n, queue.Enter)
	return next.ask(t, n, queue.Check).Estimate.Middle
}

func TestExperienceOutlivesARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := settings(100, 2*time.Second)
		n, stop := start(t, dir, s)
		visits(t, n, 100, 10*time.Second) // far less than the two minutes that a new room takes for usual
		time.Sleep(time.Minute)
		if _, err := os.Stat(filepath.Join(dir, roomID+".prior")); err != nil {
			t.Fatalf("a kill -9 now would forget what was learned: %v", err)
		}
		stop()
		s = settings(1, 2*time.Second)
		s.NewUsersPerMinute = 100
		n, stop = start(t, dir, s)
		defer stop()
		if got := firstEstimate(t, n); got > 30*time.Second {
			t.Errorf("the first estimate after the restart is %v: the room has forgotten that visits last 10 s", got)
		}
		stop()
		fresh, stop := start(t, t.TempDir(), s)
		defer stop()
		if got := firstEstimate(t, fresh); got < time.Minute {
			t.Errorf("the first estimate of a new room is %v", got)
		}
	})
}

func TestDamagedExperienceIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Empty": "", "NoJSON": "beyond", "Negative": `{"beyond_seconds":-1}`, "TooLong": `{"beyond_seconds":1e9}`,
		"TooMany": `{"leave_per_second":2}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, roomID+".prior"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				s := settings(1, 2*time.Second)
				s.NewUsersPerMinute = 100
				n, stop := start(t, dir, s)
				defer stop()
				if got := firstEstimate(t, n); got < time.Minute || got > 10*time.Minute {
					t.Errorf("the first estimate is %v, want that of a new room", got)
				}
			})
		})
	}
}

func TestExperienceOfARemovedRoomIsDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		n, stop := start(t, dir, settings(100, 2*time.Second))
		defer stop()
		visits(t, n, 100, 5*time.Second)
		time.Sleep(time.Minute)
		if err := n.Keep(nil); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range left {
			if strings.HasPrefix(f.Name(), roomID) {
				t.Errorf("%s is left of a removed room", f.Name())
			}
		}
	})
}
