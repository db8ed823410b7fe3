package simulation_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/sim"
)

// lotteryNames are the worlds of the lottery: with the room's own intervals and with plain ones of 20 s.
func lotteryNames() []string { return []string{"lottery", "lottery-20s"} }

// lotterySeeds is how many draws are pooled. The mean of so many chi-squares per degree of freedom is one
// per degree of freedom of all of them together; a fair draw's is 1 with a standard deviation of 0.09. The
// mean rank of the 4 % who poll in one way is that of all of them, for they are about as many in each run,
// and a fair one's is 0.5 with 0.01.
const lotterySeeds = 3

// drawn is when everybody who came with the crowd has entered.
const drawn = 35 * time.Minute

// TestLottery: the draw knows neither who came first nor who asks more often.
func TestLottery(t *testing.T) {
	t.Parallel()
	for _, name := range lotteryNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var worlds []sim.World
			for seed := range uint64(lotterySeeds) {
				w := named(t, name, seed+1)
				w.Duration = drawn
				worlds = append(worlds, w)
			}
			var chi, fast, lucky float64
			for _, r := range play(t, worlds...) {
				chi += r.Lottery.ChiSquare / lotterySeeds
				fast += r.Lottery.Fast / lotterySeeds
				lucky += r.Lottery.Lucky / lotterySeeds
				t.Logf("seed %d: %+v", r.World.Seed, r.Lottery)
			}
			if chi <= 0 || chi >= 1.5 {
				t.Errorf("chi-square of arrivals and draws per degree of freedom is %.2f, want below 1.5", chi)
			}
			for way, rank := range map[string]float64{"fast": fast, "lucky": lucky} {
				if rank < 0.45 || rank > 0.55 {
					t.Errorf("the mean rank of the %s is %.3f, want 0.45 to 0.55", way, rank)
				}
			}
		})
	}
}
