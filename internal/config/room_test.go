package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

// minimal is a room with the required fields alone, and more of them when given.
func minimal(more string) []byte {
	return []byte(`{"name":"shop","host":"shop.example.com","total_active_users":300,"new_users_per_minute":200` + more + `}`)
}

func mustDecode(t testing.TB, body []byte) anteroom.Room {
	t.Helper()
	room, err := config.DecodeRoom(body, config.Checks{})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return room
}

// faults are the faults of an error, which must be an anteroom.Errors of the published code.
func faults(t testing.TB, err error) anteroom.Errors {
	t.Helper()
	var list anteroom.Errors
	if !errors.As(err, &list) || len(list) == 0 {
		t.Fatalf("the error is no anteroom.Errors with faults: %#v", err)
	}
	for _, e := range list {
		if e.Code != anteroom.CodeInvalid || e.Text == "" {
			t.Errorf("a fault with code %d and text %q", e.Code, e.Text)
		}
	}
	return list
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	want := anteroom.Room{
		Name: "shop", Host: "shop.example.com", Path: "/", AdditionalRoutes: []anteroom.Route{},
		TotalActiveUsers: 300, NewUsersPerMinute: 200, SessionDuration: 5,
		QueueingMethod: anteroom.FIFO, QueueingStatusCode: 200, DefaultTemplateLanguage: "en-US",
		CookieAttributes:      anteroom.CookieAttributes{SameSite: "auto", Secure: "auto"},
		EnabledOriginCommands: []string{}, TurnstileMode: "invisible", TurnstileAction: "log",
	}
	if got := mustDecode(t, minimal("")); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	completed := anteroom.Room{Name: "shop", Host: "shop.example.com", TotalActiveUsers: 300, NewUsersPerMinute: 200}
	if config.Complete(&completed); !reflect.DeepEqual(completed, want) {
		t.Errorf("completed %+v\nwant      %+v", completed, want)
	}
}

// TestPublishedRules has the cases V1 to V9 and V16 of the published schema, with our lower bound.
func TestPublishedRules(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, set, field, text string }{
		{"V1Accepted199", `"total_active_users":199,"new_users_per_minute":199`, "", ""},
		{"V1Zero", `"total_active_users":0,"new_users_per_minute":1`, "total_active_users", "0 is below 1; the range is 1 to 2147483647"},
		{"V2", `"total_active_users":200,"new_users_per_minute":200`, "", ""},
		{"V2One", `"total_active_users":1,"new_users_per_minute":1`, "", ""},
		{"V2Largest", `"total_active_users":2147483647,"new_users_per_minute":2147483647`, "", ""},
		{
			"V3", `"total_active_users":200,"new_users_per_minute":201`, "new_users_per_minute",
			"new_users_per_minute must be in range [1, total_active_users]: invalid data; it is 201, and total_active_users is 200",
		},
		{"V4Zero", `"session_duration":0`, "session_duration", "0 is below 1; the range is 1 to 30"},
		{"V4TooLong", `"session_duration":31`, "session_duration", "31 is above 30"},
		{"V4Longest", `"session_duration":30`, "", ""},
		{"V5", `"queueing_status_code":503`, "queueing_status_code", "503 is not allowed; use 200, 202 or 429"},
		{"V5Accepted", `"queueing_status_code":429`, "", ""},
		{"V6", `"cookie_attributes":{"samesite":"none","secure":"never"}`, "cookie_attributes.samesite", "set secure to auto or always"},
		{"V6Accepted", `"cookie_attributes":{"samesite":"none","secure":"always"}`, "", ""},
		{"V7", `"additional_routes":[{"host":"a.example.com"}]`, "cookie_suffix", "required with additional_routes"},
		{"V7Accepted", `"additional_routes":[{"host":"a.example.com"}],"cookie_suffix":"x"`, "", ""},
		{"V8Space", `"name":"a b"`, "name", "use letters, digits, '-' and '_'"},
		{"V8Dot", `"name":"a.b"`, "name", `has '.'`},
		{"V9Scheme", `"host":"https://shop.example.com"`, "host", "has a scheme"},
		{"V9Wildcard", `"host":"*.example.com"`, "host", "has a wildcard"},
		{"V9AnyHostIsOurs", `"host":"*"`, "", ""},
		{"V16Duplicate", `"enabled_origin_commands":["revoke","revoke"]`, "enabled_origin_commands[1]", "twice"},
		{"V16Unknown", `"enabled_origin_commands":["reboot"]`, "enabled_origin_commands[0]", `"reboot" is not allowed; use revoke`},
		{"V16Accepted", `"enabled_origin_commands":["revoke"]`, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check := func(err error) {
				if c.field == "" {
					if err != nil {
						t.Errorf("refused: %v", err)
					}
					return
				}
				list := faults(t, err)
				if len(list) != 1 || list[0].Field != c.field || !strings.Contains(list[0].Error(), c.text) {
					t.Errorf("got %q at %q, want %q at %q", list, list[0].Field, c.text, c.field)
				}
			}
			body := merged(t, minimal(""), c.set)
			_, err := config.DecodeRoom(body, config.Checks{})
			check(err)
			_, err = config.PatchRoom(mustDecode(t, minimal("")), []byte("{"+c.set+"}"), config.Checks{})
			check(err)
		})
	}
}

