package proxy_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/anteroom/anteroom/internal/proxy"
)

// BenchmarkForward carries a 1 KiB answer to an origin and back, beside httputil.ReverseProxy with the
// same pool sizes. visitor and origin are in the figures too: compare the two, not either alone.
func BenchmarkForward(b *testing.B) {
	body := strings.Repeat("x", 1024)
	origin := startOrigin(b, h1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, body)
	}))
	u, err := proxy.ParseOrigin(origin)
	if err != nil {
		b.Fatal(err)
	}
	ours, err := proxy.New(proxy.Options{Origin: u, CookiePrefix: "__anteroom"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ours.Close() })
	visit := proxy.Visit{Room: "shop", Ticket: "0123456789abcdef0123456789abcdef"}
	for name, handler := range map[string]http.Handler{
		"Anteroom":     http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { ours.Forward(w, r, visit) }),
		"ReverseProxy": stockProxy(b, u),
	} {
		b.Run(name+"Get", func(b *testing.B) { benchmark(b, handler, http.MethodGet) })
		b.Run(name+"Post", func(b *testing.B) { benchmark(b, handler, http.MethodPost) })
	}
}

func stockProxy(b *testing.B, u *url.URL) http.Handler {
	b.Helper()
	tr := &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true}
	b.Cleanup(tr.CloseIdleConnections)
	pool := &bytesPool{sync.Pool{New: func() any { return make([]byte, 32<<10) }}}
	return &httputil.ReverseProxy{
		Transport: tr, FlushInterval: -1, BufferPool: pool,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u); r.Out.Host = r.In.Host; r.SetXForwarded() },
	}
}

type bytesPool struct{ sync.Pool }

func (p *bytesPool) Get() []byte  { return p.Pool.Get().([]byte) }
func (p *bytesPool) Put(b []byte) { p.Pool.Put(b) } //nolint:staticcheck // the interface wants a slice

func benchmark(b *testing.B, handler http.Handler, method string) {
	front := httptest.NewServer(handler)
	b.Cleanup(front.Close)
	client := newClient(b, h1)
	b.ReportAllocs()
	began := processorTime(b)
	defer func() { b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op") }()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			var body io.Reader
			if method == http.MethodPost {
				body = strings.NewReader("a=1&b=2&c=3")
			}
			r, err := http.NewRequestWithContext(context.Background(), method, front.URL+"/shop?item=1", body)
			if err != nil {
				b.Error(err)
				return
			}
			r.Header.Set("Cookie", "a=1; __anteroom=secret; b=2")
			r.Header.Set("Accept", "text/html")
			r.Header.Set("User-Agent", "Mozilla/5.0")
			res, err := client.Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			n, _ := io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if n != 1024 || res.StatusCode != http.StatusOK {
				b.Errorf("%d, %d bytes", res.StatusCode, n)
				return
			}
		}
	})
}

// processorTime is what this process has used: unlike the clock, it does not count the neighbours.
func processorTime(b *testing.B) int64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
