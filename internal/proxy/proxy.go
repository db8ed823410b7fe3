package proxy

import (
	"net/http"
	"net/url"
)

// Proxy forwards requests to an origin. It is safe for concurrent use.
type Proxy struct {
	trust Trust
}

// New makes a proxy; it opens no connection yet. The error names the option at fault.
func New(o Options) (*Proxy, error) { panic("soon") }

// Trust is the proxy's view of who may speak for others, for callers that need the same answers.
func (p *Proxy) Trust() Trust { return p.trust }

// ServeHTTP forwards a request that no room covers.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.Forward(w, r, Visit{}) }

// Forward sends the request to the origin and its answer to the visitor. Header fields that the caller
// has set on w are kept, Set-Cookie beside the origin's. w must offer Flush, and Hijack for WebSocket,
// by itself or through an Unwrap method.
//
// When the answer breaks off after its header was sent, Forward panics with [http.ErrAbortHandler], so
// that the server cuts the connection or resets the stream; callers must let that pass.
func (p *Proxy) Forward(w http.ResponseWriter, r *http.Request, v Visit) { panic("soon") }

// Close ends switched connections (WebSocket) and drops unused origin connections. Requests under way
// go on; end those with the server's Shutdown first.
func (p *Proxy) Close() error { panic("soon") }

// ParseOrigin reads an origin: http, https or h2c (HTTP/2 without TLS), "://", a name or an address,
// and a port if it is not the usual one. An IPv6 address may stand without brackets when no port
// follows. A path, query, fragment, user or zone is refused, because it could not be honoured.
func ParseOrigin(text string) (*url.URL, error) { panic("soon") }