// merged sets fields of a JSON object.
func merged(t testing.TB, body []byte, set string) []byte {
	t.Helper()
	object := map[string]any{}
	for _, part := range []string{string(body), "{" + set + "}"} {
		if err := json.Unmarshal([]byte(part), &object); err != nil {
			t.Fatal(err)
		}
	}
	out, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStrictness(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, body, field, text string }{
		{"Empty", ``, "", "the body is empty"},
		{"Blank", " \n", "", "the body is empty"},
		{"NotJSON", "{\n  \"name\": shop}", "", "line 2, column 11"},
		{"NotUTF8", "{\"name\":\"\xff\"}", "", "UTF-8"},
		{"List", `[]`, "", "must be an object, not a list"},
		{"Null", `null`, "", "must be an object, not null"},
		{"Trailing", string(minimal("")) + `{}`, "", "not valid JSON"},
		{"Deep", strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "", "levels"},
		{"Unknown", string(minimal(`,"queueing_metod":"fifo"`)), "queueing_metod", `did you mean "queueing_method"?`},
		{"UnknownFar", string(minimal(`,"colour":"red"`)), "colour", `"colour" is not a known field`},
		{"UnknownCase", string(minimal(`,"Suspended":true`)), "Suspended", `did you mean "suspended"?`},
		{"UnknownInside", string(minimal(`,"cookie_attributes":{"same_site":"lax"}`)), "cookie_attributes.same_site", `"samesite"`},
		{"UnknownInRoute", string(minimal(`,"cookie_suffix":"x","additional_routes":[{"host":"a.b","port":1}]`)), "additional_routes[0].port", "not a known field"},
		{"Duplicate", string(minimal(`,"suspended":true,"suspended":false`)), "suspended", "twice"},
		{"DuplicateReadOnly", string(minimal(`,"id":"a","id":"b"`)), "id", "twice"},
		{"TextForNumber", string(minimal(`,"session_duration":"5"`)), "session_duration", `must be a whole number, not text ("5")`},
		{"NumberForText", string(minimal(`,"description":5`)), "description", `must be text, not a number (5); put it in quotes`},
		{"FlagForText", string(minimal(`,"description":true`)), "description", `must be text, not true or false (true)`},
		{"TextForFlag", string(minimal(`,"suspended":"no"`)), "suspended", `must be true or false, not text ("no")`},
		{"ObjectForList", string(minimal(`,"additional_routes":{}`)), "additional_routes", `must be a list, not an object`},
		{"TextInRoutes", string(minimal(`,"cookie_suffix":"x","additional_routes":["a.b"]`)), "additional_routes[0]", `must be an object with host and path`},
		{"NullInRoutes", string(minimal(`,"cookie_suffix":"x","additional_routes":[null]`)), "additional_routes[0]", `not null`},
		{"ListForObject", string(minimal(`,"cookie_attributes":[]`)), "cookie_attributes", `must be an object, not a list`},
		{"TextForCommands", string(minimal(`,"enabled_origin_commands":"revoke"`)), "enabled_origin_commands", `must be a list`},
		{"Fraction", string(minimal(`,"session_duration":1.5`)), "session_duration", `must be a whole number, not 1.5`},
		{"Huge", string(minimal(`,"session_duration":99999999999999999999`)), "session_duration", `99999999999999999999 is above 30`},
		{"HugeNegative", string(minimal(`,"session_duration":-1e300`)), "session_duration", `-1e300 is below 1`},
		{"Infinite", string(minimal(`,"session_duration":1e999`)), "session_duration", `above 30`},
		{"TinyStatus", string(minimal(`,"queueing_status_code":1e12`)), "queueing_status_code", `use 200, 202 or 429`},
		{"UnknownMethod", string(minimal(`,"queueing_method":"lifo"`)), "queueing_method", `"lifo" is not allowed; use fifo, random, passthrough or reject`},
		{"UnknownLanguage", string(minimal(`,"default_template_language":"xx-XX"`)), "default_template_language", `"xx-XX"`},
		{"UnknownMode", string(minimal(`,"turnstile_mode":"on"`)), "turnstile_mode", `visible_managed`},
		{"UnknownAction", string(minimal(`,"turnstile_action":"ban"`)), "turnstile_action", `log or infinite_queue`},
		{"UnknownSameSite", string(minimal(`,"cookie_attributes":{"samesite":"Lax"}`)), "cookie_attributes.samesite", `auto, lax, none or strict`},
		{"UnknownSecure", string(minimal(`,"cookie_attributes":{"secure":"yes"}`)), "cookie_attributes.secure", `auto, always or never`},
		{"SuffixWithSpace", string(minimal(`,"cookie_suffix":"a b"`)), "cookie_suffix", `has ' '`},
		{"SuffixWithSemicolon", string(minimal(`,"cookie_suffix":"a;b"`)), "cookie_suffix", `has ';'`},
		{"LongSuffix", string(minimal(`,"cookie_suffix":"` + strings.Repeat("a", 65) + `"`)), "cookie_suffix", `more than 64`},
		{"LongDescription", string(minimal(`,"description":"` + strings.Repeat("a", 4097) + `"`)), "description", `more than 4096`},
		{"LargePage", string(minimal(`,"custom_page_html":"` + strings.Repeat("a", 1<<20+1) + `"`)), "custom_page_html", `more than 1048576`},
		{"BadTemplate", string(minimal(`,"custom_page_html":"{{#a}}"`)), "custom_page_html", "line 1, column 1: section a is not closed; add {{/a}}"},
	}
	checks := config.Checks{Template: func(source, _ string) error {
		if source == "{{#a}}" {
			return anteroom.Errorf(anteroom.CodeInvalid, "line 1, column 1: section a is not closed").WithHint("add {{/a}}")
		}
		return nil
	}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.DecodeRoom([]byte(c.body), checks)
			list := faults(t, err)
			if len(list) != 1 || list[0].Field != c.field || !strings.Contains(list[0].Error(), c.text) {
				t.Errorf("got %q at %q, want %q at %q", list, list[0].Field, c.text, c.field)
			}
		})
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, host, path, field, text string }{
		{"Plain", "shop.example.com", "/a/b", "", ""},
		{"UpperCase", "Shop.Example.COM", "/A", "", ""},
		{"TrailingDot", "shop.example.com.", "/", "", ""},
		{"Single", "localhost", "/", "", ""},
		{"Underscore", "my_shop.example.com", "/", "", ""},
		{"Unicode", "bücher.example", "/", "", ""},
		{"UnicodeThatIsNoName", "a\u00adb\u3000c.example", "/", "host", ""},
		{"Parameter", "a.b", "/a;b", "path", "cannot be a route"},
		{"Punycode", "xn--bcher-kva.example", "/", "", ""},
		{"IPv4", "127.0.0.1", "/", "", ""},
		{"IPv6", "[::1]", "/", "", ""},
		{"Escaped", "a.b", "/caf%C3%A9/%20", "", ""},
		{"TrailingSlash", "a.b", "/shop/", "", ""},
		{"Dots", "a.b", "/.well-known/a..b", "", ""},
		{"NoHost", "", "/", "host", "is required"},
		{"Port", "a.b:8080", "/", "host", "leave out the port"},
		{"IPv6Port", "[::1]:80", "/", "host", "port"},
		{"Zone", "fe80::1%lo", "/", "host", ""},
		{"PathInHost", "a.b/c", "/", "host", "the path has its own field"},
		{"User", "me@a.b", "/", "host", "more than a host"},
		{"WildcardInside", "a*.b", "/", "host", "wildcard"},
		{"EmptyLabel", "a..b", "/", "host", "empty part"},
		{"LeadingDot", ".a.b", "/", "host", "empty part"},
		{"LongLabel", strings.Repeat("a", 64) + ".b", "/", "host", "longer than 63"},
		{"LongHost", strings.Repeat("abcdefghi.", 26) + "b", "/", "host", "longer than 253"},
		{"Space", "a b", "/", "host", "' '"},
		{"Hyphen", "-a.b", "/", "host", "'-'"},
		{"Relative", "a.b", "shop", "path", "does not begin with /"},
		{"Query", "a.b", "/a?b=c", "path", "query"},
		{"Fragment", "a.b", "/a#b", "path", "fragment"},
		{"Wildcard", "a.b", "/a/*", "path", "covers everything below"},
		{"PathSpace", "a.b", "/a b", "path", "%20"},
		{"Backslash", "a.b", `/a\b`, "path", "backslash"},
		{"Newline", "a.b", "/a\nb", "path", "control"},
		{"BrokenEscape", "a.b", "/a%2", "path", "hexadecimal"},
		{"NoEscape", "a.b", "/100%zz", "path", "hexadecimal"},
		{"Climbing", "a.b", "/a/../b", "path", "dots"},
		{"ClimbingEscaped", "a.b", "/a/%2e%2E/b", "path", "dots"},
		{"DoubleSlash", "a.b", "/a//b", "path", "empty segment"},
		{"LongPath", "a.b", "/" + strings.Repeat("a", 2048), "path", "longer"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			room := anteroom.Room{Name: "a", Host: c.host, Path: c.path, TotalActiveUsers: 1, NewUsersPerMinute: 1}
			config.Complete(&room)
			second := room
			second.Host, second.Path, second.CookieSuffix = "other.example", "/", "x"
			second.AdditionalRoutes = []anteroom.Route{{Host: c.host, Path: c.path}}
			for prefix, room := range map[string]anteroom.Room{"": room, "additional_routes[0].": second} {
				err := config.ValidateRoom(&room, config.Checks{})
				if c.field == "" {
					if err != nil {
						t.Errorf("refused: %v", err)
					}
					continue
				}
				list := faults(t, err)
				if len(list) != 1 || list[0].Field != prefix+c.field || !strings.Contains(list[0].Error(), c.text) {
					t.Errorf("got %q at %q, want %q at %q", list, list[0].Field, c.text, prefix+c.field)
				}
			}
		})
	}
}

