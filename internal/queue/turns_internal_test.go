package queue

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestRoundsShareEverythingByWeight: no turn is lost, nobody gets more than waits, and while all classes wait
// the parts follow the weights over any number of small shares.
func TestRoundsShareEverythingByWeight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var weights, backlog, sum [ClassesMax]int
		for class := range weights {
			weights[class] = rapid.IntRange(1, 5).Draw(t, "weight")
			backlog[class] = 100000
			if rapid.IntRange(0, 2).Draw(t, "empty") == 0 {
				backlog[class] = 0
			}
		}
		var r rounds
		total := 0
		for range rapid.IntRange(1, 40).Draw(t, "shares") {
			turns := rapid.IntRange(0, 50).Draw(t, "turns")
			given := r.share(turns, backlog, weights)
			n := 0
			for class, g := range given {
				if g > backlog[class] {
					t.Fatalf("class %d got %d turns for %d tickets", class, g, backlog[class])
				}
				sum[class] += g
				n += g
			}
			if waiting(backlog) && n != turns {
				t.Fatalf("%d of %d turns were given", n, turns)
			}
			total += n
		}
		weight := 0
		for class, b := range backlog {
			if b > 0 {
				weight += weights[class]
			}
		}
		for class, got := range sum {
			if backlog[class] == 0 || weight == 0 {
				continue
			}
			if want := total * weights[class] / weight; got < want-weights[class]-1 || got > want+weights[class]+1 {
				t.Fatalf("class %d of weight %d got %d of %d turns, want about %d", class, weights[class], got, total, want)
			}
		}
	})
}

func waiting(backlog [ClassesMax]int) bool {
	for _, n := range backlog {
		if n > 0 {
			return true
		}
	}
	return false
}

// TestPacingHoldsTheRate: after the first burst no more turns than the rate allows, over any span.
func TestPacingHoldsTheRate(t *testing.T) {
	t.Parallel()
	s := Settings{NewUsersPerMinute: 600, Pacing: 5 * time.Second}
	var b bucketOfTurns
	given := 0
	for i := range int64(600) {
		n := b.level(i*second/10, s)
		b.take(n)
		given += n
		if most := 50 + int(i) + 1; given > most {
			t.Fatalf("%d turns after %d tenths of a second, at most %d", given, i, most)
		}
	}
	if given < 640 {
		t.Errorf("%d turns in a minute, want 50 at once and 10 a second", given)
	}
}

// TestRoomTimeIsMeasured: an offset of two seconds, ways of different length; the error is at most half of the
// difference, and a better measurement wins.
func TestRoomTimeIsMeasured(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.Int64Range(-2*second, 2*second).Draw(t, "offset")
		var r roomTime
		worst := int64(0)
		now := 1000 * second
		for range rapid.IntRange(1, 20).Draw(t, "grants") {
			up := rapid.Int64Range(milli, 200*milli).Draw(t, "up")
			down := rapid.Int64Range(milli, 200*milli).Draw(t, "down")
			hold := rapid.Int64Range(0, second).Draw(t, "hold")
			g := Grant{Echo: now, Heard: now + up + offset, Sent: now + up + hold + offset}
			now += up + hold + down
			r.measure(now, g)
			worst = max(worst, (max(up, down)-min(up, down)+1)/2)
			if d := r.shift - offset; max(d, -d) > worst {
				t.Fatalf("the room's time is %d us wrong, at most %d", d, worst)
			}
		}
	})
}
