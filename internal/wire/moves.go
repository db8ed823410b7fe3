package wire

import (
	"encoding/binary"
	"math"

	"github.com/anteroom/anteroom/internal/queue"
)

const (
	// moveBytesMin is the size of the shortest move, moveBytes that of an ordinary one.
	moveBytesMin = 1 + 16 + 1 + 1 + 1
	moveBytes    = moveBytesMin + 16
)

// appendMoves appends how many moves there are, and the moves. Numbers and times are distances from the
// move before.
func appendMoves(dst []byte, moves []queue.Move) []byte {
	dst = appendNumbers(dst, len(moves))
	last := queue.Move{}
	for _, m := range moves {
		dst = binary.AppendUvarint(dst, m.Number-last.Number)
		dst = append(dst, m.ID[:]...)
		dst = appendVarints(dst, m.Seen-last.Seen)
		dst = binary.AppendUvarint(dst, uint64(m.Home))
		dst = appendName(dst, m.To)
		last = m
	}
	return dst
}

func (r *reader) moves(field string) []queue.Move {
	n := r.items(field, moveBytesMin)
	if n == 0 {
		return nil
	}
	out := make([]queue.Move, 0, n)
	r.list = field
	last := queue.Move{}
	for r.index = 0; r.index < n && r.err == nil; r.index++ {
		step := r.uvarint("number")
		if step == 0 || step > math.MaxUint64-last.Number {
			r.refuse("number", "it is not above %d, the one before", last.Number)
		}
		m := queue.Move{
			Number: last.Number + step, ID: r.id("id"), Seen: last.Seen + r.varint("seen"),
			Home: uint32(r.upTo("home", math.MaxUint32)), To: r.optionalName("to"),
		}
		last = m
		out = append(out, m)
	}
	r.list = ""
	return out
}
