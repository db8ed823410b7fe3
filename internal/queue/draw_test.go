package queue_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/queue"
)

// publicIDs makes the public ids of the tickets 0 to n-1.
func publicIDs(n int) []queue.ID {
	ids := make([]queue.ID, n)
	for i := range ids {
		sum := sha256.Sum256(fmt.Appendf(nil, "ticket %d", i))
		ids[i] = queue.PublicID(queue.ID(sum[:16]))
	}
	return ids
}

// drawSeed is 00 01 02 … 1f.
func drawSeed() queue.Seed {
	var s queue.Seed
	for i := range s {
		s[i] = byte(i)
	}
	return s
}

// TestDrawVectors compares with values that the program of docs/draw.md computes.
func TestDrawVectors(t *testing.T) {
	t.Parallel()
	var id queue.ID
	if err := id.UnmarshalText([]byte("3a1b897888a1927bb82641893311985d")); err != nil {
		t.Fatal(err)
	}
	final := func(external string) string {
		f := queue.FinalSeed(drawSeed(), []byte(external))
		return hex.EncodeToString(f[:])
	}
	for _, c := range []struct{ name, got, want string }{
		{"PublicID", queue.PublicID(id).String(), "b0c3fb32e6360b30c006d6606bed88b7"},
		{"Root", queue.MerkleRoot([]queue.ID{queue.PublicID(id)}).String(), "7ef33be72476c106af243bfd2d982c4c7b2e437a55bd225b4ea9f22be28abeb7"},
		{"Commitment", queue.DrawCommitment("tickets é", 258, queue.DrawShuffle, drawSeed()).String(), "afad56d1a42728b462b199d76d403c3eb324fe23c6e47e8d7936fd24b0c93c87"},
		{"FinalAlone", final(""), "c17f9c7bab598533feb696190925f81bf6b58cdd29d348bdb976bf4278b76869"},
		{"FinalExternal", final("\x00\xff\x10"), "82dfda8ba55098ed59124fbb9995b4cee890593b0ace65d34954cd880bd193d0"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	for _, c := range []struct {
		method   queue.DrawMethod
		external string
		keys     [2]int64 // of the first two tickets; in a lottery they joined at 5
	}{
		{queue.DrawShuffle, "", [2]int64{1700464923, 2370393046}},
		{queue.DrawShuffle, "\x00\xff\x10", [2]int64{1834941085, 826359617}},
		{queue.DrawRandom, "", [2]int64{3335552079, 2139797370}},
		{queue.DrawRandom, "\x00\xff\x10", [2]int64{3061553643, 5933409013}},
	} {
		r := drawRecord(c.method, 2, 0)
		r.External = queue.DrawExternal{Value: queue.HexBytes(c.external)}
		if c.method == queue.DrawRandom {
			for i := range r.Tickets {
				r.Tickets[i].Late, r.Tickets[i].Base = true, 5
			}
		}
		r.Complete()
		for i, id := range publicIDs(2) {
			if got := keyOf(t, r, id); got != c.keys[i] {
				t.Errorf("%s with %x: ticket %d has the key %d, want %d", c.method, c.external, i, got, c.keys[i])
			}
		}
	}
}

func keyOf(t *testing.T, r *queue.DrawRecord, id queue.ID) int64 {
	t.Helper()
	for _, ticket := range r.Tickets {
		if ticket.ID == id {
			return ticket.Key
		}
	}
	t.Fatalf("no ticket %v", id)
	return 0
}

// TestDrawIsFair: the place says nothing about the arrival, whichever the method, also for ids that
// count up. Bounds are those that a fair draw passes but once in a million.
func TestDrawIsFair(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for _, method := range queue.DrawMethods() {
		r := &queue.DrawRecord{Room: "tickets", Method: method, Seed: queue.Hash(drawSeed()), Tickets: make([]queue.DrawTicket, n)}
		arrival := map[queue.ID]int{}
		for i := range n {
			id := queue.PublicID(queue.ID{14: byte(i >> 8), 15: byte(i)})
			r.Tickets[i].ID = id
			arrival[id] = i
		}
		r.Complete()
		var table [10][10]float64
		for i, ticket := range r.Tickets {
			table[arrival[ticket.ID]*10/n][i*10/n]++
		}
		chi := 0.0
		for _, row := range table {
			for _, seen := range row {
				chi += (seen - n/100) * (seen - n/100) / (n / 100)
			}
		}
		if chi < 33 || chi > 155 { // 81 degrees of freedom
			t.Errorf("%s: chi-square %.1f of arrival against place, fair is 81", method, chi)
		}
	}
}

// TestDrawShuffleKeysAreUniform: the keys fill their range evenly.
func TestDrawShuffleKeysAreUniform(t *testing.T) {
	t.Parallel()
	const n = 20_000
	r := drawRecord(queue.DrawShuffle, n, 0)
	var seen [100]float64
	for _, ticket := range r.Tickets {
		seen[ticket.Key/(1<<32/100+1)]++
	}
	chi := 0.0
	for _, s := range seen {
		chi += (s - n/100) * (s - n/100) / (n / 100)
	}
	if chi < 44 || chi > 180 { // 99 degrees of freedom
		t.Errorf("chi-square %.1f of keys, uniform is 99", chi)
	}
}

// TestCommitmentsDiffer: texts that run together must not share a commitment.
func TestCommitmentsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[queue.Hash]string{}
	for _, room := range []string{"a", "a\x00", "a\x00\x00", "b", ""} {
		for _, number := range []uint64{0, 1, 256, 1 << 56} {
			for _, seed := range []queue.Seed{{}, {0: 1}, {31: 1}} {
				for _, method := range queue.DrawMethods() {
					name := fmt.Sprintf("%q %d %s %x", room, number, method, seed)
					h := queue.DrawCommitment(room, number, method, seed)
					if other, taken := seen[h]; taken {
						t.Errorf("%s and %s have one commitment", name, other)
					}
					seen[h] = name
				}
			}
		}
	}
}

func TestPublicIDText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "b0c3", strings.Repeat("g", 32), strings.Repeat("0", 33), strings.Repeat("é", 16)} {
		var id queue.ID
		if err := id.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for %v", text, id)
		}
	}
}
