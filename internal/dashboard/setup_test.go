package dashboard_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/dashboard"
	"github.com/anteroom/anteroom/internal/queue"
)

const goodToken = "tok-0123456789"

// world is a dashboard over rooms that the test changes at will.
type world struct {
	t    *testing.T
	dash *dashboard.Dashboard
	logs *bytes.Buffer

	mu    sync.Mutex
	rooms []dashboard.Room // guarded by mu
	token string           // guarded by mu; the one that is in force
}

func setup(t *testing.T, rooms ...dashboard.Room) *world {
	t.Helper()
	w := &world{t: t, rooms: rooms, token: goodToken, logs: &bytes.Buffer{}}
	w.dash = dashboard.New(dashboard.Options{
		Rooms:      w.list,
		Auth:       w,
		Log:        slog.New(slog.NewTextHandler(w.logs, nil)),
		VisitorURL: "http://127.0.0.1:8080",
		RoomsURL:   "http://127.0.0.1:8081/client/v4/zones/Z/waiting_rooms",
	})
	return w
}

func (w *world) list() []dashboard.Room {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]dashboard.Room(nil), w.rooms...)
}

func (w *world) Valid(token string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return token == w.token
}

func (w *world) set(rooms ...dashboard.Room) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rooms = rooms
}

func (w *world) revoke() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.token = "another"
}

// do sends one request; a nil cookie is a stranger.
func (w *world) do(r *http.Request, cookie *http.Cookie) *http.Response {
	w.t.Helper()
	if cookie != nil {
		r.AddCookie(cookie)
	}
	rec := httptest.NewRecorder()
	w.dash.ServeHTTP(rec, r)
	return rec.Result()
}

func (w *world) get(path string, cookie *http.Cookie) *http.Response {
	w.t.Helper()
	return w.do(httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, path, nil), cookie)
}

func (w *world) post(path string, form url.Values, cookie *http.Cookie) *http.Response {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return w.do(r, cookie)
}

// signIn opens the ready link and gives the session's cookie.
func (w *world) signIn() *http.Cookie {
	w.t.Helper()
	answer := w.get("/?token="+goodToken, nil)
	for _, c := range answer.Cookies() {
		return c
	}
	w.t.Fatalf("the ready link set no cookie: status %d", answer.StatusCode)
	return nil
}

// text is a page's body.
func text(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func wantHas(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(page, part) {
			t.Errorf("%q is missing in:\n%s", part, page)
		}
	}
}

func wantStatus(t *testing.T, r *http.Response, status int) {
	t.Helper()
	if r.StatusCode != status {
		t.Errorf("status %d, want %d", r.StatusCode, status)
	}
}

// room is a queueing room with plain numbers.
func room(id, name string) dashboard.Room {
	return dashboard.Room{
		Config: anteroom.Room{
			ID: id, Name: name, Host: name + ".example.com", Path: "/", QueueingMethod: anteroom.FIFO,
			TotalActiveUsers: 1200, NewUsersPerMinute: 600, SessionDuration: 5,
		},
		Status: queue.Status{
			State: queue.Queueing, Active: 1200, Waiting: 3456, AdmittedMinute: 580, OldestWait: 95 * time.Second,
			Longest: queue.Estimate{Known: true, Low: time.Minute, Middle: 345 * time.Second, High: 20 * time.Minute},
		},
	}
}
