package proxy_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/proxy"
)

// patience bounds every wait of a test; it is far above what a healthy run needs.
const patience = 60 * time.Second

// version is one spelling of HTTP between two ends.
type version string

const (
	h1   version = "HTTP1"
	h2   version = "HTTP2TLS"
	h2c  version = "HTTP2Clear"
	h1s  version = "HTTP1TLS"
	none version = ""
)

// world is a visitor, the proxy and an origin, all real servers on loopback.
type world struct {
	t      *testing.T
	front  string       // the proxy's URL
	client *http.Client // speaks the front's version
	proxy  *proxy.Proxy
	logs   *lockedBuffer

	mu      sync.Mutex
	reasons []proxy.Reason
}

// failures are the reasons that the metrics hook has seen.
func (w *world) failures() []proxy.Reason {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]proxy.Reason(nil), w.reasons...)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startOrigin runs a handler under a version of HTTP and gives its origin URL.
func startOrigin(t testing.TB, v version, handler http.Handler) string {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	serve(s, v)
	t.Cleanup(s.Close)
	if v == h2c {
		return strings.Replace(s.URL, "http:", "h2c:", 1)
	}
	return s.URL
}

// serve starts the server with exactly the protocols of the version.
func serve(s *httptest.Server, v version) {
	s.Config.Protocols = new(http.Protocols)
	switch v {
	case h1:
		s.Config.Protocols.SetHTTP1(true)
		s.Start()
	case h1s:
		s.Config.Protocols.SetHTTP1(true)
		s.StartTLS()
	case h2:
		s.Config.Protocols.SetHTTP2(true)
		s.EnableHTTP2 = true
		s.StartTLS()
	case h2c:
		s.Config.Protocols.SetHTTP1(true)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	}
}

// startWorld puts the proxy, with the given options, before the origin, and a visitor of the version
// before it. visit, when set, makes the gate's word for each request.
func startWorld(t *testing.T, front version, origin string, change func(*proxy.Options), visit func(http.ResponseWriter, *http.Request) proxy.Visit) *world {
	t.Helper()
	w := &world{t: t, logs: &lockedBuffer{}}
	u, err := proxy.ParseOrigin(origin)
	if err != nil {
		t.Fatalf("origin %s: %v", origin, err)
	}
	o := proxy.Options{
		Origin: u,
		Logger: slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelInfo})),
		TLS:    &tls.Config{InsecureSkipVerify: true},
		Hooks: proxy.Hooks{Failed: func(r proxy.Reason) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.reasons = append(w.reasons, r)
		}},
	}
	if change != nil {
		change(&o)
	}
	if w.proxy, err = proxy.New(o); err != nil {
		t.Fatalf("new proxy: %v", err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if visit != nil {
			w.proxy.Forward(rw, r, visit(rw, r))
			return
		}
		w.proxy.ServeHTTP(rw, r)
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(w.logs, nil), slog.LevelWarn)
	s.Config.DisableGeneralOptionsHandler = true
	serve(s, front)
	w.front = s.URL
	w.client = newClient(t, front)
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		_ = w.proxy.Close()
		s.CloseClientConnections()
		s.Close()
	})
	return w
}

// newClient is an HTTP client of exactly one version, with a pool of its own.
func newClient(t testing.TB, v version) *http.Client {
	t.Helper()
	tr := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true,
		MaxIdleConnsPerHost: 100, ExpectContinueTimeout: patience, Protocols: new(http.Protocols),
	}
	switch v {
	case h1, h1s:
		tr.Protocols.SetHTTP1(true)
	case h2:
		tr.Protocols.SetHTTP2(true)
	case h2c:
		tr.Protocols.SetUnencryptedHTTP2(true)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// request makes a request to the front.
func (w *world) request(method, path string, body io.Reader) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.front+path, body)
	if err != nil {
		w.t.Fatalf("request: %v", err)
	}
	return r
}

// do sends the request and reads the whole answer.
func (w *world) do(r *http.Request) (*http.Response, string) {
	w.t.Helper()
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s %s: read the answer: %v", r.Method, r.URL, err)
	}
	return res, string(body)
}

// get fetches a path.
func (w *world) get(path string) (*http.Response, string) {
	w.t.Helper()
	return w.do(w.request(http.MethodGet, path, nil))
}

// dialFront opens a raw connection to the front.
func (w *world) dialFront() net.Conn {
	w.t.Helper()
	u, err := url.Parse(w.front)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := net.DialTimeout("tcp", u.Host, patience)
	if err != nil {
		w.t.Fatalf("dial the front: %v", err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// raw sends bytes to the front and gives the first answer.
func (w *world) raw(text string) *http.Response {
	w.t.Helper()
	c := w.dialFront()
	if _, err := io.WriteString(c, text); err != nil {
		w.t.Fatalf("write to the front: %v", err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		w.t.Fatalf("answer to %q: %v", text, err)
	}
	w.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// rawOrigin accepts connections and hands each to serve, which owns it. It gives the origin URL.
func rawOrigin(t testing.TB, serve func(c net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	var open sync.Map
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(c, nil)
			conns.Go(func() { defer c.Close(); defer open.Delete(c); serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		conns.Wait()
	})
	return "http://" + l.Addr().String()
}

// closedPort is an origin that refuses connections.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}
