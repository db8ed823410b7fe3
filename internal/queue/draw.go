package queue

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// Each hash of a verifiable draw begins with a text of its own, so that none can be taken for another.
const (
	commitmentText = "anteroom draw commitment v1\n"
	finalText      = "anteroom draw final v1\n"
	publicText     = "anteroom public ticket v1\n"
)

// Bounds of a draw.
const (
	DrawTicketsMax  = 5_000_000 // tickets of one draw
	DrawRoomMax     = 256       // bytes of a room's name
	DrawExternalMax = 1024      // bytes of external randomness
	DrawNoteMax     = 1024      // bytes of the text that says where it is from
	// DrawNumberMax and DrawBaseMax are the largest whole numbers that every reader of JSON takes exactly.
	DrawNumberMax = 1<<53 - 1
	DrawBaseMax   = 1<<53 - 1
)

// DrawMethod says how a final seed and a public id make a ticket's key.
type DrawMethod string

// The methods of a draw.
const (
	DrawShuffle DrawMethod = "shuffle" // those who came before the start, in an order of equal chances
	DrawRandom  DrawMethod = "random"  // the lottery: the same chance for everyone in each round
)

// DrawMethods lists every method of a draw.
func DrawMethods() []DrawMethod { return []DrawMethod{DrawShuffle, DrawRandom} }

// MarshalText is String as bytes.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads 32 hexadecimal digits.
func (id *ID) UnmarshalText(text []byte) error { return readHex(id[:], string(text)) }

// readHex fills b from exactly as many hexadecimal digits as it has room for.
func readHex(b []byte, text string) error {
	if len(text) != hex.EncodedLen(len(b)) {
		return fmt.Errorf("%d characters, want %d hexadecimal digits", len(text), hex.EncodedLen(len(b)))
	}
	if _, err := hex.Decode(b, []byte(text)); err != nil {
		return fmt.Errorf("not hexadecimal: %w", err)
	}
	return nil
}

// PublicID is the name of a ticket in everything that is published. The ID itself is in the visitor's
// cookie and stays secret; it cannot be found from the public one.
func PublicID(id ID) ID {
	b := make([]byte, 0, len(publicText)+len(id))
	sum := sha256.Sum256(append(append(b, publicText...), id[:]...))
	return ID(sum[:len(id)])
}

// DrawCommitment is published before a draw begins and binds its method and its seed: no others have the
// same commitment. The method ends with a line feed, number and seed have fixed lengths, so that no two
// rooms can share one either.
func DrawCommitment(room string, number uint64, method DrawMethod, seed Seed) Hash {
	b := make([]byte, 0, len(commitmentText)+len(method)+1+len(room)+8+len(seed))
	b = append(append(append(b, commitmentText...), method...), '\n')
	b = append(b, room...)
	b = binary.BigEndian.AppendUint64(b, number)
	return sha256.Sum256(append(b, seed[:]...))
}

// FinalSeed mixes the committed seed with randomness from outside that came after the seal; without any
// it is empty. Whoever knows the seed alone knows no place.
func FinalSeed(seed Seed, external []byte) Seed {
	b := make([]byte, 0, len(finalText)+len(seed)+4+len(external))
	b = append(append(b, finalText...), seed[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(external)))
	return sha256.Sum256(append(b, external...))
}

// drawKey is where a ticket stands: places go by key, then by public id. The base counts for the
// lottery alone and is where the axis stood when the ticket joined.
func drawKey(method DrawMethod, final Seed, public ID, base int64) int64 {
	switch method {
	case DrawShuffle:
		return shuffleKey(final, public)
	case DrawRandom:
		return base + lotteryKey(final, public)
	}
	return 0
}

// shuffleSpan is the number of different keys of a shuffle. In microseconds it is 71 minutes, so that the
// line of a million has some thousand buckets of a second, as any other line; of a million tickets some
// two hundred share a key with another one.
const shuffleSpan = int64(1) << 32

// shuffleKey is uniform in [0, shuffleSpan).
func shuffleKey(final Seed, public ID) int64 {
	return int64(drawBits(final, public) >> 32)
}

// lotteryKey is exponentially distributed with the mean lotteryScale, at most 45 times as much; see
// negLog.
func lotteryKey(final Seed, public ID) int64 {
	hi, lo := bits.Mul64(negLog(drawBits(final, public)), uint64(lotteryScale))
	return int64(hi<<32 | lo>>32)
}

// drawBits are the 64 random bits that a seed has for a ticket.
func drawBits(final Seed, public ID) uint64 {
	var b [len(final) + len(public)]byte
	copy(b[:], final[:])
	copy(b[len(final):], public[:])
	sum := sha256.Sum256(b[:])
	return binary.BigEndian.Uint64(sum[:8])
}
