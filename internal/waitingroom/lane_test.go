package waitingroom_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// TestLaneAnswersThoseWhoWait shows which requests the lane answers and which the server gets.
func TestLaneAnswersThoseWhoWait(t *testing.T) {
	t.Parallel()
	type row struct {
		name, scene, raw string
		lane             bool
	}
	cookie := "Cookie: " + queued(t)
	wait := "GET /.anteroom/wait?room=" + roomID
	rows := []row{
		{"Page", "Queued", poll("GET /cart?a=b", cookie, "Accept: text/html"), true},
		{"JSON", "Queued", poll("GET /", cookie, "accept:application/json"), true},
		{"Head", "Queued", poll("HEAD /", cookie), true},
		{"WaitEndpoint", "Queued", poll(wait, cookie), true},
		{"WaitEndpointTurn", "Turn", poll(wait, cookie), true},
		{"Image", "Queued", poll("GET /a.png", cookie, "Sec-Fetch-Dest: image"), true},
		{"Rejected", "Refused", poll("GET /", cookie), true},
		{"CoordinatorAway", "Absent", poll("GET /", cookie), true},
		{"KeepAlive", "Queued", poll("GET /", cookie, "Connection: Keep-Alive"), true},
		{"TwoCookieLines", "Queued", poll("GET /", "Cookie: a=b", cookie), true},
		{"UnknownHeaders", "Queued", poll("GET /", cookie, "X-Forwarded-For: 1.2.3.4", "X-A-Name-That-Is-Longer-Than-Any-Of-Ours: \xc3\xa4"), true},

		{"Turn", "Turn", poll("GET /", cookie), false},
		{"Inside", "Inside", poll("GET /", cookie), false},
		{"HeldAtTheHead", "Head", poll(wait, cookie), false},
		{"NoCookie", "Full", poll("GET /"), false},
		{"ForeignCookie", "Full", poll("GET /", "Cookie: a=b"), false},
		{"BrokenCookie", "Full", poll("GET /", "Cookie: __anteroom=x"), false},
		{"Admitted", "Inside", poll("GET /", "Cookie: "+cookieOf(t, seat())), false},
		{"OldTicket", "Full", poll("GET /", "Cookie: "+cookieOf(t, place())), false},
		{"OtherHost", "Queued", strings.Replace(poll("GET /", cookie), "shop.test", "other.test", 1), false},
		{"OwnPathOfNothing", "Queued", poll("GET /.anteroom/x", cookie), false},
		{"WaitEndpointOfNoRoom", "Queued", poll("GET /.anteroom/wait?room=x", cookie), false},
		{"EncodedPath", "Queued", poll("GET /a%2Fb", cookie), false},
		{"DotSegment", "Queued", poll("GET /a/../b", cookie), false},
		{"OneDot", "Queued", poll("GET /a/./b", cookie), false},
		{"TwoSlashes", "Queued", poll("GET /a//b", cookie), false},
		{"Post", "Queued", poll("POST /", cookie, "Content-Length: 0"), false},
		{"GetWithBody", "Queued", poll("GET /", cookie, "Content-Length: 1") + "x", false},
		{"Chunked", "Queued", poll("GET /", cookie, "Transfer-Encoding: chunked") + "0\r\n\r\n", false},
		{"Expect", "Queued", poll("GET /", cookie, "Expect: 100-continue"), false},
		{"UpgradeHeader", "Queued", poll("GET /", cookie, "Connection: Upgrade", "Upgrade: websocket"), false},
		{"Close", "Queued", poll("GET /", cookie, "Connection: close"), false},
		{"Prefetch", "Queued", poll("GET /", cookie, "Sec-Purpose: prefetch"), false},
		{"Range", "Queued", poll("GET /", cookie, "Range: bytes=0-3"), false},
		{"TwoAccepts", "Queued", poll("GET /", cookie, "Accept: a/b", "Accept: c/d"), false},
		{"OldProtocol", "Queued", strings.Replace(poll("GET /", cookie), "HTTP/1.1", "HTTP/1.0", 1), false},
		{"WholeURL", "Queued", poll("GET http://shop.test/", cookie), false},
		{"TwoHosts", "Queued", poll("GET /", "Host: shop.test", cookie), false},
		{"NoHost", "Queued", "GET / HTTP/1.1\r\n" + cookie + "\r\n\r\n", false},
		{"LineFeedsAlone", "Queued", strings.ReplaceAll(poll("GET /", cookie), "\r\n", "\n"), false},
		{"FoldedLine", "Queued", poll("GET /", cookie, "Accept: a/b,\r\n c/d"), false},
		{"SpaceBeforeColon", "Queued", poll("GET /", cookie, "Accept : a/b"), false},
		{"ControlByte", "Queued", poll("GET /", cookie, "Accept: a\x01"), false},
		{"EarlyEnd", "Queued", "GET / HTTP/1.1\r\nHost: shop.test\r\n", false},
		{"HugeHeader", "Queued", poll("GET /", cookie, "X-Large: "+strings.Repeat("x", 9000)), false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w, dial := tcpLane(t, &rooms{answer: scene(r.scene)}, hello)
			c := dial()
			if _, err := io.WriteString(c, r.raw); err != nil {
				t.Fatal(err)
			}
			if half, ok := c.(*net.TCPConn); ok && r.name == "EarlyEnd" {
				_ = half.CloseWrite()
			}
			method, _, _ := strings.Cut(r.raw, " ")
			resp, _ := answerOf(t, bufio.NewReader(c), method)
			if got := w.taken.Load() == 0; got != r.lane {
				t.Errorf("answered by the lane: %v, status %d, %v", got, resp.StatusCode, resp.Header)
			}
			if r.lane && (len(w.origin.seen()) > 0 || strings.Contains(w.coordinator.purposes(), "enter")) {
				t.Errorf("the lane asked %q, the origin saw %d", w.coordinator.purposes(), len(w.origin.seen()))
			}
		})
	}
}

