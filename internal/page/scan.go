package page

import (
	"strings"
	"unicode/utf8"

	"github.com/anteroom/anteroom"
)

// Bounds of a custom template beside its size.
const (
	// sectionDepthMax bounds how deep sections nest: the renderer recurses.
	sectionDepthMax = 32
	// tagsMax bounds the work of one rendering.
	tagsMax = 10_000
)

// tag is one Mustache tag of a template.
type tag struct {
	// offset is where its opening delimiter begins.
	offset int
	// kind is the tag's mark, one of # ^ / > { & = !, or 0 for a variable.
	kind byte
	name string
}

// scanner reads a template tag by tag, exactly as the renderer's parser does. The parser itself
// tells neither columns nor which tags are unescaped, so a reading of our own decides what passes.
type scanner struct {
	source      string
	open, close string
	at          int
}

// next gives the next tag; ok is false at the end.
func (s *scanner) next() (t tag, ok bool, fault *anteroom.Error) {
	i := strings.Index(s.source[s.at:], s.open)
	if i < 0 {
		return tag{}, false, nil
	}
	t.offset = s.at + i
	start := t.offset + len(s.open)
	end := s.close
	if strings.HasPrefix(s.source[start:], "{") {
		end = "}" + s.close
	}
	n := strings.Index(s.source[start:], end)
	if n < 0 {
		return t, false, s.fault(t.offset, "the tag is not closed; %q is missing", end)
	}
	s.at = start + n + len(end)
	inner := strings.TrimSpace(s.source[start : s.at-len(s.close)])
	if inner == "" {
		return t, false, s.fault(t.offset, "the tag is empty")
	}
	if !strings.ContainsRune("#^/>{&=!", rune(inner[0])) {
		t.name = inner
		return t, true, nil
	}
	t.kind = inner[0]
	inner = inner[1:]
	if t.kind == '{' {
		inner = strings.TrimSuffix(inner, "}")
	}
	t.name = strings.TrimSpace(inner)
	if t.kind == '=' {
		return t, true, s.delimiters(t)
	}
	if t.name == "" && t.kind != '!' {
		return t, false, s.fault(t.offset, "the tag names nothing")
	}
	return t, true, nil
}

// delimiters reads {{=<% %>=}}.
func (s *scanner) delimiters(t tag) *anteroom.Error {
	body, ok := strings.CutSuffix(t.name, "=")
	open, end, two := strings.Cut(strings.TrimSpace(body), " ")
	if !ok || !two || open == "" || end == "" || strings.ContainsAny(open+end, " \t\r\n=") {
		return s.fault(t.offset, "new delimiters are written as {{=<%% %%>=}}")
	}
	s.open, s.close = open, end
	return nil
}

// fault is an error at a place in the source, in lines and characters from 1.
func (s *scanner) fault(offset int, format string, args ...any) *anteroom.Error {
	before := s.source[:offset]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	args = append([]any{line, column}, args...)
	return anteroom.Errorf(anteroom.CodeInvalid, "line %d, column %d: "+format, args...)
}

// checkTags reads all tags and refuses what the fence keeps out. It gives the tags that show or
// test a variable.
func checkTags(source string, known map[string]*variable) ([]tag, *anteroom.Error) {
	s := &scanner{source: source, open: "{{", close: "}}"}
	var used, open []tag
	for count := 0; ; count++ {
		t, ok, fault := s.next()
		if fault != nil {
			return nil, fault
		}
		if !ok {
			break
		}
		if count == tagsMax {
			return nil, s.fault(t.offset, "the page has more than %d tags", tagsMax)
		}
		if open, fault = s.nest(open, t); fault != nil {
			return nil, fault
		}
		if strings.IndexByte("/=!", t.kind) >= 0 {
			continue
		}
		if fault = s.checkName(t, known); fault != nil {
			return nil, fault
		}
		used = append(used, t)
	}
	if len(open) > 0 {
		t := open[len(open)-1]
		return nil, s.fault(t.offset, "the section %q is never closed", t.name)
	}
	return used, nil
}

// nest follows sections as they open and close.
func (s *scanner) nest(open []tag, t tag) ([]tag, *anteroom.Error) {
	switch t.kind {
	case '#', '^':
		if len(open) == sectionDepthMax {
			return open, s.fault(t.offset, "sections are nested more than %d deep", sectionDepthMax)
		}
		return append(open, t), nil
	case '/':
		if len(open) == 0 {
			return open, s.fault(t.offset, "{{/%s}} closes a section that was not opened", t.name)
		}
		if last := open[len(open)-1]; last.name != t.name {
			return open, s.fault(t.offset, "{{/%s}} stands where {{/%s}} must", t.name, last.name)
		}
		return open[:len(open)-1], nil
	default:
		return open, nil
	}
}

func (s *scanner) checkName(t tag, known map[string]*variable) *anteroom.Error {
	switch {
	case t.kind == '>':
		return s.fault(t.offset, "partials such as {{>%s}} are not supported", t.name).
			WithHint("put the text into the page itself")
	case known[t.name] == nil:
		return s.fault(t.offset, "unknown variable %q", t.name).WithHint("%s", nearest(t.name, known))
	case (t.kind == '{' || t.kind == '&') && t.name != rawVariable:
		return s.fault(t.offset, "%q cannot be shown unescaped; only %s can", t.name, rawVariable).
			WithHint("write {{%s}}", t.name)
	default:
		return nil
	}
}

// nearest says what to do about an unknown name: most are a matter of upper and lower case.
func nearest(name string, known map[string]*variable) string {
	for k := range known {
		if strings.EqualFold(k, name) {
			return "did you mean " + k + "?"
		}
	}
	if name == "waitTimeMinutes" {
		return "it is called waitTime"
	}
	return "use the variables of the cfWaitingRoom object, such as waitTime and position"
}
