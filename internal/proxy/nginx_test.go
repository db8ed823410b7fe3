package proxy_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestNginxBehindUs is an origin that nobody here wrote: keep-alive with its own limits, uploads that it
// refuses early, gzip, ranges, chunks.
func TestNginxBehindUs(t *testing.T) {
	t.Parallel()
	origin := startNginx(t)
	for _, front := range []version{h1, h2} {
		t.Run(string(front), func(t *testing.T) {
			t.Parallel()
			w := startWorld(t, front, origin, nil, visitShop)
			var visitors sync.WaitGroup
			for range 8 {
				visitors.Go(func() {
					for range 25 { // nginx closes a connection after 10 requests
						if res, text := w.get("/echo/a%2Fb?x=%zz"); text != "/echo/a%2Fb?x=%zz shop 0123abcd 127.0.0.1" {
							t.Errorf("%d %q\n%s", res.StatusCode, text, w.logs)
						}
						if res, text := w.do(w.request(http.MethodPost, "/upload", strings.NewReader(strings.Repeat("x", 5000)))); res.StatusCode != http.StatusOK {
							t.Errorf("upload: %d %q\n%s", res.StatusCode, text, w.logs)
						}
					}
				})
			}
			visitors.Wait()
			r := w.request(http.MethodPost, "/upload", bytes.NewReader(make([]byte, 5<<20)))
			if res, _ := w.do(r); res.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("an upload over nginx's limit got %d", res.StatusCode)
			}
			r = w.request(http.MethodGet, "/page.html", nil)
			r.Header.Set("Accept-Encoding", "gzip")
			if res, text := w.do(r); res.Header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(text, "\x1f\x8b") {
				t.Errorf("gzip: %q", res.Header)
			}
			r = w.request(http.MethodGet, "/page.html", nil)
			r.Header.Set("Range", "bytes=3-5")
			if res, text := w.do(r); res.StatusCode != http.StatusPartialContent || text != "xxx" {
				t.Errorf("range: %d %q", res.StatusCode, text)
			}
		})
	}
}

// startNginx runs it as a child with a configuration of the test's own.
func startNginx(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	dir := t.TempDir()
	config := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr error;
events {}
http {
  access_log off; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
  gzip on; gzip_min_length 1; keepalive_requests 10; keepalive_timeout 1s; client_max_body_size 1m; root %[1]s;
  server {
    listen %[2]s;
    location /echo/ { return 200 "$request_uri $http_anteroom_room $http_anteroom_ticket $http_x_forwarded_for"; }
    location /upload { proxy_pass http://%[2]s/sink; }
    location /sink { return 200 "ok"; }
  }
}`, dir, addr)
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "page.html"), bytes.Repeat([]byte("x"), 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // nginx may run as another user
		t.Fatal(err)
	}
	nginx := exec.CommandContext(t.Context(), "/usr/sbin/nginx", "-p", dir, "-c", filepath.Join(dir, "conf"), "-e", "stderr")
	var said lockedBuffer
	nginx.Stderr = &said
	if err := nginx.Start(); err != nil {
		t.Fatalf("start nginx (Debian package nginx): %v", err)
	}
	t.Cleanup(func() { _ = nginx.Process.Kill(); _ = nginx.Wait() })
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return "http://" + addr
		}
		if time.Now().After(end) {
			t.Fatalf("nginx does not listen: %s", said.String())
		}
	}
}
