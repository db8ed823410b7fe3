package waitingroom_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// summary is an answer in one line: action or status, form of the body, state, and whether a cookie
// with a place or a session comes along.
func summary(t *testing.T, a *waitingroom.Answer) string {
	t.Helper()
	var parts []string
	switch a.Action {
	case waitingroom.Pass:
		parts = append(parts, "pass")
	case waitingroom.Forward:
		parts = append(parts, "forward")
	case waitingroom.Hold:
		parts = append(parts, "hold")
	case waitingroom.Respond:
		media, _, _ := strings.Cut(value(a, "Content-Type"), ";")
		parts = append(parts, fmt.Sprint(a.Status), strings.TrimPrefix(strings.TrimPrefix(media, "text/"), "application/"))
		if s := value(a, waitingroom.StateHeader); s != "" {
			parts = append(parts, s)
		}
	}
	if len(a.Cookie) > 0 {
		tk, ok := sealed(t, string(a.Cookie))
		switch {
		case !ok:
			parts = append(parts, "unreadable")
		case tk.Accepted.IsZero():
			parts = append(parts, "+place")
		default:
			parts = append(parts, "+session")
		}
	}
	return strings.Join(parts, " ")
}

// TestKindsAndStates is the table of the package comment: what each kind of request gets in each
// state, and what the coordinator is asked for it.
func TestKindsAndStates(t *testing.T) {
	t.Parallel()
	none, queued, inside, over := "none", "queued", "inside", "over"
	for _, test := range []struct {
		kind          waitingroom.Kind
		cookie, scene string
		want, asked   string
	}{
		{waitingroom.Navigation, none, "Open", "forward +session", "enter"},
		{waitingroom.Navigation, none, "Full", "200 html waiting +place", "enter"},
		{waitingroom.Navigation, none, "Refused", "200 html rejected", "enter"},
		{waitingroom.Navigation, none, "Absent", "503 html waiting +place", "enter"},
		{waitingroom.Navigation, queued, "Queued", "200 html waiting +place", "enter"},
		{waitingroom.Navigation, queued, "Turn", "forward +session", "enter"},
		{waitingroom.Navigation, queued, "Absent", "503 html waiting +place", "enter"},
		{waitingroom.Navigation, inside, "Inside", "forward +session", "enter"},
		{waitingroom.Navigation, inside, "Full", "200 html waiting +place", "enter"},
		{waitingroom.Navigation, inside, "Absent", "forward +session", "enter"},
		{waitingroom.Navigation, over, "Open", "forward +session", "enter"},
		{waitingroom.Navigation, over, "Full", "200 html waiting +place", "enter"},
		{waitingroom.Navigation, over, "Absent", "503 html waiting +place", "enter"},

		{waitingroom.JSONClient, none, "Open", "forward +session", "enter"},
		{waitingroom.JSONClient, none, "Full", "200 json waiting +place", "enter"},
		{waitingroom.JSONClient, none, "Refused", "200 json rejected", "enter"},
		{waitingroom.JSONClient, queued, "Queued", "200 json waiting +place", "enter"},
		{waitingroom.JSONClient, queued, "Turn", "forward +session", "enter"},
		{waitingroom.JSONClient, queued, "Absent", "503 json waiting +place", "enter"},
		{waitingroom.JSONClient, inside, "Inside", "forward +session", "enter"},

		{waitingroom.Background, none, "Open", "forward +session", "look enter"},
		{waitingroom.Background, none, "Full", "429 json waiting", "look"},
		{waitingroom.Background, none, "Refused", "429 json rejected", "look"},
		{waitingroom.Background, none, "Absent", "503 json waiting", "look"},
		{waitingroom.Background, queued, "Queued", "429 json waiting", "look"},
		{waitingroom.Background, queued, "Turn", "429 json turn", "look"},
		{waitingroom.Background, queued, "Open", "forward +session", "look enter"},
		{waitingroom.Background, inside, "Inside", "forward +session", "enter"},
		{waitingroom.Background, inside, "Absent", "forward +session", "enter"},
		{waitingroom.Background, over, "Full", "429 json waiting", "look"},
		{waitingroom.Background, over, "Inside", "forward +session", "look enter"},

		{waitingroom.Subresource, none, "Open", "forward +session", "look enter"},
		{waitingroom.Subresource, none, "Full", "429 plain waiting", "look"},
		{waitingroom.Subresource, none, "Refused", "429 plain rejected", "look"},
		{waitingroom.Subresource, queued, "Queued", "429 plain waiting", "look"},
		{waitingroom.Subresource, queued, "Turn", "429 plain turn", "look"},
		{waitingroom.Subresource, queued, "Inside", "forward +session", "look enter"},
		{waitingroom.Subresource, inside, "Inside", "forward +session", "enter"},
		{waitingroom.Subresource, over, "Full", "429 plain waiting", "look"},
		{waitingroom.Subresource, over, "Absent", "503 plain waiting", "look"},

		{waitingroom.Upgrade, none, "Open", "forward +session", "look enter"},
		{waitingroom.Upgrade, none, "Full", "503 plain waiting", "look"},
		{waitingroom.Upgrade, queued, "Queued", "503 plain waiting", "look"},
		{waitingroom.Upgrade, queued, "Turn", "503 plain turn", "look"},
		{waitingroom.Upgrade, inside, "Inside", "forward +session", "enter"},
		{waitingroom.Upgrade, inside, "Absent", "forward +session", "enter"},

		{waitingroom.ServiceWorker, none, "Full", "503 plain waiting", "look"},
		{waitingroom.ServiceWorker, queued, "Queued", "503 plain waiting", "look"},
		{waitingroom.ServiceWorker, inside, "Inside", "forward +session", "enter"},

		{waitingroom.Speculative, none, "Open", "503 plain waiting", ""},
		{waitingroom.Speculative, none, "Full", "503 plain waiting", ""},
		{waitingroom.Speculative, queued, "Turn", "503 plain waiting", ""},
		{waitingroom.Speculative, inside, "Inside", "forward", "look"},
		{waitingroom.Speculative, inside, "Full", "503 plain waiting", "look"},
		{waitingroom.Speculative, inside, "Open", "503 plain turn", "look"},
		{waitingroom.Speculative, inside, "Absent", "forward", "look"},
		{waitingroom.Speculative, over, "Inside", "forward", "look"},

		{waitingroom.Preflight, none, "Full", "pass", ""},
		{waitingroom.Preflight, queued, "Turn", "pass", ""},

		{waitingroom.WaitEndpoint, none, "Full", "200 json waiting +place", "check"},
		{waitingroom.WaitEndpoint, none, "Open", "200 json turn +place", "check"},
		{waitingroom.WaitEndpoint, none, "Refused", "200 json rejected", "check"},
		{waitingroom.WaitEndpoint, queued, "Queued", "200 json waiting +place", "check"},
		{waitingroom.WaitEndpoint, queued, "Turn", "200 json turn +place", "check"},
		{waitingroom.WaitEndpoint, queued, "Head", "hold", "check"},
		{waitingroom.WaitEndpoint, queued, "Absent", "503 json waiting +place", "check"},
		{waitingroom.WaitEndpoint, inside, "Inside", "200 json turn +session", "check"},
		{waitingroom.WaitEndpoint, inside, "Absent", "503 json waiting +session", "check"},
	} {
		t.Run(strings.Join([]string{test.kind.String(), test.cookie, test.scene}, ""), func(t *testing.T) {
			t.Parallel()
			coordinator := &rooms{answer: scene(test.scene)}
			r := request(as(test.kind))
			switch test.cookie {
			case queued:
				holds(t, place())(r)
			case inside:
				holds(t, seat())(r)
			case over:
				holds(t, stale())(r)
			}
			a := decide(t, gate(t, coordinator, config()), r)
			if got := summary(t, a); got != test.want {
				t.Errorf("answered %q, want %q", got, test.want)
			}
			if got := coordinator.purposes(); got != test.asked {
				t.Errorf("asked %q, want %q", got, test.asked)
			}
			if a.Kind != test.kind {
				t.Errorf("kind is %v", a.Kind)
			}
		})
	}
}

