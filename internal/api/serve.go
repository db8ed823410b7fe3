package api

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sys"
)

// bodyBytesMax is the largest body: the largest page with every character escaped, and the rest.
const bodyBytesMax = 8 << 20

// handler serves the API.
type handler struct {
	o   Options
	mux *http.ServeMux
}

// reply is what an endpoint answers when all goes well.
type reply struct {
	result   any
	info     *resultInfo
	messages []message
	revision uint64 // makes an ETag when not 0
	// serve answers by itself, without the envelope; nil for most.
	serve func(w http.ResponseWriter, r *http.Request) error
}

// endpoint answers one request.
type endpoint func(r *http.Request) (reply, error)

// methods are the endpoints of one path.
type methods map[string]endpoint

// serve picks the endpoint; HEAD is a GET whose body is not sent.
func (m methods) serve(r *http.Request) (reply, error) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	e, ok := m[method]
	if !ok {
		return reply{}, &methodError{m.allowed()}
	}
	return e(r)
}

func (m methods) allowed() string {
	var names []string
	for name := range m {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// methodError tells that a path has other methods.
type methodError struct{ allowed string }

// Error names the methods.
func (e *methodError) Error() string { return "this path allows only " + e.allowed }

// requestID is the header under which an answer and the log have the same id.
const requestID = "X-Request-Id"

// ServeHTTP answers one request, whatever happens, in the envelope.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set(requestID, newRequestID())
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if _, err := h.o.Auth.Request(r); err != nil {
		h.fail(w, r, err)
		return
	}
	if path.Clean(r.URL.Path) != r.URL.Path { // the mux would redirect, and lose the body
		h.respond(nothingHere)(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, bodyBytesMax)
	h.mux.ServeHTTP(w, r)
}

// respond makes a handler of an endpoint.
func (h *handler) respond(e endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		rep, err := call(e, r)
		if err == nil && rep.serve != nil {
			if err = rep.serve(w, r); err == nil {
				return
			}
		}
		if err != nil {
			h.fail(w, r, err)
			return
		}
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if rep.revision != 0 {
			w.Header().Set("ETag", etag(rep.revision))
			if reads && r.Header.Get("If-None-Match") == etag(rep.revision) {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		if !reads {
			h.o.Logger.InfoContext(r.Context(), "an API call was carried out", "request_id", w.Header().Get(requestID),
				"method", r.Method, "path", r.URL.Path)
		}
		h.write(w, http.StatusOK, envelope{Success: true, Messages: rep.messages, Result: rep.result, Info: rep.info})
	}
}

// call makes a panic an internal error like any other.
func call(e endpoint, r *http.Request) (rep reply, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	return e(r)
}

func newRequestID() string {
	var b [8]byte
	sys.RandomBytes(b[:])
	return hex.EncodeToString(b[:])
}

// fail answers an error. What is our fault is logged with its cause and shown without.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	id := w.Header().Get(requestID)
	if other := (*methodError)(nil); errors.As(err, &other) {
		w.Header().Set("Allow", other.allowed)
		err = anteroom.Errorf(anteroom.CodeMethod, "%s is not allowed here", r.Method).WithHint("use %s", other.allowed)
	}
	list := listOf(err)
	status := statusOf(list[0].Code)
	switch {
	case status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="anteroom"`)
	case status == http.StatusConflict && r.Header.Get("If-Match") != "":
		status = http.StatusPreconditionFailed
	case status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	var items []item
	if status >= http.StatusInternalServerError {
		h.o.Logger.ErrorContext(r.Context(), "an API call failed", "request_id", id, "method", r.Method, "path", r.URL.Path, "error", err)
		items = []item{{Code: int(list[0].Code), Message: publicText(list[0].Code, id)}}
	} else {
		for _, e := range list {
			items = append(items, itemOf(e))
		}
	}
	h.write(w, status, envelope{Errors: items})
}

// listOf are the faults of an error, at least one.
func listOf(err error) anteroom.Errors {
	var list anteroom.Errors
	var one *anteroom.Error
	switch {
	case errors.As(err, &list) && len(list) > 0:
		return list
	case errors.As(err, &one):
		return anteroom.Errors{one}
	default:
		return anteroom.Errors{anteroom.Errorf(anteroom.CodeInternal, "%w", err)}
	}
}

// write sends an envelope. The length is known before, so that a cut connection can be told.
func (h *handler) write(w http.ResponseWriter, status int, e envelope) {
	id := w.Header().Get(requestID)
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e.complete()); err != nil {
		h.o.Logger.Error("an API answer cannot be encoded", "request_id", id, "error", err)
		http.Error(w, `{"success":false,"errors":[{"code":2003,"message":"internal error"}],"messages":[],"result":null}`,
			http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	if _, err := w.Write(body.Bytes()); err != nil {
		h.o.Logger.Debug("an API answer was not taken", "request_id", id, "error", err)
	}
}
