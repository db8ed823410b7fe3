//go:build unix

package waitingroom

import (
	"errors"
	"syscall"
)

// canTryRead tells that this system can read a descriptor without waiting.
const canTryRead = true

// tryRead reads what has arrived, or is false when nothing has. It takes a buffer for the attempt alone:
// hundreds of thousands of connections that rest would otherwise hold one each.
func (c *laneConn) tryRead(fd uintptr) bool {
	w := c.lane.take()
	for {
		n, err := syscall.Read(int(fd), w.in[:])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			c.lane.release(w)
			return false
		}
		w.n = max(n, 0)
		c.got, c.err = w, err
		return true
	}
}
