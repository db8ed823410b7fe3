package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// TestTimePassesUnderAnyLoad: requests that come in faster than the grain of time must not stop it.
func TestTimePassesUnderAnyLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, fifo(1, 1, time.Second))
	w.events = nil
	w.guest().enter()
	for range 20_000 {
		w.now = w.now.Add(200 * time.Microsecond)
		w.ask(&person{}, queue.Look)
	}
	if n := w.room.Status(w.now).Active; n != 0 {
		t.Errorf("a session of 1 s lives after %v", w.now.Sub(w.start))
	}
}

// TestRoomOpensAgainAfterAFullMoment: newcomers who have yet to register keep only as many places as they
// are, so a steady stream of them, or of programs without cookies, does not close an empty room.
func TestRoomOpensAgainAfterAFullMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, fifo(100, 100000, 10*time.Second))
	for range 130 {
		w.guest().enter()
	}
	w.run(15 * time.Second)
	walked := 0
	for range 50 {
		w.run(250 * time.Millisecond)
		if w.guest().inside() {
			walked++
		}
	}
	if walked < 45 {
		t.Errorf("%d of 50 newcomers entered an empty room", walked)
	}
}

// TestRestartDoesNotReviveEndedSessions: the end of a session is in the journal before its place is given.
func TestRestartDoesNotReviveEndedSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, fifo(1, 100, 5*time.Minute))
	a, b := w.guest(), w.guest()
	a.enter()
	w.run(5*time.Minute + 200*time.Millisecond)
	if !b.inside() {
		t.Fatal("the place is not free after the session")
	}
	w.crash(2)
	if a.inside() {
		t.Error("a session that had ended before the crash was revived beside its successor")
	}
	if !b.inside() {
		t.Error("the session in force did not survive")
	}
}

// TestSpentCookiesStaySpent: no change of settings and no patience makes an old cookie good again.
func TestSpentCookiesStaySpent(t *testing.T) {
	t.Parallel()
	t.Run("RevokedInALongSession", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 1, fifo(1, 100, 30*time.Minute))
		a, b := w.guest(), w.guest()
		a.enter()
		w.room.End(w.now, a.p.cookie.ID)
		b.enter()
		for range 20 {
			w.run(time.Minute)
			b.enter()
		}
		if a.inside() {
			t.Error("the revoked session came back after 20 minutes")
		}
	})
	t.Run("LongerSessionsLater", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, 1, fifo(5, 100, time.Minute))
		a := w.guest()
		a.enter()
		w.run(15 * time.Minute)
		w.set.Session = 30 * time.Minute
		w.room.Configure(w.now, w.set)
		w.pump()
		w.crash(2)
		if got := a.enter(); got.Known {
			t.Error("a session that was over is in force since sessions are longer")
		}
	})
	t.Run("TicketGivenUp", func(t *testing.T) {
		t.Parallel()
		w, guests := line(t, fifo(1, 100, time.Hour), 2)
		w.room.End(w.now, guests[0].p.cookie.ID)
		w.pump()
		w.crash(2)
		if got := guests[0].check(); got.Known {
			t.Errorf("%+v: the ticket that was taken away is back", got)
		}
	})
}

// TestPassthroughFreesWhoWaits: everyone in line enters when the room lets everybody pass.
func TestPassthroughFreesWhoWaits(t *testing.T) {
	t.Parallel()
	w, guests := line(t, fifo(1, 100, time.Hour), 3)
	if held, _ := w.room.Hold(w.now, guests[2].p.cookie.ID); held {
		t.Log("held") // at the head or not, the turn must be told
	}
	w.set.Method = anteroom.Passthrough
	w.room.Configure(w.now, w.set)
	for i, g := range guests {
		if !g.check().Turn || !g.inside() {
			t.Errorf("visitor %d still waits", i)
		}
	}
}

