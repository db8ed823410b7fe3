package edge_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/edge"
)

// node starts a whole node on loopback in front of an origin that says "origin", with one full room for
// the host shop.test.
func node(t *testing.T, trusted ...netip.Prefix) string {
	t.Helper()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "origin")
	}))
	t.Cleanup(origin.Close)
	u, err := url.Parse(origin.URL)
	if err != nil {
		t.Fatal(err)
	}
	room := config.Defaults()
	room.Name, room.Host, room.TotalActiveUsers, room.NewUsersPerMinute, room.QueueAll = "shop", "shop.test", 1, 1, true
	n, err := edge.New(t.Context(), edge.Options{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", Data: t.TempDir(), Origin: u, TrustedProxies: trusted,
		Quick: &edge.QuickRoom{Room: room}, Logger: slog.New(slog.DiscardHandler), StopTimeout: 2 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	n.Start()
	t.Cleanup(func() {
		if err := n.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return "http://" + n.VisitorAddr().String()
}

// TestNoHeaderWalksAroundARoom sends what could make gate and origin see different requests.
func TestNoHeaderWalksAroundARoom(t *testing.T) {
	t.Parallel()
	base := node(t, netip.MustParsePrefix("127.0.0.0/8"))
	for _, c := range []struct{ name, method, path, host, header, value string }{
		{"Plain", "GET", "/", "shop.test", "", ""},
		{"ForwardedHost", "GET", "/", "shop.test", "X-Forwarded-Host", "other.test"},
		{"Forwarded", "GET", "/", "shop.test", "Forwarded", "for=1.1.1.1;host=other.test"},
		{"PublicHostOfTheRoom", "GET", "/", "inner.test", "X-Forwarded-Host", "shop.test"},
		{"OriginalURL", "GET", "/", "shop.test", "X-Original-Url", "/open"},
		{"Put", "PUT", "/", "shop.test", "Accept", "*/*"},
		{"Trace", "TRACE", "/", "shop.test", "", ""},
		{"PreflightWithOverride", "OPTIONS", "/", "shop.test", "X-Http-Method-Override", "POST"},
		{"Upgrade", "GET", "/", "shop.test", "Upgrade", "websocket"},
		{"Prefetch", "GET", "/", "shop.test", "Sec-Purpose", "prefetch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), c.method, base+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = c.host
			if c.header != "" {
				r.Header.Set(c.header, c.value)
			}
			if c.method == http.MethodOptions {
				r.Header.Set("Origin", "https://a.test")
				r.Header.Set("Access-Control-Request-Method", "POST")
			}
			resp, err := (&http.Transport{}).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if string(body) == "origin" {
				t.Error("the request reached the origin of a room that admits nobody")
			}
			if page := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"); page && c.method != http.MethodGet && resp.StatusCode == http.StatusOK {
				t.Errorf("%s got a page with status 200", c.method)
			}
		})
	}
}

// TestReservedPathIsRefused: a room that the gate could not put in force is told to its author.
func TestReservedPathIsRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/.anteroom", "/.anteroom/x", "/%2eanteroom/x"} {
		room := config.Defaults()
		room.Name, room.Host, room.Path, room.TotalActiveUsers, room.NewUsersPerMinute = "a", "a.test", path, 1, 1
		err := config.ValidateRoom(&room, edge.Checks())
		if err == nil || !strings.Contains(err.Error(), anteroom.ReservedPath) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
