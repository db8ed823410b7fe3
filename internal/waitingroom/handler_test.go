package waitingroom_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/netip"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// origin is an http.Handler that remembers who came.
type origin struct {
	http.Handler
	mu     sync.Mutex
	visits []waitingroom.Visit
}

func (o *origin) ServeVisit(w http.ResponseWriter, r *http.Request, v waitingroom.Visit) {
	o.mu.Lock()
	o.visits = append(o.visits, v)
	o.mu.Unlock()
	o.ServeHTTP(w, r)
}

func (o *origin) seen() []waitingroom.Visit {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]waitingroom.Visit(nil), o.visits...)
}

// meter counts outcomes.
type meter struct {
	mu     sync.Mutex
	counts map[string]int
}

func (m *meter) Decided(room string, kind waitingroom.Kind, outcome waitingroom.Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[fmt.Sprintf("%s %v %v", room, kind, outcome)]++
}

func client(r *http.Request) waitingroom.Client {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return waitingroom.Client{Addr: peer.Addr(), HTTPS: r.TLS != nil, Host: r.Host}
}

func handler(t testing.TB, coordinator *rooms, o *origin, configs ...waitingroom.Config) *waitingroom.Handler {
	t.Helper()
	return waitingroom.NewHandler(waitingroom.Options{
		Gate: gate(t, coordinator, configs...), Sessions: coordinator, Origin: o, Client: client,
	})
}

// site is a real server in front of a real origin.
func site(t *testing.T, coordinator *rooms, back http.HandlerFunc, configs ...waitingroom.Config) (*httptest.Server, *origin) {
	t.Helper()
	o := &origin{Handler: back}
	s := httptest.NewServer(handler(t, coordinator, o, configs...))
	t.Cleanup(s.Close)
	return s, o
}

// get sends a request for shop.test and reads the whole answer.
func get(t *testing.T, s *httptest.Server, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "shop.test"
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := s.Client().Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func cookieOf(t testing.TB, tk ticket.Ticket) string {
	t.Helper()
	return "__anteroom=" + string(ring(t).Append(nil, roomID, tk, ticket.Nonce{3}))
}

func hello(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Set-Cookie", "cart=7")
	_, _ = io.WriteString(w, "origin "+r.Method+" "+r.RequestURI)
}

func TestForwardsAdmittedVisitors(t *testing.T) {
	t.Parallel()
	s, o := site(t, &rooms{answer: scene("Inside")}, hello, config())
	resp, body := get(t, s, "GET", "/a%2Fb//c?x=y", "", "Cookie", cookieOf(t, seat()))
	if resp.StatusCode != 200 || body != "origin GET /a%2Fb//c?x=y" {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	cookies := resp.Header["Set-Cookie"]
	if len(cookies) != 2 || cookies[0] != "cart=7" {
		t.Fatalf("cookies %q", cookies)
	}
	if tk, ok := sealed(t, cookies[1]); !ok || tk.ID != seat().ID {
		t.Errorf("cookie %q", cookies[1])
	}
	if v := o.seen(); len(v) != 1 || v[0] != (waitingroom.Visit{RoomID: roomID, RoomName: "shop", Ticket: queue.ID(seat().ID)}) {
		t.Errorf("the origin hears of %+v", v)
	}
	for _, name := range []string{waitingroom.StateHeader, "Refresh", "Retry-After", "Cache-Control"} {
		if resp.Header.Get(name) != "" {
			t.Errorf("the origin's answer has %s", name)
		}
	}
}

func TestPassesWhatNoRoomConcerns(t *testing.T) {
	t.Parallel()
	s, o := site(t, &rooms{answer: scene("Full")}, hello, config(func(c *waitingroom.Config) { c.Room.Path = "/shop" }))
	resp, body := get(t, s, "GET", "/about", "")
	if body != "origin GET /about" || len(resp.Header["Set-Cookie"]) != 1 {
		t.Errorf("%s %v", body, resp.Header)
	}
	if v := o.seen(); len(v) != 1 || v[0] != (waitingroom.Visit{}) {
		t.Errorf("the origin hears of %+v", v)
	}
}

func TestAnswersWaitingVisitors(t *testing.T) {
	t.Parallel()
	coordinator := &rooms{answer: scene("Full")}
	s, o := site(t, coordinator, hello, config())
	resp, body := get(t, s, "GET", "/cart?a=b", "", "If-None-Match", `"tag"`, "If-Modified-Since", "Mon, 30 Nov 2026 00:00:00 GMT", "Range", "bytes=0-3")
	if resp.StatusCode != 200 || !strings.Contains(strings.ToLower(body), "</html>") || resp.ContentLength != int64(len(body)) {
		t.Errorf("%d, %d of %d bytes: %.80s", resp.StatusCode, len(body), resp.ContentLength, body)
	}
	if resp.Header.Get("Etag")+resp.Header.Get("Last-Modified")+resp.Header.Get("Age") != "" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("header %v", resp.Header)
	}
	if resp, body = get(t, s, "HEAD", "/cart", ""); resp.StatusCode != 200 || body != "" || resp.Header.Get("Refresh") == "" || len(resp.Cookies()) != 1 {
		t.Errorf("HEAD: %d %q %v", resp.StatusCode, body, resp.Header)
	}
	if len(o.seen()) != 0 {
		t.Error("the origin saw a waiting visitor")
	}
}

// TestBodyOfAWaitingVisitor: it goes nowhere, and the connection stays usable or closes in order.
func TestBodyOfAWaitingVisitor(t *testing.T) {
	t.Parallel()
	s, o := site(t, &rooms{answer: scene("Full")}, hello, config())
	for _, size := range []int{0, 10, 100_000, 1_000_000} { // net/http drains up to 256 KiB
		for range 3 {
			resp, body := get(t, s, "POST", "/buy", strings.Repeat("x", size), "Accept", "application/json")
			if resp.StatusCode != 200 || !strings.Contains(body, "cfWaitingRoom") {
				t.Errorf("%d bytes: %d %s", size, resp.StatusCode, body)
			}
			if closes := size > 256<<10; resp.Close != closes {
				t.Errorf("%d bytes: the connection closes: %v", size, resp.Close)
			}
		}
	}
	if len(o.seen()) != 0 {
		t.Error("the origin saw a waiting visitor")
	}
}

// TestExpectContinue: a waiting visitor's client is never asked for the body.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	s, _ := site(t, &rooms{answer: scene("Full")}, hello, config())
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST /buy HTTP/1.1\r\nHost: shop.test\r\nExpect: 100-continue\r\nContent-Length: 9\r\nSec-Fetch-Mode: cors\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || line != "HTTP/1.1 429 Too Many Requests\r\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// TestBodyThatNeverComes: a waiting visitor's upload that stalls does not hold the connection.
func TestBodyThatNeverComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		o := &origin{Handler: http.HandlerFunc(hello)}
		s := &http.Server{Handler: handler(t, &rooms{answer: scene("Full")}, o, config()), ReadHeaderTimeout: time.Hour}
		go s.Serve(newOneConn(there)) //nolint:errcheck // it ends with the test
		begin := time.Now()
		_, _ = io.WriteString(here, "POST /buy HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 1000\r\nAccept: application/json\r\n\r\nslow")
		answer, err := io.ReadAll(here)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") || !strings.Contains(string(answer), "cfWaitingRoom") {
			t.Errorf("%.200q, %v", answer, err)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("the connection was held for %v", took)
		}
		_ = here.Close()
		_ = s.Close()
		synctest.Wait()
	})
}

