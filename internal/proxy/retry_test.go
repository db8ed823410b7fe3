package proxy_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/proxy"
)

// TestDialFailureGoesOnWithTheWholeBody lets the first attempt fail in each stage of connecting.
func TestDialFailureGoesOnWithTheWholeBody(t *testing.T) {
	t.Parallel()
	digest := func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		n, _ := io.Copy(sum, r.Body)
		_, _ = fmt.Fprintf(w, "%d %x", n, sum.Sum(nil))
	}
	for _, name := range []string{"Refused", "Lookup", "TLS"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var picks, delivered atomic.Int64
			good := startOrigin(t, h1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				delivered.Add(1)
				digest(w, r)
			}))
			first := map[string]string{
				"Refused": closedPort(t),
				"Lookup":  "http://no-such-name.invalid",
				"TLS":     strings.Replace(good, "http:", "https:", 1), // speaks no TLS
			}[name]
			w := startWorld(t, h1, good, func(o *proxy.Options) {
				o.Pick = func(*http.Request) (*url.URL, error) {
					if picks.Add(1)%2 == 1 {
						return proxy.ParseOrigin(first)
					}
					return proxy.ParseOrigin(good)
				}
			}, nil)
			for i := range 12 {
				size := []int{64 << 10, 1 << 20}[i%2]
				body := strings.Repeat("0123456789abcdef", size/16)
				r := w.request(http.MethodPost, "/", io.MultiReader(strings.NewReader(body)))
				if i%4 < 2 {
					r.ContentLength = int64(size)
				}
				before := delivered.Load()
				res, got := w.do(r)
				if want := fmt.Sprintf("%d %x", size, sha256.Sum256([]byte(body))); res.StatusCode != http.StatusOK || got != want {
					t.Fatalf("try %d: %d %s, want %s\n%s", i, res.StatusCode, got, want, w.logs)
				}
				if n := delivered.Load() - before; n != 1 {
					t.Fatalf("try %d: delivered %d times", i, n)
				}
			}
			if len(w.failures()) != 0 {
				t.Errorf("failures %q although all went well in the end", w.failures())
			}
		})
	}
}

