package waitingroom

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// laneHeads are headers that the lane reads, and some that it must not.
func laneHeads() []string {
	return []string{
		"GET / HTTP/1.1\r\nHost: shop.test\r\nCookie: __anteroom=x\r\n\r\n",
		"HEAD /a?b=c HTTP/1.1\r\nhost:\tshop.test:80 \r\nCookie: __anteroom=x\r\ncookie: a=b\r\nAccept: */*\r\nAccept-Language: de\r\n" +
			"Sec-Fetch-Dest: empty\r\nSec-Fetch-Mode: cors\r\nX-Requested-With: XMLHttpRequest\r\nOrigin: null\r\nContent-Type: a/b\r\nConnection: keep-alive\r\n\r\n",
		"GET //x HTTP/1.1\r\nHost: [::1]:80\r\nCookie: __anteroom=x\r\nX:\r\n\r\n",
		"GET /%zz HTTP/1.1\r\nHost: shop.test\r\nCookie: __anteroom=x\r\nA: \xff\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: shop.test\r\nCookie: __anteroom=x\r\nContent-Length: 3\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: shop.test\r\nHost: shop.test\r\nCookie: __anteroom=x\r\n\r\n",
		"GET / HTTP/1.1\nHost: shop.test\r\nCookie: __anteroom=x\r\n b\r\n\r\n",
		"POST http://shop.test/ HTTP/1.0\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n",
	}
}

// readsAlike demands that the lane reads nothing in another way than the server's parser does.
func readsAlike(t interface{ Errorf(string, ...any) }, head string) (read bool) {
	w := &laneWork{}
	if !w.parse(head) {
		return false
	}
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
	if err != nil {
		t.Errorf("the server refuses what the lane reads: %v\n%q", err, head)
		return true
	}
	path, query := target(r)
	got := [...]string{
		w.request.Method, w.request.Host, w.request.Path, w.request.Query, w.request.Accept, w.request.AcceptLanguage,
		w.request.ContentType, w.request.FetchDest, w.request.FetchMode, w.request.RequestedWith, w.request.Origin,
		"", "", "", "",
	}
	want := [...]string{
		r.Method, r.Host, path, query, field(r.Header, "Accept"), field(r.Header, "Accept-Language"),
		field(r.Header, "Content-Type"), field(r.Header, "Sec-Fetch-Dest"), field(r.Header, "Sec-Fetch-Mode"),
		field(r.Header, "X-Requested-With"), field(r.Header, "Origin"),
		purpose(r.Header), field(r.Header, "Upgrade"), field(r.Header, "Access-Control-Request-Method"), field(r.Header, "Service-Worker"),
	}
	if got != want || !slices.Equal(w.request.Cookies, r.Header["Cookie"]) {
		t.Errorf("read differently:\n%q\n%q %q\n%q %q", head, got, w.request.Cookies, want, r.Header["Cookie"])
	}
	if r.ContentLength != 0 || len(r.TransferEncoding) > 0 || r.Close || !r.ProtoAtLeast(1, 1) {
		t.Errorf("more than a header: %q", head)
	}
	return true
}

func TestLaneReadsWhatTheServerReads(t *testing.T) {
	t.Parallel()
	for i, head := range laneHeads() {
		if got, want := readsAlike(t, head), i < 2; got != want {
			t.Errorf("read %v, want %v: %q", got, want, head)
		}
	}
	pieces := []string{"GET", "HEAD", " ", "/", "/a?b", " HTTP/1.1", "\r\n", "\r\n", "\r", "\n", "\t", "Host", "Cookie", "Accept", "__anteroom=", ":", ": ", "Connection", "keep-alive", "close", "x"}
	rapid.Check(t, func(rt *rapid.T) {
		head := rapid.SampledFrom(laneHeads()).Draw(rt, "head")
		for range rapid.IntRange(0, 4).Draw(rt, "edits") {
			at := rapid.IntRange(0, len(head)).Draw(rt, "at")
			end := min(len(head), at+rapid.IntRange(0, 3).Draw(rt, "cut"))
			piece := rapid.OneOf(rapid.SampledFrom(pieces), rapid.StringN(0, 3, 6)).Draw(rt, "piece")
			head = head[:at] + piece + head[end:]
		}
		readsAlike(rt, head)
	})
}

// FuzzLane gives the lane's parser bytes of any shape.
func FuzzLane(f *testing.F) {
	for _, head := range laneHeads() {
		f.Add(head)
	}
	f.Fuzz(func(t *testing.T, head string) { readsAlike(t, head) })
}