// oneConn is a listener with a single connection.
type oneConn struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newOneConn(c net.Conn) *oneConn {
	l := &oneConn{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.conns <- c
	return l
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

func TestRevocation(t *testing.T) {
	t.Parallel()
	enabled := config(func(c *waitingroom.Config) { c.Room.EnabledOriginCommands = []string{"revoke"} })
	for name, test := range map[string]struct {
		config         waitingroom.Config
		header, value  string
		revoked, hides bool
	}{
		"Published":  {enabled, "Cf-Waiting-Room-Command", "revoke", true, true},
		"Ours":       {enabled, "Anteroom-Command", " Revoke ", true, true},
		"Unknown":    {enabled, "Anteroom-Command", "dance", false, true},
		"Empty":      {enabled, "Anteroom-Command", "", false, true},
		"NotEnabled": {config(), "Anteroom-Command", "revoke", false, true},
		"Otherwise":  {enabled, "X-Command", "revoke", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			coordinator := &rooms{answer: scene("Inside")}
			s, _ := site(t, coordinator, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()[test.header] = []string{test.value}
				w.WriteHeader(http.StatusCreated)
			}, test.config)
			resp, _ := get(t, s, "POST", "/checkout", "x", "Cookie", cookieOf(t, seat()))
			if _, there := resp.Header[test.header]; there == test.hides || resp.StatusCode != http.StatusCreated {
				t.Errorf("%d %v", resp.StatusCode, resp.Header)
			}
			_, ended := coordinator.counts()
			cookie := resp.Header.Get("Set-Cookie")
			if test.revoked {
				if ended != 1 || coordinator.ended[0] != queue.ID(seat().ID) || cookie != "__anteroom=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" {
					t.Errorf("%d sessions ended, cookie %q", ended, cookie)
				}
			} else if tk, _ := sealed(t, cookie); ended != 0 || tk.ID != seat().ID {
				t.Errorf("%d sessions ended, cookie %q", ended, cookie)
			}
		})
	}
}

