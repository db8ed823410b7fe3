package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
	"github.com/anteroom/anteroom/test/browser"
)

// TestWaitingPage is one test with many parts, as they share a browser.
func TestWaitingPage(t *testing.T) {
	t.Parallel()
	chromium, err := browser.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(chromium.Stop)
	for name, part := range map[string]func(*testing.T, *browser.Chromium){
		"PositionFallsInPlace":     positionFallsInPlace,
		"FocusAndSelectionAreKept": focusAndSelectionAreKept,
		"TurnWithFragment":         turnWithFragment,
		"HeldAnswerEntersAtOnce":   heldAnswerEntersAtOnce,
		"TurnOnArrival":            turnOnArrival,
		"EntryLoopSlowsDown":       entryLoopSlowsDown,
		"BadRefreshValues":         badRefreshValues,
		"BrokenAnswersBackOff":     brokenAnswersBackOff,
		"RoomIsGone":               roomIsGone,
		"RetryAfterIsHonoured":     retryAfterIsHonoured,
		"BlockedCookies":           blockedCookies,
		"OneStrangeTicket":         oneStrangeTicket,
		"RejectedAsksNothing":      rejectedAsksNothing,
		"SmallMovesAreHidden":      smallMovesAreHidden,
		"WakesAtOnce":              wakesAtOnce,
		"DrawGoesOn":               drawGoesOn,
		"NoScript":                 noScript,
		"SameTextsInAllLanguages":  sameTextsInAllLanguages,
		"Accessible":               accessible,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, chromium)
		})
	}
}

