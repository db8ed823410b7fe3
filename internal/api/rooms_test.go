package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// TestPublishedRules has V1 to V9, V16 and V20 of the published schema, with our lower bound.
func TestPublishedRules(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	for _, c := range []struct{ name, set, pointer, text string }{
		{"V1", `"total_active_users":0,"new_users_per_minute":1`, "/total_active_users", "0 is below 1"},
		{"V1Ours", `"total_active_users":199,"new_users_per_minute":199`, "", ""},
		{"V2", `"total_active_users":200,"new_users_per_minute":200`, "", ""},
		{"V3", `"total_active_users":200,"new_users_per_minute":201`, "/new_users_per_minute", "new_users_per_minute must be in range [1, total_active_users]: invalid data"},
		{"V4Low", `"session_duration":0`, "/session_duration", "0 is below 1"},
		{"V4High", `"session_duration":31`, "/session_duration", "31 is above 30"},
		{"V5", `"queueing_status_code":503`, "/queueing_status_code", "use 200, 202 or 429"},
		{"V6", `"cookie_attributes":{"samesite":"none","secure":"never"}`, "/cookie_attributes/samesite", "never"},
		{"V7", `"additional_routes":[{"host":"a.example.com"}]`, "/cookie_suffix", "required with additional_routes"},
		{"V8Space", `"name":"a b"`, "/name", "' '"},
		{"V8Dot", `"name":"a.b"`, "/name", "'.'"},
		{"V9Scheme", `"host":"https://a.b"`, "/host", "scheme"},
		{"V9Wildcard", `"host":"*.a.b"`, "/host", "wildcard"},
		{"V16Twice", `"enabled_origin_commands":["revoke","revoke"]`, "/enabled_origin_commands/1", "twice"},
		{"V16Unknown", `"enabled_origin_commands":["x"]`, "/enabled_origin_commands/0", "use revoke"},
	} {
		if c.pointer == "" {
			s.good(t, http.MethodPatch, room, "{"+c.set+"}")
			continue
		}
		a := s.bad(t, fault{400, 1002}, http.MethodPatch, room, "{"+c.set+"}")
		if len(a.Errors) != 1 || a.Errors[0].Source.Pointer != c.pointer || !strings.Contains(a.Errors[0].Message, c.text) {
			t.Errorf("%s: %s", c.name, a.raw)
		}
	}
	s.good(t, http.MethodDelete, room, "") // V20
	s.bad(t, fault{404, 1001}, http.MethodGet, room, "")
	s.bad(t, fault{404, 1001}, http.MethodDelete, room, "")
}

