package config

import "strconv"

// kind is the type of a value in JSON or YAML.
type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	textKind
	listKind
	objectKind
)

// String names the kind as an error does.
func (k kind) String() string {
	switch k {
	case nullKind:
		return "null"
	case boolKind:
		return "true or false"
	case numberKind:
		return "a number"
	case textKind:
		return "text"
	case listKind:
		return "a list"
	case objectKind:
		return "an object"
	}
	return "kind " + strconv.Itoa(int(k))
}

// place is where a value stands in its source; both numbers begin at 1.
type place struct{ line, column int }

// node is a value of JSON or YAML with its place. Unlike a map it keeps the order of the members
// and shows duplicates.
type node struct {
	kind kind
	place
	// text is the text of textKind and the literal of numberKind and boolKind.
	text    string
	items   []*node
	members []member
}

// member is a field of an object.
type member struct {
	name string
	place
	value *node
}

// get finds a member; nil when there is none.
func (n *node) get(name string) *node {
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// shown is the value as an error quotes it: short, on one line.
func (n *node) shown() string {
	switch n.kind {
	case numberKind, boolKind:
		return short(n.text)
	case textKind:
		return quoted(n.text)
	default:
		return n.kind.String()
	}
}

// The length up to which an error quotes a given value.
const shownMax = 60

func quoted(s string) string { return strconv.Quote(short(s)) }

func short(s string) string {
	runes := []rune(s)
	if len(runes) <= shownMax {
		return s
	}
	return string(runes[:shownMax]) + "…"
}
