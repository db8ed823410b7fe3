package ticket_test

import (
	"errors"
	"testing"

	"github.com/anteroom/anteroom/internal/ticket"
)

// FuzzOpen tries texts that the ring never made, and valid ones in which a piece is replaced: none opens.
func FuzzOpen(f *testing.F) {
	r := ring(f, key(1), key(2))
	valid := seal(r, admitted())
	f.Add(valid, 0)
	f.Add("", 0)
	f.Add("AQAAAAE", 3)
	f.Add("\n", len(valid)-1)
	f.Add("==", len(valid))
	f.Add("B", len(valid)-1)
	f.Fuzz(func(t *testing.T, piece string, at int) {
		texts := []string{piece}
		if at >= 0 && at <= len(valid) {
			end := min(at+len(piece), len(valid))
			texts = append(texts, valid[:at]+piece+valid[end:], valid[:at]+piece+valid[at:], valid[:at]+piece)
		}
		for _, text := range texts {
			got, err := r.Open(room, text, noon())
			if text == valid {
				if err != nil || got != admitted() {
					t.Errorf("the valid text: %+v, %v", got, err)
				}
				continue
			}
			if !errors.Is(err, ticket.ErrForeign) || got != (ticket.Ticket{}) {
				t.Errorf("%q: %+v and error %v, want ErrForeign", text, got, err)
			}
		}
	})
}
