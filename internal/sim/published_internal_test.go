package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/queue"
)

// publishedAt is a moment of the day of the articles' examples.
func publishedAt(clock string) time.Time {
	at, err := time.Parse(time.DateTime, "2021-05-27 "+clock)
	if err != nil {
		panic(err)
	}
	return at
}

// publishedWaiters is a tally of active people and of people who wait since these minutes; all of them
// checked in just before now.
func publishedWaiters(now time.Time, active int, waiting map[string]int) publishedTally {
	var t publishedTally
	m := publishedMinuteOf(now)
	if active != 0 {
		t = t.with(publishedCell{kind: publishedActive, minute: m, people: active})
	}
	for clock, n := range waiting {
		t = t.with(publishedCell{kind: publishedWaiting, bucket: publishedMinuteOf(publishedAt(clock)), minute: m, people: n})
	}
	return t
}

// TestPublishedBuckets are T1 and T2.
func TestPublishedBuckets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, arrived, bucket string }{
		{"T1", "10:23:45", "10:23:00"},
		{"T2First", "19:51:00", "19:51:00"},
		{"T2Last", "19:51:59", "19:51:00"},
		{"T2Next", "19:52:00", "19:52:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, want := publishedMinuteOf(publishedAt(c.arrived)).start(), publishedAt(c.bucket); !got.Equal(want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestPublishedShuffledBucket is the one bucket of those who came before a shuffling event opened.
func TestPublishedShuffledBucket(t *testing.T) {
	t.Parallel()
	opens := publishedAt("10:00:00")
	for _, c := range []struct {
		name, arrived, bucket string
		shuffle               bool
	}{
		{"Early", "09:45:01", "09:59:00", true},
		{"JustBefore", "09:59:59", "09:59:00", true},
		{"After", "10:00:01", "10:00:00", true},
		{"Unshuffled", "09:45:01", "09:45:00", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := publishedSystem{opens: opens, room: Room{Shuffle: c.shuffle}}
			if got, want := s.bucket(publishedAt(c.arrived)), publishedMinuteOf(publishedAt(c.bucket)); got != want {
				t.Errorf("%v, want %v", got.start(), want.start())
			}
		})
	}
}

// TestPublishedAggregation is T17: the counters of two data centers are one room.
func TestPublishedAggregation(t *testing.T) {
	t.Parallel()
	now := publishedAt("15:57:10")
	a := publishedWaiters(now, 151, map[string]int{"15:54:00": 2, "15:55:00": 30, "15:56:00": 20})
	b := publishedWaiters(now, 50, map[string]int{"15:55:00": 20, "15:56:00": 40})
	r := publishedRoomOf(a.plus(b, 1), now, 5*time.Minute)
	if r.active != 201 || r.waiting != 112 {
		t.Errorf("%d active and %d waiting, want 201 and 112", r.active, r.waiting)
	}
	first := publishedMinuteOf(publishedAt("15:54:00"))
	want := []publishedBucket{{first, 2, 0}, {first + 1, 50, 0}, {first + 2, 60, 0}}
	if !slices.Equal(r.buckets, want) {
		t.Errorf("%v, want %v", r.buckets, want)
	}
}

// TestPublishedSlots are T11 to T16, seen by a single worker, and what the three kinds of visitors may do then.
func TestPublishedSlots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		total, perMinute int
		active, admitted int
		waiting          []int // by minute, oldest first
		random           bool
		slots            int
		reserved         []int
		budget           int
		open             bool
	}{
		{"T11", 10000, 2000, 7000, 0, []int{500, 1000, 1000}, false, 2000, []int{500, 1000, 500}, 500, false},
		{"T12", 10000, 2000, 7000, 0, []int{200}, false, 2000, []int{200}, 1800, true},
		{"T13", 200, 200, 201, 0, []int{2, 50, 60}, false, 0, []int{0, 0, 0}, 0, false},
		{"T14", 200, 200, 148, 0, []int{2, 50, 60}, false, 52, []int{2, 50, 0}, 0, false},
		{"T15", 200, 200, 50, 0, nil, false, 150, nil, 150, true},
		{"T16", 10000, 2000, 7000, 0, []int{200}, true, 2000, []int{200}, 2000, false},
		{"RateIsSpent", 10000, 2000, 7000, 2000, []int{200}, false, 0, []int{0}, 0, false},
		{"RateIsPartlySpent", 10000, 2000, 7000, 1900, []int{200}, false, 100, []int{100}, 100, false},
		{"ExactlyCovered", 200, 200, 88, 0, []int{2, 50, 60}, false, 112, []int{2, 50, 60}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := publishedRoom{active: c.active, admitted: c.admitted}
			for i, n := range c.waiting {
				r.buckets = append(r.buckets, publishedBucket{minute: publishedMinute(100 + i), waiting: n})
			}
			slots := r.slots(c.total, c.perMinute)
			p := publishedPlanOf(r, slots, c.random, func(n int) int { return publishedPart(n, publishedShare{1, 1}, 1, 0) })
			var reserved []int
			for _, b := range p.buckets {
				reserved = append(reserved, b.reserved)
			}
			if slots != c.slots || !slices.Equal(reserved, c.reserved) || p.budget != c.budget || p.open != c.open {
				t.Errorf("%d slots, %d reserved, budget %d, open %v; want %d, %d, %d, %v",
					slots, reserved, p.budget, p.open, c.slots, c.reserved, c.budget, c.open)
			}
		})
	}
}

