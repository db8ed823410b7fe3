package route_test

import (
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/route"
)

func seedPaths(f *testing.F, add func(path string)) {
	f.Helper()
	for _, targets := range inShop() {
		for _, target := range targets {
			add(target)
		}
	}
	for _, target := range notInShop() {
		add(target)
	}
}

func FuzzCanonicalPath(f *testing.F) {
	seedPaths(f, func(path string) { f.Add(path) })
	f.Fuzz(func(t *testing.T, raw string) {
		got := route.CanonicalPath(raw)
		if again := route.CanonicalPath(got); again != got {
			t.Errorf("%q: first %q, then %q", raw, got, again)
		}
		if !strings.HasPrefix(got, "/") || (len(got) > 1 && strings.HasSuffix(got, "/")) || strings.ContainsAny(got, `\;`) {
			t.Errorf("%q: %q is not canonical", raw, got)
		}
		for segment := range strings.SplitSeq(got[1:], "/") {
			if segment == "." || segment == ".." || (segment == "" && got != "/") {
				t.Errorf("%q: %q has a segment %q", raw, got, segment)
			}
		}
	})
}

func FuzzCanonicalHost(f *testing.F) {
	for _, host := range []string{"a.test:80", "A.test.", "[::1]:8080", "bücher.test", "::1", "%61.test", "a．test：80", "[", "@", "%5b::1]", "xn--a"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		got := route.CanonicalHost(host)
		if again := route.CanonicalHost(got); again != got {
			t.Errorf("%q: first %q, then %q", host, got, again)
		}
	})
}

func FuzzMatch(f *testing.F) {
	seedPaths(f, func(path string) { f.Add("a.test", path) })
	f.Add("A.test.:80", "/shop")
	f.Add("[::1]:80", "/")
	shop := compile(f, route.Entry{Host: "a.test", Path: "/shop", Room: 1})
	more := compile(f,
		route.Entry{Host: "a.test", Path: "/shop", Room: 1},
		route.Entry{Host: "a.test", Path: "/shop/sale", Room: 2},
		route.Entry{Host: "*", Path: "/news", Room: 3},
	)
	all := compile(f, route.Entry{Host: "*", Path: "/", Room: 4})
	f.Fuzz(func(t *testing.T, host, path string) {
		if match(all, host, path) != 4 || all.Split(host, path) {
			t.Errorf("%q %q: not in the room of everything", host, path)
		}
		in := match(shop, "a.test", path)
		below := func(p string) bool { return p == "/shop" || strings.HasPrefix(p, "/shop/") }
		if (below(path) || below(route.CanonicalPath(path))) && in != 1 {
			t.Errorf("%q: a reading is below /shop, room %d", path, in)
		}
		if match(shop, "a.test", route.CanonicalPath(path)) == 1 && in != 1 {
			t.Errorf("%q: only its canonical path is below /shop", path)
		}
		if got := match(more, "a.test", path); in == 1 && got != 1 && got != 2 {
			t.Errorf("%q: room %d with more routes, %d before", path, got, in)
		}
		if a, b := match(more, host, path), match(more, route.CanonicalHost(host), path); a != b {
			t.Errorf("%q %q: room %d, and %d with the canonical host", host, path, a, b)
		}
	})
}
