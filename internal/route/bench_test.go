package route_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/route"
)

// rooms makes a table of n rooms: a tenth of them on one host, the others on hosts of their own.
func rooms(b *testing.B, n int) *route.Table {
	b.Helper()
	entries := make([]route.Entry, n)
	for i := range entries {
		entries[i] = route.Entry{Host: fmt.Sprintf("shop%d.example.com", i), Path: "/shop", Room: i}
		if i%10 == 0 {
			entries[i] = route.Entry{Host: "www.example.com", Path: fmt.Sprintf("/tenant/%d/shop", i), Room: i}
		}
	}
	return compile(b, entries...)
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		table := rooms(b, n)
		last := (n - 1) / 10 * 10
		path := fmt.Sprintf("/tenant/%d/shop/item/12345.html", last)
		b.Run(fmt.Sprintf("Rooms%d", n), func(b *testing.B) { benchmark(b, table, "www.example.com:8443", path, last) })
		b.Run(fmt.Sprintf("Rooms%dMiss", n), func(b *testing.B) { benchmark(b, table, "www.example.com", "/about/us", none) })
	}
}

// BenchmarkMatchSpelled is the cost of paths that need a closer look.
func BenchmarkMatchSpelled(b *testing.B) {
	table := rooms(b, 10_000)
	for _, c := range []struct {
		name, path string
		want       int
	}{
		{"Escapes", "/tenant/9990/shop/a%20b", 9990},
		{"Unicode", "/tenant/9990/shop/caf%C3%A9", 9990},
		{"Climbs", "/x/../tenant/9990/shop", 9990},
		{"EightKilobytesClimbing", "/.." + strings.Repeat("/tenant/9990", 700), 9990},
		{"EightKilobytesOfEscapes", "/" + strings.Repeat("%25", 2700) + "2e%2e/../shop", none},
	} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, table, "www.example.com", c.path, c.want) })
	}
}

// BenchmarkSplit is what it costs to ask for every request.
func BenchmarkSplit(b *testing.B) {
	table := rooms(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if table.Split("www.example.com:8443", "/tenant/9990/shop/item/12345.html") {
			b.Fatal("an ordinary path is split")
		}
	}
}

func benchmark(b *testing.B, table *route.Table, host, path string, want int) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if got := match(table, host, path); got != want {
			b.Fatalf("room %d, want %d", got, want)
		}
	}
}

func TestOrdinaryRequestsAllocateNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts for the whole process
	table := compile(t,
		route.Entry{Host: "a.test", Path: "/shop", Room: 1},
		route.Entry{Host: "*", Path: "/news", Room: 2},
	)
	for _, c := range [][2]string{
		{"a.test", "/shop/item/1.html"},
		{"a.test:8443", "/shop/"},
		{"a.test.", "/.well-known/x"},
		{"127.0.0.1:80", "/news"},
		{"b.test", "/"},
	} {
		if n := testing.AllocsPerRun(100, func() { table.Match(c[0], c[1]); table.Split(c[0], c[1]) }); n != 0 {
			t.Errorf("%q: %v allocations", c, n)
		}
	}
}