// TestLaneAnswersLikeTheServer compares each word of both, under a clock that stands still.
func TestLaneAnswersLikeTheServer(t *testing.T) {
	t.Parallel()
	headers := map[string][]string{
		"Page":       {"Accept: text/html", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Accept-Language: de"},
		"JSON":       {"Accept: application/json", "Origin: https://app.test"},
		"Background": {"Accept: */*", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty", "Content-Type: application/json"},
		"XHR":        {"Accept: */*", "X-Requested-With: XMLHttpRequest"},
		"Image":      {"Accept: image/webp", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"},
		"Prefetch":   {"Purpose: prefetch"},
		"Bare":       nil,
	}
	for _, situation := range []string{"Open", "Full", "Queued", "Turn", "Head", "Inside", "Refused", "Absent"} {
		for name, header := range headers {
			t.Run(situation+name, func(t *testing.T) {
				t.Parallel()
				for _, line := range []string{"GET /cart?a=b", "HEAD /cart", "GET /.anteroom/wait?room=" + roomID, "HEAD /.anteroom/wait?room=" + roomID} {
					synctest.Test(t, func(t *testing.T) {
						raw := poll(line, append(header, "Cookie: a=b; "+queued(t)+"; c=d")...)
						direct, viaLane := telling(t, situation, raw, false), telling(t, situation, raw, true)
						if direct != viaLane {
							t.Errorf("%s\nthe server:\n%s\nthe lane:\n%s", line, direct, viaLane)
						}
					})
				}
			})
		}
	}
}

// telling is everything that one request brings about, in words.
func telling(t *testing.T, situation, raw string, viaLane bool) string {
	t.Helper()
	p := newPipes()
	w := newLane(t, p, &rooms{answer: scene(situation)}, hello, func(o *waitingroom.LaneOptions) {
		o.Direct = func(netip.Addr) bool { return viaLane }
	})
	c := p.dial()
	resp, body := exchange(t, c, bufio.NewReader(c), raw)
	var s strings.Builder
	for _, cookie := range resp.Header["Set-Cookie"] {
		tk, ok := sealedNow(t, cookie)
		_, attributes, _ := strings.Cut(cookie, ";")
		if situation == "Full" || situation == "Open" { // a new ticket's name is drawn
			tk.ID = [16]byte{}
		}
		fmt.Fprintf(&s, "cookie %v %+v;%s\n", ok, tk, attributes)
	}
	if situation == "Full" || situation == "Open" {
		body = body[:min(len(body), 80)]
	}
	delete(resp.Header, "Set-Cookie")
	for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
		fmt.Fprintf(&s, "%s: %q\n", name, resp.Header[name])
	}
	_ = c.Close()
	synctest.Wait()
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	fmt.Fprintf(&s, "%s close=%v length=%d visits=%d counted=%v\n%s", resp.Status, resp.Close, resp.ContentLength, len(w.origin.seen()), w.meter.counts, body)
	if situation == "Absent" { // the refresh interval is drawn
		return regexp.MustCompile(`\d+`).ReplaceAllString(s.String(), "#")
	}
	return s.String()
}

// TestLaneGetsConnectionsBack: a visitor's first request has no cookie, and the server answers it. The
// polls on the same connection are the lane's; the turn is the server's again.
func TestLaneGetsConnectionsBack(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("Secure%v", secure), func(t *testing.T) {
			t.Parallel()
			state := "Full"
			var mu sync.Mutex
			coordinator := &rooms{answer: func(a queue.Ask) (queue.Answer, error) {
				mu.Lock()
				defer mu.Unlock()
				q, err := scene(state)(a)
				q.LastSeen = time.Now()
				if q.Verdict == queue.Admitted {
					q.Accepted = q.LastSeen
				}
				return q, err
			}}
			w, c := securely(t, secure, coordinator)
			in := bufio.NewReader(c)
			resp, _ := exchange(t, c, in, poll("GET /", "Accept: text/html"))
			cookie, _, _ := strings.Cut(resp.Header.Get("Set-Cookie"), ";")
			if cookie == "" || resp.Close || w.taken.Load() != 1 {
				t.Fatalf("first answer: %v, taken %d", resp.Header, w.taken.Load())
			}
			mu.Lock()
			state = "Queued"
			mu.Unlock()
			for range 100 {
				resp, body := exchange(t, c, in, poll("GET /", "Accept: application/json", "Cookie: "+cookie))
				if resp.StatusCode != 200 || !strings.Contains(body, "cfWaitingRoom") || w.taken.Load() != 1 {
					t.Fatalf("%d %s, taken %d", resp.StatusCode, body, w.taken.Load())
				}
				if secure != strings.Contains(resp.Header.Get("Set-Cookie"), "Secure") {
					t.Fatalf("cookie %s", resp.Header.Get("Set-Cookie"))
				}
			}
			mu.Lock()
			state = "Turn"
			mu.Unlock()
			for range 3 {
				if _, body := exchange(t, c, in, poll("GET /x", "Cookie: "+cookie)); body != "origin GET /x" {
					t.Errorf("at the turn: %s", body)
				}
			}
			if n := len(w.origin.seen()); n != 3 || w.taken.Load() != 2 {
				t.Errorf("the origin saw %d requests, the server took the connection %d times", n, w.taken.Load())
			}
		})
	}
}

