package plot

import (
	"fmt"
	"image"
	"image/color"
	imagedraw "image/draw"
	"io"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heat maps have bins times bins fields.
const (
	bins                 = 30
	shades               = 200
	heatHeight vg.Length = 440
	fieldDots            = 20
	barWidth   vg.Length = 62 // of the explanation of colours, with its numbers
)

// Heatmap shows how many visitors arrived when and waited how long: arrivals to the right, waits
// upward from 0 at the bottom, brighter is more, by the square root.
type Heatmap struct {
	Title string
	// Arrived is since the start; both slices have one value for each visitor.
	Arrived, Waited []time.Duration
}

// WritePNG draws the heat map.
func (h *Heatmap) WritePNG(w io.Writer) error {
	if len(h.Arrived) != len(h.Waited) {
		return fmt.Errorf("a heat map has %d arrivals and %d waits", len(h.Arrived), len(h.Waited))
	}
	g, x, y := h.grid()
	colors, err := moreland.NewLuminance(heatColors())
	if err != nil {
		return fmt.Errorf("the colours of a heat map: %w", err)
	}
	most := max(1, slices.Max(g.counts))
	colors.SetMax(math.Sqrt(float64(most)))
	p := newPicture(h.Title, heatHeight)
	panel := newPanel("arrival, "+x, "wait, "+y)
	panel.X.Min, panel.X.Max = 0, bins*g.dx
	panel.Y.Min, panel.Y.Max = 0, bins*g.dy
	panel.Add(plotter.NewImage(g.image(colors.Palette(shades).Colors(), most), 0, 0, panel.X.Max, panel.Y.Max))
	bar := newPanel("", "visitors, square root scale")
	bar.Add(&plotter.ColorBar{ColorMap: colors, Vertical: true})
	bar.HideX()
	bar.Y.Tick.Marker = plot.TickerFunc(rootTicks)
	bar.Y.Min, bar.Y.Max = 0, math.Sqrt(float64(most))
	size := p.free.Max.X - p.free.Min.X
	left := draw.Crop(p.free, 0, -barWidth-20, 0, 0)
	panel.Draw(left)
	right := draw.Crop(p.free, size-barWidth, 0, 0, 0)
	right.Min.Y = panel.DataCanvas(left).Min.Y
	bar.Draw(right)
	return p.write(w)
}

// heatColors goes from almost black to pale yellow, always brighter.
func heatColors() []color.Color {
	return []color.Color{
		color.NRGBA{0x05, 0x03, 0x10, 0xff},
		color.NRGBA{0x42, 0x0a, 0x68, 0xff},
		color.NRGBA{0x93, 0x26, 0x67, 0xff},
		color.NRGBA{0xdd, 0x51, 0x3a, 0xff},
		color.NRGBA{0xfc, 0xa5, 0x0a, 0xff},
		color.NRGBA{0xfc, 0xff, 0xa4, 0xff},
	}
}

// rootTicks marks 0 and 1, 2 and 5 times the powers of ten on an axis of square roots, as far apart as
// their numbers need.
func rootTicks(_, high float64) []plot.Tick {
	marks := []plot.Tick{{Value: 0, Label: "0"}}
	last := 0.0
	for power := 1.0; power <= high*high; power *= 10 {
		for _, digit := range []float64{1, 2, 5} {
			at := math.Sqrt(digit * power)
			if at <= high && at-last > high/15 {
				marks = append(marks, plot.Tick{Value: at, Label: number(digit * power)})
				last = at
			}
		}
	}
	return marks
}

// grid counts visitors by field.
type grid struct {
	dx, dy float64 // of a field
	counts []int   // by row from the bottom, then by column
}

// grid sorts the visitors into fields and names the units of both axes.
func (h *Heatmap) grid() (g *grid, x, y string) {
	g = &grid{counts: make([]int, bins*bins)}
	arrived, waited := longest(h.Arrived), longest(h.Waited)
	unitX, x := scale(arrived)
	unitY, y := scale(waited)
	g.dx, g.dy = math.Ceil(in(arrived, unitX))/bins, math.Ceil(in(waited, unitY))/bins
	for i := range h.Arrived {
		column := min(bins-1, int(in(h.Arrived[i], unitX)/g.dx))
		row := min(bins-1, int(in(h.Waited[i], unitY)/g.dy))
		g.counts[max(row, 0)*bins+max(column, 0)]++
	}
	return g, x, y
}

// longest is the longest duration, at least a second, so that an axis has a length.
func longest(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return time.Second
	}
	return max(time.Second, slices.Max(ds))
}

// image paints the fields, the most crowded one with the last shade. A field has many dots of its own, since
// the image is stretched to the chart and its edges would blur.
func (g *grid) image(colors []color.Color, most int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, bins*fieldDots, bins*fieldDots))
	for i, n := range g.counts {
		shade := math.Sqrt(float64(n) / float64(most))
		left, top := i%bins*fieldDots, (bins-1-i/bins)*fieldDots
		field := image.Rect(left, top, left+fieldDots, top+fieldDots)
		imagedraw.Draw(img, field, image.NewUniform(colors[int(shade*float64(len(colors)-1))]), image.Point{}, imagedraw.Src)
	}
	return img
}
