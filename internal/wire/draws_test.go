package wire_test

import (
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/wire"
)

// drawRecords draws a record of a draw that has only the fields of its kind.
func drawRecords(t *rapid.T) queue.Record {
	r := queue.Record{
		Kind:  rapid.SampledFrom([]queue.Kind{queue.RecordSeed, queue.RecordSealed, queue.RecordSeal, queue.RecordPlace, queue.RecordDrawn}).Draw(t, "kind"),
		At:    rapid.Int64().Draw(t, "at"),
		Order: rapid.Uint64().Draw(t, "order"),
	}
	copy(r.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	if r.Kind == queue.RecordSealed {
		return r
	}
	r.Key = rapid.Int64().Draw(t, "key")
	if r.Kind == queue.RecordPlace {
		return r
	}
	r.Arrival = rapid.Int64().Draw(t, "arrival")
	if r.Kind != queue.RecordSeed {
		r.Class = rapid.Uint8Range(0, uint8(len(queue.DrawMethods())-1)).Draw(t, "method")
	}
	return r
}

func TestDrawRecordsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecords(t)
		b := wire.AppendRecord(nil, want)
		if len(b) > wire.RecordBytesMax {
			t.Errorf("%d bytes, at most %d", len(b), wire.RecordBytesMax)
		}
		if got, n, err := wire.DecodeRecord(b); err != nil || n != len(b) || got != want {
			t.Errorf("%+v came back as %+v with %d of %d bytes: %v", want, got, n, len(b), err)
		}
		if _, _, err := wire.DecodeRecord(b[:rapid.IntRange(1, len(b)-1).Draw(t, "cut")]); err == nil {
			t.Error("a record that was cut off is taken for one")
		}
	})
}

// TestDrawRecordBytes: journals outlive releases.
func TestDrawRecordBytes(t *testing.T) {
	t.Parallel()
	r := queue.Record{ID: queue.ID{1, 15: 2}, At: 3, Order: 4, Arrival: 5, Key: 6, Class: 1}
	for _, c := range []struct {
		kind queue.Kind
		want string
	}{
		{queue.RecordSeed, "0e" + id + at + order + arrival + key},
		{queue.RecordSealed, "0f" + id + at + order},
		{queue.RecordSeal, "10" + id + at + order + arrival + key + "01"},
		{queue.RecordPlace, "11" + id + at + order + key},
		{queue.RecordDrawn, "12" + id + at + order + arrival + key + "01"},
	} {
		r.Kind = c.kind
		if got := hex.EncodeToString(wire.AppendRecord(nil, r)); got != c.want {
			t.Errorf("kind %d\ngot  %s\nwant %s", c.kind, got, c.want)
		}
	}
	b := wire.AppendRecord(nil, r)
	b[len(b)-1] = 9
	if _, _, err := wire.DecodeRecord(b); err == nil {
		t.Error("an unknown method is taken")
	}
}

// The fields of TestDrawRecordBytes.
const (
	id      = "01000000000000000000000000000002"
	at      = "0300000000000000"
	order   = "0400000000000000"
	arrival = "0500000000000000"
	key     = "0600000000000000"
)