// TestPublishedEntrance is who may enter by a plan: covered buckets freely, the partly covered one for
// worker slots, newcomers only when everyone is covered.
func TestPublishedEntrance(t *testing.T) {
	t.Parallel()
	plan := func(random bool, slots int) *publishedPlan {
		r := publishedRoom{buckets: []publishedBucket{{minute: 100, waiting: 2}, {minute: 101, waiting: 3}}}
		p := publishedPlanOf(r, slots, random, func(n int) int { return n })
		return &p
	}
	for _, c := range []struct {
		name     string
		plan     *publishedPlan
		bucket   publishedMinute
		newcomer bool
		enter    int // of ten who ask
	}{
		{"CoveredFreely", plan(false, 3), 100, false, 10},
		{"PartlyForSlots", plan(false, 3), 101, false, 1},
		{"LaterWait", plan(false, 3), 102, false, 0},
		{"NewcomersWaitBehindThePartlyCovered", plan(false, 3), 102, true, 0},
		{"NewcomersTakeWhatIsLeft", plan(false, 9), 102, true, 4},
		{"AllCoveredFreely", plan(false, 9), 101, false, 10},
		{"NothingLeftForNewcomers", plan(false, 5), 102, true, 0},
		{"NobodyWithoutSlots", plan(false, 0), 99, false, 0},
		{"RandomRacesForAll", plan(true, 5), 100, false, 5},
		{"RandomNewcomersRaceToo", plan(true, 5), 102, true, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := 0
			for range 10 {
				if c.plan.admits(c.bucket, c.newcomer) {
					got++
				}
			}
			if got != c.enter {
				t.Errorf("%d of 10 enter, want %d", got, c.enter)
			}
		})
	}
}

// TestPublishedShares are T18 and T19, and data centers without traffic in the minute that counts.
func TestPublishedShares(t *testing.T) {
	t.Parallel()
	var nairobi, dublin, delhi publishedTally
	for minute, n := range map[string][2]int{"16:31:00": {50, 50}, "16:32:00": {45, 55}} {
		m := publishedMinuteOf(publishedAt(minute))
		nairobi = nairobi.with(publishedCell{kind: publishedUsers, minute: m, people: n[0]})
		dublin = dublin.with(publishedCell{kind: publishedUsers, minute: m, people: n[1]})
	}
	all := nairobi.plus(dublin, 1)
	for _, c := range []struct {
		name  string
		now   string
		own   publishedTally
		slots int
	}{
		{"T18Nairobi", "16:33:20", nairobi, 500},
		{"T18Dublin", "16:33:20", dublin, 500},
		{"T19Nairobi", "16:34:10", nairobi, 450},
		{"T19Dublin", "16:34:10", dublin, 550},
		{"NoTrafficNoSlots", "16:34:10", delhi, 0},
		{"NobodyHadTraffic", "16:40:00", delhi, 250},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			share := publishedShareOf(c.own, all, publishedAt(c.now), 4)
			if got := publishedPart(1000, share, 1, 1<<63); got != c.slots {
				t.Errorf("%d of 1000 slots, want %d", got, c.slots)
			}
		})
	}
}

