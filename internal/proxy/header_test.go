package proxy_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anteroom/anteroom/internal/proxy"
)

// folded gives the values that an origin which folds '-', '_' and '.' would see under a name.
func folded(head, name string) []string {
	fold := func(s string) string {
		return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(s))
	}
	var values []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if n, v, ok := strings.Cut(line, ":"); ok && fold(n) == fold(name) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}

func visitShop(http.ResponseWriter, *http.Request) proxy.Visit {
	return proxy.Visit{Room: "shop", Ticket: "0123abcd", StripCookies: []string{"own"}}
}

func TestOwnedFieldsAreOursAlone(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, func(o *proxy.Options) { o.CookiePrefix = "__anteroom" }, visitShop)
	owned := map[string][]string{
		"Anteroom-Room": {"shop"}, "Anteroom-Ticket": {"0123abcd"}, "Anteroom-Else": nil,
		"X-Forwarded-For": {"127.0.0.1"}, "X-Forwarded-Host": {"shop.test"}, "X-Forwarded-Proto": {"http"},
		"X-Forwarded-Port": nil, "X-Forwarded-Prefix": nil, "X-Real-IP": {"127.0.0.1"}, "True-Client-IP": nil,
		"CF-Connecting-IP": nil, "Forwarded": {"for=127.0.0.1;host=shop.test;proto=http"}, "Proxy": nil,
		"Transfer-Encoding": nil, "Content-Length": nil, "X-Original-URL": nil,
	}
	for name, want := range owned {
		for _, spelling := range []string{
			name, strings.ToLower(name), strings.ToUpper(name), strings.ReplaceAll(name, "-", "_"),
			strings.ReplaceAll(name, "-", "."), strings.Replace(name, "-", "_", 1),
		} {
			if strings.EqualFold(spelling, "Transfer-Encoding") || strings.EqualFold(spelling, "Content-Length") {
				continue // as such they are framing, which has tests of its own
			}
			w.raw(fmt.Sprintf("GET / HTTP/1.1\r\nHost: shop.test\r\n%[1]s: forged\r\n%[1]s: 6.6.6.6\r\nConnection: close, %[1]s\r\n\r\n", spelling))
			if got := folded(rec.one(t), name); !slices.Equal(got, want) {
				t.Errorf("%s: the origin reads %q, want %q", spelling, got, want)
			}
		}
	}
}

func TestOwnFieldsCannotBeDroppedByConnection(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, nil, visitShop)
	w.raw("GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: Anteroom-Room, X-Forwarded-For, X-Hop , keep-alive\r\nX-Hop: 1\r\nX-End: 2\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nTE: trailers, deflate\r\n\r\n")
	head := rec.one(t)
	for name, want := range map[string][]string{
		"Anteroom-Room": {"shop"}, "X-Forwarded-For": {"127.0.0.1"}, "X-Hop": nil, "X-End": {"2"}, "Connection": nil,
		"Keep-Alive": nil, "Proxy-Connection": nil, "Te": {"trailers"}, "User-Agent": nil, "Accept-Encoding": nil,
	} {
		if got := field(head, name); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestNoRoomSendsNoRoomFields(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, nil, nil)
	w.raw("GET / HTTP/1.1\r\nHost: shop.test\r\nAnteroom-Room: forged\r\n\r\n")
	if head := rec.one(t); strings.Contains(strings.ToLower(head), "anteroom") {
		t.Errorf("the origin got %q", head)
	}
}

