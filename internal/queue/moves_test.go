package queue_test

import (
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
)

// TestMovedSessionTakesItsRightAlong: a full room, a visitor moves. The session goes on, and its right is in the
// new data center soon, not twice out.
func TestMovedSessionTakesItsRightAlong(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(10, 1000, time.Minute), "a", "b")
	inside := f.fill("a", 10)
	f.settle()
	mover := inside[3]
	if !f.at("b", mover, 0) {
		t.Fatal("a session was ended by a change of the data center")
	}
	if rights, _ := f.locals["b"].Accounts(); rights.Debt != 1 {
		t.Fatalf("b honours the session without a right, but has a debt of %d", rights.Debt)
	}
	f.settle()
	a, _ := f.locals["a"].Accounts()
	b, _ := f.locals["b"].Accounts()
	if a.Held() != 9 || b.Held() != 1 || b.Debt != 0 {
		t.Errorf("a holds %d, b holds %d with a debt of %d; want 9, 1 and 0", a.Held(), b.Held(), b.Debt)
	}
	for _, name := range []string{"a", "b"} {
		if f.come(name).cookie.Verdict == queue.Admitted {
			t.Errorf("a newcomer entered a full room at %s", name)
		}
	}
	if !f.at("a", mover, 0) {
		t.Error("the session was ended when it came back")
	}
}

// TestVisitorWhoCameBackInTimeIsKept: the notice of a move arrives after the visitor was seen here again.
func TestVisitorWhoCameBackInTimeIsKept(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(10, 1000, time.Minute), "a", "b")
	mover := f.fill("a", 10)[0]
	f.settle()
	f.at("b", mover, 0)
	report := f.locals["b"].Report(f.now)
	f.now = f.now.Add(2 * time.Second)
	if !f.at("a", mover, 0) {
		t.Fatal("the session is over at its home")
	}
	f.global.Report(f.now, report)
	f.deliver(f.decide(f.global))
	if a, _ := f.locals["a"].Accounts(); a.Held() != 10 {
		t.Errorf("a let the right of a visitor go who is there; it holds %d", a.Held())
	}
}

// TestLateMoverGoesToTheHead: nobody can bring a right along that the former home gives up at once.
func TestLateMoverGoesToTheHead(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(10, 1000, time.Minute), "a", "b")
	inside := f.fill("a", 10)
	f.settle()
	waiting := f.come("b")
	f.at("b", waiting, 0)
	f.now = f.now.Add(53 * time.Second)
	mover := inside[0]
	if f.at("b", mover, 0) {
		t.Error("a session with seven seconds left was honoured without a right")
	}
	if !mover.cookie.Arrival.Before(waiting.cookie.Arrival) {
		t.Error("the visitor lost the old place in line")
	}
}

// TestGuestOnCreditEndsWithItsCover: a data center is cut off, a session moved there and cannot be paid. When the
// former home gives its right to somebody else, the guest goes.
func TestGuestOnCreditEndsWithItsCover(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(10, 1000, time.Minute), "a", "b")
	mover := f.fill("a", 10)[0]
	f.settle()
	f.at("b", mover, 0) // b talks to nobody from now on
	for range 9 {
		f.now = f.now.Add(5 * time.Second)
		if !f.at("b", mover, 0) {
			t.Fatalf("the guest was sent away %v after the move", 5*time.Second)
		}
	}
	f.now = f.now.Add(12 * time.Second)
	if f.at("b", mover, 0) {
		t.Error("a session lives on without a right and without cover")
	}
}

// TestTicketThatMovedDoesNotBlockTheSession: somebody waited here first and was let in elsewhere.
func TestTicketThatMovedDoesNotBlockTheSession(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(2, 1000, time.Minute), "a", "b")
	f.fill("a", 2)
	f.settle()
	p := f.come("a")
	f.at("a", p, 0) // a ticket at a
	f.at("b", p, 0) // and at b
	f.now = f.now.Add(40 * time.Second)
	p.cookie.LastSeen = f.now
	f.at("b", p, 0)
	f.now = f.now.Add(21 * time.Second)
	for range 20 {
		f.exchange(f.global)
		if f.at("b", p, 0) {
			break
		}
	}
	if p.cookie.Verdict != queue.Admitted {
		t.Fatal("not let in at b")
	}
	if !f.at("a", p, 0) {
		t.Error("the ticket left behind at a hides the session")
	}
}

// TestFullDataCentersSwapVisitors: each is in debt for a guest of the other. The rights that stay behind pay.
func TestFullDataCentersSwapVisitors(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fifo(10, 1000, time.Minute), "a", "b")
	ina := f.fill("a", 5)
	inb := f.fill("b", 5)
	f.settle()
	f.at("b", ina[0], 0)
	f.at("a", inb[0], 0)
	f.settle()
	for _, name := range []string{"a", "b"} {
		if rights, _ := f.locals[name].Accounts(); rights.Held() != 5 || rights.Debt != 0 {
			t.Errorf("%s holds %d rights with a debt of %d, want 5 and 0", name, rights.Held(), rights.Debt)
		}
	}
	for range 20 { // longer than the cover
		f.now = f.now.Add(3 * time.Second)
		if !f.at("b", ina[0], 0) || !f.at("a", inb[0], 0) {
			t.Fatal("a guest was sent away")
		}
	}
}
