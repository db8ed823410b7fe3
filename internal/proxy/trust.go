package proxy

import (
	"net/http"
	"net/netip"
)

// Trust knows which peers may speak for others. The zero value trusts nobody.
type Trust struct {
	prefixes []netip.Prefix
}

// NewTrust makes a Trust; an IPv4 prefix also covers the same addresses mapped into IPv6.
func NewTrust(prefixes []netip.Prefix) Trust { panic("soon") }

// Client is who asks, and for what, as far as trusted peers vouch for it.
type Client struct {
	// Addr is the client's address: the peer, or behind trusted proxies the right-most address that is
	// not theirs. It has no zone. It is not valid when the peer is no IP address (a Unix socket).
	Addr netip.Addr
	// Scheme is "http" or "https", as the client spoke it.
	Scheme string
	// Host is the host, with its port if it had one, that the client asked for.
	Host string

	peer  netip.Addr   // the other end of our connection
	chain []netip.Addr // trusted hops between Addr and peer, from the client on; nil without any
}

// Client finds out who sent the request. It reads RemoteAddr, TLS, Host and, from trusted peers,
// X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host and Forwarded.
func (t Trust) Client(r *http.Request) Client { panic("soon") }