// invalid are bodies of a POST with the field at fault.
func invalid() map[string]string {
	m := func(more string) string { return minimal("new", more) }
	return map[string]string{
		``: "", `null`: "", `[]`: "", `"x"`: "", `{`: "", `{}x`: "", "{\"name\":\"\xff\"}": "", `{"a":1}`: "/a",
		`{}`: "/name", `{"name":"a"}`: "/host",
		m(`,"name":"b"`):                                   "/name",
		m(`,"colour":"red"`):                               "/colour",
		m(`,"path":1`):                                     "/path",
		m(`,"path":"x"`):                                   "/path",
		m(`,"path":"/a?b"`):                                "/path",
		m(`,"path":"/a/*"`):                                "/path",
		m(`,"description":{}`):                             "/description",
		m(`,"session_duration":"5"`):                       "/session_duration",
		m(`,"session_duration":1.5`):                       "/session_duration",
		m(`,"session_duration":-1`):                        "/session_duration",
		m(`,"session_duration":1e9`):                       "/session_duration",
		m(`,"suspended":"true"`):                           "/suspended",
		m(`,"suspended":1`):                                "/suspended",
		m(`,"queue_all":[]`):                               "/queue_all",
		m(`,"queueing_method":"lifo"`):                     "/queueing_method",
		m(`,"queueing_method":1`):                          "/queueing_method",
		m(`,"queueing_status_code":201`):                   "/queueing_status_code",
		m(`,"queueing_status_code":"200"`):                 "/queueing_status_code",
		m(`,"json_response_enabled":"x"`):                  "/json_response_enabled",
		m(`,"custom_page_html":[]`):                        "/custom_page_html",
		m(`,"custom_page_html":"{{#a}}"`):                  "/custom_page_html",
		m(`,"default_template_language":"x"`):              "/default_template_language",
		m(`,"cookie_suffix":"a b"`):                        "/cookie_suffix",
		m(`,"cookie_attributes":1`):                        "/cookie_attributes",
		m(`,"cookie_attributes":{"secure":"x"}`):           "/cookie_attributes/secure",
		m(`,"cookie_attributes":{"x":"x"}`):                "/cookie_attributes/x",
		m(`,"enabled_origin_commands":{}`):                 "/enabled_origin_commands",
		m(`,"enabled_origin_commands":[1]`):                "/enabled_origin_commands/0",
		m(`,"additional_routes":"x"`):                      "/additional_routes",
		m(`,"cookie_suffix":"x","additional_routes":[{}]`): "/additional_routes/0/host",
		m(`,"cookie_suffix":"x","additional_routes":[{"host":"a"},{"host":"A"}]`):    "/additional_routes/1",
		m(`,"cookie_suffix":"x","additional_routes":[{"host":"a","path":"b"}]`):      "/additional_routes/0/path",
		m(`,"cookie_suffix":"x","additional_routes":[{"host":"taken.example.com"}]`): "/additional_routes/0",
		m(`,"turnstile_mode":"x"`):   "/turnstile_mode",
		m(`,"turnstile_action":"x"`): "/turnstile_action",
		minimal("taken", ""):         "/name",
		`{"name":"n","host":"taken.example.com","total_active_users":1,"new_users_per_minute":1}`:  "/host",
		`{"name":"n","host":"TAKEN.example.com.","total_active_users":1,"new_users_per_minute":1}`: "/host",
		`{"name":"n","host":"a:1","total_active_users":1,"new_users_per_minute":1}`:                "/host",
		`{"name":"n","host":"a","total_active_users":1,"new_users_per_minute":2}`:                  "/new_users_per_minute",
		`{"name":"n","host":"a","total_active_users":99999999999,"new_users_per_minute":2}`:        "/total_active_users",
		`{"name":"n","host":"a","total_active_users":"1","new_users_per_minute":1}`:                "/total_active_users",
	}
}

// TestInvalidBodies: each is refused with code, field and reason, and leaves nothing behind.
func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	taken := s.create(t, "taken", "")
	target := s.create(t, "target", "")
	before := string(s.good(t, http.MethodGet, s.zones, "").raw)
	revision := s.store.Snapshot().Revision
	bodies := invalid()
	if len(bodies) < 40 {
		t.Fatalf("only %d bodies", len(bodies))
	}
	for body, pointer := range bodies {
		for method, path := range map[string]string{http.MethodPost: s.zones, http.MethodPut: target, http.MethodPatch: target} {
			if method == http.MethodPatch && (body == `{}` || body == `{"name":"a"}`) {
				continue // these change nothing, or only the name
			}
			a := s.bad(t, fault{400, 1002}, method, path, body)
			found := false
			for _, e := range a.Errors {
				if e.Code != 1002 || len(e.Message) < 10 {
					t.Errorf("%s %s: %s", method, body, a.raw)
				}
				found = found || e.Source.Pointer == pointer
			}
			if !found {
				t.Errorf("%s %s: %s, want a fault at %q", method, body, a.raw, pointer)
			}
		}
	}
	if after := string(s.good(t, http.MethodGet, s.zones, "").raw); after != before || s.store.Snapshot().Revision != revision {
		t.Errorf("the rooms were %s and are %s", before, after)
	}
	a := s.bad(t, fault{400, 1002}, http.MethodPost, s.zones, minimal("taken", ""))
	if !strings.Contains(string(a.raw), strings.TrimPrefix(taken, s.zones+"/")) {
		t.Errorf("a taken name does not say by whom: %s", a.raw)
	}
}

func TestSeveralFaultsAreSeveralErrors(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := s.bad(t, fault{400, 1002}, http.MethodPost, s.zones, minimal("shop", `,"path":"x","session_duration":0,"a/b~c":1`))
	var pointers []string
	for _, e := range a.Errors {
		pointers = append(pointers, e.Source.Pointer)
	}
	if got := fmt.Sprint(pointers); got != "[/a~1b~0c /path /session_duration]" {
		t.Errorf("the pointers are %s in %s", got, a.raw)
	}
}

