package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
)

// unit says how a figure is written.
type unit int

const (
	inCount unit = iota
	inShare      // of one, written in percent
	inSeconds
	inPerSecond
	inBytes // per second
	inPlain
)

// figure is one number of a result: its name in JSON, its title, how it is read and which end is bad.
type figure struct {
	key, title string
	unit       unit
	bad        int // 1: the more the worse; -1: the less the worse; 0: neither
	read       func(r *Result) float64
}

// figures lists every figure of a result. NaN is a figure that the run has none of.
func figures() []figure {
	fs := []figure{
		{"visitors", "visitors", inCount, 0, func(r *Result) float64 { return float64(r.Visitors) }},
		{"admitted", "admitted", inCount, 0, func(r *Result) float64 { return float64(r.Admitted) }},
		{"gave_up", "gave up", inCount, 0, func(r *Result) float64 { return float64(r.GaveUp) }},
		{"still_waiting", "still waiting", inCount, 0, func(r *Result) float64 { return float64(r.StillWaiting) }},
		{"over_users", "over users, max", inCount, 1, func(r *Result) float64 { return float64(r.OverUsers.Max) }},
		{"over_users_mean", "over users, mean", inPlain, 1, func(r *Result) float64 { return r.OverUsers.Mean }},
		{"over_rate", "over rate, max", inCount, 1, func(r *Result) float64 { return float64(r.OverRate.Max) }},
		{"over_rate_mean", "over rate, mean", inPlain, 1, func(r *Result) float64 { return r.OverRate.Mean }},
		{"broken", "broken invariants", inCount, 1, func(r *Result) float64 { return float64(r.BrokenCount) }},
		{"utilisation", "utilisation", inShare, -1, func(r *Result) float64 { return r.Utilisation }},
		{"lowest_use", "least use over 10 s", inShare, -1, func(r *Result) float64 { return r.LowestUse }},
		{"recovered_s", "back to 97 % use", inSeconds, 1, recoveryOf},
		{"needless", "needless waits", inShare, 1, func(r *Result) float64 { return r.Needless }},
	}
	fs = append(fs, orderFigures()...)
	fs = append(fs, waitFigures()...)
	fs = append(fs, estimateFigures()...)
	return append(fs, costFigures()...)
}

func recoveryOf(r *Result) float64 {
	if len(r.World.Faults) == 0 {
		return math.NaN()
	}
	return r.RecoveredIn.Seconds()
}

func orderFigures() []figure {
	return []figure{
		{"turns_inverted", "turns inverted", inShare, 1, ordered(func(r *Result) float64 { return r.TurnOrder.Any })},
		{"turns_inverted_1s", "turns inverted > 1 s", inShare, 1, ordered(func(r *Result) float64 { return r.TurnOrder.Seconds })},
		{"turns_inverted_max_s", "turns, longest inversion", inSeconds, 1, ordered(func(r *Result) float64 { return r.TurnOrder.Max.Seconds() })},
		{"entries_inverted", "entries inverted", inShare, 1, ordered(func(r *Result) float64 { return r.EntryOrder.Any })},
		{"entries_inverted_1s", "entries inverted > 1 s", inShare, 1, ordered(func(r *Result) float64 { return r.EntryOrder.Seconds })},
		{"entries_inverted_max_s", "entries, longest inversion", inSeconds, 1, ordered(func(r *Result) float64 { return r.EntryOrder.Max.Seconds() })},
		{"handover_mean_s", "turn to entry, mean", inSeconds, 1, func(r *Result) float64 { return r.HandoverMean.Seconds() }},
		{"handover_p95_s", "turn to entry, p95", inSeconds, 1, func(r *Result) float64 { return r.HandoverP95.Seconds() }},
	}
}

// ordered is a figure that only a room without a lottery has.
func ordered(read func(r *Result) float64) func(r *Result) float64 {
	return func(r *Result) float64 {
		if r.World.Room.Method == anteroom.Random {
			return math.NaN()
		}
		return read(r)
	}
}

