package waitingroom_test

import (
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/waitingroom"
)

// two rooms of different hosts, one of them with a second route, and one room for every other host.
func hosts() []waitingroom.Config {
	named := func(id, host, path string) waitingroom.Config {
		return config(func(c *waitingroom.Config) { c.Room.ID, c.Room.Name, c.Room.Host, c.Room.Path = id, id, host, path })
	}
	a := named("a", "shop.test", "/checkout")
	a.Room.CookieSuffix = "a"
	a.Room.AdditionalRoutes = append(a.Room.AdditionalRoutes, a.Room.Routes()[0])
	a.Room.AdditionalRoutes[0].Host = "pay.test"
	return []waitingroom.Config{a, named("b", "game.test", "/"), named("any", "*", "/")}
}

func TestOwnPaths(t *testing.T) {
	t.Parallel()
	ask := func(host, path, query string) func(*waitingroom.Request) {
		return func(r *waitingroom.Request) { r.Host, r.Path, r.Query = host, path, query }
	}
	wait := "/.anteroom/wait"
	for name, test := range map[string]struct {
		change func(*waitingroom.Request)
		want   string
		asked  string
	}{
		"FirstRoute":        {ask("shop.test", wait, "room=a"), "200 json waiting", "check"},
		"SecondRoute":       {ask("pay.test", wait, "room=a"), "200 json waiting", "check"},
		"HostWithPort":      {ask("GAME.test.:8443", wait, "room=b"), "200 json waiting", "check"},
		"AnyHost":           {ask("third.test", wait, "room=any"), "200 json waiting", "check"},
		"RestOfTheHost":     {ask("shop.test", wait, "room=any"), "200 json waiting", "check"},
		"EncodedID":         {ask("game.test", wait, "x=y&room=%62"), "200 json waiting", "check"},
		"FirstOfTwo":        {ask("game.test", wait, "room=b&room=a"), "200 json waiting", "check"},
		"RoomOfOtherHost":   {ask("shop.test", wait, "room=b"), "404 json", ""},
		"CoveredByAnother":  {ask("game.test", wait, "room=any"), "404 json", ""},
		"UnknownRoom":       {ask("shop.test", wait, "room=zzz"), "404 json", ""},
		"NoRoom":            {ask("shop.test", wait, ""), "404 json", ""},
		"EmptyRoom":         {ask("shop.test", wait, "room="), "404 json", ""},
		"ArrayParameter":    {ask("game.test", wait, "room[]=b"), "404 json", ""},
		"SeveralEquals":     {ask("game.test", wait, "room=b=b"), "404 json", ""},
		"LonePercent":       {ask("game.test", wait, "room=%"), "404 json", ""},
		"ZeroByte":          {ask("game.test", wait, "room=b%00"), "404 json", ""},
		"HugeParameter":     {ask("game.test", wait, "room="+strings.Repeat("x", 1<<20)), "404 json", ""},
		"OtherOwnPath":      {ask("game.test", "/.anteroom/admin", ""), "404 json", ""},
		"OwnFolder":         {ask("game.test", "/.anteroom/", ""), "404 json", ""},
		"OwnFolderNoSlash":  {ask("game.test", "/.anteroom", ""), "404 json", ""},
		"BelowTheEndpoint":  {ask("game.test", wait+"/x", "room=b"), "404 json", ""},
		"OtherSpelling":     {ask("game.test", "/%2Eanteroom/wait", "room=b"), "404 json", ""},
		"DotSegments":       {ask("game.test", "/x/../.anteroom/wait", "room=b"), "400 json", ""},
		"UncoveredPartHost": {ask("shop.test", "/.anteroom/x", ""), "404 json", ""},
		"LookAlike":         {ask("game.test", "/.anteroomish", ""), "200 html waiting", "enter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			coordinator := &rooms{answer: scene("Full")}
			r := request(test.change)
			if !strings.HasPrefix(test.want, "200 html") {
				r.Accept, r.FetchDest, r.FetchMode = "application/json", "empty", "cors"
			}
			a := decide(t, gate(t, coordinator, hosts()...), r)
			got, _, _ := strings.Cut(summary(t, a), " unreadable") // the cookie is another room's
			got, _, _ = strings.Cut(got, " +")
			if got != test.want || coordinator.purposes() != test.asked {
				t.Errorf("answered %q, asked %q; want %q, %q", got, coordinator.purposes(), test.want, test.asked)
			}
			if a.Status == 404 && (value(a, "Cache-Control") != "no-store" || !strings.HasPrefix(string(a.Body), `{"success":false,"errors":[{"code":1001,`)) {
				t.Errorf("%s %v", a.Body, a.Headers)
			}
		})
	}
}

