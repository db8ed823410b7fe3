package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/bus"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/store"
)

func TestMain(m *testing.M) {
	if !beChild() {
		goleak.VerifyTestMain(m)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openBus(t testing.TB, dir string) *bus.Bus {
	t.Helper()
	b, err := bus.Open(t.Context(), bus.Options{Dir: dir})
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

// open opens a store on a bus; change adapts its options.
func open(t testing.TB, b *bus.Bus, change ...func(*store.Options)) *store.Store {
	t.Helper()
	o := store.Options{JetStream: b.JetStream(), Dir: b.Dir()}
	for _, c := range change {
		c(&o)
	}
	s, err := store.Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func zoneOf(s *store.Store) string { return s.Snapshot().Zones[0].ID }

func room(name string) anteroom.Room {
	r := config.Defaults()
	r.Name, r.Host, r.TotalActiveUsers, r.NewUsersPerMinute = name, name+".example.com", 100, 100
	return r
}

func create(t testing.TB, s *store.Store, name string) config.RoomRecord {
	t.Helper()
	record, err := s.CreateRoom(t.Context(), zoneOf(s), room(name), anteroom.Extras{})
	must(t, err)
	return record
}

func code(err error) anteroom.Code {
	var one *anteroom.Error
	var list anteroom.Errors
	switch {
	case errors.As(err, &list):
		return list[0].Code
	case errors.As(err, &one):
		return one.Code
	}
	return 0
}

func text(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	return string(data)
}

func TestDefaultAccountAndZone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := openBus(t, dir)
	s := open(t, b)
	first := s.Snapshot()
	if len(first.Accounts) != 1 || len(first.Zones) != 1 || len(first.Rooms) != 0 {
		t.Fatalf("got %+v", first)
	}
	a, z := first.Accounts[0], first.Zones[0]
	id := regexp.MustCompile(`^[0-9a-f]{32}$`)
	if a.Name != "default" || z.Name != "default" || z.AccountID != a.ID || !id.MatchString(a.ID) || !id.MatchString(z.ID) || a.ID == z.ID {
		t.Errorf("account %+v, zone %+v", a, z)
	}
	must(t, s.Close())
	must(t, b.Close())
	second := open(t, openBus(t, dir)).Snapshot()
	if text(t, second.Accounts) != text(t, first.Accounts) || text(t, second.Zones) != text(t, first.Zones) {
		t.Errorf("after a restart %+v, before %+v", second, first)
	}
}

func TestCreateReadDelete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := openBus(t, dir)
	s := open(t, b)
	given := room("shop")
	given.ID, given.CreatedOn = "mine", time.Unix(1, 0) // not for the caller to choose
	x := anteroom.Extras{SessionDuration: anteroom.Duration(90 * time.Second)}
	created, err := s.CreateRoom(t.Context(), zoneOf(s), given, x)
	must(t, err)
	if created.Room.ID == "mine" || len(created.Room.ID) != 32 || time.Since(created.Room.CreatedOn) > time.Minute ||
		created.Room.ModifiedOn != created.Room.CreatedOn || created.Revision == 0 || created.Extras != x {
		t.Errorf("created %+v", created)
	}
	read := func(s *store.Store) string {
		record, _ := s.Snapshot().Room(zoneOf(s), created.Room.ID)
		return text(t, record)
	}
	want := text(t, created)
	if got := read(s); got != want {
		t.Errorf("the snapshot has %s, want %s", got, want)
	}
	must(t, s.Close())
	must(t, b.Close())
	s = open(t, openBus(t, dir))
	if got := read(s); got != want {
		t.Errorf("after a restart %s, want %s", got, want)
	}
	must(t, s.DeleteRoom(t.Context(), zoneOf(s), created.Room.ID, 0))
	if n := len(s.Snapshot().Rooms); n != 0 {
		t.Errorf("%d rooms after the delete", n)
	}
	if err := s.DeleteRoom(t.Context(), zoneOf(s), created.Room.ID, 0); code(err) != anteroom.CodeNotFound {
		t.Errorf("a second delete: %v", err)
	}
}

func TestUnknownPlaces(t *testing.T) {
	t.Parallel()
	s := open(t, openBus(t, t.TempDir()))
	never := func(r config.RoomRecord) (config.RoomRecord, error) { t.Error("edited"); return r, nil }
	_, err := s.CreateRoom(t.Context(), "nowhere", room("a"), anteroom.Extras{})
	if code(err) != anteroom.CodeNoRoute {
		t.Errorf("create in an unknown zone: %v", err)
	}
	if _, err = s.EditRoom(t.Context(), "nowhere", "x", 0, never); code(err) != anteroom.CodeNoRoute {
		t.Errorf("edit in an unknown zone: %v", err)
	}
	if _, err = s.EditRoom(t.Context(), zoneOf(s), "x.>.*", 0, never); code(err) != anteroom.CodeNotFound {
		t.Errorf("edit of an unknown room: %v", err)
	}
	if err = s.DeleteRoom(t.Context(), "nowhere", "x", 0); code(err) != anteroom.CodeNoRoute {
		t.Errorf("delete in an unknown zone: %v", err)
	}
}

func TestClash(t *testing.T) {
	t.Parallel()
	s := open(t, openBus(t, t.TempDir()))
	one, two := create(t, s, "one"), create(t, s, "two")
	revision := s.Snapshot().Revision
	refused := func(what, field, names string, err error) {
		t.Helper()
		var list anteroom.Errors
		if !errors.As(err, &list) || len(list) != 1 || list[0].Code != anteroom.CodeInvalid || list[0].Field != field || !strings.Contains(list[0].Error(), names) {
			t.Errorf("%s: %v, want a fault of %s that names %s", what, err, field, names)
		}
	}
	same := room("one")
	same.Host = "other.example.com"
	_, err := s.CreateRoom(t.Context(), zoneOf(s), same, anteroom.Extras{})
	refused("the same name", "name", one.Room.ID, err)
	same = room("three")
	same.Host = one.Room.Host
	_, err = s.CreateRoom(t.Context(), zoneOf(s), same, anteroom.Extras{})
	refused("the same route", "host", `"one"`, err)
	_, err = s.EditRoom(t.Context(), zoneOf(s), two.Room.ID, 0, func(r config.RoomRecord) (config.RoomRecord, error) {
		r.Room.Name = "one"
		return r, nil
	})
	refused("a rename", "name", one.Room.ID, err)
	if now := s.Snapshot().Revision; now != revision {
		t.Errorf("refused writes moved the revision from %d to %d", revision, now)
	}
}

func setTotal(n int) func(config.RoomRecord) (config.RoomRecord, error) {
	return func(r config.RoomRecord) (config.RoomRecord, error) {
		r.Room.TotalActiveUsers = n
		return r, nil
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)
	var mu sync.Mutex
	now := func() time.Time { mu.Lock(); defer mu.Unlock(); at = at.Add(time.Second); return at }
	s := open(t, openBus(t, t.TempDir()), func(o *store.Options) { o.Now = now })
	created := create(t, s, "shop")
	zone, id := created.Zone, created.Room.ID
	if got := created.Room.CreatedOn.Format(time.RFC3339Nano); len(got) != len("2026-01-02T03:04:05.678901Z") {
		t.Errorf("created on %s, want microseconds", got)
	}

	same, err := s.EditRoom(t.Context(), zone, id, created.Revision, func(r config.RoomRecord) (config.RoomRecord, error) {
		r.Room.ID, r.Room.CreatedOn, r.Room.ModifiedOn, r.Zone = "x", time.Time{}, time.Time{}, "x"
		return r, nil
	})
	must(t, err)
	if text(t, same) != text(t, created) || same.Revision != created.Revision {
		t.Errorf("a change of nothing made %+v of %+v", same, created)
	}

	changed, err := s.EditRoom(t.Context(), zone, id, created.Revision, setTotal(500))
	must(t, err)
	if changed.Room.TotalActiveUsers != 500 || !changed.Room.ModifiedOn.After(created.Room.ModifiedOn) ||
		changed.Revision <= created.Revision || changed.Room.CreatedOn != created.Room.CreatedOn {
		t.Errorf("changed %+v", changed)
	}

	x := anteroom.Extras{SessionDuration: anteroom.Duration(time.Minute)}
	extra, err := s.EditRoom(t.Context(), zone, id, 0, func(r config.RoomRecord) (config.RoomRecord, error) {
		r.Extras = x
		return r, nil
	})
	must(t, err)
	if extra.Extras != x || text(t, extra.Room) != text(t, changed.Room) || extra.Revision <= changed.Revision {
		t.Errorf("new extras made %+v of %+v", extra, changed)
	}

	if _, err := s.EditRoom(t.Context(), zone, id, changed.Revision, setTotal(1)); code(err) != anteroom.CodeConflict {
		t.Errorf("an edit of an old revision: %v", err)
	}
	if err := s.DeleteRoom(t.Context(), zone, id, changed.Revision); code(err) != anteroom.CodeConflict {
		t.Errorf("a delete of an old revision: %v", err)
	}
	if got, _ := s.Snapshot().Room(zone, id); text(t, got) != text(t, extra) {
		t.Errorf("a refused write left %+v", got)
	}
	must(t, s.DeleteRoom(t.Context(), zone, id, extra.Revision))
}

// TestEditCannotReachTheSnapshot: what others read never changes under them.
func TestEditCannotReachTheSnapshot(t *testing.T) {
	t.Parallel()
	s := open(t, openBus(t, t.TempDir()))
	r := room("shop")
	r.CookieSuffix, r.AdditionalRoutes, r.EnabledOriginCommands = "s", []anteroom.Route{{Host: "b.example", Path: "/"}}, []string{"revoke"}
	created, err := s.CreateRoom(t.Context(), zoneOf(s), r, anteroom.Extras{})
	must(t, err)
	before := s.Snapshot()
	want := text(t, before.Rooms)
	_, err = s.EditRoom(t.Context(), created.Zone, created.Room.ID, 0, func(r config.RoomRecord) (config.RoomRecord, error) {
		r.Room.AdditionalRoutes[0].Host, r.Room.EnabledOriginCommands[0] = "c.example", "x"
		return r, nil
	})
	must(t, err)
	if got := text(t, before.Rooms); got != want {
		t.Errorf("the old snapshot became %s", got)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := openBus(t, dir)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, b, func(o *store.Options) { o.Now = func() time.Time { return start } })
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		create(t, s, name)
	}
	ids := func(s *store.Store) (ids []string) {
		for _, r := range s.Snapshot().Rooms {
			ids = append(ids, r.Room.ID)
		}
		return ids
	}
	want := ids(s)
	if !slices.IsSorted(want) {
		t.Errorf("rooms of the same instant are not in the order of their ids: %v", want)
	}
	must(t, s.Close())
	s = open(t, b, func(o *store.Options) { o.Now = func() time.Time { return start.Add(-time.Hour) } })
	earlier := create(t, s, "early")
	if got := ids(s); !slices.Equal(got, append([]string{earlier.Room.ID}, want...)) {
		t.Errorf("order %v, want %s first and then %v", got, earlier.Room.ID, want)
	}
}

func TestSubscribersSeeEveryChangeBeforeTheWriterGoesOn(t *testing.T) {
	t.Parallel()
	s := open(t, openBus(t, t.TempDir()))
	var mu sync.Mutex
	var seen []*config.Snapshot
	cancel := s.OnChange(func(old, now *config.Snapshot) {
		mu.Lock()
		defer mu.Unlock()
		if len(seen) > 0 && seen[len(seen)-1] != old {
			t.Error("the old snapshot is not the one of the call before")
		}
		if now.Revision <= old.Revision {
			t.Errorf("revision %d follows %d", now.Revision, old.Revision)
		}
		seen = append(seen, now)
	})
	for i := range 5 {
		record := create(t, s, string(rune('a'+i)))
		mu.Lock()
		if n := len(seen); n != i+1 || seen[n-1].Revision != record.Revision || s.Snapshot() != seen[n-1] {
			t.Errorf("%d calls after %d writes", n, i+1)
		}
		mu.Unlock()
	}
	cancel()
	create(t, s, "z")
	if len(seen) != 5 {
		t.Errorf("called after the end: %d", len(seen))
	}
}

// TestWritersOfTwoNodes: what two nodes write at once is neither lost nor doubled.
func TestWritersOfTwoNodes(t *testing.T) {
	t.Parallel()
	b := openBus(t, t.TempDir())
	nodes := []*store.Store{open(t, b), open(t, b, func(o *store.Options) { o.Dir = "" })}
	record := create(t, nodes[0], "shop")
	const writers, edits = 3, 8
	var wg sync.WaitGroup
	var won sync.Map
	for n, s := range nodes {
		for range writers {
			wg.Go(func() {
				for range edits {
					_, err := s.EditRoom(t.Context(), record.Zone, record.Room.ID, 0, func(r config.RoomRecord) (config.RoomRecord, error) {
						r.Room.TotalActiveUsers++
						return r, nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Go(func() {
			r := room("contested")
			if created, err := s.CreateRoom(t.Context(), record.Zone, r, anteroom.Extras{}); err == nil {
				won.Store(n, created)
			} else if code(err) != anteroom.CodeInvalid {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	winners := 0
	won.Range(func(any, any) bool { winners++; return true })
	if winners != 1 {
		t.Errorf("%d nodes made a room of the same name", winners)
	}
	last := create(t, nodes[0], "last")
	if _, err := nodes[1].EditRoom(t.Context(), last.Zone, last.Room.ID, last.Revision, setTotal(7)); err != nil {
		t.Errorf("the other node does not see the last room: %v", err)
	}
	for _, s := range nodes {
		got, _ := s.Snapshot().Room(record.Zone, record.Room.ID)
		if want := 100 + 2*writers*edits; got.Room.TotalActiveUsers != want {
			t.Errorf("%d after all increments, want %d", got.Room.TotalActiveUsers, want)
		}
	}
}

// TestOtherWriterIsSeen: a change by whatever means reaches the subscribers in well under a second.
func TestOtherWriterIsSeen(t *testing.T) {
	t.Parallel()
	b := openBus(t, t.TempDir())
	s := open(t, b)
	record := create(t, s, "shop")
	arrived := make(chan int, 10)
	s.OnChange(func(_, now *config.Snapshot) { arrived <- now.Rooms[0].Room.TotalActiveUsers })
	kv, err := b.JetStream().KeyValue(t.Context(), "anteroom_config")
	must(t, err)
	record.Room.TotalActiveUsers = 4321
	began := time.Now()
	_, err = kv.Put(t.Context(), "room."+record.Zone+"."+record.Room.ID, []byte(text(t, record)))
	must(t, err)
	select {
	case got := <-arrived:
		if took := time.Since(began); got != 4321 || took > time.Second {
			t.Errorf("total %d after %v", got, took)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the change did not arrive")
	}
	if _, err := s.EditRoom(t.Context(), record.Zone, record.Room.ID, 0, setTotal(5)); err != nil {
		t.Errorf("a write after another writer's: %v", err)
	}
}

func TestUnreadableEntryHidesNoOther(t *testing.T) {
	t.Parallel()
	b := openBus(t, t.TempDir())
	var log bytes.Buffer
	s := open(t, b, func(o *store.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	create(t, s, "shop")
	kv, err := b.JetStream().KeyValue(t.Context(), "anteroom_config")
	must(t, err)
	for key, value := range map[string]string{"room.z.broken": "{", "room.z.wrong": "[1]", "something.new": "?"} {
		_, err := kv.Put(t.Context(), key, []byte(value))
		must(t, err)
	}
	create(t, s, "second") // after the others, so all have arrived
	if n := len(s.Snapshot().Rooms); n != 2 {
		t.Errorf("%d rooms, want 2", n)
	}
	must(t, s.Close())
	if !strings.Contains(log.String(), "room.z.broken") || strings.Contains(log.String(), "something.new") {
		t.Errorf("the log says %s", log.String())
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := open(t, openBus(t, t.TempDir()))
	r := room("shop")
	r.CustomPageHTML = strings.Repeat("<p>\"é\n", anteroom.CustomPageBytesMax/7)
	_, err := s.CreateRoom(t.Context(), zoneOf(s), r, anteroom.Extras{})
	must(t, err)
	r = room("other")
	r.CustomPageHTML = strings.Repeat("x", 9<<20)
	if _, err := s.CreateRoom(t.Context(), zoneOf(s), r, anteroom.Extras{}); code(err) != anteroom.CodeTooLarge {
		t.Errorf("9 MiB: %v", err)
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	b := openBus(t, t.TempDir())
	s := open(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.CreateRoom(ctx, zoneOf(s), room("a"), anteroom.Extras{}); code(err) != anteroom.CodeUnavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	must(t, b.Close())
	if _, err := s.CreateRoom(t.Context(), zoneOf(s), room("a"), anteroom.Extras{}); code(err) != anteroom.CodeUnavailable {
		t.Errorf("without a bus: %v", err)
	}
	if len(s.Snapshot().Zones) != 1 {
		t.Error("the snapshot went with the bus")
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := store.Open(t.Context(), store.Options{JetStream: b.JetStream()}); code(err) != anteroom.CodeUnavailable {
		t.Errorf("open without a bus: %v", err)
	}
}

// BenchmarkEdit changes one room of 2,000.
func BenchmarkEdit(b *testing.B) {
	s := open(b, openBus(b, b.TempDir()))
	var id string
	for i := range 2000 {
		id = create(b, s, "room-"+text(b, i)).Room.ID
	}
	n := 0
	for b.Loop() {
		n++
		_, err := s.EditRoom(b.Context(), zoneOf(s), id, 0, setTotal(1000+n))
		must(b, err)
	}
}
