package queue

import (
	"math/bits"

	"github.com/anteroom/anteroom"
)

// Seed fixes every draw of a room's lottery.
type Seed [32]byte

// lotteryScale is the mean of a draw in microseconds of the virtual axis: one hour, so that the
// histogram's one-second buckets stay small for any number of visitors.
const lotteryScale = 3600 * second

// draw is the ticket's lot: how far along the virtual axis its turn lies, counted from the axis'
// present. It is exponentially distributed, which makes the lottery fair at every moment: whoever
// still waits has, whatever their arrival, the same chance in every round, since what is left of an
// exponential draw is distributed as on the first day. A round moves the frontier over as many
// tickets as may enter and needs no draw of its own.
//
// The draw is -ln(u) with u from SHA-256(seed, public id), in whole numbers only, so that anybody can
// recompute it bit by bit.
func (s Seed) draw(id ID) int64 { return lotteryKey(s, PublicID(id)) }

// negLog is -ln((u+1)/2^64) as a fixed-point number with 32 fractional bits.
func negLog(u uint64) uint64 {
	if u == 1<<64-1 {
		return 0
	}
	u++
	shift := bits.LeadingZeros64(u)
	// log2(u) = 63 - shift + log2(m), m in [1, 2) with 63 fractional bits.
	m := u << shift
	frac := uint64(0)
	for bit := uint64(1) << 31; bit > 0; bit >>= 1 {
		hi, lo := bits.Mul64(m, m) // m^2 in [1, 4) with 126 fractional bits
		if hi>>63 != 0 {           // at least 2: the next bit of the logarithm is 1
			frac |= bit
			m = hi
		} else {
			m = hi<<1 | lo>>63
		}
	}
	negLog2 := uint64(shift+1)<<32 - frac // 64 - log2(u)
	const ln2 = 2977044472                // ln 2 with 32 fractional bits
	hi, lo := bits.Mul64(negLog2, ln2)
	return hi<<32 | lo>>32
}

// key is the place of a ticket by its arrival. A ticket of the span has its published key, counted from
// the beginning of the span. When that reaches beyond the end of a short span, those who came after it
// move back by as much, so that nobody of them gets between.
func (s *Shuffle) key(id ID, arrival int64) int64 {
	switch {
	case s.includes(arrival):
		return s.From.UnixMicro() + shuffleKey(s.Seed, PublicID(id))
	case s.Until.IsZero() || arrival < s.Until.UnixMicro():
		return arrival
	default:
		return arrival + max(0, shuffleSpan-s.Until.Sub(s.From).Microseconds())
	}
}

// drawn tells that keys are drawn: in a lottery, and where a span of arrivals is shuffled.
func (s *Settings) drawn() bool { return s.Method == anteroom.Random || !s.Shuffle.Until.IsZero() }