// TestUnsafeBackgroundRequestTakesAPlace is a button whose script posts after the session has
// lapsed: the visitor has a place from then on.
func TestUnsafeBackgroundRequestTakesAPlace(t *testing.T) {
	t.Parallel()
	post := func(r *waitingroom.Request) { r.Method, r.ContentType = "POST", "application/json" }
	coordinator := &rooms{answer: scene("Full")}
	g := gate(t, coordinator, config())
	a := decide(t, g, request(as(waitingroom.Background), post, holds(t, stale())))
	if got := summary(t, a); got != "429 json waiting +place" {
		t.Errorf("a POST without a place is answered %q", got)
	}
	coordinator.answer = scene("Turn")
	a = decide(t, g, request(as(waitingroom.Background), post, holds(t, place())))
	if got := summary(t, a); got != "429 json turn" {
		t.Errorf("a POST with a place is answered %q: it must not use up the admission", got)
	}
}

// TestRaceAfterLook is a room that fills up between the two questions of a sub-resource.
func TestRaceAfterLook(t *testing.T) {
	t.Parallel()
	coordinator := &rooms{answer: func(a queue.Ask) (queue.Answer, error) {
		if a.Purpose == queue.Look {
			return scene("Open")(a)
		}
		return scene("Full")(a)
	}}
	a := decide(t, gate(t, coordinator, config()), request(as(waitingroom.Subresource)))
	if got := summary(t, a); got != "429 plain waiting +place" {
		t.Errorf("answered %q; the ticket that began must reach the visitor", got)
	}
}

