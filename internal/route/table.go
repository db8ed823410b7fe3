package route

import (
	"fmt"
	"strings"

	"github.com/anteroom/anteroom"
)

// Entry is one route of a room.
type Entry struct {
	// Host is an exact name without scheme and port, an address, or [anteroom.AnyHost] for every host.
	Host string
	// Path is a prefix that ends at a segment boundary: "/shop" covers "/shop", "/shop/" and "/shop/x", not
	// "/shopping". Empty means "/". It may be percent-encoded.
	Path string
	// Room is the caller's index of the room that the route belongs to.
	Room int
}

// Table finds rooms. It never changes and may be used by many goroutines at once; nil is an empty table.
type Table struct {
	hosts map[string]*site // by canonical host; anteroom.AnyHost is a key like the others
}

// site has the routes of one host as a tree of path segments.
type site struct {
	root node
	// all is what a path finds that is taken to reach every route of the host.
	all found
}

type node struct {
	children map[string]*node
	covers   bool   // tells that a route ends here
	path     string // path is the route's folded path: its length says how specific the route is
	room     int
}

// Compile makes a table of the entries. The error lists every fault: a bad host or path, or two entries that
// cover the same host and path.
func Compile(entries []Entry) (*Table, error) {
	t := &Table{hosts: make(map[string]*site)}
	var faults anteroom.Errors
	for i, e := range entries {
		if fault := t.add(e); fault != nil {
			faults = append(faults, fault.At(fmt.Sprintf("entries[%d].%s", i, fault.Field)))
		}
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	return t, nil
}

// add puts one route in. The fault's field is host or path.
func (t *Table) add(e Entry) *anteroom.Error {
	host, fault := checkHost(e.Host)
	if fault != nil {
		return fault
	}
	path, fault := checkPath(e.Path)
	if fault != nil {
		return fault
	}
	s := t.hosts[host]
	if s == nil {
		s = &site{}
		t.hosts[host] = s
	}
	n := s.root.grow(path)
	if n.covers {
		return anteroom.Errorf(anteroom.CodeInvalid, "%s%s is a route of room %d and of room %d; each host and path has one room",
			host, path, n.room, e.Room).At("path")
	}
	n.covers, n.path, n.room = true, path, e.Room
	s.all.add(n)
	return nil
}

// grow finds the node of a folded path and makes what is missing.
func (n *node) grow(path string) *node {
	for segment := range segments(path) {
		next := n.children[segment]
		if next == nil {
			next = &node{}
			if n.children == nil {
				n.children = make(map[string]*node)
			}
			n.children[segment] = next
		}
		n = next
	}
	return n
}

func checkPath(path string) (string, *anteroom.Error) {
	bad := func(why string) (string, *anteroom.Error) {
		return "", anteroom.Errorf(anteroom.CodeInvalid, "%q %s", path, why).At("path").
			WithHint(`write a prefix such as "/shop", without wildcard and query; it covers what is below it`)
	}
	if path == "" {
		path = "/"
	}
	if path[0] != '/' {
		return bad(`does not begin with "/"`)
	}
	decoded := decodeOnce(path)
	if strings.ContainsAny(path, "*?") || strings.ContainsAny(decoded, `?#;\`) {
		return bad(`has one of * ? # ; \, which no route can have`)
	}
	for i := range len(decoded) {
		if decoded[i] < ' ' || decoded[i] == 0x7f {
			return bad("has a control character")
		}
	}
	folded, d := fold(CanonicalPath(path))
	if d != certain {
		return bad("has a segment that servers read in different ways")
	}
	return folded, nil
}
