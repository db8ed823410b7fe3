package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/proxy"
)

// TestExpectContinueEndToEnd lets the origin decide: the visitor sends the body only after the origin
// has asked for it, and nothing of it when the origin refuses.
func TestExpectContinueEndToEnd(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, front, behind version) {
		origin := startOrigin(t, behind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/refused" {
				w.WriteHeader(http.StatusExpectationFailed)
				return
			}
			n, _ := io.Copy(io.Discard, r.Body)
			_, _ = fmt.Fprint(w, n)
		}))
		w := startWorld(t, front, origin, nil, nil)
		for path, want := range map[string]int{"/wanted": http.StatusOK, "/refused": http.StatusExpectationFailed} {
			var read atomic.Int64
			body := strings.NewReader(strings.Repeat("x", 300_000))
			r := w.request(http.MethodPut, path, readFunc(func(p []byte) (int, error) {
				n, err := body.Read(p)
				read.Add(int64(n))
				return n, err
			}))
			r.ContentLength = 300_000
			r.Header.Set("Expect", "100-continue")
			res, text := w.do(r)
			if res.StatusCode != want || want == http.StatusOK && text != "300000" {
				t.Errorf("%s: %d %q\n%s", path, res.StatusCode, text, w.logs)
			}
			// net/http hides the visitor's Expect in HTTP/2, so its body is asked for at once.
			if want != http.StatusOK && res.ProtoMajor == 1 && read.Load() != 0 {
				t.Errorf("%s: the visitor was made to send %d bytes", path, read.Load())
			}
		}
	})
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// TestContinueComesFromTheOrigin reads the wire: no 100 before the origin has said so.
func TestContinueComesFromTheOrigin(t *testing.T) {
	t.Parallel()
	allow := make(chan struct{})
	origin := rawOrigin(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		head, _ := readHead(in)
		if !strings.Contains(head, "Expect: 100-continue") {
			_, _ = io.WriteString(c, "HTTP/1.1 500 No Expect\r\nContent-Length: 0\r\n\r\n")
			return
		}
		<-allow
		_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		body := make([]byte, 5)
		_, _ = io.ReadFull(in, body)
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n%s", body)
	})
	w := startWorld(t, h1, origin, func(o *proxy.Options) { o.Limits.ExpectContinue = patience }, nil)
	c := w.dialFront()
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	_ = c.SetReadDeadline(time.Now().Add(150 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Fatalf("%d bytes came before the origin had answered", n)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	close(allow)
	in := bufio.NewReader(c)
	if head, err := readHead(in); err != nil || !strings.HasPrefix(head, "HTTP/1.1 100 ") {
		t.Fatalf("got %q, %v", head, err)
	}
	_, _ = io.WriteString(c, "hello")
	if res, err := http.ReadResponse(in, nil); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", res, err)
	}
}

// TestEarlyAnswerReachesTheVisitor is an origin that answers without reading the upload and closes. The
// visitor writes all of the body before it reads, as simple clients do.
func TestEarlyAnswerReachesTheVisitor(t *testing.T) {
	t.Parallel()
	origin := rawOrigin(t, func(c net.Conn) {
		_, _ = readHead(bufio.NewReader(c))
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Big\r\nContent-Length: 7\r\nConnection: close\r\n\r\ntoo big")
	})
	for _, front := range []version{h1, h1s, h2, h2c} {
		t.Run(string(front), func(t *testing.T) {
			t.Parallel()
			w := startWorld(t, front, origin, nil, nil)
			for i := range 10 {
				res, text := w.do(w.request(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 8<<20))))
				if res.StatusCode != http.StatusRequestEntityTooLarge || text != "too big" {
					t.Fatalf("try %d: %d %q\n%s", i, res.StatusCode, text, w.logs)
				}
			}
		})
	}
	t.Run("WritesEverythingFirst", func(t *testing.T) {
		t.Parallel()
		w := startWorld(t, h1, origin, nil, nil)
		c := w.dialFront()
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n")
		if _, err := c.Write(make([]byte, 20_000_000)); err != nil {
			t.Fatalf("the upload was cut: %v", err)
		}
		if res, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("got %v, %v", res, err)
		}
	})
	t.Run("DeadOriginWritesEverythingFirst", func(t *testing.T) {
		t.Parallel()
		w := startWorld(t, h1, closedPort(t), nil, nil)
		c := w.dialFront()
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n")
		if _, err := c.Write(make([]byte, 20_000_000)); err != nil {
			t.Fatalf("the upload was cut: %v", err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != http.StatusBadGateway || !res.Close {
			t.Errorf("got %v, %v", res, err)
		}
	})
}

// TestUploadLivesAsLongAsItMoves sends for much longer than the idle time, then stops.
func TestUploadLivesAsLongAsItMoves(t *testing.T) {
	t.Parallel()
	const idle = 1500 * time.Millisecond // a loaded machine pauses, too
	origin := startOrigin(t, h1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, n, err)
	}))
	for _, front := range []version{h1, h2, h2c} {
		t.Run(string(front), func(t *testing.T) {
			t.Parallel()
			w := startWorld(t, front, origin, func(o *proxy.Options) { o.Limits.RequestIdle = idle }, nil)
			moving, in := io.Pipe()
			go func() {
				for range 12 {
					_, _ = io.WriteString(in, "0123456789")
					time.Sleep(idle / 8)
				}
				_ = in.Close()
			}()
			if res, text := w.do(w.request(http.MethodPost, "/", moving)); text != "120 <nil>" {
				t.Errorf("a moving upload got %d %q", res.StatusCode, text)
			}
			stalled, in := io.Pipe()
			go func() { _, _ = io.WriteString(in, "0123456789") }()
			began := time.Now()
			res, err := w.client.Do(w.request(http.MethodPost, "/", stalled))
			if err != nil || res.StatusCode != http.StatusRequestTimeout {
				t.Fatalf("a stalled upload got %v, %v", res, err)
			}
			_ = res.Body.Close()
			if took := time.Since(began); took < idle*7/8 || took > 10*idle {
				t.Errorf("it was cut after %v, want about %v", took, idle)
			}
			if got := w.failures(); len(got) != 1 || got[0] != proxy.ReasonClientStalled || w.logs.String() != "" {
				t.Errorf("reasons %q, log %q; want client_stalled and no log", got, w.logs)
			}
			_ = in.Close()
		})
	}
}

