package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/anteroom/anteroom/internal/queue"
)

// The records of draws have more fields than others and forms of their own: one byte with the kind, then
// these fields, numbers in little-endian with 8 bytes, the ID with 16 and the class with one.
//
//	seed   14: ID At Order Arrival Key
//	sealed 15: ID At Order
//	seal   16: ID At Order Arrival Key Class
//	place  17: ID At Order Key
//	drawn  18: ID At Order Arrival Key Class
const (
	drawHead    = 1 + 16 + 8 + 8
	seedBytes   = drawHead + 8 + 8
	sealedBytes = drawHead
	sealBytes   = seedBytes + 1
	placeBytes  = drawHead + 8
)

// sizeOfDraw is the size of the record of a draw, 0 for any other.
func sizeOfDraw(kind queue.Kind) int {
	switch kind { //nolint:exhaustive // the other records have forms of their own
	case queue.RecordSeed:
		return seedBytes
	case queue.RecordSealed:
		return sealedBytes
	case queue.RecordSeal, queue.RecordDrawn:
		return sealBytes
	case queue.RecordPlace:
		return placeBytes
	default:
		return 0
	}
}

// appendDraw appends the record of a draw.
func appendDraw(dst []byte, r queue.Record) []byte {
	size := sizeOfDraw(r.Kind)
	dst = append(append(dst, byte(r.Kind)), r.ID[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.At))
	dst = binary.LittleEndian.AppendUint64(dst, r.Order)
	if size >= seedBytes {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Arrival))
	}
	if size >= placeBytes {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Key))
	}
	if size == sealBytes {
		dst = append(dst, r.Class)
	}
	return dst
}

// decodeDraw reads the record of a draw.
func decodeDraw(b []byte) (queue.Record, int, error) {
	r := queue.Record{Kind: queue.Kind(b[0])}
	size := sizeOfDraw(r.Kind)
	if len(b) < size {
		return r, 0, fmt.Errorf("record of kind %d has %d bytes of %d: the journal is damaged, move it away to begin anew", b[0], len(b), size)
	}
	rest := b[1:size]
	rest = rest[copy(r.ID[:], rest):]
	next := func() uint64 {
		v := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		return v
	}
	r.At, r.Order = int64(next()), next()
	if size >= seedBytes {
		r.Arrival = int64(next())
	}
	if size >= placeBytes {
		r.Key = int64(next())
	}
	if size == sealBytes {
		r.Class = rest[0]
		if int(r.Class) >= len(queue.DrawMethods()) {
			return r, 0, fmt.Errorf("record of kind %d has the method %d, which is not known: it was written by a newer version, start that one", b[0], r.Class)
		}
	}
	return r, size, nil
}
