package proxy

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Pick chooses the origin of one attempt. It is called again for a repeated attempt. The URL must be
// one that [ParseOrigin] could have made.
type Pick func(r *http.Request) (*url.URL, error)

// Options are the settings of a [Proxy]. The zero value of each field but Origin is usable.
type Options struct {
	// Origin is where every request goes; see [ParseOrigin]. Pick overrides it.
	Origin *url.URL
	// Pick chooses among several origins. Nil means always Origin.
	Pick Pick
	// Logger gets one line per failure of the origin. Nil means no log.
	Logger *slog.Logger
	// TrustedProxies are the peers whose X-Forwarded-* and Forwarded fields count. Default: nobody's.
	TrustedProxies []netip.Prefix
	// CookiePrefix is the base name of our own cookies: a cookie of that name, or of that name with '_'
	// and a suffix, never reaches the origin. Empty strips only the names that a Visit gives.
	CookiePrefix string
	// TLS is the base of the TLS settings towards an https origin. Nil means the system's roots.
	TLS *tls.Config
	// Hooks feed the metrics.
	Hooks Hooks
	// Limits are the times and sizes.
	Limits Limits
}

// Hooks are called once per event and must not block. Any of them may be nil.
type Hooks struct {
	// Failed counts a request that the origin did not answer completely, by its reason.
	Failed func(reason Reason)
	// Answered reports the status of an origin's answer and the time until its header was complete.
	Answered func(status int, took time.Duration)
}

// Limits are the times and sizes of a [Proxy]. Zero means the default, a negative time means none.
type Limits struct {
	// Dial is the longest time for the name lookup and the TCP connection. Default 5 s.
	Dial time.Duration
	// TLSHandshake is the longest time for the TLS handshake with the origin. Default 5 s.
	TLSHandshake time.Duration
	// ResponseHeader is the longest time from the end of the request to the end of the answer's header.
	// Default 60 s. A body, once begun, may take as long as it likes.
	ResponseHeader time.Duration
	// RequestIdle is the longest time in which a visitor's upload may make no progress. Default 60 s.
	// There is no limit on the whole upload.
	RequestIdle time.Duration
	// ExpectContinue is how long the origin may take to ask for a body that waits for its 100
	// (Continue); after that the body is sent. Default 1 s.
	ExpectContinue time.Duration
	// IdleConn is how long an unused origin connection is kept. Default 60 s.
	IdleConn time.Duration
	// IdleConns is how many unused connections are kept per origin. Default 512.
	IdleConns int
	// ResponseHeaderBytes bounds the answer's header. Default 256 KiB.
	ResponseHeaderBytes int64
}

// Visit is what the gate knows of an admitted request. The zero value is a request that no room covers.
type Visit struct {
	// Room is the room's name and goes to the origin as Anteroom-Room; empty sends none.
	Room string
	// Ticket is the visitor's ticket id and goes to the origin as Anteroom-Ticket; empty sends none.
	Ticket string
	// StripCookies are names of cookies that the origin must not see, beside Options.CookiePrefix.
	StripCookies []string
	// Client is what [Trust.Client] found, when the gate has asked already. The zero value makes the
	// proxy ask itself.
	Client Client
	// Answer, when set, sees and may change the header of the origin's final answer before it is sent
	// on, for example to act on a command of the origin. It is called for a switched protocol (101) too,
	// and not for the proxy's own errors.
	Answer func(status int, header http.Header)
}

// Header fields that the origin receives from us and from nobody else.
const (
	HeaderRoom   = "Anteroom-Room"
	HeaderTicket = "Anteroom-Ticket"
)

// Reason says why a request got no complete answer of the origin. It is the label of the metric and
// the field "reason" of the log line. The list is closed.
type Reason string

// The reasons, each with the status that the visitor gets.
const (
	ReasonLookup        Reason = "lookup"         // 502: the origin's name was not found
	ReasonDial          Reason = "dial"           // 502: no connection
	ReasonDialTimeout   Reason = "dial_timeout"   // 504: no connection in time
	ReasonTLS           Reason = "tls"            // 502: handshake or certificate
	ReasonHeaderTimeout Reason = "header_timeout" // 504: connected, but no answer in time
	ReasonClosed        Reason = "closed"         // 502: the origin ended the exchange before its answer
	ReasonMalformed     Reason = "malformed"      // 502: the answer is not HTTP or over the limits
	ReasonTruncated     Reason = "truncated"      // cut: the answer broke off after its header
	ReasonUpgrade       Reason = "upgrade"        // 502: a broken protocol switch
	ReasonNoOrigin      Reason = "no_origin"      // 503: Pick found none
	ReasonClientGone    Reason = "client_gone"    // 499: the visitor left; nobody's fault
	ReasonClientStalled Reason = "client_stalled" // 408: the upload made no progress
	ReasonClientBody    Reason = "client_body"    // 400 or 413: the upload itself is at fault
	ReasonClientRequest Reason = "client_request" // 400 or 405: refused, nothing was forwarded
)

// Reasons lists every reason, so that metrics can make their series before the first failure.
func Reasons() []Reason {
	return []Reason{
		ReasonLookup, ReasonDial, ReasonDialTimeout, ReasonTLS, ReasonHeaderTimeout, ReasonClosed,
		ReasonMalformed, ReasonTruncated, ReasonUpgrade, ReasonNoOrigin, ReasonClientGone,
		ReasonClientStalled, ReasonClientBody, ReasonClientRequest,
	}
}

// visitors tells the reasons that are no fault of the origin.
func (r Reason) visitors() bool { return strings.HasPrefix(string(r), "client_") }

// StatusClientGone is the status that stands in logs for a visitor who left before the answer.
const StatusClientGone = 499
