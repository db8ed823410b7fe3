package plot_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/plot"
)

// drawn decodes what a picture writes.
func drawn(t *testing.T, write func(w io.Writer) error) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// near tells whether a dot has about a colour.
func near(img image.Image, x, y int, c color.NRGBA) bool {
	got := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	off := func(a, b uint8) int { return max(int(a), int(b)) - min(int(a), int(b)) }
	return off(got.R, c.R)+off(got.G, c.G)+off(got.B, c.B) < 40
}

// box is the smallest rectangle within an area that holds every dot of about a colour.
func box(img image.Image, area image.Rectangle, c color.NRGBA) image.Rectangle {
	var found image.Rectangle
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if near(img, x, y, c) {
				found = found.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return found
}

// crowd is the course of a crowd that meets a room of 100: it is full after half of the time, and the line
// has gone after the whole.
func crowd() *plot.Course {
	c := &plot.Course{Title: "crowd", Rate: 120}
	for s := range 601 {
		c.At = append(c.At, time.Duration(s)*time.Second)
		c.Limit = append(c.Limit, 100)
		c.Active = append(c.Active, min(90, s*90/300))
		c.Minute = append(c.Minute, 50)
		c.Slots = append(c.Slots, 20)
		c.Waiting = append(c.Waiting, 600-s)
	}
	return c
}

func TestCourse(t *testing.T) {
	t.Parallel()
	img := drawn(t, crowd().WritePNG)
	size := img.Bounds().Max
	if size.X != 864 || size.Y < 400 {
		t.Fatalf("the picture has %v", size)
	}
	panels := image.Rect(60, 75, size.X, size.Y) // without title and names
	red, blue, orange := color.NRGBA{0xc0, 0x1c, 0x28, 255}, color.NRGBA{0x1f, 0x77, 0xb4, 255}, color.NRGBA{0xe6, 0x7e, 0x22, 255}
	green, purple := color.NRGBA{0x1b, 0x9e, 0x77, 255}, color.NRGBA{0x75, 0x4f, 0xa8, 255}
	limit, active, minute := box(img, panels, red), box(img, panels, blue), box(img, panels, orange)
	slots, waiting := box(img, panels, green), box(img, panels, purple)
	for name, b := range map[string]image.Rectangle{"limit": limit, "active": active, "minute": minute, "slots": slots, "waiting": waiting} {
		if b.Dx() < 600 {
			t.Errorf("the curve %s spans %v", name, b)
		}
	}
	// 0 is at the bottom of the curve of those inside, the limit a ninth above its top.
	top, bottom := active.Min.Y, active.Max.Y
	if want := bottom - (bottom-top)*10/9; limit.Min.Y < want-4 || limit.Min.Y > want+4 || limit.Dy() > 5 {
		t.Errorf("the limit is at %v, the people inside at %v", limit, active)
	}
	if slots.Min.Y <= minute.Max.Y || slots.Min.Y < (top+bottom)/2 {
		t.Errorf("20 slots are at %v", slots)
	}
	if waiting.Min.Y <= bottom {
		t.Errorf("the line at %v is not below the room at %v", waiting, active)
	}
	if first := box(img, image.Rect(waiting.Min.X, waiting.Min.Y, waiting.Min.X+20, waiting.Max.Y), purple); first.Min.Y != waiting.Min.Y {
		t.Errorf("the line does not fall: %v of %v", first, waiting)
	}
}

func TestCourseWithoutAFarRate(t *testing.T) {
	t.Parallel()
	c := crowd()
	near := box(drawn(t, c.WritePNG), image.Rect(100, 75, 864, 300), color.NRGBA{0x1f, 0x77, 0xb4, 255})
	c.Rate = 1_000_000
	far := box(drawn(t, c.WritePNG), image.Rect(100, 75, 864, 300), color.NRGBA{0x1f, 0x77, 0xb4, 255})
	if far.Dy() < near.Dy() {
		t.Errorf("a rate that nobody reaches presses the curve from %v to %v", near, far)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	short := crowd()
	short.Active = short.Active[1:]
	still := crowd()
	clear(still.At)
	for name, c := range map[string]struct {
		write func(w io.Writer) error
		want  string
	}{
		"NoTime":        {(&plot.Course{}).WritePNG, "two moments"},
		"StandingTime":  {still.WritePNG, "before the last"},
		"ShortCurve":    {short.WritePNG, "600 values"},
		"WaitsLacking":  {(&plot.Heatmap{Arrived: []time.Duration{1}}).WritePNG, "0 waits"},
		"NowhereToPut":  {func(io.Writer) error { return crowd().WritePNG(full{}) }, "full"},
		"NowhereToPut2": {func(io.Writer) error { return (&plot.Heatmap{}).WritePNG(full{}) }, "full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := c.write(&b); err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
				t.Errorf("got %v after %d bytes", err, b.Len())
			}
		})
	}
}

