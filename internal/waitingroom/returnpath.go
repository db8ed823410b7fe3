package waitingroom

import "strings"

// returnBytesMax is the longest path and query that a waiting page leads back to.
const returnBytesMax = 4096

// ReturnPath is the path and query that the waiting page leads back to: what the visitor asked for,
// as a same-origin reference in plain ASCII, or "/" where that is not certain. It begins with exactly one
// slash, has no backslash, quote, angle bracket, space or control character, and no browser reads
// another host in it.
func ReturnPath(path, query string) string {
	if len(path)+len(query) >= returnBytesMax || !staysHere(path) {
		return "/"
	}
	if plain(path) && plain(query) {
		if query == "" {
			return path
		}
		return path + "?" + query
	}
	b := appendPlain(make([]byte, 0, len(path)+len(query)+32), path)
	if query != "" {
		b = appendPlain(append(b, '?'), query)
	}
	return string(b)
}

// staysHere tells that no browser reads an authority in the path: neither as it stands ("//host", and
// browsers take a backslash for a slash), nor after dot segments were taken out ("/.//host"), nor after the tabs and line feeds
// were, which browsers drop; those are percent-encoded before they are shown.
func staysHere(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.Contains(path, `\`) {
		return false
	}
	dots := strings.Contains(path, "/.") || containsFold(path, "/%2e")
	return !dots || !strings.Contains(path, "//")
}

// plain tells that a byte string may stand in a header and in a link as it is.
func plain(s string) bool {
	for i := range len(s) {
		if !plainByte(s[i]) {
			return false
		}
	}
	return true
}

// plainByte leaves out what a URL may not contain: controls, space, non-ASCII, and the characters
// that end an attribute, a string or a header.
func plainByte(c byte) bool {
	switch c {
	case '"', '\'', '<', '>', '\\', '^', '`', '{', '|', '}', '#':
		return false
	}
	return c > ' ' && c < 0x7f
}

// appendPlain appends s with everything that is not plain percent-encoded.
func appendPlain(dst []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; plainByte(c) {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}
