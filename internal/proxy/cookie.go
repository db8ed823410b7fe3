package proxy

import (
	"net/http"
	"slices"
	"strings"
)

// ownCookie tells which cookies are ours.
type ownCookie struct {
	prefix string
	names  []string
}

// owns matches the prefix alone, the prefix with '_' and a suffix, and the given names.
func (o ownCookie) owns(name string) bool {
	if o.prefix != "" {
		if tail, ok := strings.CutPrefix(name, o.prefix); ok && (tail == "" || tail[0] == '_') {
			return true
		}
	}
	return slices.Contains(o.names, name)
}

// stripCookies removes our cookies from the Cookie lines of h. All else stays byte by byte, however
// odd it looks; a line without any cookie of ours is not touched at all. The lines of the incoming
// request are never written to: h gets new ones.
func stripCookies(h http.Header, own ownCookie) {
	lines := h["Cookie"]
	for i, line := range lines {
		if !ownsAny(line, own) {
			continue
		}
		kept := slices.Clone(lines[:i])
		for _, line := range lines[i:] {
			if line, left := stripLine(line, own); left {
				kept = append(kept, line)
			}
		}
		if len(kept) == 0 {
			delete(h, "Cookie")
			return
		}
		h["Cookie"] = kept
		return
	}
}

func ownsAny(line string, own ownCookie) bool {
	for pair := range strings.SplitSeq(line, ";") {
		if ownPair(pair, own) {
			return true
		}
	}
	return false
}

// stripLine removes our pairs, each with the separator before it, or for the first the one after it.
// It tells whether anything is left to send.
func stripLine(line string, own ownCookie) (string, bool) {
	var b strings.Builder
	b.Grow(len(line))
	kept, dropped := 0, 0
	for pair := range strings.SplitSeq(line, ";") {
		if ownPair(pair, own) {
			dropped++
			continue
		}
		if kept > 0 {
			b.WriteByte(';')
		} else if dropped > 0 {
			pair = strings.TrimLeft(pair, " \t") // the space belonged to the separator
		}
		kept++
		b.WriteString(pair)
	}
	if dropped == 0 {
		return line, true
	}
	rest := b.String()
	return rest, strings.Trim(rest, "; \t") != ""
}

func ownPair(pair string, own ownCookie) bool {
	name, _, found := strings.Cut(pair, "=")
	return found && own.owns(strings.Trim(name, " \t"))
}
