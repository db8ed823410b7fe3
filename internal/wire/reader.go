package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/anteroom/anteroom/internal/queue"
)

// nameBytesMax is the length of the longest name of a data center.
const nameBytesMax = 255

// reader takes fields from the beginning of a message, one after the other. The first fault ends it: from then
// on every field is zero, and err says what was wrong.
type reader struct {
	what   string // the message, for errors
	remedy string // what to do about a damaged one
	size   int    // of the whole message
	rest   []byte
	err    error
	list   string // the list that is being read, and the index in it
	index  int
}

// newReader begins a message of a form that has only one version so far.
func newReader(what, remedy string, version byte, b []byte) *reader {
	r := &reader{what: what, remedy: remedy, size: len(b), rest: b}
	if got := r.byte("version"); r.err == nil && got != version {
		r.stop(fmt.Errorf("%s: version %d of its form is unknown, this release reads version %d: "+
			"bring both ends to the same release or to neighbouring ones, see docs/wire.md", what, got, version))
	}
	return r
}

// stop ends the reading with an error, unless it has ended before.
func (r *reader) stop(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

// refuse stops at a field and says where it stands and what to do.
func (r *reader) refuse(field, format string, args ...any) {
	if r.err != nil {
		return
	}
	if r.list != "" {
		field = fmt.Sprintf("%s[%d].%s", r.list, r.index, field)
	}
	r.stop(fmt.Errorf("%s: before byte %d, %s: %s: %s", r.what, r.size-len(r.rest), field, fmt.Sprintf(format, args...), r.remedy))
}

// end tells whether all went well. Bytes that are left over are a fault: they would be fields that this
// release does not know.
func (r *reader) end() error {
	if r.err == nil && len(r.rest) > 0 {
		r.refuse("end", "%d bytes too many", len(r.rest))
	}
	return r.err
}

// bytes takes the next n bytes; none when there are fewer.
func (r *reader) bytes(field string, n int) []byte {
	if len(r.rest) < n {
		r.refuse(field, "it needs %d bytes and %d are left", n, len(r.rest))
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte(field string) byte {
	if b := r.bytes(field, 1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// uvarint takes a number in the shortest of its forms.
func (r *reader) uvarint(field string) uint64 {
	v, n := binary.Uvarint(r.rest)
	switch {
	case n == 0:
		r.refuse(field, "the message ends within the number")
		return 0
	case n < 0:
		r.refuse(field, "the number has more than 64 bits")
		return 0
	case n > 1 && r.rest[n-1] == 0:
		r.refuse(field, "the number is longer than it need be")
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// varint takes a number with a sign: 0, -1, 1, -2 and so on are the numbers 0, 1, 2, 3.
func (r *reader) varint(field string) int64 { return unzigzag(r.uvarint(field)) }

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// upTo takes a number with a bound. A negative number of a faulty sender looks like a very large one.
func (r *reader) upTo(field string, most uint64) uint64 {
	v := r.uvarint(field)
	if v > most {
		r.refuse(field, "%d (%d with a sign) is not between 0 and %d", v, int64(v), most)
		return 0
	}
	return v
}

// number takes how many there are of something that the message does not list.
func (r *reader) number(field string) int { return int(r.upTo(field, math.MaxInt)) }

// items takes how many items a list has. Each has so many bytes at least, so a false count asks for no
// more memory than a sound message of this size would.
func (r *reader) items(field string, bytesMin int) int {
	n := r.uvarint(field)
	if n > uint64(len(r.rest)/bytesMin) {
		r.refuse(field, "%d items of %d bytes at least are announced and %d bytes are left", n, bytesMin, len(r.rest))
		return 0
	}
	return int(n)
}

// bits takes a byte of which only some bits have a meaning.
func (r *reader) bits(field string, known byte) byte {
	b := r.byte(field)
	if b&^known != 0 {
		r.refuse(field, "%08b has bits beside %08b", b, known)
		return 0
	}
	return b
}

// name takes the name of a data center.
func (r *reader) name(field string) string {
	s := r.optionalName(field)
	if s == "" {
		r.refuse(field, "the name is empty")
	}
	return s
}

// optionalName takes a name where there may be none.
func (r *reader) optionalName(field string) string {
	n := r.upTo(field, nameBytesMax)
	return string(r.bytes(field, int(n)))
}

func (r *reader) id(field string) (id queue.ID) {
	copy(id[:], r.bytes(field, len(id)))
	return id
}

// float takes a finite number.
func (r *reader) float(field string) float64 {
	b := r.bytes(field, 8)
	if len(b) == 0 {
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		r.refuse(field, "%v is no number to count with", f)
		return 0
	}
	return f
}

// sum takes a finite number that is not negative.
func (r *reader) sum(field string) float64 {
	f := r.float(field)
	if f < 0 {
		r.refuse(field, "%v is negative", f)
		return 0
	}
	return f
}
