package queue_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/anteroom/anteroom/internal/queue"
)

// crowd is a full room with n registered visitors who wait; they arrived evenly over half an hour.
type crowd struct {
	room *queue.Pair
	now  time.Time
	asks []queue.Ask
}

func benchID(i int) (id queue.ID) {
	rng := rand.NewPCG(uint64(i), 99)
	binary.LittleEndian.PutUint64(id[:], rng.Uint64())
	binary.LittleEndian.PutUint64(id[8:], rng.Uint64())
	return id
}

func newCrowd(n int) *crowd {
	c := &crowd{now: epoch()}
	set := fifo(1000, 1000, time.Hour)
	c.room = queue.NewPair(c.now, queue.LocalConfig{DataCenter: "here", Incarnation: 1, Settings: set, Pace: queue.NearPace()}, nil)
	for i := range 1000 {
		c.room.Ask(c.now, queue.Ask{NewID: benchID(-1 - i)})
	}
	start := c.now
	c.asks = make([]queue.Ask, n)
	var scratch []queue.Record
	for i := range c.asks {
		arrival := start.Add(time.Duration(i) * (30 * time.Minute / time.Duration(n)))
		if arrival.After(c.now) {
			c.now = arrival
		}
		c.asks[i] = queue.Ask{ID: benchID(i), Arrival: arrival, LastSeen: arrival, Refresh: time.Second, Draw: uint64(i) << 40}
		// Everyone is seen often enough to stay; the crowd is built faster than the grace.
		c.asks[i].Arrival = start.Add(arrival.Sub(start) / 10)
		c.asks[i].LastSeen = start.Add(arrival.Sub(start) / 10)
		c.now = start.Add(arrival.Sub(start) / 10)
		c.room.Ask(c.now, c.asks[i])
		scratch, _ = c.room.Drain(scratch[:0])
	}
	c.room.Pump(c.now.Add(time.Second))
	c.now = c.now.Add(time.Second)
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
				i := rng.IntN(n)
				c.asks[i].Purpose = queue.Check
				c.room.Ask(c.now, c.asks[i])
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
	c := newCrowd(1_000_000)
	set := fifo(1000, 1<<30, time.Hour)
	for b.Loop() {
		set.TotalActiveUsers += 1000
		c.now = c.now.Add(time.Millisecond)
		c.room.Configure(c.now, set)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/exchange")
}

// BenchmarkMemory reports the bytes that a waiting visitor costs the coordinator.
func BenchmarkMemory(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := newCrowd(n)
		asks := c.asks
		runtime.GC()
		runtime.ReadMemStats(&after)
		own := after.HeapAlloc - before.HeapAlloc - uint64(cap(asks))*uint64(unsafe.Sizeof(queue.Ask{}))
		b.ReportMetric(float64(own)/n, "B/visitor")
		runtime.KeepAlive(c)
	}
}
