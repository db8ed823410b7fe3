package route

import (
	"iter"
	"slices"
	"strings"

	"github.com/anteroom/anteroom"
)

// partsMax is the most segments of a path with ".." that are looked at one by one. Each may meet every route that
// the ones before it reached; nobody means well with more.
const partsMax = 64

// Match finds the room that covers a host as it stands in the Host header and a path as it stands in the request
// line, still percent-encoded, without the query. The longest path wins; a path of the exact host wins over
// any path of "*". Where servers would read the path differently, the visitor is put into the most specific
// room that any reading reaches; the package documentation has the rules.
func (t *Table) Match(host, path string) (room int, ok bool) {
	f := t.find(host, path)
	if f.best == nil {
		return 0, false
	}
	return f.best.room, true
}

// Split tells that servers would find a doubtful path in different rooms, so that no room is right for it. Answer
// 400: a well-meaning client does not send such a path. For an ordinary path it costs a look at each byte.
func (t *Table) Split(host, path string) bool { return !plain(path) && t.find(host, path).split }

// found is what a path has reached so far.
type found struct {
	best  *node // the longest route; nil for none
	split bool  // tells that routes of different rooms were reached by a doubtful path
}

// add counts a node as reached; nil and nodes without a route are none. Of two routes of the same length the later
// one wins.
func (f *found) add(n *node) {
	if n == nil || !n.covers {
		return
	}
	if f.best == nil {
		f.best = n
		return
	}
	f.split = f.split || n.room != f.best.room
	if len(n.path) >= len(f.best.path) {
		f.best = n
	}
}

func (t *Table) find(host, path string) found {
	if t == nil {
		return found{}
	}
	path, d := fold(path)
	exact := t.hosts[CanonicalHost(host)].find(path, d)
	if exact.best != nil && d == certain {
		return exact
	}
	other := t.hosts[anteroom.AnyHost].find(path, d)
	if exact.best == nil {
		return other
	}
	// Another reading of the path may miss the routes of the exact host.
	if other.best != nil && (other.split || other.best.room != exact.best.room) {
		exact.split = true
	}
	return exact
}

func (s *site) find(path string, d doubt) found {
	var f found
	switch {
	case s == nil:
	case d == certain:
		f.best = s.root.deepest(path)
	case d == maybeHost:
		f.add(s.root.deepest(withoutFirst(path)))
		f.add(s.root.deepest(path))
	default:
		f = s.every(path)
	}
	return f
}

// withoutFirst drops the first segment of a folded path.
func withoutFirst(path string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return rest
}

// deepest finds the longest route at or above the path.
func (n *node) deepest(path string) *node {
	var best *node
	if n.covers {
		best = n
	}
	for segment := range segments(path) {
		if n = n.children[segment]; n == nil {
			break
		}
		if n.covers {
			best = n
		}
	}
	return best
}

// every finds all routes whose segments occur in the path in their order.
func (s *site) every(path string) found {
	var f found
	f.add(&s.root)
	reached := []*node{&s.root} // only nodes with children
	count := 0
	for segment := range segments(path) {
		if count++; count > partsMax {
			return s.all
		}
		for _, n := range reached {
			next := n.children[segment]
			if next == nil {
				continue
			}
			f.add(next)
			if next.children != nil && !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
	}
	return f
}

// segments yields the segments of a folded path.
func segments(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start := 0; start < len(path); {
			end := start
			for end < len(path) && path[end] != '/' {
				end++
			}
			if end > start && !yield(path[start:end]) {
				return
			}
			start = end + 1
		}
	}
}
