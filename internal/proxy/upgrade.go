package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

// wantedUpgrade is the protocol that an HTTP/1.1 visitor wants to switch to. Only websocket is passed
// on: with "h2c" a visitor could speak to the origin past the gate.
func wantedUpgrade(r *http.Request) string {
	protocol := r.Header.Get("Upgrade")
	if r.ProtoMajor != 1 || !strings.EqualFold(protocol, "websocket") || !hasToken(r.Header["Connection"], "upgrade") {
		return ""
	}
	return protocol
}

// tunnelled is a pair of connections under another protocol.
type tunnelled struct {
	visitor net.Conn
	origin  io.ReadWriteCloser
	once    sync.Once
}

func (t *tunnelled) close() {
	t.once.Do(func() {
		_ = t.visitor.Close()
		_ = t.origin.Close()
	})
}

// switchProtocols passes bytes both ways until both ends are done.
func (x *exchange) switchProtocols(res *http.Response) {
	origin, ok := res.Body.(io.ReadWriteCloser)
	if !ok || x.upgrade == "" || !strings.EqualFold(res.Header.Get("Upgrade"), x.upgrade) {
		_ = res.Body.Close()
		x.fail(&brokenUpgrade{errors.New("the origin switched to a protocol that was not asked for")})
		return
	}
	if x.conn != nil {
		x.conn.switched()
	}
	dropHop(res.Header)
	if x.visit.Answer != nil {
		x.visit.Answer(res.StatusCode, res.Header)
	}
	visitor, buffered, err := x.control.Hijack()
	if err != nil {
		_ = origin.Close()
		x.fail(&brokenUpgrade{err})
		return
	}
	t := &tunnelled{visitor: visitor, origin: origin}
	defer t.close()
	if !x.p.enter(t) {
		return
	}
	defer x.p.leave(t)
	_ = visitor.SetDeadline(time.Time{}) // the server's limits are for requests
	if x.writeSwitch(res, buffered) != nil {
		return
	}
	// Only what the server has read already comes from its buffer: an end read through it would count
	// as the visitor's leaving.
	early := io.LimitReader(buffered.Reader, int64(buffered.Reader.Buffered()))
	t.run(x.r.Context(), io.MultiReader(early, visitor))
}

// writeSwitch sends the 101 with the caller's and the origin's header fields.
func (x *exchange) writeSwitch(res *http.Response, w io.Writer) error {
	h := x.w.Header()
	for name, values := range res.Header {
		h[name] = append(h[name], values...)
	}
	h["Connection"] = []string{"Upgrade"}
	h["Upgrade"] = []string{x.upgrade}
	answer := http.Response{
		StatusCode: http.StatusSwitchingProtocols, ProtoMajor: 1, ProtoMinor: 1, Header: h,
	}
	if err := answer.Write(w); err != nil {
		return err
	}
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

// run copies until both directions have ended, or one has failed. An end of one direction is passed on
// and leaves the other alone.
func (t *tunnelled) run(ctx context.Context, fromVisitor io.Reader) {
	unwatch := context.AfterFunc(ctx, t.close)
	defer unwatch()
	g := sys.NewGroup(context.WithoutCancel(ctx))
	done := make(chan struct{})
	g.Go("to origin", func(context.Context) {
		defer close(done)
		if copyHalf(t.origin, fromVisitor) != nil {
			t.close()
		}
	})
	if copyHalf(t.visitor, t.origin) != nil {
		t.close()
	}
	<-done
	_ = g.Stop(time.Second) // it has ended; this frees the group
}

// copyHalf copies to the end and passes the end on.
func copyHalf(dst io.Writer, src io.Reader) error {
	buf := getBuffer()
	defer putBuffer(buf)
	if _, err := io.CopyBuffer(struct{ io.Writer }{dst}, src, *buf); err != nil {
		return err
	}
	half, ok := dst.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported // cannot tell the other end: end both directions
	}
	return half.CloseWrite()
}

func (p *Proxy) enter(t *tunnelled) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.switched[t] = struct{}{}
	return true
}

func (p *Proxy) leave(t *tunnelled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.switched, t)
}
