package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"sync"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

// retryPause is how long a second attempt at the same origin waits.
const retryPause = 50 * time.Millisecond

// exchange is one request and its answer.
type exchange struct {
	p       *Proxy
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	visit   Visit
	client  Client
	began   time.Time
	upgrade string  // the protocol to switch to, or empty
	upload  *upload // nil without a body
	origin  *url.URL

	reader *uploadReader // the attempt's body; changed by the transport between its own attempts only
	first  first         // the beginning of a short answer
	conn   *conn         // the attempt's HTTP/1 connection; nil in HTTP/2
	use    *use

	interimMu sync.Mutex // held while an interim answer is written
	answered  bool       // guarded by interimMu; the final answer has begun
}

// Forward sends the request to the origin and its answer to the visitor. Header fields that the caller
// has set on w are kept, Set-Cookie beside the origin's. w must offer Flush, and Hijack for WebSocket,
// by itself or through an Unwrap method. The request target is taken from r.RequestURI: changes to
// r.URL have no effect.
//
// When the answer breaks off after its header was sent, Forward panics with [http.ErrAbortHandler], so
// that the server cuts the connection or resets the stream; callers must let that pass.
func (p *Proxy) Forward(w http.ResponseWriter, r *http.Request, v Visit) {
	x := &exchange{
		p: p, w: w, r: r, visit: v, client: v.Client, began: sys.Now(),
		control: http.NewResponseController(w),
	}
	if !x.client.known {
		x.client = p.trust.Client(r)
	}
	if r.ContentLength != 0 && r.Body != nil && r.Body != http.NoBody {
		x.upload = newUpload(x)
		defer x.endUpload()
	}
	if r.Method == http.MethodConnect || r.Method == http.MethodTrace {
		// CONNECT asks for a tunnel, which is not ours to give; TRACE would echo what we add.
		x.fail(&refusal{http.StatusMethodNotAllowed})
		return
	}
	x.upgrade = wantedUpgrade(r)
	defer func() { x.first.free() }()
	ctx, release := x.context()
	defer release()
	res, err := x.roundTrip(ctx)
	if err != nil {
		x.fail(err)
		return
	}
	x.heard(res.StatusCode)
	if res.StatusCode == http.StatusSwitchingProtocols {
		x.switchProtocols(res)
		return
	}
	x.answer(res)
}

// context ends when the visitor leaves.
func (x *exchange) context() (context.Context, func()) {
	if x.upload != nil && x.r.ProtoMajor == 1 {
		return x.upload.detached()
	}
	return x.r.Context(), func() {}
}

// endUpload gives the request body back to the server, after a while for a visitor who still sends.
func (x *exchange) endUpload() {
	x.upload.stop()
	if x.upload.done() || x.r.ProtoMajor != 1 {
		return // HTTP/2 ends the stream by itself
	}
	if broken := recover(); broken != nil {
		panic(broken) // the connection is about to be cut
	}
	_ = x.control.Flush()
	buf := getBuffer()
	defer putBuffer(buf)
	x.upload.drain(*buf)
}

// roundTrip tries until an origin has answered or the request may have reached one.
func (x *exchange) roundTrip(ctx context.Context) (*http.Response, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:        x.gotConn,
		Got1xxResponse: x.interim,
	})
	for try := 1; ; try++ {
		origin, err := x.p.pick(x.r)
		if err != nil {
			return nil, &noOrigin{err}
		}
		x.origin, x.conn = origin, nil
		out, err := x.outgoing(ctx)
		if err != nil {
			return nil, err
		}
		res, err := x.p.transports.of(origin.Scheme, x.upgrade != "").RoundTrip(out)
		if err == nil {
			err = x.readFirst(res)
		}
		if err == nil {
			x.endInterim()
			return res, nil
		}
		if try > 1 || !mayRepeat(err) && !x.mayRepeatShared(out, err) || sys.Sleep(ctx, retryPause) != nil {
			x.endInterim()
			return nil, err
		}
	}
}

// mayRepeat tells that no byte of the request has left and that another attempt may fare better. A
// time-out has cost the visitor enough.
func mayRepeat(err error) bool {
	var s *stage
	return errors.As(err, &s) && s.reason != ReasonDialTimeout
}

