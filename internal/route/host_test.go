package route_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/route"
)

func TestCanonicalHost(t *testing.T) {
	t.Parallel()
	for want, hosts := range map[string][]string{
		"a.test": {
			"a.test", "A.TEST", "a.Test", "a.test:80", "a.test:8443", "a.test:", "a.test.", "a.test.:80", "a.test..", " a.test ",
			"A.test.:8443", "%u0061.test", "u@v@a.test", "u:p@a.test:80", "a.test:80:90", "%61.test", "a%2Etest", "a%2etest:80", "ａ.test", "a。test", "a．test：80",
		},
		"xn--bcher-kva.test": {"xn--bcher-kva.test", "XN--BCHER-KVA.TEST:80", "bücher.test", "BÜCHER.test.", "b%C3%BCcher.test:8443", "bu\u0308cher.test"},
		"xn--strae-oqa.test": {"straße.test", "xn--strae-oqa.test"},
		"[::1]":              {"[::1]", "[::1]:8080", "[::1]:", "[::1", "::1", "[0:0:0:0:0:0:0:1]", "[0000::0001]:80"},
		"[fe80::1]":          {"[fe80::1%25lo]:80", "[FE80::1%eth0]", "fe80::1%lo", "[fe80:0::1]"},
		"127.0.0.1":          {"127.0.0.1", "127.0.0.1:8080", "127.0.0.1."},
		"my_host-1.test":     {"my_host-1.test", "MY_HOST-1.test:1"},
		"*":                  {"*"},
		"":                   {"", ":80", ".", " ", "@", "..:80"},
		"!":                  {"!", "[x]", "[X]:80", "[", "[]", "[::x", "a b", "a/b", "a,b", "\xff.test", "a\x00b", "%00", "xn--\u00fc", "％００.test"},
	} {
		for _, host := range hosts {
			if got := route.CanonicalHost(host); got != want {
				t.Errorf("%q: %q, want %q", host, got, want)
			}
		}
	}
}

func TestHostSpellingsHaveOneRoom(t *testing.T) {
	t.Parallel()
	table := compile(t,
		route.Entry{Host: "A.test", Room: 1},
		route.Entry{Host: "bücher.test", Room: 2},
		route.Entry{Host: "::1", Room: 3},
	)
	for want, hosts := range map[int][]string{
		1: {"a.test", "a.test:80", "a.test:8443", "a.test:", "A.TEST", "a.test.", "A.Test.:80"},
		2: {"xn--bcher-kva.test", "bücher.test:8443", "XN--BCHER-KVA.test."},
		3: {"[::1]:8080", "[::1]", "[0::1]:80"},
	} {
		for _, host := range hosts {
			if got := match(table, host, "/"); got != want {
				t.Errorf("%q: room %d, want %d", host, got, want)
			}
		}
	}
}

func TestRespelledHostIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?(\.[a-z]{1,5}){0,3}`).Draw(rt, "name")
		host := name
		for range rapid.IntRange(0, 3).Draw(rt, "letters") {
			i := rapid.IntRange(0, len(name)-1).Draw(rt, "i")
			host = host[:i] + strings.ToUpper(host[i:i+1]) + host[i+1:]
		}
		host += rapid.SampledFrom([]string{"", "."}).Draw(rt, "dot")
		host += rapid.SampledFrom([]string{"", ":", ":80", ":8443", ":0"}).Draw(rt, "port")
		if got := route.CanonicalHost(host); got != name {
			rt.Fatalf("%q: %q, want %q", host, got, name)
		}
	})
}

func TestHugeHostIsCheap(t *testing.T) {
	t.Parallel()
	host := strings.Repeat("ü", 1<<16)
	if got := route.CanonicalHost(host); got != "!" {
		t.Errorf("a host of %d bytes became %.20q", len(host), got)
	}
}
