package bus

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
)

// notes is the server's logger: it hands on what the server says and remembers the last trouble, for
// the error of a failed start.
type notes struct {
	logger  *slog.Logger
	trouble atomic.Pointer[string]
}

func (n *notes) last() string {
	if text := n.trouble.Load(); text != nil {
		return *text
	}
	return "the server does not say why"
}

func (n *notes) warn(format string, args []any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	n.trouble.Store(&text)
	n.logger.Warn("the embedded NATS server warns", "text", text)
}

// Warnf, Errorf and Fatalf are what an operator should see.
func (n *notes) Warnf(format string, args ...any) { n.warn(format, args) }

// Errorf is a warning: the server goes on.
func (n *notes) Errorf(format string, args ...any) { n.warn(format, args) }

// Fatalf is a warning: Open sees by itself that the server does not run.
func (n *notes) Fatalf(format string, args ...any) { n.warn(format, args) }

// Noticef is for whoever looks closely.
func (n *notes) Noticef(format string, args ...any) {
	n.logger.Debug("the embedded NATS server notes", "text", strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// Debugf is switched off in the server.
func (n *notes) Debugf(string, ...any) {}

// Tracef is switched off in the server.
func (n *notes) Tracef(string, ...any) {}
