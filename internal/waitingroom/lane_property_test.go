package waitingroom_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/waitingroom"
)

// TestLaneNeverAdmits: whatever bytes arrive and whatever the room says, the lane neither asks for an
// admission nor shows the origin anything, and what it hands over reads as it was sent.
func TestLaneNeverAdmits(t *testing.T) {
	t.Parallel()
	const cookie = "Cookie: @" // stands for a ticket of the bubble's time
	pieces := []string{
		poll("GET /", cookie), poll("GET /.anteroom/wait?room="+roomID, cookie), poll("POST /", cookie, "Content-Length: 3") + "abc",
		poll("GET /"), cookie + "\r\n", "\r\n\r\n", "GET / HTTP/1.1\r\n", "Host: shop.test\r\n", "\n", "\x00", strings.Repeat("x", 5000),
	}
	rapid.Check(t, func(rt *rapid.T) {
		var text []byte
		for _, piece := range rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 4).Draw(rt, "pieces") {
			text = append(text, piece...)
		}
		for range rapid.IntRange(0, 3).Draw(rt, "edits") {
			text[rapid.IntRange(0, len(text)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
		}
		if rapid.IntRange(0, 9).Draw(rt, "noise") == 0 {
			text = rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(rt, "text")
		}
		situation := rapid.SampledFrom([]string{"Open", "Full", "Queued", "Turn", "Head", "Inside", "Refused", "Absent"}).Draw(rt, "scene")
		pause := rapid.IntRange(1, 4000).Draw(rt, "pause")
		synctest.Test(t, func(t *testing.T) {
			sent := bytes.ReplaceAll(text, []byte("@"), []byte(queued(t)))
			lane, coordinator, o := bareLane(t, scene(situation))
			rest, over := lane.feed(sent, min(pause, len(sent)))
			if over && !bytes.HasSuffix(sent, rest) {
				rt.Errorf("sent %q, handed over %q", sent, rest)
			}
			if asked := coordinator.purposes(); strings.Contains(asked, "enter") || len(o.seen()) > 0 {
				rt.Errorf("the lane asked %q, the origin saw %d", asked, len(o.seen()))
			}
		})
	})
}

// bare is a lane whose server only reads.
type bare struct {
	*waitingroom.Lane
	pipes *pipes
	over  chan []byte
}

// feed sends bytes in pieces, and gives what the lane handed over.
func (b bare) feed(sent []byte, size int) (rest []byte, over bool) {
	c := b.pipes.dial()
	go func() { _, _ = io.Copy(io.Discard, c) }()
	for len(sent) > 0 {
		n := min(size, len(sent))
		if _, err := c.Write(sent[:n]); err != nil {
			break
		}
		sent = sent[n:]
	}
	_ = c.Close()
	synctest.Wait()
	_ = b.Close()
	rest, over = <-b.over
	return rest, over
}

func bareLane(t *testing.T, say answerer) (bare, *rooms, *origin) {
	t.Helper()
	coordinator, o := &rooms{answer: say}, &origin{}
	b := bare{pipes: newPipes(), over: make(chan []byte, 1)}
	b.Lane = waitingroom.NewLane(t.Context(), b.pipes, laneOptions(handler(t, coordinator, o, config())))
	go b.Run(t.Context())
	go func() {
		defer close(b.over)
		c, err := b.Accept()
		if err != nil {
			return
		}
		rest, _ := io.ReadAll(c)
		b.over <- rest
		_ = c.Close()
	}()
	return b, coordinator, o
}

// BenchmarkLaneParked shows what a connection costs that rests.
func BenchmarkLaneParked(b *testing.B) {
	w, dial := tcpLane(b, &rooms{answer: scene("Queued")}, hello)
	raw := poll("GET /", "Cookie: "+queued(b), "Accept: application/json")
	conns := make([]net.Conn, 2000)
	before := memory()
	for i := range conns {
		conns[i] = dial()
		_, _ = io.WriteString(conns[i], raw)
		_, _ = conns[i].Read(make([]byte, 4096))
	}
	time.Sleep(100 * time.Millisecond)
	parked := float64(memory()-before) / float64(len(conns))
	if w.taken.Load() > 0 {
		b.Error("the server got a connection")
	}
	for b.Loop() {
		_, _ = io.WriteString(conns[0], raw)
		_, _ = conns[0].Read(make([]byte, 4096))
	}
	b.ReportMetric(parked, "B/conn")
}
