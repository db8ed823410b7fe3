package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/api"
	"github.com/anteroom/anteroom/internal/bus"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rooms stands for the coordinators.
type rooms struct {
	mu     sync.Mutex
	status map[string]queue.Status
	err    error
	ended  []string
	draws  draws
}

func (r *rooms) Status(_ context.Context, id string) (queue.Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status[id], r.err
}

func (r *rooms) set(id string, status queue.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status[id] = status
}

func (r *rooms) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *rooms) EndSession(_ context.Context, room string, id queue.ID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, room+" "+id.String())
	return r.err
}

// log is what a server logs.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

const token = "a-token-of-the-tests"

// server is the API over a real store on a real bus.
type server struct {
	url    string // with the base path
	admin  string // without
	zone   string
	zones  string // path of the rooms of the zone
	store  *store.Store
	bus    *bus.Bus
	rooms  *rooms
	log    *log
	client *http.Client
}

func serve(t testing.TB) *server {
	t.Helper()
	return serveIn(t, t.TempDir(), nil)
}

// serveIn uses a data directory; wrap may put something between API and store.
func serveIn(t testing.TB, dir string, wrap func(api.Configuration) api.Configuration) *server {
	t.Helper()
	b, err := bus.Open(t.Context(), bus.Options{Dir: dir})
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	s := &server{bus: b, rooms: &rooms{status: map[string]queue.Status{}}, log: &log{}}
	s.store, err = store.Open(t.Context(), store.Options{JetStream: b.JetStream(), Dir: dir})
	must(t, err)
	t.Cleanup(func() { must(t, s.store.Close()) })
	var configuration api.Configuration = s.store
	if wrap != nil {
		configuration = wrap(configuration)
	}
	listener := httptest.NewServer(api.New(api.Options{
		Config: configuration, Rooms: s.rooms, Auth: api.NewAuthenticator("another", token), Checks: checks(),
		Logger: slog.New(slog.NewTextHandler(s.log, nil)),
	}))
	t.Cleanup(listener.Close)
	s.client, s.admin, s.url = listener.Client(), listener.URL, listener.URL+api.Base
	s.zone = s.store.Snapshot().Zones[0].ID
	s.zones = "/zones/" + s.zone + "/waiting_rooms"
	return s
}

// stop ends store and bus as a stop of the node does.
func (s *server) stop(t testing.TB) {
	t.Helper()
	must(t, errors.Join(s.store.Close(), s.bus.Close()))
}

// checks knows one broken template, as the page package would report it.
func checks() config.Checks {
	return config.Checks{Template: func(source, _ string) error {
		if strings.Contains(source, "{{#") && !strings.Contains(source, "{{/") {
			return anteroom.Errorf(anteroom.CodeInvalid, "line 1, column 4: the section is not closed").WithHint("close it")
		}
		return nil
	}}
}

// answer is an answer of the API.
type answer struct {
	status int
	header http.Header
	raw    []byte

	Success *bool `json:"success"`
	Errors  []struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Source  struct {
			Pointer string `json:"pointer"`
		} `json:"source"`
	} `json:"errors"`
	Messages []json.RawMessage `json:"messages"`
	Result   json.RawMessage   `json:"result"`
	Info     *struct {
		Page       int `json:"page"`
		PerPage    int `json:"per_page"`
		Count      int `json:"count"`
		TotalCount int `json:"total_count"`
		TotalPages int `json:"total_pages"`
	} `json:"result_info"`
}

// do makes one request; headers are pairs of name and value.
func (s *server) do(t testing.TB, method, path, body string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.client.Do(request)
	must(t, err)
	data, err := io.ReadAll(response.Body)
	must(t, errors.Join(err, response.Body.Close()))
	a := answer{status: response.StatusCode, header: response.Header, raw: data}
	if method == http.MethodHead || response.StatusCode == http.StatusNotModified {
		return a
	}
	if err := json.Unmarshal(data, &a); err != nil {
		t.Fatalf("%s %s: no envelope: %q", method, path, data)
	}
	if a.Success == nil || *a.Success != (a.status == http.StatusOK) || a.Errors == nil || a.Messages == nil {
		t.Fatalf("%s %s: status %d with %s", method, path, a.status, data)
	}
	if *a.Success != (len(a.Errors) == 0) || !*a.Success && string(a.Result) != "null" {
		t.Fatalf("%s %s: %s", method, path, data)
	}
	return a
}

// good makes a request that must succeed.
func (s *server) good(t testing.TB, method, path, body string, headers ...string) answer {
	t.Helper()
	a := s.do(t, method, path, body, headers...)
	if a.status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, a.status, a.raw)
	}
	return a
}

