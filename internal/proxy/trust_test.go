package proxy_test

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/proxy"
)

func TestClient(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("::ffff:192.168.0.0/112")}
	type want struct{ addr, scheme, host string }
	for name, c := range map[string]struct {
		peer   string
		secure bool
		header string // "Name: value" lines
		want   want
	}{
		"PlainPeer":               {"192.0.2.1:5", false, "", want{"192.0.2.1", "http", "shop.test"}},
		"SecurePeer":              {"192.0.2.1:5", true, "", want{"192.0.2.1", "https", "shop.test"}},
		"IPv6PeerWithZone":        {"[fe80::1%lo]:5", false, "", want{"fe80::1", "http", "shop.test"}},
		"MappedPeer":              {"[::ffff:192.0.2.1]:5", false, "", want{"192.0.2.1", "http", "shop.test"}},
		"UnixPeer":                {"@", false, "X-Forwarded-For: 192.0.2.7", want{"", "http", "shop.test"}},
		"UntrustedPeerIsNotHeard": {"192.0.2.1:5", false, "X-Forwarded-For: 198.51.100.1\nForwarded: for=198.51.100.1;proto=https\nX-Forwarded-Proto: https\nX-Forwarded-Host: evil.test", want{"192.0.2.1", "http", "shop.test"}},
		"TrustedPeer":             {"10.0.0.1:5", false, "X-Forwarded-For: 192.0.2.7\nX-Forwarded-Proto: https\nX-Forwarded-Host: www.shop.test:444", want{"192.0.2.7", "https", "www.shop.test:444"}},
		"TrustedMappedPrefix":     {"192.168.3.4:5", false, "X-Forwarded-For: 192.0.2.7", want{"192.0.2.7", "http", "shop.test"}},
		"TrustedWithoutField":     {"10.0.0.1:5", true, "", want{"10.0.0.1", "https", "shop.test"}},
		"RightMostUntrusted":      {"10.0.0.1:5", false, "X-Forwarded-For: 6.6.6.6, 192.0.2.7, 10.2.2.2, fd00::5", want{"192.0.2.7", "http", "shop.test"}},
		"SeveralLines":            {"10.0.0.1:5", false, "X-Forwarded-For: 6.6.6.6\nX-Forwarded-For: 192.0.2.7,10.2.2.2", want{"192.0.2.7", "http", "shop.test"}},
		"AllTrusted":              {"10.0.0.1:5", false, "X-Forwarded-For: 10.3.3.3, 10.2.2.2", want{"10.3.3.3", "http", "shop.test"}},
		"PortsAndBrackets":        {"10.0.0.1:5", false, "X-Forwarded-For: [2001:db8::7]:99, 10.2.2.2:77", want{"2001:db8::7", "http", "shop.test"}},
		"BareIPv6":                {"10.0.0.1:5", false, "X-Forwarded-For: 2001:db8::7", want{"2001:db8::7", "http", "shop.test"}},
		"GarbageStops":            {"10.0.0.1:5", false, "X-Forwarded-For: 192.0.2.7, <script>, 10.2.2.2", want{"10.2.2.2", "http", "shop.test"}},
		"UnknownStops":            {"10.0.0.1:5", false, "Forwarded: for=192.0.2.7, for=unknown", want{"10.0.0.1", "http", "shop.test"}},
		"EmptyElementStops":       {"10.0.0.1:5", false, "X-Forwarded-For: 192.0.2.7, ", want{"10.0.0.1", "http", "shop.test"}},
		"Forwarded":               {"10.0.0.1:5", false, `Forwarded: for=6.6.6.6;proto=http, For="[2001:db8::7]:4711" ; Proto=HTTPS;host="a.test:8443", for=10.2.2.2;by=10.9.9.9`, want{"2001:db8::7", "https", "a.test:8443"}},
		"ForwardedBrokenLine":     {"10.0.0.1:5", false, `Forwarded: for="192.0.2.7`, want{"10.0.0.1", "http", "shop.test"}},
		"ForwardedForGoesFirst":   {"10.0.0.1:5", false, "X-Forwarded-For: 192.0.2.7\nForwarded: for=6.6.6.6", want{"192.0.2.7", "http", "shop.test"}},
		"ProtoList":               {"10.0.0.1:5", false, "X-Forwarded-Proto: https, http", want{"10.0.0.1", "http", "shop.test"}},
		"ProtoGarbage":            {"10.0.0.1:5", true, "X-Forwarded-Proto: gopher", want{"10.0.0.1", "https", "shop.test"}},
		"HostGarbage":             {"10.0.0.1:5", false, "X-Forwarded-Host: a b\"c", want{"10.0.0.1", "http", "shop.test"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://shop.test/", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.RemoteAddr = c.peer
			if c.secure {
				r.TLS = &tls.ConnectionState{}
			}
			for line := range strings.SplitSeq(c.header, "\n") {
				if name, value, ok := strings.Cut(line, ": "); ok {
					r.Header.Add(name, value)
				}
			}
			got := proxy.NewTrust(trusted).Client(r)
			addr := ""
			if got.Addr.IsValid() {
				addr = got.Addr.String()
			}
			if (want{addr, got.Scheme, got.Host}) != c.want {
				t.Errorf("got %s %s %s, want %+v", addr, got.Scheme, got.Host, c.want)
			}
		})
	}
}

func TestZeroTrustTrustsNobody(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://shop.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("X-Forwarded-For", "192.0.2.7")
	if got := (proxy.Trust{}).Client(r).Addr.String(); got != "127.0.0.1" {
		t.Errorf("client is %s, want the peer", got)
	}
}

func FuzzForwarded(f *testing.F) {
	f.Add("for=192.0.2.7;proto=https;host=a.test", "192.0.2.1, 10.0.0.1")
	f.Add(`for="[2001:db8::1]:80", for=_x;by="a\"b"`, "[::1]:80,,")
	f.Add(`for=";`, "unknown")
	everyone := proxy.NewTrust([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	f.Fuzz(func(t *testing.T, forwarded, xff string) {
		for _, header := range []http.Header{{"Forwarded": {forwarded}}, {"X-Forwarded-For": {xff}}, {"Forwarded": {forwarded, xff}}} {
			r := &http.Request{RemoteAddr: "10.0.0.1:1", Host: "shop.test", Header: header}
			c := everyone.Client(r)
			if !c.Addr.IsValid() || c.Addr.Zone() != "" || c.Addr.Is4In6() {
				t.Errorf("%q: address %v", header, c.Addr)
			}
			if c.Scheme != "http" && c.Scheme != "https" {
				t.Errorf("%q: scheme %q", header, c.Scheme)
			}
			if strings.ContainsAny(c.Host, "\"\\ \r\n,;") {
				t.Errorf("%q: host %q", header, c.Host)
			}
		}
	})
}
