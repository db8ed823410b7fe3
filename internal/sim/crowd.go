package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// The shapes of the loads.
const (
	flashPeak   = 50.0
	flashRise   = 10 * time.Second
	flashHold   = 20 * time.Second
	flashAfter  = 0.3
	steadyRate  = 1.1
	rampTop     = 3.0
	newDCRate   = 0.6
	newDCPeak   = 5.0
	newDCBegin  = 5 * time.Minute
	newDCLasts  = 2 * time.Minute
	diurnalLow  = 0.3
	diurnalHigh = 1.5
	atOnceSpan  = 10 * time.Second
	evenSpan    = 30 * time.Minute
)

// crowd brings visitors into a world.
type crowd struct {
	w       *World
	e       *engine
	rng     *rand.Rand // its own, so that every algorithm meets the same people
	weights []float64  // of the data centers
	sum     float64
	count   int
	arrive  func(center int, lasts time.Duration)
}

func newCrowd(w *World, e *engine, arrive func(center int, lasts time.Duration)) *crowd {
	c := &crowd{w: w, e: e, arrive: arrive, rng: rand.New(rand.NewPCG(w.Seed, 0xc707d))}
	for i := range w.Network.Centers {
		weight := math.Pow(float64(i+1), -w.Crowd.Skewed)
		c.weights = append(c.weights, weight)
		c.sum += weight
	}
	return c
}

// rate is how many visitors come a second after so much of the run, and the highest rate of the load.
func (c *crowd) rate(at time.Duration) (now, most float64) {
	base := c.w.Crowd.Rate
	switch c.w.Crowd.Load {
	case Flash:
		return base * flashRate(at), base * flashPeak
	case Steady:
		return base * steadyRate, base * steadyRate
	case Ramp:
		return base * rampTop * at.Seconds() / c.w.Duration.Seconds(), base * rampTop
	case NewDC:
		if spiking(at) {
			return base * newDCPeak, base * newDCPeak
		}
		return base * newDCRate, base * newDCPeak
	case Diurnal:
		half := (diurnalHigh - diurnalLow) / 2
		return base * (diurnalLow + half - half*math.Cos(2*math.Pi*at.Seconds()/c.w.Duration.Seconds())), base * diurnalHigh
	case AtOnce:
		return c.counted(at, atOnceSpan)
	case Even:
		return c.counted(at, min(evenSpan, c.w.Duration))
	}
	return 0, 0
}

func flashRate(at time.Duration) float64 {
	switch {
	case at < flashRise:
		return flashPeak * at.Seconds() / flashRise.Seconds()
	case at < flashRise+flashHold:
		return flashPeak
	default:
		return flashAfter
	}
}

// spiking tells that the crowd of NewDC comes now.
func spiking(at time.Duration) bool { return at >= newDCBegin && at < newDCBegin+newDCLasts }

// counted is the rate at which a number of visitors comes within a span; expected, not drawn.
func (c *crowd) counted(at, span time.Duration) (now, most float64) {
	rate := float64(c.w.Crowd.Visitors) / span.Seconds()
	if at >= span || c.count >= c.w.Crowd.Visitors {
		return 0, rate
	}
	return rate, rate
}

// start lets visitors come. Arrivals are a Poisson process whose rate follows the load: candidates come
// at the highest rate, and each is taken with the chance that the rate of its moment has of it.
func (c *crowd) start() {
	if c.w.Crowd.Load == AtOnce || c.w.Crowd.Load == Even {
		c.spread()
		return
	}
	c.next()
}

// spread brings exactly so many visitors at even moments.
func (c *crowd) spread() {
	span := evenSpan
	if c.w.Crowd.Load == AtOnce {
		span = atOnceSpan
	}
	for range c.w.Crowd.Visitors {
		c.e.after(time.Duration(c.rng.Float64()*float64(span)), func() { c.arrive(c.pick(), c.browse()) })
	}
}

func (c *crowd) next() {
	_, most := c.rate(0)
	if most <= 0 {
		return
	}
	c.e.after(time.Duration(c.rng.ExpFloat64()/most*float64(time.Second)), func() {
		if now, _ := c.rate(c.e.since()); c.rng.Float64()*most < now {
			c.arrive(c.pick(), c.browse())
		}
		c.next()
	})
}

// browse draws how long a visitor stays at the origin.
func (c *crowd) browse() time.Duration {
	if s := c.w.Crowd.BrowseSpread; s > 0 {
		return time.Duration(float64(c.w.Crowd.Browse) * (1 - s + 2*s*c.rng.Float64()))
	}
	return c.exponential(c.w.Crowd.Browse)
}

// pick draws the data center of a visitor.
func (c *crowd) pick() int {
	last := len(c.weights) - 1
	switch {
	case c.w.Crowd.Load == NewDC && last > 0:
		if spiking(c.e.since()) {
			return last // where nobody was
		}
		return c.draw(last)
	case c.w.Crowd.Load == Diurnal:
		turn := int(float64(len(c.weights)) * c.e.since().Seconds() / c.w.Duration.Seconds())
		return (c.draw(last+1) + turn) % (last + 1)
	default:
		return c.draw(last + 1)
	}
}

// draw gives one of the first n data centers by weight.
func (c *crowd) draw(n int) int {
	sum := 0.0
	for _, w := range c.weights[:n] {
		sum += w
	}
	x := c.rng.Float64() * sum
	for i, w := range c.weights[:n] {
		if x -= w; x < 0 {
			return i
		}
	}
	return n - 1
}

// exponential draws a duration with the mean.
func (c *crowd) exponential(mean time.Duration) time.Duration {
	return time.Duration(c.rng.ExpFloat64() * float64(mean))
}
