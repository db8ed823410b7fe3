package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/store"
)

func TestExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := openBus(t, dir)
	file := filepath.Join(dir, "export", "configuration.yaml")
	exporting := func(o *store.Options) { o.Export = file }
	s := open(t, b, exporting)
	r := room("shop")
	r.CustomPageHTML = "<p>\n  {{waitTime}}\n</p>\n"
	_, err := s.CreateRoom(t.Context(), zoneOf(s), r, anteroom.Extras{SessionDuration: anteroom.Duration(90 * time.Second)})
	must(t, err)
	create(t, s, "second")
	must(t, s.Close()) // ends the export that is under way
	data, err := os.ReadFile(file)
	must(t, err)
	site, err := config.DecodeSite("export", data, config.Checks{})
	must(t, err)
	if len(site.Rooms) != 2 {
		t.Fatalf("%d rooms in\n%s", len(site.Rooms), data)
	}
	got := site.Rooms[0]
	if text(t, got.Room) != text(t, r) || got.Extras == nil || time.Duration(got.Extras.SessionDuration) != 90*time.Second {
		t.Errorf("the export has %+v\n%s", got, data)
	}
	left, err := filepath.Glob(filepath.Join(dir, "export", ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
	must(t, os.WriteFile(file, []byte("edited by hand"), 0o600))
	must(t, open(t, b, exporting).Close())
	if again, err := os.ReadFile(file); err != nil || string(again) != string(data) {
		t.Errorf("the next start writes\n%s%v", again, err)
	}
}

// TestExportFollows: the file follows each change without a restart.
func TestExportFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "configuration.yaml")
	s := open(t, openBus(t, dir), func(o *store.Options) { o.Export = file })
	for _, name := range []string{"one", "two", "three"} {
		create(t, s, name)
		deadline := time.Now().Add(10 * time.Second)
		for {
			data, err := os.ReadFile(file)
			if err == nil && strings.Contains(string(data), "name: "+name) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s does not arrive in the file: %v\n%s", name, err, data)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func TestExportThatFailsStopsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "x"), 0o700)) // a directory cannot be replaced by a file
	s := open(t, openBus(t, dir), func(o *store.Options) { o.Export = filepath.Join(dir, "x") })
	create(t, s, "shop")
	if len(s.Snapshot().Rooms) != 1 {
		t.Error("no room")
	}
}

// damage closes a store with rooms, does something to its files and opens it again.
func damage(t *testing.T, do func(t *testing.T, dir, stream string)) error {
	t.Helper()
	dir := t.TempDir()
	b := openBus(t, dir)
	s := open(t, b)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		create(t, s, name)
	}
	must(t, s.Close())
	must(t, b.Close())
	do(t, dir, filepath.Join(dir, "jetstream", "$G", "streams", "KV_anteroom_config"))
	b = openBus(t, dir)
	s, err := store.Open(t.Context(), store.Options{
		JetStream: b.JetStream(), Dir: dir, Export: filepath.Join(dir, "x.yaml"), LoadPause: time.Second,
	})
	if err == nil {
		must(t, s.Close())
		return nil
	}
	// What the error advises works.
	mark := filepath.Join(dir, "configuration.mark")
	if !strings.Contains(err.Error(), mark) || !strings.Contains(err.Error(), "apply -f "+filepath.Join(dir, "x.yaml")) {
		t.Errorf("no remedy: %v", err)
	}
	must(t, os.Remove(mark))
	if strings.Contains(err.Error(), "jetstream and ") {
		must(t, b.Close())
		must(t, os.RemoveAll(filepath.Join(dir, "jetstream")))
		b = openBus(t, dir)
	}
	open(t, b)
	return err
}

func edit(t *testing.T, file string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, change(data), 0o600))
}

func TestDamagedConfigurationIsNotTakenForEmpty(t *testing.T) {
	t.Parallel()
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	cases := map[string]func(t *testing.T, dir, stream string){
		"Flipped": func(t *testing.T, _, stream string) { edit(t, filepath.Join(stream, "msgs", "1.blk"), flip) },
		"FlippedAfterACrash": func(t *testing.T, _, stream string) {
			must(t, os.Remove(filepath.Join(stream, "msgs", "index.db")))
			edit(t, filepath.Join(stream, "msgs", "1.blk"), flip)
		},
		"CutOff": func(t *testing.T, _, stream string) {
			edit(t, filepath.Join(stream, "msgs", "1.blk"), func(b []byte) []byte { return b[:len(b)-1] })
		},
		"MessagesGone": func(t *testing.T, _, stream string) { must(t, os.RemoveAll(filepath.Join(stream, "msgs"))) },
		"StreamGone":   func(t *testing.T, _, stream string) { must(t, os.RemoveAll(stream)) },
		"AllGone":      func(t *testing.T, dir, _ string) { must(t, os.RemoveAll(filepath.Join(dir, "jetstream"))) },
		"KeysGone": func(t *testing.T, _, stream string) {
			must(t, os.RemoveAll(filepath.Join(filepath.Dir(stream), "KV_anteroom_secrets")))
		},
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := damage(t, do); code(err) != anteroom.CodeUnavailable || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMarkThatIsBehindOrBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := openBus(t, dir)
	s := open(t, b)
	gone, kept := create(t, s, "gone"), create(t, s, "kept")
	must(t, s.Close())
	mark := filepath.Join(dir, "configuration.mark")
	old, err := os.ReadFile(mark)
	must(t, err)
	s = open(t, b)
	must(t, s.DeleteRoom(t.Context(), zoneOf(s), gone.Room.ID, 0))
	_, err = s.EditRoom(t.Context(), zoneOf(s), kept.Room.ID, 0, setTotal(7))
	must(t, err)
	must(t, s.Rotate(t.Context()))
	must(t, s.Close())
	must(t, os.WriteFile(mark, old, 0o600)) // as after a crash before the newer one was written
	must(t, open(t, b).Close())
	must(t, os.WriteFile(mark, []byte("{"), 0o600))
	if _, err := store.Open(t.Context(), store.Options{JetStream: b.JetStream(), Dir: dir}); code(err) != anteroom.CodeUnavailable || !strings.Contains(err.Error(), mark) {
		t.Errorf("a broken mark: %v", err)
	}
}
