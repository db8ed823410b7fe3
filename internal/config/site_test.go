package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

var update = flag.Bool("update", false, "write the expected texts anew") //nolint:gochecknoglobals // a flag of the test binary

// checks knows one broken template, as the page package would report it.
func checks() config.Checks {
	return config.Checks{Template: func(source, _ string) error {
		if strings.Contains(source, "{{#") && !strings.Contains(source, "{{/") {
			return anteroom.Errorf(anteroom.CodeInvalid, "line 1, column 4: the section is not closed").WithHint("close it")
		}
		return nil
	}}
}

// TestBadSites compares the errors of every testdata/bad/*.yaml with the .txt beside it.
func TestBadSites(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			site, err := config.DecodeSite(filepath.Base(file), data, checks())
			if err == nil {
				t.Fatal("it is accepted")
			}
			if len(site.Rooms) != 0 {
				t.Errorf("a refused file gives %d rooms", len(site.Rooms))
			}
			if list := config.Faults(nil); !errors.As(err, &list) {
				t.Errorf("the error is a %T", err)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, errRead := os.ReadFile(golden)
			if errRead != nil {
				t.Fatal(errRead)
			}
			if got := err.Error() + "\n"; got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestGoodSite(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/good/site.yaml")
	if err != nil {
		t.Fatal(err)
	}
	site, err := config.DecodeSite("site.yaml", data, checks())
	if err != nil {
		t.Fatal(err)
	}
	if len(site.Rooms) != 3 {
		t.Fatalf("%d rooms, want 3", len(site.Rooms))
	}
	shop := config.Defaults()
	shop.Name, shop.Host, shop.TotalActiveUsers, shop.NewUsersPerMinute = "shop", "shop.example.com", 1000, 100
	shop.QueueingMethod, shop.Suspended = anteroom.Random, true
	shop.Description = "Two lines,\nthe second one here.\n"
	shop.AdditionalRoutes = []anteroom.Route{{Host: "www.example.com", Path: "/shop"}}
	shop.CookieSuffix = "shop"
	if got := site.Rooms[0].Room; !reflect.DeepEqual(got, shop) {
		t.Errorf("got  %+v\nwant %+v", got, shop)
	}
	if x := site.Rooms[0].Extras; x == nil || time.Duration(x.SessionDuration) != 90*time.Second {
		t.Errorf("extras %v, want 90 s", x)
	}
	if x := site.Rooms[1].Extras; x == nil || *x != (anteroom.Extras{}) {
		t.Errorf("null extras are %v, want the defaults", x)
	}
	if r := site.Rooms[1].Room; r.Name != "123" || r.SessionDuration != 5 || r.Path != "/x" {
		t.Errorf("got %+v", r)
	}
	if x := site.Rooms[2].Extras; x != nil {
		t.Errorf("absent extras are %v, want nil", x)
	}
	if site.Rooms[2].Room.ID != "" {
		t.Error("a read-only field was taken")
	}
}

func TestNoRooms(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"waiting_rooms: []", "waiting_rooms: ~", "# words\nwaiting_rooms: []\n"} {
		if site, err := config.DecodeSite("s", []byte(text), checks()); err != nil || len(site.Rooms) != 0 {
			t.Errorf("%q: %v %v", text, site, err)
		}
	}
}

func TestSiteTooLarge(t *testing.T) {
	t.Parallel()
	_, err := config.DecodeSite("s.yaml", make([]byte, config.SiteBytesMax+1), checks())
	if err == nil || !strings.Contains(err.Error(), "s.yaml: the file has") {
		t.Errorf("got %v", err)
	}
}

// TestAwkwardTexts: whatever blanks, tabs and line ends a page has, the export keeps them.
func TestAwkwardTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"\t\n", " \n", "\n", "\n\n", "\na", " a\nb", "\ta\nb", "a\n\tb\n", "a\n \n", "a \nb", "a\r\nb", "a\rb", "---\na", "# a\nb",
		"a: b\nc", "null", "~", "123", "0x1", "true", "yes", "2026-01-01", "- a", "{{a}}", "'", "\"", "a\u2028b\nc", "\ufeffa\nb", "\x00\nb", "é\n\u0085x",
	} {
		room := config.Defaults()
		room.Name, room.Host, room.TotalActiveUsers, room.NewUsersPerMinute = "a", "b", 1, 1
		room.CustomPageHTML, room.Description = text, text
		data, err := config.EncodeSite(config.Site{Rooms: []config.SiteRoom{{Room: room}}})
		if err != nil {
			t.Fatal(err)
		}
		site, err := config.DecodeSite("s", data, config.Checks{})
		if err != nil || !reflect.DeepEqual(site.Rooms[0].Room, room) {
			t.Errorf("%q: %v\n%s", text, err, data)
		}
	}
}

// TestSiteRoundTrip: what the export writes, apply reads back, for any rooms.
func TestSiteRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var site config.Site
		for i := range rapid.IntRange(1, 4).Draw(t, "rooms") {
			room := config.SiteRoom{Room: drawRoom(t, i)}
			if rapid.Bool().Draw(t, "has extras") {
				d := rapid.Int64Range(int64(time.Second), int64(24*time.Hour)).Draw(t, "session")
				room.Extras = &anteroom.Extras{SessionDuration: anteroom.Duration(d)}
			}
			site.Rooms = append(site.Rooms, room)
		}
		text, err := config.EncodeSite(site)
		if err != nil {
			t.Fatal(err)
		}
		again, err := config.DecodeSite("s", text, config.Checks{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(again, site) {
			t.Fatalf("got  %+v\nwant %+v\n%s", again, site, text)
		}
	})
}