func TestRouteTwiceInARoom(t *testing.T) {
	t.Parallel()
	_, err := config.DecodeRoom(minimal(`,"cookie_suffix":"x","additional_routes":[{"host":"b.c"},{"host":"shop.example.com"}]`), config.Checks{})
	if list := faults(t, err); len(list) != 1 || list[0].Field != "additional_routes[1]" {
		t.Errorf("got %q", list)
	}
}

// TestAllFaultsAtOnce has a fault in every field that can have one.
func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.DecodeRoom([]byte(`{
		"name":"a b", "host":"*.b", "path":"x", "additional_routes":[{"host":"c:1"}, {"path":"/"}],
		"total_active_users":-5, "new_users_per_minute":0, "session_duration":31, "disable_session_renewal":1,
		"suspended":"x", "queue_all":[], "queueing_method":"x", "queueing_status_code":1, "json_response_enabled":{},
		"custom_page_html":1, "default_template_language":"x", "description":[], "cookie_suffix":"",
		"cookie_attributes":{"samesite":"x","secure":"x"}, "enabled_origin_commands":["x"],
		"turnstile_mode":"x", "turnstile_action":"x", "unknown":1}`), config.Checks{})
	got := map[string]int{}
	for _, e := range faults(t, err) {
		got[e.Field]++
	}
	want := []string{
		"name", "host", "path", "additional_routes[0].host", "additional_routes[1].host", "total_active_users",
		"new_users_per_minute", "session_duration", "disable_session_renewal", "suspended", "queue_all",
		"queueing_method", "queueing_status_code", "json_response_enabled", "custom_page_html",
		"default_template_language", "description", "cookie_suffix", "cookie_attributes.samesite",
		"cookie_attributes.secure", "enabled_origin_commands[0]", "turnstile_mode", "turnstile_action", "unknown",
	}
	for _, field := range want {
		if got[field] != 1 {
			t.Errorf("%s has %d faults, want 1", field, got[field])
		}
		delete(got, field)
	}
	if len(got) != 0 {
		t.Errorf("further faults: %v", got)
	}
}

