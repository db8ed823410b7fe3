package wire_test

import (
	"testing"

	"github.com/anteroom/anteroom/internal/wire"
)

func BenchmarkAppendReport(b *testing.B) {
	r, buf := sampleReport(), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		buf = wire.AppendReport(buf[:0], r)
	}
	b.ReportMetric(float64(len(buf)), "bytes")
}

func BenchmarkDecodeReport(b *testing.B) {
	buf := wire.AppendReport(nil, sampleReport())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.DecodeReport(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendGrant(b *testing.B) {
	g, buf := sampleGrant(), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		buf = wire.AppendGrant(buf[:0], g)
	}
	b.ReportMetric(float64(len(buf)), "bytes")
}

func BenchmarkDecodeGrant(b *testing.B) {
	buf := wire.AppendGrant(nil, sampleGrant())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.DecodeGrant(buf); err != nil {
			b.Fatal(err)
		}
	}
}