// TestRevocationOfAVisitorWhoHasGone: the place is free all the same.
func TestRevocationOfAVisitorWhoHasGone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	coordinator := &rooms{answer: scene("Inside")}
	h := handler(t, coordinator, &origin{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.Header().Set("Anteroom-Command", "revoke")
	})}, config(func(c *waitingroom.Config) { c.Room.EnabledOriginCommands = []string{"revoke"} }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "http://shop.test/", http.NoBody))
	if _, ended := coordinator.counts(); ended != 1 {
		t.Errorf("%d sessions ended", ended)
	}
}

// reverse forwards with the standard library's proxy, which wipes the header map at an interim answer.
func reverse(t *testing.T, back http.HandlerFunc) http.HandlerFunc {
	t.Helper()
	s := httptest.NewServer(back)
	t.Cleanup(s.Close)
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return (&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(at) }}).ServeHTTP
}

func TestInterimAnswersPass(t *testing.T) {
	t.Parallel()
	back := reverse(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "done")
	})
	s, _ := site(t, &rooms{answer: scene("Inside")}, back, config())
	var hints atomic.Int32
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		if code == http.StatusEarlyHints && h.Get("Link") != "" && h.Get("Set-Cookie") == "" {
			hints.Add(1)
		}
		return nil
	}})
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "shop.test"
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if hints.Load() != 1 || len(resp.Cookies()) != 1 {
		t.Errorf("%d interim answers, header %v", hints.Load(), resp.Header)
	}
}

func TestUpgradePasses(t *testing.T) {
	t.Parallel()
	back := reverse(t, func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + r.Header.Get("Upgrade") + "\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		_, _ = rw.WriteString("echo " + line)
		_ = rw.Flush()
	})
	coordinator := &rooms{answer: scene("Inside")}
	s, _ := site(t, coordinator, back, config())
	dial := func() (*http.Response, *bufio.Reader) {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(conn, "GET /socket HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "hi\n")
		return resp, in
	}
	resp, in := dial()
	line, _ := in.ReadString('\n')
	if resp.StatusCode != 101 || line != "echo hi\n" || len(resp.Cookies()) != 1 {
		t.Errorf("%d %v %q", resp.StatusCode, resp.Header, line)
	}
	coordinator.answer = scene("Full")
	if resp, _ := dial(); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a waiting visitor's socket: %d %v", resp.StatusCode, resp.Header)
	}
}

// TestStreamsPass: in whatever way the origin begins its answer, the header is complete and goes out at
// once.
func TestStreamsPass(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w http.ResponseWriter) error{
		"Controller": func(w http.ResponseWriter) error { return http.NewResponseController(w).Flush() },
		"Flusher": func(w http.ResponseWriter) error {
			f, ok := w.(http.Flusher)
			if !ok {
				return http.ErrNotSupported
			}
			f.Flush()
			return nil
		},
		"Copy": func(w http.ResponseWriter) error {
			_, err := io.Copy(w, struct{ io.Reader }{strings.NewReader("x")})
			return errors.Join(err, http.NewResponseController(w).Flush())
		},
		"Write": func(w http.ResponseWriter) error {
			_, err := io.WriteString(w, "x")
			return errors.Join(err, http.NewResponseController(w).Flush())
		},
		"Deadline": func(w http.ResponseWriter) error { // reaches the connection through Unwrap
			c := http.NewResponseController(w)
			return errors.Join(c.SetWriteDeadline(time.Now().Add(time.Minute)), c.Flush())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			s, _ := site(t, &rooms{answer: scene("Inside")}, func(w http.ResponseWriter, r *http.Request) {
				if err := begin(w); err != nil {
					t.Error(err)
				}
				select {
				case <-release:
				case <-r.Context().Done():
				}
				_, _ = io.WriteString(w, "end")
			}, config())
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = "shop.test"
			resp, err := s.Client().Do(r) // returns with the header, before the end of the body
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			close(release)
			body, err := io.ReadAll(resp.Body)
			if len(resp.Cookies()) != 1 || !strings.HasSuffix(string(body), "end") || err != nil {
				t.Errorf("header %v, body %q, %v", resp.Header, body, err)
			}
		})
	}
}

// TestBrokenAnswerPasses: an origin that broke off must look broken, and the session is prolonged anyway.
func TestBrokenAnswerPasses(t *testing.T) {
	t.Parallel()
	h := handler(t, &rooms{answer: scene("Inside")}, &origin{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	})}, config())
	defer func() {
		if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // the very value is the sign
			t.Errorf("recovered %v", got)
		}
	}()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://shop.test/", http.NoBody)
	h.ServeHTTP(httptest.NewRecorder(), r)
	t.Error("the panic was swallowed")
}

