package route

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// doubt says in what servers differ on a path, the worst case only.
type doubt uint8

const (
	certain   doubt = iota
	maybeHost       // the first segment may be taken for a host name: "//x/shop"
	anyPart         // any of the segments, in their order, may be what is left: "/x/..;/shop"
)

// fold gives the form in which paths are compared: "/" or segments with a "/" before each, in which all that a
// server might overlook is gone.
func fold(raw string) (string, doubt) {
	if plain(raw) {
		return raw, certain
	}
	form, odd := originForm(raw)
	var stack [256]byte
	text := decode(stack[:0], form)
	if !ascii(text) {
		// Compatibility forms can hide an escape once more.
		text = decode(nil, string(norm.NFKC.Bytes(shorten(text))))
	}
	if odd {
		// A target such as "http:shop" should be refused; a lenient parser takes "shop" for the path.
		path, _ := join(strings.ReplaceAll(string(text), ":", "/"))
		return path, anyPart
	}
	path, d := join(string(text))
	if d == maybeHost && (strings.ContainsAny(form, `%\`) || !ascii(form)) {
		d = anyPart // servers differ on where the host would end
	}
	return path, d
}

// plain tells a path that all servers read alike: nothing to decode, drop or resolve. Only the slash at its end
// may be superfluous.
func plain(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	for i := range len(path) {
		switch c := path[i]; {
		case c <= ' ' || c >= 0x7f:
			return false
		case c == '%' || c == ';' || c == '\\' || c == '#' || c == '?':
			return false
		case c == '/' && i > 0 && (path[i-1] == '/' || path[i-1] == '.'):
			return false
		}
	}
	return path[len(path)-1] != '.'
}

// join keeps the segments that count of a text that begins with a separator.
func join(text string) (string, doubt) {
	d := certain
	var kept strings.Builder
	kept.Grow(len(text))
	first := true
	for rest, more := text[1:], true; more; {
		var segment string
		segment, rest, more = cutSegment(rest)
		segment, up := clean(segment)
		switch {
		case up:
			d = anyPart
		case segment == "" && first:
			d = maybeHost
		case segment != "":
			kept.WriteByte('/')
			kept.WriteString(segment)
		}
		first = false
	}
	if kept.Len() == 0 {
		return "/", d
	}
	return kept.String(), d
}

// clean drops from a segment what servers may overlook. It is empty when the segment does not count; up tells
// that it may then take others with it.
func clean(segment string) (kept string, up bool) {
	for i := range len(segment) {
		if c := segment[i]; c == ';' || c == '?' || c == '#' || c == 0 {
			segment = segment[:i]
			break
		}
	}
	end := len(segment)
	for end > 0 && isFiller(segment[end-1]) {
		end--
	}
	return segment[:end], end == 0 && strings.Contains(segment, "..")
}

// isFiller tells characters that Windows drops at the end of a file's name.
func isFiller(c byte) bool { return c == '.' || c == ' ' || ('\t' <= c && c <= '\r') }

func isSeparator(c byte) bool { return c == '/' || c == '\\' }

// cutSegment splits at the first separator.
func cutSegment(text string) (segment, rest string, more bool) {
	for i := range len(text) {
		if isSeparator(text[i]) {
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// decode appends the text with its escapes replaced, as long as there are any: an escape is replaced as soon as
// its last byte is there, so what it yields may complete another one. Escapes never overlap, so the order does
// not matter and the result is that of decoding many times.
func decode(dst []byte, text string) []byte {
	if strings.IndexByte(text, '%') < 0 {
		return append(dst, text...)
	}
	for i := range len(text) {
		dst = append(dst, text[i])
		for {
			c, n := escapeEnd(dst)
			if n == 0 {
				break
			}
			dst = dst[:len(dst)-n]
			if n == len("%XX") {
				dst = append(dst, byte(c))
			} else {
				dst = utf8.AppendRune(dst, c)
			}
		}
	}
	return dst
}

// escapeEnd reads the escape at the end of the text: %XX or %uXXXX. Its length is 0 when there is none.
func escapeEnd(text []byte) (c rune, length int) {
	n := len(text)
	if n >= 3 && text[n-3] == '%' {
		if c, ok := unhex(text[n-2:]); ok {
			return c, 3
		}
	}
	if n >= 6 && text[n-6] == '%' && text[n-5]|0x20 == 'u' {
		if c, ok := unhex(text[n-4:]); ok {
			return c, 6
		}
	}
	return 0, 0
}

func unhex(digits []byte) (v rune, ok bool) {
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

func ascii[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// shorten replaces ASCII characters that are written with more bytes than they need, which old decoders accept:
// C0 AF for "/".
func shorten(text []byte) []byte {
	kept := text[:0]
	for i := 0; i < len(text); {
		c, n := overlong(text[i:])
		kept = append(kept, c)
		i += n
	}
	return kept
}

// overlong reads one character that is too long, or else one byte.
func overlong(text []byte) (c byte, n int) {
	n = bits.LeadingZeros8(^text[0])
	if n < 2 || n > 6 || n > len(text) {
		return text[0], 1
	}
	v := uint64(text[0] & (0x7f >> n))
	for _, next := range text[1:n] {
		if next&0xc0 != 0x80 {
			return text[0], 1
		}
		v = v<<6 | uint64(next&0x3f)
	}
	if v >= utf8.RuneSelf {
		return text[0], 1
	}
	return byte(v), n
}
