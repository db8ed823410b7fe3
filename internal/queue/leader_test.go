package queue_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// TestLeaderIsDeposedByAReportOfAHigherEpoch: what such a report gives back belongs to the new leader, so the
// old one must not count it, and does nothing any more.
func TestLeaderIsDeposedByAReportOfAHigherEpoch(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(10, 100, time.Minute), "a", "b")
	old := f.global
	f.global = f.lead(2)
	f.settle()
	old.Report(f.now, f.locals["a"].Report(f.now))
	if !old.Deposed() {
		t.Fatal("a report of epoch 2 did not depose the leader of epoch 1")
	}
	if d := old.Tick(f.now); d.Write != nil || len(d.Grants) > 0 {
		t.Errorf("a deposed leader decides %+v", d)
	}
}

// TestFencedLeaderCannotRaiseABound: the ledger refuses a leader that was followed by another.
func TestFencedLeaderCannotRaiseABound(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(100, 1000, time.Minute), "a", "b")
	old := f.global
	before := f.held("a")
	f.lead(2) // writes the ledger
	for range 4 * before {
		f.come("a")
	}
	for range 10 { // only the old leader hears of the crowd
		f.now = f.now.Add(200 * time.Millisecond)
		for _, p := range []string{"a"} {
			old.Report(f.now, f.locals[p].Report(f.now))
		}
		f.deliver(f.decide(old))
	}
	bound := f.bounds.Centers[0].Rights
	if n := f.held("a"); n > bound {
		t.Errorf("a holds %d rights, the ledger allows %d", n, bound)
	}
}

// TestOldLeadersGrantIsRefused: after a data center has heard of a new leader, the old one's grants are
// nothing to it.
func TestOldLeadersGrantIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(10, 100, time.Minute), "a", "b")
	a := f.locals["a"]
	stale := queue.Grant{Incarnation: 1, Epoch: 1, Seq: 1000, Terms: queue.Terms{Rights: 1000, Permits: 1000, RightsMax: 1000, PermitsMax: 1000}}
	a.Grant(f.now, queue.Grant{Epoch: 2})
	before := f.held("a")
	a.Grant(f.now, stale)
	if f.held("a") != before {
		t.Error("a grant of epoch 1 was applied after epoch 2 was announced")
	}
	wrong := stale
	wrong.Epoch, wrong.Incarnation = 2, 7
	a.Grant(f.now, wrong)
	if f.held("a") != before {
		t.Error("a grant for another incarnation was applied")
	}
}

// TestNewLeaderCountsTheUnheardWithTheirBound: until a data center has answered, everything that it may hold
// is out.
func TestNewLeaderCountsTheUnheardWithTheirBound(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(20, 1000, time.Minute), "a", "b")
	f.fill("a", 8)
	f.settle()
	b := f.locals["b"]
	delete(f.locals, "b") // cut off
	f.global = f.lead(2)
	f.settle()
	for range 30 {
		f.come("a")
	}
	for range 20 {
		f.exchange(f.global)
	}
	rights, _ := b.Accounts()
	if sum := f.held("a") + rights.Held(); sum > 20 {
		t.Errorf("a and the silent b hold %d rights of 20", sum)
	}
}

// TestAmnesiaAndANewLeader: a data center loses its memory while a new leader takes over. What it held is known
// from the ledger only, and stays out of use until its sessions must be over.
func TestAmnesiaAndANewLeader(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(20, 1000, time.Minute), "a", "b")
	inside := f.fill("a", 12)
	f.settle()
	f.start("a", 2, false)
	f.global = f.lead(2)
	f.settle()
	rights, _ := f.locals["a"].Accounts()
	if rights.Quarantined < 12 {
		t.Fatalf("%d rights are quarantined, 12 visitors are inside: %+v", rights.Quarantined, rights)
	}
	entered := 0
	for range 40 {
		for _, name := range []string{"a", "b"} {
			if f.come(name).cookie.Verdict == queue.Admitted {
				entered++
			}
		}
	}
	if entered > 8 {
		t.Errorf("%d entered beside the 12 whom nobody remembers, the limit is 20", entered)
	}
	for i, p := range inside {
		if !f.at("a", p, 0) {
			t.Errorf("visitor %d was thrown out", i)
		}
	}
	f.now = f.now.Add(61 * time.Second)
	f.settle()
	if rights, _ = f.locals["a"].Accounts(); rights.Quarantined != 0 {
		t.Errorf("%d rights are still quarantined after the session duration", rights.Quarantined)
	}
}

// TestIncarnationIsWelcomedByTheLedger: before a new incarnation hears what it inherits, the ledger knows it, so
// that no other leader can tell it something else.
func TestIncarnationIsWelcomedByTheLedger(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(20, 1000, time.Minute), "a", "b")
	f.start("a", 2, false)
	f.lead(2) // another leader has written the ledger
	for range 5 {
		f.exchange(f.global) // the old one still talks to a
	}
	if f.locals["a"].Settled() {
		t.Error("a leader that cannot write the ledger told a new incarnation what it inherits")
	}
}

// TestReportsOvertakingEachOther: an older report that comes late changes nothing.
func TestReportsOvertakingEachOther(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(1, 1000, time.Minute), "a", "b")
	f.fill("a", 1)
	f.settle()
	first := f.locals["b"].Report(f.now)
	for range 5 {
		p := f.come("b")
		f.at("b", p, 0)
	}
	second := f.locals["b"].Report(f.now)
	f.global.Report(f.now, second)
	f.global.Report(f.now, first)
	if n := f.global.Waiting(); n != 5 {
		t.Errorf("the leader counts %d waiting, want 5", n)
	}
}

// TestSilentDataCenterGetsNoTurns: it would keep the others waiting for visitors of whom nobody knows whether
// they are there.
func TestSilentDataCenterGetsNoTurns(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(1, 1000, 20*time.Second), "a", "b")
	f.fill("a", 1)
	waiting := f.come("b")
	f.at("b", waiting, 0)
	f.settle()
	late := f.come("a")
	f.at("a", late, 0)
	f.settle()
	b := f.locals["b"]
	delete(f.locals, "b")
	for range 150 {
		f.exchange(f.global)
		late.cookie.LastSeen = f.now
		if f.at("a", late, 0) {
			break
		}
	}
	if late.cookie.Verdict != queue.Admitted {
		t.Fatal("a silent data center keeps another one's visitor waiting")
	}
	f.locals["b"] = b
	f.settle()
	if f.global.Waiting() != b.Present() {
		t.Errorf("back again, b has %d waiting, the leader counts %d", b.Present(), f.global.Waiting())
	}
}
