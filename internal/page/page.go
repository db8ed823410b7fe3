package page

// Template is a compiled waiting page: the default one or an operator's own. It never changes after
// [Compile] and is safe for concurrent use.
type Template struct{}

// Compile checks and compiles a room's page. An empty source is the default page. language is the
// room's default_template_language; it is used when a View has no language of its own, and
// anteroom.AutoLanguage or an unknown locale there means anteroom.DefaultLanguage.
//
// The error is an *anteroom.Error with anteroom.CodeInvalid at custom_page_html that names line and
// column: a syntax error, an unknown variable, a partial, unescaped output of anything but
// turnstile, or a source over anteroom.CustomPageBytesMax.
func Compile(source, language string) (*Template, error) { return &Template{}, nil }

// Custom tells that the page is the operator's own.
func (t *Template) Custom() bool { return false }

// Append appends the page for v to dst: a whole HTML document in UTF-8.
func (t *Template) Append(dst []byte, v *View) []byte { return dst }

// ContentSecurityPolicy is the value of the header of that name for this page. For the default page
// it allows its one style, its one script and requests to its own origin, and leaves framing free.
// An operator's own page may load what it likes; its policy only refuses plugins.
func (t *Template) ContentSecurityPolicy() string { return "" }

// AppendJSON appends {"cfWaitingRoom":{…}} for v to dst: the published fields in their published
// order, then position, usersWaiting, yourTurn, ticketId, waitTimeLowSeconds, waitTimeSeconds,
// waitTimeHighSeconds and waitTimeIsRange.
func AppendJSON(dst []byte, v *View) []byte { return dst }

// RefreshSeconds is the published refreshIntervalSeconds and the value of the Refresh header: whole
// seconds, rounded up; 0 for a rejected visitor, who has nothing to refresh.
func RefreshSeconds(v *View) int { return 0 }

// Variables are what a custom template can show: the published variables and our own additions, all
// of them strings, ints and bools.
func Variables(v *View) map[string]any { return nil }

// Languages lists the published locales, anteroom.DefaultLanguage first.
func Languages() []string { return nil }

// MatchLanguage picks the published locale that fits an Accept-Language header best; it is
// anteroom.DefaultLanguage when none does.
func MatchLanguage(acceptLanguage string) string { return "" }
