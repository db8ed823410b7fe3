package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
)

// faces are the default page's states; each is a view.
func faces() map[string]*page.View {
	return map[string]*page.View{
		"line":    inLine(),
		"ranged":  with(func(v *page.View) { v.Ranged, v.Wait75 = true, 80*time.Minute }),
		"unknown": with(func(v *page.View) { v.Known, v.Position, v.New = false, 0, true }),
		"full":    with(func(v *page.View) { v.Wait = 30 * time.Hour }),
		"draw":    with(func(v *page.View) { v.Method, v.Position = anteroom.Random, 0 }),
		"all":     with(func(v *page.View) { v.QueueAll = true }),
		"no":      with(func(v *page.View) { v.Method, v.New = anteroom.Reject, true }),
		"turn":    with(func(v *page.View) { v.Turn, v.New = true, true }),
	}
}

// bare is a page without its style, its script and the script's texts, a line for each element.
func bare(html string) string {
	for _, element := range []string{"style", "script"} {
		html = regexp.MustCompile(`(?s)(<`+element+`[^>]*>).*?(</`+element+`>)`).ReplaceAllString(html, "$1…$2")
	}
	return strings.ReplaceAll(html, "><", ">\n<") + "\n"
}

// TestGolden compares pages with testdata/golden; UPDATE_GOLDEN=1 rewrites them.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ face, language string }{
		"line-en-US": {"line", "en-US"}, "ranged-de-DE": {"ranged", "de-DE"}, "unknown-fr-FR": {"unknown", "fr-FR"},
		"full-ja-JP": {"full", "ja-JP"}, "draw-ar-EG": {"draw", "ar-EG"}, "all-hi-IN": {"all", "hi-IN"},
		"no-ru-RU": {"no", "ru-RU"}, "turn-he-IL": {"turn", "he-IL"}, "line-fa-IR": {"line", "fa-IR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := *faces()[c.face]
			v.Language = c.language
			got, file := bare(render(t, "", &v)), "testdata/golden/"+name+".html"
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s:\n%s", file, got)
			}
		})
	}
}

// TestSize holds every page under 15 KiB, with a long name and a long path.
func TestSize(t *testing.T) {
	t.Parallel()
	const most = 15 << 10
	for _, language := range page.Languages() {
		for name, v := range faces() {
			v.Language, v.New, v.RoomName = language, true, strings.Repeat("name", 8)
			v.Return = "/" + strings.Repeat("p", 60) + "?a=1&b=2"
			if n := len(render(t, "", v)); n >= most {
				t.Errorf("%s in %s has %d bytes, not under %d", name, language, n, most)
			}
		}
	}
}

func TestEveryFaceIsWholeAndAlone(t *testing.T) {
	t.Parallel()
	outside := regexp.MustCompile(`(?i)(https?:)?//[a-z]|@import|url\(|<link[^>]+stylesheet|<img|<iframe|http-equiv`)
	for name, v := range faces() {
		html := render(t, "", v)
		if !strings.HasPrefix(html, "<!doctype html><html lang=\"en-US\" dir=\"ltr\">") || !strings.HasSuffix(html, "</html>") {
			t.Errorf("%s is not a whole document", name)
		}
		if strings.Contains(html, "{{") || !utf8.ValidString(html) {
			t.Errorf("%s has unfilled slots or broken text", name)
		}
		if found := outside.FindString(html); found != "" {
			t.Errorf("%s refers to something outside or reloads: %q", name, found)
		}
		for _, want := range []string{
			`<meta name="robots" content="noindex">`, `<link rel="icon" href="data:,">`, "<title>", "autumn-sale",
			`data-state="` + v2state(name) + `"`, `href="/shop/cart?step=2&amp;item=7"`, v.TicketID,
		} {
			if !strings.Contains(html, want) {
				t.Errorf("%s lacks %s", name, want)
			}
		}
	}
}

// v2state is the state that a face of faces has in the document.
func v2state(face string) string {
	switch face {
	case "ranged", "unknown", "full":
		return "line"
	default:
		return face
	}
}

func TestLanguageOfPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ room, visitor, want string }{
		{"de-DE", "", "de-DE"},
		{"de-DE", "fr-FR", "fr-FR"},
		{"de-DE", "xx-XX", "de-DE"},
		{anteroom.AutoLanguage, "", "en-US"},
		{anteroom.AutoLanguage, "ko-KR", "ko-KR"},
		{"", "", "en-US"},
	} {
		tmpl, err := page.Compile("", c.room)
		if err != nil {
			t.Fatal(err)
		}
		html := string(tmpl.Append(nil, with(func(v *page.View) { v.Language = c.visitor })))
		if !strings.Contains(html, `<html lang="`+c.want+`"`) {
			t.Errorf("room %q, visitor %q: not in %s", c.room, c.visitor, c.want)
		}
	}
}

