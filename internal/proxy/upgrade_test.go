package proxy_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/anteroom/anteroom/internal/proxy"
)

// echoSocket echoes messages until the other end closes.
func echoSocket() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			http.Error(w, "no socket here", http.StatusForbidden)
			return
		}
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, Subprotocols: []string{"chat"}})
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		c.SetReadLimit(4 << 20)
		for {
			kind, message, err := c.Read(r.Context())
			if err != nil {
				return
			}
			if err := c.Write(r.Context(), kind, message); err != nil {
				return
			}
		}
	})
}

func TestWebSocket(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]version{{h1, h1}, {h1s, h1}, {h1, h1s}, {h1, h2c}} {
		t.Run(string(pair[0])+"To"+string(pair[1]), func(t *testing.T) {
			t.Parallel()
			w := startWorld(t, pair[0], startOrigin(t, pair[1], echoSocket()), nil, func(rw http.ResponseWriter, _ *http.Request) proxy.Visit {
				rw.Header().Add("Set-Cookie", "gate=1")
				return proxy.Visit{Room: "shop"}
			})
			var sockets sync.WaitGroup
			for range 20 {
				sockets.Go(func() { converse(t, w) })
			}
			sockets.Wait()
			c, res, err := websocket.Dial(t.Context(), w.front+"/refused", &websocket.DialOptions{HTTPClient: w.client})
			if err == nil {
				_ = c.CloseNow()
				t.Fatal("a refused socket opened")
			}
			if res == nil || res.StatusCode != http.StatusForbidden {
				t.Errorf("a refusal arrived as %v", res)
			}
		})
	}
}

func converse(t *testing.T, w *world) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, res, err := websocket.Dial(ctx, w.front+"/", &websocket.DialOptions{HTTPClient: w.client, Subprotocols: []string{"chat"}})
	if err != nil {
		t.Errorf("dial: %v\n%s", err, w.logs)
		return
	}
	defer func() { _ = c.CloseNow() }()
	c.SetReadLimit(4 << 20)
	if c.Subprotocol() != "chat" || res.Header.Get("Set-Cookie") != "gate=1" {
		t.Errorf("subprotocol %q, header %q", c.Subprotocol(), res.Header)
	}
	for _, message := range []string{"hello", strings.Repeat("x", 1<<20), ""} {
		if err := c.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			t.Errorf("write: %v", err)
			return
		}
		if _, got, err := c.Read(ctx); err != nil || string(got) != message {
			t.Errorf("echo of %d bytes: %d bytes, %v", len(message), len(got), err)
			return
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Errorf("close: %v", err)
	}
}

// TestSwitchedConnectionPassesHalfCloses is a protocol in which one end is done before the other.
func TestSwitchedConnectionPassesHalfCloses(t *testing.T) {
	t.Parallel()
	origin := rawOrigin(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		_, _ = readHead(in)
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst")
		text, _ := io.ReadAll(in) // until the visitor's half is closed
		_, _ = io.WriteString(c, strings.ToUpper(string(text)))
	})
	w := startWorld(t, h1, origin, nil, nil)
	c := w.dialFront()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\nearly ")
	in := bufio.NewReader(c)
	if head, err := readHead(in); err != nil || !strings.HasPrefix(head, "HTTP/1.1 101 ") {
		t.Fatalf("got %q, %v", head, err)
	}
	_, _ = io.WriteString(c, "late")
	_ = c.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(in); string(got) != "firstEARLY LATE" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestOtherUpgradesAreNotPassedOn keeps a visitor from speaking HTTP/2 to the origin past the gate.
func TestOtherUpgradesAreNotPassedOn(t *testing.T) {
	t.Parallel()
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, nil, nil)
	for _, upgrade := range []string{"h2c", "HTTP/2.0", "TLS/1.0", "websocket, h2c", "h2c, websocket"} {
		res := w.raw("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: " + upgrade + "\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n")
		head := rec.one(t)
		if res.StatusCode != http.StatusOK || field(head, "Upgrade") != nil || field(head, "Connection") != nil || field(head, "Http2-Settings") != nil {
			t.Errorf("%s: status %d, the origin saw %q", upgrade, res.StatusCode, head)
		}
	}
}

func TestCloseEndsSwitchedConnections(t *testing.T) {
	t.Parallel()
	w := startWorld(t, h1, startOrigin(t, h1, echoSocket()), nil, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, _, err := websocket.Dial(ctx, w.front+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	if err := w.proxy.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, _, err := c.Read(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("the socket is still open: %v", err)
	}
	if err := w.proxy.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// TestSocketOutlivesTheServersLimits has a server whose limits are for requests.
func TestSocketOutlivesTheServersLimits(t *testing.T) {
	t.Parallel()
	origin := startOrigin(t, h1, echoSocket())
	u, err := proxy.ParseOrigin(origin)
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(proxy.Options{Origin: u})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: p, ReadTimeout: 100 * time.Millisecond, WriteTimeout: 100 * time.Millisecond}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = p.Close(); _ = s.Close() })
	c, _, err := websocket.Dial(t.Context(), "http://"+l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	time.Sleep(300 * time.Millisecond)
	if err := c.Write(t.Context(), websocket.MessageText, []byte("still here")); err != nil {
		t.Fatal(err)
	}
	if _, got, err := c.Read(t.Context()); string(got) != "still here" {
		t.Errorf("got %q, %v", got, err)
	}
}