// TestLaneReadsTornRequests: byte by byte, and behind each other without a pause.
func TestLaneReadsTornRequests(t *testing.T) {
	t.Parallel()
	w, dial := tcpLane(t, &rooms{answer: scene("Queued")}, hello)
	c := dial()
	in := bufio.NewReader(c)
	raw := poll("GET /", "Cookie: "+queued(t), "Accept: application/json")
	for range 2 {
		for i := range len(raw) {
			if _, err := io.WriteString(c, raw[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if resp, body := answerOf(t, in, "GET"); resp.StatusCode != 200 || !strings.Contains(body, "cfWaitingRoom") {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
	}
	if w.taken.Load() != 0 {
		t.Error("the server got a request in pieces")
	}
	if _, err := io.WriteString(c, strings.Repeat(raw, 5)); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if resp, body := answerOf(t, in, "GET"); resp.StatusCode != 200 || !strings.Contains(body, "cfWaitingRoom") {
			t.Errorf("pipelined request %d: %d %s", i, resp.StatusCode, body)
		}
	}
}

// TestLaneEndsSlowClients: who does not finish a header in time goes, and so does who says nothing.
func TestLaneEndsSlowClients(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first string
		after time.Duration
	}{
		"Silent":         {"", 10 * time.Second},
		"HalfAHeader":    {"GET / HTTP/1.1\r\nHos", 10 * time.Second},
		"IdleAfterwards": {"poll", 130 * time.Second},
		"SlowAfterwards": {"pollG", 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				newLane(t, p, &rooms{answer: scene("Queued")}, hello)
				conn := p.dial()
				first, waits := strings.CutPrefix(c.first, "poll")
				if waits {
					raw := poll("GET /", "Cookie: "+queued(t))
					exchange(t, conn, bufio.NewReader(conn), raw)
					_, _ = io.WriteString(conn, raw[:20]) // in two pieces, so that both deadlines were set
					time.Sleep(time.Second / 10)
					_, _ = io.WriteString(conn, raw[20:])
					answerOf(t, bufio.NewReader(conn), "GET")
				}
				began := time.Now()
				_, _ = io.WriteString(conn, first)
				if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
					t.Errorf("read %d bytes, %v", n, err)
				}
				if took := time.Since(began); took != c.after {
					t.Errorf("ended after %v, want %v", took, c.after)
				}
			})
		})
	}
}