func TestRequired(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"name":null,"host":null,"total_active_users":null,"new_users_per_minute":null}`} {
		_, err := config.DecodeRoom([]byte(body), config.Checks{})
		if got := err.Error(); got != "name is required\nhost is required\ntotal_active_users is required\nnew_users_per_minute is required" {
			t.Errorf("%s: %s", body, got)
		}
	}
	for _, name := range []string{"name", "host", "total_active_users", "new_users_per_minute"} {
		_, err := config.PatchRoom(mustDecode(t, minimal("")), []byte(`{"`+name+`":null}`), config.Checks{})
		if list := faults(t, err); list[0].Field != name {
			t.Errorf("a patch took %s away: %v", name, err)
		}
	}
}

// optional are the optional fields with a value that is not the default, and their default.
func optional() map[string][2]string {
	return map[string][2]string{
		"path":                      {`"/a"`, `"/"`},
		"session_duration":          {`7`, `5`},
		"disable_session_renewal":   {`true`, `false`},
		"suspended":                 {`true`, `false`},
		"queue_all":                 {`true`, `false`},
		"queueing_method":           {`"random"`, `"fifo"`},
		"queueing_status_code":      {`429`, `200`},
		"json_response_enabled":     {`true`, `false`},
		"custom_page_html":          {`"<p>"`, `""`},
		"default_template_language": {`"auto"`, `"en-US"`},
		"description":               {`"x"`, `""`},
		"cookie_suffix":             {`"x"`, `""`},
		"cookie_attributes":         {`{"samesite":"lax","secure":"always"}`, `{"samesite":"auto","secure":"auto"}`},
		"enabled_origin_commands":   {`["revoke"]`, `[]`},
		"additional_routes":         {`[{"host":"b.example","path":"/"}]`, `[]`},
		"turnstile_mode":            {`"off"`, `"invisible"`},
		"turnstile_action":          {`"infinite_queue"`, `"log"`},
	}
}

// value is a field of a room as JSON shows it.
func value(t testing.TB, room anteroom.Room, field string) string {
	t.Helper()
	body, err := json.Marshal(room)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(string(object[field]), `\u003c`, "<"), `\u003e`, ">")
}

// TestAbsentNullAndEmpty gives each optional field as absent, null and, where that is the same, empty.
func TestAbsentNullAndEmpty(t *testing.T) {
	t.Parallel()
	empty := map[string]string{
		"path": `""`, "queueing_method": `""`, "default_template_language": `""`, "turnstile_mode": `""`,
		"turnstile_action": `""`, "cookie_attributes": `{}`, "queueing_status_code": `0`,
	}
	for name, values := range optional() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suffix := ""
			if name == "additional_routes" {
				suffix = `,"cookie_suffix":"s"`
			}
			set := mustDecode(t, minimal(suffix+`,"`+name+`":`+values[0]))
			if got := value(t, set, name); got != values[0] {
				t.Errorf("set to %s, got %s", values[0], got)
			}
			forms := map[string]string{"Absent": suffix, "Null": suffix + `,"` + name + `":null`}
			if e, ok := empty[name]; ok {
				forms["Empty"] = suffix + `,"` + name + `":` + e
			}
			for form, more := range forms {
				if got := value(t, mustDecode(t, minimal(more)), name); got != values[1] {
					t.Errorf("%s in a full replace gives %s, want the default %s", form, got, values[1])
				}
			}
			kept, err := config.PatchRoom(set, []byte(`{}`), config.Checks{})
			if err != nil || !reflect.DeepEqual(kept, set) {
				t.Errorf("an empty patch changed the room: %+v %v", kept, err)
			}
			reset, err := config.PatchRoom(set, []byte(`{"`+name+`":null}`), config.Checks{})
			if err != nil || value(t, reset, name) != values[1] {
				t.Errorf("a patch with null gives %s %v, want the default %s", value(t, reset, name), err, values[1])
			}
		})
	}
}

func TestPatchInsideCookieAttributes(t *testing.T) {
	t.Parallel()
	old := mustDecode(t, minimal(`,"cookie_attributes":{"samesite":"lax","secure":"always"}`))
	room, err := config.PatchRoom(old, []byte(`{"cookie_attributes":{"secure":"never"}}`), config.Checks{})
	if want := (anteroom.CookieAttributes{SameSite: "lax", Secure: "never"}); err != nil || room.CookieAttributes != want {
		t.Errorf("got %+v %v, want %+v", room.CookieAttributes, err, want)
	}
}

// TestPatchKeepsTheOldOne: neither a good nor a bad patch writes into what the caller holds.
func TestPatchKeepsTheOldOne(t *testing.T) {
	t.Parallel()
	body := minimal(`,"cookie_suffix":"s","additional_routes":[{"host":"b.example"}],"enabled_origin_commands":["revoke"]`)
	old, same := mustDecode(t, body), mustDecode(t, body)
	for _, patch := range []string{
		`{"additional_routes":[{"host":"c.example"}],"enabled_origin_commands":[]}`,
		`{"additional_routes":[{"host":"c.example"}],"session_duration":0}`,
	} {
		got, err := config.PatchRoom(old, []byte(patch), config.Checks{})
		if !reflect.DeepEqual(old, same) {
			t.Fatalf("%s changed the old room to %+v", patch, old)
		}
		if err != nil && !reflect.DeepEqual(got, same) {
			t.Errorf("a failed patch returns %+v", got)
		}
	}
}

// TestZeroWritingClients: clients that write every unset field get defaults; who names only a
// duration of 0 is refused (V4).
func TestZeroWritingClients(t *testing.T) {
	t.Parallel()
	legacy := `,"session_duration":0,"queue_all":false,"disable_session_renewal":false,"suspended":false,
		"json_response_enabled":false,"cookie_suffix":"","path":"","queueing_status_code":0`
	for name, more := range map[string]string{
		"BothZero":       legacy,
		"WithZeroTime":   `,"created_on":"0001-01-01T00:00:00Z","modified_on":"0001-01-01T00:00:00Z"` + legacy,
		"StatusGiven":    `,"created_on":"0001-01-01T00:00:00Z","session_duration":0,"queueing_status_code":200`,
		"OnlyStatusZero": `,"queueing_status_code":0`,
	} {
		if got, want := mustDecode(t, minimal(more)), mustDecode(t, minimal("")); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	for name, more := range map[string]string{
		"Alone":          `,"session_duration":0`,
		"StatusGiven":    `,"session_duration":0,"queueing_status_code":200`,
		"CreatedIsReal":  `,"session_duration":0,"created_on":"2026-01-01T00:00:00Z"`,
		"NegativeLegacy": `,"session_duration":-1,"queueing_status_code":0`,
	} {
		_, err := config.DecodeRoom(minimal(more), config.Checks{})
		if list := faults(t, err); list[0].Field != "session_duration" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMethodInAnyCase(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"FIFO", "fifo", "Random", "PASSTHROUGH", "reject"} {
		got := mustDecode(t, minimal(`,"queueing_method":"`+given+`"`)).QueueingMethod
		if string(got) != strings.ToLower(given) {
			t.Errorf("%s became %s", given, got)
		}
	}
}

func TestReadOnlyFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	got := mustDecode(t, minimal(`,"id":"x","created_on":"2026-01-01T00:00:00Z","modified_on":null,
		"next_event_prequeue_start_time":null,"next_event_start_time":5`))
	if want := mustDecode(t, minimal("")); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	if n := len(config.Languages()); n != 39 {
		t.Errorf("%d languages, want 39", n)
	}
	for _, language := range append(config.Languages(), "auto") {
		mustDecode(t, minimal(`,"default_template_language":"`+language+`"`))
	}
}

func TestClashes(t *testing.T) {
	t.Parallel()
	record := func(zone, name, host, path string, more ...anteroom.Route) *config.RoomRecord {
		return &config.RoomRecord{Zone: zone, Room: anteroom.Room{ID: "id-" + name, Name: name, Host: host, Path: path, AdditionalRoutes: more}}
	}
	cases := []struct {
		name      string
		one, two  *config.RoomRecord
		field     string
		mustName  string
		nothingOf string
	}{
		{"Nothing", record("z", "a", "a.b", "/"), record("z", "b", "a.b", "/x"), "", "", ""},
		{"Name", record("z", "a", "a.b", "/"), record("z", "a", "c.d", "/"), "name", "id-a", ""},
		{"NameInOtherZone", record("z", "a", "a.b", "/"), record("y", "a", "c.d", "/"), "", "", ""},
		{"NameInOtherCase", record("z", "a", "a.b", "/"), record("z", "A", "c.d", "/"), "", "", ""},
		{"Route", record("z", "a", "a.b", "/"), record("y", "b", "a.b", "/"), "host", `"b"`, ""},
		{"SecondRoute", record("z", "a", "x.b", "/", anteroom.Route{Host: "a.b", Path: "/"}), record("z", "b", "a.b", "/"), "additional_routes[0]", `"b"`, ""},
		{"OtherSecondRoute", record("z", "a", "a.b", "/"), record("z", "b", "x.b", "/", anteroom.Route{Host: "a.b", Path: "/"}), "host", `"b"`, ""},
		{"PathInOtherCase", record("z", "a", "a.b", "/X"), record("z", "b", "a.b", "/x"), "", "", ""},
		{"HostInOtherCase", record("z", "a", "A.b.", "/"), record("z", "b", "a.B", "/"), "host", `"b"`, ""},
		{"HostInPunycode", record("z", "a", "xn--bcher-kva.example", "/"), record("z", "b", "bücher.example", "/"), "host", `"b"`, ""},
		{"Escaped", record("z", "a", "a.b", "/%61"), record("z", "b", "a.b", "/a"), "host", `"b"`, ""},
		{"EscapedTwice", record("z", "a", "a.b", "/%2561"), record("z", "b", "a.b", "/a"), "host", `"b"`, ""},
		{"EscapedTwiceElsewhere", record("z", "a", "a.b", "/%2561"), record("z", "b", "c.b", "/a"), "", "", ""},
		{"TrailingSlash", record("z", "a", "a.b", "/x/"), record("z", "b", "a.b", "/x"), "host", `"b"`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list := config.Clashes(c.one, c.two)
			if c.field == "" {
				if len(list) != 0 {
					t.Errorf("refused: %v", list)
				}
				return
			}
			if len(list) != 1 || list[0].Field != c.field || !strings.Contains(list[0].Error(), c.mustName) {
				t.Errorf("got %q, want a fault at %q that names %s", list, c.field, c.mustName)
			}
		})
	}
}

func TestExtras(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]time.Duration{
		`{}`: 0, `{"session_duration":null}`: 0, `{"session_duration":"0s"}`: 0,
		`{"session_duration":"90s"}`: 90 * time.Second, `{"session_duration":"24h"}`: 24 * time.Hour,
	} {
		x, err := config.DecodeExtras([]byte(body))
		if err != nil || time.Duration(x.SessionDuration) != want {
			t.Errorf("%s: %v %v", body, x, err)
		}
	}
	for body, text := range map[string]string{
		`{"session_duration":"1ms"}`: "1ms is below 1s; the range is 1s to 24h0m0s",
		`{"session_duration":"25h"}`: "above 24h",
		`{"session_duration":"-5s"}`: "-5s is below 1s",
		`{"session_duration":90}`:    `must be a duration such as "90s", not a number (90)`,
		`{"session_duration":"90"}`:  `must be a duration such as "90s" or "5m", not "90"`,
		`{"session":"90s"}`:          "not a known field",
		`[]`:                         "must be an object",
		`{`:                          "not valid JSON",
	} {
		_, err := config.DecodeExtras([]byte(body))
		if list := faults(t, err); len(list) != 1 || !strings.Contains(list[0].Error(), text) {
			t.Errorf("%s: %v", body, list)
		}
	}
	old := anteroom.Extras{SessionDuration: anteroom.Duration(time.Minute)}
	if x, err := config.PatchExtras(old, []byte(`{}`)); err != nil || x != old {
		t.Errorf("an empty patch gives %v %v", x, err)
	}
	if err := config.ValidateExtras(&anteroom.Extras{SessionDuration: 1}); err == nil {
		t.Error("a session of 1 ns is accepted")
	}
}

// TestReplaceByItsOwnForm: a full replace by what the API shows changes nothing, for any room.
func TestReplaceByItsOwnForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		room := drawRoom(t, 0)
		body, err := json.Marshal(room)
		if err != nil {
			t.Fatal(err)
		}
		again, err := config.DecodeRoom(body, config.Checks{})
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if !reflect.DeepEqual(again, room) {
			t.Fatalf("got  %+v\nwant %+v", again, room)
		}
	})
}

// drawRoom makes a valid room; n keeps the names and routes of several apart.
func drawRoom(t *rapid.T, n int) anteroom.Room {
	room := config.Defaults()
	room.Name = fmt.Sprintf("room-%d_%s", n, rapid.StringMatching(`[A-Za-z0-9_-]{0,20}`).Draw(t, "name"))
	room.Host = fmt.Sprintf("h%d.example.com", n)
	room.Path = rapid.StringMatching(`(/[a-zA-Z0-9_~-]{1,8}){1,4}`).Draw(t, "path")
	room.TotalActiveUsers = rapid.IntRange(anteroom.LimitMin, anteroom.LimitMax).Draw(t, "total")
	room.NewUsersPerMinute = rapid.IntRange(anteroom.LimitMin, room.TotalActiveUsers).Draw(t, "rate")
	room.SessionDuration = rapid.IntRange(1, 30).Draw(t, "session")
	room.Suspended, room.QueueAll = rapid.Bool().Draw(t, "suspended"), rapid.Bool().Draw(t, "queue all")
	room.QueueingMethod = rapid.SampledFrom(anteroom.Methods()).Draw(t, "method")
	room.QueueingStatusCode = rapid.SampledFrom([]int{200, 202, 429}).Draw(t, "status")
	room.Description = rapid.StringN(0, 200, 4096).Draw(t, "description")
	room.CustomPageHTML = rapid.StringN(0, 500, -1).Draw(t, "page")
	room.DefaultTemplateLanguage = rapid.SampledFrom(config.Languages()).Draw(t, "language")
	room.CookieSuffix = rapid.StringMatching(`[a-zA-Z0-9_-]{1,20}`).Draw(t, "suffix")
	for i := range rapid.IntRange(0, 3).Draw(t, "routes") {
		room.AdditionalRoutes = append(room.AdditionalRoutes, anteroom.Route{Host: fmt.Sprintf("r%d-%d.example", n, i), Path: "/"})
	}
	return room
}
