package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// stage names the part of making a connection that failed. Nothing of the request was sent then.
type stage struct {
	reason Reason
	err    error
}

func (s *stage) Error() string { return fmt.Sprintf("%s: %v", s.reason, s.err) }
func (s *stage) Unwrap() error { return s.err }

// dialer makes connections to origins.
type dialer struct {
	net       net.Dialer
	tls       *tls.Config
	handshake time.Duration
	rests     *rests

	mu   sync.Mutex
	good map[string]string // guarded by mu; the address that a name last led to, by host and port
}

// goodMax bounds the addresses remembered for names.
const goodMax = 1024

// dial connects. A name is looked up anew each time; when the lookup fails, the last address that
// worked is tried, so that a broken resolver does not take a healthy site down.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, addr)
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		if last := d.last(addr); last != "" {
			c, err = d.net.DialContext(ctx, network, last)
		}
	}
	if err != nil {
		return nil, &stage{dialReason(err), err}
	}
	d.remember(addr, c.RemoteAddr().String())
	return &conn{Conn: c, rests: d.rests}, nil
}

// dialClear connects for HTTP/2, whose requests share a connection: conn's corrections are not for it.
func (d *dialer) dialClear(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return c.(*conn).Conn, nil //nolint:forcetypeassert // dial makes nothing else
}

// dialTLS connects and shakes hands, so that a failure of either is known as such.
func (d *dialer) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	c := tls.Client(raw, config)
	if d.handshake > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.handshake)
		defer cancel()
	}
	if err := c.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, &stage{tlsReason(err), err}
	}
	return c, nil
}

func (d *dialer) last(addr string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.good[addr]
}

func (d *dialer) remember(addr, resolved string) {
	if addr == resolved {
		return // an address, not a name
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.good) >= goodMax {
		clear(d.good)
	}
	d.good[addr] = resolved
}

func dialReason(err error) Reason {
	var lookup *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &lookup):
		return ReasonLookup
	case errors.As(err, &timeout) && timeout.Timeout():
		return ReasonDialTimeout
	}
	return ReasonDial
}

func tlsReason(err error) Reason {
	if errors.Is(err, context.DeadlineExceeded) {
		return ReasonDialTimeout
	}
	return ReasonTLS
}

// transports are the ways to an origin: HTTP/1.1 (or over TLS what the origin prefers), and HTTP/2
// without TLS. They share the dialer and keep no proxy, cookie or compression of their own.
type transports struct {
	plain, h2c *http.Transport
}

func newTransports(l *Limits, base *tls.Config, r *rests) transports {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if base != nil {
		config = base.Clone()
	}
	config.NextProtos = []string{"h2", "http/1.1"}
	d := &dialer{
		net:       net.Dialer{Timeout: max(0, l.Dial), KeepAlive: 30 * time.Second},
		tls:       config,
		handshake: l.TLSHandshake,
		rests:     r,
		good:      map[string]string{},
	}
	plain := newTransport(l, d)
	plain.Protocols = new(http.Protocols)
	plain.Protocols.SetHTTP1(true)
	plain.Protocols.SetHTTP2(true)
	h2c := newTransport(l, d)
	h2c.DialContext = d.dialClear
	h2c.Protocols = new(http.Protocols)
	h2c.Protocols.SetUnencryptedHTTP2(true)
	return transports{plain: plain, h2c: h2c}
}

func newTransport(l *Limits, d *dialer) *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // the environment must not redirect a site's traffic
		DialContext:            d.dial,
		DialTLSContext:         d.dialTLS,
		DisableCompression:     true, // the visitor's own Accept-Encoding decides
		MaxIdleConns:           0,
		MaxIdleConnsPerHost:    l.IdleConns,
		IdleConnTimeout:        max(0, l.IdleConn),
		ResponseHeaderTimeout:  max(0, l.ResponseHeader),
		ExpectContinueTimeout:  max(0, l.ExpectContinue),
		MaxResponseHeaderBytes: l.ResponseHeaderBytes,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: 30 * time.Second, // finds an origin that vanished without a word
			PingTimeout:     15 * time.Second,
		},
	}
}

// of chooses by the origin's scheme. A protocol switch needs HTTP/1.1, which an h2c origin offers on
// the same port.
func (t *transports) of(scheme string, upgrade bool) *http.Transport {
	if scheme == schemeH2C && !upgrade {
		return t.h2c
	}
	return t.plain
}

func (t *transports) closeIdle() {
	t.plain.CloseIdleConnections()
	t.h2c.CloseIdleConnections()
}