// TestPublishedParts are T20 to T25. A draw of 0 rounds up, the highest one down.
func TestPublishedParts(t *testing.T) {
	t.Parallel()
	anywhere := publishedAnywhere(200, 20, 30)
	for _, c := range []struct {
		name      string
		slots     int
		share     publishedShare
		workers   int
		low, high int
	}{
		{"T20Quarter", 20, publishedShare{25, 100}, 1, 5, 5},
		{"T20Rest", 20, publishedShare{75, 100}, 1, 15, 15},
		{"T21Center", 500, publishedShare{60, 100}, 1, 300, 300},
		{"T21OtherCenter", 500, publishedShare{40, 100}, 1, 200, 200},
		{"T21Worker", 500, publishedShare{60, 100}, 3, 100, 100},
		{"T22Center", 1800, publishedShare{60, 100}, 1, 1080, 1080},
		{"T22OtherCenter", 1800, publishedShare{40, 100}, 1, 720, 720},
		{"T22Worker", 1800, publishedShare{60, 100}, 3, 360, 360},
		{"T23Center", 2000, publishedShare{60, 100}, 1, 1200, 1200},
		{"T23OtherCenter", 2000, publishedShare{40, 100}, 1, 800, 800},
		{"T23Worker", 2000, publishedShare{60, 100}, 3, 400, 400},
		{"T24", 10, publishedShare{1, 1}, 2, 5, 5},
		{"T25SanJose", 150, publishedShare{20, 200}, 1, 15, 15},
		{"T25London", 150, publishedShare{30, 200}, 1, 22, 23},
		{"T25Anywhere", 150, publishedShare{anywhere, 200}, 1, 112, 113},
		{"LessThanOne", 1, publishedShare{1, 100}, 3, 0, 1},
		{"NoShare", 100, publishedShare{0, 100}, 1, 0, 0},
		{"NegativeShare", 100, publishedShare{-3, 100}, 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			low, high := publishedPart(c.slots, c.share, c.workers, math.MaxUint64), publishedPart(c.slots, c.share, c.workers, 0)
			if low != c.low || high != c.high {
				t.Errorf("%d to %d, want %d to %d", low, high, c.low, c.high)
			}
		})
	}
}

// TestPublishedPartsSum is the rounding rule: parts are never negative, each is less than one slot away
// from the exact share, so that all together are less than their number away from the slots, and they
// are the slots on average.
func TestPublishedPartsSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(-10, 5000).Draw(t, "slots")
		users := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 20).Draw(t, "users")
		workers := rapid.IntRange(1, 8).Draw(t, "workers")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		of := 0
		for _, n := range users {
			of += n
		}
		if of == 0 {
			return
		}
		sum, parts := 0, 0
		for _, n := range users {
			exact := float64(max(slots, 0)) * float64(n) / float64(of) / float64(workers)
			for range workers {
				part := publishedPart(slots, publishedShare{n, of}, workers, rng.Uint64())
				if part < 0 || math.Abs(float64(part)-exact) >= 1 {
					t.Fatalf("a part of %d, exactly %.3f", part, exact)
				}
				sum, parts = sum+part, parts+1
			}
		}
		if off := sum - max(slots, 0); off >= parts || -off >= parts {
			t.Fatalf("%d parts of %d slots are %d", parts, slots, sum)
		}
	})
}

