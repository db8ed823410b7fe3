package wire_test

import (
	"testing"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/wire"
)

// FuzzDecodeReport feeds arbitrary bytes: what is no report is refused, and what is one is its only form.
func FuzzDecodeReport(f *testing.F) {
	f.Add(shortReport())
	f.Add(wire.AppendReport(nil, sampleReport()))
	f.Add(wire.AppendReport(nil, queue.Report{DataCenter: "a", Buckets: []queue.Bucket{{At: -1, Class: 7}, {At: 1}}}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		form := reportForm()
		form.canonical(t, b)
	})
}

// FuzzDecodeGrant feeds arbitrary bytes: what is no grant is refused, and what is one is its only form.
func FuzzDecodeGrant(f *testing.F) {
	f.Add(shortGrant())
	f.Add(wire.AppendGrant(nil, sampleGrant()))
	f.Add(wire.AppendGrant(nil, queue.Grant{Ranks: []queue.Rank{{Key: -1}, {Key: 5}, {Class: 7}}}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		form := grantForm()
		form.canonical(t, b)
	})
}

// FuzzDecodeBounds feeds arbitrary bytes: what is no ledger is refused, and what is one is its only form.
func FuzzDecodeBounds(f *testing.F) {
	f.Add(wire.AppendBounds(nil, queue.Bounds{}))
	f.Add(wire.AppendBounds(nil, sampleBounds()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		form := boundsForm()
		form.canonical(t, b)
	})
}
