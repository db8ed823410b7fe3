package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

// replayBytesMax bounds how much of a body is kept, so that it can be sent once more after an origin
// connection turned out to be dead.
const replayBytesMax = 64 << 10

// Errors of an upload that are nobody's fault by themselves; the cause is what ended the attempt.
var (
	errUploadStopped = errors.New("the request body is no longer wanted")
	errNoReplay      = errors.New("the origin connection was lost and the request body cannot be resent")
)

// upload is the visitor's request body. It outlives attempts: each attempt reads it through an
// uploadReader of its own, which first repeats what earlier attempts have read.
type upload struct {
	r       *http.Request
	control *http.ResponseController
	idle    time.Duration // the longest time without progress; 0 is no limit
	trailer http.Header   // the trailers for the origin, complete once eof is set; nil for none

	endMu       sync.Mutex  // held while stopped is set or an interruption sets the deadline
	stopped     atomic.Bool // the exchange is over: nothing may be read any more
	interrupted atomic.Bool // a read was broken off by us, so its error is not the visitor's fault
	present     atomic.Bool // the visitor was there at the interruption, which looks like leaving
	begun       atomic.Bool // something was asked of the visitor (this sends 100 Continue)

	mu       sync.Mutex // held during a read: one reader at a time
	kept     []byte     // all that was read so far, unless lost
	lost     bool       // more was read, or will be, than is kept
	read     int64      // bytes read so far
	deadline time.Time  // the read deadline that is set; zero is none

	eof   atomic.Bool           // the visitor has sent everything; set under mu
	fault atomic.Pointer[error] // the visitor's fault that ended the body; set under mu
}

func newUpload(x *exchange) *upload {
	u := &upload{r: x.r, control: x.control, idle: x.p.limits.RequestIdle}
	u.lost = x.r.ContentLength > replayBytesMax
	if len(x.r.Trailer) > 0 || x.r.ContentLength < 0 && x.r.ProtoMajor == 1 {
		u.trailer = make(http.Header, len(x.r.Trailer)) // may also come unannounced
		for name := range x.r.Trailer {
			if trailerAllowed(name) {
				u.trailer[name] = nil
			}
		}
	}
	return u
}

// detached is a context that ends when the visitor leaves, but not when we interrupt the upload, which
// looks the same to the server: the answer may be on its way then.
func (u *upload) detached() (context.Context, func()) {
	visitor := u.r.Context()
	ctx, cancel := context.WithCancel(context.WithoutCancel(visitor))
	unwatch := context.AfterFunc(visitor, func() {
		if !u.present.Load() {
			cancel()
		}
	})
	return ctx, func() { unwatch(); cancel() }
}

// reader starts the body from its beginning; reading fails when that is gone.
func (u *upload) reader() *uploadReader { return &uploadReader{u: u} }

// uploadReader is the body of one attempt.
type uploadReader struct {
	u      *upload
	off    int64
	closed atomic.Bool
}

// Close ends this attempt's reading and never closes the visitor's body, because the next attempt, or
// the server, still needs it. The transport calls it when an attempt is over, also from another goroutine
// while a read waits.
func (b *uploadReader) Close() error { b.u.interrupt(b); return nil }

// Read gives what was kept, then what the visitor sends.
func (b *uploadReader) Read(p []byte) (int, error) {
	u := b.u
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case b.closed.Load() || u.stopped.Load():
		return 0, errUploadStopped
	case b.off < u.read && u.lost:
		return 0, errNoReplay
	case b.off < u.read:
		n := copy(p, u.kept[b.off:])
		b.off += int64(n)
		return n, nil
	case u.eof.Load():
		return 0, io.EOF
	case u.fault.Load() != nil:
		return 0, *u.fault.Load()
	}
	u.begun.Store(true)
	u.extendLocked()
	if b.closed.Load() || u.stopped.Load() {
		return 0, errUploadStopped // interrupted before the deadline was moved: that one would be missed
	}
	n, err := u.fillLocked(p)
	b.off += int64(n)
	return n, err
}

