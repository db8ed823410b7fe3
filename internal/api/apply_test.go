package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/api"
	"github.com/anteroom/anteroom/internal/config"
)

func (s *server) applyClient() *api.Client {
	return &api.Client{URL: s.admin, Token: token, HTTP: s.client}
}

// site reads a site file; a line is a room: name, path, and more fields.
func site(t testing.TB, text string) config.Site {
	t.Helper()
	got, err := config.DecodeSite("site.yaml", []byte("waiting_rooms:\n"+text), config.Checks{})
	must(t, err)
	return got
}

// line is a room of a site file in one line.
func line(name, path, more string) string {
	return fmt.Sprintf("  - {name: %s, host: shop.example.com, path: %s, total_active_users: 300, new_users_per_minute: 200%s}\n", name, path, more)
}

func (s *server) apply(t testing.TB, text string, dry bool) api.Diff {
	t.Helper()
	diff, err := api.Apply(t.Context(), s.applyClient(), site(t, text), dry)
	must(t, err)
	return diff
}

func (s *server) list(t testing.TB) string {
	t.Helper()
	return string(s.good(t, http.MethodGet, s.zones, "").raw)
}

func TestApply(t *testing.T) {
	t.Parallel()
	s := serve(t)
	first := line("one", "/1", ", extras: {session_duration: 90s}") + line("two", "/2", "") + line("three", "/3", "")
	want := "+ one\n+ two\n+ three\n3 created, 0 changed, 0 unchanged\n"
	if got := s.apply(t, first, true).String(); got != want {
		t.Errorf("a dry run shows\n%swant\n%s", got, want)
	}
	if n := len(s.store.Snapshot().Rooms); n != 0 {
		t.Fatalf("a dry run made %d rooms", n)
	}
	diff := s.apply(t, first, false)
	if got := diff.String(); got != want || !diff.Changed() {
		t.Errorf("apply shows\n%swant\n%s", got, want)
	}
	for _, room := range diff.Rooms {
		if !room.Done {
			t.Errorf("%s is not done", room.Name)
		}
	}
	made := s.list(t)
	again := s.apply(t, first, false)
	if got := again.String(); again.Changed() || got != "= one\n= two\n= three\n0 created, 0 changed, 3 unchanged\n" || s.list(t) != made {
		t.Errorf("a second apply shows\n%s", got)
	}

	page := strings.Repeat("x", 200)
	second := line("one", "/1", ", extras: {session_duration: 2m}, custom_page_html: "+page) + line("two", "/2", ", suspended: true, queueing_method: random")
	want = `~ one
    custom_page_html: "" -> (202 bytes)
    extras.session_duration: "1m30s" -> "2m0s"
~ two
    suspended: false -> true
    queueing_method: "fifo" -> "random"
0 created, 2 changed, 0 unchanged; not in the file and left alone: three
`
	if got := s.apply(t, second, true).String(); got != want || s.list(t) != made {
		t.Errorf("a dry run shows\n%swant\n%s", got, want)
	}
	if got := s.apply(t, second, false).String(); got != want {
		t.Errorf("apply shows\n%swant\n%s", got, want)
	}
	if s.apply(t, second, false).Changed() {
		t.Error("a second apply changes something")
	}
	one := s.store.Snapshot().Rooms[0]
	if len(one.Room.CustomPageHTML) != 200 || time.Duration(one.Extras.SessionDuration).String() != "2m0s" {
		t.Errorf("the server has %+v", one)
	}
	// A file that does not speak of extras leaves them.
	s.apply(t, line("one", "/1", ""), false)
	if one = s.store.Snapshot().Rooms[0]; time.Duration(one.Extras.SessionDuration).String() != "2m0s" || one.Room.CustomPageHTML != "" {
		t.Errorf("the server has %+v", one)
	}
}

