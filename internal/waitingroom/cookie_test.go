package waitingroom_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// known asks the gate whose ticket a Cookie header carries.
func known(t *testing.T, cookies ...string) queue.Ask {
	t.Helper()
	coordinator := &rooms{answer: scene("Queued")}
	decide(t, gate(t, coordinator, config()), request(func(r *waitingroom.Request) { r.Cookies = cookies }))
	return coordinator.asks[0]
}

func TestFindsTheCookie(t *testing.T) {
	t.Parallel()
	seal := func(tk ticket.Ticket) string { return string(ring(t).Append(nil, roomID, tk, ticket.Nonce{1})) }
	older, newer := place(), place()
	older.LastSeen = older.LastSeen.Add(-10 * time.Second)
	older.ID = ticket.ID{8}
	ours := "__anteroom=" + seal(newer)
	for name, cookies := range map[string][]string{
		"Alone":               {ours},
		"First":               {ours + "; a=b"},
		"Last":                {"a=b; c=d; " + ours},
		"Between":             {"a=b; " + ours + "; c=d"},
		"OtherLine":           {"a=b", ours, "c=d"},
		"WithoutSpaces":       {"a=b;" + ours + ";c=d"},
		"Tabs":                {"a=b;\t " + ours + " \t; c=d"},
		"SpacesAroundEquals":  {"__anteroom = " + seal(newer)},
		"Quoted":              {`a="x y"; __anteroom="` + seal(newer) + `"; c=d`},
		"BrokenNeighbours":    {`;;=; a; "; b="\; ` + ours + `; ="; c`},
		"BinaryNeighbours":    {"a=\x00\xff\x01; " + ours + "; \x80"},
		"NameAsValue":         {"a=__anteroom; " + ours},
		"NameInName":          {"x__anteroom=1; __anteroomish=2; " + ours},
		"EmptyOneBefore":      {"__anteroom=; __anteroom; " + ours},
		"GarbageBefore":       {"__anteroom=garbage; " + ours},
		"GarbageBehind":       {ours + "; __anteroom=garbage"},
		"ForeignRoomBefore":   {"__anteroom=" + string(ring(t).Append(nil, "other", older, ticket.Nonce{2})) + "; " + ours},
		"OlderBefore":         {"__anteroom=" + seal(older) + "; " + ours},
		"OlderBehind":         {ours + "; __anteroom=" + seal(older)},
		"OlderInOtherLine":    {"__anteroom=" + seal(older), ours},
		"FormerName":          {"__anteroom_" + roomID + "=" + seal(newer)},
		"OwnNameBeforeFormer": {"__anteroom_old=" + seal(older), ours},
		"LongNeighbour":       {"a=" + strings.Repeat("b", 30_000) + "; " + ours},
		"ManyNeighbours":      {strings.Repeat("a=b; ", 2000) + ours},
		"TwiceTheSame":        {ours + "; " + ours},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := known(t, cookies...); got.ID != newer.ID {
				t.Errorf("%.200q: found %v", cookies, got.ID)
			}
		})
	}
}

func TestUnusableCookieIsANewVisitor(t *testing.T) {
	t.Parallel()
	good := string(ring(t).Append(nil, roomID, place(), ticket.Nonce{1}))
	future, ancient := place(), place()
	future.LastSeen = start().Add(6 * time.Second)
	ancient.LastSeen = start().Add(-25 * time.Hour)
	ancient.Arrival = ancient.LastSeen
	for name, cookies := range map[string][]string{
		"None":                nil,
		"Empty":               {""},
		"NoValue":             {"__anteroom"},
		"EmptyValue":          {"__anteroom="},
		"Garbage":             {"__anteroom=garbage"},
		"CutShort":            {"__anteroom=" + good[:len(good)-1]},
		"Changed":             {"__anteroom=" + good[:50] + "A" + good[51:] + "x"},
		"OtherRoom":           {"__anteroom=" + string(ring(t).Append(nil, "other", place(), ticket.Nonce{1}))},
		"Future":              {"__anteroom=" + string(ring(t).Append(nil, roomID, future, ticket.Nonce{1}))},
		"Ancient":             {"__anteroom=" + string(ring(t).Append(nil, roomID, ancient, ticket.Nonce{1}))},
		"OtherCase":           {"__ANTEROOM=" + good},
		"InForeignName":       {"my__anteroom=" + good},
		"InForeign":           {"a=b__anteroom=" + good},
		"Huge":                {"__anteroom=" + strings.Repeat("A", 100_000)},
		"BehindTheEnd":        {"a=" + strings.Repeat("b", 70_000) + "; __anteroom=" + good},
		"BehindTheEndOfLines": {"a=" + strings.Repeat("b", 70_000), "__anteroom=" + good},
		"LookAlike":           {"__anteroomish=" + good},
		"TooManyTries":        {strings.Repeat("__anteroom=garbage; ", 16) + "__anteroom=" + good},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := known(t, cookies...); !got.ID.IsZero() || !got.Arrival.IsZero() || !got.Accepted.IsZero() {
				t.Errorf("%.200q: found %+v", cookies, got)
			}
		})
	}
}

