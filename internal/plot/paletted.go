package plot

import (
	"cmp"
	"image"
	"image/color"
	"maps"
	"slices"
)

// colorsMax is how many colours a PNG file with a byte for each dot can have.
const colorsMax = 256

// paletted makes an image with the most frequent colours; the others become the nearest of them. A chart
// has few colours and many shades where letters end, so nobody sees it and the file is half as large.
func paletted(img image.Image) *image.Paletted {
	bounds := img.Bounds()
	dots := map[color.NRGBA]int{}
	eachDot(bounds, func(x, y int) { dots[dot(img, x, y)]++ })
	frequent := slices.SortedFunc(maps.Keys(dots), func(a, b color.NRGBA) int {
		return cmp.Or(cmp.Compare(dots[b], dots[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A))
	})
	var palette color.Palette
	for _, c := range frequent[:min(len(frequent), colorsMax)] {
		palette = append(palette, c)
	}
	index := map[color.NRGBA]uint8{}
	for _, c := range frequent {
		index[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(bounds, palette)
	eachDot(bounds, func(x, y int) { out.SetColorIndex(x, y, index[dot(img, x, y)]) })
	return out
}

func dot(img image.Image, x, y int) color.NRGBA {
	r, g, b, _ := img.At(x, y).RGBA() // charts are opaque
	return color.NRGBA{coarse(r), coarse(g), coarse(b), 0xff}
}

// coarse rounds a part of a colour to one of 32 steps. Else the edges of letters have so many shades that
// they leave none for a scale of colours.
func coarse(part uint32) uint8 {
	const steps, full = 31, 0xffff
	return uint8((part*steps + full/2) / full * 0xff / steps)
}

func eachDot(bounds image.Rectangle, do func(x, y int)) {
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			do(x, y)
		}
	}
}
