package ticket_test

import (
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/ticket"
)

func BenchmarkSeal(b *testing.B) {
	r := ring(b, key(1), key(2))
	in := admitted()
	buf := make([]byte, 0, ticket.SealedMax)
	var n ticket.Nonce
	b.ReportAllocs()
	for b.Loop() {
		n[11]++
		buf = r.Append(buf[:0], room, in, n)
	}
}

func BenchmarkOpen(b *testing.B) {
	r := ring(b, key(1), key(2))
	text := seal(r, admitted())
	benchmarkOpen(b, r, text, nil)
}

// BenchmarkOpenForeign is the cost of a text that someone made up.
func BenchmarkOpenForeign(b *testing.B) {
	r := ring(b, key(1), key(2))
	text := seal(r, admitted())
	b.Run("BitFlipped", func(b *testing.B) { benchmarkOpen(b, r, text[:50]+"aa"+text[52:], ticket.ErrForeign) })
	b.Run("Megabyte", func(b *testing.B) { benchmarkOpen(b, r, strings.Repeat(text, 10_000), ticket.ErrForeign) })
}

func benchmarkOpen(b *testing.B, r *ticket.Ring, text string, want error) {
	b.Helper()
	now := noon()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Open(room, text, now); err != want { //nolint:errorlint // the very value, as callers may compare it
			b.Fatal(err)
		}
		now = now.Add(time.Nanosecond)
	}
}