// TestKeepAliveRace is an origin that closes each connection after a fixed rest, while requests that
// must not be sent twice arrive at about that time.
func TestKeepAliveRace(t *testing.T) {
	t.Parallel()
	const rest = time.Second
	var mu sync.Mutex
	delivered := map[string]int{}
	origin := rawOrigin(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for served := 0; ; served++ {
			if served > 0 { // a connection that was never used does not rest
				_ = c.SetReadDeadline(time.Now().Add(rest))
			}
			if _, err := in.Peek(1); err != nil {
				return
			}
			_ = c.SetReadDeadline(time.Now().Add(patience))
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			delivered[string(body)]++
			mu.Unlock()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	w := startWorld(t, h1, origin, nil, nil)
	var clients sync.WaitGroup
	const lanes, posts = 40, 4
	for lane := range lanes {
		draw := rand.New(rand.NewPCG(1, uint64(lane)))
		clients.Go(func() {
			for i := range posts {
				res, err := w.client.Do(w.request(http.MethodPost, "/", strings.NewReader(fmt.Sprintf("%d-%d", lane, i))))
				if err != nil || res.StatusCode != http.StatusOK {
					t.Errorf("lane %d, post %d: %v %v\n%s", lane, i, res, err, w.logs)
					return
				}
				_ = res.Body.Close()
				time.Sleep(rest - 50*time.Millisecond + time.Duration(draw.Int64N(int64(100*time.Millisecond))))
			}
		})
	}
	clients.Wait()
	mu.Lock()
	defer mu.Unlock()
	if len(delivered) != lanes*posts {
		t.Errorf("%d different bodies arrived, want %d", len(delivered), lanes*posts)
	}
	for body, n := range delivered {
		if n != 1 {
			t.Errorf("%s arrived %d times", body, n)
		}
	}
}

// TestRestingConnections looks at which of them are used again.
func TestRestingConnections(t *testing.T) {
	t.Parallel()
	var conns atomic.Int64
	origin := rawOrigin(t, func(c net.Conn) {
		conns.Add(1)
		in := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	w := startWorld(t, h1, origin, nil, nil)
	step := func(method string, rest time.Duration, want int64) {
		t.Helper()
		time.Sleep(rest)
		body := io.Reader(nil)
		if method == http.MethodPost {
			body = strings.NewReader("body")
		}
		if res, text := w.do(w.request(method, "/", body)); text != "ok" {
			t.Fatalf("%s after %v: %d %q", method, rest, res.StatusCode, text)
		}
		if got := conns.Load(); got != want {
			t.Errorf("%s after %v: %d connections, want %d", method, rest, got, want)
		}
	}
	step(http.MethodGet, 0, 1)
	step(http.MethodPost, 0, 1)
	step(http.MethodPost, 50*time.Millisecond, 1)
	step(http.MethodGet, 700*time.Millisecond, 1)
	step(http.MethodPost, 700*time.Millisecond, 2)
	step(http.MethodDelete, 700*time.Millisecond, 3)
}

// TestDeadRestingConnectionsAreNobodysProblem closes all of them and asks at once.
func TestDeadRestingConnectionsAreNobodysProblem(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var open []net.Conn
	origin := rawOrigin(t, func(c net.Conn) {
		mu.Lock()
		open = append(open, c)
		mu.Unlock()
		in := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	w := startWorld(t, h1, origin, nil, nil)
	for round := range 20 {
		var clients sync.WaitGroup
		for range 8 {
			clients.Go(func() {
				if res, text := w.do(w.request(http.MethodGet, "/", nil)); text != "ok" {
					t.Errorf("round %d: %d %q\n%s", round, res.StatusCode, text, w.logs)
				}
			})
		}
		clients.Wait()
		mu.Lock()
		for _, c := range open {
			_ = c.(*net.TCPConn).SetLinger(round % 2 * -1) // an end or a reset
			_ = c.Close()
		}
		open = nil
		mu.Unlock()
	}
}

// TestOriginThatMovesIsFollowed gives a name two addresses, one after the other. The resolver is ours
// through Pick, as a real one would need the system's.
func TestOriginThatMovesIsFollowed(t *testing.T) {
	t.Parallel()
	name := func(s string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) })
	}
	first, second := startOrigin(t, h1, name("first")), startOrigin(t, h1, name("second"))
	var now atomic.Pointer[string]
	now.Store(&first)
	w := startWorld(t, h1, first, func(o *proxy.Options) {
		o.Pick = func(*http.Request) (*url.URL, error) { return proxy.ParseOrigin(*now.Load()) }
	}, nil)
	if _, text := w.get("/"); text != "first" {
		t.Errorf("got %q", text)
	}
	now.Store(&second)
	if _, text := w.get("/"); text != "second" {
		t.Errorf("after the move got %q", text)
	}
}

// TestOriginKilledLeavesNothingBehind has uploads and downloads under way when the origin dies.
func TestOriginKilledLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, front := range []version{h1, h2} {
		for _, behind := range []version{h1, h1s, h2c} {
			t.Run(string(front)+"To"+string(behind), func(t *testing.T) {
				t.Parallel()
				const each = 25
				started := make(chan struct{}, 2*each)
				origin := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet {
						_, _ = io.WriteString(w, "begin")
						_ = http.NewResponseController(w).Flush()
					} else {
						_, _ = io.ReadFull(r.Body, make([]byte, 5))
					}
					started <- struct{}{}
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
				}))
				serve(origin, behind)
				t.Cleanup(origin.Close)
				w := startWorld(t, front, strings.Replace(origin.URL, "http:", map[version]string{h1: "http:", h1s: "http:", h2c: "h2c:"}[behind], 1), nil, nil)
				var running sync.WaitGroup
				for i := range 2 * each {
					running.Go(func() {
						if i%2 == 0 {
							res, err := w.client.Do(w.request(http.MethodGet, "/", nil))
							if err == nil {
								_, err = io.ReadAll(res.Body)
								_ = res.Body.Close()
							}
							if err == nil {
								t.Error("a download ended cleanly")
							}
							return
						}
						paused, in := io.Pipe()
						defer in.Close()
						go func() { _, _ = io.WriteString(in, "12345") }()
						res, err := w.client.Do(w.request(http.MethodPost, "/", paused)) // never sends the rest
						if err == nil && res.StatusCode != http.StatusBadGateway {
							t.Errorf("an upload got %d", res.StatusCode)
						}
						if err == nil {
							_ = res.Body.Close()
						}
					})
				}
				for range 2 * each {
					<-started
				}
				_ = origin.Listener.Close() // as the kernel does for a killed process
				origin.CloseClientConnections()
				done := make(chan struct{})
				go func() { running.Wait(); close(done) }()
				select {
				case <-done:
				case <-time.After(patience):
					t.Fatalf("exchanges with a dead origin go on after %v", patience)
				}
			})
		}
	}
}