// fault is how a request fails: its HTTP status and the code of its first error.
type fault struct{ status, code int }

// bad makes a request that must fail in this way.
func (s *server) bad(t testing.TB, want fault, method, path, body string, headers ...string) answer {
	t.Helper()
	a := s.do(t, method, path, body, headers...)
	if a.status != want.status || len(a.Errors) == 0 || a.Errors[0].Code != want.code {
		t.Errorf("%s %s: %d %s, want %d with code %d", method, path, a.status, a.raw, want.status, want.code)
	}
	return a
}

// minimal is a room with the required fields alone, and more of them when given.
func minimal(name, more string) string {
	return fmt.Sprintf(`{"name":%q,"host":"%s.example.com","total_active_users":300,"new_users_per_minute":200%s}`, name, name, more)
}

// create makes a room and gives its path.
func (s *server) create(t testing.TB, name, more string) (path string) {
	t.Helper()
	var room anteroom.Room
	must(t, json.Unmarshal(s.good(t, http.MethodPost, s.zones, minimal(name, more)).Result, &room))
	return s.zones + "/" + room.ID
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, c := range map[string]struct {
		header string
		status int
	}{
		"Right":        {"Bearer " + token, 200},
		"OtherRight":   {"Bearer another", 200},
		"AnyCase":      {"bearer " + token, 200},
		"Missing":      {"", 401},
		"Empty":        {"Bearer ", 401},
		"OtherScheme":  {"Basic " + token, 401},
		"Wrong":        {"Bearer wrong", 401},
		"Longer":       {"Bearer " + token + "x", 401},
		"Shorter":      {"Bearer " + token[1:], 401},
		"Two":          {"Bearer " + token + " another", 401},
		"NoScheme":     {token, 401},
		"SpacesAround": {"Bearer   " + token + "  ", 200},
	} {
		for _, path := range []string{"/zones", "/nothing", s.zones + "/settings"} {
			if a := s.do(t, http.MethodGet, path, "", "Authorization", c.header); a.status != c.status && (c.status != 200 || a.status != 404) {
				t.Errorf("%s: %d for %s, want %d", name, a.status, path, c.status)
			} else if c.status != 200 && (a.Errors[0].Code != 10000 || !strings.HasPrefix(a.Errors[0].Message, "Authentication error")) {
				t.Errorf("%s: %s", name, a.raw)
			} else if (c.status == 401) != (a.header.Get("WWW-Authenticate") != "") {
				t.Errorf("%s: WWW-Authenticate is %q", name, a.header.Get("WWW-Authenticate"))
			}
		}
	}
	if _, ok := api.NewAuthenticator("", "x").Check(""); ok {
		t.Error("an empty token is accepted")
	}
	a := s.good(t, http.MethodGet, "/user/tokens/verify", "")
	var verified struct{ ID, Status string }
	must(t, json.Unmarshal(a.Result, &verified))
	if len(verified.ID) != 32 || verified.Status != "active" || strings.Contains(string(a.raw), token) {
		t.Errorf("verified: %s", a.raw)
	}
}

func TestPathsThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	for _, path := range []string{
		"", "/", "/nothing", "//zones", "/./zones", "/x/../zones", "/zones/", "/zones/x", "/zones/x/waiting_rooms", "/zones/x/waiting_rooms/y", "/zones//waiting_rooms",
		"/zones/" + s.zone + "/", "/accounts/x", "/accounts/x/waiting_rooms", s.zones + "/", room + "/", room + "/rules", room + "/events/x/details",
		s.zones + "/settings", s.zones + "/preview", "/zones/%2e%2e/x", "/../client/v4/zones", "/zones/" + strings.ToUpper(s.zone) + "x",
	} {
		a := s.bad(t, fault{404, 7003}, http.MethodGet, path, "")
		if a.header.Get("Content-Type") != "application/json" || a.header.Get("X-Request-Id") == "" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", path, a.header)
		}
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodPost, http.MethodDelete} {
		s.bad(t, fault{404, 7003}, method, s.zones+"/settings", `{"search_engine_crawler_bypass":true}`)
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		a := s.bad(t, fault{404, 1001}, method, s.zones+"/699d98642c564d2e855e9661899b7252", minimal("a", ""))
		if a.Errors[0].Message != "Object not found." {
			t.Errorf("%s: %s", method, a.raw)
		}
		s.bad(t, fault{404, 7003}, method, "/zones/x/waiting_rooms/y", minimal("a", ""))
	}
	for _, path := range []string{"/status", "/extras"} {
		s.bad(t, fault{404, 1001}, http.MethodGet, s.zones+"/x"+path, "")
	}
	s.bad(t, fault{404, 1001}, http.MethodDelete, s.zones+"/x/sessions/"+strings.Repeat("a", 32), "")
}

