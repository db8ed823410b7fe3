package proxy_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anteroom/anteroom/internal/proxy"
)

// versions are the pairs of front and origin that streams are tried over.
func versions() [][2]version {
	return [][2]version{{h1, h1}, {h1, h2c}, {h1, h2}, {h1s, h1s}, {h2, h1}, {h2, h2c}, {h2, h2}, {h2c, h2c}}
}

func eachPair(t *testing.T, run func(t *testing.T, front, origin version)) {
	t.Helper()
	for _, p := range versions() {
		t.Run(string(p[0])+"To"+string(p[1]), func(t *testing.T) {
			t.Parallel()
			run(t, p[0], p[1])
		})
	}
}

// TestEventsArriveOneByOne lets the origin send each event only after the visitor has seen the one
// before: any buffer in between would stop the exchange for good.
func TestEventsArriveOneByOne(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, front, behind version) {
		for _, compressed := range []bool{false, true} {
			seen := make(chan struct{}, 1)
			origin := startOrigin(t, behind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				out, flush := io.Writer(w), http.NewResponseController(w).Flush
				w.Header().Set("Content-Type", "text/event-stream")
				if compressed {
					w.Header().Set("Content-Encoding", "gzip")
					z := gzip.NewWriter(w)
					out, flush = z, func() error { return errors.Join(z.Flush(), http.NewResponseController(w).Flush()) }
				} else {
					_ = flush()
				}
				for i := range 5 {
					if i > 0 || !compressed {
						select {
						case <-seen:
						case <-r.Context().Done():
							return
						}
					}
					_, _ = fmt.Fprintf(out, "data: %d\n\n", i)
					_ = flush()
				}
			}))
			w := startWorld(t, front, origin, nil, nil)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			r := w.request(http.MethodGet, "/", nil).WithContext(ctx)
			r.Header.Set("Accept-Encoding", "gzip")
			res, err := w.client.Do(r)
			if err != nil {
				t.Fatalf("compressed %v: no header: %v", compressed, err)
			}
			defer res.Body.Close()
			in := io.Reader(res.Body)
			if compressed {
				if in, err = gzip.NewReader(res.Body); err != nil {
					t.Fatal(err)
				}
			} else {
				seen <- struct{}{}
			}
			lines := bufio.NewScanner(in)
			for i := range 5 {
				if !lines.Scan() || lines.Text() != fmt.Sprintf("data: %d", i) {
					t.Fatalf("compressed %v, event %d: %q, %v", compressed, i, lines.Text(), lines.Err())
				}
				lines.Scan()
				if i < 4 {
					seen <- struct{}{}
				}
			}
		}
	})
}

// TestBytesOfKnownLengthAreNotHeldBack does the same with a Content-Length.
func TestBytesOfKnownLengthAreNotHeldBack(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	origin := startOrigin(t, h1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		for range 10 {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-seen:
			case <-r.Context().Done():
				return
			}
		}
	}))
	w := startWorld(t, h1, origin, nil, nil)
	res, err := w.client.Do(w.request(http.MethodGet, "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for i := range 10 {
		if _, err := io.ReadFull(res.Body, make([]byte, 1)); err != nil {
			t.Fatalf("byte %d: %v", i, err)
		}
		seen <- struct{}{}
	}
}

// TestBothDirectionsAtOnce is a conversation inside one request.
func TestBothDirectionsAtOnce(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, front, behind version) {
		origin := startOrigin(t, behind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			_ = control.EnableFullDuplex()
			w.WriteHeader(http.StatusOK)
			_ = control.Flush()
			buf := make([]byte, 100)
			for {
				n, err := r.Body.Read(buf)
				_, _ = w.Write(buf[:n])
				_ = control.Flush()
				if err != nil {
					return
				}
			}
		}))
		w := startWorld(t, front, origin, nil, nil)
		in, out := io.Pipe()
		res, err := w.client.Do(w.request(http.MethodPost, "/", in))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		for i := range 20 {
			text := fmt.Sprintf("word %02d", i)
			_, _ = io.WriteString(out, text)
			got := make([]byte, len(text))
			if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != text {
				t.Fatalf("sent %q, got %q, %v", text, got, err)
			}
		}
		_ = out.Close()
		if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
			t.Errorf("after the end: %q, %v", rest, err)
		}
	})
}

func TestLargeBodiesAreWhole(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, front, behind version) {
		origin := startOrigin(t, behind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sum := sha256.New()
			n, _ := io.Copy(sum, r.Body)
			_, _ = fmt.Fprintf(w, "%d %x %d", n, sum.Sum(nil), r.ContentLength)
		}))
		w := startWorld(t, front, origin, nil, nil)
		for _, known := range []bool{true, false} {
			body := strings.Repeat("0123456789abcdef", 2<<20/16)
			r := w.request(http.MethodPost, "/", io.MultiReader(strings.NewReader(body)))
			length := int64(-1)
			if known {
				r.ContentLength = int64(len(body))
				length = r.ContentLength
			}
			_, got := w.do(r)
			if want := fmt.Sprintf("%d %x %d", len(body), sha256.Sum256([]byte(body)), length); got != want {
				t.Errorf("known length %v: %s, want %s\n%s", known, got, want, w.logs)
			}
		}
	})
}

