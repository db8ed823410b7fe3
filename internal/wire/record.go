package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/anteroom/anteroom/internal/queue"
)

// RecordBytesMax is the size of the longest record.
const RecordBytesMax = 1 + 16 + 8 + 8

// AppendRecord appends the byte form of a record: one byte with its kind, then the fields of that
// kind in this order, numbers in little-endian with 8 bytes, the ID with 16.
//
//	join   1: ID At Key           end    5: ID At
//	turn   2: At Key Order        order  6: At Key Order
//	admit  3: ID At Arrival       cooled 7: At
//	touch  4: ID At               served 8: ID At
//	over   9: At
func AppendRecord(dst []byte, r queue.Record) []byte {
	dst = append(dst, byte(r.Kind))
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
	case queue.RecordTouch, queue.RecordEnd, queue.RecordCooled, queue.RecordServed, queue.RecordOver:
	}
	return dst
}

// DecodeRecord reads one record from the beginning of b and tells how many bytes it took. An
// unknown kind and a short record are errors.
func DecodeRecord(b []byte) (queue.Record, int, error) {
	if len(b) == 0 {
		return queue.Record{}, 0, errors.New("a record is missing")
	}
	r := queue.Record{Kind: queue.Kind(b[0])}
	size := sizeOf(r.Kind)
	if size == 0 {
		return r, 0, fmt.Errorf("record of unknown kind %d: it was written by a newer version", b[0])
	}
	if len(b) < size {
		return r, 0, fmt.Errorf("record of kind %d has %d bytes of %d", b[0], len(b), size)
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
	case queue.RecordTouch, queue.RecordEnd, queue.RecordCooled, queue.RecordServed, queue.RecordOver:
	}
	return r, size, nil
}

func hasID(k queue.Kind) bool {
	switch k {
	case queue.RecordJoin, queue.RecordAdmit, queue.RecordTouch, queue.RecordEnd, queue.RecordServed:
		return true
	case queue.RecordTurn, queue.RecordOrder, queue.RecordCooled, queue.RecordOver:
	}
	return false
}

// sizeOf is the size of a record, 0 for an unknown kind.
func sizeOf(k queue.Kind) int {
	switch k {
	case queue.RecordJoin, queue.RecordAdmit:
		return 1 + 16 + 8 + 8
	case queue.RecordTouch, queue.RecordEnd, queue.RecordServed:
		return 1 + 16 + 8
	case queue.RecordTurn, queue.RecordOrder:
		return 1 + 8 + 8 + 8
	case queue.RecordCooled, queue.RecordOver:
		return 1 + 8
	}
	return 0
}