func TestMethods(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	for path, allow := range map[string]string{
		"/zones":                   "GET, HEAD",
		"/user/tokens/verify":      "GET, HEAD",
		s.zones:                    "GET, HEAD, POST",
		room:                       "DELETE, GET, HEAD, PATCH, PUT",
		room + "/status":           "GET, HEAD",
		room + "/extras":           "GET, HEAD, PATCH, PUT",
		room + "/sessions/aaaaaaa": "DELETE",
	} {
		for _, method := range []string{"TRACE", "OPTIONS", "BREW", http.MethodPost, http.MethodDelete, http.MethodPatch} {
			if strings.Contains(allow, method) {
				continue
			}
			a := s.bad(t, fault{405, 2005}, method, path, "")
			if got := a.header.Get("Allow"); got != allow {
				t.Errorf("%s %s: Allow is %q, want %q", method, path, got, allow)
			}
		}
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	for _, path := range []string{"/zones", s.zones, room, room + "/status", "/nothing"} {
		get, head := s.do(t, http.MethodGet, path, ""), s.do(t, http.MethodHead, path, "")
		if head.status != get.status || len(head.raw) != 0 {
			t.Errorf("%s: HEAD is %d with %q, GET is %d", path, head.status, head.raw, get.status)
		}
		for _, name := range []string{"Content-Length", "Content-Type", "ETag"} {
			if h, g := head.header.Get(name), get.header.Get(name); h != g {
				t.Errorf("%s: %s is %q by HEAD and %q by GET", path, name, h, g)
			}
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	large := `{"name":"` + strings.Repeat("a", 8<<20) + `"}`
	s.bad(t, fault{413, 2002}, http.MethodPost, s.zones, large)
	room := s.create(t, "shop", "")
	for _, method := range []string{http.MethodPut, http.MethodPatch} {
		s.bad(t, fault{413, 2002}, method, room, large)
		s.bad(t, fault{413, 2002}, method, room+"/extras", large)
		s.bad(t, fault{400, 1002}, method, room, "")
		s.bad(t, fault{400, 1002}, method, room, "{")
	}
	// Whatever the content type says, the body is JSON.
	for i, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8", "nonsense"} {
		s.good(t, http.MethodPost, s.zones, minimal(fmt.Sprint("kind", i), ""), "Content-Type", kind)
	}
	// A page of the largest size in its longest spelling is not too large.
	page := strings.Repeat(`\u003c`, anteroom.CustomPageBytesMax)
	s.good(t, http.MethodPatch, room, `{"custom_page_html":"`+page+`"}`)
}

func TestPaging(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for i := range 12 {
		s.create(t, fmt.Sprintf("room%02d", i), "")
	}
	for query, want := range map[string]struct{ first, count, page, perPage, pages int }{
		"":                      {0, 12, 1, 50, 1},
		"?page=1":               {0, 12, 1, 50, 1},
		"?per_page=5":           {0, 5, 1, 5, 3},
		"?per_page=5&page=2":    {5, 5, 2, 5, 3},
		"?per_page=5&page=3":    {10, 2, 3, 5, 3},
		"?per_page=5&page=4":    {0, 0, 4, 5, 3}, // V22
		"?page=99999":           {0, 0, 99999, 50, 1},
		"?per_page=1000":        {0, 12, 1, 1000, 1}, // V15
		"?per_page=&page=":      {0, 12, 1, 50, 1},
		"?unknown=1&order=name": {0, 12, 1, 50, 1},
	} {
		a := s.good(t, http.MethodGet, s.zones+query, "")
		var list []anteroom.Room
		must(t, json.Unmarshal(a.Result, &list))
		if list == nil || len(list) != want.count || a.Info == nil || a.Info.Count != want.count || a.Info.TotalCount != 12 ||
			a.Info.Page != want.page || a.Info.PerPage != want.perPage || a.Info.TotalPages != want.pages {
			t.Errorf("%s: %d rooms, %+v", query, len(list), a.Info)
		}
		for i, room := range list {
			if room.Name != fmt.Sprintf("room%02d", want.first+i) {
				t.Errorf("%s: room %d is %s", query, i, room.Name)
			}
		}
	}
	for query, field := range map[string]string{
		"?per_page=7": "/per_page", "?per_page=0": "/per_page", "?per_page=1005": "/per_page", "?per_page=-5": "/per_page", // V15
		"?per_page=x": "/per_page", "?page=0": "/page", "?page=-1": "/page", "?page=1.5": "/page", "?page=99999999999999999999": "/page",
	} {
		for _, path := range []string{s.zones, "/zones", "/accounts"} {
			if a := s.bad(t, fault{400, 1002}, http.MethodGet, path+query, ""); a.Errors[0].Source.Pointer != field {
				t.Errorf("%s%s: %s", path, query, a.raw)
			}
		}
	}
	if a := s.bad(t, fault{400, 1002}, http.MethodGet, s.zones+"?page=x&per_page=y", ""); len(a.Errors) != 2 {
		t.Errorf("two faults: %s", a.raw)
	}
	page := 0
	for seen := 0; ; {
		page++
		a := s.good(t, http.MethodGet, s.zones+fmt.Sprintf("?per_page=5&page=%d", page), "")
		if seen += a.Info.Count; a.Info.Count == 0 {
			if seen != 12 {
				t.Errorf("the pages have %d rooms", seen)
			}
			break
		}
	}
}

func TestZonesAndAccounts(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "shop", "")
	account := s.store.Snapshot().Accounts[0].ID
	type object struct {
		ID, Name, Status string
		Account          struct{ ID, Name string }
	}
	for path, id := range map[string]string{
		"/zones": s.zone, "/zones?name=default": s.zone, "/zones?account.id=" + account: s.zone, "/zones?name=other": "",
		"/accounts": account, "/accounts?name=other": "", "/zones?account.id=other": "",
	} {
		var list []object
		must(t, json.Unmarshal(s.good(t, http.MethodGet, path, "").Result, &list))
		if id == "" && len(list) != 0 || id != "" && (len(list) != 1 || list[0].ID != id || list[0].Name != "default") {
			t.Errorf("%s: %+v", path, list)
		}
	}
	var zone object
	must(t, json.Unmarshal(s.good(t, http.MethodGet, "/zones/"+s.zone, "").Result, &zone))
	if zone.ID != s.zone || zone.Status != "active" || zone.Account.ID != account || zone.Account.Name != "default" {
		t.Errorf("the zone is %+v", zone)
	}
	s.good(t, http.MethodGet, "/accounts/"+account, "")
	inZone, inAccount := s.good(t, http.MethodGet, s.zones, ""), s.good(t, http.MethodGet, "/accounts/"+account+"/waiting_rooms?per_page=5", "")
	if string(inZone.Result) != string(inAccount.Result) || inAccount.Info.TotalCount != 1 {
		t.Errorf("the account lists %s, the zone %s", inAccount.raw, inZone.raw)
	}
}

// failing is a configuration that does not work.
type failing struct {
	api.Configuration
	err   error
	panic bool
}

func (f failing) CreateRoom(context.Context, string, anteroom.Room, anteroom.Extras) (config.RoomRecord, error) {
	if f.panic {
		panic("a secret in a panic")
	}
	return config.RoomRecord{}, f.err
}

func TestOurFaultsAreLoggedAndNotShown(t *testing.T) {
	t.Parallel()
	secret := errors.New("a secret cause")
	for name, c := range map[string]struct {
		failing
		status, code int
	}{
		"Unknown":     {failing{err: secret}, 500, 2003},
		"Internal":    {failing{err: anteroom.Errorf(anteroom.CodeInternal, "hm: %w", secret)}, 500, 2003},
		"Unavailable": {failing{err: anteroom.Errorf(anteroom.CodeUnavailable, "hm: %w", secret)}, 503, 2004},
		"Panic":       {failing{panic: true}, 500, 2003},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveIn(t, t.TempDir(), func(behind api.Configuration) api.Configuration {
				c.Configuration = behind
				return c.failing
			})
			a := s.bad(t, fault{c.status, c.code}, http.MethodPost, s.zones, minimal("shop", ""))
			id := a.header.Get("X-Request-Id")
			if strings.Contains(string(a.raw), "secret") || !strings.Contains(a.Errors[0].Message, id) {
				t.Errorf("shown: %s", a.raw)
			}
			if text := s.log.String(); !strings.Contains(text, "secret") || !strings.Contains(text, id) {
				t.Errorf("logged: %s", text)
			}
			if (c.status == 503) != (a.header.Get("Retry-After") != "") {
				t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
			}
			s.good(t, http.MethodGet, s.zones, "")
		})
	}
}

func TestChangesAreLogged(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	s.good(t, http.MethodDelete, room, "")
	if text := s.log.String(); !strings.Contains(text, "method=DELETE") || !strings.Contains(text, room) || strings.Contains(text, token) {
		t.Errorf("the log has %s", text)
	}
}
