package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/proxy"
)

func TestFailuresHaveStatusReasonAndPage(t *testing.T) {
	t.Parallel()
	short := 300 * time.Millisecond
	answer := func(text string) func(t *testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			return rawOrigin(t, func(c net.Conn) {
				_, _ = readHead(bufio.NewReader(c))
				_, _ = io.WriteString(c, text)
			})
		}
	}
	for name, c := range map[string]struct {
		origin func(t *testing.T) string
		status int
		reason proxy.Reason
	}{
		"Refused": {closedPort, http.StatusBadGateway, proxy.ReasonDial},
		"Lookup":  {func(*testing.T) string { return "http://no-such-name.invalid" }, http.StatusBadGateway, proxy.ReasonLookup},
		"NoTLS": {func(t *testing.T) string {
			t.Helper()
			return strings.Replace(startOrigin(t, h1, http.NotFoundHandler()), "http:", "https:", 1)
		}, http.StatusBadGateway, proxy.ReasonTLS},
		"SilentTLS": {func(t *testing.T) string {
			t.Helper()
			return strings.Replace(rawOrigin(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), "http:", "https:", 1)
		}, http.StatusGatewayTimeout, proxy.ReasonDialTimeout},
		"SilentHTTP": {func(t *testing.T) string {
			t.Helper()
			return rawOrigin(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
		}, http.StatusGatewayTimeout, proxy.ReasonHeaderTimeout},
		"SilentH2": {func(t *testing.T) string {
			t.Helper()
			return startOrigin(t, h2c, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		}, http.StatusGatewayTimeout, proxy.ReasonHeaderTimeout},
		"ClosesAtOnce":   {answer(""), http.StatusBadGateway, proxy.ReasonClosed},
		"HalfAHeader":    {answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"), http.StatusBadGateway, proxy.ReasonClosed},
		"NotHTTP":        {answer("SSH-2.0-OpenSSH_9.2\r\n\r\n"), http.StatusBadGateway, proxy.ReasonMalformed},
		"HugeHeader":     {answer("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"), http.StatusBadGateway, proxy.ReasonMalformed},
		"TwoLengths":     {answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), http.StatusBadGateway, proxy.ReasonMalformed},
		"HeaderOnly":     {answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), http.StatusBadGateway, proxy.ReasonClosed},
		"UnaskedUpgrade": {answer("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), http.StatusBadGateway, proxy.ReasonUpgrade},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startWorld(t, h1, c.origin(t), func(o *proxy.Options) {
				if strings.HasPrefix(name, "Silent") {
					o.Limits.ResponseHeader, o.Limits.TLSHandshake = short, short
				}
			}, nil)
			for _, accept := range []string{"text/html", "application/json"} {
				r := w.request(http.MethodGet, "/secret?token=1", nil)
				r.Header.Set("Accept", accept)
				res, body := w.do(r)
				checkPage(t, res, body, c.status, accept, c.reason)
				if log := w.logs.String(); !strings.Contains(log, "reason="+string(c.reason)) || strings.Contains(log, "token") {
					t.Errorf("log %q", log)
				}
			}
			if got := w.failures(); !slices.Equal(got, []proxy.Reason{c.reason, c.reason}) {
				t.Errorf("reasons %q, want twice %q", got, c.reason)
			}
		})
	}
}

func checkPage(t *testing.T, res *http.Response, body string, status int, accept string, reason proxy.Reason) {
	t.Helper()
	if res.StatusCode != status || res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%s: %d %q, want %d, no-store and Retry-After", accept, res.StatusCode, res.Header, status)
	}
	if accept != "application/json" {
		if !strings.Contains(body, "Reference: ") || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %q", res.Header.Get("Content-Type"), body)
		}
		return
	}
	var page struct {
		Error struct {
			Status             int
			Reason             proxy.Reason
			Message, Reference string
		}
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil || page.Error.Status != status || page.Error.Reason != reason || len(page.Error.Reference) != 16 {
		t.Errorf("%q: %v", body, err)
	}
}

