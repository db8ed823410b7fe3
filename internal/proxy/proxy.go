package proxy

import (
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/anteroom/anteroom"
)

// Proxy forwards requests to an origin. It is safe for concurrent use.
type Proxy struct {
	pick         Pick
	trust        Trust
	cookiePrefix string
	hooks        Hooks
	limits       Limits
	log          *slog.Logger
	transports   transports
	rests        *rests

	mu       sync.Mutex
	closed   bool                    // guarded by mu
	switched map[*tunnelled]struct{} // guarded by mu; connections under another protocol
}

// New makes a proxy; it opens no connection yet. The error names the option at fault.
func New(o Options) (*Proxy, error) {
	pick := o.Pick
	if pick == nil {
		if o.Origin == nil {
			return nil, anteroom.Errorf(anteroom.CodeInvalid, "origin is missing").At("origin").
				WithHint("name the site, such as http://127.0.0.1:3000")
		}
		origin, err := ParseOrigin(o.Origin.String())
		if err != nil {
			return nil, err
		}
		pick = func(*http.Request) (*url.URL, error) { return origin, nil }
	}
	p := &Proxy{
		pick:         pick,
		trust:        NewTrust(o.TrustedProxies),
		cookiePrefix: o.CookiePrefix,
		hooks:        o.Hooks,
		limits:       o.Limits.withDefaults(),
		log:          o.Logger,
		rests:        new(rests),
		switched:     map[*tunnelled]struct{}{},
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.transports = newTransports(&p.limits, o.TLS, p.rests)
	return p, nil
}

// withDefaults fills the fields that are zero.
func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&l.Dial, 5 * time.Second},
		{&l.TLSHandshake, 5 * time.Second},
		{&l.ResponseHeader, time.Minute},
		{&l.RequestIdle, time.Minute},
		{&l.ExpectContinue, time.Second},
		{&l.IdleConn, time.Minute},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if l.IdleConns == 0 {
		l.IdleConns = 512
	}
	if l.ResponseHeaderBytes == 0 {
		l.ResponseHeaderBytes = 256 << 10
	}
	return l
}

// Trust is the proxy's view of who may speak for others, for callers that need the same answers.
func (p *Proxy) Trust() Trust { return p.trust }

// ServeHTTP forwards a request that no room covers.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.Forward(w, r, Visit{}) //nolint:contextcheck // the context is the request's
}

// Close ends switched connections (WebSocket) and drops unused origin connections. Requests under way
// go on; end those with the server's Shutdown first.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	for t := range p.switched {
		t.close()
	}
	p.mu.Unlock()
	p.transports.closeIdle()
	return nil
}
