package waitingroom_test

import (
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/waitingroom"
)

func TestCrossOriginAnswersAreReadable(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"https://app.test", "http://localhost:3000", "https://xn--bcher-kva.test:8443", "http://[::1]:8080"} {
		for kind := waitingroom.Navigation; kind <= waitingroom.WaitEndpoint; kind++ {
			if kind == waitingroom.Preflight {
				continue
			}
			a := decide(t, gate(t, &rooms{answer: scene("Full")}, config()), request(as(kind), func(r *waitingroom.Request) { r.Origin = origin }))
			if value(a, "Access-Control-Allow-Origin") != origin || value(a, "Access-Control-Allow-Credentials") != "true" {
				t.Errorf("%v from %s: %v", kind, origin, a.Headers)
			}
			exposed := value(a, "Access-Control-Expose-Headers")
			for _, name := range []string{"Retry-After", "Refresh", "Anteroom-State"} {
				if !strings.Contains(exposed, name) {
					t.Errorf("%v: %s is not exposed: %q", kind, name, exposed)
				}
			}
			if !strings.Contains(value(a, "Vary"), "Origin") {
				t.Errorf("%v: Vary %q", kind, value(a, "Vary"))
			}
		}
	}
}

func TestOnlyOriginsOfTheWebAreEchoed(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{
		"", "null", "*", "app.test", "https://", "ftp://app.test", "https://app.test/path", "https://a.test,https://b.test",
		"https://a.test\r\nX: y", "https://a.test\x00", "https://a test", "https://ä.test", "HTTPS://app.test", "https://" + strings.Repeat("a", 300),
	} {
		a := decide(t, gate(t, &rooms{answer: scene("Full")}, config()), request(as(waitingroom.Background), func(r *waitingroom.Request) { r.Origin = origin }))
		for _, h := range a.Headers {
			if strings.HasPrefix(h.Name, "Access-Control-") {
				t.Errorf("%q: %s: %s", origin, h.Name, h.Value)
			}
		}
	}
}

// TestPreflights: the origin consents for its own paths, the gate for its own.
func TestPreflights(t *testing.T) {
	t.Parallel()
	coordinator := &rooms{answer: scene("Full")}
	g := gate(t, coordinator, config())
	a := decide(t, g, request(as(waitingroom.Preflight), holds(t, place())))
	if a.Action != waitingroom.Pass || len(a.Cookie) > 0 || len(a.Headers) > 0 {
		t.Errorf("%+v", a)
	}
	a = decide(t, g, request(as(waitingroom.WaitEndpoint), func(r *waitingroom.Request) {
		r.Method, r.Origin, r.PreflightMethod = "OPTIONS", "https://app.test", "GET"
	}))
	if a.Status != 204 || value(a, "Access-Control-Allow-Origin") != "https://app.test" || !strings.Contains(value(a, "Access-Control-Allow-Methods"), "GET") || len(a.Body) > 0 {
		t.Errorf("%d %v", a.Status, a.Headers)
	}
	a = decide(t, g, request(as(waitingroom.WaitEndpoint), func(r *waitingroom.Request) {
		r.Method, r.Origin, r.PreflightMethod = "OPTIONS", "null", "GET"
	}))
	if a.Status != 204 || value(a, "Access-Control-Allow-Methods") != "" {
		t.Errorf("%d %v", a.Status, a.Headers)
	}
	if coordinator.purposes() != "" {
		t.Errorf("a preflight asked to %s", coordinator.purposes())
	}
}