func TestCookieAttributes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		site, secure string
		https        bool
		want         string
	}{
		{"auto", "auto", false, "; HttpOnly; SameSite=Lax"},
		{"auto", "auto", true, "; HttpOnly; SameSite=None; Secure"},
		{"", "", false, "; HttpOnly; SameSite=Lax"},
		{"", "", true, "; HttpOnly; SameSite=None; Secure"},
		{"auto", "never", true, "; HttpOnly; SameSite=Lax"},
		{"auto", "always", false, "; HttpOnly; SameSite=Lax; Secure"},
		{"lax", "auto", true, "; HttpOnly; SameSite=Lax; Secure"},
		{"lax", "never", true, "; HttpOnly; SameSite=Lax"},
		{"strict", "auto", false, "; HttpOnly; SameSite=Strict"},
		{"strict", "always", true, "; HttpOnly; SameSite=Strict; Secure"},
		{"none", "auto", true, "; HttpOnly; SameSite=None; Secure"},
		{"none", "auto", false, "; HttpOnly; SameSite=Lax"},
		{"none", "always", false, "; HttpOnly; SameSite=None; Secure"},
	} {
		g := gate(t, &rooms{answer: scene("Full")}, config(func(c *waitingroom.Config) {
			c.Room.CookieAttributes = anteroom.CookieAttributes{SameSite: test.site, Secure: test.secure}
		}))
		a := decide(t, g, request(func(r *waitingroom.Request) { r.HTTPS, r.Host = test.https, "Shop.Test:8443" }))
		_, got, _ := strings.Cut(string(a.Cookie), "Max-Age=300")
		if got != test.want {
			t.Errorf("samesite %q, secure %q, HTTPS %v: %q, want %q", test.site, test.secure, test.https, got, test.want)
		}
		c, err := http.ParseSetCookie(string(a.Cookie))
		if err != nil || c.Name != "__anteroom" || c.Path != "/" || c.Domain != "" {
			t.Errorf("%s: %+v, %v", a.Cookie, c, err)
		}
	}
}

func TestMaxAge(t *testing.T) {
	t.Parallel()
	now := start()
	for name, test := range map[string]struct {
		answer  queue.Answer
		session time.Duration
		fixed   bool
		want    int
	}{
		"Place":             {queue.Answer{LastSeen: now}, time.Minute, false, 300},
		"PlaceSeenBefore":   {queue.Answer{LastSeen: now.Add(-40 * time.Second)}, time.Minute, false, 300},
		"Session":           {queue.Answer{Accepted: now, LastSeen: now}, 5 * time.Minute, false, 300},
		"SessionRoundedUp":  {queue.Answer{Accepted: now, LastSeen: now}, 1500 * time.Millisecond, false, 2},
		"CoordinatorAhead":  {queue.Answer{Accepted: now, LastSeen: now.Add(time.Millisecond)}, time.Minute, false, 60},
		"NotRenewed":        {queue.Answer{Accepted: now, LastSeen: now.Add(-20 * time.Second)}, time.Minute, false, 40},
		"FixedAtTheStart":   {queue.Answer{Accepted: now, LastSeen: now}, time.Minute, true, 60},
		"FixedInTheMiddle":  {queue.Answer{Accepted: now.Add(-20500 * time.Millisecond), LastSeen: now}, time.Minute, true, 40},
		"FixedBehindTheEnd": {queue.Answer{Accepted: now.Add(-2 * time.Minute), LastSeen: now}, time.Minute, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.answer.ID, test.answer.Arrival = queue.ID{1}, now.Add(-time.Hour)
			if !test.answer.Accepted.IsZero() {
				test.answer.Verdict = queue.Admitted
			}
			coordinator := &rooms{answer: func(queue.Ask) (queue.Answer, error) { return test.answer, nil }}
			a := decide(t, gate(t, coordinator, config(func(c *waitingroom.Config) {
				c.Extras.SessionDuration = anteroom.Duration(test.session)
				c.Room.DisableSessionRenewal = test.fixed
			})), request())
			c, err := http.ParseSetCookie(string(a.Cookie))
			if err != nil {
				t.Fatal(err)
			}
			got := max(c.MaxAge, 0) // -1 is ParseSetCookie's word for Max-Age=0
			if got != test.want {
				t.Errorf("%s: Max-Age %d, want %d", a.Cookie, got, test.want)
			}
		})
	}
}

// TestCookieCarriesTheAnswer is T3: the arrival stays, acceptance and last check-in are the
// admission.
func TestCookieCarriesTheAnswer(t *testing.T) {
	t.Parallel()
	accepted := start()
	tk := ticket.Ticket{ID: ticket.ID{4}, Arrival: accepted.Add(-10 * time.Minute), LastSeen: accepted.Add(-20 * time.Second), Refresh: 20 * time.Second}
	a := decide(t, gate(t, &rooms{answer: scene("Turn")}, config()), request(holds(t, tk)))
	got, _ := sealed(t, string(a.Cookie))
	want := ticket.Ticket{ID: tk.ID, Arrival: tk.Arrival, Accepted: accepted, LastSeen: accepted}
	if got != want || got.Bucket() != tk.Bucket() {
		t.Errorf("sealed %+v, want %+v", got, want)
	}
	if a.Ticket != tk.ID || a.RoomName != "shop" || a.RoomID != roomID {
		t.Errorf("the origin hears of %+v", a)
	}
}

