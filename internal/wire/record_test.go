package wire_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/wire"
)

// records draws a record that has only the fields of its kind.
func records(t *rapid.T) queue.Record {
	r := queue.Record{Kind: queue.Kind(rapid.IntRange(1, 9).Draw(t, "kind")), At: rapid.Int64().Draw(t, "at")}
	switch r.Kind {
	case queue.RecordJoin, queue.RecordAdmit, queue.RecordTouch, queue.RecordEnd, queue.RecordServed:
		copy(r.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	case queue.RecordTurn, queue.RecordOrder, queue.RecordCooled, queue.RecordOver:
	}
	switch r.Kind {
	case queue.RecordJoin:
		r.Key = rapid.Int64().Draw(t, "key")
	case queue.RecordAdmit:
		r.Arrival = rapid.Int64().Draw(t, "arrival")
	case queue.RecordTurn, queue.RecordOrder:
		r.Key, r.Order = rapid.Int64().Draw(t, "key"), rapid.Uint64().Draw(t, "order")
	case queue.RecordTouch, queue.RecordEnd, queue.RecordCooled, queue.RecordServed, queue.RecordOver:
	}
	return r
}

func TestRecordsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Custom(records)).Draw(t, "records")
		var b []byte
		for _, r := range want {
			b = wire.AppendRecord(b, r)
		}
		for _, r := range want {
			got, n, err := wire.DecodeRecord(b)
			if err != nil || got != r {
				t.Fatalf("got %+v, %v, want %+v", got, err, r)
			}
			if n > wire.RecordBytesMax {
				t.Fatalf("%d bytes, the most is %d", n, wire.RecordBytesMax)
			}
			b = b[n:]
		}
		if len(b) != 0 {
			t.Fatalf("%d bytes are left", len(b))
		}
	})
}

func TestUnknownAndShortRecordsAreRefused(t *testing.T) {
	t.Parallel()
	full := wire.AppendRecord(nil, queue.Record{Kind: queue.RecordJoin})
	for _, b := range [][]byte{nil, {0}, {10}, {255}, full[:1], full[:len(full)-1]} {
		if _, _, err := wire.DecodeRecord(b); err == nil {
			t.Errorf("%x was taken for a record", b)
		}
	}
}

// FuzzDecodeRecord feeds arbitrary bytes: whatever decodes must encode to the same bytes.
func FuzzDecodeRecord(f *testing.F) {
	for k := range 11 {
		f.Add(wire.AppendRecord(nil, queue.Record{Kind: queue.Kind(k), At: 1, Key: 2, Arrival: 3, Order: 4}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, n, err := wire.DecodeRecord(b)
		if err != nil {
			return
		}
		if got := wire.AppendRecord(nil, r); !bytes.Equal(got, b[:n]) {
			t.Errorf("%x decodes to %+v and encodes to %x", b[:n], r, got)
		}
	})
}
