package waitingroom

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"

	"github.com/anteroom/anteroom/internal/sys"
)

// handed is a connection that the lane has handed over: it reads as if the lane had not.
type handed struct {
	net.Conn

	own    *laneConn
	before []byte // what the lane has read, as far as it has not been read again
}

// Read replays what the lane has read and then reads on.
func (h *handed) Read(p []byte) (int, error) {
	if len(h.before) == 0 {
		return h.Conn.Read(p)
	}
	n := copy(p, h.before)
	if h.before = h.before[n:]; len(h.before) == 0 {
		h.before = nil
	}
	return n, nil
}

// CloseWrite tells the peer that nothing more comes, when the connection can.
func (h *handed) CloseWrite() error {
	if c, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

func (h *handed) laneSide() *handed { return h }

// handedTLS is a connection with TLS. The server knows by ConnectionState that it has it.
type handedTLS struct {
	*handed

	tls *tls.Conn
}

// ConnectionState is the state of the connection's TLS.
func (h handedTLS) ConnectionState() tls.ConnectionState { return h.tls.ConnectionState() }

// laneKey is where a request's context has the connection that came over the lane.
type laneKey struct{}

// ConnContext is the server's hook for new connections; without it none comes back to the lane.
func (l *Lane) ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(interface{ laneSide() *handed }); ok {
		return context.WithValue(ctx, laneKey{}, c.laneSide())
	}
	return ctx
}

// reply sends an answer of the gate: on the lane when the next request is likely to be for it, else
// through the server.
func reply(w http.ResponseWriter, r *http.Request, a *Answer) {
	if !giveBack(w, r, a) {
		write(w, r, a)
	}
}

// giveBack answers a visitor who got a place in line, and brings the connection back to the lane: most
// visitors begin without a cookie, and wait on the connection that they began with.
func giveBack(w http.ResponseWriter, r *http.Request, a *Answer) bool {
	h, ok := r.Context().Value(laneKey{}).(*handed)
	if !ok || len(a.Cookie) == 0 || !simple(r) {
		return false
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	c, l := h.own, h.own.lane
	early, _ := buffered.Peek(buffered.Reader.Buffered()) // as many as there are cannot fail
	c.pending = slices.Concat(early, h.before)
	h.before = nil
	now := sys.Now()
	c.until = now // the deadline is the server's
	c.extend(now)
	work := l.take()
	defer l.release(work)
	last := l.closing.Load()
	work.out = appendAnswer(work.out[:0], a, l.dateAt(now), r.Method == http.MethodHead, last)
	if _, err = conn.Write(work.out); err != nil || last {
		_ = conn.Close() // nobody is left to tell
		return true
	}
	l.enter(c)
	return true
}

// simple tells a request after which the connection can go on without the server.
func simple(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ProtoMajor == 1 && r.ProtoMinor == 1 &&
		r.ContentLength == 0 && len(r.TransferEncoding) == 0 && !r.Close && r.Header["Connection"] == nil && r.Header["Upgrade"] == nil
}
