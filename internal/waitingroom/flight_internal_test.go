package waitingroom

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// TestFlightsAreBounded reaches the bound: requests beyond it are not listed, and leave without harm.
func TestFlightsAreBounded(t *testing.T) {
	t.Parallel()
	var l flights
	all := make([]*flight, flightsMax+10)
	for i := range all {
		all[i] = &flight{renew: true, room: "r", ticket: queue.ID{1}}
		l.add(all[i])
	}
	if n := len(l.due(time.Unix(1, 0))); n != flightsMax {
		t.Errorf("%d requests listed, want %d", n, flightsMax)
	}
	for _, f := range all {
		l.remove(f)
	}
	if n := len(l.due(time.Unix(2, 0))); n != 0 || l.count != 0 || l.first != nil {
		t.Errorf("%d requests left, count %d", n, l.count)
	}
	l.add(all[len(all)-1])
	if l.count != 1 {
		t.Error("the bound stays reached after everyone has left")
	}
}
