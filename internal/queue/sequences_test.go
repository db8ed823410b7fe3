package queue_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// inside checks that so many at most of some people are in.
func (f *fleet) inside(limit int, groups ...[]*person) {
	f.t.Helper()
	n := 0
	for _, g := range groups {
		for _, p := range g {
			if p.cookie.Verdict == queue.Admitted {
				n++
			}
		}
	}
	if n > limit {
		f.t.Errorf("%d visitors inside, the limit is %d", n, limit)
	}
}

// stay checks that sessions go on.
func (f *fleet) stay(name string, people []*person) {
	f.t.Helper()
	for i, p := range people {
		if !f.at(name, p, 0) {
			f.t.Errorf("visitor %d was thrown out of %s", i, name)
		}
	}
}

// storm lets a crowd try to get in.
func (f *fleet) storm(name string, n, rounds int) []*person {
	out := make([]*person, n)
	for i := range out {
		out[i] = f.come(name)
	}
	for range rounds {
		f.exchange(f.global)
		for _, p := range out {
			if p.cookie.Verdict != queue.Admitted {
				p.cookie.LastSeen = f.now
				f.at(name, p, 0)
			}
		}
	}
	return out
}

// TestDelayedReportDoesNotReopenAnAccount: a report from before a crash arrives after the new incarnation was
// heard of.
func TestDelayedReportDoesNotReopenAnAccount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  queue.Settings
	}{{"Rights", fifo(20, 1000, time.Minute)}, {"Permits", fifo(1000, 20, time.Minute)}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, c.set, "a", "b")
			stale := f.locals["a"].Report(f.now)
			first := f.fill("a", 18)
			f.settle()
			last := f.locals["a"].Report(f.now)
			f.start("a", 2, false)
			f.global.Report(f.now, f.locals["a"].Report(f.now))
			f.global.Report(f.now, stale)
			f.global.Report(f.now, last)
			f.settle()
			more := f.storm("b", 30, 20)
			f.stay("a", first)
			f.inside(20, first, more)
		})
	}
}

// TestAccountNeverFallsBelowZero: two delayed reports of an incarnation that has given everything back.
func TestAccountNeverFallsBelowZero(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(20, 1000, time.Minute), "a", "b")
	stale := f.locals["a"].Report(f.now)
	first := f.fill("a", 16)
	f.settle()
	for _, p := range first {
		f.locals["a"].End(f.now, p.cookie.ID)
	}
	for range 3 {
		f.storm("b", 12, 4)
	}
	f.settle()
	last := f.locals["a"].Report(f.now)
	f.start("a", 2, false)
	f.global.Report(f.now, f.locals["a"].Report(f.now))
	f.global.Report(f.now, stale)
	f.global.Report(f.now, last)
	f.settle()
	if rights, _ := f.locals["a"].Accounts(); rights.Granted > 1000 {
		t.Errorf("a is granted %d rights", rights.Granted)
	}
}

// guests lets twelve of twenty visitors of a full room move from a to b; a has let their rights go, and nobody
// has heard of that yet.
func guests(t *testing.T) (f *fleet, movers []*person) {
	t.Helper()
	f = newFleet(t, fifo(20, 1000, time.Minute), "a", "b")
	movers = f.fill("a", 20)[:12]
	f.settle()
	for _, p := range movers {
		f.at("b", p, 0)
	}
	f.now = f.now.Add(200 * time.Millisecond)
	for _, n := range f.names() {
		f.global.Report(f.now, f.locals[n].Report(f.now))
	}
	f.deliver(f.decide(f.global))
	return f, movers
}

// TestReleasedRightsWaitForAnUnheardHost: the next leader hears the former home first.
func TestReleasedRightsWaitForAnUnheardHost(t *testing.T) {
	t.Parallel()
	f, movers := guests(t)
	b := f.locals["b"]
	delete(f.locals, "b") // out of the next leader's reach for four seconds
	f.global = f.lead(2)
	more := f.storm("a", 20, 20)
	f.locals["b"] = b
	f.stay("b", movers)
	f.inside(12, movers, more) // eight others are at a
}

// TestForgottenGuestsAreInherited: the host loses its memory while the rights of its guests are under way.
func TestForgottenGuestsAreInherited(t *testing.T) {
	t.Parallel()
	f, movers := guests(t)
	f.start("b", 2, false)
	f.settle()
	more := f.storm("a", 20, 20)
	f.stay("b", movers)
	f.inside(12, movers, more)
}

// TestGuestsDoNotEatTheQuarantine: guests come before the new incarnation knows what it inherits.
func TestGuestsDoNotEatTheQuarantine(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(20, 1000, time.Minute), "a", "b")
	ina, inb := f.fill("a", 10), f.fill("b", 10)
	f.settle()
	f.start("b", 2, false)
	for _, p := range ina {
		f.at("b", p, 0)
	}
	f.settle()
	more := f.storm("a", 20, 20)
	f.stay("b", inb)
	f.inside(20, ina, inb, more)
}

