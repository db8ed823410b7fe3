package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
	"github.com/anteroom/anteroom/test/browser"
)

// inDraw is a visitor of a lottery whose draw is open.
func inDraw() page.View {
	v := inLine()
	v.Method, v.Position = anteroom.Random, 0
	v.Draw = page.Draw{
		Number: 3, Phase: "open", Method: "random", Commitment: strings.Repeat("c0", 32), Ticket: strings.Repeat("7e", 16),
	}
	return v
}

// drawGoesOn shows the commitment, then the root of the sealed list, then the record, without a reload.
func drawGoesOn(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inDraw(), func(s *stage, w http.ResponseWriter, _ int) {
		v := inDraw()
		switch s.current() {
		case 0:
		case 1:
			v.Draw.Phase, v.Draw.Sealed, v.Draw.Root = "sealed", 50, strings.Repeat("2d", 32)
		default:
			v.Draw.Phase, v.Draw.Record = "drawn", "/.anteroom/draw?room=a&number=3"
		}
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	tab.Text("document.querySelector('summary').click()")
	said := func(want string) { tab.WaitFor("document.querySelector('details').innerText.includes('" + want + "')") }
	said(strings.Repeat("c0", 32))
	said(strings.Repeat("7e", 16))
	if text := tab.Text("document.querySelector('details').innerText"); strings.Contains(text, "Record") || strings.Contains(text, "Tickets in the draw") {
		t.Errorf("an open draw shows\n%s", text)
	}
	s.next()
	said(strings.Repeat("2d", 32))
	said("Tickets in the draw 50")
	s.next()
	said("Record of draw")
	if got := tab.Text("document.querySelector('details a').getAttribute('href')"); got != "/.anteroom/draw?room=a&number=3" {
		t.Errorf("the record is at %q", got)
	}
	if text := tab.Text("document.querySelector('details').open + document.querySelector('details').innerText"); strings.Contains(text, "2d2d") || !strings.HasPrefix(text, "true") {
		t.Errorf("after the draw it shows\n%s", text)
	}
	for _, fault := range tab.Violations() {
		t.Error(fault)
	}
}
