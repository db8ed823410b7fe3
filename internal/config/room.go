package config

import (
	"cmp"
	"strings"

	"github.com/anteroom/anteroom"
)

// Checks are the rules that other packages know.
type Checks struct {
	// Template checks the source of a custom page in a room of this default language. Nil accepts
	// every source. Its error names line and column.
	Template func(source, language string) error
}

// Defaults is a room in which every optional field has its default.
func Defaults() anteroom.Room {
	return anteroom.Room{
		Path:                    "/",
		AdditionalRoutes:        []anteroom.Route{},
		SessionDuration:         anteroom.SessionMinutes,
		QueueingMethod:          anteroom.FIFO,
		QueueingStatusCode:      200,
		DefaultTemplateLanguage: anteroom.DefaultLanguage,
		CookieAttributes:        anteroom.CookieAttributes{SameSite: "auto", Secure: "auto"},
		EnabledOriginCommands:   []string{},
		TurnstileMode:           "invisible",
		TurnstileAction:         "log",
	}
}

// Complete gives every optional field that a caller has left at its zero value its default.
func Complete(room *anteroom.Room) {
	d := Defaults()
	room.Path = cmp.Or(room.Path, d.Path)
	room.SessionDuration = cmp.Or(room.SessionDuration, d.SessionDuration)
	room.QueueingMethod = cmp.Or(room.QueueingMethod, d.QueueingMethod)
	room.QueueingStatusCode = cmp.Or(room.QueueingStatusCode, d.QueueingStatusCode)
	room.DefaultTemplateLanguage = cmp.Or(room.DefaultTemplateLanguage, d.DefaultTemplateLanguage)
	room.CookieAttributes.SameSite = cmp.Or(room.CookieAttributes.SameSite, d.CookieAttributes.SameSite)
	room.CookieAttributes.Secure = cmp.Or(room.CookieAttributes.Secure, d.CookieAttributes.Secure)
	room.TurnstileMode = cmp.Or(room.TurnstileMode, d.TurnstileMode)
	room.TurnstileAction = cmp.Or(room.TurnstileAction, d.TurnstileAction)
	if room.AdditionalRoutes == nil {
		room.AdditionalRoutes = d.AdditionalRoutes
	}
	if room.EnabledOriginCommands == nil {
		room.EnabledOriginCommands = d.EnabledOriginCommands
	}
}

// DecodeRoom reads the body of a POST or PUT: a room in which an absent field means its default. A
// field that is null, an enumeration that is "" or a number that is 0 where 0 has no meaning also
// mean the default. The error is an anteroom.Errors with every fault.
func DecodeRoom(body []byte, checks Checks) (anteroom.Room, error) {
	n, fault := parseJSON(body)
	if fault != nil {
		return anteroom.Room{}, anteroom.Errors{fault}
	}
	room, f := Defaults(), newFaults()
	readWholeRoom(reader{f}, n, "", &room)
	checkRoom(f, "", &room, checks)
	return room, f.list.OrNil()
}

// PatchRoom reads the body of a PATCH over the room as it is: an absent field keeps its value, null
// means the default. The error is an anteroom.Errors with every fault.
func PatchRoom(old anteroom.Room, body []byte, checks Checks) (anteroom.Room, error) {
	n, fault := parseJSON(body)
	if fault != nil {
		return old, anteroom.Errors{fault}
	}
	room, f := old, newFaults()
	readRoom(reader{f}, n, "", &room)
	checkRoom(f, "", &room, checks)
	if err := f.list.OrNil(); err != nil {
		return old, err
	}
	return room, nil
}

// readWholeRoom reads a room of which nothing is known yet.
func readWholeRoom(r reader, n *node, path string, room *anteroom.Room) {
	readRoom(r, n, path, room)
	if n.kind != objectKind {
		return
	}
	for _, name := range []string{"name", "host", "total_active_users", "new_users_per_minute"} {
		if value := n.get(name); value == nil || value.kind == nullKind {
			at := child(path, name)
			r.add(at, "%s is required", at)
		}
	}
}

