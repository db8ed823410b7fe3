package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

func seedBodies(f *testing.F) {
	f.Helper()
	for _, body := range []string{
		``, `{}`, `null`, `[]`, `{"a":{"a":{}}}`, "{\"name\":\"\\ud800\"}", `{"name":"a","name":"b"}`,
		string(minimal("")), string(minimal(`,"session_duration":0,"queueing_status_code":0`)),
		string(minimal(`,"additional_routes":[{"host":"a","path":"/%41"}],"cookie_suffix":"x"`)),
		string(minimal(`,"cookie_attributes":{"samesite":"none","secure":"never"}`)),
		string(minimal(`,"session_duration":1e400,"total_active_users":-0.0`)),
	} {
		f.Add([]byte(body))
	}
}

// FuzzDecodeRoom: an accepted body gives a valid room that stands for itself, a refused one an
// anteroom.Errors, and nothing else happens.
func FuzzDecodeRoom(f *testing.F) {
	seedBodies(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		room, err := config.DecodeRoom(body, config.Checks{})
		if err != nil {
			_ = faults(t, err)
			return
		}
		checkStands(t, room)
	})
}

// FuzzPatchRoom: the same for a patch over a valid room.
func FuzzPatchRoom(f *testing.F) {
	seedBodies(f)
	f.Add([]byte(`{"suspended":true}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		old, err := config.DecodeRoom(minimal(""), config.Checks{})
		if err != nil {
			t.Fatal(err)
		}
		room, err := config.PatchRoom(old, body, config.Checks{})
		if err != nil {
			if _ = faults(t, err); !reflect.DeepEqual(room, old) {
				t.Fatalf("a refused patch gives %+v", room)
			}
			return
		}
		checkStands(t, room)
	})
}

// checkStands: a room that was accepted is valid and a replace by its own form changes nothing.
func checkStands(t *testing.T, room anteroom.Room) {
	t.Helper()
	if err := config.ValidateRoom(&room, config.Checks{}); err != nil {
		t.Fatalf("an accepted room is not valid: %v", err)
	}
	body, err := json.Marshal(room)
	if err != nil {
		t.Fatal(err)
	}
	again, err := config.DecodeRoom(body, config.Checks{})
	if err != nil || !reflect.DeepEqual(again, room) {
		t.Fatalf("%s became %+v: %v", body, again, err)
	}
}

// FuzzDecodeSite: an accepted file can be written and read again, a refused one names its faults.
func FuzzDecodeSite(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		site, err := config.DecodeSite("s.yaml", data, checks())
		if err != nil {
			var list config.Faults
			if !errors.As(err, &list) || len(list) == 0 || !strings.HasPrefix(err.Error(), "s.yaml:") {
				t.Fatalf("the error is %#v", err)
			}
			return
		}
		text, err := config.EncodeSite(site)
		if err != nil {
			t.Fatal(err)
		}
		again, err := config.DecodeSite("s.yaml", text, checks())
		if err != nil || len(again.Rooms) != len(site.Rooms) {
			t.Fatalf("%s\nbecame\n%s\n%v", data, text, err)
		}
		for i := range site.Rooms {
			if !reflect.DeepEqual(again.Rooms[i], site.Rooms[i]) {
				t.Fatalf("got  %+v\nwant %+v\n%s", again.Rooms[i], site.Rooms[i], text)
			}
		}
	})
}