// TestLotterySurvivesRestarts: a won draw stays won, draws stay as they are.
func TestLotterySurvivesRestarts(t *testing.T) {
	t.Parallel()
	set := fifo(1, 1000, time.Minute)
	set.Method = anteroom.Random
	w := newWorld(t, 5, set)
	w.guest().enter()
	guests := make([]guest, 9)
	for i := range guests {
		guests[i] = w.guest()
		guests[i].enter()
		w.run(100 * time.Millisecond)
		guests[i].check()
	}
	w.crash(2)
	w.run(90 * time.Second)
	winner := slices.IndexFunc(guests, func(g guest) bool { return g.check().Turn })
	if winner < 0 {
		t.Fatal("nobody has won")
	}
	for i := range uint64(3) {
		w.crash(i + 3)
		if !guests[winner].check().Turn {
			t.Fatalf("the won draw is lost after restart %d", i+1)
		}
	}
	if !guests[winner].inside() {
		t.Error("the winner does not enter")
	}
}

// TestTurnSurvivesChangeOfMethodAndCrash: who had a turn goes first, whatever the keys mean.
func TestTurnSurvivesChangeOfMethodAndCrash(t *testing.T) {
	t.Parallel()
	w, guests := line(t, fifo(1, 100, 20*time.Second), 10)
	for !guests[0].check().Turn {
		w.run(time.Second)
		for _, g := range guests[1:] {
			g.check()
		}
	}
	w.set.Method = anteroom.Random
	w.room.Configure(w.now, w.set)
	w.pump()
	w.crash(2)
	if !guests[0].check().Turn || !guests[0].inside() {
		t.Error("the turn was lost by a change of the method and a crash")
	}
}

// TestClockSetBackBetweenRuns: an hour less on the clock neither lets newcomers pass nor keeps places.
func TestClockSetBackBetweenRuns(t *testing.T) {
	t.Parallel()
	w, guests := line(t, fifo(1, 100, 20*time.Second), 2)
	w.now = w.now.Add(-time.Hour)
	w.start = w.now
	w.events = nil
	w.crash(2)
	late := w.guest()
	late.enter()
	w.now = w.now.Add(time.Second)
	w.room.Tick(w.now)
	late.check()
	for i, g := range append(guests, late) {
		g.p.cookie.LastSeen = w.now // the gate judges a cookie's times, here only the order matters
		if a := g.check(); a.Position != i+1 {
			t.Errorf("visitor %d is at place %d", i, a.Position)
		}
	}
	w.now = w.now.Add(60 * time.Second)
	w.room.Tick(w.now)
	w.pump()
	if n := w.room.Status(w.now).Active; n != 0 {
		t.Error("a session of 20 s lives on because the clock was set back")
	}
}

// TestAdmissionCountsFromTheOriginsAnswer: a request that took long to reach the origin holds its permit
// from then on, also across a restart.
func TestAdmissionCountsFromTheOriginsAnswer(t *testing.T) {
	t.Parallel()
	for _, crash := range []bool{false, true} {
		w := newWorld(t, 1, fifo(10, 1, time.Hour))
		w.events = nil
		a, b := w.guest(), w.guest()
		a.enter()
		w.now = w.now.Add(20 * time.Second)
		w.room.Touch(w.now, a.p.cookie.ID)
		w.pump()
		if crash {
			w.crash(2) // from the journal
			w.crash(3) // from the snapshot
		}
		b.enter()
		w.now = w.now.Add(time.Second)
		b.check()
		w.now = w.now.Add(58 * time.Second)
		w.room.Tick(w.now)
		w.pump()
		if b.check(); b.inside() {
			t.Errorf("crash %v: two admissions within 60 s as the origin sees it", crash)
		}
		w.now = w.now.Add(2 * time.Second)
		w.room.Tick(w.now)
		w.pump()
		if b.check(); !b.inside() {
			t.Errorf("crash %v: the permit did not cool", crash)
		}
	}
}