// TestNothingDrifts: what a client reads, sends back or leaves out stays as it is, byte for byte.
func TestNothingDrifts(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, more := range map[string]string{
		"minimal": "",
		"full": `,"path":"/a","additional_routes":[{"host":"b.example.com"}],"cookie_suffix":"x","session_duration":7,
			"disable_session_renewal":true,"suspended":true,"queue_all":true,"queueing_method":"RANDOM","queueing_status_code":429,
			"json_response_enabled":true,"custom_page_html":"<p>&amp;</p>","default_template_language":"auto","description":"ü",
			"cookie_attributes":{"samesite":"strict","secure":"always"},"enabled_origin_commands":["revoke"],
			"turnstile_mode":"off","turnstile_action":"infinite_queue"`,
		"unset": `,"path":null,"additional_routes":null,"cookie_suffix":null,"session_duration":null,
			"disable_session_renewal":null,"suspended":null,"queue_all":null,"queueing_method":null,"queueing_status_code":null,
			"json_response_enabled":null,"custom_page_html":null,"default_template_language":null,"description":null,
			"cookie_attributes":null,"enabled_origin_commands":null,"turnstile_mode":null,"turnstile_action":null`,
		"empty": `,"path":"","additional_routes":[],"cookie_suffix":"","queueing_method":"","custom_page_html":"",
			"default_template_language":"","description":"","cookie_attributes":{},"enabled_origin_commands":[],
			"turnstile_mode":"","turnstile_action":""`,
		"legacy": `,"created_on":"0001-01-01T00:00:00Z","session_duration":0,"queueing_status_code":0,"cookie_suffix":"","path":""`,
	} {
		room := s.create(t, name, more)
		first := s.good(t, http.MethodGet, room, "")
		for _, change := range []struct{ method, body string }{
			{http.MethodPut, string(first.Result)},
			{http.MethodPut, minimal(name, more)},
			{http.MethodPut, without(t, first.Result, "id", "created_on", "modified_on", "next_event_prequeue_start_time", "next_event_start_time")},
			{http.MethodPatch, `{}`},
			{http.MethodPatch, string(first.Result)},
		} {
			answered := s.good(t, change.method, room, change.body)
			again := s.good(t, http.MethodGet, room, "")
			if string(again.raw) != string(first.raw) || string(answered.raw) != string(first.raw) || again.header.Get("ETag") != first.header.Get("ETag") {
				t.Errorf("%s: %s with %s made\n%s of\n%s", name, change.method, change.body, again.raw, first.raw)
			}
		}
		var list []json.RawMessage
		must(t, json.Unmarshal(s.good(t, http.MethodGet, s.zones, "").Result, &list))
		if got := string(list[len(list)-1]); got != string(first.Result) {
			t.Errorf("%s: the list has %s, the room is %s", name, got, first.Result)
		}
		if strings.Contains(strings.ReplaceAll(string(first.Result), `_start_time":null`, ""), "null") {
			t.Errorf("%s: a null in %s", name, first.Result)
		}
	}
}

func without(t *testing.T, object json.RawMessage, names ...string) string {
	t.Helper()
	fields := map[string]json.RawMessage{}
	must(t, json.Unmarshal(object, &fields))
	for _, name := range names {
		delete(fields, name)
	}
	data, err := json.Marshal(fields)
	must(t, err)
	return string(data)
}