type full struct{}

func (f full) Write([]byte) (int, error) { return 0, f }

func (full) Error() string { return "full" }

// field is the colour in the middle of a field of a heat map, counted from the bottom left.
func field(img image.Image, area image.Rectangle, column, row int) color.NRGBA {
	x := area.Min.X + (2*column+1)*area.Dx()/60
	y := area.Max.Y - (2*row+1)*area.Dy()/60
	return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
}

func TestHeatmap(t *testing.T) {
	t.Parallel()
	h := &plot.Heatmap{Title: "heat"}
	add := func(n int, arrived, waited time.Duration) {
		for range n {
			h.Arrived, h.Waited = append(h.Arrived, arrived), append(h.Waited, waited)
		}
	}
	add(100, 90*time.Second, 30*time.Second) // column 1, row 0
	add(25, 90*time.Second, 630*time.Second) // the same column, row 10
	add(1, 30*time.Minute, 30*time.Minute)   // the corner
	img := drawn(t, h.WritePNG)
	dark := color.NRGBA{0x05, 0x03, 0x10, 255}
	area := box(img, image.Rect(60, 40, 745, img.Bounds().Max.Y), dark)
	// The dots of the axes' marks do not count: the rectangle is found by its dark dots alone.
	area.Min.X = box(img, image.Rect(60, area.Min.Y+20, 745, area.Min.Y+40), dark).Min.X
	for _, c := range []struct {
		column, row int
		shade       float64
	}{{1, 0, 1}, {1, 10, 0.5}, {29, 29, 0.1}, {0, 0, 0}, {1, 29, 0}, {29, 0, 0}} {
		got := brightness(field(img, area, c.column, c.row))
		want := brightness(shadeOf(c.shade))
		if math.Abs(got-want) > 25 {
			t.Errorf("the field %d, %d has the brightness %.0f, want %.0f (shade %.1f) in %v", c.column, c.row, got, want, c.shade, area)
		}
	}
}

// shadeOf is about the colour of a share of the most crowded field's square root.
func shadeOf(share float64) color.NRGBA {
	colors := []color.NRGBA{
		{0x05, 0x03, 0x10, 255},
		{0x42, 0x0a, 0x68, 255},
		{0x93, 0x26, 0x67, 255},
		{0xdd, 0x51, 0x3a, 255},
		{0xfc, 0xa5, 0x0a, 255},
		{0xfc, 0xff, 0xa4, 255},
	}
	at := share * float64(len(colors)-1)
	low := colors[int(at)]
	high := colors[min(int(at)+1, len(colors)-1)]
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (at-math.Floor(at))*(float64(b)-float64(a))) }
	return color.NRGBA{mix(low.R, high.R), mix(low.G, high.G), mix(low.B, high.B), 255}
}

func brightness(c color.NRGBA) float64 {
	return 0.3*float64(c.R) + 0.59*float64(c.G) + 0.11*float64(c.B)
}

// TestHeatmapOfNobody: a run in which nobody entered has a picture too.
func TestHeatmapOfNobody(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]*plot.Heatmap{
		"Nobody": {},
		"Zeros":  {Arrived: make([]time.Duration, 3), Waited: make([]time.Duration, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			drawn(t, h.WritePNG)
		})
	}
}

// TestSame: the same numbers give the same bytes, so that a report changes only with its runs.
func TestSame(t *testing.T) {
	t.Parallel()
	var a, b bytes.Buffer
	if err := crowd().WritePNG(&a); err != nil {
		t.Fatal(err)
	}
	if err := crowd().WritePNG(&b); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("two pictures of %d and %d bytes differ: %v", a.Len(), b.Len(), err)
	}
}