func TestMethodsOfTheWaitEndpoint(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{
		"GET": "200 json waiting +place", "HEAD": "200 json waiting +place", "POST": "405 json", "DELETE": "405 json", "OPTIONS": "405 json",
	} {
		a := decide(t, gate(t, &rooms{answer: scene("Full")}, config()), request(as(waitingroom.WaitEndpoint), func(r *waitingroom.Request) { r.Method = method }))
		if got := summary(t, a); got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
		if allow := value(a, "Allow"); (allow == "GET, HEAD") != (a.Status == 405) {
			t.Errorf("%s: Allow %q", method, allow)
		}
		if (len(a.Body) == 0) != (method == "HEAD") {
			t.Errorf("%s: body %q", method, a.Body)
		}
	}
}

func TestSpeculativePollHasNoEffect(t *testing.T) {
	t.Parallel()
	coordinator := &rooms{answer: scene("Full")}
	a := decide(t, gate(t, coordinator, config()), request(as(waitingroom.WaitEndpoint), as(waitingroom.Speculative)))
	if got := summary(t, a); got != "503 plain waiting" || coordinator.purposes() != "" || a.Kind != waitingroom.Speculative {
		t.Errorf("%q, asked %q", got, coordinator.purposes())
	}
}

// TestNobodyIsHeldInVain: only a waiting visitor at the head who has a cookie, once, and with GET.
func TestNobodyIsHeldInVain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scene  string
		change func(*waitingroom.Request)
		want   waitingroom.Action
	}{
		"Head":       {"Head", func(*waitingroom.Request) {}, waitingroom.Hold},
		"HeldBefore": {"Head", func(r *waitingroom.Request) { r.Held = true }, waitingroom.Respond},
		"OnlyHeader": {"Head", func(r *waitingroom.Request) { r.Method = "HEAD" }, waitingroom.Respond},
		"FarBehind":  {"Queued", func(*waitingroom.Request) {}, waitingroom.Respond},
		"TurnIsHere": {"Turn", func(*waitingroom.Request) {}, waitingroom.Respond},
		"Newcomer":   {"NewHead", func(r *waitingroom.Request) { r.Cookies = nil }, waitingroom.Respond},
		"Inside":     {"InsideHead", func(*waitingroom.Request) {}, waitingroom.Respond},
		"Navigation": {"Head", func(r *waitingroom.Request) { r.Path = "/" }, waitingroom.Respond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := decide(t, gate(t, &rooms{answer: scene(test.scene)}, config()),
				request(as(waitingroom.WaitEndpoint), holds(t, place()), test.change))
			if a.Action != test.want {
				t.Errorf("action %v, want %v", a.Action, test.want)
			}
			if a.Action == waitingroom.Hold && (a.RoomID != roomID || [16]byte(a.Ticket) != place().ID || len(a.Cookie) > 0) {
				t.Errorf("holds %+v", a)
			}
		})
	}
}

// TestAmbiguousPath: servers disagree where such a path leads, so no room would be right.
func TestAmbiguousPath(t *testing.T) {
	t.Parallel()
	coordinator := &rooms{answer: scene("Inside")}
	a := decide(t, gate(t, coordinator, hosts()...), request(holds(t, seat()), func(r *waitingroom.Request) { r.Path = "/about/../checkout" }))
	if got := summary(t, a); got != "400 json" || coordinator.purposes() != "" || value(a, "Cache-Control") != "no-store" {
		t.Errorf("answered %q", got)
	}
}
