package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/bus"
	"github.com/anteroom/anteroom/internal/coord"
	"github.com/anteroom/anteroom/internal/proxy"
	"github.com/anteroom/anteroom/internal/store"
	"github.com/anteroom/anteroom/internal/sys"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// Times of a node's end. Between them the visitors' requests finish.
const (
	stopTimeout  = 15 * time.Second
	groupTimeout = 5 * time.Second
)

// Node is one running Anteroom. It is made by New, serves after Start and ends with Stop.
type Node struct {
	opts  Options
	log   *slog.Logger
	clock sys.Clock
	bus   *bus.Bus
	store *store.Store
	rooms *coord.Node
	proxy *proxy.Proxy
	gate  *waitingroom.Gate
	meter *meter

	lane                    *waitingroom.Lane
	visitors, admin         *http.Server
	visitorsConn, adminConn net.Listener
	group, listeners        *sys.Group
	endWatch                func()
	enforcing               sync.Mutex
	names                   map[string]bool // of the rooms in force; guarded by enforcing
	ready                   atomic.Bool
	cleanups                []cleanup
}

// cleanup is one step of the end, run in reverse order of the beginning.
type cleanup struct {
	name string
	run  func() error
}

// New builds a node and binds its addresses, without serving anybody yet. On an error nothing is
// left open. The context bounds the building and is the parent of the node's goroutines.
func New(ctx context.Context, o Options) (*Node, error) {
	parent := context.WithoutCancel(ctx) // Stop ends the node, not the context in which it was built
	n := &Node{opts: o, log: o.Logger, clock: sys.NewClock(), group: sys.NewGroup(parent), listeners: sys.NewGroup(parent)}
	n.meter = newMeter(n)
	steps := []func(context.Context) error{
		n.bind, n.openStore, n.openRooms, n.openGate, n.quickRoom, n.buildServers,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, n.group.Stop(groupTimeout), n.clean())
		}
	}
	return n, nil
}

func (n *Node) onStop(name string, run func() error) {
	n.cleanups = append(n.cleanups, cleanup{name, run})
}

// clean runs the cleanups in reverse; the error says which step failed.
func (n *Node) clean() error {
	var faults []error
	for _, c := range slices.Backward(n.cleanups) {
		if err := c.run(); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	n.cleanups = nil
	return errors.Join(faults...)
}

// bind takes the addresses first: a port in use is the most likely fault and the quickest to tell.
func (n *Node) bind(ctx context.Context) (err error) {
	if n.visitorsConn, err = n.listen(ctx, n.opts.Listen, "--listen"); err != nil {
		return err
	}
	n.adminConn, err = n.listen(ctx, n.opts.Admin, "--admin")
	return err
}

func (n *Node) listen(ctx context.Context, address, flag string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "cannot listen on %q: %w", address, err).
			WithHint("stop the program that has the address, or choose another one with %s", flag)
	}
	n.onStop("close the listener "+address, func() error {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	return l, nil
}

func (n *Node) openStore(ctx context.Context) (err error) {
	n.bus, err = bus.Open(ctx, bus.Options{Dir: n.opts.Data, Logger: n.log.With("part", "bus")})
	if err != nil {
		return err
	}
	n.onStop("close the bus", n.bus.Close)
	n.store, err = store.Open(ctx, store.Options{
		JetStream:  n.bus.JetStream(),
		Dir:        n.opts.Data,
		AdminToken: n.opts.AdminToken,
		Export:     filepath.Join(n.opts.Data, "export.yaml"),
		Logger:     n.log.With("part", "store"),
	})
	if err != nil {
		return err
	}
	n.onStop("close the store", n.store.Close)
	return nil
}

func (n *Node) openRooms(context.Context) (err error) {
	n.rooms, err = coord.Open(coord.Options{
		Dir: filepath.Join(n.opts.Data, "queue"), DataCenter: DataCenter, Logger: n.log.With("part", "coord"),
		Clock: n.clock,
	})
	if err != nil {
		return err
	}
	n.onStop("close the rooms", n.rooms.Close)
	return nil
}

// Start serves. It returns at once; a listener that ends by itself is logged.
func (n *Node) Start() {
	n.group.Go("rooms", n.rooms.Run)
	n.listeners.Go("waiting visitors", n.lane.Run)
	n.listeners.Go("visitors", n.serve(n.visitors, n.lane))
	n.listeners.Go("admin", n.serve(n.admin, n.adminConn))
	n.ready.Store(true)
}

func (n *Node) serve(s *http.Server, l net.Listener) func(context.Context) {
	return func(context.Context) {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			n.log.Error("listener ended", "address", l.Addr().String(), "error", err)
		}
	}
}

// VisitorAddr is the address of the visitors' listener.
func (n *Node) VisitorAddr() net.Addr { return n.visitorsConn.Addr() }

// AdminAddr is the address of dashboard, API and metrics.
func (n *Node) AdminAddr() net.Addr { return n.adminConn.Addr() }

// AdminToken is the bootstrap token, and whether this start has made it.
func (n *Node) AdminToken() (token string, fresh bool) { return n.store.AdminToken() }

// Stop ends the node: no new connections, held requests are answered, running requests finish within
// the timeout, everything is written. A second Stop is fine.
func (n *Node) Stop(ctx context.Context) error {
	if n.cleanups == nil {
		return nil
	}
	n.ready.Store(false)
	timeout := n.opts.StopTimeout
	if timeout == 0 {
		timeout = stopTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	n.rooms.Drain()
	errVisitors := errors.Join(n.visitors.Shutdown(ctx), n.lane.Shutdown(ctx))
	if errVisitors != nil {
		errVisitors = errors.Join(fmt.Errorf("requests were cut after %v: %w", timeout, errVisitors), n.visitors.Close())
	}
	n.endWatch()
	// The group ends the event streams of the dashboard, so that its server can end.
	err := n.group.Stop(groupTimeout)
	errAdmin := n.admin.Shutdown(ctx)
	if errAdmin != nil {
		errAdmin = n.admin.Close()
	}
	return errors.Join(errVisitors, err, errAdmin, n.listeners.Stop(groupTimeout), n.clean())
}
