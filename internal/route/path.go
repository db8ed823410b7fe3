package route

import (
	"bytes"
	"strings"
)

// CanonicalPath is what most servers would serve for a raw path: escapes are decoded once, "\" is "/", ";" and
// what follows in a segment is dropped, empty and dot segments are resolved, and so is a slash at the end. The
// path of a full URL counts; "*" and an empty path are "/". A "%" that is no escape stays as it is, one that would
// become an escape is written as %25, so a canonical path is its own canonical path.
//
// It is for showing and comparing routes. [Table.Match] looks at more readings than this one.
func CanonicalPath(raw string) string {
	path, _ := originForm(raw)
	if !plain(path) {
		return resolve(decodeOnce(path))
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// originForm gives the path of a request target: it begins with a separator. It is odd when the target is
// neither a path nor a full URL nor "*".
func originForm(target string) (path string, odd bool) {
	if target == "" || target == "*" {
		return "/", false
	}
	if isSeparator(target[0]) {
		return target, false
	}
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok || strings.ContainsAny(scheme, `/\?#`) {
		return "/" + target, true
	}
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 && isSeparator(rest[i]) {
		return rest[i:], false
	}
	return "/", false
}

// resolve drops parameters, empty segments and dot segments of a decoded path.
func resolve(text string) string {
	kept := make([]byte, 0, len(text)+8)
	for rest, more := text, true; more; {
		var segment string
		segment, rest, more = cutSegment(rest)
		segment, _, _ = strings.Cut(segment, ";")
		switch segment {
		case "", ".":
		case "..":
			kept = kept[:max(bytes.LastIndexByte(kept, '/'), 0)]
		default:
			kept = append(append(kept, '/'), segment...)
		}
	}
	if len(kept) == 0 {
		return "/"
	}
	return protect(string(kept))
}

func decodeOnce(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if v, ok := escapeAt(text, i); ok {
			out = append(out, v)
			i += 2
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

// protect writes "%" as %25 where it would be read as an escape.
func protect(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+8)
	for i := range len(text) {
		out = append(out, text[i])
		if _, ok := escapeAt(text, i); ok {
			out = append(out, "25"...)
		}
	}
	return string(out)
}

func escapeAt(text string, i int) (byte, bool) {
	if text[i] != '%' || i+3 > len(text) {
		return 0, false
	}
	v, ok := unhex([]byte(text[i+1 : i+3]))
	return byte(v), ok
}
