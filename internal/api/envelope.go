package api

import (
	"net/http"
	"strings"

	"github.com/anteroom/anteroom"
)

// envelope is the published form of every answer.
type envelope struct {
	Success  bool        `json:"success"`
	Errors   []item      `json:"errors"`
	Messages []message   `json:"messages"`
	Result   any         `json:"result"`
	Info     *resultInfo `json:"result_info,omitempty"`
}

// complete has lists instead of nulls.
func (e envelope) complete() envelope {
	if e.Errors == nil {
		e.Errors = []item{}
	}
	if e.Messages == nil {
		e.Messages = []message{}
	}
	return e
}

// item is one error.
type item struct {
	Code    int     `json:"code"`
	Message string  `json:"message"`
	Source  *source `json:"source,omitempty"`
}

// source says where in the request an error is.
type source struct {
	Pointer string `json:"pointer"`
}

// message is a note for people.
type message struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// resultInfo says which part of a list an answer has.
type resultInfo struct {
	Page       int `json:"page"`
	PerPage    int `json:"per_page"`
	Count      int `json:"count"`
	TotalCount int `json:"total_count"`
	TotalPages int `json:"total_pages"`
}

func itemOf(e *anteroom.Error) item {
	i := item{Code: int(e.Code), Message: e.Error()}
	if e.Field != "" {
		i.Source = &source{pointer(e.Field)}
	}
	return i
}

// pointer is a field path as a JSON pointer: a[1].b is /a/1/b.
func pointer(field string) string {
	field = strings.NewReplacer("~", "~0", "/", "~1").Replace(field)
	return "/" + strings.NewReplacer("[", "/", "].", "/", "]", "", ".", "/").Replace(field)
}

// statusOf is the HTTP status of a code.
func statusOf(code anteroom.Code) int {
	switch code {
	case anteroom.CodeInvalid:
		return http.StatusBadRequest
	case anteroom.CodeNotFound, anteroom.CodeNoRoute:
		return http.StatusNotFound
	case anteroom.CodeConflict:
		return http.StatusConflict
	case anteroom.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case anteroom.CodeMethod:
		return http.StatusMethodNotAllowed
	case anteroom.CodeAuth:
		return http.StatusUnauthorized
	case anteroom.CodeUnavailable:
		return http.StatusServiceUnavailable
	case anteroom.CodeInternal:
		return http.StatusInternalServerError
	}
	return http.StatusInternalServerError
}

// publicText is what strangers see of an error of ours.
func publicText(code anteroom.Code, id string) string {
	if code == anteroom.CodeUnavailable {
		return "a part that is needed does not answer; try again; the log has the cause under " + id
	}
	return "internal error; the log has the cause under " + id
}
