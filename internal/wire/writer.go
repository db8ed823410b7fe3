package wire

import (
	"encoding/binary"
	"math"
)

// appendUvarints appends numbers without a sign.
func appendUvarints(dst []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

// appendNumbers appends numbers that are never negative. One that is, by a fault, comes out so large that
// every reader refuses it.
func appendNumbers(dst []byte, numbers ...int) []byte {
	for _, n := range numbers {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

// appendVarints appends numbers with a sign.
func appendVarints(dst []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		dst = binary.AppendUvarint(dst, zigzag(n))
	}
	return dst
}

func appendName(dst []byte, name string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(name))), name...)
}

func appendFloats(dst []byte, numbers ...float64) []byte {
	for _, f := range numbers {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

// flag is a bit when something is so.
func flag(on bool, bit byte) byte {
	if on {
		return bit
	}
	return 0
}
