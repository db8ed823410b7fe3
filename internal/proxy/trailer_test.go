package proxy_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
)

// TestAnswerTrailers sends announced, unannounced and many trailers, with and without a body.
func TestAnswerTrailers(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, front, behind version) {
		origin := startOrigin(t, behind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kind, body, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
			h := w.Header()
			if kind != "unannounced" {
				h.Set("Trailer", "X-One, X-Two")
			}
			w.WriteHeader(http.StatusOK)
			_, _ = io.WriteString(w, body)
			_ = http.NewResponseController(w).Flush()
			prefix := ""
			if kind == "unannounced" {
				prefix = http.TrailerPrefix
			}
			h.Set(prefix+"X-One", "1")
			h.Add(prefix+"X-Two", "2")
			h.Add(prefix+"X-Two", "3")
			for i := 0; kind == "many" && i < 64; i++ {
				h.Set(fmt.Sprintf("%sX-Many-%d", http.TrailerPrefix, i), "v")
			}
		}))
		w := startWorld(t, front, origin, nil, nil)
		for _, path := range []string{"/announced/body", "/announced/", "/unannounced/body", "/unannounced/", "/many/body"} {
			res, body := w.do(w.request(http.MethodGet, path, nil))
			got := res.Trailer
			if got.Get("X-One") != "1" || !slices.Equal(got["X-Two"], []string{"2", "3"}) {
				t.Errorf("%s: trailers %q", path, got)
			}
			if strings.HasPrefix(path, "/many") && len(got) != 66 {
				t.Errorf("%s: %d trailers, want 66", path, len(got))
			}
			if want := path[strings.LastIndexByte(path, '/')+1:]; body != want {
				t.Errorf("%s: body %q", path, body)
			}
		}
	})
}

// TestRequestTrailers also makes sure that a trailer cannot be what a field cannot be.
func TestRequestTrailers(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, front, behind version) {
		got := make(chan http.Header, 1)
		origin := startOrigin(t, behind, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			got <- maps.Clone(r.Trailer)
		}))
		w := startWorld(t, front, origin, nil, nil)
		for _, length := range []int64{-1, 4} {
			if length > 0 && front != h2 && front != h2c {
				continue // HTTP/1 has no trailers with a length
			}
			r := w.request(http.MethodPost, "/", io.MultiReader(strings.NewReader("body")))
			r.ContentLength = length
			r.Trailer = http.Header{"X-One": {"1"}, "X-Two": {"2", "3"}, "Anteroom-Ticket": {"forged"}, "Anteroom_room": {"forged"}, "X-Forwarded-For": {"6.6.6.6"}, "Cookie": {"a=b"}}
			res, _ := w.do(r)
			if res.StatusCode != http.StatusOK {
				t.Fatalf("status %d\n%s", res.StatusCode, w.logs)
			}
			want := http.Header{"X-One": {"1"}, "X-Two": {"2", "3"}}
			if trailer := <-got; !maps.EqualFunc(trailer, want, slices.Equal) {
				t.Errorf("length %d: the origin got %q, want %q", length, trailer, want)
			}
		}
	})
}

// TestUnannouncedRequestTrailers come by HTTP/1.1 alone; net/http drops them in HTTP/2.
func TestUnannouncedRequestTrailers(t *testing.T) {
	t.Parallel()
	for _, behind := range []version{h1, h2c} {
		got := make(chan http.Header, 1)
		origin := startOrigin(t, behind, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			got <- maps.Clone(r.Trailer)
		}))
		w := startWorld(t, h1, origin, nil, nil)
		w.raw("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX-Late: 1\r\nX_Real_IP: 6.6.6.6\r\n\r\n")
		trailer := <-got
		if behind == h1 && trailer.Get("X-Late") != "1" { // an h2c origin of net/http drops them itself
			t.Errorf("%s: the origin got %q", behind, trailer)
		}
		if len(trailer) > 1 {
			t.Errorf("%s: the origin got %q", behind, trailer)
		}
	}
}

// TestStatusOfGRPCErrorsArrives sends answers that consist of one header block, as gRPC errors do, and
// answers whose status comes in trailers. A gRPC client takes a header block that does not end the
// stream for the beginning of an answer and misses the status, so the two ends must be seen as one.
func TestStatusOfGRPCErrorsArrives(t *testing.T) {
	t.Parallel()
	origin := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/grpc")
		if r.URL.Path == "/unary" {
			h.Set("Trailer", "Grpc-Status")
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = w.Write([]byte("\x00\x00\x00\x00\x02ok"))
			h.Set("Grpc-Status", "0")
			return
		}
		if r.URL.Path == "/late" {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		h.Set("Grpc-Status", "12")
		h.Set("Grpc-Message", "\t\ntest with whitespace\r\nand Unicode BMP %E2%98%BA")
		w.WriteHeader(http.StatusOK)
	})
	for _, behind := range []version{h1, h2c, h2} {
		t.Run(string(behind), func(t *testing.T) {
			t.Parallel()
			w := startWorld(t, h2, startOrigin(t, behind, origin), nil, nil)
			var calls sync.WaitGroup
			for range 4 {
				f := w.frames()
				calls.Go(func() {
					for i := range 50 {
						grpcError(t, f, []string{"/early", "/late"}[i%2])
						grpcUnary(t, w)
					}
				})
			}
			calls.Wait()
		})
	}
}

// grpcError reads the frames: the first header block must be the last thing of the stream.
func grpcError(t *testing.T, f *framesConn, path string) {
	t.Helper()
	id := f.request(t, map[string]string{":method": "POST", ":path": path, "content-type": "application/grpc", "te": "trailers"}, false)
	_ = f.WriteData(id, true, []byte("\x00\x00\x00\x00\x02in"))
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		if head, ok := frame.(*http2.MetaHeadersFrame); ok && head.StreamID == id {
			status := ""
			for _, field := range head.RegularFields() {
				if field.Name == "grpc-status" {
					status = field.Value
				}
			}
			if !head.StreamEnded() || status != "12" {
				t.Errorf("%s: status %q, the header block ends the stream: %v", path, status, head.StreamEnded())
			}
			return
		}
	}
}

func grpcUnary(t *testing.T, w *world) {
	t.Helper()
	r := w.request(http.MethodPost, "/unary", io.MultiReader(strings.NewReader("\x00\x00\x00\x00\x02in")))
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("Te", "trailers")
	res, err := w.client.Do(r)
	if err != nil {
		t.Errorf("unary: %v", err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || string(body) != "\x00\x00\x00\x00\x02ok" || res.Trailer.Get("Grpc-Status") != "0" {
		t.Errorf("unary: %q %v, trailers %q", body, err, res.Trailer)
	}
}
