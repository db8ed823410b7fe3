package sys

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"
)

// Now is the current time with its monotonic reading.
func Now() time.Time { return time.Now() }

// Since is the time passed since t.
func Since(t time.Time) time.Duration { return time.Since(t) }

// Sleep waits for d or until the context ends, and says which: nil after d.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// NewTimer is time.NewTimer.
func NewTimer(d time.Duration) *time.Timer { return time.NewTimer(d) }

// NewTicker is time.NewTicker.
func NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

// RandomBytes fills b from the operating system's secure source. It never fails: the runtime ends
// the process when the source is broken.
func RandomBytes(b []byte) { _, _ = rand.Read(b) }

// RandomUint64 draws from the operating system's secure source.
func RandomUint64() uint64 {
	var b [8]byte
	RandomBytes(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Clock is a clock that never steps: it begins with the wall clock's time and follows the monotonic
// clock from there. A wall clock that is set back would put every cookie into the future, and one
// that is set forward would end every session at once.
type Clock struct{ start time.Time }

// NewClock starts a clock.
func NewClock() Clock { return Clock{start: time.Now()} }

// Now is the present by this clock.
func (c Clock) Now() time.Time { return c.start.Add(time.Since(c.start)) }
