package queue_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// crowd is a full room with n registered visitors who wait; they arrived evenly over ten
// seconds, so that all of them are still expected.
type crowd struct {
	room *queue.Pair
	now  time.Time
	n    int
}

func benchID(i int) (id queue.ID) {
	rng := rand.NewPCG(uint64(i), 99)
	binary.LittleEndian.PutUint64(id[:], rng.Uint64())
	binary.LittleEndian.PutUint64(id[8:], rng.Uint64())
	return id
}

// ask is what the i-th visitor asks. It is computed, so that the visitors' own memory costs the benchmark
// nothing.
func (c *crowd) ask(i int) queue.Ask {
	arrival := epoch().Add(time.Duration(i) * (10 * time.Second / time.Duration(c.n)))
	return queue.Ask{ID: benchID(i), Arrival: arrival, LastSeen: arrival, Refresh: time.Second, Draw: uint64(i) << 40}
}

func newCrowd(n int) *crowd {
	c := &crowd{now: epoch(), n: n}
	set := fifo(1000, 1000, time.Hour)
	c.room = queue.NewPair(c.now, queue.LocalConfig{DataCenter: "here", Incarnation: 1, Settings: set, Pace: queue.NearPace()}, nil)
	for i := range 1000 {
		c.room.Ask(c.now, queue.Ask{NewID: benchID(-1 - i)})
	}
	var scratch []queue.Record
	for i := range n {
		ask := c.ask(i)
		c.now = ask.Arrival
		c.room.Ask(c.now, ask)
		scratch, _ = c.room.Drain(scratch[:0])
	}
	c.now = c.now.Add(time.Second)
	c.room.Pump(c.now)
	return c
}

// BenchmarkPoll is one check-in of a waiting visitor. Its cost must not grow with the line.
func BenchmarkPoll(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("Waiting%d", n), func(b *testing.B) {
			c := newCrowd(n)
			rng := rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			for b.Loop() {
				ask := c.ask(rng.IntN(n))
				ask.Purpose = queue.Check
				c.room.Ask(c.now, ask)
			}
		})
	}
}

// BenchmarkTouch is one request of an admitted visitor, with ten thousand inside.
func BenchmarkTouch(b *testing.B) {
	const n = 10_000
	set := fifo(n, n, time.Hour)
	room := queue.NewPair(epoch(), queue.LocalConfig{DataCenter: "here", Incarnation: 1, Settings: set, Pace: queue.NearPace()}, nil)
	asks := make([]queue.Ask, n)
	for i := range asks {
		a := room.Ask(epoch(), queue.Ask{NewID: benchID(i)})
		asks[i] = queue.Ask{ID: a.ID, Arrival: a.Arrival, Accepted: a.Accepted, LastSeen: a.LastSeen}
	}
	now := epoch()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		now = now.Add(time.Microsecond)
		room.Ask(now, asks[i%n])
	}
}

// BenchmarkReportAndFrontier is one exchange between the two coordinators with a million waiting, in
// which a thousand rights become free: report, frontier move, a thousand turns.
func BenchmarkReportAndFrontier(b *testing.B) {
	const exchanges = 200
	for b.Loop() { // once: making the crowd takes longer than all exchanges
		c := newCrowd(1_000_000)
		set := fifo(1000, 1<<30, time.Hour)
		begin := time.Now()
		for range exchanges {
			set.TotalActiveUsers += 1000
			c.now = c.now.Add(time.Millisecond)
			c.room.Configure(c.now, set)
		}
		b.ReportMetric(time.Since(begin).Seconds()*1000/exchanges, "ms/exchange")
	}
}

// BenchmarkMemory reports the bytes that a waiting visitor costs the coordinator.
func BenchmarkMemory(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := newCrowd(n)
		runtime.GC()
		runtime.ReadMemStats(&after)
		own := after.HeapAlloc - before.HeapAlloc
		b.ReportMetric(float64(own)/n, "B/visitor")
		runtime.KeepAlive(c)
	}
}
