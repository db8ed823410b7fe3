package route_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/route"
)

func TestCanonicalPath(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                       "/",
		"/":                      "/",
		"*":                      "/",
		"//":                     "/",
		"/.":                     "/",
		"/..":                    "/",
		"/shop":                  "/shop",
		"/shop/":                 "/shop",
		"/shop//":                "/shop",
		"//shop":                 "/shop",
		"/a/b/c":                 "/a/b/c",
		"/a/./b":                 "/a/b",
		"/a/../b":                "/b",
		"/a/b/..":                "/a",
		"/../../a":               "/a",
		"/a/b/../../../c":        "/c",
		"/a//../b":               "/b",
		"/%61%62":                "/ab",
		"/a%2Fb":                 "/a/b",
		"/a%2fb":                 "/a/b",
		"/%2e%2e/a":              "/a",
		"/x/%2E./a":              "/a",
		"/x/..%2fa":              "/a",
		"/a%5Cb":                 "/a/b",
		`/a\b`:                   "/a/b",
		`\a`:                     "/a",
		"/a;x=1":                 "/a",
		"/a;x=1/b;y":             "/a/b",
		"/a/..;/b":               "/b",
		"/a%3Bx":                 "/a",
		"/;x":                    "/",
		"/a%00":                  "/a\x00",
		"/%zz":                   "/%zz",
		"/100%":                  "/100%",
		"/%2":                    "/%2",
		"/%25":                   "/%",
		"/%2561":                 "/%2561",
		"/%%61":                  "/%a",
		"/%%36%31":               "/%2561",
		"/ä":                     "/ä",
		"/%C3%A4":                "/ä",
		"/a b":                   "/a b",
		"/a%3Fb%23":              "/a?b#",
		"/.a":                    "/.a",
		"/a.":                    "/a.",
		"/...":                   "/...",
		"/a+b":                   "/a+b",
		"http://a.test":          "/",
		"http://a.test/":         "/",
		"http://a.test/b/../c":   "/c",
		"http://a.test?x":        "/",
		"https://u:p@[::1]:8/a/": "/a",
		"/http://a.test/b":       "/http:/a.test/b",
		"a.test:443":             "/a.test:443",
		"a/http://b":             "/a/http:/b",
	} {
		if got := route.CanonicalPath(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

// word draws a segment that every server takes as it stands.
func word() *rapid.Generator[string] {
	return rapid.StringMatching(`[a-zA-Z0-9_~-]{1,6}(\.[a-z0-9]{1,4})?|[äé日]{1,3}`)
}

func words(least, most int) *rapid.Generator[[]string] { return rapid.SliceOfN(word(), least, most) }

// respell writes segments in another way that each server reads alike: escapes, dot segments, doubled slashes.
func respell(rt *rapid.T, segments []string, noise *rapid.Generator[string]) string {
	var b strings.Builder
	for _, segment := range segments {
		b.WriteByte('/')
		for range rapid.IntRange(0, 2).Draw(rt, "detours") {
			b.WriteString(rapid.SampledFrom([]string{"/", "./", "%2e/", "%2E//"}).Draw(rt, "nothing"))
			if rapid.Bool().Draw(rt, "down and up") {
				b.WriteString(noise.Draw(rt, "down") + "/" + rapid.SampledFrom([]string{"..", "%2e.", ".%2E"}).Draw(rt, "up") + "/")
			}
		}
		b.WriteString(escapeSome(rt, segment))
	}
	b.WriteString(rapid.SampledFrom([]string{"", "/", "/.", "//"}).Draw(rt, "end"))
	return b.String()
}

func escapeSome(rt *rapid.T, segment string) string {
	const upper, lower = "0123456789ABCDEF", "0123456789abcdef"
	var b strings.Builder
	for i := range len(segment) {
		c := segment[i]
		switch rapid.IntRange(0, 3).Draw(rt, "how") {
		case 0:
			b.WriteString(string([]byte{'%', upper[c>>4], upper[c&15]}))
		case 1:
			b.WriteString(string([]byte{'%', lower[c>>4], lower[c&15]}))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func TestRespelledPathStaysInItsRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		prefix := words(0, 3).Draw(rt, "prefix")
		path := respell(rt, append(slices.Clip(prefix), words(0, 3).Draw(rt, "rest")...), word())
		table := compile(t, route.Entry{Host: "a.test", Path: "/" + strings.Join(prefix, "/"), Room: 3})
		if got := match(table, "a.test", path); got != 3 {
			rt.Fatalf("%q is not below /%s", path, strings.Join(prefix, "/"))
		}
	})
}

// TestSiblingStaysOutside: a segment that only begins like the route's, or lacks its end, or stands one level
// deeper, is another path in every spelling.
func TestSiblingStaysOutside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		segments := words(1, 3).Draw(rt, "route")
		table := compile(t, route.Entry{Host: "a.test", Path: "/" + strings.Join(segments, "/"), Room: 3})
		sibling := append([]string{}, segments...)
		i := rapid.IntRange(0, len(sibling)-1).Draw(rt, "where")
		sibling[i] += rapid.StringMatching(`[a-z0-9-]{1,3}`).Draw(rt, "longer")
		// Detours never spell a segment of the route: it has no "!".
		path := respell(rt, sibling, rapid.Map(word(), func(s string) string { return s + "!" }))
		if got := match(table, "a.test", path); got != none {
			rt.Fatalf("%q is below /%s", path, strings.Join(segments, "/"))
		}
	})
}

// TestOrdinaryPathIsOnePrefixRule compares with the rule itself where all servers agree.
func TestOrdinaryPathIsOnePrefixRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		few := rapid.SampledFrom([]string{"a", "b", "ab", "a.b", "A"})
		routes := rapid.SliceOfNDistinct(rapid.SliceOfN(few, 0, 4), 0, 8, slash).Draw(rt, "routes")
		entries := make([]route.Entry, len(routes))
		for i, segments := range routes {
			entries[i] = route.Entry{Host: "a.test", Path: slash(segments), Room: i}
		}
		path := slash(rapid.SliceOfN(few, 0, 6).Draw(rt, "path"))
		want, length := none, 0
		for i, e := range entries {
			if strings.HasPrefix(path+"/", strings.TrimSuffix(e.Path, "/")+"/") && len(e.Path) > length {
				want, length = i, len(e.Path)
			}
		}
		if got := match(compile(t, entries...), "a.test", path); got != want {
			rt.Fatalf("%s in %v: room %d, want %d", path, entries, got, want)
		}
	})
}

func slash(segments []string) string { return "/" + strings.Join(segments, "/") }
