package anteroom

import "time"

// Method says who of the waiting visitors goes next.
type Method string

// The queueing methods, as published.
const (
	FIFO        Method = "fifo"        // in order of arrival
	Random      Method = "random"      // by lottery, the same chance for everyone who waits
	Passthrough Method = "passthrough" // everyone enters, limits are not applied, visitors are counted
	Reject      Method = "reject"      // nobody new enters and nobody queues
)

// Methods lists every queueing method in the order in which it is documented.
func Methods() []Method { return []Method{FIFO, Random, Passthrough, Reject} }

// Bounds of a room's fields. The published lower bound of 200 for both limits is not enforced.
const (
	LimitMin           = 1
	LimitMax           = 1<<31 - 1
	SessionMinutesMin  = 1
	SessionMinutesMax  = 30
	SessionMinutes     = 5             // default of session_duration
	CustomPageBytesMax = 1 << 20       // largest custom_page_html
	ReservedPath       = "/.anteroom/" // the gate's own paths on each host that has a room
	AnyHost            = "*"           // covers every host of the listener; an addition to the published API
	AutoLanguage       = "auto"        // the page speaks the visitor's Accept-Language; an addition
	DefaultLanguage    = "en-US"
)

// Route is a host and a path prefix that a room covers.
type Route struct {
	// Host is compared exactly and without regard to case; port and trailing dot are ignored.
	Host string `json:"host"`
	// Path is a case-sensitive prefix that ends at a segment boundary: /shop covers /shop and
	// /shop/x, never /shopping. Default "/".
	Path string `json:"path"`
}

// CookieAttributes are the settable attributes of a room's cookie.
type CookieAttributes struct {
	// SameSite is auto, lax, none or strict. auto is none over HTTPS and lax otherwise.
	SameSite string `json:"samesite"`
	// Secure is auto, always or never. auto sets it when the visitor came over HTTPS.
	Secure string `json:"secure"`
}

// Room is a waiting room as the published API describes it, field by field. What that API lacks is
// in [Extras], so that a full replace by a foreign client never wipes it.
type Room struct {
	ID         string    `json:"id"`
	CreatedOn  time.Time `json:"created_on"`
	ModifiedOn time.Time `json:"modified_on"`

	// Name is unique in the zone: letters, digits, '-' and '_'.
	Name string `json:"name"`
	// Host and Path are the first route; see Route for how they match.
	Host string `json:"host"`
	Path string `json:"path"`
	// AdditionalRoutes share the queue, the limits and the cookie; they need a CookieSuffix.
	AdditionalRoutes []Route `json:"additional_routes"`

	// TotalActiveUsers is the most sessions at any instant. Range LimitMin to LimitMax.
	TotalActiveUsers int `json:"total_active_users"`
	// NewUsersPerMinute is the most admissions in any sliding 60 s. At most TotalActiveUsers.
	NewUsersPerMinute int `json:"new_users_per_minute"`
	// SessionDuration is in minutes, 1 to 30, default 5: how long a session lasts after the last
	// request. Extras.SessionDuration refines it.
	SessionDuration int `json:"session_duration"`
	// DisableSessionRenewal makes a session last SessionDuration from admission, whatever follows.
	DisableSessionRenewal bool `json:"disable_session_renewal"`

	// Suspended switches the room off: traffic goes to the origin, no cookie is issued.
	Suspended bool `json:"suspended"`
	// QueueAll admits nobody new; sessions go on until they end; the wait is unknown.
	QueueAll bool `json:"queue_all"`
	// QueueingMethod is fifo, random, passthrough or reject.
	QueueingMethod Method `json:"queueing_method"`
	// QueueingStatusCode is the status of the waiting page: 200, 202 or 429.
	QueueingStatusCode int `json:"queueing_status_code"`
	// JSONResponseEnabled answers requests that prefer JSON with the cfWaitingRoom object.
	JSONResponseEnabled bool `json:"json_response_enabled"`

	// CustomPageHTML is a Mustache template; empty means the default page.
	CustomPageHTML string `json:"custom_page_html"`
	// DefaultTemplateLanguage is the language of the default page, or AutoLanguage.
	DefaultTemplateLanguage string `json:"default_template_language"`
	Description             string `json:"description"`

	// CookieSuffix names the room's cookie: the base name, '_' and the suffix.
	CookieSuffix     string           `json:"cookie_suffix"`
	CookieAttributes CookieAttributes `json:"cookie_attributes"`
	// EnabledOriginCommands may hold "revoke": the origin ends a session by a response header.
	EnabledOriginCommands []string `json:"enabled_origin_commands"`
	TurnstileMode         string   `json:"turnstile_mode"`
	TurnstileAction       string   `json:"turnstile_action"`

	// The times of the next event; null until events are configured.
	NextEventPrequeueStartTime *time.Time `json:"next_event_prequeue_start_time"`
	NextEventStartTime         *time.Time `json:"next_event_start_time"`
}

// Routes lists every route of the room, the first one first.
func (r *Room) Routes() []Route {
	return append([]Route{{Host: r.Host, Path: r.Path}}, r.AdditionalRoutes...)
}

// Extras are a room's settings beyond the published API. They are a sub-resource of their own.
type Extras struct {
	// SessionDuration is exact and overrides Room.SessionDuration when positive; at least 1 s.
	SessionDuration Duration `json:"session_duration"`
}

// Session is how long a session of the room lasts after its last request.
func (r *Room) Session(x Extras) time.Duration {
	if x.SessionDuration > 0 {
		return time.Duration(x.SessionDuration)
	}
	return time.Duration(r.SessionDuration) * time.Minute
}
