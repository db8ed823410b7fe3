package waitingroom

import (
	"bytes"
	"strings"
)

const (
	// laneCookiesMax is how many lines of cookies the lane reads. Clients of HTTP/1.1 send one.
	laneCookiesMax = 4
	// laneNameMax is longer than the name of any header that concerns the lane.
	laneNameMax = 32
)

// read makes the gate's request of the header that w has read. It is false when the lane does not
// know, to the byte, what the server would make of it, or when it is not the lane's to answer.
func (w *laneWork) read(c *laneConn) bool {
	head := w.in[:w.n]
	if !bytes.Contains(head, []byte(CookieName)) {
		return false
	}
	if !w.parse(string(head)) {
		return false
	}
	w.request.Peer, w.request.HTTPS, w.request.Now = c.peer, c.tls != nil, c.lane.options.Handler.options.Now()
	return true
}

// parse reads a complete header, the empty line included.
func (w *laneWork) parse(head string) bool {
	p := laneParser{request: &w.request, cookies: w.cookies[:0]}
	w.request = Request{}
	line, rest, ok := nextLine(head)
	if !ok || !p.requestLine(line) {
		return false
	}
	for {
		if line, rest, ok = nextLine(rest); !ok {
			return false
		}
		if line == "" {
			w.request.Cookies = p.cookies
			return rest == "" && w.request.Host != "" && len(p.cookies) > 0
		}
		if !p.header(line) {
			return false
		}
	}
}

// nextLine cuts off a line, which must end in CR LF.
func nextLine(s string) (line, rest string, ok bool) {
	i := strings.IndexByte(s, '\r')
	if i < 0 || i+1 >= len(s) || s[i+1] != '\n' {
		return "", "", false
	}
	return s[:i], s[i+2:], true
}

// laneParser is one header being read.
type laneParser struct {
	request *Request
	cookies []string
	seen    uint16 // which fields were there, by their number in field
}

// requestLine reads "GET /path?query HTTP/1.1".
func (p *laneParser) requestLine(line string) bool {
	method, rest, _ := strings.Cut(line, " ")
	target, ok := strings.CutSuffix(rest, " HTTP/1.1")
	if !ok || target == "" || target[0] != '/' {
		return false
	}
	switch method {
	case "GET", "HEAD":
	default:
		return false
	}
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
	}
	p.request.Method = method
	p.request.Path, p.request.Query, _ = strings.Cut(target, "?")
	return isPlainPath(p.request.Path)
}

// isPlainPath tells a path that all servers read alike: without escapes, parameters, backslashes,
// empty and dot segments.
func isPlainPath(path string) bool {
	for i := range len(path) {
		if c := path[i]; c == '%' || c == '\\' || c == ';' || c == '.' && i > 0 && path[i-1] == '.' {
			return false
		}
	}
	return !strings.Contains(path, "//") && !strings.Contains(path, "/./") && !strings.HasSuffix(path, "/.")
}

// header reads "Name: value".
func (p *laneParser) header(line string) bool {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return false
	}
	value = strings.Trim(value, " \t")
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	var lower [laneNameMax]byte
	for i := range len(name) {
		c := name[i]
		if !isToken(c) {
			return false
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if i < len(lower) {
			lower[i] = c
		}
	}
	if len(name) > len(lower) {
		return true
	}
	return p.field(lower[:len(name)], value)
}

// field takes what concerns the gate. It is false for what the lane leaves to the server.
func (p *laneParser) field(name []byte, value string) bool {
	r := p.request
	switch string(name) { // no allocation: the compiler compares in place
	case "host":
		return isHost(value) && p.once(0, &r.Host, value)
	case "cookie":
		if len(p.cookies) == cap(p.cookies) {
			return false
		}
		p.cookies = append(p.cookies, value)
	case "accept":
		return p.once(1, &r.Accept, value)
	case "accept-language":
		return p.once(2, &r.AcceptLanguage, value)
	case "content-type":
		return p.once(3, &r.ContentType, value)
	case "sec-fetch-dest":
		return p.once(4, &r.FetchDest, value)
	case "sec-fetch-mode":
		return p.once(5, &r.FetchMode, value)
	case "x-requested-with":
		return p.once(6, &r.RequestedWith, value)
	case "origin":
		return p.once(7, &r.Origin, value)
	case "connection":
		return strings.EqualFold(value, "keep-alive")
	case "content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer", "range", "http2-settings",
		"purpose", "sec-purpose", "x-purpose", "x-moz", "service-worker", "access-control-request-method":
		return false
	}
	return true
}

// once takes a field that the client may send once.
func (p *laneParser) once(number uint, field *string, value string) bool {
	again := p.seen&(1<<number) != 0
	p.seen |= 1 << number
	*field = value
	return !again
}

// isHost tells a plain host with or without a port. The server knows more spellings.
func isHost(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte(".-_:[]", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// isToken tells a character that a header's name may have.
func isToken(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
		return true
	}
	return strings.IndexByte("!#$%&'*+.^_`|~", c) >= 0
}
