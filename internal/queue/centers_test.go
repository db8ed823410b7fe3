package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// centers is the world with several data centers and a global coordinator that is some way off. Messages take their
// time and some are lost; each visitor stays in one data center.
type centers struct {
	*world
	global *queue.Global
	locals []*queue.Local
	delay  func(center int) time.Duration
	loss   float64
	home   map[*person]int
}

func newCenters(t testing.TB, seed uint64, n int, set queue.Settings) *centers {
	c := &centers{world: newWorld(t, seed, set), loss: 0.02, home: map[*person]int{}}
	c.delay = func(i int) time.Duration {
		return time.Duration(5+20*i)*time.Millisecond + time.Duration(c.rng.IntN(10))*time.Millisecond
	}
	c.events = nil
	c.global = queue.NewGlobal(c.now, queue.GlobalConfig{Epoch: 1, Settings: set, Pace: queue.WidePace()})
	for i := range n {
		cfg := c.config(1)
		cfg.DataCenter, cfg.Pace = fmt.Sprintf("dc%d", i), queue.WidePace()
		c.locals = append(c.locals, queue.NewLocal(c.now, cfg))
	}
	c.every(50*time.Millisecond, c.step)
	c.every(200*time.Millisecond, c.decide)
	c.every(500*time.Millisecond, c.observe)
	return c
}

// step lets every data center report what is due.
func (c *centers) step() {
	for i, l := range c.locals {
		l.Tick(c.now)
		if l.ReportDue(c.now) {
			c.send(i, l.Report(c.now))
		}
	}
}

func (c *centers) send(i int, r queue.Report) {
	if !r.Full && c.rng.Float64() < c.loss {
		return
	}
	c.after(c.delay(i), func() { c.global.Report(c.now, r) })
}

func (c *centers) decide() {
	for _, a := range c.global.Tick(c.now).Grants {
		for i, l := range c.locals {
			if a.DataCenter == fmt.Sprintf("dc%d", i) && c.rng.Float64() >= c.loss {
				c.after(c.delay(i), func() { l.Grant(c.now, a.Grant) })
			}
		}
	}
}

// observe counts over all data centers, from outside.
func (c *centers) observe() {
	waiting := 0
	for _, l := range c.locals {
		waiting += l.Status(c.now).Waiting
	}
	c.count(waiting)
}

// visit is one request of a person at the data center that is home.
func (c *centers) visit(p *person) {
	a := c.locals[c.home[p]].Ask(c.now, queue.Ask{
		ID: p.cookie.ID, Arrival: p.cookie.Arrival, Accepted: p.cookie.Accepted,
		LastSeen: p.cookie.LastSeen, Refresh: p.cookie.Refresh, NewID: c.freshID(), Draw: c.rng.Uint64(),
	})
	p.cookie = a
	if a.Verdict == queue.Waiting {
		c.after(a.Refresh, func() { c.visit(p) })
		return
	}
	if !p.inside {
		p.inside, p.entered, p.leaves = true, c.now, c.now.Add(p.browse)
		c.entries = append(c.entries, c.now)
		c.turns = append(c.turns, p)
	}
	c.inside[a.ID] = c.now
	next := time.Duration(float64(c.set.Session) * (0.1 + 0.5*c.rng.Float64()))
	if c.now.Add(next).Before(p.leaves) {
		c.after(next, func() { c.visit(p) })
	}
}

// TestSeveralDataCentersKeepBothLimits runs a flash crowd over five data centers with delays and lost
// messages: the limits hold, the places are used, the order holds over data centers.
func TestSeveralDataCentersKeepBothLimits(t *testing.T) {
	t.Parallel()
	for _, set := range []queue.Settings{fifo(300, 3000, 20*time.Second), fifo(1000, 120, 20*time.Second)} {
		c := newCenters(t, 4, 5, set)
		c.run(5 * time.Second)
		for i := range 3000 {
			c.at(c.now.Add(time.Duration(c.rng.Float64()*float64(15*time.Second))), func() {
				p := &person{arrived: c.now, browse: time.Duration(c.rng.ExpFloat64() * float64(40*time.Second))}
				c.home[p] = min(i*i/(3000*600), 4)
				c.people = append(c.people, p)
				c.visit(p)
			})
		}
		c.run(12 * time.Minute)
		if c.over > 0 {
			t.Errorf("%d over a limit", c.over)
		}
		if u := c.utilisation(); u < 0.95 {
			t.Errorf("utilisation %.4f", u)
		}
		if bad, worst := c.inversions(10 * time.Second); bad > 20 {
			t.Errorf("%d entered more than 10 s out of order, worst %v", bad, worst)
		}
		t.Logf("utilisation %.4f, admitted %d", c.utilisation(), len(c.entries))
		t.Log(c.inversions(time.Second))
	}
}
