package queue_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// TestPublishedSlots are cases T11 to T16 of the published behaviour: so many are active, so many wait since
// three successive minutes, then the limits of the case are in force. The published algorithm
// reserves slots by minute; ours gives turns by arrival, which must come to the same numbers.
func TestPublishedSlots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		total, perMinute int
		active           int
		waiting          []int // by minute of arrival, oldest first
		turns            []int // of them, those who may enter now
		newcomers        int   // who may enter besides
		method           anteroom.Method
	}{
		{"T11", 10000, 2000, 7000, []int{500, 1000, 1000}, []int{500, 1000, 500}, 0, anteroom.FIFO},
		{"T12", 10000, 2000, 7000, []int{200}, []int{200}, 1800, anteroom.FIFO},
		{"T13", 200, 200, 201, []int{2, 50, 60}, []int{0, 0, 0}, 0, anteroom.FIFO},
		{"T14", 200, 200, 148, []int{2, 50, 60}, []int{2, 50, 0}, 0, anteroom.FIFO},
		{"T15", 200, 200, 50, nil, nil, 150, anteroom.FIFO},
		{"T16", 10000, 2000, 7000, []int{200}, []int{200}, 1800, anteroom.Random},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, fifo(c.active, 1<<30, 30*time.Minute))
			w.events = nil // time moves by hand
			for range c.active {
				if !w.guest().inside() {
					t.Fatal("the room is full too early")
				}
			}
			w.now = w.now.Add(2 * time.Minute) // their permits have cooled
			var minutes [][]guest
			for _, n := range c.waiting {
				group := make([]guest, n)
				for i := range group {
					w.now = w.now.Add(time.Minute / time.Duration(n+1))
					group[i] = w.guest()
					group[i].enter()
					group[i].check()
				}
				minutes = append(minutes, group)
			}
			w.set.TotalActiveUsers, w.set.NewUsersPerMinute, w.set.Method = c.total, c.perMinute, c.method
			w.now = w.now.Add(5 * time.Second) // everyone who was refused has registered
			w.room.Configure(w.now, w.set)
			for i, group := range minutes {
				got := 0
				for j, g := range group {
					if !g.check().Turn {
						continue
					}
					if got++; got != j+1 && c.method == anteroom.FIFO {
						t.Fatalf("minute %d: visitor %d has a turn before an earlier one", i, j)
					}
				}
				if got != c.turns[i] {
					t.Errorf("minute %d: %d may enter, want %d", i, got, c.turns[i])
				}
			}
			got := 0
			for got < c.newcomers+100 && w.guest().enter().Verdict == queue.Admitted {
				got++
			}
			if got != c.newcomers {
				t.Errorf("%d newcomers entered, want %d", got, c.newcomers)
			}
		})
	}
}