func TestPickWithoutOrigin(t *testing.T) {
	t.Parallel()
	w := startWorld(t, h1, "http://127.0.0.1:1", func(o *proxy.Options) {
		o.Pick = func(*http.Request) (*url.URL, error) { return nil, errors.New("all are down") }
	}, nil)
	if res, _ := w.get("/"); res.StatusCode != http.StatusServiceUnavailable || w.failures()[0] != proxy.ReasonNoOrigin {
		t.Errorf("status %d, reasons %q", res.StatusCode, w.failures())
	}
}

// TestVisitorWhoLeavesIsNoFailure leaves in each phase.
func TestVisitorWhoLeavesIsNoFailure(t *testing.T) {
	t.Parallel()
	for _, front := range []version{h1, h2} {
		for _, phase := range []string{"BeforeTheAnswer", "DuringTheAnswer", "DuringTheUpload"} {
			t.Run(string(front)+phase, func(t *testing.T) {
				t.Parallel()
				reached := make(chan struct{}, 1)
				ended := make(chan struct{})
				origin := startOrigin(t, h1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(ended)
					reached <- struct{}{}
					if phase == "DuringTheUpload" {
						_, _ = io.Copy(io.Discard, r.Body)
						return
					}
					for phase == "DuringTheAnswer" && r.Context().Err() == nil {
						_, _ = w.Write(make([]byte, 1000))
						_ = http.NewResponseController(w).Flush()
						time.Sleep(time.Millisecond)
					}
					<-r.Context().Done()
				}))
				w := startWorld(t, front, origin, nil, nil)
				ctx, leave := context.WithCancel(t.Context())
				var body io.Reader
				method := http.MethodGet
				if phase == "DuringTheUpload" {
					paused, in := io.Pipe()
					go func() { <-ctx.Done(); _ = in.CloseWithError(ctx.Err()) }() // net/http's client waits for it
					body, method = paused, http.MethodPost
				}
				go func() {
					<-reached
					time.Sleep(50 * time.Millisecond)
					leave()
				}()
				res, err := w.client.Do(w.request(method, "/", body).WithContext(ctx))
				if err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				select {
				case <-ended:
				case <-time.After(patience):
					t.Fatal("the origin still works for a visitor who left")
				}
				eventually(t, "the hook", func() bool { return len(w.failures()) > 0 })
				if got := w.failures(); len(got) != 1 || got[0] != proxy.ReasonClientGone || w.logs.String() != "" {
					t.Errorf("reasons %q, log %q; want client_gone and no log", got, w.logs)
				}
			})
		}
	}
}

func TestReasonsAreAClosedList(t *testing.T) {
	t.Parallel()
	seen := map[proxy.Reason]bool{}
	for _, r := range proxy.Reasons() {
		if seen[r] || r == "" {
			t.Errorf("%q is listed twice", r)
		}
		seen[r] = true
	}
	if len(seen) != 14 {
		t.Errorf("%d reasons", len(seen))
	}
}

func TestAnsweredHook(t *testing.T) {
	t.Parallel()
	statuses := make(chan int, 1)
	w := startWorld(t, h1, startOrigin(t, h1, http.NotFoundHandler()), func(o *proxy.Options) {
		o.Hooks.Answered = func(status int, took time.Duration) {
			if took <= 0 {
				t.Errorf("took %v", took)
			}
			statuses <- status
		}
	}, nil)
	w.get("/")
	if got := <-statuses; got != http.StatusNotFound {
		t.Errorf("hook got %d", got)
	}
}

// TestOneLargeHeaderHurtsNobodyElse is an HTTP/2 origin with a small limit, whose connection all share.
func TestOneLargeHeaderHurtsNobodyElse(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	s.Config.MaxHeaderBytes = 4096
	serve(s, h2c)
	t.Cleanup(s.Close)
	w := startWorld(t, h1, strings.Replace(s.URL, "http:", "h2c:", 1), nil, nil)
	var visitors sync.WaitGroup
	for i := range 50 {
		visitors.Go(func() {
			r := w.request(http.MethodGet, "/", nil)
			if i == 25 {
				r.Header.Set("Cookie", "a="+strings.Repeat("x", 8000))
			}
			res, text := w.do(r)
			if i == 25 && res.StatusCode != http.StatusBadGateway || i != 25 && text != "ok" {
				t.Errorf("visitor %d got %d %q\n%s", i, res.StatusCode, text, w.logs)
			}
		})
	}
	visitors.Wait()
}
