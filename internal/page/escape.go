package page

import (
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendHTML appends s so that it is text in an element and in a quoted attribute alike. Control
// characters and invalid UTF-8 become U+FFFD.
func appendHTML(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if n := plainRun(s[i:]); n > 0 {
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		i++
		switch {
		case c == '&':
			dst = append(dst, "&amp;"...)
		case c == '<':
			dst = append(dst, "&lt;"...)
		case c == '>':
			dst = append(dst, "&gt;"...)
		case c == '"':
			dst = append(dst, "&#34;"...)
		case c == '\'':
			dst = append(dst, "&#39;"...)
		case c < ' ' || c == 0x7f:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		default: // a backslash, which means something in JSON only
			dst = append(dst, c)
		}
	}
	return dst
}

// plainRun counts the bytes at the start of s that stand for themselves in HTML and in JSON.
func plainRun(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c >= 0x7f, c == '&', c == '<', c == '>', c == '"', c == '\'', c == '\\':
			return i
		}
	}
	return len(s)
}

// appendJSONString appends s as a quoted JSON string that is also safe inside an HTML script
// element: '<', '>', '&' and the two line separators are escaped. Invalid UTF-8 becomes U+FFFD.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		if n := plainRun(s[i:]); n > 0 {
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			i += n
			if r == '\u2028' || r == '\u2029' {
				dst = append(dst, `\u202`...)
				dst = append(dst, hexDigits[r&0xf])
				continue
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		i++
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c == 0x7f || c == '<' || c == '>' || c == '&':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		default: // an apostrophe, which means something in HTML only
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// pathBytesMax bounds a path that a page carries; a longer one is replaced by "/".
const pathBytesMax = 8192

// samePath is p when a browser cannot resolve it to another origin, and otherwise fallback: it
// starts with a single slash and has no backslash (read as a slash) and no control character
// (tab and line feed are dropped while a URL is read, which may leave two slashes).
func samePath(p, fallback string) string {
	if len(p) == 0 || len(p) > pathBytesMax || p[0] != '/' || (len(p) > 1 && p[1] == '/') {
		return fallback
	}
	for i := range len(p) {
		if c := p[i]; c < ' ' || c == 0x7f || c == '\\' {
			return fallback
		}
	}
	return p
}

// appendPath appends a path for a quoted attribute. Bytes that have no place in a URL are
// percent-encoded, as a browser would do.
func appendPath(dst []byte, p string) []byte {
	for i := range len(p) {
		switch c := p[i]; {
		case c == '&':
			dst = append(dst, "&amp;"...)
		case c <= ' ' || c >= 0x7f || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`':
			dst = append(dst, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&0xf])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
