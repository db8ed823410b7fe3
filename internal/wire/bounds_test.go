package wire_test

import (
	"encoding/hex"
	"testing"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/wire"
)

func sampleBounds() queue.Bounds {
	return queue.Bounds{Epoch: 300, Centers: []queue.Bound{
		{DataCenter: "frankfurt", Incarnation: 7, Rights: 6000, Permits: 900},
		{DataCenter: "paris", Incarnation: 12, Rights: 4000, Permits: 2},
	}}
}

func TestEveryFieldOfTheLedgerArrives(t *testing.T) {
	t.Parallel()
	f := boundsForm()
	f.tellsFieldsApart(t, sampleBounds()) // names the field, so it comes first
	f.tellsFieldsApart(t, queue.Bounds{})
	f.roundTrip(t)
}

func TestDamagedLedgersAreRefused(t *testing.T) {
	t.Parallel()
	f := boundsForm()
	f.refusesTornOnes(t)
	f.survivesFlips(t, sampleBounds())
	f.knowsItsVersion(t, []byte{1, 0, 0})
	f.refuses(t, []byte{1, 9, 2, 1, 'a', 1, 1, 1, 1, 'b', 1, 1, 1}, "ledger", "restore it from a backup", []refusal{
		{"TooLong", 13, 0, []byte{0}, "end: 1 bytes too many"},
		{"ManyCenters", 2, 1, huge(), "centers: 18446744073709551615 items of 5 bytes"},
		{"ACenterTooMany", 2, 1, []byte{3}, "centers: 3 items"},
		{"NoName", 3, 2, []byte{0, 1}, "centers[0].data_center: the name is empty"},
		{"NegativeRights", 6, 1, huge(), "centers[0].rights: "},
		{"NegativePermits", 12, 1, huge(), "centers[1].permits: "},
		{"NameTwice", 9, 1, []byte{'a'}, `centers[1].data_center: "a" stands behind "a": names rise`},
	})
}

func TestLedgersKeepTheirForm(t *testing.T) {
	t.Parallel()
	const golden = "01ac0202096672616e6b6675727407f02e8407" + "0570617269730ca01f02"
	if got := hex.EncodeToString(wire.AppendBounds(nil, sampleBounds())); got != golden {
		t.Errorf("the form has changed: that takes a new version, see docs/wire.md\ngot  %s\nwant %s", got, golden)
	}
}