// TestTruncationIsVisible breaks an answer off in each framing; the visitor must never see a clean end.
func TestTruncationIsVisible(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("x", 100_000)
	raw := map[string]string{
		"Chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30000\r\n" + half,
		"Length":  "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + half,
		"ChunkedAtBoundary": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n", len(half), half),
		"Tiny": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx",
	}
	for _, front := range []version{h1, h1s, h2, h2c} {
		for name, answer := range raw {
			for _, reset := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s%sReset%v", front, name, reset), func(t *testing.T) {
					t.Parallel()
					origin := rawOrigin(t, func(c net.Conn) {
						_, _ = readHead(bufio.NewReader(c))
						_, _ = io.WriteString(c, answer)
						if reset {
							time.Sleep(50 * time.Millisecond) // let the bytes out before the reset
							_ = c.(*net.TCPConn).SetLinger(0)
						}
					})
					w := startWorld(t, front, origin, nil, nil)
					expectTruncated(t, w)
				})
			}
		}
		t.Run(string(front)+"OriginStreamReset", func(t *testing.T) {
			t.Parallel()
			origin := startOrigin(t, h2c, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, half)
				panic(http.ErrAbortHandler)
			}))
			expectTruncated(t, startWorld(t, front, origin, nil, nil))
		})
	}
}

func expectTruncated(t *testing.T, w *world) {
	t.Helper()
	res, err := w.client.Do(w.request(http.MethodGet, "/", nil))
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	if err == nil {
		t.Fatal("the answer ended cleanly")
	}
	eventually(t, "the hook", func() bool { return len(w.failures()) > 0 })
	if got := w.failures(); len(got) != 1 || got[0] != proxy.ReasonTruncated {
		t.Errorf("reasons %q, want truncated", got)
	}
	if !strings.Contains(w.logs.String(), "reason=truncated") {
		t.Errorf("the log has no line: %s", w.logs)
	}
}

// TestResetAfterAnswerLosesNothing is an origin that answers, closes with unread input and so makes its
// kernel send a reset behind the answer. All that our kernel has acknowledged must reach the visitor.
func TestResetAfterAnswerLosesNothing(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("y", 1<<18)
	for _, answer := range []string{
		fmt.Sprintf("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body),
		fmt.Sprintf("HTTP/1.1 401 No\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body),
	} {
		origin := rawOrigin(t, func(c net.Conn) {
			in := bufio.NewReaderSize(c, 16)
			_, _ = in.ReadString('\n') // the rest stays unread
			_, _ = io.WriteString(c, answer)
			untilAcknowledged(c)
		})
		w := startWorld(t, h1, origin, nil, nil)
		for i := range 50 {
			r := w.request(http.MethodPost, "/", strings.NewReader(strings.Repeat("z", 3000+i*1000)))
			if res, got := w.do(r); got != body {
				t.Fatalf("try %d: status %d, %d bytes, want %d\n%s", i, res.StatusCode, len(got), len(body), w.logs)
			}
		}
	}
}

// untilAcknowledged waits until the other kernel has all that was written.
func untilAcknowledged(c net.Conn) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	for waiting, tries := 1, 0; err == nil && waiting > 0 && tries < 200; tries++ {
		_ = raw.Control(func(fd uintptr) { waiting, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
		time.Sleep(time.Millisecond)
	}
}

// TestCompressionPassesThrough asks for nothing itself and unpacks nothing.
func TestCompressionPassesThrough(t *testing.T) {
	t.Parallel()
	origin := startOrigin(t, h1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "packed for "+r.Header.Get("Accept-Encoding"))
	}))
	w := startWorld(t, h1, origin, nil, nil)
	r := w.request(http.MethodGet, "/", nil)
	r.Header.Set("Accept-Encoding", "br, gzip")
	if res, body := w.do(r); res.Header.Get("Content-Encoding") != "gzip" || body != "packed for br, gzip" {
		t.Errorf("%q %q", res.Header, body)
	}
}

func TestHeadKeepsTheLength(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, front, behind version) {
		origin := startOrigin(t, behind, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "12345")
		}))
		w := startWorld(t, front, origin, nil, nil)
		for range 3 {
			if res, body := w.do(w.request(http.MethodHead, "/", nil)); res.ContentLength != 12345 || body != "" {
				t.Errorf("length %d, body %q", res.ContentLength, body)
			}
		}
	})
}
