package page_test

import (
	"testing"

	"github.com/anteroom/anteroom/internal/page"
)

// TestNoAllocations holds what the gate calls for each request to the memory that it is given.
//
//nolint:paralleltest // allocations are counted for the whole process
func TestNoAllocations(t *testing.T) {
	tmpl, custom := compile(t, ""), compile(t, "<p>{{position}} {{waitTimeFormatted}} {{#queueAll}}x{{/queueAll}}</p>")
	v, dst := inLine(), make([]byte, 0, 64<<10)
	for name, f := range map[string]func(){
		"DefaultPage":   func() { dst = tmpl.Append(dst[:0], v) },
		"CustomPage":    func() { dst = custom.Append(dst[:0], v) },
		"JSON":          func() { dst = page.AppendJSON(dst[:0], v) },
		"MatchLanguage": func() { page.MatchLanguage("xx,fr-CH;q=0.9, en;q=0.8, zh-Hant;q=0.7, *;q=0.5") },
	} {
		f()
		most := 0.0
		if name == "CustomPage" {
			most = 1 // its pool drops things at random under the race detector
		}
		if n := testing.AllocsPerRun(100, f); n > most {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkDefaultPage(b *testing.B) {
	tmpl, v, dst := compile(b, ""), inLine(), make([]byte, 0, 64<<10)
	b.ReportAllocs()
	for b.Loop() {
		dst = tmpl.Append(dst[:0], v)
	}
	b.SetBytes(int64(len(dst)))
}

func BenchmarkCustomPage(b *testing.B) {
	const source = "<h1>{{roomName}}</h1>{{#waitTimeKnown}}<p>{{waitTime}}</p>{{/waitTimeKnown}}<b>{{position}}</b>"
	for name, tail := range map[string]string{"Remembered": "", "Personal": "{{ticketId}}"} {
		b.Run(name, func(b *testing.B) {
			tmpl, v, dst := compile(b, source+tail), inLine(), make([]byte, 0, 64<<10)
			b.ReportAllocs()
			for b.Loop() {
				dst = tmpl.Append(dst[:0], v)
			}
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	v, dst := inLine(), make([]byte, 0, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		dst = page.AppendJSON(dst[:0], v)
	}
}

func BenchmarkMatchLanguage(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		page.MatchLanguage("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5")
	}
}
