package browser_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
)

const (
	ticket  = "4f1d0c9a8b7e6f5d4c3b2a1908f7e6d5"
	waitURL = "/.anteroom/wait"
	// A pause looks shorter here when a busy machine is late to see the request before it.
	haste        = 7 // tenths of a pause that count as the pause
	pollsTimeout = time.Minute
	origin       = "<!doctype html><title>shop</title><link rel=icon href=data:,><p id=shop>the shop"
)

// answer writes the n-th answer of the wait address, counted from 1.
type answer func(s *stage, w http.ResponseWriter, n int)

// stage is a server that shows the waiting page until it is told to open, and answers polls as a
// script says.
type stage struct {
	*httptest.Server
	mu    sync.Mutex
	view  page.View
	shown func(loads int) page.View
	opens bool
	step  int
	loads int
	polls []time.Time
	other []string
}

// newStage serves view's page on every path but the wait address, where say answers.
func newStage(t *testing.T, view page.View, say answer) *stage {
	t.Helper()
	tmpl, err := page.Compile("", "")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{view: view}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == waitURL {
			say(s, w, s.polled())
			return
		}
		v, open := s.loaded(r.URL.RequestURI())
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if open {
			_, _ = w.Write([]byte(origin))
			return
		}
		w.Header().Set("Content-Security-Policy", tmpl.ContentSecurityPolicy())
		if n := page.RefreshSeconds(&v); n > 0 {
			w.Header().Set("Refresh", strconv.Itoa(n))
		}
		_, _ = w.Write(tmpl.Append(nil, &v))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *stage) polled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polls = append(s.polls, time.Now())
	return len(s.polls)
}

func (s *stage) loaded(uri string) (page.View, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	if uri != "/" && uri != "/cart?step=2" {
		s.other = append(s.other, uri)
	}
	v := s.view
	if s.shown != nil {
		v = s.shown(s.loads)
	}
	return v, s.opens
}

// open lets the next page load through to the shop.
func (s *stage) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opens = true
}

// next moves the script one step on, so that it goes as fast as the browser and no faster.
func (s *stage) next() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step++
}

func (s *stage) current() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.step
}

func (s *stage) counts() (loads, polls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads, len(s.polls)
}

// waitPolls waits until the page has asked n times.
func (s *stage) waitPolls(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(pollsTimeout); ; time.Sleep(20 * time.Millisecond) {
		if _, polls := s.counts(); polls >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the page did not ask %d times within %v", n, pollsTimeout)
		}
	}
}

// gaps are the pauses between polls.
func (s *stage) gaps() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gaps []time.Duration
	for i := 1; i < len(s.polls); i++ {
		gaps = append(gaps, s.polls[i].Sub(s.polls[i-1]))
	}
	return gaps
}

// strangers are requests that the page had no reason to make.
func (s *stage) strangers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.other
}

// inLine is a visitor at place 12 whose page is told to come back each second.
func inLine() page.View {
	return page.View{
		RoomName: "autumn-sale", TicketID: ticket, Method: anteroom.FIFO, Known: true,
		Wait: 10 * time.Minute, Position: 12, Waiting: 240, Refresh: time.Second,
		LastUpdated: time.Date(2026, 11, 30, 14, 3, 22, 0, time.UTC),
		Language:    "en-US", Return: "/cart?step=2", WaitURL: waitURL,
	}
}

func sayView(w http.ResponseWriter, v page.View) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(page.AppendJSON(nil, &v))
}

// sayWith answers with v's object in which some fields are replaced; nil takes a field out.
func sayWith(t *testing.T, w http.ResponseWriter, v page.View, fields map[string]any) {
	t.Helper()
	var object map[string]map[string]any
	if err := json.Unmarshal(page.AppendJSON(nil, &v), &object); err != nil {
		t.Error(err)
	}
	for name, value := range fields {
		if value == nil {
			delete(object["cfWaitingRoom"], name)
			continue
		}
		object["cfWaitingRoom"][name] = value
	}
	if err := json.NewEncoder(w).Encode(object); err != nil {
		t.Logf("the tab left before its answer: %v", err)
	}
}