// readRoom reads the given fields over what the room has.
func readRoom(r reader, n *node, path string, room *anteroom.Room) {
	if n.kind != objectKind {
		r.wrongType(n, path, "an object")
		return
	}
	r.object(n, path, roomFields(r, room))
	// A client that writes every field it has not set sends 0 here and cannot mean it. Whoever names
	// only the duration does mean it, and 0 is refused below.
	if room.SessionDuration == 0 && writesUnset(n) {
		room.SessionDuration = anteroom.SessionMinutes
	}
	if room.QueueingStatusCode == 0 && !r.has(child(path, "queueing_status_code")) {
		room.QueueingStatusCode = 200
	}
}

// writesUnset recognises a body of a client that writes the zero value of every field: either the
// time of creation is the zero time, or the status code is 0, which nobody writes by hand.
func writesUnset(n *node) bool {
	created, status := n.get("created_on"), n.get("queueing_status_code")
	return created != nil && strings.HasPrefix(created.text, "0001-01-01T00:00:00") ||
		status != nil && status.kind == numberKind && status.text == "0"
}

// roomFields are the known fields of a room, in the order of the documentation.
func roomFields(r reader, room *anteroom.Room) []field {
	d := Defaults()
	return []field{
		{"id", nil},
		{"created_on", nil},
		{"modified_on", nil},
		{"name", r.text(&room.Name, "")},
		{"host", r.text(&room.Host, "")},
		{"path", r.choice(&room.Path, d.Path)},
		{"additional_routes", list(r, &room.AdditionalRoutes, r.route)},
		{"total_active_users", r.whole(&room.TotalActiveUsers, 0)},
		{"new_users_per_minute", r.whole(&room.NewUsersPerMinute, 0)},
		{"session_duration", r.whole(&room.SessionDuration, d.SessionDuration)},
		{"disable_session_renewal", r.flag(&room.DisableSessionRenewal)},
		{"suspended", r.flag(&room.Suspended)},
		{"queue_all", r.flag(&room.QueueAll)},
		{"queueing_method", r.method(&room.QueueingMethod)},
		{"queueing_status_code", r.whole(&room.QueueingStatusCode, d.QueueingStatusCode)},
		{"json_response_enabled", r.flag(&room.JSONResponseEnabled)},
		{"custom_page_html", r.text(&room.CustomPageHTML, "")},
		{"default_template_language", r.choice(&room.DefaultTemplateLanguage, d.DefaultTemplateLanguage)},
		{"description", r.text(&room.Description, "")},
		{"cookie_suffix", r.text(&room.CookieSuffix, "")},
		{"cookie_attributes", r.cookieAttributes(&room.CookieAttributes)},
		{"enabled_origin_commands", list(r, &room.EnabledOriginCommands, func(to *string) func(*node, string) {
			return r.text(to, "")
		})},
		{"turnstile_mode", r.choice(&room.TurnstileMode, d.TurnstileMode)},
		{"turnstile_action", r.choice(&room.TurnstileAction, d.TurnstileAction)},
		{"next_event_prequeue_start_time", nil},
		{"next_event_start_time", nil},
	}
}

// method reads a queueing method in whatever case; the published documents have both.
func (r reader) method(to *anteroom.Method) func(*node, string) {
	return func(n *node, path string) {
		text := string(*to)
		r.choice(&text, string(anteroom.FIFO))(n, path)
		*to = anteroom.Method(strings.ToLower(text))
	}
}

func (r reader) route(to *anteroom.Route) func(*node, string) {
	return func(n *node, path string) {
		to.Path = "/"
		if n.kind != objectKind {
			r.wrongType(n, path, "an object with host and path")
			return
		}
		r.object(n, path, []field{{"host", r.text(&to.Host, "")}, {"path", r.choice(&to.Path, "/")}})
	}
}

// cookieAttributes reads the given attributes over what the room has; null is all defaults.
func (r reader) cookieAttributes(to *anteroom.CookieAttributes) func(*node, string) {
	return func(n *node, path string) {
		switch n.kind {
		case nullKind:
			*to = Defaults().CookieAttributes
		case objectKind:
			r.object(n, path, []field{
				{"samesite", r.choice(&to.SameSite, "auto")}, {"secure", r.choice(&to.Secure, "auto")},
			})
		default:
			r.wrongType(n, path, "an object")
		}
	}
}
