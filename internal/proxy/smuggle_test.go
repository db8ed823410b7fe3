package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestAmbiguousFramingSmugglesNothing sends requests whose end is open to dispute. The origin's log
// must never show a request line that stood inside another request.
func TestAmbiguousFramingSmugglesNothing(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, nil, nil)
	const inner = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner)
	te := []string{
		"Transfer-Encoding: chunked", "Transfer-Encoding : chunked", "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity",
		"Transfer-Encoding: identity, chunked", "Transfer-Encoding:\tchunked", "Transfer-Encoding: \"chunked\"", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
		" Transfer-Encoding: chunked", "X: y\r\n Transfer-Encoding: chunked", "Transfer-Encoding:\r\n chunked",
		"Transfer-Encoding: chunked\x00", "Transfer-Encoding: CHUNKED", "Transfer-Encoding: chunked;q=1", "Transfer\rEncoding: chunked", "TRANSFER-ENCODING: chunked",
	}
	lengths := []string{
		"Content-Length: 4", "Content-Length: 4\r\nContent-Length: 400", "Content-Length: +4", "Content-Length: 0x4", "Content-Length: 4,400", "Content-Length: -1",
		"Content-Length:", "Content-Length: 4 4", "Content_Length: 4", "Content-Length : 4", "Content-Length: 99999999999999999999",
	}
	for _, method := range []string{"POST", "GET", "HEAD", "FOO", "OPTIONS", "DELETE"} {
		for i, t1 := range te {
			smuggle(t, w, rec, fmt.Sprintf("%s /%d HTTP/1.1\r\nHost: a\r\n%s\r\n%s\r\n\r\n%s", method, i, lengths[i%len(lengths)], t1, chunked))
			smuggle(t, w, rec, fmt.Sprintf("%s /%d HTTP/1.1\r\nHost: a\r\n%s\r\nContent-Length: %d\r\n\r\n%s", method, i, t1, len(chunked), chunked))
		}
		for _, l := range lengths {
			smuggle(t, w, rec, fmt.Sprintf("%s / HTTP/1.1\r\nHost: a\r\n%s\r\n\r\nabcd%s", method, l, "X"))
		}
		smuggle(t, w, rec, fmt.Sprintf("%s / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", method))
		smuggle(t, w, rec, fmt.Sprintf("%s / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", method))
		smuggle(t, w, rec, fmt.Sprintf("%s / HTTP/1.1\r\n\r\n", method))
		smuggle(t, w, rec, fmt.Sprintf("%s / HTTP/1.1\r\nHost: a\r\nX: a\rGET /smuggled HTTP/1.1\r\n\r\n", method))
	}
}

// smuggle sends one disputed request and then says goodbye. Whatever the answer, the origin may have
// seen at most that request.
func smuggle(t *testing.T, w *world, rec *recorder, text string) {
	t.Helper()
	c := w.dialFront()
	_, _ = io.WriteString(c, text)
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: text[:strings.IndexByte(text, ' ')]})
	if err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
	}
	_ = c.Close()
	for _, head := range rec.take() {
		if strings.Contains(head, "smuggled") && !strings.HasPrefix(head, "GET /smuggled") {
			t.Errorf("%q reached the origin as %q", text, head)
		}
		if strings.HasPrefix(head, "GET /smuggled") {
			t.Errorf("%q smuggled %q", text, head)
		}
		if len(field(head, "Content-Length"))+len(field(head, "Transfer-Encoding")) > 1 {
			t.Errorf("%q reached the origin with disputed framing: %q", text, head)
		}
	}
}

// TestNoMethodDesyncsThePool sends bodies with methods that rarely have one, by HTTP/2, and then looks
// whether others who share the origin's connections read their own answers.
func TestNoMethodDesyncsThePool(t *testing.T) {
	t.Parallel()
	for _, behind := range []version{h1, h2c} {
		t.Run(string(behind), func(t *testing.T) {
			t.Parallel()
			origin := startOrigin(t, behind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "answer to "+r.URL.Path)
			}))
			w := startWorld(t, h2, origin, nil, nil)
			f := w.frames()
			inner := "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
			for i := range 10 {
				for _, method := range []string{"CONNECT", "GET", "HEAD", "TRACE", "FOO", "DELETE", "OPTIONS"} {
					fields := map[string]string{":method": method, ":path": "/attack"}
					if method == "CONNECT" {
						delete(fields, ":path")
					}
					id := f.request(t, fields, false)
					_ = f.WriteData(id, true, []byte(inner))
					status, _ := f.answer(t, id)
					if refused := method == "CONNECT" || method == "TRACE"; refused && status != "405" {
						t.Fatalf("%s got %q", method, status)
					}
					victims(t, w, i)
				}
			}
		})
	}
}

func victims(t *testing.T, w *world, round int) {
	t.Helper()
	var all sync.WaitGroup
	for v := range 8 {
		all.Go(func() {
			path := fmt.Sprintf("/victim-%d-%d", round, v)
			if res, text := w.get(path); text != "answer to "+path {
				t.Errorf("%s got %d %q", path, res.StatusCode, text)
			}
		})
	}
	all.Wait()
}
