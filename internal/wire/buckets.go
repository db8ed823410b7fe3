package wire

import (
	"encoding/binary"
	"math"

	"github.com/anteroom/anteroom/internal/queue"
)

const (
	// microseconds are in one second: keys count the former, buckets the latter.
	microseconds = 1000 * 1000
	// secondMin and secondMax are the first and the last second that a key can be in.
	secondMin = math.MinInt64/microseconds - 1
	secondMax = math.MaxInt64 / microseconds
	// bucketBytesMin is the size of the shortest bucket.
	bucketBytesMin = 2
)

// bucketPlace is second and class as one number, in the order of a report's buckets.
func bucketPlace(at int64, class uint8) int64 { return at*classBits + int64(class) }

// appendBuckets appends how many buckets there are and each one's distance from the one before, and count.
func appendBuckets(dst []byte, buckets []queue.Bucket) []byte {
	dst = appendNumbers(dst, len(buckets))
	last := int64(0)
	for i, b := range buckets {
		mustClass(b.Class)
		place := bucketPlace(b.At, b.Class)
		step := uint64(place - last)
		if i == 0 {
			step = zigzag(place)
		}
		last = place
		dst = binary.AppendUvarint(dst, step)
		dst = binary.AppendUvarint(dst, uint64(b.Count))
	}
	return dst
}

func (r *reader) buckets() []queue.Bucket {
	n := r.items("buckets", bucketBytesMin)
	if n == 0 {
		return nil
	}
	out := make([]queue.Bucket, 0, n)
	r.list = "buckets"
	place := int64(0)
	for r.index = 0; r.index < n && r.err == nil; r.index++ {
		place = r.bucketPlace(place)
		at := place >> 3 // rounds down, also before the epoch
		class := uint8(place - at*classBits)
		if class >= queue.ClassesMax {
			r.refuse("class", "class %d is not below %d", class, queue.ClassesMax)
		}
		out = append(out, queue.Bucket{At: at, Class: class, Count: int32(r.upTo("count", math.MaxInt32))})
	}
	r.list = ""
	return out
}

// bucketPlace takes the place of a bucket behind the last one.
func (r *reader) bucketPlace(last int64) int64 {
	least, most := bucketPlace(secondMin, 0), bucketPlace(secondMax, classBits-1)
	step := r.uvarint("at")
	switch {
	case r.index == 0:
		place := unzigzag(step)
		if place < least || place > most {
			r.refuse("at", "no key is in the second %d", place/classBits)
		}
		return place
	case step == 0:
		r.refuse("at", "it is the bucket before once more")
		return last
	case step > uint64(most-last):
		r.refuse("at", "it stands before the bucket before, or behind every key")
		return last
	}
	return last + int64(step)
}
