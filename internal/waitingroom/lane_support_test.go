package waitingroom_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// pipes is a listener without a network, so that a bubble of synctest can hold it.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

// laneWorld is a lane with a real server behind it.
type laneWorld struct {
	lane        *waitingroom.Lane
	server      *http.Server
	coordinator *rooms
	origin      *origin
	meter       *meter
	taken       atomic.Int64 // connections that the server got
	stop        func() error
}

func laneOptions(h *waitingroom.Handler) waitingroom.LaneOptions {
	return waitingroom.LaneOptions{
		Handler: h, Direct: func(netip.Addr) bool { return true },
		HeaderTimeout: 10 * time.Second, IdleTimeout: 130 * time.Second, Logger: slog.New(slog.DiscardHandler),
	}
}

// newLane starts a lane. What it stops with is checked at the end of the test.
func newLane(t testing.TB, inner net.Listener, coordinator *rooms, back http.HandlerFunc, change ...func(*waitingroom.LaneOptions)) *laneWorld {
	t.Helper()
	w := &laneWorld{coordinator: coordinator, origin: &origin{Handler: back}, meter: &meter{counts: map[string]int{}}}
	h := waitingroom.NewHandler(waitingroom.Options{
		Gate: gate(t, coordinator, config()), Sessions: coordinator, Origin: w.origin, Client: client, Meter: w.meter,
	})
	o := laneOptions(h)
	for _, f := range change {
		f(&o)
	}
	w.lane = waitingroom.NewLane(context.Background(), inner, o)
	w.server = &http.Server{
		Handler: o.Handler, ReadHeaderTimeout: o.HeaderTimeout, IdleTimeout: o.IdleTimeout, ConnContext: w.lane.ConnContext,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				w.taken.Add(1)
			}
		},
	}
	var running sync.WaitGroup
	running.Go(func() { w.lane.Run(context.Background()) })
	running.Go(func() {
		if err := w.server.Serve(w.lane); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.Errorf("the server ended: %v", err)
		}
	})
	w.stop = sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err := errors.Join(w.server.Shutdown(ctx), w.lane.Shutdown(ctx))
		running.Wait()
		return err
	})
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return w
}

// tcpLane is a lane on a port of its own, and a dialer for it.
func tcpLane(t testing.TB, coordinator *rooms, back http.HandlerFunc, change ...func(*waitingroom.LaneOptions)) (*laneWorld, func() net.Conn) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := newLane(t, l, coordinator, back, change...)
	return w, func() net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

// overTLS gives a lane the certificate of a test server.
func overTLS(cert tls.Certificate, protocols ...string) func(*waitingroom.LaneOptions) {
	return func(o *waitingroom.LaneOptions) {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: protocols}
	}
}

// queued is the cookie of a visitor who waits at this moment.
func queued(t testing.TB) string {
	t.Helper()
	now := time.Now()
	return cookieOf(t, ticket.Ticket{ID: ticket.ID{4}, Arrival: now.Add(-time.Minute), LastSeen: now.Add(-20 * time.Second), Refresh: 20 * time.Second})
}

// poll is a request for shop.test with more header lines.
func poll(line string, header ...string) string {
	return line + " HTTP/1.1\r\nHost: shop.test\r\n" + strings.Join(append(header, "", ""), "\r\n")
}

// exchange sends a request as it is, and reads the answer to it.
func exchange(t testing.TB, c net.Conn, in *bufio.Reader, raw string) (*http.Response, string) {
	t.Helper()
	if _, err := io.WriteString(c, raw); err != nil {
		t.Fatalf("write: %v", err)
	}
	method, _, _ := strings.Cut(raw, " ")
	return answerOf(t, in, method)
}

func answerOf(t testing.TB, in *bufio.Reader, method string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://shop.test/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(in, r)
	if err != nil {
		t.Fatalf("read the answer: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("read the body: %v", err)
	}
	return resp, string(body)
}

// sealedNow opens the ticket in a cookie of this moment.
func sealedNow(t testing.TB, setCookie string) (ticket.Ticket, bool) {
	t.Helper()
	c, err := http.ParseSetCookie(setCookie)
	if err != nil {
		return ticket.Ticket{}, false
	}
	tk, err := ring(t).Open(roomID, c.Value, time.Now())
	return tk, err == nil
}

// securely is a lane and a connection to it, over TLS or plain.
func securely(t *testing.T, secure bool, coordinator *rooms, back ...http.HandlerFunc) (*laneWorld, net.Conn) {
	t.Helper()
	handle := http.HandlerFunc(hello)
	if len(back) > 0 {
		handle = back[0]
	}
	if !secure {
		w, dial := tcpLane(t, coordinator, handle)
		return w, dial()
	}
	authority := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(authority.Close)
	w, dial := tcpLane(t, coordinator, handle, overTLS(authority.TLS.Certificates[0]))
	return w, tls.Client(dial(), &tls.Config{InsecureSkipVerify: true})
}

// answerer is a coordinator's script.
type answerer = func(queue.Ask) (queue.Answer, error)

// memory is what the process holds after a collection, stacks included.
func memory() uint64 {
	for range 3 { // stacks shrink by half at a time
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
