package endtoend_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sort"
	"sync"
	"testing"
	"time"
)

// shop is the protected site. It knows its visitors only by the header that admission sets, and counts
// with its own clock.
type shop struct {
	*httptest.Server
	session time.Duration

	mu       sync.Mutex
	seen     map[string]time.Time // last request by ticket
	entered  []time.Time          // first requests, in order
	first    map[string]time.Time
	most     int // most distinct active visitors at any request
	strays   int // requests without a ticket
	requests int
}

func newShop(t *testing.T, session time.Duration) *shop {
	t.Helper()
	s := &shop{session: session, seen: map[string]time.Time{}, first: map[string]time.Time{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) serve(w http.ResponseWriter, r *http.Request) {
	s.count(r.Header.Get("Anteroom-Ticket"))
	w.Header().Set("Shop", "open")
	fmt.Fprintln(w, "welcome")
}

func (s *shop) count(ticket string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.requests++
	if ticket == "" {
		s.strays++
		return
	}
	if _, known := s.first[ticket]; !known {
		s.first[ticket] = now
		s.entered = append(s.entered, now)
	}
	s.seen[ticket] = now
	active := 0
	for id, last := range s.seen {
		if now.Sub(last) < s.session {
			active++
		} else {
			delete(s.seen, id)
		}
	}
	s.most = max(s.most, active)
}

// perMinute is the most admissions in any sliding window of 60 s.
func (s *shop) perMinute() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := 0
	for i, at := range s.entered {
		j := sort.Search(len(s.entered), func(j int) bool { return s.entered[j].Sub(at) >= time.Minute })
		most = max(most, j-i)
	}
	return most
}

func (s *shop) counts() (most, strays, distinct int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most, s.strays, len(s.first)
}
