package waitingroom

import "strings"

// originBytesMax is the longest Origin that is echoed: scheme, a name of 253 bytes, port.
const originBytesMax = 300

// allowOrigin lets a script of another origin read the answer, so that it learns that its visitor
// waits. Nothing of the protected site is in such an answer. An opaque origin ("null") is not
// allowed: every sandboxed frame has it.
func allowOrigin(r *Request, a *Answer) {
	if !isOrigin(r.Origin) {
		return
	}
	a.set("Access-Control-Allow-Origin", r.Origin)
	a.set("Access-Control-Allow-Credentials", "true")
	a.set("Access-Control-Expose-Headers", "Retry-After, Refresh, "+StateHeader)
}

// isOrigin tells a serialized origin of the web, so that nothing else is ever echoed into a header.
func isOrigin(s string) bool {
	if len(s) > originBytesMax {
		return false
	}
	host, ok := strings.CutPrefix(s, "https://")
	if !ok {
		host, ok = strings.CutPrefix(s, "http://")
	}
	if !ok || host == "" {
		return false
	}
	for i := range len(host) {
		switch c := host[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte(".-_:[]", c) >= 0:
		default:
			return false
		}
	}
	return true
}
