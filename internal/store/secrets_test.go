package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/internal/ticket"
)

func TestAdminToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := openBus(t, dir)
	s := open(t, b)
	made, fresh := s.AdminToken()
	if !fresh || len(made) < 30 || strings.ContainsAny(made, "/+=& \n") {
		t.Errorf("the first token %q, fresh %v", made, fresh)
	}
	name := filepath.Join(dir, "admin-token")
	info, err := os.Stat(name)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file has the mode %v", info.Mode())
	}
	must(t, s.Close())
	s = open(t, b)
	if token, fresh := s.AdminToken(); fresh || token != made {
		t.Errorf("the second start has %q, fresh %v", token, fresh)
	}
	must(t, s.Close())
	s = open(t, b, func(o *store.Options) { o.AdminToken = "given" })
	if token, fresh := s.AdminToken(); fresh || token != "given" {
		t.Errorf("a given token is %q, fresh %v", token, fresh)
	}
	must(t, s.Close())
	for _, bad := range []string{"", "short", "two words which are long enough"} {
		must(t, os.WriteFile(name, []byte(bad), 0o600))
		_, err := store.Open(t.Context(), store.Options{JetStream: b.JetStream(), Dir: dir})
		if code(err) != anteroom.CodeInvalid || !strings.Contains(err.Error(), name) {
			t.Errorf("a file with %q: %v", bad, err)
		}
	}
	must(t, os.Remove(name))
	must(t, os.Mkdir(name, 0o700))
	if _, err := store.Open(t.Context(), store.Options{JetStream: b.JetStream(), Dir: dir}); code(err) != anteroom.CodeUnavailable {
		t.Errorf("a directory instead of the file: %v", err)
	}
}

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) Add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

func ids(keys []ticket.Key) (ids []uint32) {
	for _, k := range keys {
		ids = append(ids, k.ID)
	}
	return ids
}

func TestKeys(t *testing.T) {
	t.Parallel()
	c := &clock{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	dir := t.TempDir()
	b := openBus(t, dir)
	s := open(t, b, func(o *store.Options) { o.Now = c.Now })
	first := s.Keys()
	if len(first) != 1 || first[0].ID == 0 || first[0].Secret == (ticket.Secret{}) {
		t.Fatalf("the first start has the keys %v", ids(first))
	}
	if _, err := ticket.NewRing(first...); err != nil {
		t.Error(err)
	}
	heard := make(chan []ticket.Key, 10)
	s.OnKeys(func(keys []ticket.Key) { heard <- keys })

	if did, err := s.RotateIfDue(t.Context()); did || err != nil {
		t.Errorf("rotated at once: %v %v", did, err)
	}
	c.Add(24 * time.Hour)
	if did, err := s.RotateIfDue(t.Context()); !did || err != nil {
		t.Errorf("not rotated after a day: %v %v", did, err)
	}
	second := s.Keys()
	if len(second) != 2 || second[0].ID == first[0].ID || second[1] != first[0] || second[0].Secret == second[1].Secret {
		t.Fatalf("after a day the keys are %v, before %v", ids(second), ids(first))
	}
	if got := <-heard; len(got) != 2 || got[0] != second[0] {
		t.Errorf("the subscriber heard %v", ids(got))
	}
	c.Add(23 * time.Hour)
	must(t, s.Rotate(t.Context()))
	if third := s.Keys(); len(third) != 3 || third[2] != first[0] {
		t.Fatalf("a key that 23 h old cookies need is gone: %v", ids(third))
	}
	c.Add(time.Hour)
	must(t, s.Rotate(t.Context()))
	fourth := s.Keys()
	if len(fourth) != 3 || fourth[2] != second[0] {
		t.Fatalf("a key that nothing needs is still there: %v", ids(fourth))
	}
	must(t, s.Close())
	s = open(t, b, func(o *store.Options) { o.Now = c.Now })
	if again := s.Keys(); len(again) != 3 || again[0] != fourth[0] || again[2] != fourth[2] {
		t.Errorf("after a restart %v, want %v", ids(again), ids(fourth))
	}
	must(t, s.Close())
	c.Add(100 * time.Hour)
	s = open(t, b, func(o *store.Options) { o.Now = c.Now })
	if late := s.Keys(); len(late) != 2 || late[1] != fourth[0] {
		t.Errorf("a start after days has %v, want a new one and %d", ids(late), fourth[0].ID)
	}
}

func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	c := &clock{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s := open(t, openBus(t, t.TempDir()), func(o *store.Options) { o.Now = c.Now })
	for range 63 {
		must(t, s.Rotate(t.Context()))
	}
	if err := s.Rotate(t.Context()); code(err) != anteroom.CodeConflict || len(s.Keys()) != 64 {
		t.Errorf("the 65th key: %v, %d keys", err, len(s.Keys()))
	}
	c.Add(25 * time.Hour)
	must(t, s.Rotate(t.Context()))
	if n := len(s.Keys()); n != 2 {
		t.Errorf("%d keys a day later, want the new one and the one before", n)
	}
}

func TestTwoNodesShareTheKeys(t *testing.T) {
	t.Parallel()
	b := openBus(t, t.TempDir())
	one, two := open(t, b), open(t, b, func(o *store.Options) { o.Dir = "" })
	if one.Keys()[0] != two.Keys()[0] {
		t.Fatal("two nodes have different keys")
	}
	heard := make(chan []ticket.Key, 1)
	two.OnKeys(func(keys []ticket.Key) { heard <- keys })
	must(t, one.Rotate(t.Context()))
	if got := <-heard; got[0] != one.Keys()[0] {
		t.Errorf("the other node has %v, want %v", ids(got), ids(one.Keys()))
	}
}