// TestPolicyFitsPage computes the hashes of what really stands in each page.
func TestPolicyFitsPage(t *testing.T) {
	t.Parallel()
	policy := compile(t, "").ContentSecurityPolicy()
	element := regexp.MustCompile(`(?s)<(style|script)>(.*?)</(?:style|script)>`)
	for _, language := range page.Languages() {
		html := render(t, "", with(func(v *page.View) { v.Language = language }))
		found := element.FindAllStringSubmatch(html, -1)
		if len(found) != 2 {
			t.Fatalf("%s has %d inline elements, want one style and one script", language, len(found))
		}
		for _, m := range found {
			sum := sha256.Sum256([]byte(m[2]))
			if want := m[1] + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %s", language, policy, want)
			}
		}
		if strings.Contains(html, "style=") || regexp.MustCompile(`\son[a-z]+=`).MatchString(bare(html)) {
			t.Errorf("%s has inline attributes that the policy forbids", language)
		}
	}
	for _, part := range []string{"default-src 'none'", "connect-src 'self'", "base-uri 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s", part)
		}
	}
	if strings.Contains(policy, "frame-ancestors") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy %q restricts framing or allows too much", policy)
	}
}

// nasty are values that must stay text.
func nasty() []string {
	return []string{
		`"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, "</title><script>alert(1)</script>",
		"</script><script>alert(1)</script>", "\" onmouseover=\"alert(1)", "&lt;script&gt;", "<!--", "]]>", "\x00\x01\x7f",
		"\xff\xfe", "\u2028\u2029\u202e", "`${alert(1)}`", "{{room}}{{{turnstile}}}", strings.Repeat("<", 100),
	}
}

// marks counts the characters that make structure. Text from outside must not add one.
func marks(html string) [4]int {
	return [4]int{strings.Count(html, "<"), strings.Count(html, ">"), strings.Count(html, `"`), strings.Count(html, "'")}
}

func TestTextStaysText(t *testing.T) {
	t.Parallel()
	want := marks(render(t, "", inLine()))
	for _, evil := range nasty() {
		for field, v := range map[string]*page.View{
			"RoomName": with(func(v *page.View) { v.RoomName = evil }),
			"TicketID": with(func(v *page.View) { v.TicketID = evil }),
			"Return":   with(func(v *page.View) { v.Return = "/" + evil }),
			"WaitURL":  with(func(v *page.View) { v.WaitURL = "/" + evil }),
			"RoomID":   with(func(v *page.View) { v.RoomID = evil }),
			"Language": with(func(v *page.View) { v.Language = evil }),
			"Method":   with(func(v *page.View) { v.Method = anteroom.Method(evil) }),
		} {
			html := render(t, "", v)
			if got := marks(html); got != want {
				t.Errorf("%s = %q changes the structure: %v, want %v", field, evil, got, want)
			}
			if !utf8.ValidString(html) || strings.ContainsAny(html, "\x00\x01\x7f") {
				t.Errorf("%s = %q puts broken text into the page", field, evil)
			}
		}
	}
}

// hrefOf is the way back that a page offers.
func hrefOf(t *testing.T, html string) string {
	t.Helper()
	m := regexp.MustCompile(`<a href="([^"]*)">`).FindStringSubmatch(html)
	if m == nil {
		t.Fatal("the page has no way back")
	}
	return m[1]
}

func TestReturnIsSameOrigin(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/":                            "/",
		"/a?b=c":                       "/a?b=c",
		"/a?b=c&d=e":                   "/a?b=c&amp;d=e",
		"/a b":                         "/a%20b",
		"/ü?q=ß":                       "/%C3%BC?q=%C3%9F",
		"/%09/evil.test":               "/%09/evil.test",
		"/a//b":                        "/a//b",
		"/a?u=https://evil.test":       "/a?u=https://evil.test",
		`/"'<>`:                        "/%22%27%3C%3E",
		"":                             "/",
		"javascript:alert(1)":          "/",
		"//evil.test":                  "/",
		"///evil.test":                 "/",
		"https:evil.test":              "/",
		"https://evil.test":            "/",
		`\\evil.test`:                  "/",
		`/\evil.test`:                  "/",
		`/a\..\..\\evil.test`:          "/",
		"/\t/evil.test":                "/",
		"/\n/evil.test":                "/",
		"/a\r\nSet-Cookie: x=1":        "/",
		" /a":                          "/",
		"data:text/html,x":             "/",
		"?a":                           "/",
		"#a":                           "/",
		"/\x00":                        "/",
		"/" + strings.Repeat("a", 1e4): "/",
	} {
		v := with(func(v *page.View) { v.Return = in })
		if got := hrefOf(t, render(t, "", v)); got != want {
			t.Errorf("%.40q leads to %q, want %q", in, got, want)
		}
	}
}