func TestPublishedPartsOnAverage(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	sum := 0
	for range 30_000 {
		sum += publishedPart(1, publishedShare{3, 10}, 3, rng.Uint64()) // 0.1
	}
	if sum < 2800 || sum > 3200 {
		t.Errorf("%d of 30000, want about 3000", sum)
	}
}

// TestPublishedLaterParts are T26 to T28: own slots and those for anywhere, by utilisation.
func TestPublishedLaterParts(t *testing.T) {
	t.Parallel()
	quarter, steep := publishedUtilisation(50, 200, 1), publishedUtilisation(50, 200, 2)
	if quarter != 0.25 || steep != 0.0625 {
		t.Errorf("utilisation %v and %v, want 0.25 and 0.0625", quarter, steep)
	}
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"T26SanJose", publishedEven(15, 3) + publishedEven(113, 10), 16},
		{"T26Delhi", publishedEven(0, 1) + publishedEven(113, 10), 11},
		{"T27", publishedAdapted(113, 10, quarter), 45},
		{"T28OneWorkerAtLeast", publishedAdapted(113, 10, steep), 113},
		{"FullRoom", publishedAdapted(113, 10, publishedUtilisation(300, 200, 1)), 11},
		{"AllAnywhere", publishedAnywhere(200), 200},
		{"NoneAnywhere", publishedAnywhere(200, 150, 80), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.got != c.want {
				t.Errorf("%d, want %d", c.got, c.want)
			}
		})
	}
}

// TestPublishedUnevenWorkers are T29 and T30: what two workers do with ten slots.
func TestPublishedUnevenWorkers(t *testing.T) {
	t.Parallel()
	split := func(arrivals [2]int, part int) int {
		return min(arrivals[0], part) + min(arrivals[1], part)
	}
	counter := func(arrivals [2]int) int {
		c, in := publishedCounter{budget: 10}, 0
		for range arrivals[0] + arrivals[1] {
			if _, enters := c.take(); enters {
				in++
			}
		}
		return in
	}
	const low = 8 // the example's part of each when a tenth of the room is used
	for _, c := range []struct {
		name               string
		arrivals           [2]int
		even, low, counter int
	}{
		{"T29", [2]int{7, 1}, 6, 8, 8},
		{"T30", [2]int{8, 7}, 10, 15, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := [3]int{split(c.arrivals, publishedEven(10, 2)), split(c.arrivals, low), counter(c.arrivals)}
			if want := [3]int{c.even, c.low, c.counter}; got != want {
				t.Errorf("%d enter, want %d", got, want)
			}
		})
	}
}

// TestPublishedCounters are T31 and T32: the caller whose value is below the budget enters, the next one tries
// the counter for anywhere.
func TestPublishedCounters(t *testing.T) {
	t.Parallel()
	c := publishedCounter{budget: 10, value: 9}
	if value, enters := c.take(); value != 9 || !enters {
		t.Errorf("T31: value %d enters %v, want 9 true", value, enters)
	}
	if value, enters := c.take(); value != 10 || enters {
		t.Errorf("T31: value %d enters %v, want 10 false", value, enters)
	}
	own, anywhere, in := publishedCounter{budget: 15}, publishedCounter{budget: 113}, 0
	for range 200 {
		_, enters := own.take()
		if !enters {
			_, enters = anywhere.take()
		}
		if enters {
			in++
		}
	}
	if in != 128 {
		t.Errorf("T32: %d enter, want 128", in)
	}
}

