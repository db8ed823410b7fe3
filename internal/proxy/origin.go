package proxy

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
)

// The schemes of an origin. H2C is HTTP/2 without TLS and without an upgrade from HTTP/1.1.
const (
	schemeHTTP  = "http"
	schemeHTTPS = "https"
	schemeH2C   = "h2c"
)

// ParseOrigin reads an origin: http, https or h2c (HTTP/2 without TLS), "://", a name or an address,
// and a port if it is not the usual one. An IPv6 address may stand without brackets when no port
// follows. A path, query, fragment, user or zone is refused, because it could not be honoured.
func ParseOrigin(text string) (*url.URL, error) {
	scheme, rest, found := strings.Cut(strings.TrimSpace(text), "://")
	if !found {
		return nil, originError(text, "has no scheme", "write %s", suggestion(text))
	}
	scheme = strings.ToLower(scheme)
	if scheme != schemeHTTP && scheme != schemeHTTPS && scheme != schemeH2C {
		return nil, originError(text, "has the unknown scheme "+strconv.Quote(scheme), "use http, https or h2c")
	}
	rest = strings.TrimSuffix(rest, "/")
	switch {
	case strings.Contains(rest, "@"):
		return nil, originError(text, "has a user name or password", "leave it out; send credentials from the client")
	case strings.ContainsAny(rest, "?#"):
		return nil, originError(text, "has a query or a fragment", "leave it out")
	case strings.Contains(rest, "/"):
		return nil, originError(text, "has a path", "leave it out; paths reach the origin unchanged")
	}
	host, err := originHost(text, rest)
	if err != nil {
		return nil, err
	}
	return &url.URL{Scheme: scheme, Host: host}, nil
}

// originHost checks the part after the scheme and puts brackets where they belong.
func originHost(text, rest string) (string, error) {
	if strings.Contains(rest, "%") {
		return "", originError(text, "has an IPv6 zone or a percent sign",
			"use an address that is reachable without a zone, such as a global or a unique local one")
	}
	if addr, err := netip.ParseAddr(rest); err == nil && addr.Is6() {
		return "[" + rest + "]", nil // a bare IPv6 address: its colons are no port
	}
	name, port := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && i > strings.LastIndexByte(rest, ']') {
		name, port = rest[:i], rest[i+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", originError(text, "has the port "+strconv.Quote(port), "use a port from 1 to 65535, or none")
		}
	}
	bare, bracketed := strings.CutPrefix(name, "[")
	if bracketed {
		bare = strings.TrimSuffix(bare, "]")
		if addr, err := netip.ParseAddr(bare); err != nil || !addr.Is6() || name != "["+bare+"]" {
			return "", originError(text, "has "+name+", which is no IPv6 address", "write it like [2001:db8::1]")
		}
	} else if !validName(name) {
		return "", originError(text, "has no usable host", "write it like %s", "http://127.0.0.1:3000")
	}
	if port == "" {
		return name, nil
	}
	return net.JoinHostPort(bare, port), nil
}

// validName tells a DNS name or an IPv4 address from anything that would change the URL's meaning.
func validName(name string) bool {
	for _, c := range []byte(name) {
		if !isAlphanumeric(c) && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= 253
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// suggestion repairs what the operator most likely meant.
func suggestion(text string) string {
	host := strings.Trim(strings.TrimSpace(text), "/")
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		host = "[" + host + "]"
	}
	if host == "" {
		host = "127.0.0.1:3000"
	}
	return "http://" + host
}

func originError(text, fault, hint string, args ...any) error {
	return anteroom.Errorf(anteroom.CodeInvalid, "origin %q %s", text, fault).At("origin").WithHint(hint, args...)
}
