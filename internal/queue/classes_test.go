package queue_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// TestClassesShareByWeight: three classes wait with the weights 1, 2 and 4. Each gets its part of the turns and
// keeps its own order.
func TestClassesShareByWeight(t *testing.T) {
	t.Parallel()
	set := fifo(70, 100000, 30*time.Second)
	set.Weights = [queue.ClassesMax]int{1, 2, 4}
	f := newFleet(t, set, "a", "b")
	f.fill("a", 70)
	f.settle()
	var line []*person
	class := map[*person]uint8{}
	home := map[*person]string{}
	for i := range 300 {
		name := []string{"a", "b"}[i%2]
		p := f.comeIn(name, uint8(i%3))
		class[p], home[p] = uint8(i%3), name
		line = append(line, p)
		f.at(name, p, class[p])
	}
	f.settle()
	entered := [3]int{}
	for range 200 { // until the first seventy have left and seventy others are in
		f.exchange(f.global)
		for _, p := range line {
			if p.cookie.Verdict != queue.Admitted && f.at(home[p], p, class[p]) {
				entered[class[p]]++
			}
		}
		if entered[0]+entered[1]+entered[2] >= 70 {
			break
		}
	}
	if entered != [3]int{10, 20, 40} {
		t.Errorf("of 70 entries the classes got %v, want 10, 20 and 40", entered)
	}
	seen := [3]bool{}
	for _, p := range line { // in order of arrival: within a class nobody enters after one who waits
		in := p.cookie.Verdict == queue.Admitted
		if in && seen[class[p]] {
			t.Fatal("somebody of a class entered before one who came earlier")
		}
		seen[class[p]] = seen[class[p]] || !in
	}
}

// TestUnknownClassIsTheFirst: a class without a weight is class 0.
func TestUnknownClassIsTheFirst(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(1, 100, time.Minute), "a")
	f.fill("a", 1)
	first, second := f.comeIn("a", 9), f.comeIn("a", 3)
	f.now = f.now.Add(time.Second)
	f.at("a", first, 9)
	f.at("a", second, 3)
	if first.cookie.Position != 1 || second.cookie.Position != 2 {
		t.Errorf("places %d and %d, want 1 and 2", first.cookie.Position, second.cookie.Position)
	}
}
