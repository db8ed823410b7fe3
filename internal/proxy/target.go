package proxy

import (
	"net/http"
	"net/url"
	"strings"
)

// target makes the URL of one attempt from the request target as the visitor wrote it, so that the
// origin reads the same bytes. It reports false for a target that cannot be passed on unchanged or
// that the origin might read differently from the gate:
//
//	/a%2Fb  /a/../b  //x  /a;b=c  /a?b%zz  /ä (raw bytes)    unchanged
//	http://host/path?query                                  as /path?query
//	*                                                       unchanged for OPTIONS, else refused
//	/a#b                                                    refused: some origins stop reading at '#'
//	//x with bytes that a URL must encode                   refused
func target(r *http.Request, origin *url.URL) (*url.URL, bool) {
	raw, ok := originForm(r)
	if !ok || strings.ContainsAny(raw, "# \t\r\n") {
		return nil, false
	}
	u := &url.URL{Scheme: origin.Scheme, Host: origin.Host}
	if u.Scheme == schemeH2C {
		u.Scheme = schemeHTTP
	}
	if !strings.HasPrefix(raw, "//") {
		u.Opaque = raw // sent byte by byte
		return u, true
	}
	// An opaque part that begins with two slashes would be sent in absolute form.
	path, query, asked := strings.Cut(raw, "?")
	decoded, err := url.PathUnescape(path)
	if err != nil {
		return nil, false
	}
	u.Path, u.RawPath, u.RawQuery, u.ForceQuery = decoded, path, query, asked
	return u, u.RequestURI() == raw
}

// originForm is the target without the scheme and authority of a request to a proxy.
func originForm(r *http.Request) (string, bool) {
	raw := r.RequestURI
	if raw == "" {
		raw = r.URL.RequestURI() // a request that did not come from a server
	}
	if strings.HasPrefix(raw, "/") {
		return raw, true
	}
	if raw == "*" {
		return raw, r.Method == http.MethodOptions
	}
	scheme, rest, found := strings.Cut(raw, "://")
	if !found || !isScheme(scheme) {
		return "", false
	}
	i := strings.IndexAny(rest, "/?")
	switch {
	case i < 0:
		return "/", true
	case rest[i] == '?':
		return "/" + rest[i:], true
	}
	return rest[i:], true
}
