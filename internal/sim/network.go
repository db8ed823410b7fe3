package sim

import (
	"math"
	"time"
)

// network carries messages between data centers and the leader. Each data center has its own delay;
// jitter lets messages overtake each other, and some are lost.
type network struct {
	e        *engine
	n        *Network
	delays   []time.Duration
	cut      []int // how many partitions cut the data center off
	messages int
	bytes    int
}

func newNetwork(e *engine, n *Network) *network {
	net := &network{e: e, n: n, cut: make([]int, n.Centers)}
	for i := range n.Centers {
		// Spread on a logarithmic scale: many near, few far; in no order with the traffic.
		part := float64((i*7)%n.Centers) / math.Max(1, float64(n.Centers-1))
		near := math.Max(float64(n.Near), 1)
		net.delays = append(net.delays, time.Duration(near*math.Pow(math.Max(1, float64(n.Far)/near), part)))
	}
	return net
}

// delay draws how long a message takes one way.
func (n *network) delay(center int) time.Duration {
	d := float64(n.delays[center])
	return time.Duration(d * (1 + n.n.Jitter*n.e.rng.Float64()))
}

// up carries a message to the leader, down one to a data center. Both are cut by a partition when they
// leave and when they arrive.
func (n *network) up(center, bytes int, arrive func()) {
	n.messages++
	n.bytes += bytes
	if n.cut[center] > 0 || n.e.rng.Float64() < n.n.Loss {
		return
	}
	n.e.after(n.delay(center), func() {
		if n.cut[center] == 0 {
			arrive()
		}
	})
}

func (n *network) down(center, bytes int, arrive func()) { n.up(center, bytes, arrive) }

// forPublished is what the published algorithm needs of it.
func (n *network) forPublished() publishedNet {
	skews := map[[2]int]time.Duration{}
	return publishedNet{
		delay: n.delay,
		lost:  func() bool { return n.e.rng.Float64() < n.n.Loss },
		skew: func(center, node int) time.Duration {
			key := [2]int{center, node}
			if _, ok := skews[key]; !ok && n.n.Skew > 0 {
				skews[key] = time.Duration(n.e.rng.Int64N(2*int64(n.n.Skew))) - n.n.Skew
			}
			return skews[key]
		},
	}
}