// sharedHeaderBytes is the largest header of a request that is repeated after its HTTP/2 connection broke.
const sharedHeaderBytes = 4 << 10

// mayRepeatShared tells that a request may have failed through no doing of its own: an HTTP/2 origin
// ends a connection, and all that share it, over one oversized header. A request that could be the
// culprit is not repeated, else it would take the next connection down as well.
func (x *exchange) mayRepeatShared(out *http.Request, err error) bool {
	if x.conn != nil || x.upload != nil || !repeatable(x.r.Method) || x.upgrade != "" {
		return false
	}
	if reason, _ := x.originFault(err); reason != ReasonClosed {
		return false
	}
	size := len(out.URL.Opaque) + len(out.URL.Path) + len(out.URL.RawQuery)
	for name, values := range out.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return size <= sharedHeaderBytes
}

// outgoing makes the request of one attempt.
func (x *exchange) outgoing(ctx context.Context) (*http.Request, error) {
	u, ok := target(x.r, x.origin)
	if !ok {
		return nil, &refusal{http.StatusBadRequest}
	}
	out := x.r.WithContext(ctx)
	out.URL = u
	out.Header = x.outgoingHeader()
	out.Body, out.GetBody, out.Trailer, out.TransferEncoding = nil, nil, nil, nil
	out.ContentLength = 0
	out.Close = false
	if x.upgrade != "" {
		out.Header["Connection"] = []string{"Upgrade"}
		out.Header["Upgrade"] = []string{x.upgrade}
	}
	if x.upload == nil {
		return out, nil
	}
	x.reader = x.upload.reader()
	out.Body = x.reader
	out.GetBody = x.again
	out.ContentLength = x.r.ContentLength
	out.Trailer = x.upload.trailer
	if out.Trailer != nil && x.origin.Scheme != schemeH2C {
		out.ContentLength = -1 // HTTP/1 has trailers in a chunked body only
	}
	return out, nil
}

// again starts the body anew for the transport's own second attempt, which it makes when a connection
// was dead before anything was sent, or when the origin said that it has not begun.
func (x *exchange) again() (io.ReadCloser, error) {
	x.reader = x.upload.reader()
	return x.reader, nil
}

// gotConn takes over the transport's choice of a connection.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	c := originConn(info.Conn)
	x.conn = c
	if c == nil {
		return
	}
	if info.WasIdle && !repeatable(x.r.Method) && info.IdleTime > x.p.rests.max() {
		c.refuse()
		return
	}
	x.use = &use{upload: x.upload, reader: x.reader}
	c.begin(x.use)
}

// repeatable tells the methods that the transport repeats when a resting connection turns out dead.
func repeatable(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// originConn finds our connection of an HTTP/1 exchange; nil for HTTP/2, whose many requests share one.
func originConn(c any) *conn {
	if t, ok := c.(*tls.Conn); ok {
		if t.ConnectionState().NegotiatedProtocol == "h2" {
			return nil
		}
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own
}

// interim passes on an interim answer such as 103 (Early Hints). 100 (Continue) is not among them: the
// server sends it when the transport, told by the origin, begins to read the body.
func (x *exchange) interim(code int, header textproto.MIMEHeader) error {
	if code == http.StatusContinue {
		return nil
	}
	x.interimMu.Lock()
	defer x.interimMu.Unlock()
	if x.answered {
		return nil
	}
	dropHop(http.Header(header))
	h := x.w.Header()
	callers := make(http.Header, len(h)) // the caller's fields belong to the final answer
	maps.Copy(callers, h)
	clear(h)
	maps.Copy(h, http.Header(header))
	x.w.WriteHeader(code)
	clear(h)
	maps.Copy(h, callers)
	return nil
}

// endInterim makes the header of the answer ours alone: the transport may still read an interim answer.
func (x *exchange) endInterim() {
	x.interimMu.Lock()
	x.answered = true
	x.interimMu.Unlock()
}

func (x *exchange) heard(status int) {
	if x.p.hooks.Answered != nil {
		x.p.hooks.Answered(status, sys.Since(x.began))
	}
}
