package page

// Template is a compiled waiting page: the default one or an operator's own. It is safe for
// concurrent use.
type Template struct {
	language string
	// custom is nil for the default page.
	custom *custom
}

// Compile checks and compiles a room's page. An empty source is the default page. language is the
// room's default_template_language; it is used when a View has no language of its own, and
// anteroom.AutoLanguage or an unknown locale there means anteroom.DefaultLanguage.
//
// The error is an *anteroom.Error with anteroom.CodeInvalid at custom_page_html that names line and
// column: a syntax error, an unknown variable, a partial, unescaped output of anything but
// turnstile, or a source over anteroom.CustomPageBytesMax.
func Compile(source, language string) (*Template, error) {
	t := &Template{language: language}
	if source == "" {
		return t, nil
	}
	c, fault := compileCustom(source)
	if fault != nil {
		return nil, fault.At(sourceField)
	}
	t.custom = c
	return t, nil
}

// sourceField is the room's field that holds a custom page.
const sourceField = "custom_page_html"

// Custom tells that the page is the operator's own.
func (t *Template) Custom() bool { return t.custom != nil }

// Append appends the page for v to dst: a whole HTML document in UTF-8. An operator's page that
// cannot be rendered, because names made it too large, gives way to the default page.
func (t *Template) Append(dst []byte, v *View) []byte {
	if t.custom != nil {
		if out, ok := t.custom.append(dst, v); ok {
			return out
		}
	}
	return theBook().document(v.Language, t.language).append(dst, v)
}

// ContentSecurityPolicy is the value of the header of that name for this page. For the default page
// it allows its one style, its one script and requests to its own origin, and leaves framing free.
// An operator's own page may load what it likes; its policy only refuses plugins.
func (t *Template) ContentSecurityPolicy() string {
	if t.custom != nil {
		return customPolicy
	}
	return theBook().policy
}

// customPolicy is deliberately weak: a page that was written for the published product may use
// scripts, fonts and frames from anywhere, and it is the operator's own.
const customPolicy = "object-src 'none'"

// Variables are what a custom template can show: the published variables, the template-only
// waitTimeHours and waitTimeHourMinutes, the fields that AppendJSON adds (those of draw as drawNumber and so on), and roomName, language,
// newVisitor, returnURL and waitURL. All are strings, ints and bools.
func Variables(v *View) map[string]any {
	f := factsOf(v)
	all := variables()
	m := make(map[string]any, len(all))
	for i := range all {
		m[all[i].name] = all[i].value(v, &f)
	}
	return m
}