func TestNoWaitURLNoScript(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "//evil.test/wait", "https://evil.test", "wait"} {
		html := render(t, "", with(func(v *page.View) { v.WaitURL = bad }))
		if !strings.Contains(html, `data-wait=""`) {
			t.Errorf("the script would ask %q", bad)
		}
	}
}

func TestCookieHint(t *testing.T) {
	t.Parallel()
	const hint = "A cookie keeps your place."
	shown := regexp.MustCompile(`<p class="hint">` + hint)
	for name, v := range faces() {
		v.New = false
		if shown.MatchString(render(t, "", v)) {
			t.Errorf("%s: a known visitor is told about cookies", name)
		}
		v.New = true
		if got, want := shown.MatchString(render(t, "", v)), name != "no" && name != "turn"; got != want {
			t.Errorf("%s: a new visitor is told about cookies: %v, want %v", name, got, want)
		}
	}
}

func FuzzView(f *testing.F) {
	for _, s := range nasty() {
		f.Add(s, "/"+s, s)
	}
	f.Add("a", "//x", "b")
	tmpl, err := page.Compile("", anteroom.DefaultLanguage)
	if err != nil {
		f.Fatal(err)
	}
	want := marks(string(tmpl.Append(nil, inLine())))
	custom, err := page.Compile(`<p title="{{roomName}}">{{ticketId}}<a href="{{returnURL}}">`, "")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, back, ticket string) {
		v := with(func(v *page.View) { v.RoomName, v.Return, v.TicketID, v.WaitURL = name, back, ticket, back })
		html := string(tmpl.Append(nil, v))
		if marks(html) != want || !utf8.ValidString(html) {
			t.Errorf("the structure changed:\n%s", bare(html))
		}
		href := hrefOf(t, html)
		if !strings.HasPrefix(href, "/") || strings.HasPrefix(href, "//") || strings.ContainsAny(href, "\\\t\r\n ") {
			t.Errorf("leads to %q", href)
		}
		if got := marks(string(custom.Append(nil, v))); got != [4]int{2, 2, 4, 0} {
			t.Errorf("a custom page's structure changed: %v", got)
		}
		if utf8.ValidString(ticket) && object(t, v)["ticketId"] != ticket {
			t.Errorf("ticket %q came back as %q", ticket, object(t, v)["ticketId"])
		}
	})
}

// TestDrawIsShown: a room that draws shows what can be checked, without the script; others say nothing.
func TestDrawIsShown(t *testing.T) {
	t.Parallel()
	if html := bare(render(t, "", faces()["draw"])); strings.Contains(html, "<details") {
		t.Error("a page without a draw speaks of one")
	}
	open := page.Draw{Number: 3, Phase: "open", Method: "random", Commitment: strings.Repeat("c0", 32), Ticket: strings.Repeat("7e", 16)}
	sealed, drawn := open, open
	sealed.Phase, sealed.Sealed, sealed.Root = "sealed", 12345, strings.Repeat("2d", 32)
	drawn.Phase, drawn.Record = "drawn", "/.anteroom/draw?room=a&number=3"
	for _, c := range []struct {
		name       string
		draw       page.Draw
		has, lacks []string
	}{
		{"Open", open, []string{
			"How is my place drawn?", open.Commitment, open.Ticket, `data-d="number">3<`,
			"<div hidden><dt>Tickets in the draw", `<a data-d="record" href="/" hidden>`,
		}, nil},
		{"Sealed", sealed, []string{sealed.Root, ">12345<", `<a data-d="record" href="/" hidden>`}, []string{"<div hidden><dt>Tickets"}},
		{"Drawn", drawn, []string{`href="/.anteroom/draw?room=a&amp;number=3">Record of draw</a>`}, nil},
	} {
		for _, language := range page.Languages() {
			v := *faces()["draw"]
			v.Draw, v.Language = c.draw, language
			html := render(t, "", &v)
			if n := len(html); n >= 17<<10 {
				t.Errorf("%s in %s has %d bytes", c.name, language, n)
			}
			if language != anteroom.DefaultLanguage {
				continue
			}
			html = strings.ReplaceAll(bare(html), "\n", "")
			for _, want := range c.has {
				if !strings.Contains(html, want) {
					t.Errorf("%s lacks %s: %s", c.name, want, html)
				}
			}
			for _, not := range c.lacks {
				if strings.Contains(html, not) {
					t.Errorf("%s has %s", c.name, not)
				}
			}
		}
	}
}
