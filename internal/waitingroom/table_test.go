package waitingroom_test

import (
	"strings"
	"testing"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

func TestCompileNamesTheFault(t *testing.T) {
	t.Parallel()
	broken := func(change func(*anteroom.Room)) []waitingroom.Config {
		return []waitingroom.Config{config(func(c *waitingroom.Config) { change(&c.Room) })}
	}
	for name, test := range map[string]struct {
		configs []waitingroom.Config
		want    []string
	}{
		"NoID":          {broken(func(r *anteroom.Room) { r.ID = "" }), []string{`room "shop"`, "id"}},
		"SameID":        {[]waitingroom.Config{config(), config()}, []string{`room "shop"`, roomID}},
		"BrokenPage":    {broken(func(r *anteroom.Room) { r.CustomPageHTML = "{{#open}}" }), []string{`room "shop"`, "custom_page_html"}},
		"BrokenHost":    {broken(func(r *anteroom.Room) { r.Host = "http://x y" }), []string{"http://x y"}},
		"CookieBreak":   {broken(func(r *anteroom.Room) { r.CookieSuffix = "a;b" }), []string{"cookie_suffix"}},
		"CookieNewline": {broken(func(r *anteroom.Room) { r.CookieSuffix = "a\r\nSet-Cookie: x" }), []string{"cookie_suffix"}},
		"OwnPath":       {broken(func(r *anteroom.Room) { r.Path = "/.anteroom" }), []string{"path", "/.anteroom/"}},
		"BelowOwnPath":  {broken(func(r *anteroom.Room) { r.Path = "/%2eanteroom/x/" }), []string{"path", "/.anteroom/"}},
		"OwnPathOfARoute": {broken(func(r *anteroom.Room) {
			r.AdditionalRoutes = []anteroom.Route{{Host: "x.test", Path: "/a/../.anteroom/wait"}}
		}), []string{"path", "/.anteroom/"}},
		"SameRoute": {[]waitingroom.Config{config(), config(func(c *waitingroom.Config) { c.Room.ID, c.Room.Host = "other", "SHOP.test" })}, []string{"shop.test"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, err := waitingroom.Compile(test.configs, ring(t))
			if err == nil || table != nil {
				t.Fatal("compiled")
			}
			for _, word := range test.want {
				if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(word)) {
					t.Errorf("%q does not name %q", err, word)
				}
			}
		})
	}
	if _, err := waitingroom.Compile(nil, nil); err == nil {
		t.Error("compiled without keys")
	}
}

// TestDefaultsOfASparseRoom: a room with the required fields only works.
func TestDefaultsOfASparseRoom(t *testing.T) {
	t.Parallel()
	g := gate(t, &rooms{answer: scene("Full")}, waitingroom.Config{Room: anteroom.Room{ID: roomID, Name: "shop", Host: "shop.test", SessionDuration: 5}})
	a := decide(t, g, request())
	if got := summary(t, a); got != "200 html waiting +place" {
		t.Errorf("answered %q", got)
	}
	if lang := value(a, "Content-Language"); lang != "en-US" {
		t.Errorf("the page speaks %q", lang)
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ room, visitor, want string }{
		"Fixed":       {"de-DE", "fr", "de-DE"},
		"Auto":        {"auto", "fr-CA, en;q=0.5", "fr-FR"},
		"AutoUnknown": {"auto", "tlh", "en-US"},
		"AutoNothing": {"auto", "", "en-US"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t, &rooms{answer: scene("Full")}, config(func(c *waitingroom.Config) { c.Room.DefaultTemplateLanguage = test.room }))
			a := decide(t, g, request(func(r *waitingroom.Request) { r.AcceptLanguage = test.visitor }))
			if got := value(a, "Content-Language"); got != test.want {
				t.Errorf("the page speaks %q, want %q", got, test.want)
			}
		})
	}
	g := gate(t, &rooms{answer: scene("Full")}, config(func(c *waitingroom.Config) { c.Room.CustomPageHTML = "<p>{{waitTime}}</p>" }))
	if a := decide(t, g, request()); value(a, "Content-Language") != "" || !strings.Contains(string(a.Body), "<p>") {
		t.Errorf("nobody knows what language an operator's own page speaks: %v", a.Headers)
	}
}

// TestChangeOfTheTable: the next decision uses the new one.
func TestChangeOfTheTable(t *testing.T) {
	t.Parallel()
	g := gate(t, &rooms{answer: scene("Full")}, config())
	table, err := waitingroom.Compile([]waitingroom.Config{config(func(c *waitingroom.Config) { c.Room.QueueingStatusCode = 202 })}, ring(t))
	if err != nil {
		t.Fatal(err)
	}
	before := decide(t, g, request())
	g.Set(table)
	if after := decide(t, g, request()); before.Status != 200 || after.Status != 202 {
		t.Errorf("status %d, then %d", before.Status, after.Status)
	}
}

func TestDraws(t *testing.T) {
	t.Parallel()
	d, other := waitingroom.NewDraws(), waitingroom.NewDraws()
	nonces, ids := map[[waitingroom.NonceSize]byte]bool{}, map[string]bool{}
	const n = 70_000 // more than two bytes of the counter
	for range n {
		var r waitingroom.Request
		d.Fill(&r)
		nonces[r.Nonce], ids[r.NewID.String()] = true, true
	}
	var r waitingroom.Request
	other.Fill(&r)
	if nonces[r.Nonce] || len(nonces) != n || len(ids) != n {
		t.Errorf("%d nonces, %d ids of %d draws", len(nonces), len(ids), n)
	}
}