// TestLaneLeavesNoDeadline: the origin may take longer than a visitor may rest.
func TestLaneLeavesNoDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		w := newLane(t, p, &rooms{answer: scene("Inside")}, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Hour)
			_, _ = io.WriteString(w, "late")
		})
		c := p.dial()
		if _, body := exchange(t, c, bufio.NewReader(c), poll("GET /", "Cookie: "+queued(t))); body != "late" {
			t.Errorf("body %q", body)
		}
		_ = c.Close()
		synctest.Wait()
		if w.taken.Load() != 1 {
			t.Error("the lane answered")
		}
	})
}

// TestLaneStops: resting connections end at once, an answer under way arrives and says that it is the last.
func TestLaneStops(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}, 1), make(chan struct{})
	say := scene("Queued")
	coordinator := &rooms{answer: func(a queue.Ask) (queue.Answer, error) {
		asked <- struct{}{}
		<-release
		return say(a)
	}}
	w, dial := tcpLane(t, coordinator, hello)
	idle, busy := dial(), dial()
	if _, err := io.WriteString(busy, poll("GET /", "Cookie: "+queued(t))); err != nil {
		t.Fatal(err)
	}
	<-asked
	stopped := make(chan error, 1)
	go func() { stopped <- w.stop() }()
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the resting connection: %v", err)
	}
	select {
	case err := <-stopped:
		t.Errorf("stopped before the answer: %v", err)
	default:
	}
	close(release)
	if resp, _ := answerOf(t, bufio.NewReader(busy), "GET"); !resp.Close || resp.StatusCode != 200 {
		t.Errorf("the last answer: %d %v", resp.StatusCode, resp.Header)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
}

// TestLaneCutsWhoNeverReads at the end of the time for the stop.
func TestLaneCutsWhoNeverReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		w := newLane(t, p, &rooms{answer: scene("Queued")}, hello)
		c := p.dial()
		if _, err := io.WriteString(c, poll("GET /", "Cookie: "+queued(t))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // it writes now, and nobody reads
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.lane.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("shutdown: %v", err)
		}
		if err := w.lane.Shutdown(t.Context()); err != nil {
			t.Errorf("a second shutdown: %v", err)
		}
	})
}

// faulty is a listener that fails now and then.
type faulty struct {
	*pipes
	fails int
}

func (f *faulty) Accept() (net.Conn, error) {
	if f.fails--; f.fails >= 0 {
		return nil, errors.New("too many open files")
	}
	return f.pipes.Accept()
}

// TestLaneSurvives failing accepts, and a panic in an answer.
func TestLaneSurvives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		say, panics := scene("Queued"), true
		newLane(t, &faulty{p, 12}, &rooms{answer: func(a queue.Ask) (queue.Answer, error) {
			if panics {
				panics = false
				panic("a fault")
			}
			return say(a)
		}}, hello)
		c := p.dial()
		if _, err := io.WriteString(c, poll("GET /", "Cookie: "+queued(t))); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("after the panic: %v", err)
		}
		c = p.dial()
		if resp, _ := exchange(t, c, bufio.NewReader(c), poll("GET /", "Cookie: "+queued(t))); resp.StatusCode != 200 {
			t.Errorf("the next visitor: %d", resp.StatusCode)
		}
		_ = c.Close()
	})
}

