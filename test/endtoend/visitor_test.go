package endtoend_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"time"
)

// visitor is a program that visits the shop with its own cookie jar and does as it is told.
type visitor struct {
	http    *http.Client
	url     string
	arrived time.Time
	entered time.Time
	places  []int // each position told, in order
	ticket  string
	changed bool    // the ticket changed while waiting: the place was lost
	errors  []error // requests that got no answer
}

func newVisitor(transport http.RoundTripper, url string) *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err)
	}
	return &visitor{http: &http.Client{Transport: transport, Jar: jar, Timeout: 30 * time.Second}, url: url}
}

// waiting is what a waiting program is told.
type waiting struct {
	Room struct {
		InWaitingRoom          bool
		RefreshIntervalSeconds int
		Position               int
		TicketID               string `json:"ticketId"`
	} `json:"cfWaitingRoom"`
}

// ask makes one request. It tells whether the shop answered, and else when to ask again.
func (v *visitor) ask(ctx context.Context) (inside bool, again time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url, nil)
	if err != nil {
		return false, 0, err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := v.http.Do(r)
	if err != nil {
		return v.failed(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return v.failed(ctx, err)
	}
	if resp.Header.Get("Shop") == "open" {
		return true, 0, nil
	}
	var w waiting
	if err = json.Unmarshal(body, &w); err != nil || !w.Room.InWaitingRoom {
		return false, time.Second, err // for example 502 while the program restarts
	}
	if v.ticket != "" && w.Room.TicketID != v.ticket && v.entered.IsZero() {
		v.changed = true // after a session that ended, a new ticket is as it should be
	}
	v.ticket = w.Room.TicketID
	v.places = append(v.places, w.Room.Position)
	return false, time.Duration(w.Room.RefreshIntervalSeconds) * time.Second, nil
}

// failed notes a request that got no answer, unless the time of the test is over.
func (v *visitor) failed(ctx context.Context, err error) (inside bool, again time.Duration, _ error) {
	if ctx.Err() == nil {
		v.errors = append(v.errors, err)
	}
	return false, time.Second, err
}

// visit waits for admission, browses for a while and leaves.
func (v *visitor) visit(ctx context.Context, browse, pause time.Duration) {
	v.arrived = time.Now()
	for {
		inside, again, err := v.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		if inside {
			break
		}
		if err != nil {
			again = time.Second
		}
		if !sleep(ctx, again) {
			return
		}
	}
	v.entered = time.Now()
	for end := v.entered.Add(browse); time.Now().Before(end) && sleep(ctx, pause); {
		if inside, _, err := v.ask(ctx); err == nil && !inside {
			return // the session ended
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
