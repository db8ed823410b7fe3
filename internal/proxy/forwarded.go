package proxy

import (
	"net/http"
	"net/netip"
	"strings"
)

// hop is one element of X-Forwarded-For or Forwarded. addr is not valid for "unknown", for a made-up
// name and for garbage.
type hop struct {
	addr        netip.Addr
	proto, host string
}

// forwardedFor reads the lines of X-Forwarded-For, client first, at most the last chainMax hops.
func forwardedFor(lines []string) []hop {
	chain := make([]hop, 0, 4)
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			chain = append(chain, hop{addr: parseNode(strings.TrimSpace(element))})
		}
	}
	return chain[max(0, len(chain)-chainMax):]
}

// parseForwarded reads the lines of Forwarded (RFC 7239), client first, at most the last chainMax hops.
// A line that breaks the grammar counts as one unknown hop, so that nothing left of it is believed.
func parseForwarded(lines []string) []hop {
	chain := make([]hop, 0, 4)
	for _, line := range lines {
		hops, ok := forwardedLine(line)
		if !ok {
			hops = []hop{{}}
		}
		chain = append(chain, hops...)
	}
	return chain[max(0, len(chain)-chainMax):]
}

// forwardedLine reads one line: elements separated by commas, each of pairs separated by semicolons.
func forwardedLine(line string) ([]hop, bool) {
	var hops []hop
	var h hop
	for rest := line; ; {
		p, tail, ok := forwardedPair(rest)
		if !ok {
			return nil, false
		}
		switch strings.ToLower(p.name) {
		case "for":
			h.addr = parseNode(p.value)
		case "proto":
			h.proto = p.value
		case "host":
			h.host = p.value
		}
		tail = strings.TrimLeft(tail, " \t")
		if tail == "" {
			return append(hops, h), true
		}
		switch tail[0] {
		case ',':
			hops = append(hops, h)
			h = hop{}
		case ';':
		default:
			return nil, false
		}
		rest = tail[1:]
	}
}

// pair is one parameter of an element of Forwarded.
type pair struct{ name, value string }

// forwardedPair reads name=value or name="value" and gives what follows.
func forwardedPair(s string) (p pair, tail string, ok bool) {
	p.name, s, ok = strings.Cut(strings.TrimLeft(s, " \t"), "=")
	if !ok || !isToken(p.name) {
		return pair{}, "", false
	}
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ",; \t")
		if end < 0 {
			end = len(s)
		}
		p.value = s[:end]
		return p, s[end:], !strings.Contains(p.value, `"`)
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			p.value = b.String()
			return p, s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return pair{}, "", false // no closing quote
}

// parseNode reads an address as it stands in the wild: with or without a port, IPv6 with or without
// brackets.
func parseNode(s string) netip.Addr {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, _, ok = strings.Cut(inner, "]")
		if !ok {
			return netip.Addr{}
		}
		s = inner
	} else if strings.Count(s, ":") == 1 {
		s, _, _ = strings.Cut(s, ":")
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// setForwarded writes what the origin may believe about the client. Only vouched-for hops are named.
func setForwarded(h http.Header, c *Client) {
	addr := nodeText(c.Addr)
	var via strings.Builder
	via.WriteString(addr)
	var b strings.Builder
	b.Grow(64 + len(c.Host))
	b.WriteString("for=")
	writeNode(&b, c.Addr, addr)
	if c.Host != "" {
		b.WriteString(";host=")
		writeQuoted(&b, c.Host)
	}
	b.WriteString(";proto=")
	b.WriteString(c.Scheme)
	for _, a := range c.hops {
		text := nodeText(a)
		via.WriteString(", ")
		via.WriteString(text)
		b.WriteString(", for=")
		writeNode(&b, a, text)
	}
	v := []string{via.String(), c.Host, c.Scheme, addr, b.String()} // one allocation for five values
	h["X-Forwarded-For"] = v[0:1:1]
	h["X-Forwarded-Host"] = v[1:2:2]
	h["X-Forwarded-Proto"] = v[2:3:3]
	h["X-Real-Ip"] = v[3:4:4]
	h["Forwarded"] = v[4:5:5]
}

func nodeText(a netip.Addr) string {
	if !a.IsValid() {
		return "unknown"
	}
	return a.String()
}

func writeNode(b *strings.Builder, a netip.Addr, text string) {
	if a.Is6() {
		text = `"[` + text + `]"`
	}
	b.WriteString(text)
}

// writeQuoted writes a token as it is and anything else as a quoted string.
func writeQuoted(b *strings.Builder, s string) {
	if isToken(s) {
		b.WriteString(s)
		return
	}
	b.WriteByte('"')
	for _, c := range []byte(s) {
		if c == '"' || c == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	b.WriteByte('"')
}

// isToken tells a token of RFC 9110 from text that needs quotes.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if !isAlphanumeric(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