func TestStatusCodeOfTheRoom(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 202, 429} {
		for _, json := range []bool{true, false} {
			g := gate(t, &rooms{answer: scene("Queued")}, config(func(c *waitingroom.Config) {
				c.Room.QueueingStatusCode, c.Room.JSONResponseEnabled = status, json
			}))
			wantJSON := 429
			if json {
				wantJSON = status
			}
			for kind, want := range map[waitingroom.Kind]int{
				waitingroom.Navigation: status, waitingroom.JSONClient: wantJSON, waitingroom.Background: 429,
				waitingroom.Subresource: 429, waitingroom.Upgrade: 503, waitingroom.WaitEndpoint: 200,
			} {
				a := decide(t, g, request(as(kind), holds(t, place())))
				if a.Status != want {
					t.Errorf("%v with status code %d, JSON %v: %d, want %d", kind, status, json, a.Status, want)
				}
				if a.Kind == waitingroom.JSONClient && !strings.HasPrefix(string(a.Body), `{"cfWaitingRoom":{`) {
					t.Errorf("a JSON client got %.40q", a.Body)
				}
			}
		}
	}
}

func TestRequestsThatNoRoomConcerns(t *testing.T) {
	t.Parallel()
	coordinator := &rooms{answer: scene("Full")}
	g := gate(t, coordinator, config(func(c *waitingroom.Config) { c.Room.Path = "/shop" }))
	for name, r := range map[string]*waitingroom.Request{
		"OtherHost": request(func(r *waitingroom.Request) { r.Host, r.Path = "other.test", "/shop" }),
		"OtherPath": request(func(r *waitingroom.Request) { r.Path = "/shopping" }),
		"OwnPathOfUncoveredHost": request(as(waitingroom.WaitEndpoint), func(r *waitingroom.Request) {
			r.Host = "other.test"
		}),
	} {
		if a := decide(t, g, r); a.Action != waitingroom.Pass || len(a.Cookie) > 0 || a.RoomID != "" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for _, path := range []string{"/shop", "/shop/x", "/shop/../shop/y", "/%73hop"} {
		if a := decide(t, g, request(func(r *waitingroom.Request) { r.Path = path })); a.Action != waitingroom.Respond || a.RoomName != "shop" {
			t.Errorf("%s walks past the room: %+v", path, a)
		}
	}
	var empty waitingroom.Answer
	waitingroom.NewGate(coordinator).Decide(t.Context(), request(), &empty)
	if empty.Action != waitingroom.Pass {
		t.Errorf("a gate without a table: %+v", empty)
	}
}

func TestSuspendedRoomIsTransparent(t *testing.T) {
	t.Parallel()
	coordinator := &rooms{answer: scene("Full")}
	g := gate(t, coordinator, config(func(c *waitingroom.Config) { c.Room.Suspended, c.Room.QueueAll = true, true }))
	for kind := waitingroom.Navigation; kind <= waitingroom.Preflight; kind++ {
		a := decide(t, g, request(as(kind), holds(t, place())))
		if a.Action != waitingroom.Pass || len(a.Cookie) > 0 {
			t.Errorf("%v: %+v", kind, a)
		}
	}
	// A page that is still open learns that it may go on.
	a := decide(t, g, request(as(waitingroom.WaitEndpoint), holds(t, place())))
	if got := summary(t, a); got != "200 json turn" || !strings.Contains(string(a.Body), `"yourTurn":true`) {
		t.Errorf("the waiting page hears %q %s", got, a.Body)
	}
	if got := coordinator.purposes(); got != "" {
		t.Errorf("the coordinator was asked to %s", got)
	}
}

// TestPassthroughRoomNeverCostsAVisitor: such a room counts, it does not hold back.
func TestPassthroughRoomNeverCostsAVisitor(t *testing.T) {
	t.Parallel()
	change := func(c *waitingroom.Config) { c.Room.QueueingMethod = anteroom.Passthrough }
	g := gate(t, &rooms{answer: scene("Absent")}, config(change))
	if got := summary(t, decide(t, g, request())); got != "pass" {
		t.Errorf("without a coordinator a newcomer gets %q", got)
	}
	g = gate(t, &rooms{answer: scene("Absent")}, config(change, func(c *waitingroom.Config) { c.Room.QueueAll = true }))
	if got := summary(t, decide(t, g, request())); got != "503 html waiting +place" {
		t.Errorf("with queue_all a newcomer gets %q", got)
	}
}

// TestAbsentCoordinator: the cookie is the only witness that the visitor is still here.
func TestAbsentCoordinator(t *testing.T) {
	t.Parallel()
	g := gate(t, &rooms{answer: scene("Absent")}, config())
	now := start()
	t.Run("SessionStaysAlive", func(t *testing.T) {
		t.Parallel()
		a := decide(t, g, request(holds(t, seat())))
		tk, _ := sealed(t, string(a.Cookie))
		if want := seat(); tk.ID != want.ID || !tk.Accepted.Equal(want.Accepted) || !tk.LastSeen.Equal(now) {
			t.Errorf("sealed %+v", tk)
		}
	})
	t.Run("PlaceStays", func(t *testing.T) {
		t.Parallel()
		a := decide(t, g, request(holds(t, place())))
		tk, _ := sealed(t, string(a.Cookie))
		if want := place(); tk.ID != want.ID || !tk.Arrival.Equal(want.Arrival) || !tk.LastSeen.Equal(now) {
			t.Errorf("sealed %+v", tk)
		}
	})
	t.Run("EarlyCheckInDoesNotCount", func(t *testing.T) {
		t.Parallel()
		early := place()
		early.LastSeen = now.Add(-time.Second)
		a := decide(t, g, request(holds(t, early)))
		if tk, _ := sealed(t, string(a.Cookie)); !tk.LastSeen.Equal(early.LastSeen) {
			t.Errorf("sealed %+v", tk)
		}
	})
	t.Run("NewcomerHasAPlaceFromNowOn", func(t *testing.T) {
		t.Parallel()
		r := request()
		a := decide(t, g, r)
		if tk, _ := sealed(t, string(a.Cookie)); tk.ID != r.NewID || !tk.Arrival.Equal(now) || !tk.Accepted.IsZero() {
			t.Errorf("sealed %+v", tk)
		}
		if value(a, "Refresh") == "" || value(a, "Retry-After") == "" || value(a, "Cache-Control") != "no-store" {
			t.Errorf("header %v", a.Headers)
		}
	})
	t.Run("RejectingRoomStillRejects", func(t *testing.T) {
		t.Parallel()
		g := gate(t, &rooms{answer: scene("Absent")}, config(func(c *waitingroom.Config) { c.Room.QueueingMethod = anteroom.Reject }))
		if got := summary(t, decide(t, g, request())); got != "503 html rejected" {
			t.Errorf("a newcomer gets %q", got)
		}
	})
	t.Run("FixedSessionEnds", func(t *testing.T) {
		t.Parallel()
		g := gate(t, &rooms{answer: scene("Absent")}, config(func(c *waitingroom.Config) { c.Room.DisableSessionRenewal = true }))
		over := seat()
		over.Arrival, over.Accepted = now.Add(-time.Hour), now.Add(-6*time.Minute)
		if got := summary(t, decide(t, g, request(holds(t, over)))); got != "503 html waiting +place" {
			t.Errorf("after the end of a fixed session the visitor gets %q", got)
		}
	})
}

// TestAskCarriesTheCookie: what the coordinator said before comes back to it, and the draws with it.
func TestAskCarriesTheCookie(t *testing.T) {
	t.Parallel()
	coordinator := &rooms{answer: scene("Inside")}
	r := request(holds(t, seat()))
	decide(t, gate(t, coordinator, config()), r)
	tk := seat()
	want := queue.Ask{
		Purpose: queue.Enter, ID: tk.ID, Arrival: tk.Arrival, Accepted: tk.Accepted, LastSeen: tk.LastSeen, Refresh: tk.Refresh,
		NewID: r.NewID, Draw: r.Draw,
	}
	if got := coordinator.asks[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("asked\n%+v, want\n%+v", got, want)
	}
}

// TestSameRequestSameAnswer: a decision depends on its arguments alone.
func TestSameRequestSameAnswer(t *testing.T) {
	t.Parallel()
	for kind := waitingroom.Navigation; kind <= waitingroom.WaitEndpoint; kind++ {
		for _, cookie := range []*ticket.Ticket{nil, new(place()), new(seat())} {
			r := request(as(kind))
			if cookie != nil {
				holds(t, *cookie)(r)
			}
			g := gate(t, &rooms{answer: scene("Full")}, config())
			first, second := decide(t, g, r), decide(t, g, r)
			if !reflect.DeepEqual(first, second) {
				t.Errorf("%v: two answers to one request:\n%+v\n%+v", kind, first, second)
			}
			used := waitingroom.Answer{Headers: []waitingroom.Header{{Name: "Old", Value: "x"}}, Body: []byte("old"), Cookie: []byte("old"), Status: 7, RoomName: "old"}
			g.Decide(t.Context(), r, &used)
			if got := fmt.Sprint(used.Headers, string(used.Body), string(used.Cookie), used.Status, used.RoomName); got !=
				fmt.Sprint(first.Headers, string(first.Body), string(first.Cookie), first.Status, first.RoomName) {
				t.Errorf("%v: a used answer keeps something of its past: %s", kind, got)
			}
		}
	}
}