// TestLaneLeavesProxiesAlone: what comes from a trusted proxy is of many visitors.
func TestLaneLeavesProxiesAlone(t *testing.T) {
	t.Parallel()
	w, dial := tcpLane(t, &rooms{answer: scene("Queued")}, hello, func(o *waitingroom.LaneOptions) {
		o.Direct = func(peer netip.Addr) bool { return peer != netip.MustParseAddr("127.0.0.1") }
	})
	c := dial()
	in := bufio.NewReader(c)
	for range 2 {
		if resp, _ := exchange(t, c, in, poll("GET /", "Cookie: "+queued(t))); resp.StatusCode != 200 {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
	if w.taken.Load() != 1 {
		t.Errorf("the server took %d connections", w.taken.Load())
	}
}

// TestLaneHandsOverWhole connections: uploads, upgrades and deadlines work as without the lane.
func TestLaneHandsOverWhole(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("Secure%v", secure), func(t *testing.T) {
			t.Parallel()
			w, c := securely(t, secure, &rooms{answer: scene("Inside")}, func(w http.ResponseWriter, r *http.Request) {
				control := http.NewResponseController(w)
				if err := control.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
					t.Error(err)
				}
				if r.TLS != nil != secure {
					t.Errorf("TLS: %v", r.TLS)
				}
				if r.Header.Get("Upgrade") == "" {
					n, err := io.Copy(io.Discard, r.Body)
					_, _ = fmt.Fprintf(w, "%d %v", n, err)
					return
				}
				conn, both, err := control.Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
				_, _ = io.CopyN(conn, both, 5)
			})
			in := bufio.NewReader(c)
			body := strings.Repeat("x", 3<<20)
			resp, text := exchange(t, c, in, poll("POST /", fmt.Sprintf("Content-Length: %d", len(body)))+body)
			if text != "3145728 <nil>" {
				t.Errorf("upload: %d %s", resp.StatusCode, text)
			}
			_, _ = io.WriteString(c, poll("GET /", "Connection: Upgrade", "Upgrade: echo")+"hello")
			if _, err := http.ReadResponse(in, nil); err != nil {
				t.Fatal(err)
			}
			if echo, err := io.ReadAll(in); string(echo) != "hello" || err != nil && !secure {
				t.Errorf("echo %q, %v", echo, err)
			}
			if w.taken.Load() != 1 {
				t.Errorf("the server took %d connections", w.taken.Load())
			}
		})
	}
}

// TestLaneSpeaksTLS with clients of both protocols, and answers those who do not speak it.
func TestLaneSpeaksTLS(t *testing.T) {
	t.Parallel()
	authority := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(authority.Close)
	w, dial := tcpLane(t, &rooms{answer: scene("Queued")}, hello, overTLS(authority.TLS.Certificates[0], "h2", "http/1.1"))
	for i, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		transport, ok := authority.Client().Transport.(*http.Transport)
		if !ok {
			t.Fatal("no transport")
		}
		transport = transport.Clone()
		transport.ForceAttemptHTTP2 = i == 1
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return dial(), nil }
		if i == 0 {
			transport.TLSClientConfig.NextProtos = nil
		}
		transport.TLSClientConfig.ServerName = "example.com"
		for range 3 {
			r, err := http.NewRequestWithContext(t.Context(), "GET", "https://shop.test/", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Cookie", queued(t))
			resp, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.Proto != protocol || resp.StatusCode != 200 || !strings.Contains(resp.Header.Get("Set-Cookie"), "; Secure") {
				t.Errorf("%s %d %v", resp.Proto, resp.StatusCode, resp.Header)
			}
		}
		transport.CloseIdleConnections()
		if got := int(w.taken.Load()); got != i {
			t.Errorf("after %s the server has %d connections", protocol, got)
		}
	}
	c := dial()
	if resp, body := exchange(t, c, bufio.NewReader(c), poll("GET /")); resp.StatusCode != 400 || !strings.Contains(body, "HTTPS") {
		t.Errorf("plain HTTP: %d %s", resp.StatusCode, body)
	}
}
