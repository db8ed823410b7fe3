package proxy

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Trust knows which peers may speak for others. The zero value trusts nobody.
type Trust struct {
	prefixes []netip.Prefix
}

// chainMax bounds how many hops are read from X-Forwarded-For or Forwarded, from the right.
const chainMax = 32

// NewTrust makes a Trust; an IPv4 prefix also covers the same addresses mapped into IPv6.
func NewTrust(prefixes []netip.Prefix) Trust {
	t := Trust{prefixes: make([]netip.Prefix, 0, len(prefixes))}
	for _, p := range prefixes {
		if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
		}
		t.prefixes = append(t.prefixes, p.Masked())
	}
	return t
}

// Trusts tells whether the address may speak for others.
func (t Trust) Trusts(a netip.Addr) bool {
	return a.IsValid() && slices.ContainsFunc(t.prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Client is who asks, and for what, as far as trusted peers vouch for it.
type Client struct {
	// Addr is the client's address: the peer, or behind trusted proxies the right-most address that is
	// not theirs. It has no zone. It is not valid when the peer is no IP address (a Unix socket).
	Addr netip.Addr
	// Scheme is "http" or "https", as the client spoke it.
	Scheme string
	// Host is the host, with its port if it had one, that the client asked for.
	Host string

	known   bool         // made by Trust.Client
	trusted bool         // the peer may speak for others
	hops    []netip.Addr // trusted proxies that the request came through, the peer last
}

// Client finds out who sent the request. It reads RemoteAddr, TLS, Host and, from trusted peers,
// X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host and, without X-Forwarded-For, Forwarded.
// What stands left of the first address that is not trusted could have been written by anybody and
// is ignored.
func (t Trust) Client(r *http.Request) Client {
	c := Client{Addr: peerAddr(r.RemoteAddr), Scheme: schemeHTTP, Host: r.Host, known: true}
	if r.TLS != nil {
		c.Scheme = schemeHTTPS
	}
	if len(t.prefixes) == 0 || !t.Trusts(c.Addr) {
		return c
	}
	c.trusted = true
	var chain []hop
	if lines := r.Header["X-Forwarded-For"]; len(lines) > 0 {
		chain = forwardedFor(lines)
	} else if lines := r.Header["Forwarded"]; len(lines) > 0 {
		chain = parseForwarded(lines)
	}
	t.follow(&c, chain)
	if proto := lastElement(r.Header["X-Forwarded-Proto"]); isScheme(proto) {
		c.Scheme = strings.ToLower(proto)
	}
	if host := lastElement(r.Header["X-Forwarded-Host"]); validHost(host) {
		c.Host = host
	}
	return c
}

// follow walks the chain from the peer towards the client, as long as each hop is trusted.
func (t Trust) follow(c *Client, chain []hop) {
	for _, h := range slices.Backward(chain) {
		if isScheme(h.proto) {
			c.Scheme = strings.ToLower(h.proto)
		}
		if validHost(h.host) {
			c.Host = h.host
		}
		if !h.addr.IsValid() {
			return // hidden or garbage: the last trusted hop is all that is known
		}
		c.hops = append(c.hops, c.Addr)
		c.Addr = h.addr
		if !t.Trusts(h.addr) {
			break
		}
	}
	slices.Reverse(c.hops)
}

// peerAddr reads "address:port" as net/http writes it.
func peerAddr(remote string) netip.Addr {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

func isScheme(s string) bool {
	return strings.EqualFold(s, schemeHTTP) || strings.EqualFold(s, schemeHTTPS)
}

// validHost tells whether a host from a trusted peer is fit to be repeated in a header field.
func validHost(host string) bool {
	for _, c := range []byte(host) {
		if !isAlphanumeric(c) && !strings.ContainsRune(".-_:[]", rune(c)) {
			return false
		}
	}
	return host != "" && len(host) <= 260
}

// lastElement is the right-most element of a comma-separated field of one or more lines: what the
// peer itself said.
func lastElement(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	last := lines[len(lines)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}