// TestVisitorFindsTheSessionWhoseAnswerWasLost: the program was killed between admission and answer, and
// the visitor comes back with the cookie of the line after more than the session duration.
func TestVisitorFindsTheSessionWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	w, guests := line(t, fifo(1, 100, 3*time.Second), 2)
	for !guests[0].check().Turn {
		w.run(100 * time.Millisecond)
		guests[1].check()
	}
	queued := guests[0].p.cookie
	guests[0].enter()
	w.crash(2)
	w.run(12 * time.Second)
	lost := guest{w, &person{cookie: queued}}
	if a := lost.enter(); a.Verdict != queue.Admitted || !a.Known {
		t.Errorf("%+v: the place was lost with the answer", a)
	}
}

// TestRightsGoToTheDueInOrder: when there are fewer rights than due visitors, who asks first gains nothing.
func TestRightsGoToTheDueInOrder(t *testing.T) {
	t.Parallel()
	w, guests := line(t, fifo(1, 100, time.Hour), 3)
	for _, limit := range []int{4, 2} { // three get their turn, then two of the three places go
		w.set.TotalActiveUsers = limit
		w.room.Configure(w.now, w.set)
	}
	for i, g := range slices.Backward(guests) {
		if inside := g.inside(); inside != (i == 0) {
			t.Errorf("visitor %d: inside %v", i, inside)
		}
	}
}

// TestNewcomerDoesNotTakeAFreedPlace: a place becomes free while somebody waits, and a newcomer asks before the
// coordinators have spoken.
func TestNewcomerDoesNotTakeAFreedPlace(t *testing.T) {
	t.Parallel()
	w, guests := line(t, fifo(1, 100, time.Hour), 1)
	w.events = nil
	w.now = w.now.Add(time.Hour + time.Second - time.Minute)
	guests[0].p.cookie.LastSeen = w.now
	guests[0].check()
	w.now = w.now.Add(10 * time.Second)
	if a := w.room.Ask(w.now, queue.Ask{NewID: w.freshID()}); a.Verdict == queue.Admitted {
		t.Error("a newcomer took the place that somebody waits for")
	}
}

// TestRequestsWaitForTheJournal: what the origin is about to see is written first, but not each time.
func TestRequestsWaitForTheJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, fifo(1, 1, time.Minute))
	g := w.guest()
	if a := g.enter(); a.Seq == 0 {
		t.Error("an admission does not wait")
	}
	w.run(100 * time.Millisecond)
	if a := g.enter(); a.Seq != 0 {
		t.Error("a second request waits although the first one covers it")
	}
	w.run(5 * time.Second)
	if a := g.enter(); a.Seq == 0 {
		t.Error("a request five seconds later does not wait")
	}
}

// TestCrashForgetsNoExperience: how long visitors stay is learned again from the journal, so that the first
// estimates after a kill are as good as the last before it.
func TestCrashForgetsNoExperience(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, fifo(50, 10000, 5*time.Second))
	w.flash(2000, time.Second, time.Second)
	w.run(40 * time.Second)
	p := w.people[slices.IndexFunc(w.people, func(p *person) bool { return !p.inside && p.cookie.Position > 500 })]
	before := w.ask(p, queue.Check).Estimate.Middle
	if before < 20*time.Second {
		t.Fatalf("the estimate is %v, too little to compare", before)
	}
	w.crash(2)
	after := w.ask(p, queue.Check).Estimate.Middle
	if after > before*5/4 || after < before*3/4 {
		t.Errorf("the estimate was %v before the crash and is %v after it", before, after)
	}
}

// TestFreePlacesNeedOnlyPermits: who stands before a permit that cools soon, with places enough, is told so,
// however long visitors may stay.
func TestFreePlacesNeedOnlyPermits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, fifo(100, 10, time.Hour))
	w.events = nil
	for range 10 {
		w.guest().enter()
	}
	w.now = w.now.Add(50 * time.Second)
	g := w.guest()
	g.enter()
	w.now = w.now.Add(time.Second)
	if a := g.check(); a.Estimate.Middle > 10*time.Second || a.Estimate.Middle < 9*time.Second {
		t.Errorf("told to wait %v, the permit has cooled in 9.5 s", a.Estimate.Middle)
	}
}
