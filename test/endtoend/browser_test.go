package endtoend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom/test/browser"
)

// call makes one request to the API and gives the result of the envelope.
func (p *program) call(method, path, body string) json.RawMessage {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, p.admin+"/client/v4"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{}
	resp, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	var envelope struct {
		Success bool
		Result  json.RawMessage
	}
	if err = json.Unmarshal(b, &envelope); err != nil || !envelope.Success {
		p.t.Fatalf("%s %s: status %d: %s", method, path, resp.StatusCode, b)
	}
	return envelope.Result
}

// named is an API object of which only the ID matters.
type named struct{ ID string }

// roomPath is the API's path of the only room.
func (p *program) roomPath() string {
	p.t.Helper()
	var zones, rooms []named
	if err := json.Unmarshal(p.call(http.MethodGet, "/zones", ""), &zones); err != nil || len(zones) == 0 {
		p.t.Fatalf("zones %v: %v", zones, err)
	}
	path := "/zones/" + zones[0].ID + "/waiting_rooms"
	if err := json.Unmarshal(p.call(http.MethodGet, path, ""), &rooms); err != nil || len(rooms) != 1 {
		p.t.Fatalf("rooms %v: %v", rooms, err)
	}
	return path + "/" + rooms[0].ID
}

// limit changes both limits of the only room.
func (p *program) limit(path string, n int) {
	p.t.Helper()
	p.call(http.MethodPatch, path, fmt.Sprintf(`{"total_active_users": %d, "new_users_per_minute": %d}`, n, n))
}

// TestBrowserWaitsSeesThePlaceFallAndIsLetIn is the page in a real browser in front of a real site: the
// visitor does nothing but open the address.
func TestBrowserWaitsSeesThePlaceFallAndIsLetIn(t *testing.T) {
	t.Parallel()
	s := newShop(t, time.Minute)
	p := serve(t, s.URL, "--total-active-users", "1", "--new-users-per-minute", "1")
	room := p.roomPath()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	ahead := make([]*visitor, 3)
	for i := range ahead {
		ahead[i] = newVisitor(&http.Transport{}, p.visitors+"/")
		inside, _, err := ahead[i].ask(ctx)
		if err != nil || inside != (i == 0) {
			t.Fatalf("visitor %d: inside %v, %v", i, inside, err)
		}
		if i > 0 {
			wg.Go(func() { ahead[i].visit(ctx, 0, time.Second) })
		}
	}
	chromium, err := browser.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(chromium.Stop)
	tab := chromium.Tab(t)
	tab.Open(p.visitors + "/tickets?row=7")
	for limit, place := range []string{1: "3", 2: "2", 3: "1"} {
		if limit == 0 {
			continue
		}
		p.limit(room, limit)
		tab.WaitFor(`document.getElementById("position").textContent === "` + place + `"`)
	}
	p.limit(room, 4)
	tab.WaitFor(`document.body.innerText.includes("welcome")`)
	if at := tab.Text("location.pathname + location.search"); at != "/tickets?row=7" {
		t.Errorf("the visitor asked for /tickets?row=7 and stands at %s", at)
	}
	if most, strays, distinct := s.counts(); most > 4 || strays > 0 || distinct != 4 {
		t.Errorf("the origin saw at most %d at once, %d in all, %d without a ticket", most, distinct, strays)
	}
}

// TestApplyChangesTheRunningServer: a site file takes effect within a second, twice is once, and a faulty
// file changes nothing.
func TestApplyChangesTheRunningServer(t *testing.T) {
	t.Parallel()
	s := newShop(t, time.Minute)
	p := serve(t, s.URL)
	site := `waiting_rooms:
  - name: closed
    host: 127.0.0.1
    path: /closed
    total_active_users: 5
    new_users_per_minute: 5
    queueing_method: reject
`
	apply := func(text string) (string, int) {
		t.Helper()
		return p.command(text, "apply", "-f", "-", "--server", p.admin, "--token", p.token)
	}
	status := func(path string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.visitors+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "image/png")
		resp, err := (&http.Transport{}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := status("/closed/a"); got != http.StatusOK {
		t.Fatalf("status %d before there is a room", got)
	}
	if out, code := apply(strings.Replace(site, "5", "0", 1)); code != 2 || !strings.Contains(out, "total_active_users") {
		t.Errorf("a faulty file: exit code %d, %s", code, out)
	}
	if got := status("/closed/a"); got != http.StatusOK {
		t.Errorf("status %d after a faulty file", got)
	}
	if out, code := apply(site); code != 0 || !strings.Contains(out, "closed") {
		t.Fatalf("apply: exit code %d, %s", code, out)
	}
	if got := status("/closed/a"); got != http.StatusTooManyRequests {
		t.Errorf("status %d right after apply, the room rejects everyone", got)
	}
	if got := status("/closedness"); got != http.StatusOK {
		t.Errorf("status %d beside the room", got)
	}
	before := p.call(http.MethodGet, p.roomPath(), "")
	if out, code := apply(site); code != 0 {
		t.Errorf("apply again: exit code %d, %s", code, out)
	}
	if after := p.call(http.MethodGet, p.roomPath(), ""); !bytes.Equal(before, after) {
		t.Errorf("applying twice changed\n%s\nto\n%s", before, after)
	}
}