// TestPublishedWaitTimes are T33 to T39 as the published algorithm shows them.
func TestPublishedWaitTimes(t *testing.T) {
	t.Parallel()
	now := publishedAt("15:57:10")
	line := publishedRoomOf(publishedWaiters(now, 148, map[string]int{"15:54:00": 2, "15:55:00": 50, "15:56:00": 60}), now, 5*time.Minute)
	line.reserve(line.slots(200, 200))
	ahead := line.ahead(publishedMinuteOf(publishedAt("15:56:00")))
	for _, c := range []struct {
		name              string
		got               queue.Estimate
		low, middle, high float64 // minutes
	}{
		{"T33", publishedLine(ahead, 30), 2, 2, 2},
		{"T34To36", publishedRace(100, 10), 2.73, 6.58, 13.16},
		{"T37", publishedRace(100, 5), 5.61, 13.51, 27.03},
		{"T38", publishedRace(100, 50), 0.42, 1, 2},
		{"T39EveryoneWithinAMinute", publishedRace(100, 200), 0.125, 0.25, 0.375},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			off := max(math.Abs(c.got.Low.Minutes()-c.low), math.Abs(c.got.Middle.Minutes()-c.middle), math.Abs(c.got.High.Minutes()-c.high))
			if !c.got.Known || off > 0.006 {
				t.Errorf("%+v, want %v, %v and %v min", c.got, c.low, c.middle, c.high)
			}
		})
	}
	for name, got := range map[string]queue.Estimate{
		"T39NobodyIsLetIn":     publishedRace(100, 0),
		"NobodyIsLetInToALine": publishedLine(10, 0),
		"OverADayInALine":      publishedLine(1441, 1),
		"OverADayInARace":      publishedRace(10_000, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got.Known {
				t.Errorf("%+v, want unknown", got)
			}
		})
	}
}

// TestPublishedRate is the mean over the current minute and the two before, or since the room opened.
func TestPublishedRate(t *testing.T) {
	t.Parallel()
	var tally publishedTally
	for clock, n := range map[string]int{"15:53:00": 1000, "15:54:00": 20, "15:55:00": 40, "15:56:00": 15} {
		tally = tally.with(publishedCell{kind: publishedAdmitted, minute: publishedMinuteOf(publishedAt(clock)), people: n})
	}
	for _, c := range []struct {
		name, now, opened string
		want              float64
	}{
		{"TwoAndAHalfMinutes", "15:56:30", "12:00:00", 30},
		{"OpenedLately", "15:56:30", "15:55:15", 60},
		{"AtLeastAMinute", "15:56:30", "15:56:20", 75},
		{"LongAgo", "16:30:00", "12:00:00", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := publishedRate(tally, publishedAt(c.now), publishedAt(c.opened)); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%v a minute, want %v", got, c.want)
			}
		})
	}
}

// TestPublishedTally compares the sorted cells with a plain map.
func TestPublishedTally(t *testing.T) {
	t.Parallel()
	cells := rapid.SliceOf(rapid.Custom(func(t *rapid.T) publishedCell {
		return publishedCell{
			kind:   publishedKind(rapid.IntRange(0, 3).Draw(t, "kind")),
			bucket: publishedMinute(rapid.IntRange(0, 3).Draw(t, "bucket")),
			minute: publishedMinute(rapid.IntRange(0, 4).Draw(t, "minute")),
			people: rapid.IntRange(-2, 3).Filter(func(n int) bool { return n != 0 }).Draw(t, "people"),
		}
	}))
	rapid.Check(t, func(t *rapid.T) {
		want := map[publishedCell]int{}
		sign := rapid.SampledFrom([]int{1, -1}).Draw(t, "sign")
		var sides [2]publishedTally
		for i, sign := range []int{1, sign} {
			for _, c := range cells.Draw(t, "cells") {
				sides[i] = sides[i].with(c)
				n := c.people * sign
				c.people = 0
				want[c] += n
			}
		}
		got := sides[0].plus(sides[1], sign)
		if !slices.IsSortedFunc(got, publishedCell.compare) {
			t.Fatalf("out of order: %v", got)
		}
		for _, c := range got {
			n := c.people
			if c.people = 0; n == 0 || want[c] != n {
				t.Fatalf("%+v counts %d, want %d", c, n, want[c])
			}
			delete(want, c)
		}
		for c, n := range want {
			if n != 0 {
				t.Fatalf("%+v is lost, want %d", c, n)
			}
		}
	})
}
