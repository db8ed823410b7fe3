package proxy

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// outgoingHeader makes the header that the origin sees: the visitor's fields less those of the hop,
// those that only we may say and our cookies, and then our own.
func (x *exchange) outgoingHeader() http.Header {
	in := x.r.Header
	out := make(http.Header, len(in)+9)
	named := namedByConnection(in["Connection"])
	for name, values := range in {
		if !reserved(name, x.client.trusted) && !slices.Contains(named, name) {
			out[name] = values
		}
	}
	stripCookies(out, ownCookie{prefix: x.p.cookiePrefix, names: x.visit.StripCookies})
	setForwarded(out, &x.client)
	if x.visit.Room != "" {
		out[HeaderRoom] = []string{x.visit.Room}
	}
	if x.visit.Ticket != "" {
		out[HeaderTicket] = []string{x.visit.Ticket}
	}
	if hasToken(in["Te"], "trailers") {
		out["Te"] = []string{"trailers"} // RFC 9110 10.1.4: what gRPC origins look for
	}
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = nil // keeps the transport from adding its own
	}
	return out
}

// reserved tells which fields of a visitor never reach the origin: those of the hop, those that we
// write ourselves, those by which an address could be forged, and any spelling with '_' or '.' that
// an origin which folds names (CGI, WSGI) would take for one of them.
func reserved(name string, trusted bool) bool {
	if strings.ContainsAny(name, "_.") {
		name = http.CanonicalHeaderKey(strings.NewReplacer("_", "-", ".", "-").Replace(name))
		return reserved(name, false) || framing(name)
	}
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"Http2-Settings", "Proxy-Authenticate", "Proxy-Authorization",
		"Proxy", // a CGI origin would take it for its own HTTP_PROXY
		"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip":
		return true
	case "True-Client-Ip", "Client-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Forwarded-For",
		"X-Originating-Ip", "X-Remote-Ip", "X-Remote-Addr", "Cf-Connecting-Ip", "Cf-Connecting-Ipv6",
		"Cf-Pseudo-Ipv4", "Cf-Visitor", "Cf-Ipcountry", "Fastly-Client-Ip", "X-Appengine-User-Ip", "X-Azure-Clientip",
		"X-Original-Url", "X-Rewrite-Url":
		return !trusted
	}
	return strings.HasPrefix(name, "Anteroom-") || !trusted && strings.HasPrefix(name, "X-Forwarded-")
}

// framing tells the fields that decide where a message ends or whom it is for.
func framing(name string) bool {
	return name == "Content-Length" || name == "Transfer-Encoding" || name == "Host" || name == "Trailer"
}

// trailerAllowed tells which trailer fields of a visitor reach the origin: none that would mean
// something else, were it taken for a header field.
func trailerAllowed(name string) bool {
	switch name {
	case "Cookie", "Authorization", "Expect", "Content-Type", "Content-Encoding", "Range", "Max-Forwards":
		return false
	}
	return !reserved(name, false) && !framing(name)
}

// dropHop removes the fields of an origin's answer that are meant for us alone. Alt-Svc goes too: it
// would lead visitors past us.
func dropHop(h http.Header) {
	for _, name := range namedByConnection(h["Connection"]) {
		delete(h, name)
	}
	for _, name := range [...]string{
		"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"Proxy-Authenticate", "Alt-Svc",
	} {
		delete(h, name)
	}
}

// namedByConnection lists the fields that the sender declared to be of this hop only.
func namedByConnection(lines []string) []string {
	var named []string
	for _, line := range lines {
		for token := range strings.SplitSeq(line, ",") {
			token = textproto.TrimString(token)
			if token != "" && !strings.EqualFold(token, "close") && !strings.EqualFold(token, "keep-alive") {
				named = append(named, http.CanonicalHeaderKey(token))
			}
		}
	}
	return named
}

func hasToken(lines []string, token string) bool {
	for _, line := range lines {
		for t := range strings.SplitSeq(line, ",") {
			t, _, _ = strings.Cut(t, ";")
			if strings.EqualFold(textproto.TrimString(t), token) {
				return true
			}
		}
	}
	return false
}