func positionFallsInPlace(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(s *stage, w http.ResponseWriter, _ int) {
		v := inLine()
		v.Position = 12 - 2*s.current()
		v.Wait = time.Duration(v.Position) * 50 * time.Second
		v.Turn = v.Position == 0
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/cart?step=2")
	tab.Text("window.mark = 'same document'")
	progress := ""
	for _, want := range []struct{ position, wait string }{
		{"12", "about 10 min"}, {"10", "about 9 min"}, {"8", "about 7 min"}, {"6", "about 5 min"}, {"4", "about 4 min"}, {"2", "about 2 min"},
	} {
		tab.WaitFor("document.getElementById('position').textContent === '" + want.position + "' && document.getElementById('bar').value")
		if got := tab.TextOf("wait"); got != want.wait {
			t.Errorf("at %s the wait is %q, want %q", want.position, got, want.wait)
		}
		now := fmt.Sprintf("%6s", tab.Text("document.getElementById('bar').value.toFixed(1)"))
		if now <= progress {
			t.Errorf("at %s progress went from %s to %s", want.position, progress, now)
		}
		progress = now
		if want.position == "2" {
			s.open()
		}
		s.next()
	}
	if got := tab.Text("window.mark || document.title"); got != "same document" && got != "shop" {
		t.Errorf("the page was loaded again while it waited: mark is %q", got)
	}
	tab.WaitFor("document.getElementById('shop')")
	if got := tab.Text("location.pathname + location.search"); got != "/cart?step=2" {
		t.Errorf("landed on %s", got)
	}
	_, before := s.counts()
	time.Sleep(1500 * time.Millisecond) // nothing may follow
	if loads, polls := s.counts(); loads != 2 || polls != before {
		t.Errorf("%d loads, and %d polls after the turn, want 2 and none", loads, polls-before)
	}
	if other := s.strangers(); len(other) > 0 {
		t.Errorf("requests nobody needs: %v", other)
	}
}

func focusAndSelectionAreKept(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(s *stage, w http.ResponseWriter, _ int) {
		v := inLine()
		v.Position = 12 - s.current()
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	tab.WaitFor("document.getElementById('updated').textContent.indexOf('UTC') < 0")
	tab.Text("document.querySelector('a').focus(), getSelection().selectAllChildren(document.getElementById('next')), 1")
	tab.Text(`window.lives = 0, new MutationObserver(() => lives++).observe(document.getElementById('status'), {childList: true}), 1`)
	const changes = 4
	for i := range changes {
		s.next()
		tab.WaitFor(fmt.Sprintf("document.getElementById('position').textContent === '%d'", 11-i))
	}
	if got := tab.Text("document.activeElement.tagName"); got != "A" {
		t.Errorf("focus is on %s", got)
	}
	if got, want := tab.Text("getSelection()"), tab.TextOf("next"); got != want {
		t.Errorf("the selection is %q, want %q", got, want)
	}
	if got := tab.Text("lives"); len(got) != 1 || got > strconv.Itoa(changes) {
		t.Errorf("%s announcements of %d changes", got, changes)
	}
	tab.WaitFor("/^Your position: 8. Estimated wait: about 10 min$/.test(document.getElementById('status').textContent)")
	if other := s.strangers(); len(other) > 0 {
		t.Errorf("requests nobody needs: %v", other)
	}
}

func turnWithFragment(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(s *stage, w http.ResponseWriter, n int) {
		v := inLine()
		if n == 2 {
			s.open()
			v.Turn = true
		}
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/cart?step=2#pay")
	tab.WaitFor("document.getElementById('shop')")
	if got := tab.Text("location.hash"); got != "#pay" {
		t.Errorf("the fragment became %q", got)
	}
}

// heldAnswerEntersAtOnce has an answer that comes long before the next poll would.
func heldAnswerEntersAtOnce(t *testing.T, c *browser.Chromium) {
	told := make(chan time.Time, 1)
	v := inLine()
	v.Refresh = time.Minute
	s := newStage(t, v, func(s *stage, w http.ResponseWriter, _ int) {
		time.Sleep(3 * time.Second)
		s.open()
		v := v
		v.Turn = true
		told <- time.Now()
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	tab.WaitFor("document.getElementById('shop')")
	if took := time.Since(<-told); took > 20*time.Second {
		t.Errorf("entered %v after the answer", took)
	}
	if loads, polls := s.counts(); loads != 2 || polls != 1 {
		t.Errorf("%d loads, %d polls, want 2 and 1", loads, polls)
	}
}

func turnOnArrival(t *testing.T, c *browser.Chromium) {
	v := inLine()
	v.Turn = true
	s := newStage(t, v, func(_ *stage, w http.ResponseWriter, _ int) { sayView(w, v) })
	s.shown = func(loads int) page.View {
		s.opens = loads > 1
		return v
	}
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	tab.WaitFor("document.getElementById('shop')")
	if loads, _ := s.counts(); loads != 2 {
		t.Errorf("%d loads, want 2", loads)
	}
}

func entryLoopSlowsDown(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(_ *stage, w http.ResponseWriter, _ int) {
		v := inLine()
		v.Turn = true
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	time.Sleep(9 * time.Second)
	// At once, then after 2 s, then after 4 s, then after 8 s.
	if loads, _ := s.counts(); loads < 2 || loads > 4 {
		t.Errorf("%d loads in 9 s of a loop, want 2 to 4", loads)
	}
}

// badRefreshValues has all its tabs open at once, since it mostly waits.
func badRefreshValues(t *testing.T, c *browser.Chromium) {
	stages := map[string]*stage{}
	for name, value := range map[string]any{
		"Zero": 0, "Negative": -1, "Tiny": 0.001, "Huge": 1e9, "Beyond": 1e300, "Text": "x", "Missing": nil, "List": []int{1, 2},
	} {
		stages[name] = newStage(t, inLine(), func(_ *stage, w http.ResponseWriter, _ int) {
			sayWith(t, w, inLine(), map[string]any{"refreshIntervalSeconds": value})
		})
		c.Tab(t).Open(stages[name].URL + "/")
	}
	time.Sleep(3 * time.Second)
	for name, s := range stages {
		if loads, polls := s.counts(); loads != 1 || polls < 1 {
			t.Errorf("%s: %d loads and %d polls, want one load and some polls", name, loads, polls)
		}
		for _, gap := range s.gaps() {
			if gap < time.Second*haste/10 {
				t.Errorf("%s: two polls %v apart", name, gap)
			}
		}
	}
}

func brokenAnswersBackOff(t *testing.T, c *browser.Chromium) {
	stages, tabs := map[string]*stage{}, map[string]*browser.Tab{}
	for name, say := range map[string]answer{
		"NotJSON":     func(_ *stage, w http.ResponseWriter, _ int) { sayBroken(w, http.StatusBadGateway, "<html>") },
		"OtherJSON":   func(_ *stage, w http.ResponseWriter, _ int) { sayBroken(w, http.StatusTooManyRequests, `{"a":[]}`) },
		"Null":        func(_ *stage, w http.ResponseWriter, _ int) { sayBroken(w, http.StatusServiceUnavailable, "null") },
		"ServerError": func(_ *stage, w http.ResponseWriter, _ int) { sayBroken(w, http.StatusInternalServerError, "") },
	} {
		stages[name], tabs[name] = newStage(t, inLine(), say), c.Tab(t)
		tabs[name].Open(stages[name].URL + "/")
	}
	time.Sleep(5 * time.Second)
	for name, s := range stages {
		if got := tabs[name].TextOf("note"); !strings.HasPrefix(got, "Connection lost") {
			t.Errorf("%s: the note says %q", name, got)
		}
		if loads, polls := s.counts(); loads != 1 || polls < 2 {
			t.Errorf("%s: %d loads and %d polls, want one load and some polls", name, loads, polls)
		}
		for i, gap := range s.gaps() {
			if least := time.Second << i * haste / 10; gap < least {
				t.Errorf("%s: pause %d was %v, want at least %v", name, i, gap, least)
			}
		}
	}
}

func sayBroken(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// roomIsGone has the site itself answer the wait address, as when the room was deleted.
func roomIsGone(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(s *stage, w http.ResponseWriter, n int) {
		if n > 1 {
			s.open()
			sayBroken(w, http.StatusNotFound, "<!doctype html>no such page")
			return
		}
		sayView(w, inLine())
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	tab.WaitFor("document.getElementById('shop')")
	if loads, polls := s.counts(); loads != 2 || polls != 4 {
		t.Errorf("%d loads and %d polls, want 2 and 4", loads, polls)
	}
}

func retryAfterIsHonoured(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(_ *stage, w http.ResponseWriter, _ int) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusTooManyRequests)
		sayView(w, inLine())
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	s.waitPolls(t, 1)
	tab.WaitFor("document.getElementById('updated').textContent.indexOf('UTC') < 0")
	tab.Text("document.dispatchEvent(new Event('visibilitychange'))")
	s.waitPolls(t, 3)
	for i, gap := range s.gaps() {
		if gap < 3*time.Second*haste/10 {
			t.Errorf("pause %d was %v, want 3 s", i, gap)
		}
	}
}

func blockedCookies(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(_ *stage, w http.ResponseWriter, n int) {
		v := inLine()
		v.TicketID = fmt.Sprintf("%032x", n)
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	tab.WaitFor("!document.getElementById('note').hidden")
	if got := tab.TextOf("note"); !strings.Contains(got, "did not keep our cookie") {
		t.Errorf("the note says %q", got)
	}
	if got := tab.TextOf("status"); !strings.Contains(got, "did not keep our cookie") {
		t.Errorf("the screen reader is told %q", got)
	}
	tab.Text("document.dispatchEvent(new Event('visibilitychange'))")
	time.Sleep(2500 * time.Millisecond)
	if loads, polls := s.counts(); loads != 1 || polls != 2 {
		t.Errorf("%d loads, %d polls, want 1 and 2", loads, polls)
	}
	if got := tab.Text("document.querySelector('a').getAttribute('href')"); got != "/cart?step=2" {
		t.Errorf("the way back leads to %q", got)
	}
}

// oneStrangeTicket is what a tab sees when a second tab of a new visitor got the cookie.
func oneStrangeTicket(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(_ *stage, w http.ResponseWriter, _ int) {
		v := inLine()
		v.TicketID = strings.Repeat("b", 32)
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	tab.WaitFor("document.getElementById('ticket').textContent === 'b'.repeat(32)")
	if got := tab.Text("document.getElementById('note').hidden"); got != "true" {
		t.Errorf("the note says %q", tab.TextOf("note"))
	}
}

func rejectedAsksNothing(t *testing.T, c *browser.Chromium) {
	v := inLine()
	v.Method = anteroom.Reject
	s := newStage(t, v, func(_ *stage, w http.ResponseWriter, _ int) { sayView(w, v) })
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	time.Sleep(2500 * time.Millisecond)
	if loads, polls := s.counts(); loads != 1 || polls != 0 {
		t.Errorf("%d loads, %d polls, want 1 and 0", loads, polls)
	}
	if got := tab.TextOf("heading"); got != "No entry at the moment" {
		t.Errorf("heading %q", got)
	}
}

// smallMovesAreHidden has the promised moment move by seconds against the first promise.
func smallMovesAreHidden(t *testing.T, c *browser.Chromium) {
	const longer = "This is taking longer than expected because visitors inside are staying longer."
	steps := []struct {
		moved      time.Duration
		wait, note string
	}{
		{0, "about 10 min", ""},
		{40 * time.Second, "about 10 min", ""},
		{50 * time.Second, "about 10 min", ""},
		{5 * time.Minute, "about 15 min", longer},
		{5*time.Minute + 30*time.Second, "about 15 min", longer},
		{-65 * time.Second, "about 9 min", ""},
	}
	promised := time.Now().Add(10 * time.Minute)
	s := newStage(t, inLine(), func(s *stage, w http.ResponseWriter, _ int) {
		step := min(s.current(), len(steps)-1)
		v := inLine()
		v.Position, v.Wait = 20-step, time.Until(promised.Add(steps[step].moved))
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	for i, want := range steps {
		tab.WaitFor(fmt.Sprintf("document.getElementById('position').textContent === '%d'", 20-i))
		if got := tab.TextOf("wait"); got != want.wait {
			t.Errorf("moved by %v, the wait is %q, want %q", want.moved, got, want.wait)
		}
		if got := tab.TextOf("note"); got != want.note {
			t.Errorf("moved by %v, the note is %q, want %q", want.moved, got, want.note)
		}
		s.next()
	}
}

func wakesAtOnce(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(_ *stage, w http.ResponseWriter, n int) {
		v := inLine()
		v.Position, v.Refresh = 12-n, time.Minute
		w.Header().Set("Retry-After", "60")
		sayView(w, v)
	})
	tab := c.Tab(t)
	tab.Open(s.URL + "/")
	tab.WaitFor("document.getElementById('position').textContent === '11'")
	time.Sleep(1100 * time.Millisecond)
	tab.Text("document.dispatchEvent(new Event('visibilitychange'))")
	tab.WaitFor("document.getElementById('position').textContent === '10'")
	tab.Text("window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
	tab.WaitFor("document.getElementById('position').textContent === '9'")
}

func noScript(t *testing.T, c *browser.Chromium) {
	s := newStage(t, inLine(), func(*stage, http.ResponseWriter, int) {})
	s.shown = func(loads int) page.View {
		v := inLine()
		v.Position = 12 - loads
		s.opens = loads > 4
		return v
	}
	tab := c.Tab(t)
	tab.NoScript()
	tab.Open(s.URL + "/")
	for _, want := range []string{"You are in line", "autumn-sale", "Your position", "about 10 min", "You keep your place", ticket} {
		if got := tab.Text("document.body.innerText"); !strings.Contains(got, want) {
			t.Errorf("the page does not say %q:\n%s", want, got)
		}
	}
	tab.WaitFor("document.getElementById('position').textContent === '9'")
	tab.WaitFor("document.getElementById('shop')")
	if _, polls := s.counts(); polls != 0 {
		t.Errorf("%d polls without a script", polls)
	}
}

// sameTextsInAllLanguages shows that script and server word numbers and waits alike, so that the
// first answer does not change a page that has nothing new to say.
func sameTextsInAllLanguages(t *testing.T, c *browser.Chromium) {
	for first := range 3 {
		t.Run(fmt.Sprintf("Share%d", first+1), func(t *testing.T) {
			t.Parallel()
			tab := c.Tab(t)
			for i := first; i < len(page.Languages()); i += 3 {
				language := page.Languages()[i]
				long := inLine()
				long.Language, long.Position, long.Waiting = language, 23456, 1234567
				long.Ranged, long.Wait25, long.Wait75 = true, 50*time.Minute, 3*time.Hour
				sameTexts(t, tab, long)
				if language == "ar-EG" || language == "en-US" || language == "fa-IR" {
					short, point := long, long
					short.TicketID, short.Wait25, short.Wait75 = "short", 5*time.Minute, 15*time.Minute
					point.TicketID, point.Method, point.Wait25, point.Wait75 = "point", anteroom.Random, point.Wait, point.Wait
					sameTexts(t, tab, short)
					sameTexts(t, tab, point)
				}
			}
		})
	}
}

func sameTexts(t *testing.T, tab *browser.Tab, v page.View) {
	t.Helper()
	s := newStage(t, v, func(_ *stage, w http.ResponseWriter, _ int) { sayView(w, v) })
	tmpl, err := page.Compile("", "")
	if err != nil {
		t.Fatal(err)
	}
	html := string(tmpl.Append(nil, &v))
	tab.Open(s.URL + "/")
	tab.WaitFor("document.getElementById('updated').textContent.indexOf('UTC') < 0")
	all := tab.Text("['position', 'wait', 'waiting', 'heading', 'next'].map(i => `id=\"${i}\">` + document.getElementById(i).textContent).join('\\n')")
	for said := range strings.SplitSeq(all, "\n") {
		if !strings.Contains(html, said+"<") && (v.Method == anteroom.FIFO || !strings.HasPrefix(said, `id="position"`)) {
			t.Errorf("%s: the script says %s, the server does not", v.Language, said)
		}
	}
}

func accessible(t *testing.T, c *browser.Chromium) {
	line, draw, all, no := inLine(), inLine(), inLine(), inLine()
	line.New = true
	draw.Method, all.QueueAll, no.Method = anteroom.Random, true, anteroom.Reject
	for _, look := range []struct {
		name, language string
		dark           bool
	}{{"Light", "en-US", false}, {"Dark", "de-DE", true}, {"RightToLeft", "ar-EG", false}, {"RightToLeftDark", "he-IL", true}} {
		t.Run(look.name, func(t *testing.T) {
			t.Parallel()
			tab := c.Tab(t)
			if look.dark {
				tab.Dark()
			}
			for _, v := range []page.View{line, draw, all, no} {
				v.Language = look.language
				s := newStage(t, v, func(_ *stage, w http.ResponseWriter, n int) {
					v := v
					v.Position -= n
					sayView(w, v)
				})
				tab.Open(s.URL + "/")
				for _, fault := range tab.Violations() {
					t.Errorf("%s, queue_all %v: %s", v.Method, v.QueueAll, fault)
				}
			}
		})
	}
}
