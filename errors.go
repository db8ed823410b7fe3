package anteroom

import (
	"errors"
	"fmt"
	"strings"
)

// Code identifies a kind of error for programs. A released number never changes its meaning.
type Code int

// Error codes. 1001 and 1002 are the published ones; those from 2001 are ours.
const (
	CodeNotFound    Code = 1001 // no such object
	CodeInvalid     Code = 1002 // a field or a value breaks a rule
	CodeNoRoute     Code = 7003 // no such path, or an unknown zone or account
	CodeAuth        Code = 10000
	CodeConflict    Code = 2001 // the object changed since it was read
	CodeTooLarge    Code = 2002 // the body is over its limit
	CodeInternal    Code = 2003 // our fault; the log has the cause under the same id
	CodeUnavailable Code = 2004 // a part that is needed does not answer
	CodeMethod      Code = 2005 // the path exists, the method does not
)

// Error is what a person or a program meets: a code, the field or thing at fault, a text and a remedy.
type Error struct {
	Code Code
	// Field is a path such as additional_routes[0].host; empty when no single field is at fault.
	Field string
	// Text says what is wrong, with the given and the allowed value.
	Text string
	// Hint says what to do. It may be empty.
	Hint string
	// Cause is logged and never shown to strangers.
	Cause error
}

// Errorf makes an error; a %w verb sets the cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Text: err.Error(), Cause: errors.Unwrap(err)}
}

// At names the field at fault and returns the same error.
func (e *Error) At(field string) *Error { e.Field = field; return e }

// WithHint adds the remedy and returns the same error.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error joins field, text and hint into one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Field != "" && !strings.HasPrefix(e.Text, e.Field) {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.Text)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errors are all faults of one input, so that it can be mended in one go.
type Errors []*Error

// Error has one fault a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// OrNil is nil without faults, so that callers can return it as an error.
func (es Errors) OrNil() error {
	if len(es) == 0 {
		return nil
	}
	return es
}
