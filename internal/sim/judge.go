package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// order is one visitor in the order of events: when they arrived, and when it was their turn.
type order struct{ arrived, at time.Time }

// judgeOrder compares arrivals with entries and turns. Who was not there when the line came to their place has
// a turn only by name: it says when the data center noticed that others had passed, or when they were back.
// Such visitors, and those who stand in line anew, are not in the order of turns; whoever was away at any time
// is not in that of entries. A lottery has neither.
func (r *run) judgeOrder(out *Result) {
	var entries, turns []order
	var handover []time.Duration
	for _, v := range r.people.all {
		if v.anew {
			continue
		}
		if v.inside && !v.wasAway {
			entries = append(entries, order{v.arrived, v.entered})
		}
		if v.turn.IsZero() {
			continue
		}
		if !v.passed {
			turns = append(turns, order{v.arrived, v.turn})
		}
		if v.inside && !v.wasAway && v.entered.After(v.arrived) {
			handover = append(handover, v.entered.Sub(v.turn))
		}
	}
	slices.Sort(handover)
	if n := len(handover); n > 0 {
		sum := time.Duration(0)
		for _, d := range handover {
			sum += d
		}
		out.HandoverMean, out.HandoverP95 = sum/time.Duration(n), handover[n*95/100]
	}
	if !isLottery(&r.w) && len(r.w.Room.Classes) == 0 && !r.w.Room.Shuffle {
		out.EntryOrder, out.TurnOrder = inversions(entries), inversions(turns)
	}
}

// inversions counts pairs of whom the later arrival came first.
func inversions(list []order) (out Inversions) {
	slices.SortStableFunc(list, func(a, b order) int { return cmp.Or(a.at.Compare(b.at), a.arrived.Compare(b.arrived)) })
	arrivals := make([]time.Time, len(list))
	for i, o := range list {
		arrivals[i] = o.arrived
	}
	slices.SortFunc(arrivals, time.Time.Compare)
	tree := make([]int32, len(list)+1)
	later := func(done int, than time.Time) int { // how many of those done arrived after a moment
		i, _ := slices.BinarySearchFunc(arrivals, than, func(a, b time.Time) int {
			if a.After(b) {
				return 1
			}
			return -1
		})
		sum := int32(0)
		for ; i > 0; i -= i & -i {
			sum += tree[i]
		}
		return done - int(sum)
	}
	all, seconds, latest := 0, 0, time.Time{}
	for n, o := range list {
		all += later(n, o.arrived)
		seconds += later(n, o.arrived.Add(time.Second))
		out.Max = max(out.Max, latest.Sub(o.arrived))
		if o.arrived.After(latest) {
			latest = o.arrived
		}
		i, _ := slices.BinarySearchFunc(arrivals, o.arrived, time.Time.Compare)
		for i++; i < len(tree); i += i & -i {
			tree[i]++
		}
	}
	if n := len(list); n > 1 {
		pairs := float64(n) * float64(n-1) / 2
		out.Any, out.Seconds = float64(all)/pairs, float64(seconds)/pairs
	} else {
		out.Max = 0
	}
	return out
}

// Samples of estimates count for visitors who waited at least estimateWait, while at least estimateLeft
// is left. A move of the promise is one by over a tenth of the wait.
const (
	estimateWait = time.Minute
	estimateLeft = 20 * time.Second
	promiseSlack = 10
)

// estimates gathers what visitors were shown.
type estimates struct {
	errs                  [4][]float64
	samples, later        int
	unexplained           int
	firstSeen, firstRight int
}

// judgeEstimates compares what visitors were shown with what happened.
func (r *run) judgeEstimates(out *Result) {
	var sum estimates
	for _, v := range r.people.all {
		if v.inside && !v.wasAway && v.strategy == obedient && v.entered.Sub(v.arrived) >= estimateWait {
			sum.add(v)
		}
	}
	for q, errs := range sum.errs {
		slices.Sort(errs)
		if n := len(errs); n > 0 {
			out.Estimates[q] = ErrorQuantiles{errs[n/2], errs[n*9/10], n}
		}
	}
	out.MovedLater, out.Unexplained = part(sum.later, sum.samples), sum.unexplained
	out.FirstRange, out.FirstRanged = part(sum.firstRight, sum.firstSeen), sum.firstSeen
}

