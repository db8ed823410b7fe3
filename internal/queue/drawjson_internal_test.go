package queue

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDecodeStopsAtTooManyTickets: the list of a record is bounded while it is read.
func TestDecodeStopsAtTooManyTickets(t *testing.T) {
	t.Parallel()
	text := `{"tickets":[` + strings.TrimSuffix(strings.Repeat(`{"place":1,"id":"00000000000000000000000000000000","key":"1"},`, 3), ",") + `]}`
	for most, want := range map[int]string{2: "tickets: are over 2", 3: `has no "version"`} {
		_, err := drawDecoder{json.NewDecoder(strings.NewReader(text)), most}.record()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("at most %d: error %v, want one with %q", most, err, want)
		}
	}
}