func TestMeterHearsOfEachRequest(t *testing.T) {
	t.Parallel()
	m := &meter{counts: map[string]int{}}
	coordinator := &rooms{answer: scene("Full")}
	h := waitingroom.NewHandler(waitingroom.Options{
		Gate: gate(t, coordinator, config()), Sessions: coordinator, Client: client, Meter: m,
		Origin: &origin{Handler: http.HandlerFunc(hello)},
	})
	send := func(target string, header ...string) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", target, http.NoBody)
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	send("http://other.test/")
	send("http://shop.test/")
	send("http://shop.test/", "Accept", "application/json", "Accept", "text/plain")
	send("http://shop.test/", "Purpose", "prefetch")
	send("http://shop.test/.anteroom/x")
	want := map[string]int{
		" navigation passed": 1, "shop navigation waiting": 1, "shop json waiting": 1, "shop speculative waiting": 1, " wait faulty": 1,
	}
	if fmt.Sprint(m.counts) != fmt.Sprint(want) {
		t.Errorf("counted %v, want %v", m.counts, want)
	}
}

// TestReadsTheWholeRequest: headers in several lines, a whole URL in the request line, and each header
// that may tell of a speculative load reach the gate.
func TestReadsTheWholeRequest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target, header, value string
		want                  int
	}{
		"Plain":      {"/shop", "X-Nothing", "", 200},
		"WholeURL":   {"http://shop.test/%73hop?a=b", "X-Nothing", "", 200},
		"SecPurpose": {"/shop", "Sec-Purpose", "prefetch", 503},
		"Purpose":    {"/shop", "Purpose", "prefetch", 503},
		"XPurpose":   {"/shop", "X-Purpose", "preview", 503},
		"XMoz":       {"/shop", "X-Moz", "prefetch", 503},
		"Worker":     {"/shop", "Service-Worker", "script", 503},
		"Upgrade":    {"/shop", "Upgrade", "websocket", 503},
		"Ajax":       {"/shop", "X-Requested-With", "XMLHttpRequest", 429},
		"Dest":       {"/shop", "Sec-Fetch-Dest", "image", 429},
		"Mode":       {"/shop", "Sec-Fetch-Mode", "cors", 429},
		"Elsewhere":  {"/shopping", "X-Nothing", "", 204},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			back := &origin{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })}
			h := handler(t, &rooms{answer: scene("Full")}, back, config(func(c *waitingroom.Config) { c.Room.Path = "/shop" }))
			raw := "GET " + test.target + " HTTP/1.1\r\nHost: shop.test\r\nAccept: text/html\r\n" + test.header + ": " + test.value + "\r\n\r\n"
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r.WithContext(t.Context()))
			if w.Code != test.want {
				t.Errorf("%d %v, want %d", w.Code, w.Header(), test.want)
			}
		})
	}
	// An extended CONNECT of HTTP/2 opens a websocket.
	h := handler(t, &rooms{answer: scene("Full")}, &origin{}, config())
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://shop.test/socket", http.NoBody)
	r.Method, r.RequestURI = "CONNECT", "/socket"
	r.Header[":protocol"] = []string{"websocket"}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 503 {
		t.Errorf("an extended CONNECT gets %d", w.Code)
	}
}

// TestOneVisitorOverAllConnections: one admission covers parallel requests over HTTP/1.1 and HTTP/2, and HTTPS
// makes the cookie Secure.
func TestOneVisitorOverAllConnections(t *testing.T) {
	t.Parallel()
	coordinator := &rooms{answer: func(a queue.Ask) (queue.Answer, error) {
		if a.ID != queue.ID(seat().ID) {
			return scene("Full")(a)
		}
		return scene("Inside")(a)
	}}
	s := httptest.NewUnstartedServer(handler(t, coordinator, &origin{Handler: http.HandlerFunc(hello)}, config()))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			protocols := new(http.Protocols)
			protocols.SetHTTP1(i%2 == 0)
			protocols.SetHTTP2(i%2 == 1)
			tr := &http.Transport{Protocols: protocols, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			defer tr.CloseIdleConnections()
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL, http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			r.Host = "shop.test"
			r.Header.Set("Cookie", cookieOf(t, seat()))
			resp, err := tr.RoundTrip(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			c := resp.Cookies()
			if resp.ProtoMajor != 1+i%2 || resp.StatusCode != 200 || len(c) != 2 || !c[1].Secure || c[1].SameSite != http.SameSiteNoneMode {
				t.Errorf("%s %d %v", resp.Proto, resp.StatusCode, resp.Header)
			}
		})
	}
	all.Wait()
}
