package route_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/route"
)

// server is a way to read a raw path. The real ones are some of the combinations: nginx decodes once and merges
// slashes, Tomcat cuts parameters before it decodes, Node's URL takes "\" for "/" and keeps empty segments, WSGI
// applications resolve nothing, IIS drops dots at the end. The model is written apart from the code under test.
type server struct {
	decode     int  // how many times escapes are decoded
	keepDelims bool // leaves %2F, %5C and %3B alone when it decodes
	params     int  // 0 keeps ";x", 1 cuts it before decoding, 2 after it
	backslash  bool // takes "\" for "/"
	merge      bool // drops empty segments before it resolves dots
	resolve    bool // resolves "." and ".."
	trim       bool // drops dots and spaces at the end of a segment
	cut        bool // ends the path at "#" or NUL
	host       bool // takes what follows "//" at the beginning for a host
}

// servers lists all combinations.
func servers() []server {
	var all []server
	for i := range 4 * 2 * 3 * 64 {
		bit := func(n int) bool { return i/24>>n&1 == 1 }
		all = append(all, server{
			decode: i % 4, keepDelims: i/4%2 == 1, params: i / 8 % 3,
			backslash: bit(0), merge: bit(1), resolve: bit(2), trim: bit(3), cut: bit(4), host: bit(5),
		})
	}
	return all
}

// serves gives the segments of what the server would serve.
func (s server) serves(raw string) []string {
	path := raw
	if s.params == 1 {
		path = cutParams(path)
	}
	for range s.decode {
		path = s.decodeOnce(path)
	}
	if s.backslash {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	if s.cut {
		if i := strings.IndexAny(path, "#\x00"); i >= 0 {
			path = path[:i]
		}
	}
	if s.params == 2 {
		path = cutParams(path)
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if s.host && segments[0] == "" {
		for len(segments) > 0 && segments[0] == "" {
			segments = segments[1:]
		}
		segments = segments[min(1, len(segments)):]
	}
	return s.resolved(segments)
}

func (s server) resolved(segments []string) []string {
	var kept []string
	for _, segment := range segments {
		if s.trim && strings.Trim(segment, ". ") != "" {
			segment = strings.TrimRight(segment, ". ")
		}
		if s.trim && strings.TrimRight(segment, " ") == ".." {
			segment = ".."
		}
		switch {
		case s.merge && segment == "":
		case s.resolve && segment == ".":
		case s.resolve && segment == "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, segment)
		}
	}
	// Empty segments that were left lead to the same files.
	return slices.DeleteFunc(kept, func(segment string) bool { return segment == "" })
}

func cutParams(path string) string {
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i], _, _ = strings.Cut(segments[i], ";")
	}
	return strings.Join(segments, "/")
}

func (s server) decodeOnce(path string) string {
	var b strings.Builder
	for path != "" {
		if path[0] == '%' && len(path) > 2 {
			c, err := strconv.ParseUint(path[1:3], 16, 8)
			if err == nil && (!s.keepDelims || strings.IndexByte(`/\;`, byte(c)) < 0) {
				b.WriteByte(byte(c))
				path = path[3:]
				continue
			}
		}
		b.WriteByte(path[0])
		path = path[1:]
	}
	return b.String()
}

func below(segments, prefix []string) bool {
	return len(segments) >= len(prefix) && slices.Equal(segments[:len(prefix)], prefix)
}

// hostile draws a path out of pieces on which servers differ.
func hostile() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"shop", "shop", "sale", "news", "x", "sho%70", "%2573hop", "/", "/", "/", "//", "..", "..", "../", "/../", ".", "./",
		"%2e%2e", "%2E.", "%252e", "%2f", "%2F", "%252f", "%5c", `\`, `\..\`, ";", ";a=b", "%3b", "/..;/", "%00", "#", "%23", ".", " ", "%20", "%",
		"%25", "25", "2f", "2e",
	})
	return rapid.Map(rapid.SliceOfN(piece, 0, 12), func(p []string) string { return "/" + strings.Join(p, "") })
}

// TestNoServerLeavesAWayAround: what any server finds below a route, Match finds there too.
func TestNoServerLeavesAWayAround(t *testing.T) {
	t.Parallel()
	one := []string{"shop"}
	two := []string{"shop", "sale"}
	tables := map[*route.Table][]string{
		compile(t, route.Entry{Host: "a.test", Path: "/shop", Room: 1}):      one,
		compile(t, route.Entry{Host: "a.test", Path: "/shop/sale", Room: 1}): two,
	}
	all := servers()
	rapid.Check(t, func(rt *rapid.T) {
		raw := hostile().Draw(rt, "raw")
		for table, covered := range tables {
			if match(table, "a.test", raw) == 1 {
				continue
			}
			for _, s := range all {
				if got := s.serves(raw); below(got, covered) {
					rt.Fatalf("%q is %q for %+v, and not covered by %q", raw, got, s, covered)
				}
			}
		}
	})
}

// TestSplitTellsEveryDisagreement: where two servers find a path in different rooms, either one room lies inside
// the other and the inner one is taken, or Split says so.
func TestSplitTellsEveryDisagreement(t *testing.T) {
	t.Parallel()
	routes := [][]string{{"shop"}, {"shop", "sale"}, {"news"}}
	entries := make([]route.Entry, len(routes))
	for i, r := range routes {
		entries[i] = route.Entry{Host: "a.test", Path: slash(r), Room: i}
	}
	table := compile(t, entries...)
	all := servers()
	rapid.Check(t, func(rt *rapid.T) {
		raw := hostile().Draw(rt, "raw")
		if table.Split("a.test", raw) {
			return
		}
		got := match(table, "a.test", raw)
		for _, s := range all {
			segments := s.serves(raw)
			for i, r := range routes {
				if below(segments, r) && (got == none || !below(routes[got], r)) {
					rt.Fatalf("%q is %q in room %d for %+v, but Match says room %d", raw, segments, i, s, got)
				}
			}
		}
	})
}
