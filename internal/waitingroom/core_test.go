package waitingroom_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// world is the gate before the real queue core, in virtual time.
type world struct {
	t    *testing.T
	pair *queue.Pair
	gate *waitingroom.Gate
	now  time.Time
	id   byte
}

func newWorld(t *testing.T, total int) *world {
	t.Helper()
	w := &world{t: t, now: start()}
	w.pair = queue.NewPair(w.now, queue.LocalConfig{
		DataCenter: "here", Incarnation: 1, Pace: queue.NearPace(),
		Settings: queue.Settings{Method: anteroom.FIFO, TotalActiveUsers: total, NewUsersPerMinute: total, Session: time.Minute},
	}, nil)
	w.gate = gate(t, w, config(func(c *waitingroom.Config) { c.Extras.SessionDuration = anteroom.Duration(time.Minute) }))
	return w
}

// Ask asks the core.
func (w *world) Ask(_ context.Context, _ string, ask queue.Ask) (queue.Answer, error) {
	a := w.pair.Ask(w.now, ask)
	w.pair.Pump(w.now)
	return a, nil
}

// Await is not used: nothing is held here.
func (w *world) Await(context.Context, string, queue.ID) bool { return false }

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(100 * time.Millisecond)
		w.pair.Tick(w.now)
		w.pair.Pump(w.now)
	}
}

// jar is one visitor's browser.
type jar struct {
	w       *world
	cookies []string // every cookie that it ever got, the newest last
}

// send makes a request with the newest cookie.
func (j *jar) send(change ...func(*waitingroom.Request)) string {
	j.w.id++
	r := request(change...)
	r.Now, r.NewID, r.Nonce[1] = j.w.now, queue.ID{j.w.id}, j.w.id
	if len(j.cookies) > 0 && len(r.Cookies) == 0 {
		r.Cookies = []string{j.cookies[len(j.cookies)-1]}
	}
	a := decide(j.w.t, j.w.gate, r)
	if len(a.Cookie) > 0 {
		cookie, _, _ := strings.Cut(string(a.Cookie), ";")
		j.cookies = append(j.cookies, cookie)
	}
	got := summary(j.w.t, a)
	got, _, _ = strings.Cut(got, " unreadable") // summary opens at another time
	got, _, _ = strings.Cut(got, " +")
	return got
}

func (w *world) jar() *jar { return &jar{w: w} }

func (w *world) expect(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestSubresourcesTakeNoPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	first := w.jar()
	w.expect("an image in an open room", first.send(as(waitingroom.Subresource)), "forward")
	w.expect("the page after it", first.send(), "forward")
	for range 5 {
		w.expect("an image in a full room", w.jar().send(as(waitingroom.Subresource)), "429 plain waiting")
		w.expect("a script's request", w.jar().send(as(waitingroom.Background)), "429 json waiting")
		w.expect("a socket", w.jar().send(as(waitingroom.Upgrade)), "503 plain waiting")
	}
	w.pass(10 * time.Second)
	if s := w.pair.Status(w.now); s.Waiting != 0 || s.Active != 1 || s.Joined != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestSpeculativeLoadsHaveNoEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	inside := w.jar()
	inside.send()
	before := w.pair.Status(w.now)
	for range 100 {
		w.expect("a stranger's prefetch", w.jar().send(as(waitingroom.Speculative)), "503 plain waiting")
		w.expect("a prefetch of a visitor inside", inside.send(as(waitingroom.Speculative)), "forward")
	}
	if after := w.pair.Status(w.now); after != before {
		t.Errorf("status %+v, then %+v", before, after)
	}
	w.pass(50 * time.Second)
	w.expect("a prefetch shortly before the end", inside.send(as(waitingroom.Speculative)), "forward")
	w.pass(15 * time.Second)
	if s := w.pair.Status(w.now); s.Active != 0 {
		t.Errorf("prefetches prolonged a session: %+v", s)
	}
}

// TestButtonAfterTheSessionHasLapsed: the script hears of it, and the page that it loads then has the place.
func TestButtonAfterTheSessionHasLapsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	visitor, other := w.jar(), w.jar()
	w.expect("the first visit", visitor.send(), "forward")
	w.pass(61 * time.Second)
	w.expect("the other's visit", other.send(), "forward")
	post := func(r *waitingroom.Request) { r.Method, r.ContentType = "POST", "application/json" }
	w.expect("the button", visitor.send(as(waitingroom.Background), post), "429 json waiting")
	w.pass(2 * time.Second)
	w.expect("the page", visitor.send(), "200 html waiting")
	stranger := w.jar()
	w.expect("a stranger", stranger.send(), "200 html waiting")
	for range 5 { // who waits asks now and then, else others are let in first
		w.pass(10 * time.Second)
		w.expect("the page meanwhile", visitor.send(), "200 html waiting")
	}
	w.pass(11 * time.Second)
	w.expect("the stranger, too early", stranger.send(), "200 html waiting")
	w.expect("the page again", visitor.send(), "forward")
}

// TestBackgroundTabDoesNotUseUpTheAdmission: it is told of the turn, the page takes it.
func TestBackgroundTabDoesNotUseUpTheAdmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.jar().send()
	visitor := w.jar()
	w.expect("the page", visitor.send(), "200 html waiting")
	for range 6 {
		w.pass(10 * time.Second)
		w.expect("the page's script", visitor.send(as(waitingroom.WaitEndpoint)), "200 json waiting")
	}
	w.pass(2 * time.Second)
	w.expect("a forgotten tab", visitor.send(as(waitingroom.Background)), "429 json turn")
	w.expect("the page's script", visitor.send(as(waitingroom.WaitEndpoint)), "200 json turn")
	if s := w.pair.Status(w.now); s.Active != 0 {
		t.Errorf("status %+v", s)
	}
	w.expect("the page", visitor.send(), "forward")
	w.expect("the page's script", visitor.send(as(waitingroom.WaitEndpoint)), "200 json turn")
}

// TestOldCookiesKeepThePlace: a program that sends its first cookie for ever, and one that sends all of them, have
// one place each and get in.
func TestOldCookiesKeepThePlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.jar().send()
	first, all := w.jar(), w.jar()
	for range 6 {
		first.send(as(waitingroom.JSONClient), func(r *waitingroom.Request) { r.Cookies = first.cookies[:min(1, len(first.cookies))] })
		all.send(as(waitingroom.JSONClient), func(r *waitingroom.Request) { r.Cookies = []string{strings.Join(all.cookies, "; ")} })
		w.pass(5 * time.Second)
	}
	if s := w.pair.Status(w.now); s.Waiting != 2 || s.Joined != 2 {
		t.Errorf("status %+v", s)
	}
	w.pass(32 * time.Second)
	w.expect("the first cookie", first.send(as(waitingroom.JSONClient), func(r *waitingroom.Request) { r.Cookies = first.cookies[:1] }), "forward")
	w.expect("the first cookie again", first.send(as(waitingroom.JSONClient), func(r *waitingroom.Request) { r.Cookies = first.cookies[:1] }), "forward")
	if s := w.pair.Status(w.now); s.Active != 1 {
		t.Errorf("status %+v", s)
	}
}