// TestApplyTheExport: what the store exports brings an empty server to the same configuration.
func TestApplyTheExport(t *testing.T) {
	t.Parallel()
	s, fresh := serve(t), serve(t)
	s.apply(t, line("one", "/1", ", extras: {session_duration: 90s}")+line("two", "/2", ", custom_page_html: '<p>ü</p>'"), false)
	var exported config.Site
	for _, r := range s.store.Snapshot().Rooms {
		exported.Rooms = append(exported.Rooms, config.SiteRoom{Room: r.Room, Extras: &r.Extras})
	}
	text, err := config.EncodeSite(exported)
	must(t, err)
	read, err := config.DecodeSite("export", text, config.Checks{})
	must(t, err)
	for range 2 {
		_, err = api.Apply(t.Context(), fresh.applyClient(), read, false)
		must(t, err)
	}
	strip := func(s *server) (all string) {
		for _, r := range s.store.Snapshot().Rooms {
			data, err := json.Marshal([]any{r.Room, r.Extras})
			must(t, err)
			fields := string(data)
			for _, v := range []string{r.Room.ID, r.Room.CreatedOn.Format("2006-01-02T15:04:05.999999Z07:00"), r.Room.ModifiedOn.Format("2006-01-02T15:04:05.999999Z07:00")} {
				fields = strings.ReplaceAll(fields, v, "")
			}
			all += fields
		}
		return all
	}
	if got, want := strip(fresh), strip(s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestApplyIsAllOrNothing: one invalid room of many, and nothing is applied.
func TestApplyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.apply(t, line("old", "/old", ""), false)
	before := s.list(t)
	for name, c := range map[string]struct {
		text  string
		parts []string
	}{
		"Template": {
			line("good", "/good", "") + line("bad", "/bad", ", custom_page_html: '{{#a}}'"),
			[]string{"waiting_rooms[1]", "the section is not closed"},
		},
		"RouteOfAnother": {
			line("good", "/good", "") + line("bad", "/old", ""),
			[]string{"waiting_rooms[1].path", `"old"`},
		},
		"SeveralFaults": {
			line("a", "/a", ", custom_page_html: '{{#a}}'") + line("b", "/old", "") + line("c", "/c", ", custom_page_html: '{{#a}}'"),
			[]string{"waiting_rooms[0]", "waiting_rooms[1]", "waiting_rooms[2]"},
		},
	} {
		_, err := api.Apply(t.Context(), s.applyClient(), site(t, c.text), false)
		if _, ok := errors.AsType[anteroom.Errors](err); !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, part := range c.parts {
			if !strings.Contains(strings.ReplaceAll(err.Error(), "host", "path"), part) {
				t.Errorf("%s: %q does not say %q", name, err, part)
			}
		}
		if after := s.list(t); after != before {
			t.Errorf("%s: the rooms became %s", name, after)
		}
	}
}

// TestApplyMovesRoutes: a route that moves from one room to another is set free first.
func TestApplyMovesRoutes(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.apply(t, line("one", "/1", "")+line("two", "/2", "")+line("three", "/3", ""), false)
	s.apply(t, line("one", "/2", "")+line("two", "/3", "")+line("three", "/4", "")+line("four", "/1", ""), false)
	paths := map[string]string{}
	for _, r := range s.store.Snapshot().Rooms {
		paths[r.Room.Name] = r.Room.Path
	}
	if fmt.Sprint(paths) != "map[four:/1 one:/2 three:/4 two:/3]" {
		t.Errorf("the paths are %v", paths)
	}
	before := s.list(t)
	_, err := api.Apply(t.Context(), s.applyClient(), site(t, line("one", "/3", "")+line("two", "/2", "")+line("five", "/5", "")), false)
	if err == nil || !strings.Contains(err.Error(), "one, two exchange their routes") || s.list(t) != before {
		t.Errorf("two rooms exchange their routes: %v", err)
	}
}

// unreliable answers the third creation with nonsense, once.
type unreliable struct {
	http.RoundTripper
	creations atomic.Int64
}

func (u *unreliable) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && r.URL.RawQuery == "" && u.creations.Add(1) == 3 {
		w := httptest.NewRecorder()
		http.Error(w, "the cat is on the keyboard", http.StatusBadGateway)
		return w.Result(), nil
	}
	return u.RoundTripper.RoundTrip(r)
}

// TestApplyMidway: when the server fails in the middle, the error says what is done, and applying
// again finishes it.
func TestApplyMidway(t *testing.T) {
	t.Parallel()
	s := serve(t)
	text := line("one", "/1", "") + line("two", "/2", "") + line("three", "/3", "") + line("four", "/4", "")
	client := &api.Client{URL: s.admin, Token: token, HTTP: &http.Client{Transport: &unreliable{RoundTripper: s.client.Transport}}}
	diff, err := api.Apply(t.Context(), client, site(t, text), false)
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{"waiting room three", "502", "applied before: one, two", "not tried: four"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	done := ""
	for _, room := range diff.Rooms {
		if room.Done {
			done += room.Name + " "
		}
	}
	if done != "one two " || len(s.store.Snapshot().Rooms) != 2 {
		t.Errorf("done %s, the server has %d rooms", done, len(s.store.Snapshot().Rooms))
	}
	diff, err = api.Apply(t.Context(), client, site(t, text), false)
	must(t, err)
	if got := diff.String(); got != "= one\n= two\n+ three\n+ four\n2 created, 0 changed, 2 unchanged\n" {
		t.Errorf("the second apply shows\n%s", got)
	}
}

func TestApplyToTheWrongServer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		client api.Client
		text   string
	}{
		"Gone":       {api.Client{URL: gone.URL, Token: token}, "is it running"},
		"Other":      {api.Client{URL: other.URL, Token: token, HTTP: other.Client()}, "is this the admin address of Anteroom?"},
		"NoURL":      {api.Client{URL: "::", Token: token}, "write it such as http://127.0.0.1:8081"},
		"WrongToken": {api.Client{URL: s.admin, Token: "wrong", HTTP: s.client}, "admin-token"},
		"NoToken":    {api.Client{URL: s.admin, HTTP: s.client}, "admin-token"},
		"WrongZone":  {api.Client{URL: s.admin + "/", Token: token, Zone: "x", HTTP: s.client}, "there is no such zone"},
	} {
		_, err := api.Apply(t.Context(), &c.client, site(t, line("a", "/a", "")), false)
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", name, err, c.text)
		}
	}
	if n := len(s.store.Snapshot().Rooms); n != 0 {
		t.Errorf("%d rooms were made", n)
	}
}
