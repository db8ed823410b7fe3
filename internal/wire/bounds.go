package wire

import "github.com/anteroom/anteroom/internal/queue"

// boundsVersion is the version of the form of the ledger.
const boundsVersion = 1

// boundBytesMin is the size of the shortest line of a ledger.
const boundBytesMin = 5

// AppendBounds appends the byte form of a room's ledger. Its lines must be in order of their names.
func AppendBounds(dst []byte, b queue.Bounds) []byte {
	dst = append(dst, boundsVersion)
	dst = appendUvarints(dst, b.Epoch)
	dst = appendNumbers(dst, len(b.Centers))
	for _, c := range b.Centers {
		dst = appendName(dst, c.DataCenter)
		dst = appendUvarints(dst, c.Incarnation)
		dst = appendNumbers(dst, c.Rights, c.Permits)
	}
	return dst
}

// DecodeBounds reads a room's ledger. Whatever is not the byte form of one, from the first to the last byte, is
// an error that names the field and what to do.
func DecodeBounds(b []byte) (queue.Bounds, error) {
	in := newReader("ledger", "it is damaged: restore it from a backup, or let nobody in until the last session is over and then delete it", boundsVersion, b)
	out := queue.Bounds{Epoch: in.uvarint("epoch")}
	n := in.items("centers", boundBytesMin)
	if n > 0 {
		out.Centers = make([]queue.Bound, 0, n)
	}
	in.list = "centers"
	last := ""
	for in.index = 0; in.index < n && in.err == nil; in.index++ {
		c := queue.Bound{
			DataCenter: in.name("data_center"), Incarnation: in.uvarint("incarnation"),
			Rights: in.number("rights"), Permits: in.number("permits"),
		}
		if c.DataCenter <= last {
			in.refuse("data_center", "%q stands behind %q: names rise", c.DataCenter, last)
		}
		last = c.DataCenter
		out.Centers = append(out.Centers, c)
	}
	in.list = ""
	if err := in.end(); err != nil {
		return queue.Bounds{}, err
	}
	return out, nil
}
