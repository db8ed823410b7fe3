package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/anteroom/anteroom/internal/sys"
)

// retryAfter is what a visitor is told to wait after a failure of the origin, in seconds.
const retryAfter = "5"

// refusal is a request that is not forwarded at all.
type refusal struct{ status int }

func (e *refusal) Error() string { return "refused: " + http.StatusText(e.status) }

// noOrigin is a failed Pick.
type noOrigin struct{ err error }

func (e *noOrigin) Error() string { return e.err.Error() }
func (e *noOrigin) Unwrap() error { return e.err }

// brokenUpgrade is a protocol switch that could not be carried out.
type brokenUpgrade struct{ err error }

func (e *brokenUpgrade) Error() string { return e.err.Error() }
func (e *brokenUpgrade) Unwrap() error { return e.err }

// classify finds the reason of a failure and the visitor's status. What the visitor did comes first:
// it also makes the exchange with the origin fail.
func (x *exchange) classify(err error) (Reason, int) {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return ReasonClientRequest, refused.status
	}
	var fault error
	if x.upload != nil {
		if x.r.Context().Err() != nil {
			x.upload.stop() // a failing read ends the context before it returns: see why it fails
		}
		if at := x.upload.fault.Load(); at != nil {
			fault = *at
		}
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(fault, os.ErrDeadlineExceeded):
		return ReasonClientStalled, http.StatusRequestTimeout
	case errors.As(fault, &tooLarge):
		return ReasonClientBody, http.StatusRequestEntityTooLarge
	case x.gone():
		return ReasonClientGone, StatusClientGone
	case fault != nil:
		return ReasonClientBody, http.StatusBadRequest
	}
	return x.originFault(err)
}

// gone tells whether the visitor has left. The server also says so when we interrupt an upload.
func (x *exchange) gone() bool {
	return x.r.Context().Err() != nil && (x.upload == nil || !x.upload.present.Load())
}

func (x *exchange) originFault(err error) (Reason, int) {
	var none *noOrigin
	var upgrade *brokenUpgrade
	var dialled *stage
	var timeout net.Error
	switch {
	case errors.As(err, &none):
		return ReasonNoOrigin, http.StatusServiceUnavailable
	case errors.As(err, &upgrade):
		return ReasonUpgrade, http.StatusBadGateway
	case errors.As(err, &dialled) && dialled.reason == ReasonDialTimeout:
		return ReasonDialTimeout, http.StatusGatewayTimeout
	case dialled != nil:
		return dialled.reason, http.StatusBadGateway
	case errors.As(err, &timeout) && timeout.Timeout():
		return ReasonHeaderTimeout, http.StatusGatewayTimeout
	case x.conn != nil && x.conn.heard.Load() && !connectionLost(err):
		return ReasonMalformed, http.StatusBadGateway
	}
	return ReasonClosed, http.StatusBadGateway
}

func connectionLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, errUploadStopped) || closedByPeer(err) || errors.Is(err, syscall.ETIMEDOUT)
}

// fail answers in the origin's place. The visitor reads what happened and a reference; the cause stays
// in the log under the same reference.
func (x *exchange) fail(err error) {
	reason, status := x.classify(err)
	reference := x.report(reason, status, err)
	h := x.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Del("Content-Length")
	if reason == ReasonClientGone {
		x.w.WriteHeader(status)
		return
	}
	if status >= http.StatusInternalServerError {
		h.Set("Retry-After", retryAfter)
	}
	if status == http.StatusMethodNotAllowed {
		h.Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	}
	if x.r.ProtoMajor == 1 && (x.upload != nil && !x.upload.done() || reason == ReasonClientRequest) {
		h.Set("Connection", "close")
	}
	x.writePage(reason, status, reference)
}

// writePage writes the body: JSON for who prefers it, else text.
func (x *exchange) writePage(reason Reason, status int, reference string) {
	h := x.w.Header()
	var body []byte
	if strings.Contains(strings.Join(x.r.Header["Accept"], ","), "json") {
		h.Set("Content-Type", "application/json")
		body, _ = json.Marshal(map[string]any{"error": map[string]any{ //nolint:errchkjson // plain values
			"status": status, "reason": reason, "message": explain(status), "reference": reference,
		}})
		body = append(body, '\n')
	} else {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		body = fmt.Appendf(nil, "%d %s\n\n%s\n\nReference: %s\n", status, http.StatusText(status), explain(status), reference)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(body) // a visitor who left needs no page
	}
}

// explain says what happened and what to do, in words for a visitor.
func explain(status int) string {
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return "The site behind this page cannot be reached just now. Your visit is kept; please try again in a few seconds."
	case http.StatusGatewayTimeout:
		return "The site behind this page did not answer in time. Your visit is kept; please try again in a few seconds."
	case http.StatusRequestTimeout:
		return "The upload stopped making progress and was ended. Please try again."
	case http.StatusRequestEntityTooLarge:
		return "The upload is larger than this site takes."
	case http.StatusMethodNotAllowed:
		return "This request method is not forwarded."
	}
	return "The request could not be understood and was not forwarded."
}

// report counts and logs, and makes the reference.
func (x *exchange) report(reason Reason, status int, err error) string {
	if x.p.hooks.Failed != nil {
		x.p.hooks.Failed(reason)
	}
	reference := fmt.Sprintf("%016x", sys.RandomUint64())
	level := slog.LevelWarn
	if reason.visitors() {
		level = slog.LevelDebug // the origin did nothing wrong
	}
	origin := ""
	if x.origin != nil {
		origin = x.origin.Scheme + "://" + x.origin.Host
	}
	x.p.log.LogAttrs(x.r.Context(), level, "no complete answer from the origin",
		slog.String("reason", string(reason)), slog.Int("status", status), slog.String("origin", origin),
		slog.String("method", x.r.Method), slog.String("reference", reference),
		slog.Duration("after", sys.Since(x.began)), slog.Any("error", err))
	return reference
}