// add takes in what one visitor was shown.
func (s *estimates) add(v *visitor) {
	wait := v.entered.Sub(v.arrived)
	for i, t := range v.told {
		// The ticket is registered with the second request, and the promise is kept from then on.
		if i > 1 && t.unexplained(v.told[i-1], v.arrived) {
			s.unexplained++
		}
		left := v.entered.Sub(t.at)
		if left < estimateLeft {
			continue
		}
		q := min(3, int(4*t.at.Sub(v.arrived)/wait))
		s.errs[q] = append(s.errs[q], (t.mid-left).Abs().Seconds()/left.Seconds())
		s.samples++
		if i > 0 && t.at.Add(t.mid).Sub(v.told[i-1].at.Add(v.told[i-1].mid)) > wait/promiseSlack {
			s.later++
		}
	}
	if v.haveFirst {
		s.firstSeen++
		if left := v.entered.Sub(v.first.at); left >= v.first.low-promiseGrain && left <= v.first.high+promiseGrain {
			s.firstRight++
		}
	}
}

// shown is the moment of entry that a visitor reads as a promise: the end of a range.
func (t told) shown() time.Time {
	if t.ranged {
		return t.at.Add(t.high)
	}
	return t.at.Add(t.mid)
}

// unexplained tells that what was shown before has moved later without a reason.
func (t told) unexplained(before told, arrived time.Time) bool {
	slack := max(promiseLeast, before.shown().Sub(arrived)/promiseSlack) + tellGrain
	return t.reason == queue.ReasonNone && t.shown().Sub(before.shown()) > slack
}

// promiseLeast is the least move of a promise that anybody sees, tellGrain the grain in which the room
// remembers promises.
const (
	promiseLeast = 10 * time.Second
	tellGrain    = 200 * time.Millisecond
)

// promiseGrain is the grain in which waits are shown: half a minute to both sides is the same minute.
const promiseGrain = 30 * time.Second

// judgeLottery compares arrivals and strategies with the order of entries, among those who waited when most
// did: whoever waits at a moment has the same chance from then on, whenever they came.
func (r *run) judgeLottery(out *Result) {
	if !isLottery(&r.w) {
		return
	}
	most := Point{}
	for _, p := range r.look.series {
		if p.Waiting > most.Waiting {
			most = p
		}
	}
	peak := r.e.start.Add(most.At)
	var drawn []*visitor
	for _, v := range r.people.all {
		if v.inside && !v.anew && v.arrived.Before(peak) && v.entered.After(peak) {
			drawn = append(drawn, v)
		}
	}
	slices.SortStableFunc(drawn, func(a, b *visitor) int { return a.entered.Compare(b.entered) })
	rank := make(map[*visitor]float64, len(drawn))
	for i, v := range drawn {
		rank[v] = float64(i) / float64(len(drawn))
	}
	mean := func(of strategy) float64 {
		sum, n := 0.0, 0
		for v, x := range rank {
			if v.strategy == of {
				sum += x
				n++
			}
		}
		if n == 0 {
			return 0
		}
		return sum / float64(n)
	}
	out.Lottery = LotteryFacts{chiSquare(drawn, rank), mean(fast), mean(lucky), mean(greedy)}
}

// chiSquare compares the deciles of arrival with those of the draw, for those who waited all through: about 1
// when they are independent. The table has (10-1)^2 degrees of freedom.
func chiSquare(drawn []*visitor, rank map[*visitor]float64) float64 {
	if len(drawn) < 1000 {
		return 0
	}
	byArrival := slices.Clone(drawn)
	slices.SortStableFunc(byArrival, func(a, b *visitor) int { return a.arrived.Compare(b.arrived) })
	var table [10][10]float64
	for i, v := range byArrival {
		table[i*10/len(byArrival)][int(rank[v]*10)]++
	}
	want, chi := float64(len(drawn))/100, 0.0
	for _, row := range table {
		for _, seen := range row {
			chi += (seen - want) * (seen - want) / want
		}
	}
	return chi / 81
}

// waitQuantile is the wait below which the share p of those who entered stayed.
func waitQuantile(passages []Passage, p float64) time.Duration {
	var waits []time.Duration
	for _, x := range passages {
		if x.Entered {
			waits = append(waits, x.Waited)
		}
	}
	if len(waits) == 0 {
		return 0
	}
	slices.Sort(waits)
	return waits[min(len(waits)-1, int(p*float64(len(waits))))]
}
