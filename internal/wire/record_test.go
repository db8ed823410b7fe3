package wire_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/wire"
)

// records draws a record that has only the fields of its kind.
func records(t *rapid.T) queue.Record {
	r := queue.Record{Kind: queue.Kind(rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13}).Draw(t, "kind")), At: rapid.Int64().Draw(t, "at")}
	switch r.Kind {
	case queue.RecordJoin, queue.RecordAdmit, queue.RecordTouch, queue.RecordEnd, queue.RecordServed, queue.RecordLeft:
		copy(r.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	case queue.RecordTurn, queue.RecordOrder, queue.RecordCooled, queue.RecordOver, queue.RecordForgot:
	}
	switch r.Kind {
	case queue.RecordJoin:
		r.Key = rapid.Int64().Draw(t, "key")
	case queue.RecordAdmit:
		r.Arrival = rapid.Int64().Draw(t, "arrival")
	case queue.RecordTurn, queue.RecordOrder:
		r.Key, r.Order = rapid.Int64().Draw(t, "key"), rapid.Uint64().Draw(t, "order")
	case queue.RecordTouch, queue.RecordEnd, queue.RecordCooled, queue.RecordServed, queue.RecordOver, queue.RecordLeft, queue.RecordForgot:
	}
	if r.Kind == queue.RecordJoin || r.Kind == queue.RecordTurn {
		r.Class = uint8(rapid.IntRange(0, queue.ClassesMax-1).Draw(t, "class"))
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
	classed := wire.AppendRecord(nil, queue.Record{Kind: queue.RecordTurn, Class: 3})
	for _, b := range [][]byte{
		nil,
		{0},
		{10},
		{11},
		{12},
		{255},
		bytes.Repeat([]byte{99}, 99), full[:1], full[:len(full)-1], classed[:len(classed)-1],
		append(classed[:len(classed)-1:len(classed)-1], 0), // class 0 has its own kind
		append(classed[:len(classed)-1:len(classed)-1], queue.ClassesMax),
	} {
		if _, _, err := wire.DecodeRecord(b); err == nil {
			t.Errorf("%x was taken for a record", b)
		}
	}
}

// Journals outlive releases: each record has the bytes that it had in the first one.
func TestRecordsKeepTheirForm(t *testing.T) {
	t.Parallel()
	id := queue.ID{0xa0, 15: 0xaf}
	const ids = "a00000000000000000000000000000af"
	for _, c := range []struct {
		record queue.Record
		golden string
	}{
		{queue.Record{Kind: queue.RecordJoin, ID: id, At: 1, Key: 2}, "01" + ids + "0100000000000000" + "0200000000000000"},
		{queue.Record{Kind: queue.RecordTurn, At: 1, Key: 2, Order: 3}, "02" + "0100000000000000" + "0200000000000000" + "0300000000000000"},
		{queue.Record{Kind: queue.RecordAdmit, ID: id, At: 1, Arrival: 2}, "03" + ids + "0100000000000000" + "0200000000000000"},
		{queue.Record{Kind: queue.RecordTouch, ID: id, At: 1}, "04" + ids + "0100000000000000"},
		{queue.Record{Kind: queue.RecordEnd, ID: id, At: 1}, "05" + ids + "0100000000000000"},
		{queue.Record{Kind: queue.RecordOrder, At: 1, Key: 2, Order: 3}, "06" + "0100000000000000" + "0200000000000000" + "0300000000000000"},
		{queue.Record{Kind: queue.RecordCooled, At: 1}, "07" + "0100000000000000"},
		{queue.Record{Kind: queue.RecordServed, ID: id, At: 1}, "08" + ids + "0100000000000000"},
		{queue.Record{Kind: queue.RecordOver, At: 1}, "09" + "0100000000000000"},
		{queue.Record{Kind: queue.RecordLeft, ID: id, At: 1}, "0a" + ids + "0100000000000000"},
		{queue.Record{Kind: queue.RecordForgot, At: 1}, "0d" + "0100000000000000"},
		{queue.Record{Kind: queue.RecordJoin, ID: id, At: 1, Key: 2, Class: 7}, "0b" + ids + "0100000000000000" + "0200000000000000" + "07"},
		{queue.Record{Kind: queue.RecordTurn, At: 1, Key: 2, Order: 3, Class: 1}, "0c" + "0100000000000000" + "0200000000000000" + "0300000000000000" + "01"},
	} {
		if got := hex.EncodeToString(wire.AppendRecord(nil, c.record)); got != c.golden {
			t.Errorf("%+v\ngot  %s\nwant %s", c.record, got, c.golden)
		}
		b, err := hex.DecodeString(c.golden)
		if err != nil {
			t.Fatal(err)
		}
		if got, n, err := wire.DecodeRecord(b); err != nil || got != c.record || n != len(b) {
			t.Errorf("%s\ngot  %+v, %d, %v\nwant %+v", c.golden, got, n, err, c.record)
		}
	}
}

// FuzzDecodeRecord feeds arbitrary bytes: whatever decodes must encode to the same bytes.
func FuzzDecodeRecord(f *testing.F) {
	for k := range 14 {
		f.Add(wire.AppendRecord(nil, queue.Record{Kind: queue.Kind(k), At: 1, Key: 2, Arrival: 3, Order: 4}))
		f.Add(wire.AppendRecord(nil, queue.Record{Kind: queue.Kind(k), At: 1, Key: 2, Arrival: 3, Order: 4, Class: 5}))
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
