package coord_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/coord"
	"github.com/anteroom/anteroom/internal/queue"
)

func lottery() queue.Settings {
	s := settings(1, time.Minute)
	s.Method, s.QueueAll = anteroom.Random, true
	return s
}

// open opens a node whose time does not pass. It is closed with the test.
func open(t *testing.T, dir string) *coord.Node {
	t.Helper()
	n, err := coord.Open(coord.Options{Dir: dir, DataCenter: "here", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err = n.Add([]coord.Room{{ID: roomID, Settings: lottery()}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// crowd brings people who wait.
func crowd(t *testing.T, n *coord.Node, count int) []*visitor {
	t.Helper()
	people := make([]*visitor, count)
	for i := range people {
		people[i] = &visitor{}
		people[i].ask(t, n, queue.Enter)
		people[i].ask(t, n, queue.Check)
	}
	return people
}

// killed is a copy of what a node has on disk at this moment.
func killed(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func record(t *testing.T, n *coord.Node, number uint64) *queue.DrawRecord {
	t.Helper()
	f, err := n.DrawRecord(t.Context(), roomID, number)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := queue.DecodeDrawRecord(json.NewDecoder(plain))
	if err != nil {
		t.Fatal(err)
	}
	if faults := r.Verify(); faults != nil {
		t.Fatal(faults)
	}
	return r
}

// TestDrawSurvivesKills: what was published stays in force, wherever the process ends.
func TestDrawSurvivesKills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := open(t, dir)
	people := crowd(t, n, 30)
	announced, err := n.Draws(t.Context(), roomID)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := n.SealDraw(t.Context(), roomID)
	if err != nil {
		t.Fatal(err)
	}
	if sealed.Sealed.Commitment != announced.Open.Commitment || sealed.Sealed.Seal.Count != 30 || sealed.Open.Number != 2 {
		t.Errorf("announced %+v, sealed %+v, then open %+v", announced.Open, sealed.Sealed, sealed.Open)
	}
	afterSeal := killed(t, dir)
	drawn, err := n.EndDraw(t.Context(), roomID, queue.DrawExternal{Value: queue.HexBytes{1, 2}, Note: "two dice"})
	if err != nil || !slices.Equal(drawn.Records, []uint64{1}) || drawn.Sealed != nil {
		t.Fatalf("%+v, %v", drawn, err)
	}
	want := record(t, n, 1)
	afterDraw := killed(t, dir)

	t.Run("AfterSeal", func(t *testing.T) {
		t.Parallel()
		n := open(t, killed(t, afterSeal))
		got, err := n.Draws(t.Context(), roomID)
		if err != nil || *got.Sealed != *sealed.Sealed || *got.Open != *sealed.Open {
			t.Errorf("sealed %+v, open %+v, want %+v, %+v", got.Sealed, got.Open, sealed.Sealed, sealed.Open)
		}
		if a := people[0].ask(t, n, queue.Check); a.Draw.Phase != queue.DrawSealed {
			t.Errorf("a sealed visitor is told of %+v", a.Draw)
		}
		if _, err = n.EndDraw(t.Context(), roomID, queue.DrawExternal{}); err != nil {
			t.Fatal(err)
		}
		if r := record(t, n, 1); r.Seal != want.Seal || r.Seed != want.Seed {
			t.Errorf("the record is of %+v, want %+v", r.Seal, want.Seal)
		}
	})
	t.Run("AfterRecord", func(t *testing.T) {
		t.Parallel()
		torn := killed(t, afterSeal)
		if err := os.CopyFS(filepath.Join(torn, roomID+".draws"), os.DirFS(filepath.Join(afterDraw, roomID+".draws"))); err != nil {
			t.Fatal(err)
		}
		n := open(t, torn)
		if got, err := n.Draws(t.Context(), roomID); err != nil || got.Sealed != nil || len(got.Past) != 1 {
			t.Errorf("state %+v, %v", got, err)
		}
		if r := record(t, n, 1); r.Final != want.Final {
			t.Error("the record was exchanged")
		}
	})
	t.Run("AfterDraw", func(t *testing.T) {
		t.Parallel()
		n := open(t, afterDraw)
		if got, err := n.Draws(t.Context(), roomID); err != nil || got.Sealed != nil || *got.Open != *drawn.Open || !slices.Equal(got.Records, drawn.Records) {
			t.Errorf("state %+v, want %+v, %v", got, drawn, err)
		}
	})
}

// TestDrawRefuses: each refusal says what to do.
func TestDrawRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := open(t, dir)
	refused := func(err error, code anteroom.Code, text string) {
		t.Helper()
		one, ok := errors.AsType[*anteroom.Error](err)
		if list, many := errors.AsType[anteroom.Errors](err); many {
			one, ok = list[0], true
		}
		if !ok {
			t.Fatalf("error %v", err)
		}
		if one.Code != code || one.Hint == "" || !strings.Contains(one.Error(), text) {
			t.Errorf("error %d %v, want %d with %q", one.Code, one, code, text)
		}
	}
	_, err := n.SealDraw(t.Context(), roomID)
	refused(err, anteroom.CodeConflict, "0 visitors wait")
	_, err = n.EndDraw(t.Context(), roomID, queue.DrawExternal{})
	refused(err, anteroom.CodeConflict, "no list is sealed")
	_, err = n.DrawRecord(t.Context(), roomID, 1)
	refused(err, anteroom.CodeNotFound, "no record of a draw 1")
	crowd(t, n, 2)
	if _, err = n.SealDraw(t.Context(), roomID); err != nil {
		t.Fatal(err)
	}
	_, err = n.SealDraw(t.Context(), roomID)
	refused(err, anteroom.CodeConflict, "sealed already")
	_, err = n.EndDraw(t.Context(), roomID, queue.DrawExternal{Value: make([]byte, queue.DrawExternalMax+1)})
	refused(err, anteroom.CodeInvalid, "external: has 1025 bytes")
	if err = os.WriteFile(filepath.Join(dir, roomID+".draws"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = n.EndDraw(t.Context(), roomID, queue.DrawExternal{}); err == nil {
		t.Error("a draw without a place for its record")
	}
	if err = os.Remove(filepath.Join(dir, roomID+".draws")); err != nil {
		t.Fatal(err)
	}
	if _, err = n.EndDraw(t.Context(), roomID, queue.DrawExternal{}); err != nil {
		t.Errorf("the draw cannot be made good: %v", err)
	}
	if _, err = n.Draws(t.Context(), "other"); !errors.Is(err, coord.ErrNoRoom) {
		t.Errorf("another room: %v", err)
	}
}

// TestOldDrawRecordsGo: a room keeps the last twenty, and none when it is removed.
func TestOldDrawRecordsGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := open(t, dir)
	var got queue.DrawState
	for range 22 {
		crowd(t, n, 1)
		if _, err := n.SealDraw(t.Context(), roomID); err != nil {
			t.Fatal(err)
		}
		var err error
		if got, err = n.EndDraw(t.Context(), roomID, queue.DrawExternal{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(got.Records) != 20 || got.Records[0] != 3 || record(t, n, 22).Number != 22 {
		t.Errorf("records %v", got.Records)
	}
	if err := n.Keep(nil); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files %v are left, %v", left, err)
	}
}