// TestConnectionIsUsableAfterUpload makes sure that no deadline of an upload outlives it.
func TestConnectionIsUsableAfterUpload(t *testing.T) {
	t.Parallel()
	const idle = 200 * time.Millisecond
	origin := startOrigin(t, h1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/slow" {
			time.Sleep(2 * idle)
		}
		_, _ = io.WriteString(w, "done")
	}))
	w := startWorld(t, h1, origin, func(o *proxy.Options) { o.Limits.RequestIdle = idle }, nil)
	c := w.dialFront()
	in := bufio.NewReader(c)
	for i := range 3 {
		_, _ = io.WriteString(c, "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if text, err := io.ReadAll(res.Body); string(text) != "done" || err != nil {
			t.Fatalf("request %d: %q %v", i, text, err)
		}
		time.Sleep(2 * idle)
	}
}

// TestVisitorsMistakesAreNotTheOrigins sends bodies that break their own promise.
func TestVisitorsMistakesAreNotTheOrigins(t *testing.T) {
	t.Parallel()
	t.Run("HTTP2WrongLength", func(t *testing.T) {
		t.Parallel()
		origin := startOrigin(t, h1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		}))
		w := startWorld(t, h2, origin, nil, nil)
		f := w.frames()
		for i := range 200 {
			id := f.request(t, map[string]string{":method": "POST", ":path": "/", "content-length": "5"}, false)
			_ = f.WriteData(id, true, make([]byte, 3+4*(i%2)))
			if status, reset := f.answer(t, id); !reset && status != "400" {
				t.Fatalf("try %d: status %q", i, status)
			}
		}
		for _, reason := range w.failures() {
			if !strings.HasPrefix(string(reason), "client_") {
				t.Errorf("the origin is blamed: %s\n%s", reason, w.logs)
			}
		}
		if res, text := w.do(w.request(http.MethodPost, "/", strings.NewReader("hello"))); text != "hello" {
			t.Errorf("afterwards: %d %q", res.StatusCode, text)
		}
	})
	t.Run("HTTP1BrokenChunk", func(t *testing.T) {
		t.Parallel()
		origin := startOrigin(t, h1, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
		w := startWorld(t, h1, origin, nil, nil)
		res := w.raw("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n\r\n")
		if got := w.failures(); res.StatusCode != http.StatusBadRequest || !res.Close || len(got) != 1 || got[0] != proxy.ReasonClientBody {
			t.Errorf("status %d, close %v, reasons %q", res.StatusCode, res.Close, got)
		}
	})
	t.Run("OverTheServersLimit", func(t *testing.T) {
		t.Parallel()
		origin := startOrigin(t, h1, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
		w := startWorld(t, h1, origin, nil, func(rw http.ResponseWriter, r *http.Request) proxy.Visit {
			r.Body = http.MaxBytesReader(rw, r.Body, 10)
			return proxy.Visit{}
		})
		if res, _ := w.do(w.request(http.MethodPost, "/", strings.NewReader("0123456789x"))); res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d, want 413", res.StatusCode)
		}
	})
}
