package queue_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom"
)

// TestLotteryIsFair lets 3,000 people wait at once. Some poll ten times as often as told, some only
// just after each full minute. Who arrived when, and who polls how, must not matter.
func TestLotteryIsFair(t *testing.T) {
	t.Parallel()
	set := fifo(200, 200, 60*time.Second)
	set.Method = anteroom.Random
	set.NewUsersPerMinute = 10000
	w := newWorld(t, 13, set)
	for i := range 3000 {
		w.at(w.now.Add(time.Duration(i)*2*time.Millisecond), func() {
			p := w.arrive(time.Duration(w.rng.ExpFloat64() * float64(time.Minute)))
			switch i % 25 {
			case 1:
				p.poll = func(told time.Duration) time.Duration { return told / 10 }
			case 2:
				p.poll = func(time.Duration) time.Duration { return w.now.Truncate(time.Minute).Add(61 * time.Second).Sub(w.now) }
			}
		})
	}
	w.run(40 * time.Minute)
	if w.over > 0 {
		t.Errorf("%d over a limit", w.over)
	}
	if u := w.utilisation(); u < 0.95 {
		t.Errorf("utilisation %.3f", u)
	}
	rank := map[*person]float64{}
	drawn := w.turns[200:] // the first two hundred found an empty room
	for i, p := range drawn {
		rank[p] = float64(i) / float64(len(drawn))
	}
	mean := func(of func(i int) bool) float64 {
		sum, n := 0.0, 0
		for i, p := range w.people {
			if r, ok := rank[p]; ok && of(i) {
				sum += r
				n++
			}
		}
		return sum / float64(n)
	}
	for _, c := range []struct {
		name     string
		of       func(i int) bool
		low, top float64
	}{
		{"FastPollers", func(i int) bool { return i%25 == 1 }, 0.40, 0.60},
		{"LuckyOffset", func(i int) bool { return i%25 == 2 }, 0.40, 0.85}, // claims its wins late, gains nothing
		{"FirstThird", func(i int) bool { return i < 1000 }, 0.46, 0.54},
		{"LastThird", func(i int) bool { return i >= 2000 }, 0.46, 0.54},
	} {
		if m := mean(c.of); m < c.low || m > c.top {
			t.Errorf("%s: mean rank %.3f, fair is 0.5", c.name, m)
		}
	}
	if c := chiSquare(w.people, rank); c > 1.6 {
		t.Errorf("chi-square per degree of freedom %.2f of arrival against rank, fair is 1", c)
	}
	t.Logf("utilisation %.4f, chi-square %.2f", w.utilisation(), chiSquare(w.people, rank))
}

// chiSquare compares the deciles of arrival with those of the draw: about 1 when they are independent.
func chiSquare(people []*person, rank map[*person]float64) float64 {
	var table [10][10]float64
	n := 0
	for _, p := range people {
		if _, ok := rank[p]; ok {
			n++
		}
	}
	i := 0
	for _, p := range people {
		if r, ok := rank[p]; ok {
			table[i*10/n][int(r*10)]++
			i++
		}
	}
	want, chi := float64(n)/100, 0.0
	for _, row := range table {
		for _, seen := range row {
			chi += (seen - want) * (seen - want) / want
		}
	}
	return chi / 81
}