// fillLocked reads from the visitor.
func (u *upload) fillLocked(p []byte) (int, error) {
	n, err := u.r.Body.Read(p)
	u.keepLocked(p[:n])
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		u.copyTrailersLocked()
		u.deadline = time.Time{} // the server has cleared it to listen for the visitor's leaving
		u.eof.Store(true)
	case errors.Is(err, os.ErrDeadlineExceeded) && !u.deadline.IsZero() && !sys.Now().Before(u.deadline):
		u.fault.Store(&err) // our own deadline; one that an interruption set lies before it
	case u.stopped.Load() || u.interrupted.Load():
		err = errUploadStopped
	default:
		u.fault.Store(&err)
	}
	return n, err
}

// extendLocked moves the deadline on, but not for every small read: setting it costs a lock in the
// poller.
func (u *upload) extendLocked() {
	if u.interrupted.Load() && u.r.ProtoMajor == 1 { // in HTTP/2 a passed deadline ends the body for good
		u.interrupted.Store(false)
		u.deadline = time.Unix(1, 0) // in force is the interruption's
	}
	if u.idle <= 0 {
		u.setDeadlineLocked(time.Time{})
		return
	}
	if next := sys.Now().Add(u.idle); next.Sub(u.deadline) > u.idle/8 {
		u.setDeadlineLocked(next)
	}
}

// setDeadlineLocked does nothing when there is none to clear, or when the server has no deadlines.
func (u *upload) setDeadlineLocked(t time.Time) {
	if (!t.IsZero() || !u.deadline.IsZero()) && u.control.SetReadDeadline(t) == nil {
		u.deadline = t
	}
}

func (u *upload) keepLocked(p []byte) {
	u.read += int64(len(p))
	switch {
	case u.lost:
	case len(u.kept)+len(p) > replayBytesMax:
		u.kept, u.lost = nil, true
	default:
		if u.kept == nil && u.r.ContentLength > 0 {
			u.kept = make([]byte, 0, u.r.ContentLength)
		}
		u.kept = append(u.kept, p...)
	}
}

func (u *upload) copyTrailersLocked() {
	if u.trailer == nil {
		return
	}
	for name, values := range u.r.Trailer {
		if trailerAllowed(name) {
			u.trailer[name] = values
		}
	}
}

// interrupt ends the reading of one attempt even while it waits for the visitor. Without it a paused
// upload would hold on to an exchange whose origin has died.
func (u *upload) interrupt(b *uploadReader) {
	b.closed.Store(true)
	u.endMu.Lock()
	defer u.endMu.Unlock()
	if u.stopped.Load() {
		return // the connection may carry the visitor's next request by now
	}
	if u.mu.TryLock() {
		u.mu.Unlock()
		return
	}
	u.present.Store(u.r.Context().Err() == nil)
	u.interrupted.Store(true)
	_ = u.control.SetReadDeadline(time.Unix(1, 0))
}

// Bounds on how long a visitor who is still sending is listened to after the answer. A connection that
// is closed with unread bytes is reset, and the reset can overtake the answer.
const (
	lingerIdle  = 2 * time.Second
	lingerTotal = 10 * time.Second
)

// stop ends the reading of all attempts and waits for a read under way. Afterwards the request body
// is the server's.
func (u *upload) stop() {
	u.endMu.Lock()
	u.stopped.Store(true)
	u.endMu.Unlock()
	if !u.mu.TryLock() {
		u.interrupted.Store(true)
		_ = u.control.SetReadDeadline(time.Unix(1, 0))
		u.mu.Lock()
	}
	defer u.mu.Unlock()
	if !u.eof.Load() {
		u.deadline = time.Time{}
		u.setDeadlineLocked(sys.Now().Add(lingerIdle)) // bounds what the server itself still reads
	}
}

// drain reads and drops what an HTTP/1 visitor goes on sending after the answer. A visitor who waits
// for 100 (Continue) sends nothing. It follows stop.
func (u *upload) drain(buf []byte) {
	if u.r.ProtoMajor != 1 || u.eof.Load() || u.fault.Load() != nil || u.waits() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for end := sys.Now().Add(lingerTotal); sys.Now().Before(end); {
		u.setDeadlineLocked(sys.Now().Add(lingerIdle))
		if _, err := u.r.Body.Read(buf); err != nil {
			return
		}
	}
}

// done tells whether the visitor has sent everything.
func (u *upload) done() bool { return u.eof.Load() }

// waits tells whether the visitor still waits for 100 (Continue).
func (u *upload) waits() bool {
	return !u.begun.Load() && u.r.Header.Get("Expect") != ""
}
