package page_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
)

func TestCustomPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		view   *page.View
		want   string
	}{
		"Variables":       {"{{waitTime}} {{waitTimeFormatted}} {{ position }}", inLine(), "10 10 minutes 1284"},
		"Section":         {"{{#waitTimeKnown}}known{{/waitTimeKnown}}{{^waitTimeKnown}}unknown{{/waitTimeKnown}}", inLine(), "known"},
		"InvertedSection": {"{{#queueAll}}a{{/queueAll}}{{^queueAll}}b{{/queueAll}}", inLine(), "b"},
		"Nested":          {"{{#isFIFOQueue}}{{#position}}{{position}}{{/position}}{{/isFIFOQueue}}", inLine(), "1284"},
		"ZeroIsEmpty":     {"{{#position}}a{{/position}}{{^position}}b{{/position}}", with(func(v *page.View) { v.Position = 0 }), "b"},
		"Turnstile":       {"[{{{turnstile}}}{{&turnstile}}{{turnstile}}]", inLine(), "[]"},
		"Comment":         {"a{{! anything {{ at all }}b", inLine(), "ab"},
		"Delimiters":      {"{{=<% %>=}}<% waitTime %> {{waitTime}}<%={{ }}=%> {{waitTime}}", inLine(), "10 {{waitTime}} 10"},
		"Escapes":         {"{{roomName}}", with(func(v *page.View) { v.RoomName = `<b>"&'` }), "&lt;b&gt;&#34;&amp;&#39;"},
		"Hours":           {"{{waitTimeHours}}:{{waitTimeHourMinutes}}", with(func(v *page.View) { v.Wait = 135 * time.Minute }), "2:15"},
		"LineEndings":     {"a\r\n{{#queueAll}}\r\nb\r\n{{/queueAll}}\r\nc", inLine(), "a\r\nc"},
		"ReturnURL":       {"{{returnURL}}", with(func(v *page.View) { v.Return = "//evil.test" }), "/"},
		"NoTags":          {"<p>hello", inLine(), "<p>hello"},
		"OnlySpace":       {" ", inLine(), " "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmpl := compile(t, c.source)
			if !tmpl.Custom() {
				t.Error("not taken for a custom page")
			}
			for range 2 { // the second time from memory
				if got := string(tmpl.Append([]byte("x"), c.view)); got != "x"+c.want {
					t.Errorf("got %q, want %q", got, "x"+c.want)
				}
			}
		})
	}
}

func TestEveryVariableCanBeUsed(t *testing.T) {
	t.Parallel()
	for name := range page.Variables(inLine()) {
		compile(t, "{{"+name+"}}{{#"+name+"}}{{/"+name+"}}{{^"+name+"}}{{/"+name+"}}")
	}
	for _, name := range publishedFields() {
		compile(t, "{{"+name+"}}")
	}
}

func TestFaultyTemplates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"Unclosed":          {"ab\ncd {{waitTime", `line 2, column 4: the tag is not closed; "}}" is missing`},
		"UnclosedTriple":    {"{{{turnstile}}", `line 1, column 1: the tag is not closed; "}}}" is missing`},
		"Empty":             {"é{{}}", "line 1, column 2: the tag is empty"},
		"EmptySection":      {"{{#}}{{/}}", "line 1, column 1: the tag names nothing"},
		"EmptyTriple":       {"{{{}}}", "line 1, column 1: the tag names nothing"},
		"OpenSection":       {"a\n  {{#queueAll}}b", `line 2, column 3: the section "queueAll" is never closed`},
		"StrayClose":        {"{{/queueAll}}", "line 1, column 1: {{/queueAll}} closes a section that was not opened"},
		"Interleaved":       {"{{#queueAll}}{{#waitTime}}{{/queueAll}}{{/waitTime}}", "line 1, column 27: {{/queueAll}} stands where {{/waitTime}} must"},
		"Unknown":           {"x {{foo}}", `line 1, column 3: unknown variable "foo"; use the variables`},
		"UnknownCase":       {"{{WaitTime}}", `line 1, column 1: unknown variable "WaitTime"; did you mean waitTime?`},
		"OldName":           {"{{waitTimeMinutes}}", "it is called waitTime"},
		"UnknownSection":    {"{{#foo}}{{/foo}}", `line 1, column 1: unknown variable "foo"`},
		"UnknownInverted":   {"{{^foo}}{{/foo}}", `line 1, column 1: unknown variable "foo"`},
		"Dot":               {"{{#waitTime}}{{.}}{{/waitTime}}", `line 1, column 14: unknown variable "."`},
		"Dotted":            {"{{waitTime.foo}}", `unknown variable "waitTime.foo"`},
		"Words":             {"{{wait time}}", `unknown variable "wait time"`},
		"Partial":           {"\n\n {{> /etc/passwd }}", "line 3, column 2: partials such as {{>/etc/passwd}} are not supported"},
		"Triple":            {"{{{roomName}}}", `line 1, column 1: "roomName" cannot be shown unescaped; only turnstile can; write {{roomName}}`},
		"Ampersand":         {"{{& roomName}}", `"roomName" cannot be shown unescaped`},
		"SpacedTriple":      {"{{ {roomName} }}", `"roomName" cannot be shown unescaped`},
		"HalfTriple":        {"{{ {turnstile }}", "tags that cannot be told apart"},
		"Delimiters":        {"{{=<% %>}}", "line 1, column 1: new delimiters are written as {{=<% %>=}}"},
		"OneDelimiter":      {"{{=|=}}", "new delimiters are written as"},
		"EqualDelimiter":    {"{{== ==}}", "new delimiters are written as"},
		"TripleInDelimiter": {"{{=<% %>=}}<%{roomName}%>", `line 1, column 12: "roomName" cannot be shown unescaped`},
		"NotUTF8":           {"abc\n\xff", "line 2, column 1: the page is not valid UTF-8"},
		"TooDeep":           {strings.Repeat("{{#queueAll}}", 33) + strings.Repeat("{{/queueAll}}", 33), "line 1, column 417: sections are nested more than 32 deep"},
		"TooManyTags":       {strings.Repeat("{{waitTime}}", 10_001), "the page has more than 10000 tags"},
		"TooLarge":          {strings.Repeat("a", anteroom.CustomPageBytesMax+1), "the page has 1048577 bytes, more than 1048576"},
		"GrowsTooLarge":     {strings.Repeat("a", anteroom.CustomPageBytesMax-20) + "{{roomName}}", "the page would have more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := faultOf(t, c.source).Error(); !strings.Contains(got, c.want) {
				t.Errorf("the error is %.200q, want %q in it", got, c.want)
			}
		})
	}
}

