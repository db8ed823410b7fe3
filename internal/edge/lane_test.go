package edge_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/edge"
)

// visitor is a client on one kept connection, with one cookie.
type visitor struct {
	conn   net.Conn
	in     *bufio.Reader
	cookie string
}

func newVisitor(t *testing.T, address string) *visitor {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return &visitor{conn: c, in: bufio.NewReader(c)}
}

func (v *visitor) get(t *testing.T, path string) (state, body string) {
	t.Helper()
	_, err := fmt.Fprintf(v.conn, "GET %s HTTP/1.1\r\nHost: shop.test\r\nAccept: application/json\r\nCookie: %s\r\n\r\n", path, v.cookie)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(v.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		v.cookie = c.Name + "=" + c.Value
	}
	return resp.Header.Get("Anteroom-State"), string(b)
}

// TestVisitorIsAdmittedOnTheConnectionOfTheWait: polls on the lane, then the turn, and the origin sees
// one visitor more, once.
func TestVisitorIsAdmittedOnTheConnectionOfTheWait(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visits.Add(1)
		_, _ = io.WriteString(w, "origin "+r.Header.Get("Anteroom-Ticket"))
	}))
	t.Cleanup(origin.Close)
	address, err := url.Parse(origin.URL)
	if err != nil {
		t.Fatal(err)
	}
	room := config.Defaults()
	room.Name, room.Host, room.Path = "quick", anteroom.AnyHost, "/"
	room.TotalActiveUsers, room.NewUsersPerMinute, room.JSONResponseEnabled = 1, 60, true
	n, err := edge.New(t.Context(), edge.Options{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", Data: t.TempDir(), Origin: address, Logger: slog.New(slog.DiscardHandler),
		Quick: &edge.QuickRoom{Room: room, Extras: anteroom.Extras{SessionDuration: anteroom.Duration(2 * time.Second)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	n.Start()
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	first, second := newVisitor(t, n.VisitorAddr().String()), newVisitor(t, n.VisitorAddr().String())
	if state, body := first.get(t, "/"); state != "" || !strings.HasPrefix(body, "origin ") {
		t.Fatalf("the first visitor: %q %s", state, body)
	}
	waited, body := 0, ""
	for state := "waiting"; state != ""; waited++ {
		state, body = second.get(t, "/shop")
		time.Sleep(20 * time.Millisecond)
	}
	if waited < 20 || !strings.HasPrefix(body, "origin ") {
		t.Errorf("waited for %d polls, then %s", waited, body)
	}
	if v := visits.Load(); v != 2 {
		t.Errorf("the origin saw %d requests", v)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+n.AdminAddr().String()+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics, _ := io.ReadAll(resp.Body)
	for _, line := range []string{
		`anteroom_room_admitted_total{room="quick"} 2`,
		`anteroom_requests_total{kind="json",outcome="admitted",room="quick"} 2`,
		fmt.Sprintf(`anteroom_requests_total{kind="json",outcome="waiting",room="quick"} %d`, waited-1),
	} {
		if !strings.Contains(string(metrics), line) {
			t.Errorf("no metric %s", line)
		}
	}
}