// TestRoomsOfOneHostDoNotShareACookie: a visitor keeps the places in both.
func TestRoomsOfOneHostDoNotShareACookie(t *testing.T) {
	t.Parallel()
	other := func(id, host, path, suffix string, age time.Duration) waitingroom.Config {
		return config(func(c *waitingroom.Config) {
			c.Room.ID, c.Room.Name, c.Room.Host, c.Room.Path = id, id, host, path
			c.Room.CookieSuffix, c.Room.CreatedOn = suffix, start().Add(-age)
		})
	}
	configs := []waitingroom.Config{
		other("new", "Shop.test", "/new", "", 0),
		other("old", "shop.test", "/old", "", time.Hour),
		other("suffixed", "shop.test", "/suffixed", "x", time.Minute),
		other("same", "shop.test", "/same", "x", time.Second),
		other("elsewhere", "else.test", "/", "", time.Second),
		other("anywhere", "*", "/", "", 0),
	}
	g := gate(t, &rooms{answer: scene("Full")}, configs...)
	names := map[string]string{}
	for _, c := range configs {
		host := strings.Replace(c.Room.Host, "*", "third.test", 1)
		a := decide(t, g, request(func(r *waitingroom.Request) { r.Host, r.Path = host, c.Room.Path }))
		names[a.RoomID], _, _ = strings.Cut(string(a.Cookie), "=")
	}
	want := map[string]string{
		"new": "__anteroom_new", "old": "__anteroom", "suffixed": "__anteroom_x", "same": "__anteroom_x_same",
		"elsewhere": "__anteroom", "anywhere": "__anteroom_anywhere",
	}
	for id, name := range want {
		if names[id] != name {
			t.Errorf("room %s calls its cookie %q, want %q", id, names[id], name)
		}
	}
	configs[5].Room.CreatedOn = start().Add(-24 * time.Hour)
	g = gate(t, &rooms{answer: scene("Full")}, configs...)
	for path, name := range map[string]string{"/old": "__anteroom_old=", "/other": "__anteroom="} {
		a := decide(t, g, request(func(r *waitingroom.Request) { r.Path = path }))
		if !strings.HasPrefix(string(a.Cookie), name) {
			t.Errorf("beside an older room for every host: %s", a.Cookie)
		}
	}
	configs[5].Room.CreatedOn = start()
	slices.Reverse(configs)
	again := gate(t, &rooms{answer: scene("Full")}, configs...)
	a := decide(t, again, request(func(r *waitingroom.Request) { r.Path = "/old" }))
	if !strings.HasPrefix(string(a.Cookie), "__anteroom=") {
		t.Errorf("the order of the configuration changes a name: %s", a.Cookie)
	}
}

func FuzzCookies(f *testing.F) {
	good := string(ring(f).Append(nil, roomID, place(), ticket.Nonce{1}))
	for _, seed := range []string{
		"", "__anteroom=", "__anteroom=" + good, "a=b; __anteroom=" + good + "; c", `__anteroom="` + good + `"`,
		"__anteroom_x=" + good + ";;;", "__anteroom__anteroom=" + good, "a=\"__anteroom=" + good, "=;=;\x00;__anteroom;=",
	} {
		f.Add(seed, "")
		f.Add("x=y", seed)
	}
	coordinator := &rooms{}
	g := gate(f, coordinator, config())
	f.Fuzz(func(t *testing.T, first, second string) {
		asked := queue.Ask{}
		c := &rooms{answer: func(a queue.Ask) (queue.Answer, error) { asked = a; return scene("Full")(a) }}
		*coordinator = rooms{answer: c.answer}
		a := decide(t, g, request(func(r *waitingroom.Request) { r.Cookies = []string{first, second} }))
		if a.Action != waitingroom.Respond || a.Status != 200 || len(a.Cookie) == 0 {
			t.Fatalf("cookies %q, %q: %d %s", first, second, a.Status, a.Cookie)
		}
		if !asked.ID.IsZero() && asked.ID != place().ID {
			t.Fatalf("cookies %q, %q made up a ticket %v", first, second, asked.ID)
		}
		// Whatever stands around it, the visitor's own cookie is found.
		if len(first)+len(second) > 30_000 || strings.Count(first+second, "__anteroom") > 10 {
			return
		}
		decide(t, g, request(func(r *waitingroom.Request) { r.Cookies = []string{first, second, "__anteroom=" + good} }))
		if asked.ID != place().ID {
			t.Fatalf("cookies %q, %q hide the visitor's own", first, second)
		}
	})
}
