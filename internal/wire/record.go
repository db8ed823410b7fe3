package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/anteroom/anteroom/internal/queue"
)

// RecordBytesMax is the size of the longest record.
const RecordBytesMax = sealBytes

// Joins and turns of a priority class have kinds of their own, which only the byte form knows: class 0 is
// written as it was before there were classes.
const (
	joinOfClass queue.Kind = 11
	turnOfClass queue.Kind = 12
)

// AppendRecord appends the byte form of a record: one byte with its kind, then the fields of that
// kind in this order, numbers in little-endian with 8 bytes, the ID with 16.
//
//	join   1: ID At Key           end    5: ID At
//	turn   2: At Key Order        order  6: At Key Order
//	admit  3: ID At Arrival       cooled 7: At
//	touch  4: ID At               served 8: ID At
//	over   9: At                  left  10: ID At
//	forgot 13: At
//
// A join or turn of a class other than 0 has one byte more:
//
//	join  11: ID At Key Class     turn  12: At Key Order Class
//
// The records of draws stand in another file.
func AppendRecord(dst []byte, r queue.Record) []byte {
	if sizeOfDraw(r.Kind) > 0 {
		return appendDraw(dst, r)
	}
	written := writtenKind(r)
	dst = append(dst, byte(written))
	if hasID(r.Kind) {
		dst = append(dst, r.ID[:]...)
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.At))
	switch r.Kind {
	case queue.RecordJoin:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Key))
	case queue.RecordAdmit:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Arrival))
	case queue.RecordTurn, queue.RecordOrder:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Key))
		dst = binary.LittleEndian.AppendUint64(dst, r.Order)
	case queue.RecordTouch, queue.RecordEnd, queue.RecordCooled, queue.RecordServed, queue.RecordOver, queue.RecordLeft, queue.RecordForgot:
	case queue.RecordSeed, queue.RecordSealed, queue.RecordSeal, queue.RecordPlace, queue.RecordDrawn: // see above
	}
	if written != r.Kind {
		mustClass(r.Class)
		dst = append(dst, r.Class)
	}
	return dst
}

// writtenKind is the kind under which a record is written.
func writtenKind(r queue.Record) queue.Kind {
	switch {
	case r.Kind == queue.RecordJoin && r.Class != 0:
		return joinOfClass
	case r.Kind == queue.RecordTurn && r.Class != 0:
		return turnOfClass
	default:
		return r.Kind
	}
}

// kindOf is the kind of a record that was written as another.
func kindOf(written queue.Kind) queue.Kind {
	if written == joinOfClass {
		return queue.RecordJoin
	}
	if written == turnOfClass {
		return queue.RecordTurn
	}
	return written
}

// DecodeRecord reads one record from the beginning of b and tells how many bytes it took. An
// unknown kind, a short record and a class that does not exist are errors.
func DecodeRecord(b []byte) (queue.Record, int, error) {
	if len(b) == 0 {
		return queue.Record{}, 0, errors.New("a record is missing: the journal is damaged, move it away to begin anew")
	}
	written := queue.Kind(b[0])
	if sizeOfDraw(written) > 0 {
		return decodeDraw(b)
	}
	r := queue.Record{Kind: kindOf(written)}
	size := sizeOf(written)
	if size == 0 {
		return r, 0, fmt.Errorf("record of unknown kind %d: it was written by a newer version, start that one", written)
	}
	if len(b) < size {
		return r, 0, fmt.Errorf("record of kind %d has %d bytes of %d: the journal is damaged, move it away to begin anew", written, len(b), size)
	}
	rest := b[1:size]
	if hasID(r.Kind) {
		rest = rest[copy(r.ID[:], rest):]
	}
	next := func() uint64 {
		v := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		return v
	}
	r.At = int64(next())
	switch r.Kind {
	case queue.RecordJoin:
		r.Key = int64(next())
	case queue.RecordAdmit:
		r.Arrival = int64(next())
	case queue.RecordTurn, queue.RecordOrder:
		r.Key, r.Order = int64(next()), next()
	case queue.RecordTouch, queue.RecordEnd, queue.RecordCooled, queue.RecordServed, queue.RecordOver, queue.RecordLeft, queue.RecordForgot:
	case queue.RecordSeed, queue.RecordSealed, queue.RecordSeal, queue.RecordPlace, queue.RecordDrawn: // see above
	}
	if written != r.Kind {
		r.Class = rest[0]
		if r.Class == 0 || r.Class >= queue.ClassesMax {
			return r, 0, fmt.Errorf("record of kind %d has class %d, which is not between 1 and %d: it was written by a newer version, start that one", written, r.Class, queue.ClassesMax-1)
		}
	}
	return r, size, nil
}

func hasID(k queue.Kind) bool {
	switch k {
	case queue.RecordJoin, queue.RecordAdmit, queue.RecordTouch, queue.RecordEnd, queue.RecordServed, queue.RecordLeft:
		return true
	case queue.RecordTurn, queue.RecordOrder, queue.RecordCooled, queue.RecordOver, queue.RecordForgot:
	case queue.RecordSeed, queue.RecordSealed, queue.RecordSeal, queue.RecordPlace, queue.RecordDrawn: // see appendDraw
	}
	return false
}

// sizeOf is the size of a record by the kind that is written, 0 for an unknown one.
func sizeOf(written queue.Kind) int {
	switch written {
	case queue.RecordJoin, queue.RecordAdmit:
		return 1 + 16 + 8 + 8
	case queue.RecordTouch, queue.RecordEnd, queue.RecordServed, queue.RecordLeft:
		return 1 + 16 + 8
	case queue.RecordTurn, queue.RecordOrder:
		return 1 + 8 + 8 + 8
	case queue.RecordCooled, queue.RecordOver, queue.RecordForgot:
		return 1 + 8
	case joinOfClass:
		return 1 + 16 + 8 + 8 + 1
	case turnOfClass:
		return 1 + 8 + 8 + 8 + 1
	case queue.RecordSeed, queue.RecordSealed, queue.RecordSeal, queue.RecordPlace, queue.RecordDrawn: // see sizeOfDraw
	}
	return 0
}
