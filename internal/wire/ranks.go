package wire

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/anteroom/anteroom/internal/queue"
)

// rankBytesMin is the size of the shortest rank.
const rankBytesMin = 2

// Parts of a second that the last second of a key may have, and the first one has at least.
const (
	lastPartMax  = math.MaxInt64 - secondMax*microseconds
	firstPartMin = microseconds + math.MinInt64%microseconds
)

// appendRanks appends the set of classes that have ranks; for each of them how many, and their keys and
// places as distances. Nearly every key is the beginning of a second, so seconds and parts of one are apart.
func appendRanks(dst []byte, ranks []queue.Rank) []byte {
	var count [queue.ClassesMax]int
	at := len(dst)
	dst = append(dst, 0)
	for _, k := range ranks {
		mustClass(k.Class)
		count[k.Class]++
		dst[at] |= 1 << k.Class
	}
	for class, n := range count {
		if n > 0 {
			dst = appendNumbers(dst, n)
			dst = appendRanksOf(dst, uint8(class), ranks)
		}
	}
	return dst
}

// appendRanksOf appends the ranks of one class.
func appendRanksOf(dst []byte, class uint8, ranks []queue.Rank) []byte {
	first, second, before := true, int64(0), int32(0)
	for _, k := range ranks {
		if k.Class != class {
			continue
		}
		at, part := secondOf(k.Key)
		step := uint64(at - second)
		if first {
			step, first = zigzag(at), false
		}
		second = at
		if part == 0 {
			dst = binary.AppendUvarint(dst, step<<1)
		} else {
			dst = appendUvarints(dst, step<<1|1, uint64(part))
		}
		dst = binary.AppendUvarint(dst, uint64(int64(k.Before)-int64(before)))
		before = k.Before
	}
	return dst
}

// secondOf splits a key into its second and the microseconds from there.
func secondOf(key int64) (second, part int64) {
	second, part = key/microseconds, key%microseconds
	if part < 0 {
		second, part = second-1, part+microseconds
	}
	return second, part
}

func (r *reader) ranks() (out []queue.Rank) {
	classes := r.bits("ranks", classesKnown)
	for class := range uint8(queue.ClassesMax) {
		if classes&(1<<class) != 0 && r.err == nil {
			out = r.ranksOf(class, out)
		}
	}
	return out
}

// ranksOf takes the ranks of one class.
func (r *reader) ranksOf(class uint8, out []queue.Rank) []queue.Rank {
	n := r.items("ranks", rankBytesMin)
	if n == 0 {
		r.refuse("ranks", "class %d has none and should have been left out", class)
		return out
	}
	out = slices.Grow(out, n)
	r.list = "ranks"
	second, part, before := int64(0), int64(0), uint64(0)
	for r.index = 0; r.index < n && r.err == nil; r.index++ {
		second, part = r.rankKey(second, part)
		before += r.upTo("before", math.MaxInt32-before)
		out = append(out, queue.Rank{Key: second*microseconds + part, Class: class, Before: int32(before)})
	}
	r.list = ""
	return out
}

// rankKey takes a key behind the last one, which is split into its second and the part of it.
func (r *reader) rankKey(second, part int64) (nextSecond, nextPart int64) {
	head := r.uvarint("key")
	step, at, us := head>>1, second, int64(0)
	switch {
	case r.index == 0:
		at = unzigzag(step)
	case step <= uint64(secondMax-second):
		at += int64(step)
	default:
		r.refuse("key", "it stands before the key before, or behind the last that there is")
	}
	if head&1 != 0 {
		us = int64(r.upTo("key", microseconds-1))
		if us == 0 {
			r.refuse("key", "it begins a second and says that it does not")
		}
	}
	switch {
	case r.index > 0 && step == 0 && us <= part:
		r.refuse("key", "it is not behind the key before")
	case at < secondMin, at > secondMax, at == secondMin && us < firstPartMin, at == secondMax && us > lastPartMax:
		r.refuse("key", "second %d and %d microseconds are beyond every key", at, us)
	}
	return at, us
}
