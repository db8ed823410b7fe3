package config

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/route"
)

// Bounds of a route, from DNS and from what servers accept in a request line.
const (
	hostBytesMax  = 253
	labelBytesMax = 63
	pathBytesMax  = 2048
)

func (f *faults) checkRoutes(path string, room *anteroom.Room) {
	f.checkRoute(path, anteroom.Route{Host: room.Host, Path: room.Path})
	list := child(path, "additional_routes")
	if len(room.AdditionalRoutes) > routesMax {
		f.add(list, "it has %d routes, more than %d", len(room.AdditionalRoutes), routesMax)
	}
	if f.has(list) {
		return
	}
	routes := room.Routes()
	for i, r := range room.AdditionalRoutes {
		at := list + "[" + strconv.Itoa(i) + "]"
		if f.has(at) {
			continue
		}
		f.checkRoute(at, r)
		for _, before := range routes[:i+1] {
			if sameRoute(before, r) {
				f.add(at, "%s%s stands twice in this room", r.Host, r.Path).WithHint("leave one of them")
			}
		}
	}
}

func (f *faults) checkRoute(at string, r anteroom.Route) {
	host, path := child(at, "host"), child(at, "path")
	if r.Host == "" {
		f.add(host, "%s is required", host)
	} else if text, hint := hostFault(r.Host); text != "" {
		f.add(host, "%s %s", quoted(r.Host), text).WithHint("%s", hint)
	}
	if text, hint := pathFault(r.Path); text != "" {
		f.add(path, "%s %s", quoted(r.Path), text).WithHint("%s", hint)
	}
	if f.has(host) || f.has(path) {
		return
	}
	if strings.HasPrefix(strings.TrimSuffix(route.CanonicalPath(r.Path), "/")+"/", anteroom.ReservedPath) {
		f.add(path, "%s lies below %s, which is kept for the waiting room itself", quoted(r.Path), anteroom.ReservedPath).
			WithHint("choose another path")
		return
	}
	// Whatever is stored must compile, or one room would take the table away from all others.
	if _, err := route.Compile([]route.Entry{{Host: r.Host, Path: r.Path}}); err != nil {
		f.add(path, "%s%s cannot be a route: %w", r.Host, r.Path, err).
			WithHint("write a host such as shop.example.com and a path such as /shop")
	}
}

// hostFault says what is wrong with a host and what to do; empty when nothing is.
func hostFault(host string) (text, hint string) {
	if host == anteroom.AnyHost {
		return "", ""
	}
	if address, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && address.Zone() == "" {
		return "", ""
	}
	name := strings.TrimSuffix(host, ".")
	if canonical := route.CanonicalHost(host); strings.ContainsFunc(host, func(r rune) bool { return r > 127 }) && len(canonical) > 1 {
		name = canonical // in punycode
	}
	switch {
	case strings.Contains(host, "://"):
		return "has a scheme", "write the host alone, such as shop.example.com"
	case strings.ContainsAny(host, "/?#@\\"):
		return "is more than a host", "write the host alone; the path has its own field"
	case strings.Contains(host, "*"):
		return "has a wildcard", "name each host in additional_routes, or write * alone for every host"
	case strings.Contains(host, ":"):
		return "has a port or is not an address", "leave out the port; every port matches"
	case len(name) > hostBytesMax:
		return "is longer than " + strconv.Itoa(hostBytesMax) + " bytes", "shorten it"
	}
	for label := range strings.SplitSeq(name, ".") {
		if text, hint := labelFault(label); text != "" {
			return text, hint
		}
	}
	return "", ""
}

func labelFault(label string) (text, hint string) {
	bad := strings.Trim(label, nameLetters)
	switch {
	case label == "":
		return "has an empty part between dots", "write it such as shop.example.com"
	case len(label) > labelBytesMax:
		return "has a part longer than " + strconv.Itoa(labelBytesMax) + " bytes", "shorten it"
	case bad != "" && []rune(bad)[0] > 127:
		return "has letters beyond ASCII", "write it as browsers send it, in the form that begins with xn--"
	case bad != "":
		return "has " + strconv.QuoteRune([]rune(bad)[0]) + ", which no host has", "use letters, digits, '-' and '.'"
	case strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-"):
		return "has a part that begins or ends with '-'", "no host has one"
	}
	return "", ""
}

