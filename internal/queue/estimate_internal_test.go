package queue

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func minutes(d time.Duration) float64 { return d.Minutes() }

// TestPublishedWaits are cases T33 to T39 of the published behaviour.
func TestPublishedWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		got  time.Duration
		want float64 // minutes
	}{
		{"T33FIFO60AheadAt30PerMinute", lineWait(60, 30.0/60, 0), 2},
		{"T35P10Chance50", lotteryWait(0.5, 100, 10.0/60, 0), 6.58},
		{"T36P10Chance25", lotteryWait(0.25, 100, 10.0/60, 0), 2.73},
		{"T36P10Chance75", lotteryWait(0.75, 100, 10.0/60, 0), 13.16},
		{"T37P5Chance25", lotteryWait(0.25, 100, 5.0/60, 0), 5.61},
		{"T37P5Chance50", lotteryWait(0.5, 100, 5.0/60, 0), 13.51},
		{"T37P5Chance75", lotteryWait(0.75, 100, 5.0/60, 0), 27.03},
		{"T38P50Chance25", lotteryWait(0.25, 100, 50.0/60, 0), 0.42},
		{"T38P50Chance50", lotteryWait(0.5, 100, 50.0/60, 0), 1},
		{"T38P50Chance75", lotteryWait(0.75, 100, 50.0/60, 0), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if math.Abs(minutes(c.got)-c.want) > 0.006 {
				t.Errorf("%.3f min, want %.2f", minutes(c.got), c.want)
			}
		})
	}
	t.Run("T39NobodyIsLetIn", func(t *testing.T) {
		t.Parallel()
		var e estimator
		if got := e.of(0, Settings{QueueAll: true, TotalActiveUsers: 5, NewUsersPerMinute: 5, Session: time.Minute}, 3, 3); got.Known {
			t.Errorf("%+v, want unknown", got)
		}
	})
	t.Run("T39EveryoneWithinAMinute", func(t *testing.T) {
		t.Parallel()
		if got := lotteryWait(0.75, 10, 1, 0); got <= 0 || got > time.Minute {
			t.Errorf("%v, want within a minute", got)
		}
	})
	t.Run("T41OverADayIsUnknown", func(t *testing.T) {
		t.Parallel()
		var e estimator
		if got := e.line(0, Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1, Session: time.Minute}, 100000); got.Known {
			t.Errorf("%+v, want unknown", got)
		}
	})
}

// TestEstimatesAreSane: no input makes an estimate negative, and more people ahead never shorten it.
func TestEstimatesAreSane(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mu := rapid.Float64Range(0, 1000).Draw(t, "mu")
		theta := rapid.Float64Range(0, 1).Draw(t, "theta")
		growth := rapid.Float64Range(-100, 100).Draw(t, "growth")
		n := rapid.Float64Range(1, 1e7).Draw(t, "n")
		a, b := lineWait(n, mu, theta), lineWait(n+1, mu, theta)
		if a < 0 || b < a {
			t.Fatalf("line: %v for %v, %v for one more", a, n, b)
		}
		low, high := lotteryWait(0.25, n, mu, growth), lotteryWait(0.75, n, mu, growth)
		if low < 0 || high < low {
			t.Fatalf("lottery: 25 %% within %v, 75 %% within %v", low, high)
		}
	})
}

// TestHoldLearnsFromRunningSessions: sessions that still run count, so the estimate is honest before
// anybody has left.
func TestHoldLearnsFromRunningSessions(t *testing.T) {
	t.Parallel()
	set := Settings{TotalActiveUsers: 100, NewUsersPerMinute: 1000, Session: time.Minute}
	var e estimator
	fresh := e.hold(set)
	for now := int64(0); now < 600*second; now += second {
		e.advance(now+1, 100, 10) // a hundred sessions beyond their duration, nobody leaves
	}
	if got := e.hold(set); got < 10*fresh {
		t.Errorf("hold %.0f s after ten minutes without an exit, %.0f at first", got, fresh)
	}
}

func TestRefreshIntervals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		wait := time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "wait"))
		draw := rapid.Uint64().Draw(t, "draw")
		random := rapid.Bool().Draw(t, "random")
		set, most := Settings{Method: "fifo"}, refreshMax
		if random {
			set, most = Settings{Method: "random"}, refreshLottery
		}
		waiting := rapid.IntRange(0, 1_000_000).Draw(t, "waiting")
		got := refresh(set, Estimate{Known: rapid.Bool().Draw(t, "known"), Middle: wait}, waiting, draw)
		if got < refreshMin || got > most || got%time.Second != 0 {
			t.Fatalf("refresh %v for a wait of %v", got, wait)
		}
	})
	if got := refresh(Settings{Method: "fifo"}, Estimate{Known: true, Middle: time.Hour}, 100, 1<<63); got > refreshSmall {
		t.Errorf("a crowd of a hundred asks every %v only", got)
	}
	var sum time.Duration
	seen := map[time.Duration]bool{}
	for i := range uint64(1000) {
		got := refresh(Settings{Method: "fifo"}, Estimate{Known: true, Middle: 3 * time.Minute}, 10_000, i*0x9e3779b97f4a7c15)
		sum += got
		seen[got] = true
	}
	if mean := sum / 1000; mean < 29*time.Second || mean > 31*time.Second || len(seen) < 10 {
		t.Errorf("mean %v in %d different values, want 30 s, spread", mean, len(seen))
	}
}
