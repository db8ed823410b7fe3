package proxy

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

// lazyBytes is the longest answer of known length whose header waits for the first bytes of the body.
// Origins send both together. One write to the visitor instead of two is worth it, and an answer that
// ends between the two can still be replaced.
const lazyBytes = 32 << 10

// first is what was read of a short answer before its header was sent on.
type first struct {
	buf *[]byte
	n   int
	err error
}

func (f *first) free() {
	if f.buf != nil {
		putBuffer(f.buf)
		f.buf = nil
	}
}

// readFirst waits for the first bytes of a short answer. It fails, and has closed the answer, when
// there are none.
func (x *exchange) readFirst(res *http.Response) error {
	if res.ContentLength <= 0 || res.ContentLength > lazyBytes || res.Body == http.NoBody || x.r.Method == http.MethodHead {
		return nil
	}
	if x.first.buf == nil {
		x.first.buf = getBuffer()
	}
	x.first.n, x.first.err = 0, nil
	for x.first.n == 0 && x.first.err == nil {
		x.first.n, x.first.err = res.Body.Read(*x.first.buf)
	}
	if x.first.n > 0 || errors.Is(x.first.err, io.EOF) {
		return nil
	}
	_ = res.Body.Close()
	return x.first.err
}

// answer sends the origin's answer on.
func (x *exchange) answer(res *http.Response) {
	defer res.Body.Close()
	dropHop(res.Header)
	if x.visit.Answer != nil {
		x.visit.Answer(res.StatusCode, res.Header)
	}
	announced := x.copyHeader(res)
	x.w.WriteHeader(res.StatusCode)
	if res.ContentLength == 0 || res.Body == http.NoBody || x.r.Method == http.MethodHead {
		// No flush: the server must be free to send header and end in one. A gRPC error has its status
		// in that header, and a client that sees the end separately misses it.
		x.over()
		return
	}
	if res.ContentLength < 0 || res.ContentLength > lazyBytes {
		if x.control.Flush() != nil {
			x.abort(ReasonClientGone, nil)
		}
	}
	x.copyBody(res)
	x.copyTrailers(res, announced)
	x.over()
}

// over notes that the origin connection rests from now on.
func (x *exchange) over() {
	if x.use != nil {
		x.use.rest()
	}
}

// copyHeader fills the header of the answer and tells which trailers it announces.
func (x *exchange) copyHeader(res *http.Response) map[string]bool {
	h := x.w.Header()
	for name, values := range res.Header {
		if mine := h[name]; len(mine) > 0 {
			values = append(slices.Clip(mine), values...)
		}
		h[name] = values
	}
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // keeps the server from guessing one
	}
	if x.r.ProtoMajor == 1 && x.upload != nil && !x.upload.done() {
		// What the visitor still sends belongs to no later request. Without this the server would also
		// swallow the upload before the first byte of the answer.
		h["Connection"] = []string{"close"}
	}
	if len(res.Trailer) == 0 {
		return nil
	}
	announced := make(map[string]bool, len(res.Trailer))
	names := make([]string, 0, len(res.Trailer))
	for name := range res.Trailer {
		announced[name] = true
		names = append(names, name)
	}
	h["Trailer"] = []string{strings.Join(names, ", ")}
	if x.r.ProtoMajor == 1 {
		delete(h, "Content-Length") // HTTP/1 has trailers in a chunked body only
	}
	return announced
}

// copyBody streams: what has arrived is sent at once. It panics when the answer cannot be completed.
func (x *exchange) copyBody(res *http.Response) {
	n, err := x.first.n, x.first.err
	buf := x.first.buf
	if buf == nil {
		buf = getBuffer()
		x.first.buf = buf
	}
	for sent := int64(0); ; n, err = res.Body.Read(*buf) {
		if n > 0 {
			if _, werr := x.w.Write((*buf)[:n]); werr != nil {
				x.abort(ReasonClientGone, werr)
			}
			sent += int64(n)
			if sent != res.ContentLength && x.control.Flush() != nil {
				x.abort(ReasonClientGone, nil)
			}
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			if x.gone() {
				x.abort(ReasonClientGone, err)
			}
			x.abort(ReasonTruncated, err)
		}
	}
}

// copyTrailers sends the trailers on, also those that the header did not announce.
func (x *exchange) copyTrailers(res *http.Response, announced map[string]bool) {
	h := x.w.Header()
	for name, values := range res.Trailer {
		if framing(name) || len(values) == 0 {
			continue
		}
		if !announced[name] {
			name = http.TrailerPrefix + name
		}
		h[name] = values
	}
}

// abort ends an answer that has begun so that the visitor sees it is not whole.
func (x *exchange) abort(reason Reason, err error) {
	x.report(reason, 0, err)
	panic(http.ErrAbortHandler)
}
