package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// recorder is a raw origin that keeps every byte it receives and answers each request with 200 and
// its number.
type recorder struct {
	url string

	mu    sync.Mutex
	bytes bytes.Buffer
	heads []string
}

func (rec *recorder) Write(p []byte) (int, error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.bytes.Write(p)
}

// startRecorder starts one.
func startRecorder(t testing.TB) *recorder {
	t.Helper()
	rec := &recorder{}
	rec.url = rawOrigin(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			head, err := readHead(in)
			if err != nil {
				return
			}
			rec.mu.Lock()
			rec.heads = append(rec.heads, head)
			n := len(rec.heads)
			rec.mu.Unlock()
			r, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(head), in)))
			if err != nil {
				_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				return
			}
			if r.ContentLength != 0 {
				_, _ = io.Copy(rec, r.Body)
				_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%d", len(fmt.Sprint(n)), n)
				return // bytes behind a body may be in the parser's buffer
			}
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%d", len(fmt.Sprint(n)), n)
		}
	})
	return rec
}

func readHead(in *bufio.Reader) (string, error) {
	var b strings.Builder
	for !strings.HasSuffix(b.String(), "\r\n\r\n") {
		line, err := in.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			return b.String(), err
		}
	}
	return b.String(), nil
}

// take gives the heads received so far and forgets them.
func (rec *recorder) take() []string {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	heads := rec.heads
	rec.heads = nil
	return heads
}

// one demands that exactly one request has arrived, and gives its head.
func (rec *recorder) one(t *testing.T) string {
	t.Helper()
	heads := rec.take()
	if len(heads) != 1 {
		t.Fatalf("the origin got %d requests, want 1: %q", len(heads), heads)
	}
	return heads[0]
}

// field gives the values of a field of a head, by exact name.
func field(head, name string) []string {
	var values []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if v, ok := strings.CutPrefix(line, name+": "); ok {
			values = append(values, v)
		}
	}
	return values
}
