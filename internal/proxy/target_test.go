package proxy_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestTargetReachesTheOriginUnchanged holds the table of the documentation: the origin's log has the
// same bytes, or the visitor gets 400 and the origin sees nothing.
func TestTargetReachesTheOriginUnchanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ target, want string }{
		"Root":             {"/", "/"},
		"EncodedSlash":     {"/a%2Fb", "/a%2Fb"},
		"EncodedSlashLow":  {"/a%2fb", "/a%2fb"},
		"DoubleSlash":      {"//x", "//x"},
		"DoubleSlashQuery": {"//x//y?", "//x//y?"},
		"DoubleSlashCoded": {"//x%2F?a=%zz", "//x%2F?a=%zz"},
		"DotDot":           {"/a/../b", "/a/../b"},
		"Dot":              {"/a/./b", "/a/./b"},
		"EncodedDotDot":    {"/%2e%2e/", "/%2e%2e/"},
		"EncodedNul":       {"/a%00", "/a%00"},
		"BadEscape":        {"/%zz", ""},
		"BadEscapeQuery":   {"/a?b=%zz&c;d", "/a?b=%zz&c;d"},
		"Parameters":       {"/a;b=c/d;e", "/a;b=c/d;e"},
		"RawBytes":         {"/\xc3\xa4", "/\xc3\xa4"},
		"RawBytesDouble":   {"//\xc3\xa4", ""},
		"Brackets":         {"/[a]{b}|^`\\\"<>", "/[a]{b}|^`\\\"<>"},
		"EmptyQuery":       {"/a?", "/a?"},
		"TwoQuestionMarks": {"/a??b", "/a??b"},
		"Fragment":         {"/a#b", ""},
		"FragmentInQuery":  {"/a?b#c", ""},
		"Absolute":         {"http://other.test/a%2Fb?c", "/a%2Fb?c"},
		"AbsoluteNoPath":   {"http://other.test", "/"},
		"AbsoluteQuery":    {"http://other.test?x", "/?x"},
		"AbsoluteDouble":   {"http://other.test//x", "//x"},
		"OtherScheme":      {"ftp://other.test/x", ""},
		"StarWithGet":      {"*", ""},
		"NoSlash":          {"a", ""},
		"ControlByte":      {"/a\x01b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := startRecorder(t)
			w := startWorld(t, h1, rec.url, nil, nil)
			res := w.raw("GET " + c.target + " HTTP/1.1\r\nHost: shop.test\r\n\r\n")
			if c.want == "" {
				if heads := rec.take(); res.StatusCode != http.StatusBadRequest || len(heads) != 0 {
					t.Fatalf("status %d and the origin saw %q, want 400 and nothing", res.StatusCode, heads)
				}
				return
			}
			if head := rec.one(t); !strings.HasPrefix(head, "GET "+c.want+" HTTP/1.1\r\n") {
				t.Errorf("%q arrived as %q", c.target, head)
			}
		})
	}
	rec := startRecorder(t)
	w := startWorld(t, h1, rec.url, nil, nil)
	w.raw("OPTIONS * HTTP/1.1\r\nHost: shop.test\r\n\r\n")
	if head := rec.one(t); !strings.HasPrefix(head, "OPTIONS * HTTP/1.1\r\n") {
		t.Errorf("OPTIONS * arrived as %q", head)
	}
}

// TestTargetUnchangedBetweenHTTP2 sends the same kinds of target by HTTP/2 frames.
func TestTargetUnchangedBetweenHTTP2(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	origin := startOrigin(t, h2c, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.RequestURI }))
	w := startWorld(t, h2, origin, nil, nil)
	for _, path := range []string{"/a%2Fb", "//x", "/a/../b?c=%zz", "/a;b=c", "/ä"} {
		f := w.frames()
		f.request(t, map[string]string{":method": "GET", ":path": path}, true)
		if got := <-seen; got != path {
			t.Errorf("%q arrived as %q", path, got)
		}
	}
}

// framesConn is an HTTP/2 connection to the front without a client library in between.
type framesConn struct {
	*http2.Framer
	c    net.Conn
	next uint32
}

func (w *world) frames() *framesConn {
	w.t.Helper()
	u, err := url.Parse(w.front)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := tls.Dial("tcp", u.Host, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	f := &framesConn{Framer: http2.NewFramer(c, c), c: c, next: 1}
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		w.t.Fatal(err)
	}
	if err := f.WriteSettings(); err != nil {
		w.t.Fatal(err)
	}
	return f
}

// request sends a HEADERS frame and gives the stream's number.
func (f *framesConn) request(t *testing.T, fields map[string]string, end bool) uint32 {
	t.Helper()
	var b strings.Builder
	e := hpack.NewEncoder(&b)
	if fields[":method"] != http.MethodConnect {
		_ = e.WriteField(hpack.HeaderField{Name: ":scheme", Value: "https"})
	}
	_ = e.WriteField(hpack.HeaderField{Name: ":authority", Value: "shop.test"})
	for name, value := range fields {
		if strings.HasPrefix(name, ":") {
			_ = e.WriteField(hpack.HeaderField{Name: name, Value: value})
		}
	}
	for name, value := range fields {
		if !strings.HasPrefix(name, ":") {
			_ = e.WriteField(hpack.HeaderField{Name: name, Value: value})
		}
	}
	id := f.next
	f.next += 2
	err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte(b.String()), EndStream: end, EndHeaders: true})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// answer reads until the stream ends: its status, 0 without one, and whether it was reset.
func (f *framesConn) answer(t *testing.T, id uint32) (status string, reset bool) {
	t.Helper()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatalf("read a frame: %v", err)
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			if frame.StreamID == id {
				status += frame.PseudoValue("status")
			}
		case *http2.RSTStreamFrame:
			if frame.StreamID == id {
				return status, true
			}
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = f.WriteSettingsAck()
			}
		case *http2.GoAwayFrame:
			return status, true
		}
		if h := frame.Header(); h.StreamID == id && (h.Type == http2.FrameData || h.Type == http2.FrameHeaders) && h.Flags.Has(http2.FlagDataEndStream) {
			return status, false
		}
	}
}
