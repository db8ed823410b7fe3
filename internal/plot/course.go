package plot

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// courseHeight is that of the picture of a course, in points.
const courseHeight vg.Length = 400

// Course is the course of a room over time. The slices have one value for each moment of At.
type Course struct {
	Title string
	At    []time.Duration // since the start
	// Limit and Active are total_active_users and the people inside, Minute the entries within the last
	// 60 s, Slots the places that the room believes to be free, Waiting the people in line.
	Limit, Active, Minute, Slots, Waiting []int
	// Rate is new_users_per_minute.
	Rate int
}

// WritePNG draws two panels: those inside above those who wait.
func (c *Course) WritePNG(w io.Writer) error {
	for _, values := range [][]int{c.Limit, c.Active, c.Minute, c.Slots, c.Waiting} {
		if len(values) != len(c.At) {
			return fmt.Errorf("a course of %d moments has a curve of %d values", len(c.At), len(values))
		}
	}
	if len(c.At) < 2 || c.At[0] >= c.At[len(c.At)-1] {
		return errors.New("a course needs two moments or more, the first one before the last")
	}
	p := newPicture(c.Title, courseHeight)
	names := p.top(strip)
	unit, name := scale(c.At[len(c.At)-1])
	inside, waiting := newPanel("", "people"), newPanel("time, "+name, "people waiting")
	keys(names, c.curves(inside, waiting, unit))
	for _, panel := range []*plot.Plot{inside, waiting} {
		panel.X.Min, panel.X.Max = min(0, in(c.At[0], unit)), in(c.At[len(c.At)-1], unit)
		panel.Y.Min, panel.Y.Max = 0, max(panel.Y.Max*1.05, 1)
	}
	canvases := plot.Align([][]*plot.Plot{{inside}, {waiting}}, draw.Tiles{Rows: 2, Cols: 1, PadY: 6}, p.free)
	inside.Draw(canvases[0][0])
	waiting.Draw(canvases[1][0])
	return p.write(w)
}

// curves adds the curves to the panels and gives their names.
func (c *Course) curves(inside, waiting *plot.Plot, unit time.Duration) []key {
	rate := make([]int, len(c.At))
	for i := range rate {
		rate[i] = c.Rate
	}
	dashes := []vg.Length{5, 3}
	dots := []vg.Length{1.5, 2.5}
	names := []key{
		c.curve(inside, unit, "active", c.Active, draw.LineStyle{Color: blue(), Width: 1.4}),
		c.curve(inside, unit, "entries in 60 s", c.Minute, draw.LineStyle{Color: orange(), Width: 1.2}),
		c.curve(inside, unit, "free, says the room", c.Slots, draw.LineStyle{Color: green(), Width: 1}),
	}
	limit := c.curve(inside, unit, "total_active_users", c.Limit, draw.LineStyle{Color: red(), Width: 1.2, Dashes: dashes})
	names = append([]key{limit}, names...)
	// A rate far above what happens would press the curves to the ground.
	if peak := max(slices.Max(c.Limit), slices.Max(c.Active), slices.Max(c.Minute)); c.Rate > 0 && 2*c.Rate <= 3*peak {
		names = append(names, c.curve(inside, unit, "new_users_per_minute", rate, draw.LineStyle{Color: orange(), Width: 1, Dashes: dots}))
	}
	return append(names, c.curve(waiting, unit, "waiting", c.Waiting, draw.LineStyle{Color: purple(), Width: 1.4}))
}

// curve adds one curve to a panel.
func (c *Course) curve(p *plot.Plot, unit time.Duration, name string, values []int, style draw.LineStyle) key {
	points := make(plotter.XYs, len(values))
	for i, v := range values {
		points[i] = plotter.XY{X: in(c.At[i], unit), Y: float64(v)}
	}
	line := &plotter.Line{XYs: points, LineStyle: style}
	if name == "waiting" {
		line.FillColor = color.NRGBA{0x75, 0x4f, 0xa8, 0x38}
	}
	p.Add(line)
	return key{name, style}
}
