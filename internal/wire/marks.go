package wire

import (
	"fmt"

	"github.com/anteroom/anteroom/internal/queue"
)

// A set of classes is one byte. With more classes than bits this does not compile: it takes a new form.
const (
	classBits         = 8
	classesKnown      = byte(1<<queue.ClassesMax - 1)
	_            uint = classBits - queue.ClassesMax
)

// mustClass panics for a class that does not exist: it would be taken for another one.
func mustClass(class uint8) {
	if class >= queue.ClassesMax {
		panic(fmt.Sprintf("class %d of %d cannot be encoded", class, queue.ClassesMax))
	}
}

// appendMarks appends the set of classes whose mark is not zero, and their marks.
func appendMarks(dst []byte, marks *[queue.ClassesMax]queue.Mark) []byte {
	at := len(dst)
	dst = append(dst, 0)
	for class, m := range marks {
		if m == (queue.Mark{}) {
			continue
		}
		dst[at] |= 1 << class
		dst = appendNumbers(appendVarints(dst, m.Frontier), m.Partial)
	}
	return dst
}

func (r *reader) marks() (marks [queue.ClassesMax]queue.Mark) {
	classes := r.bits("marks", classesKnown)
	r.list = "marks"
	for r.index = range marks {
		if classes&(1<<r.index) == 0 {
			continue
		}
		m := queue.Mark{Frontier: r.varint("frontier"), Partial: r.number("partial")}
		if m == (queue.Mark{}) {
			r.refuse("frontier", "the mark is zero and should have been left out")
		}
		marks[r.index] = m
	}
	r.list = ""
	return marks
}