func waitFigures() []figure {
	wait := func(p float64) figure {
		name := fmt.Sprintf("p%.0f", 100*p)
		return figure{"wait_" + name + "_s", "wait, " + name, inSeconds, 0, func(r *Result) float64 { return r.Wait(p).Seconds() }}
	}
	return []figure{
		wait(0.10), wait(0.50), wait(0.90), wait(0.99),
		{"wait_longest_s", "wait, longest", inSeconds, 0, func(r *Result) float64 { return r.Wait(1).Seconds() }},
	}
}

func estimateFigures() []figure {
	var fs []figure
	for q := range 4 {
		of := func(read func(e ErrorQuantiles) float64) func(r *Result) float64 {
			return func(r *Result) float64 {
				if r.Estimates[q].Samples == 0 {
					return math.NaN()
				}
				return read(r.Estimates[q])
			}
		}
		key, title := fmt.Sprintf("estimate_error_q%d", q+1), fmt.Sprintf("estimate error Q%d", q+1)
		fs = append(fs,
			figure{key, title + ", median", inShare, 1, of(func(e ErrorQuantiles) float64 { return e.Median })},
			figure{key + "_p90", title + ", p90", inShare, 1, of(func(e ErrorQuantiles) float64 { return e.P90 })})
	}
	return append(fs,
		figure{"first_range", "entered within first range", inShare, -1, func(r *Result) float64 {
			if r.FirstRanged == 0 {
				return math.NaN()
			}
			return r.FirstRange
		}},
		figure{"moved_later", "promise moved later > 10 %", inShare, 1, func(r *Result) float64 { return r.MovedLater }})
}

func costFigures() []figure {
	return []figure{
		{"messages_per_s", "messages", inPerSecond, 1, func(r *Result) float64 { return r.Messages }},
		{"messages_per_center_per_s", "messages per data center", inPerSecond, 1, func(r *Result) float64 {
			return r.Messages / float64(max(r.World.Network.Centers, 1))
		}},
		{"bytes_per_s", "bytes", inBytes, 1, func(r *Result) float64 { return r.Bytes }},
		{"polls_per_s", "polls", inPerSecond, 1, func(r *Result) float64 { return r.Polls }},
		{"peak_entries", "peak entries in 1 s", inCount, 1, func(r *Result) float64 { return float64(r.PeakEntries) }},
		{"chi_square", "chi²/dof", inPlain, 1, drawn(func(l LotteryFacts) float64 { return l.ChiSquare })},
		{"fast_rank", "rank of fast polls", inPlain, -1, drawn(func(l LotteryFacts) float64 { return l.Fast })},
		{"lucky_rank", "rank of lucky polls", inPlain, -1, drawn(func(l LotteryFacts) float64 { return l.Lucky })},
		{"cookies_rank", "rank, best of ten cookies", inPlain, -1, drawn(func(l LotteryFacts) float64 { return l.Cookies })},
	}
}

// drawn is a figure of a lottery; 0 stands for a strategy that nobody has.
func drawn(read func(l LotteryFacts) float64) func(r *Result) float64 {
	return func(r *Result) float64 {
		if v := read(r.Lottery); r.World.Room.Method == anteroom.Random && v != 0 {
			return v
		}
		return math.NaN()
	}
}

// text writes a value of the unit.
func (u unit) text(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	digits := func(v float64, after int) string {
		if v == 0 {
			return "0"
		}
		return strconv.FormatFloat(v, 'f', after, 64)
	}
	switch u {
	case inCount:
		return grouped(int64(math.Round(v)))
	case inShare:
		if v != 0 && math.Abs(v) < 0.0001 {
			return digits(100*v, 4) + " %"
		}
		return digits(100*v, 2) + " %"
	case inSeconds:
		return digits(v, 1) + " s"
	case inPerSecond:
		return digits(v, 1) + "/s"
	case inBytes:
		return digits(v/1000, 1) + " kB/s"
	case inPlain:
		return digits(v, 2)
	}
	panic(fmt.Sprintf("a figure of unit %d", u))
}

// bound writes a wanted value as shortly as people say it: 5 %, not 5.00 %.
func (u unit) bound(v float64) string {
	text := u.text(v)
	end := strings.LastIndexAny(text, "0123456789") + 1
	digits := text[:end]
	if strings.Contains(digits, ".") {
		digits = strings.TrimSuffix(strings.TrimRight(digits, "0"), ".")
	}
	return digits + text[end:]
}

// grouped writes a whole number with a comma after each three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
