package waitingroom

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

const (
	// laneHeadMax is the largest header that the lane reads. Larger ones are the server's.
	laneHeadMax = 8 << 10
	// laneOutKeep is the largest buffer for an answer that is kept for the next one: an operator's
	// page may be much larger than the rest.
	laneOutKeep = 64 << 10
	// deadlineGrain is how much shorter than asked a deadline may be. Setting one takes a lock that
	// all timers of a processor share.
	deadlineGrain = time.Second
)

// laneConn is a connection of a lane. While it rests it owns no buffer.
type laneConn struct {
	lane *Lane
	conn net.Conn // what answers are written to: the accepted connection, or the TLS one on top
	peer netip.Addr
	tls  *tls.Conn // nil for plain HTTP
	wire laneWire  // what is below tls

	begun bool // the connection is no new one
	// until is when the connection's deadline ends; zero when that is not the idle timeout's.
	until time.Time
	// pending are bytes that were read and belong to the next request; nearly always empty.
	pending []byte

	first [1]byte         // what the wait for a request ends with, where raw is nil
	raw   syscall.RawConn // nil when the system has none, and for TLS
	// try is tryRead, made once because a method value is an allocation. It leaves its result in got.
	try func(fd uintptr) bool
	got *laneWork
	err error
}

// laneWork is what one request needs; it is used again by any connection.
type laneWork struct {
	in      [laneHeadMax]byte
	n       int // bytes read
	out     []byte
	cookies [laneCookiesMax]string
	request Request
	answer  Answer
}

func newLaneConn(l *Lane, conn net.Conn) *laneConn {
	c := &laneConn{lane: l, conn: conn}
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		c.peer = a.AddrPort().Addr().Unmap().WithZone("")
	}
	if l.options.TLS != nil {
		c.wire = laneWire{Conn: conn, own: c}
		c.tls = tls.Server(&c.wire, l.options.TLS)
		c.conn = c.tls
		return c
	}
	if s, ok := conn.(syscall.Conn); ok && canTryRead {
		if raw, err := s.SyscallConn(); err == nil {
			c.raw, c.try = raw, c.tryRead
		}
	}
	return c
}

func (l *Lane) take() *laneWork {
	w, _ := l.work.Get().(*laneWork)
	w.n = 0
	return w
}

func (l *Lane) release(w *laneWork) {
	w.request, w.cookies = Request{}, [laneCookiesMax]string{} // they hold what the visitor sent
	if cap(w.out) > laneOutKeep {
		w.out = nil
	}
	if cap(w.answer.Body) > laneOutKeep {
		w.answer.Body = nil
	}
	l.work.Put(w)
}

// wake makes a resting connection end.
func (c *laneConn) wake() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) }

// cut makes a connection end that is writing.
func (c *laneConn) cut() { _ = c.conn.SetDeadline(time.Unix(1, 0)) }

// serve owns the connection until it ends or is handed over.
func (c *laneConn) serve(ctx context.Context) {
	over := c.run(ctx)
	c.lane.leave(c) // first: what is the server's must not be woken by Close
	if over == nil {
		_ = c.conn.Close() // nobody is left to tell
		return
	}
	c.lane.handOver(over)
}

// run returns the connection for the server, or nil when it has to be closed.
func (c *laneConn) run(ctx context.Context) (over net.Conn) {
	defer c.rescue(ctx)
	on := true
	if !c.begun {
		c.begun = true
		on, over = c.begin(ctx)
	}
	for on {
		on, over = c.next(ctx)
	}
	return over
}

// rescue keeps a fault in one answer from ending the process.
func (c *laneConn) rescue(ctx context.Context) {
	if fault := recover(); fault != nil {
		c.lane.options.Logger.ErrorContext(ctx, "an answer to a waiting visitor failed", "panic", fault, "stack", string(debug.Stack()))
	}
}

// begin sees to a new connection. It is true when the lane goes on with it.
func (c *laneConn) begin(ctx context.Context) (on bool, over net.Conn) {
	if !c.lane.options.Direct(c.peer) {
		return false, c.conn
	}
	_ = c.conn.SetDeadline(sys.Now().Add(c.lane.options.HeaderTimeout)) // a dead connection fails at the first read
	if c.tls == nil || c.lane.closing.Load() {
		return !c.lane.closing.Load(), nil
	}
	if err := c.tls.HandshakeContext(ctx); err != nil {
		explain(err)
		c.lane.options.Logger.DebugContext(ctx, "TLS handshake failed", "error", err)
		return false, nil
	}
	if p := c.tls.ConnectionState().NegotiatedProtocol; p != "" && p != "http/1.1" {
		_ = c.tls.SetDeadline(time.Time{})
		return false, c.tls // the server knows its other protocols by this type
	}
	return true, nil
}

