package page

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cbroglie/mustache"

	"github.com/anteroom/anteroom"
)

// renderedBytesMax bounds one rendering of a custom page.
const renderedBytesMax = 1 << 20

// custom is an operator's page, checked and parsed.
type custom struct {
	parsed *mustache.Template
	// used are the variables that the page shows or tests, each once. Renderings that agree in them
	// are the same bytes.
	used []variable
	// remember is false when used has a value of the single visitor.
	remember bool
	cache    renderings
	// scratch holds *scratch values, so that a remembered page costs no memory.
	scratch sync.Pool
}

// scratch is what one look-up needs.
type scratch struct {
	facts facts
	key   []byte
}

// compileCustom puts the template behind the fence: the size, the tags and the names are checked
// before the Mustache parser sees it, partials are refused twice, and a first rendering shows that
// the page stays within its bound.
func compileCustom(source string) (*custom, *anteroom.Error) {
	if len(source) > anteroom.CustomPageBytesMax {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the page has %d bytes, more than %d",
			len(source), anteroom.CustomPageBytesMax).WithHint("load images and styles from another host")
	}
	if i := invalidUTF8(source); i >= 0 {
		return nil, (&scanner{source: source}).fault(i, "the page is not valid UTF-8")
	}
	all := variables()
	known := make(map[string]*variable, len(all))
	for i := range all {
		known[all[i].name] = &all[i]
	}
	tags, fault := checkTags(source, known)
	if fault != nil {
		return nil, fault
	}
	parsed, err := mustache.ParseStringPartials(source, noPartials{})
	if err != nil {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the template cannot be read: %w", err)
	}
	if !sameTags(parsed.Tags(), &tags) || len(tags) > 0 {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the template has tags that cannot be told apart").
			WithHint("write each tag on its own, without braces around it")
	}
	c := newCustom(parsed, known)
	if _, ok := c.append(nil, sampleView()); !ok {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the page would have more than %d bytes", renderedBytesMax)
	}
	return c, nil
}

func invalidUTF8(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// sameTags takes the parser's tags off the front of ours, in order. Should the two readings of a
// template ever differ, the page is refused.
func sameTags(parsed []mustache.Tag, ours *[]tag) bool {
	for _, p := range parsed {
		if len(*ours) == 0 {
			return false
		}
		t := (*ours)[0]
		*ours = (*ours)[1:]
		section := p.Type() == mustache.Section || p.Type() == mustache.InvertedSection
		if p.Type() == mustache.Partial || p.Name() != t.name || section != (t.kind == '#' || t.kind == '^') {
			return false
		}
		if section && !sameTags(p.Tags(), ours) {
			return false
		}
	}
	return true
}

func newCustom(parsed *mustache.Template, known map[string]*variable) *custom {
	c := &custom{parsed: parsed, remember: true}
	seen := make(map[string]bool, len(known))
	var walk func([]mustache.Tag)
	walk = func(tags []mustache.Tag) {
		for _, t := range tags {
			if x := known[t.Name()]; !seen[x.name] {
				seen[x.name] = true
				c.used = append(c.used, *x)
				c.remember = c.remember && !x.personal
			}
			if t.Type() != mustache.Variable {
				walk(t.Tags())
			}
		}
	}
	walk(parsed.Tags())
	return c
}

// sampleView is a visitor whose values are as long as they usually get.
func sampleView() *View {
	return &View{
		RoomName: "a_waiting_room_with_quite_a_long_name", TicketID: strings.Repeat("f", 32),
		Method: anteroom.Random, Known: true, Wait25: 10 * time.Hour, Wait: 11 * time.Hour, Wait75: 12 * time.Hour,
		Ranged: true, Position: 1_000_000, Waiting: 1_000_000, Refresh: time.Minute, Language: anteroom.DefaultLanguage,
		New: true, Return: "/" + strings.Repeat("a", 200), WaitURL: "/.anteroom/wait",
	}
}

// append appends the page for v; ok is false and dst as it was when it would be too large.
func (c *custom) append(dst []byte, v *View) (out []byte, ok bool) {
	look, ok := c.scratch.Get().(*scratch)
	if !ok {
		look = new(scratch)
	}
	defer c.scratch.Put(look)
	look.facts = factsOf(v)
	if !c.remember {
		page, ok := c.render(v, &look.facts)
		return append(dst, page...), ok
	}
	key := look.key[:0]
	for i := range c.used {
		before := len(key)
		key = c.used[i].append(key, v, &look.facts)
		// The length keeps "1","23" and "12","3" apart.
		key = binary.AppendUvarint(key, uint64(len(key)-before))
	}
	look.key = key
	if page := c.cache.get(key); page != nil {
		return append(dst, page...), true
	}
	page, ok := c.render(v, &look.facts)
	if !ok {
		return dst, false
	}
	c.cache.put(string(key), page)
	return append(dst, page...), true
}

// render runs Mustache over plain values only: nothing passed in has a method, is a list or a
// function, so that no template can loop or call.
func (c *custom) render(v *View, f *facts) ([]byte, bool) {
	values := make(map[string]any, len(c.used))
	for i := range c.used {
		values[c.used[i].name] = c.used[i].value(v, f)
	}
	var w boundedWriter
	if err := c.parsed.FRender(&w, values); err != nil || w.full {
		return nil, false
	}
	return w.buf.Bytes(), true
}

// boundedWriter takes up to renderedBytesMax bytes. It remembers that there were more, as the
// renderer does not look at every error.
type boundedWriter struct {
	buf  bytes.Buffer
	full bool
}

// Write appends p, or nothing when it does not fit.
func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.full || w.buf.Len()+len(p) > renderedBytesMax {
		w.full = true
		return 0, io.ErrShortWrite
	}
	return w.buf.Write(p)
}

// noPartials refuses every partial: the parser's own provider reads files, and one that includes
// itself ends the process.
type noPartials struct{}

// Get finds no partial.
func (noPartials) Get(string) (string, error) { return "", errors.ErrUnsupported }
