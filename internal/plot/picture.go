package plot

import (
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Sizes of pictures and letters, in points; dotsPerInch makes a picture 864 dots wide.
const (
	width       vg.Length = 648
	margin      vg.Length = 10
	strip       vg.Length = 20 // of a title or of a line of names
	swatch      vg.Length = 18 // of a colour beside its name
	textSize    vg.Length = 10
	titleSize   vg.Length = 13
	dotsPerInch           = 96
)

// Colours that stay apart for people who do not see red and green.
func ink() color.Color    { return color.NRGBA{0x24, 0x2b, 0x33, 0xff} }
func faint() color.Color  { return color.NRGBA{0xe4, 0xe8, 0xec, 0xff} }
func blue() color.Color   { return color.NRGBA{0x1f, 0x77, 0xb4, 0xff} }
func orange() color.Color { return color.NRGBA{0xe6, 0x7e, 0x22, 0xff} }
func green() color.Color  { return color.NRGBA{0x1b, 0x9e, 0x77, 0xff} }
func purple() color.Color { return color.NRGBA{0x75, 0x4f, 0xa8, 0xff} }
func red() color.Color    { return color.NRGBA{0xc0, 0x1c, 0x28, 0xff} }

// picture is what is drawn on: the rest below the title that is still free.
type picture struct {
	image *vgimg.Canvas
	free  draw.Canvas
}

// newPicture has a title on white ground.
func newPicture(title string, height vg.Length) *picture {
	image := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))
	p := &picture{image: image, free: draw.Crop(draw.New(image), margin, -margin, margin, -margin)}
	line := p.top(strip + 4)
	style := letters(titleSize)
	style.YAlign = draw.YTop
	line.FillText(style, vg.Point{X: line.Min.X, Y: line.Max.Y}, title)
	return p
}

// top takes a strip of a height from the free rest.
func (p *picture) top(height vg.Length) draw.Canvas {
	rest := p.free
	p.free = draw.Crop(p.free, 0, 0, 0, -height)
	return draw.Crop(rest, 0, 0, rest.Max.Y-rest.Min.Y-height, 0)
}

// write encodes the picture.
func (p *picture) write(w io.Writer) error {
	e := png.Encoder{CompressionLevel: png.BestCompression}
	return e.Encode(w, paletted(p.image.Image()))
}

// letters is the style of a text.
func letters(size vg.Length) draw.TextStyle {
	return draw.TextStyle{
		Color: ink(), Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

// newPanel is an empty chart with a grid behind it.
func newPanel(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		style := letters(textSize)
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = style.Font, style.Font
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = ink(), ink()
		axis.Color, axis.Tick.Color = ink(), ink()
		axis.Label.Padding = 4
		axis.Padding = 0
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(ticks), plot.TickerFunc(ticks)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint(), faint()
	p.Add(grid)
	return p
}

// ticks are about six marks at 1, 2 or 5 times a power of ten.
func ticks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/6)))
	for _, factor := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if (high-low)/step > 7 {
			step *= factor
		}
	}
	var marks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high*(1+1e-9); i++ {
		marks = append(marks, plot.Tick{Value: i * step, Label: number(i * step)})
	}
	return marks
}

// number writes a value as people read it: 12,500 or 0.5.
func number(v float64) string {
	s := strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
	if v < 1000 {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// key is one name of a curve and how it is drawn.
type key struct {
	name string
	line draw.LineStyle
}

// keys writes the names of curves beside each other.
func keys(c draw.Canvas, names []key) {
	style := letters(textSize)
	style.YAlign = draw.YCenter
	x, y := c.Min.X, (c.Min.Y+c.Max.Y)/2
	for _, k := range names {
		c.StrokeLine2(k.line, x, y, x+swatch, y)
		x += swatch + 5
		c.FillText(style, vg.Point{X: x, Y: y}, k.name)
		x += style.Width(k.name) + 16
	}
}

// scale is the unit of a time axis: minutes, or seconds when all is over in three minutes.
func scale(longest time.Duration) (unit time.Duration, name string) {
	if longest < 3*time.Minute {
		return time.Second, "s"
	}
	return time.Minute, "min"
}

// in is a duration in a unit.
func in(d, unit time.Duration) float64 { return float64(d) / float64(unit) }
