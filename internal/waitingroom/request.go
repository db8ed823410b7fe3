package waitingroom

import (
	"net/netip"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// Request is what the gate needs of one HTTP request. Header values are as the client sent them; a
// header that was sent more than once is joined by a comma, but for Cookies. It must not change
// while [Gate.Decide] runs and is not kept afterwards.
type Request struct {
	Method string
	// Host is the host of the request, with or without a port. PublicHost is another one by which a
	// trusted proxy says that the visitor asked; it counts where no room covers the first.
	Host, PublicHost string
	// Path is the raw path as on the wire, still percent-encoded; Query is what follows the first
	// question mark.
	Path, Query string

	// Cookies are the lines of the Cookie header.
	Cookies        []string
	Accept         string
	AcceptLanguage string
	ContentType    string
	// FetchDest and FetchMode are Sec-Fetch-Dest and Sec-Fetch-Mode.
	FetchDest, FetchMode string
	// Purpose is Sec-Purpose, Purpose or X-Moz, whichever was sent.
	Purpose string
	// RequestedWith is X-Requested-With.
	RequestedWith string
	// Upgrade is the Upgrade header, or the :protocol of an extended CONNECT.
	Upgrade string
	Origin  string
	// PreflightMethod is Access-Control-Request-Method.
	PreflightMethod string
	// ServiceWorker is the Service-Worker header.
	ServiceWorker string

	// Peer is the visitor's address. It decides nothing about place or session: a visitor who changes
	// between IPv4 and IPv6 is the same one.
	Peer netip.Addr
	// HTTPS tells that the visitor came over TLS, also when a trusted proxy took it off.
	HTTPS bool

	Now time.Time
	// NewID, Draw and Nonce are fresh for each call of Decide; see Draws. A nonce that is used twice
	// breaks the cookie's seal.
	NewID queue.ID
	Draw  uint64
	Nonce [NonceSize]byte
	// Held tells that the request has been held already: it is answered now, whatever the room says.
	Held bool
}

// NonceSize is the size of a seal's nonce in bytes.
const NonceSize = 12

// safe tells a request that only reads.
func (r *Request) safe() bool {
	return r.Method == "GET" || r.Method == "HEAD" || r.Method == "OPTIONS" || r.Method == "TRACE"
}