// pathFault says what is wrong with a path prefix and what to do; empty when nothing is.
func pathFault(path string) (text, hint string) {
	switch {
	case !strings.HasPrefix(path, "/"):
		return "does not begin with /", "write it such as /shop"
	case len(path) > pathBytesMax:
		return "is longer than " + strconv.Itoa(pathBytesMax) + " bytes", "shorten it"
	case strings.Contains(path, "?"):
		return "has a query", "leave it out; queries do not count"
	case strings.Contains(path, "#"):
		return "has a fragment", "leave it out; browsers never send it"
	case strings.Contains(path, "*"):
		return "has a wildcard", "leave it out; a path covers everything below it"
	case strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 127 || r == '\\' }):
		return "has a space, a control character or a backslash", "write it as %20, %5C and so on"
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		plain, ok := unescape(segment)
		switch {
		case !ok:
			return "has a % without two hexadecimal digits behind it", "write % itself as %25"
		case plain == "." || plain == "..":
			return "has a segment of dots", "write the path that it leads to"
		}
	}
	if strings.Contains(path, "//") {
		return "has an empty segment", "leave one of the slashes"
	}
	return "", ""
}

// unescape decodes %XX; ok is false when one is broken.
func unescape(s string) (plain string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(v))
		i += 2
	}
	return b.String(), true
}

// sameRoute tells whether two routes cover the same requests.
func sameRoute(a, b anteroom.Route) bool {
	if routeKey(a) == routeKey(b) {
		return true
	}
	odd := func(r rune) bool { return r == '%' || r > 127 }
	if !strings.ContainsFunc(route.CanonicalPath(a.Path)+route.CanonicalPath(b.Path), odd) ||
		route.CanonicalHost(a.Host) != route.CanonicalHost(b.Host) {
		return false
	}
	// What is still escaped, or has several forms in Unicode, only the table can compare.
	_, err := route.Compile([]route.Entry{{Host: a.Host, Path: a.Path}, {Host: b.Host, Path: b.Path, Room: 1}})
	return err != nil
}

// routeKey is equal for routes that cover the same requests; sameRoute knows the rare other spellings.
func routeKey(r anteroom.Route) string {
	return route.CanonicalHost(r.Host) + strings.TrimSuffix(route.CanonicalPath(r.Path), "/")
}

// Claims are what only one room may have, as text: its name in its zone and its routes. Rooms clash
// when they have a claim in common.
func Claims(record *RoomRecord) []string {
	claims := []string{"name " + record.Zone + " " + record.Room.Name}
	for _, r := range record.Room.Routes() {
		claims = append(claims, "route "+routeKey(r))
	}
	return claims
}

// Clashes are the faults of a room beside another one: an equal name in the same zone, or an equal
// host and path anywhere.
func Clashes(record, other *RoomRecord) anteroom.Errors {
	f := newFaults()
	if record.Zone == other.Zone && record.Room.Name == other.Room.Name {
		f.add("name", "%s is taken by the waiting room %s", quoted(record.Room.Name), other.Room.ID).
			WithHint("names are unique in a zone; choose another one")
	}
	for i, r := range record.Room.Routes() {
		for _, taken := range other.Room.Routes() {
			if !sameRoute(r, taken) {
				continue
			}
			at := "host"
			if i > 0 {
				at = "additional_routes[" + strconv.Itoa(i-1) + "]"
			}
			f.add(at, "%s%s is covered by the waiting room %s already", r.Host, r.Path,
				quoted(other.Room.Name)).WithHint("a host and path belongs to one room; take another path")
		}
	}
	return f.list
}