// TestVisitorsWhoBounce: there and back within half a second. One data center keeps the right.
func TestVisitorsWhoBounce(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(30, 3000, time.Minute), "a", "b")
	bouncing := f.fill("a", 10)
	f.settle()
	f.now = f.now.Add(5 * time.Second)
	f.stay("a", bouncing)
	for _, n := range []string{"b", "a"} {
		f.now = f.now.Add(150 * time.Millisecond)
		f.stay(n, bouncing)
	}
	f.settle()
	more := append(f.storm("a", 30, 10), f.storm("b", 30, 10)...)
	f.stay("a", bouncing)
	f.inside(30, bouncing, more)
}

// TestReleaseIsPaidOnce: the old leader has given a released right, the next one is told of the release again.
func TestReleaseIsPaidOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(10, 1000, time.Minute), "a", "b")
	first := f.fill("a", 10)
	f.settle()
	a, b := f.locals["a"], f.locals["b"]
	report := func(l *queue.Local) { f.global.Report(f.now, l.Report(f.now)) }
	toB := func(grants []queue.Addressed) {
		for _, g := range grants {
			if g.DataCenter == "b" {
				b.Grant(f.now, g.Grant)
			}
		}
	}
	f.at("b", first[0], 0)
	report(b)
	f.deliver(f.decide(f.global))
	f.now = f.now.Add(200 * time.Millisecond)
	report(a)
	toB(f.decide(f.global)) // b is paid; the acknowledgement to a is lost
	f.global = f.lead(2)
	f.now = f.now.Add(400 * time.Millisecond)
	f.deliver(f.decide(f.global))
	f.at("b", first[1], 0)
	report(b)
	report(a)
	toB(f.decide(f.global))
	if n := f.held("a") + f.held("b"); n > 10 {
		t.Errorf("%d rights of 10 are out", n)
	}
}

// TestClassThatLosesItsWeight: tickets that wait in it are still served, and nothing breaks.
func TestClassThatLosesItsWeight(t *testing.T) {
	t.Parallel()
	set := fifo(1, 1000, 20*time.Second)
	set.Weights[0], set.Weights[1] = 1, 2
	f := newFleet(t, set, "a", "b")
	f.fill("a", 1)
	f.settle()
	p := f.comeIn("a", 1)
	f.at("a", p, 1)
	f.settle()
	set.Weights[1] = 0
	f.locals["a"].Configure(f.now, set)
	f.global.Configure(f.now, set)
	for range 130 {
		f.exchange(f.global)
		p.cookie.LastSeen = f.now
		if f.at("a", p, 1) {
			return
		}
	}
	t.Error("a ticket of a class without a weight is never served")
}

// TestMethodReachesDataCentersOneByOne: a lottery becomes a line, and one data center hears of it 600 ms later.
func TestMethodReachesDataCentersOneByOne(t *testing.T) {
	t.Parallel()
	set := fifo(5, 1000, time.Minute)
	set.Method = anteroom.Random
	f := newFleet(t, set, "a", "b")
	f.fill("a", 5)
	f.settle()
	all := map[string][]*person{}
	for range 50 {
		for _, n := range f.names() {
			p := f.come(n)
			f.at(n, p, 0)
			all[n] = append(all[n], p)
		}
	}
	f.settle()
	f.now = f.now.Add(8 * time.Second)
	for range 11 {
		f.now = f.now.Add(5 * time.Second)
		for _, n := range f.names() {
			for _, p := range all[n] {
				if f.locals[n].Due() == 0 {
					f.at(n, p, 0)
				}
			}
		}
	}
	next := set
	next.Method = anteroom.FIFO
	f.set = next
	f.global.Configure(f.now, next)
	f.locals["a"].Configure(f.now, next)
	for range 3 {
		f.exchange(f.global)
	}
	f.locals["b"].Configure(f.now, next)
	f.settle()
	if n := f.locals["b"].Due(); n > 10 {
		t.Errorf("%d of 50 at b have their turn for 5 places", n)
	}
}

// TestLeaversHideNoQueue: visitors leave before they hear of their turn.
func TestLeaversHideNoQueue(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(6, 1000, time.Minute), "a", "b", "c")
	first := f.fill("a", 6)
	f.settle()
	var waiting []*person
	for range 20 {
		p := f.come("a")
		f.at("a", p, 0)
		waiting = append(waiting, p)
	}
	f.settle()
	for _, p := range first {
		f.locals["a"].End(f.now, p.cookie.ID)
	}
	f.now = f.now.Add(200 * time.Millisecond)
	f.global.Report(f.now, f.locals["a"].Report(f.now))
	f.decide(f.global) // six turns of one second; the grant is lost
	for _, p := range waiting {
		f.locals["a"].End(f.now, p.cookie.ID)
	}
	for range 5 {
		f.at("c", f.come("c"), 0)
	}
	f.now = f.now.Add(200 * time.Millisecond)
	for _, n := range f.names() {
		f.global.Report(f.now, f.locals[n].Report(f.now))
	}
	if f.global.Waiting() < 0 {
		t.Errorf("%d visitors wait", f.global.Waiting())
	}
	for _, a := range f.decide(f.global) {
		if a.DataCenter == "b" && !a.Grant.Queue && f.locals["c"].InLine() > 0 {
			t.Error("five wait at c, b is told that nobody does")
		}
	}
}