func TestLargestPage(t *testing.T) {
	t.Parallel()
	source := strings.Repeat("a", anteroom.CustomPageBytesMax)
	if got := render(t, source, inLine()); got != source {
		t.Errorf("%d bytes came out", len(got))
	}
	deep := strings.Repeat("{{#waitTimeKnown}}", 32) + "x" + strings.Repeat("{{/waitTimeKnown}}", 32)
	if got := render(t, deep, inLine()); got != "x" {
		t.Errorf("32 nested sections give %q", got)
	}
}

// TestTooLargeGivesWay has a visitor whose values make the page larger than the trial did.
func TestTooLargeGivesWay(t *testing.T) {
	t.Parallel()
	source := strings.Repeat("{{returnURL}}", 1000)
	v := with(func(v *page.View) { v.Return = "/" + strings.Repeat("x", 5000) })
	tmpl := compile(t, source)
	if got := string(tmpl.Append([]byte("before"), v)); !strings.HasPrefix(got, "before<!doctype html>") {
		t.Errorf("%.60q… is not the default page", got)
	}
	if got := string(tmpl.Append(nil, inLine())); !strings.HasPrefix(got, "/shop/cart") {
		t.Errorf("%.60q… is not the custom page", got)
	}
}

func TestCustomPolicy(t *testing.T) {
	t.Parallel()
	if got := compile(t, "x").ContentSecurityPolicy(); got != "object-src 'none'" {
		t.Errorf("the policy is %q", got)
	}
}

// TestMemoryIsExact asks one template from many sides for more states than it remembers.
func TestMemoryIsExact(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"Remembered": "{{position}}/{{usersWaiting}}/{{#queueAll}}all{{/queueAll}}",
		"Personal":   "{{position}}/{{usersWaiting}}/{{#queueAll}}all{{/queueAll}}{{! }}{{#ticketId}}{{/ticketId}}",
		"Large":      strings.Repeat(" ", 100_000) + "{{position}}/{{usersWaiting}}/{{#queueAll}}all{{/queueAll}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmpl := compile(t, source)
			var all sync.WaitGroup
			for side := range 4 {
				all.Go(func() {
					for i := range 160 {
						v := with(func(v *page.View) { v.Position, v.Waiting, v.QueueAll = i*(side+1)%150, i%7, i%2 == 0 })
						want := fmt.Sprintf("%d/%d/", v.Position, v.Waiting)
						if v.QueueAll {
							want += "all"
						}
						if got := strings.TrimSpace(string(tmpl.Append(nil, v))); got != want {
							t.Errorf("got %q, want %q", got, want)
							return
						}
					}
				})
			}
			all.Wait()
		})
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"", "{{waitTime}}", "{{#queueAll}}{{^waitTimeKnown}}{{/waitTimeKnown}}{{/queueAll}}", "{{{turnstile}}}", "{{ {x} }}",
		"{{=<% %>=}}<% waitTime %>", "{{=| |=}}|waitTime|", "{{={ }=}}{{turnstile}}", "{{>x}}", "{{!c}}{{!}}", "{{#position}}\r\n{{.}}\n{{/position}}",
		"{{{{{{}}}}}}", "{{&turnstile}}", "{{#a}}{{#b}}", "{{/}}", "\xff{{", "{{=}}", "{{= =}}", "{{roomName}}{{{roomName}}}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		tmpl, err := page.Compile(source, "")
		if err != nil {
			if faultOf(t, source).Text == "" {
				t.Error("the fault has no text")
			}
			return
		}
		const secret = "<i>&'\""
		v := with(func(v *page.View) { v.RoomName, v.TicketID = secret, secret })
		first := string(tmpl.Append(nil, v))
		if strings.Contains(first, secret) && !strings.Contains(source, "<i>") {
			t.Errorf("a value came out unescaped: %q", first)
		}
		if again := string(tmpl.Append(nil, v)); again != first {
			t.Errorf("the second rendering differs: %q, %q", first, again)
		}
	})
}
