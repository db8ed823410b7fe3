package waitingroom

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/anteroom/anteroom/internal/sys"
)

// Draws fills in what a request needs of chance. It is safe for concurrent use.
type Draws struct {
	// process is drawn once: two processes that share a key differ here, and count apart from each other.
	process [NonceSize / 2]byte
	// counter never repeats in the life of the process: 48 bits last for 8,900 years at a thousand a
	// millisecond.
	counter atomic.Uint64
}

// NewDraws makes the source of one process.
func NewDraws() *Draws {
	d := &Draws{}
	sys.RandomBytes(d.process[:])
	return d
}

// Fill sets NewID, Draw and Nonce. It must be called before each call of Decide.
func (d *Draws) Fill(r *Request) {
	var b [24]byte
	sys.RandomBytes(b[:])
	copy(r.NewID[:], b[:16])
	r.Draw = binary.LittleEndian.Uint64(b[16:])
	copy(r.Nonce[:], d.process[:])
	n := d.counter.Add(1)
	for i := NonceSize - 1; i >= NonceSize/2; i-- {
		r.Nonce[i] = byte(n)
		n >>= 8
	}
}