func TestTrustedPeersAreBelieved(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, func(o *proxy.Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}, nil)
	w.raw("GET / HTTP/1.1\r\nHost: inner.test\r\nX-Forwarded-For: 6.6.6.6, 2001:db8::7, 127.9.9.9\r\n" +
		"X-Forwarded-Proto: https\r\nX-Forwarded-Host: shop.test:8443\r\nX-Forwarded-Port: 8443\r\nCF-Connecting-IP: 2001:db8::7\r\n\r\n")
	head := rec.one(t)
	for name, want := range map[string]string{
		"X-Forwarded-For": "2001:db8::7, 127.9.9.9, 127.0.0.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.test:8443",
		"X-Forwarded-Port": "8443", "Cf-Connecting-Ip": "2001:db8::7", "X-Real-Ip": "2001:db8::7", "Host": "inner.test",
		"Forwarded": `for="[2001:db8::7]";host="shop.test:8443";proto=https, for=127.9.9.9, for=127.0.0.1`,
	} {
		if got := field(head, name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestGateMayHandOverTheClient(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	trust := proxy.NewTrust([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	w := startWorld(t, h1, rec.url, nil, func(_ http.ResponseWriter, r *http.Request) proxy.Visit { return proxy.Visit{Client: trust.Client(r)} })
	w.raw("GET / HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: 192.0.2.9\r\n\r\n")
	if got := field(rec.one(t), "X-Real-Ip"); !slices.Equal(got, []string{"192.0.2.9"}) {
		t.Errorf("X-Real-Ip is %q, want what the gate handed over", got)
	}
}

func TestHostIsForwardedAsSent(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, nil, nil)
	for _, host := range []string{"a.test", "a.test:80", "a.test:8443", "[::1]:8080", "a.test:", "A.TEST", "a.test.", "xn--bcher-kva.test"} {
		w.raw("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		if got := field(rec.one(t), "Host"); !slices.Equal(got, []string{host}) {
			t.Errorf("Host %q arrived as %q", host, got)
		}
	}
}

func TestCookiesOfTheGateAreStripped(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, func(o *proxy.Options) { o.CookiePrefix = "__anteroom" }, visitShop)
	w.raw("GET / HTTP/1.1\r\nHost: shop.test\r\nCookie: a=\"x, {y}; __anteroom=s; own=t; b\r\nCookie: __anteroom_q=1\r\n\r\n")
	if got := field(rec.one(t), "Cookie"); !slices.Equal(got, []string{`a="x, {y}; b`}) {
		t.Errorf("cookies arrived as %q", got)
	}
}

func TestAnswerHeaders(t *testing.T) {
	t.Parallel()
	origin := startOrigin(t, h1, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Set-Cookie", "origin=1")
		h.Set("Alt-Svc", `h3="other:443"`)
		h.Set("Connection", "X-Hop")
		h.Set("X-Hop", "1")
		h.Set("Keep-Alive", "timeout=1")
		h["Content-Type"] = nil
		_, _ = w.Write([]byte("<html>"))
	}))
	var status atomic.Int64
	w := startWorld(t, h1, origin, nil, func(rw http.ResponseWriter, _ *http.Request) proxy.Visit {
		rw.Header().Add("Set-Cookie", "gate=1")
		return proxy.Visit{Answer: func(code int, h http.Header) { status.Store(int64(code)); h.Set("X-Seen", "1") }}
	})
	res, _ := w.get("/")
	if status.Load() != http.StatusOK || res.Header.Get("X-Seen") != "1" {
		t.Errorf("the gate saw status %d and its field is %q", status.Load(), res.Header.Get("X-Seen"))
	}
	if got := res.Header["Set-Cookie"]; !slices.Equal(got, []string{"gate=1", "origin=1"}) {
		t.Errorf("cookies are %q", got)
	}
	for _, name := range []string{"Alt-Svc", "X-Hop", "Keep-Alive", "Content-Type"} {
		if got, ok := res.Header[name]; ok {
			t.Errorf("%s is %q, want none", name, got)
		}
	}
}

func TestEarlyHintsPassAndKeepTheGatesFields(t *testing.T) {
	t.Parallel()
	for _, front := range []version{h1, h2} {
		t.Run(string(front), func(t *testing.T) {
			t.Parallel()
			origin := startOrigin(t, h1, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Link", "</a.css>; rel=preload")
				w.WriteHeader(http.StatusEarlyHints)
				w.Header().Del("Link")
				w.WriteHeader(http.StatusNoContent)
			}))
			hints := make(chan string, 4)
			w := startWorld(t, front, origin, nil, func(rw http.ResponseWriter, _ *http.Request) proxy.Visit {
				rw.Header().Add("Set-Cookie", "gate=1")
				return proxy.Visit{}
			})
			r := w.request(http.MethodGet, "/", nil)
			r = r.WithContext(traceInterim(r.Context(), func(code int, h http.Header) {
				hints <- fmt.Sprint(code, h.Get("Link"), h.Get("Set-Cookie"))
			}))
			res, _ := w.do(r)
			if got := <-hints; got != "103</a.css>; rel=preload" || res.StatusCode != http.StatusNoContent ||
				res.Header.Get("Link") != "" || res.Header.Get("Set-Cookie") != "gate=1" {
				t.Errorf("hint %q, then %d with %q", got, res.StatusCode, res.Header)
			}
		})
	}
}

func TestMethodsThatAreRefused(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, nil, nil)
	for _, request := range []string{
		"CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\r\n",
		"TRACE / HTTP/1.1\r\nHost: shop.test\r\n\r\n",
	} {
		if res := w.raw(request); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") == "" {
			t.Errorf("%q: status %d, Allow %q", request, res.StatusCode, res.Header.Get("Allow"))
		}
	}
	if heads := rec.take(); len(heads) != 0 {
		t.Errorf("the origin saw %q", heads)
	}
	w.raw("FOO1 / HTTP/1.1\r\nHost: shop.test\r\n\r\n")
	if head := rec.one(t); !strings.HasPrefix(head, "FOO1 / HTTP/1.1\r\n") {
		t.Errorf("an unknown method arrived as %q", head)
	}
}
