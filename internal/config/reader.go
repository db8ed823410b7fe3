package config

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anteroom/anteroom"
)

// faults collects what is wrong, at most one fault a field, so that a value of the wrong type is
// not also out of range.
type faults struct {
	list anteroom.Errors
	seen map[string]bool
	// names are the places of field names that are at fault themselves: unknown or doubled ones.
	names map[string]place
}

func newFaults() *faults { return &faults{seen: map[string]bool{}, names: map[string]place{}} }

// add notes a fault of a field. The result takes a hint.
func (f *faults) add(path, format string, args ...any) *anteroom.Error {
	e := anteroom.Errorf(anteroom.CodeInvalid, format, args...).At(path)
	if !f.seen[path] {
		f.seen[path] = true
		f.list = append(f.list, e)
	}
	return e
}

// has tells whether the field, or an object that contains it, is already at fault.
func (f *faults) has(path string) bool {
	for !f.seen[path] {
		if path == "" {
			return false
		}
		path = parent(path)
	}
	return true
}

// parent is the path without its last part: a[1].b, a[1], a.
func parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// child is the path of a field of an object.
func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// field says how one field of an object is read. A nil read accepts and ignores every value.
type field struct {
	name string
	read func(n *node, path string)
}

// reader reads nodes into values and notes the faults.
type reader struct{ *faults }

// object reads the members of an object by the list of its known fields.
func (r reader) object(n *node, path string, fields []field) {
	given := map[string]bool{}
	for _, m := range n.members {
		at := child(path, m.name)
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == m.name })
		switch {
		case i < 0:
			r.names[at] = m.place
			r.unknown(m.name, at, fields)
		case given[m.name]:
			r.names[at] = m.place
			r.add(at, "%s stands twice", at).WithHint("leave one of them")
		case fields[i].read != nil:
			fields[i].read(m.value, at)
		}
		given[m.name] = true
	}
}

func (r reader) unknown(name, path string, fields []field) {
	e := r.add(path, "%s is not a known field", quoted(name))
	if near := nearest(name, fields); near != "" {
		e.WithHint("did you mean %q?", near)
	}
}

func (r reader) wrongType(n *node, path, want string) {
	given := n.kind.String()
	if n.kind == numberKind || n.kind == boolKind || n.kind == textKind {
		given += " (" + n.shown() + ")"
	}
	subject := path
	if path == "" {
		subject = "the top level"
	}
	e := r.add(path, "%s must be %s, not %s", subject, want, given)
	if want == "text" && (n.kind == numberKind || n.kind == boolKind) {
		e.WithHint("put it in quotes")
	}
}

// text reads text; null is the default.
func (r reader) text(to *string, byDefault string) func(*node, string) {
	return func(n *node, path string) {
		switch n.kind {
		case nullKind:
			*to = byDefault
		case textKind:
			*to = n.text
		default:
			r.wrongType(n, path, "text")
		}
	}
}

// choice reads text whose empty form means the default, as null does.
func (r reader) choice(to *string, byDefault string) func(*node, string) {
	return func(n *node, path string) {
		if r.text(to, byDefault)(n, path); *to == "" {
			*to = byDefault
		}
	}
}

// flag reads true or false; null is false, the default of every flag.
func (r reader) flag(to *bool) func(*node, string) {
	return func(n *node, path string) {
		switch n.kind {
		case nullKind:
			*to = false
		case boolKind:
			*to = n.text == "true"
		default:
			r.wrongType(n, path, "true or false")
		}
	}
}

// whole reads a whole number; null is the default.
func (r reader) whole(to *int, byDefault int) func(*node, string) {
	return func(n *node, path string) {
		if n.kind == nullKind {
			*to = byDefault
			return
		}
		if n.kind != numberKind {
			r.wrongType(n, path, "a whole number")
			return
		}
		v, _ := strconv.ParseFloat(n.text, 64) // also takes 2e2 and 200.0, which some clients write
		switch {
		case v != math.Trunc(v): // also what is not a number at all
			r.add(path, "%s must be a whole number, not %s", path, n.shown())
		case v < math.MinInt32 || v > math.MaxInt32:
			r.outside(path, n.shown(), v < 0)
		default:
			*to = int(v)
		}
	}
}

// duration reads text such as "90s"; null is the default 0.
func (r reader) duration(to *anteroom.Duration) func(*node, string) {
	return func(n *node, path string) {
		switch n.kind {
		case nullKind:
			*to = 0
		case textKind:
			v, err := time.ParseDuration(n.text)
			if err != nil {
				r.add(path, "%s must be a duration such as \"90s\" or \"5m\", not %s", path, n.shown())
			}
			*to = anteroom.Duration(v)
		default:
			r.wrongType(n, path, "a duration such as \"90s\"")
		}
	}
}

// list reads each item of a list; null is an empty one.
func list[T any](r reader, to *[]T, item func(to *T) func(*node, string)) func(*node, string) {
	return func(n *node, path string) {
		*to = []T{}
		switch n.kind {
		case nullKind:
		case listKind:
			for i, value := range n.items {
				var v T
				item(&v)(value, path+"["+strconv.Itoa(i)+"]")
				*to = append(*to, v)
			}
		default:
			r.wrongType(n, path, "a list")
		}
	}
}
