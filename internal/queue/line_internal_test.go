package queue

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLineAgainstSortedSlice compares every operation with a plain sorted slice.
func TestLineAgainstSortedSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var l line
		var want []place
		keys := rapid.Int64Range(0, rapid.SampledFrom([]int64{3, 5000, math.MaxInt64}).Draw(t, "spread"))
		for slot := range uint32(rapid.IntRange(1, 3000).Draw(t, "steps")) {
			if len(want) > 0 && rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				p := rapid.SampledFrom(want).Draw(t, "victim")
				i, _ := slices.BinarySearchFunc(want, p, new(line).compare)
				want = slices.Delete(want, i, i+1)
				if !l.remove(p) || l.remove(p) {
					t.Fatalf("remove(%v) must succeed once", p)
				}
				continue
			}
			p := place{keys.Draw(t, "key"), slot}
			i, _ := slices.BinarySearchFunc(want, p, new(line).compare)
			want = slices.Insert(want, i, p)
			l.insert(p)
		}
		got := slices.Collect(l.all)
		if !slices.Equal(got, want) {
			t.Fatalf("order differs: got %v want %v", got, want)
		}
		for i, p := range want {
			if l.rank(p) != i {
				t.Fatalf("rank(%v) = %d, want %d", p, l.rank(p), i)
			}
		}
		if l.len() != len(want) {
			t.Fatalf("len = %d, want %d", l.len(), len(want))
		}
	})
}

func TestLineKeepsFullChunksWhileItGrows(t *testing.T) {
	t.Parallel()
	var l line
	for i := range uint32(100 * chunkMax) {
		l.insert(place{int64(i), i})
	}
	if len(l.chunks) != 100 {
		t.Errorf("%d chunks for 100 chunks' worth of arrivals", len(l.chunks))
	}
}

func TestWheelNeverEarlyAndAtMostAGrainLate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWheel(50, 0)
		at := map[uint32]int64{}
		now := int64(0)
		for slot := range uint32(rapid.IntRange(1, 200).Draw(t, "steps")) {
			at[slot] = now + rapid.Int64Range(-10, 500).Draw(t, "in")
			w.add(at[slot], slot)
			now += rapid.Int64Range(0, 100).Draw(t, "pass")
			w.due(now, func(s uint32, _ int64) {
				if at[s] > now {
					t.Fatalf("slot %d came at %d, before %d", s, now, at[s])
				}
				delete(at, s)
			})
			for s, due := range at {
				if due+2*50 < now {
					t.Fatalf("slot %d due at %d is still there at %d", s, due, now)
				}
			}
		}
	})
}

func TestNegLogAgainstFloats(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.Uint64().Draw(t, "u") >> rapid.IntRange(0, 63).Draw(t, "shift")
		want := 64*math.Ln2 - math.Log(float64(u)+1)
		got := float64(negLog(u)) / (1 << 32)
		if math.Abs(got-want) > 1e-7*(1+want) && math.Abs(got-want) > 2e-9 {
			t.Fatalf("negLog(%d) = %.12f, want %.12f", u, got, want)
		}
	})
}

func TestDrawIsStable(t *testing.T) {
	t.Parallel()
	// The draw is part of what an outsider recomputes: it must never change.
	if got := (Seed{1, 2, 3}).draw(ID{4, 5, 6}); got != 6484006264 {
		t.Errorf("draw = %d, want 6484006264", got)
	}
}

// TestDrawsAreFairInEveryRound: at any moment the next winner is any of those who wait, with the same
// chance, however long they have waited. Eleven wait, five are drawn, five newcomers join: the next
// one is a newcomer in five of eleven cases.
func TestDrawsAreFairInEveryRound(t *testing.T) {
	t.Parallel()
	const rounds = 20000
	newcomers := 0
	for round := range uint32(rounds) {
		var keys [11]int64
		lot := func(i int) int64 {
			return Seed{1}.draw(ID{byte(round), byte(round >> 8), byte(round >> 16), byte(i)})
		}
		for i := range keys {
			keys[i] = lot(i)
		}
		slices.Sort(keys[:])
		frontier, best := keys[4], keys[5]
		for i := range 5 {
			if frontier+1+lot(100+i) < best {
				newcomers++
				break
			}
		}
	}
	// A newcomer is first with 5/11; four standard deviations are 0.014.
	if got := float64(newcomers) / rounds; math.Abs(got-5.0/11) > 0.014 {
		t.Errorf("newcomers won %.4f of the rounds, fair is %.4f", got, 5.0/11)
	}
}

// TestDrawnKeysTieByPublicID: equal keys of a draw go by public id, as in its record, in any order of
// coming; those of a line of arrivals go as they came.
func TestDrawnKeysTieByPublicID(t *testing.T) {
	t.Parallel()
	for _, drawn := range []bool{false, true} {
		r := newRegistry(0)
		r.emptyLines(drawn)
		var want []ID
		for i := range byte(200) {
			id := ID{i, 1}
			r.add(ticket{id: id, key: 7})
			want = append(want, id)
		}
		if drawn {
			slices.SortFunc(want, func(a, b ID) int { return compareIDs(PublicID(a), PublicID(b)) })
		}
		for rank, id := range want {
			slot, tk, _ := r.find(id)
			if got, _ := r.rank(slot, tk); got != rank {
				t.Fatalf("drawn %v: ticket %v has the rank %d, want %d", drawn, id, got, rank)
			}
		}
		for rank := range want {
			slot, tk, _ := r.find(want[len(want)-1-rank])
			r.drop(slot, tk)
		}
		if n := r.lines[0].len(); n != 0 {
			t.Errorf("drawn %v: %d tickets are left in line", drawn, n)
		}
	}
}
