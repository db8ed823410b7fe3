package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/api"
)

// FuzzJSON sends any body to every endpoint that takes one: the answer is always an envelope, never
// our fault, and a room that was accepted can be read and written back without a change.
func FuzzJSON(f *testing.F) {
	for body := range invalid() {
		f.Add([]byte(body))
	}
	f.Add([]byte(minimal("shop", "")))
	f.Add([]byte(`{"session_duration":"90s"}`))
	s := serve(f)
	target := s.create(f, "target", "")
	handler := api.New(api.Options{Config: s.store, Rooms: s.rooms, Auth: api.NewAuthenticator(token)})
	f.Fuzz(func(t *testing.T, body []byte) {
		do := func(method, path, body string) (int, json.RawMessage) {
			r := httptest.NewRequestWithContext(t.Context(), method, api.Base+path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			var a answer
			if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || a.Success == nil || *a.Success != (w.Code == http.StatusOK) || w.Code >= 500 {
				t.Fatalf("%s %s with %q: %d %s", method, path, body, w.Code, w.Body)
			}
			return w.Code, a.Result
		}
		do(http.MethodPut, target+"/extras", string(body))
		do(http.MethodPatch, target+"/extras", string(body))
		do(http.MethodPatch, target, string(body))
		if code, room := do(http.MethodPut, target, string(body)); code == http.StatusOK {
			if code, again := do(http.MethodPut, target, string(room)); code != http.StatusOK || string(again) != string(room) {
				t.Fatalf("%s came back as %s", room, again)
			}
		}
		do(http.MethodPost, s.zones+"?dry_run=true", string(body))
		do(http.MethodPut, target, minimal("target", ""))
	})
}
