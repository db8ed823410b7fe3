package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

// errRested is why a connection refuses a request that could not be repeated.
var errRested = errors.New("the connection has rested too long for a request that cannot be repeated")

// conn is a connection to an origin. For HTTP/1 it corrects three habits of the transport:
//
//   - An origin may answer before it has read the request and close. The transport then fails with
//     its write error and drops the answer that lies in the receive buffer. So after the first bytes
//     of a request went out, a write to a connection that the origin has closed counts as done, and
//     what the origin said decides.
//   - An origin may close a resting connection just when the transport picks it. A request that must
//     not be sent twice therefore takes no connection that has rested long; see rests.
//   - When the origin dies while an upload pauses, the transport waits for the upload. The end of the
//     connection therefore interrupts the reading.
type conn struct {
	net.Conn
	phase  atomic.Int32        // what a failing write means; see the constants
	heard  atomic.Bool         // bytes arrived since the request began
	use    atomic.Pointer[use] // the last request; nil before the first and after Close
	rests  *rests
	broken bool // the writer's own: the origin has closed, writes are dropped
}

// use is one request's time on a connection.
type use struct {
	upload   *upload // nil without a body
	reader   *uploadReader
	restedAt atomic.Int64 // when the request was over, as Unix nanoseconds; 0 before
}

// The phases of a connection. Only HTTP/1 requests leave phasePlain.
const (
	phasePlain   = int32(iota) // every error is reported
	phaseRefuse                // the next write fails before a byte is sent
	phaseFirst                 // nothing of the request is sent: errors are reported
	phaseStarted               // part of the request is sent: the answer decides
)

// begin prepares for a request.
func (c *conn) begin(u *use) {
	c.heard.Store(false)
	c.use.Store(u)
	c.phase.Store(phaseFirst)
}

// refuse makes the request look for another connection.
func (c *conn) refuse() { c.phase.Store(phaseRefuse) }

// switched leaves the connection to a protocol other than HTTP.
func (c *conn) switched() {
	c.use.Store(nil)
	c.phase.Store(phasePlain)
}

// rest notes that the request is over.
func (u *use) rest() { u.restedAt.Store(sys.Now().UnixNano()) }

// end looks at who is left behind by a connection from which nothing more can come.
func (c *conn) end() {
	u := c.use.Swap(nil)
	if u == nil {
		return
	}
	if at := u.restedAt.Load(); at != 0 {
		c.rests.ended(sys.Since(time.Unix(0, at)))
	} else if u.upload != nil {
		u.upload.interrupt(u.reader)
	}
}

// Read notes the first byte of an answer and the end.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.heard.Store(true)
	}
	if err != nil {
		c.end()
	}
	return n, err
}

// Write sends, or pretends to when the origin has closed in the midst of a request.
func (c *conn) Write(p []byte) (int, error) {
	phase := c.phase.Load()
	switch {
	case phase == phaseRefuse:
		return 0, errRested
	case c.broken && phase == phaseStarted:
		return len(p), nil
	case c.broken:
		return 0, syscall.EPIPE
	}
	n, err := c.Conn.Write(p)
	if phase == phasePlain {
		return n, err
	}
	if n > 0 {
		c.phase.CompareAndSwap(phaseFirst, phaseStarted)
	}
	if err != nil && (n > 0 || phase == phaseStarted) && closedByPeer(err) {
		c.broken = true
		return len(p), nil
	}
	return n, err
}

// ReadFrom is Write in a loop with a pooled buffer; the transport sends bodies through it.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	buf := getBuffer()
	defer putBuffer(buf)
	var sent int64
	for {
		n, err := r.Read(*buf)
		if n > 0 {
			nw, werr := c.Write((*buf)[:n])
			sent += int64(nw)
			if werr != nil {
				return sent, werr
			}
		}
		if errors.Is(err, io.EOF) {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
	}
}

// Close closes and interrupts an upload that still waits for its visitor.
func (c *conn) Close() error {
	if u := c.use.Swap(nil); u != nil && u.upload != nil && u.restedAt.Load() == 0 {
		u.upload.interrupt(u.reader)
	}
	return c.Conn.Close()
}

// CloseWrite passes the end of one direction on.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Conn.Close()
}

func closedByPeer(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// restMax is how long a connection may have rested to take a request that cannot be repeated.
const restMax = 500 * time.Millisecond

// rests learns how soon the origin closes resting connections. The zero value has seen none.
type rests struct {
	shortest atomic.Int64 // nanoseconds; 0 is none seen
}

func (r *rests) ended(after time.Duration) {
	for {
		old := r.shortest.Load()
		if old != 0 && old <= int64(after) || r.shortest.CompareAndSwap(old, max(1, int64(after))) {
			return
		}
	}
}

// max is half of the shortest rest that the origin has ended, at most restMax.
func (r *rests) max() time.Duration {
	if s := time.Duration(r.shortest.Load()); s > 0 && s/2 < restMax {
		return s / 2
	}
	return restMax
}

// bufferBytes is what one copy loop moves at a time.
const bufferBytes = 32 << 10

//nolint:gochecknoglobals // buffers are worth sharing between all proxies of the process
var buffers = sync.Pool{New: func() any { b := make([]byte, bufferBytes); return &b }}

func getBuffer() *[]byte  { return buffers.Get().(*[]byte) } //nolint:forcetypeassert // only putBuffer puts
func putBuffer(b *[]byte) { buffers.Put(b) }