// explain tells somebody who speaks plain HTTP what is wrong.
func explain(err error) {
	var fault tls.RecordHeaderError
	if !errors.As(err, &fault) || fault.Conn == nil {
		return
	}
	switch string(fault.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		_, _ = io.WriteString(fault.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nThis address speaks HTTPS. Write https:// instead of http://.\n")
	}
}

// next waits for one request and answers it. It is true when the lane goes on.
func (c *laneConn) next(ctx context.Context) (on bool, over net.Conn) {
	w, err := c.wait()
	if err != nil {
		return false, nil
	}
	defer c.lane.release(w)
	size, err := c.head(w)
	switch {
	case err != nil:
		return false, nil
	case size != w.n || !w.read(c):
		return false, c.yield(w)
	}
	l, r, a := c.lane, &w.request, &w.answer
	now := sys.Now() // the gate's own clock may differ from the one of deadlines
	c.extend(now)
	l.options.Handler.draws.Fill(r)
	if !l.gate.decideWaiting(ctx, r, a) {
		return false, c.yield(w)
	}
	l.options.Handler.options.Meter.Decided(a.RoomName, a.Kind, a.Outcome)
	last := l.closing.Load() // after extend: either Close wakes the next read, or it is seen here
	w.out = appendAnswer(w.out[:0], a, l.dateAt(now), r.Method == "HEAD", last)
	_, err = c.conn.Write(w.out)
	return err == nil && !last, nil
}

// wait returns the first bytes of a request.
func (c *laneConn) wait() (*laneWork, error) {
	if len(c.pending) > 0 {
		w := c.lane.take()
		w.n = copy(w.in[:], c.pending)
		if c.pending = c.pending[w.n:]; len(c.pending) == 0 {
			c.pending = nil
		}
		return w, nil
	}
	if c.raw != nil {
		return c.waitRaw()
	}
	if _, err := io.ReadFull(c.conn, c.first[:]); err != nil {
		return nil, err
	}
	w := c.lane.take()
	w.in[0], w.n = c.first[0], 1
	return w, nil
}

// waitRaw takes the buffer when there is something to read: see tryRead.
func (c *laneConn) waitRaw() (*laneWork, error) {
	err := c.raw.Read(c.try)
	w := c.got
	if c.got = nil; w == nil {
		return nil, err
	}
	if c.err != nil || w.n == 0 {
		c.lane.release(w)
		return nil, errors.Join(c.err, io.EOF)
	}
	return w, nil
}

// head reads on until the header is complete, and returns its size: 0 for one that is the server's to
// judge, because it is larger than the lane reads, ends too early or has lines without CR.
func (c *laneConn) head(w *laneWork) (int, error) {
	for from := 0; ; {
		if i := bytes.Index(w.in[from:w.n], []byte("\r\n\r\n")); i >= 0 {
			c.wire.limited = false
			return from + i + len("\r\n\r\n"), nil
		}
		if w.n == len(w.in) || len(c.pending) > 0 || loneFeed(w.in[:w.n], from) {
			return 0, nil
		}
		from = max(0, w.n-len("\r\n\r")) // the end may have begun
		if err := c.hurry(); err != nil {
			return 0, err
		}
		n, err := c.conn.Read(w.in[w.n:])
		switch {
		case errors.Is(err, io.EOF):
			return 0, nil
		case n == 0 && err != nil:
			return 0, err
		}
		w.n += n
	}
}

// loneFeed tells a line that ends without CR, at or behind from.
func loneFeed(b []byte, from int) bool {
	for i := from; i < len(b); i++ {
		if b[i] == '\n' && (i == 0 || b[i-1] != '\r') {
			return true
		}
	}
	return false
}

// hurry gives the rest of a header its time, once a request. With TLS the rest lies mostly in the
// record that is read already; then it costs nothing.
func (c *laneConn) hurry() error {
	switch {
	case c.until.IsZero():
		return nil
	case c.tls != nil:
		c.wire.limited = true
		return nil
	}
	return c.limit()
}

// limit sets the deadline for the rest of a header.
func (c *laneConn) limit() error {
	c.until = time.Time{}
	if err := c.conn.SetReadDeadline(sys.Now().Add(c.lane.options.HeaderTimeout)); err != nil {
		return err
	}
	if c.lane.closing.Load() { // its deadline may be overwritten
		return net.ErrClosed
	}
	return nil
}

// laneWire is the connection below TLS.
type laneWire struct {
	net.Conn

	own     *laneConn
	limited bool // the next read belongs to a header that has begun
}

// Read sets the time for the rest of a header when TLS has not got it yet.
func (w *laneWire) Read(p []byte) (int, error) {
	if w.limited {
		w.limited = false
		if err := w.own.limit(); err != nil {
			return 0, err
		}
	}
	return w.Conn.Read(p)
}

// extend sets the deadline for the answer and for the rest after it.
func (c *laneConn) extend(now time.Time) {
	idle := c.lane.options.IdleTimeout
	if c.until.Sub(now) > idle-deadlineGrain {
		return
	}
	c.until = now.Add(idle)
	_ = c.conn.SetDeadline(c.until) // a dead connection fails at the next write
}

// yield makes the connection one for the server, which reads again what has been read.
func (c *laneConn) yield(w *laneWork) net.Conn {
	h := &handed{Conn: c.conn, own: c, before: slices.Concat(w.in[:w.n], c.pending)}
	c.pending, c.wire.limited = nil, false
	_ = c.conn.SetDeadline(time.Time{}) // the server sets its own
	if c.tls != nil {
		return handedTLS{h, c.tls}
	}
	return h
}
