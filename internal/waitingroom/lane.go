package waitingroom

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

// acceptPauseMin and acceptPauseMax bound the pause after a failed accept: most fail for want of file
// descriptors, and those come back when connections end.
const (
	acceptPauseMin = 5 * time.Millisecond
	acceptPauseMax = time.Second
	// laneStopTimeout is how long the connections may take to notice that they were closed.
	laneStopTimeout = time.Second
)

// LaneOptions are what a Lane is made of. Every field but TLS is required.
type LaneOptions struct {
	// Handler is whose gate and meter the lane uses, and what the server behind the lane serves.
	Handler *Handler
	// TLS makes the lane do the handshake of each connection; nil for plain HTTP.
	TLS *tls.Config
	// Direct tells that a peer speaks for itself alone. The connections of others, which may forward
	// the requests of many visitors, go to the server unread.
	Direct func(netip.Addr) bool
	// HeaderTimeout and IdleTimeout are those of the server behind the lane.
	HeaderTimeout, IdleTimeout time.Duration
	Logger                     *slog.Logger
}

// Lane is a listener for an http.Server that answers the polls of waiting visitors by itself, at a
// fraction of the cost, and hands everything else over: Accept returns the connections, and they read
// as if nobody had read from them before. A connection on which the server told a visitor to wait
// comes back; see giveBack.
//
// The lane reads requests with a parser of its own, and gives nothing but answers for visitors who
// hold a sealed place in line and stay there. It never admits anybody, never forwards a byte to the
// origin and never changes what it hands over. A difference between its parser and the server's can
// therefore show somebody a waiting answer at the wrong moment, and can never let a request through.
//
// ConnContext must be the server's. Run must run beside the server.
type Lane struct {
	inner   net.Listener
	options LaneOptions
	gate    *Gate
	handed  chan net.Conn
	work    sync.Pool // of *laneWork
	date    atomic.Pointer[dateLine]
	group   *sys.Group

	closing atomic.Bool
	closed  chan struct{}

	mu      sync.Mutex
	conns   map[*laneConn]struct{} // guarded by mu; those that the lane owns at the moment
	drained chan struct{}          // guarded by mu; closed when the last of them has gone, nil before Shutdown
}

// NewLane makes a lane in front of a listener. The context is the parent of its goroutines.
func NewLane(ctx context.Context, inner net.Listener, o LaneOptions) *Lane {
	l := &Lane{
		inner: inner, options: o, gate: o.Handler.options.Gate, group: sys.NewGroup(ctx),
		handed: make(chan net.Conn), closed: make(chan struct{}), conns: map[*laneConn]struct{}{},
	}
	l.work.New = func() any { return &laneWork{} }
	return l
}

// Run accepts connections until Close.
func (l *Lane) Run(ctx context.Context) {
	pause := acceptPauseMin
	for {
		conn, err := l.inner.Accept()
		switch {
		case err == nil:
			pause = acceptPauseMin
			l.enter(newLaneConn(l, conn))
			continue
		case l.closing.Load():
			return
		}
		l.options.Logger.WarnContext(ctx, "cannot accept a connection", "error", err, "pause", pause)
		if sys.Sleep(ctx, pause) != nil {
			return
		}
		pause = min(2*pause, acceptPauseMax)
	}
}

// enter makes a connection the lane's, until it ends or is handed over. A lane that is closing
// closes it.
func (l *Lane) enter(c *laneConn) {
	l.mu.Lock()
	open := !l.closing.Load()
	if open {
		l.conns[c] = struct{}{}
	}
	l.mu.Unlock()
	if !open {
		_ = c.conn.Close() // nobody is left to tell
		return
	}
	l.group.Go("connection", c.serve)
}

// leave ends the lane's ownership of a connection.
func (l *Lane) leave(c *laneConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	if l.drained != nil && len(l.conns) == 0 {
		close(l.drained)
		l.drained = nil
	}
}

// handOver gives a connection to the server.
func (l *Lane) handOver(conn net.Conn) {
	select {
	case l.handed <- conn:
	case <-l.closed:
		_ = conn.Close()
	}
}

// Accept returns the next connection for the server.
func (l *Lane) Accept() (net.Conn, error) {
	select {
	case conn := <-l.handed:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Addr is the address of the listener.
func (l *Lane) Addr() net.Addr { return l.inner.Addr() }

// Close ends the accepting and every connection that rests. Answers under way finish. The server
// calls it at its own end.
func (l *Lane) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing.Swap(true) {
		return nil
	}
	close(l.closed)
	for c := range l.conns {
		c.wake()
	}
	if err := l.inner.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the listener: %w", err)
	}
	return nil
}

// Shutdown closes the lane and waits for the answers under way, until the context ends; then it cuts
// them.
func (l *Lane) Shutdown(ctx context.Context) error {
	err := l.Close()
	drained := make(chan struct{})
	l.mu.Lock()
	if len(l.conns) == 0 {
		close(drained)
	} else {
		l.drained = drained
	}
	l.mu.Unlock()
	select {
	case <-drained:
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("answers to waiting visitors were cut: %w", ctx.Err()))
		l.mu.Lock()
		for c := range l.conns {
			c.cut()
		}
		l.mu.Unlock()
	}
	return errors.Join(err, l.group.Stop(laneStopTimeout))
}