func TestReplaceKeepsTheExtras(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	if a := s.good(t, http.MethodGet, room+"/extras", ""); string(a.Result) != `{"session_duration":"0s"}` {
		t.Errorf("the default extras are %s", a.Result)
	}
	before := s.good(t, http.MethodGet, room, "")
	want := `{"session_duration":"1m30s"}`
	if a := s.good(t, http.MethodPut, room+"/extras", `{"session_duration":"90s"}`); string(a.Result) != want {
		t.Errorf("put gives %s", a.Result)
	}
	if after := s.good(t, http.MethodGet, room, ""); string(after.raw) != string(before.raw) {
		t.Errorf("extras changed the room to %s", after.raw)
	}
	s.good(t, http.MethodPut, room, minimal("shop", `,"suspended":true`))
	if a := s.good(t, http.MethodGet, room+"/extras", ""); string(a.Result) != want {
		t.Errorf("after a full replace %s", a.Result)
	}
	s.good(t, http.MethodPatch, room+"/extras", `{}`)
	s.good(t, http.MethodPut, room+"/extras?dry_run=true", `{"session_duration":"2m"}`)
	if a := s.good(t, http.MethodGet, room+"/extras", ""); string(a.Result) != want {
		t.Errorf("after an empty patch and a dry run %s", a.Result)
	}
	for _, body := range []string{`{"session_duration":"1ms"}`, `{"session_duration":5}`, `{"x":1}`, `[]`, ``} {
		s.bad(t, fault{400, 1002}, http.MethodPut, room+"/extras", body)
		s.bad(t, fault{400, 1002}, http.MethodPut, room+"/extras?dry_run=true", body)
	}
	if a := s.good(t, http.MethodPut, room+"/extras", `{}`); string(a.Result) != `{"session_duration":"0s"}` {
		t.Errorf("an empty put gives %s", a.Result)
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	revision := s.store.Snapshot().Revision
	a := s.good(t, http.MethodPost, s.zones+"?dry_run=true", minimal("new", `,"queueing_method":"Random"`))
	if !strings.Contains(string(a.Result), `"queueing_method":"random"`) {
		t.Errorf("a dry run shows %s", a.Result)
	}
	s.good(t, http.MethodPut, room+"?dry_run=1", minimal("shop", `,"suspended":true`))
	if a = s.good(t, http.MethodPatch, room+"?dry_run=true", `{"suspended":true}`); !strings.Contains(string(a.Result), `"suspended":true`) {
		t.Errorf("a dry run shows %s", a.Result)
	}
	s.bad(t, fault{400, 1002}, http.MethodPost, s.zones+"?dry_run=true", `{}`)
	s.bad(t, fault{400, 1002}, http.MethodPatch, room+"?dry_run=true", `{"path":"x"}`)
	for method, path := range map[string]string{http.MethodPost: s.zones, http.MethodPut: room, http.MethodPatch: room} {
		s.bad(t, fault{400, 1002}, method, path+"?dry_run=maybe", minimal("new", ""))
	}
	if now := s.store.Snapshot().Revision; now != revision {
		t.Errorf("dry runs moved the revision from %d to %d", revision, now)
	}
}

func TestETags(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	first := s.good(t, http.MethodGet, room, "").header.Get("ETag")
	if a := s.do(t, http.MethodGet, room, "", "If-None-Match", first); a.status != http.StatusNotModified || len(a.raw) != 0 {
		t.Errorf("an unchanged room is sent again: %d %s", a.status, a.raw)
	}
	second := s.good(t, http.MethodPatch, room, `{"suspended":true}`, "If-Match", first).header.Get("ETag")
	if second == first || second == "" {
		t.Errorf("a change made the ETag %q of %q", second, first)
	}
	for _, old := range []string{first, `"0"`, "nonsense", `W/` + second, ``} {
		if old == "" {
			continue
		}
		s.bad(t, fault{412, 2001}, http.MethodPatch, room, `{"suspended":false}`, "If-Match", old)
		s.bad(t, fault{412, 2001}, http.MethodPut, room, minimal("shop", ""), "If-Match", old)
		s.bad(t, fault{412, 2001}, http.MethodDelete, room, "", "If-Match", old)
		s.bad(t, fault{412, 2001}, http.MethodPut, room+"/extras", "{}", "If-Match", old)
	}
	if a := s.good(t, http.MethodGet, room, "", "If-None-Match", first); a.header.Get("ETag") != second {
		t.Errorf("refused writes made the ETag %q", a.header.Get("ETag"))
	}
	s.good(t, http.MethodPut, room, minimal("shop", ""), "If-Match", `"1", `+second)
	s.good(t, http.MethodDelete, room, "", "If-Match", "*")
}

// TestConcurrentPatches: patches of different fields at the same time are all kept.
func TestConcurrentPatches(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	var wg sync.WaitGroup
	for _, set := range []string{
		`"suspended":true`, `"queue_all":true`, `"description":"x"`, `"session_duration":7`, `"queueing_method":"random"`,
		`"cookie_suffix":"s"`, `"json_response_enabled":true`, `"queueing_status_code":202`,
	} {
		wg.Go(func() { s.good(t, http.MethodPatch, room, "{"+set+"}") })
	}
	wg.Wait()
	got := string(s.good(t, http.MethodGet, room, "").Result)
	for _, want := range []string{
		`"suspended":true`, `"queue_all":true`, `"description":"x"`, `"session_duration":7`, `"queueing_method":"random"`,
		`"cookie_suffix":"s"`, `"json_response_enabled":true`, `"queueing_status_code":202`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s was lost in %s", want, got)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	id := strings.TrimPrefix(room, s.zones+"/")
	for _, c := range []struct {
		name string
		now  queue.Status
		want string
	}{
		{"Empty", queue.Status{}, `{"status":"not_queueing","event_id":"","estimated_queued_users":0,"estimated_total_active_users":0,"max_estimated_time_minutes":0}`},
		{
			"Queueing",
			queue.Status{State: queue.Queueing, Waiting: 7, Active: 300, Longest: queue.Estimate{Known: true, Middle: 61 * time.Second}},
			`{"status":"queueing","event_id":"","estimated_queued_users":7,"estimated_total_active_users":300,"max_estimated_time_minutes":2}`,
		},
		{
			"Lottery",
			queue.Status{State: queue.Queueing, Waiting: 1, Active: 2, Longest: queue.Estimate{Known: true, Low: time.Minute, Middle: 2 * time.Minute, High: 5 * time.Minute}},
			`{"status":"queueing","event_id":"","estimated_queued_users":1,"estimated_total_active_users":2,"max_estimated_time_minutes":5}`,
		},
		{
			"Unknown",
			queue.Status{State: queue.Queueing, Waiting: 1, Longest: queue.Estimate{Middle: time.Hour}},
			`{"status":"queueing","event_id":"","estimated_queued_users":1,"estimated_total_active_users":0,"max_estimated_time_minutes":0}`,
		},
	} {
		s.rooms.set(id, c.now)
		if a := s.good(t, http.MethodGet, room+"/status", ""); string(a.Result) != c.want {
			t.Errorf("%s: %s, want %s", c.name, a.Result, c.want)
		}
	}
	s.good(t, http.MethodPatch, room, `{"suspended":true}`)
	if a := s.good(t, http.MethodGet, room+"/status", ""); !strings.Contains(string(a.Result), `"status":"suspended"`) {
		t.Errorf("suspended: %s", a.Result)
	}
	s.rooms.fail(anteroom.Errorf(anteroom.CodeUnavailable, "no coordinator"))
	if a := s.good(t, http.MethodGet, room+"/status", ""); !strings.Contains(string(a.Result), `"status":"suspended"`) {
		t.Errorf("suspended without a coordinator: %s", a.Result)
	}
	s.good(t, http.MethodPatch, room, `{"suspended":false}`)
	s.bad(t, fault{503, 2004}, http.MethodGet, room+"/status", "")
}

func TestEndSession(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	const ticket = "0123456789abcdef0123456789abcdef"
	if a := s.good(t, http.MethodDelete, room+"/sessions/"+ticket, ""); string(a.Result) != `{"id":"`+ticket+`"}` {
		t.Errorf("the result is %s", a.Result)
	}
	if want := strings.TrimPrefix(room, s.zones+"/") + " " + ticket; len(s.rooms.ended) != 1 || s.rooms.ended[0] != want {
		t.Errorf("ended %v, want %s", s.rooms.ended, want)
	}
	for _, bad := range []string{"x", ticket[1:], ticket + "0", strings.Repeat("z", 32)} {
		if a := s.bad(t, fault{400, 1002}, http.MethodDelete, room+"/sessions/"+bad, ""); a.Errors[0].Source.Pointer != "/ticket" {
			t.Errorf("%s: %s", bad, a.raw)
		}
	}
	s.rooms.fail(anteroom.Errorf(anteroom.CodeNotFound, "Object not found."))
	s.bad(t, fault{404, 1001}, http.MethodDelete, room+"/sessions/"+ticket, "")
}

// TestAfterARestart: the API shows the same rooms, byte for byte.
func TestAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveIn(t, dir, nil)
	for _, name := range []string{"c", "a", "b"} {
		s.create(t, name, `,"custom_page_html":"<p>ü</p>"`)
	}
	before := s.good(t, http.MethodGet, s.zones, "")
	s.stop(t)
	s = serveIn(t, dir, nil)
	if after := s.good(t, http.MethodGet, s.zones, ""); string(after.raw) != string(before.raw) {
		t.Errorf("before %s\nafter  %s", before.raw, after.raw)
	}
}
