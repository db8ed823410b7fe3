package sim

import (
	"fmt"
	"io"

	"github.com/anteroom/anteroom/internal/plot"
)

// WriteCourse draws the course of the run as PNG.
func (r *Result) WriteCourse(w io.Writer) error {
	c := plot.Course{Title: r.title() + ": the room over time", Rate: r.World.Room.NewUsersPerMinute}
	for _, p := range r.Series {
		c.At = append(c.At, p.At)
		c.Limit = append(c.Limit, p.Limit)
		c.Active = append(c.Active, p.Active)
		c.Minute = append(c.Minute, p.Minute)
		c.Slots = append(c.Slots, p.Slots)
		c.Waiting = append(c.Waiting, p.Waiting)
	}
	return c.WritePNG(w)
}

// WriteWaits draws a heat map of the waits of those who entered as PNG.
func (r *Result) WriteWaits(w io.Writer) error {
	h := plot.Heatmap{Title: r.title() + ": waits by arrival"}
	for _, p := range r.Passages {
		if p.Entered {
			h.Arrived = append(h.Arrived, p.Arrived)
			h.Waited = append(h.Waited, p.Waited)
		}
	}
	return h.WritePNG(w)
}

func (r *Result) title() string {
	return fmt.Sprintf("%s, %s, seed %d", r.World.Name, r.World.Algorithm, r.World.Seed)
}
