package proxy

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

// lazyBytes is the longest answer of known length whose header waits for the first bytes of the body.
// Origins send both together; one write to the visitor instead of two is worth it.
const lazyBytes = 32 << 10

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
	buf := getBuffer()
	defer putBuffer(buf)
	var sent int64
	for {
		n, err := res.Body.Read(*buf)
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
