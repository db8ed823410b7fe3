package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
)

// Bounds that the published API does not state.
const (
	nameBytesMax        = 128
	suffixBytesMax      = 64
	descriptionBytesMax = 4096
	routesMax           = 100
)

// ValidateRoom checks a room that was not decoded here, such as one made from flags. The error is an
// anteroom.Errors with every fault.
func ValidateRoom(room *anteroom.Room, checks Checks) error {
	f := newFaults()
	checkRoom(f, "", room, checks)
	return f.list.OrNil()
}

// checkRoom notes the faults of a room whose fields stand below the path.
func checkRoom(f *faults, path string, room *anteroom.Room, checks Checks) {
	if f.has(path) {
		return // it is not even an object
	}
	f.checkName(child(path, "name"), room.Name)
	f.checkRoutes(path, room)
	f.checkLimits(path, room)
	if v := room.SessionDuration; v < anteroom.SessionMinutesMin || v > anteroom.SessionMinutesMax {
		f.outside(child(path, "session_duration"), strconv.Itoa(v), v < anteroom.SessionMinutesMin)
	}
	f.oneOf(child(path, "queueing_method"), string(room.QueueingMethod), methods())
	if at := child(path, "queueing_status_code"); !slices.Contains([]int{200, 202, 429}, room.QueueingStatusCode) {
		f.add(at, "%d is not allowed", room.QueueingStatusCode).WithHint("use 200, 202 or 429")
	}
	f.checkPage(path, room, checks)
	f.checkText(child(path, "description"), room.Description, descriptionBytesMax)
	f.checkCookie(path, room)
	f.checkCommands(child(path, "enabled_origin_commands"), room.EnabledOriginCommands)
	f.oneOf(child(path, "turnstile_mode"), room.TurnstileMode,
		[]string{"off", "invisible", "visible_non_interactive", "visible_managed"})
	f.oneOf(child(path, "turnstile_action"), room.TurnstileAction, []string{"log", "infinite_queue"})
}

func methods() []string {
	var names []string
	for _, m := range anteroom.Methods() {
		names = append(names, string(m))
	}
	return names
}

func (f *faults) checkName(path, name string) {
	switch bad := strings.Trim(name, nameLetters); {
	case name == "":
		f.add(path, "%s is required", path)
	case bad != "":
		f.add(path, "%s has %q, which is not allowed", quoted(name), []rune(bad)[0]).
			WithHint("use letters, digits, '-' and '_'")
	default:
		f.checkText(path, name, nameBytesMax)
	}
}

// The letters of a room's name. A suffix of a cookie's name may have them and a few more.
const (
	nameLetters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	suffixLetters = nameLetters + "!#$%&'*+.^`|~"
)

// outside notes a number out of its range.
func (f *faults) outside(path, given string, below bool) {
	name := path[strings.LastIndex(path, ".")+1:]
	lowest, highest := anteroom.LimitMin, anteroom.LimitMax
	switch name {
	case "new_users_per_minute":
		f.add(path, "%s must be in range [%d, total_active_users]: invalid data", path, lowest).
			WithHint("it is %s", given)
		return
	case "session_duration":
		lowest, highest = anteroom.SessionMinutesMin, anteroom.SessionMinutesMax
	case "queueing_status_code":
		f.add(path, "%s is not allowed", given).WithHint("use 200, 202 or 429")
		return
	}
	side, bound := "above", highest
	if below {
		side, bound = "below", lowest
	}
	f.add(path, "%s is %s %d", given, side, bound).WithHint("the range is %d to %d", lowest, highest)
}

func (f *faults) checkLimits(path string, room *anteroom.Room) {
	total, rate := child(path, "total_active_users"), child(path, "new_users_per_minute")
	if v := room.TotalActiveUsers; v < anteroom.LimitMin || v > anteroom.LimitMax {
		f.outside(total, strconv.Itoa(v), v < anteroom.LimitMin)
	}
	switch v := room.NewUsersPerMinute; {
	case v < anteroom.LimitMin:
		f.outside(rate, strconv.Itoa(v), true)
	case v > room.TotalActiveUsers && !f.has(total):
		f.outside(rate, strconv.Itoa(v)+", and total_active_users is "+strconv.Itoa(room.TotalActiveUsers), false)
	}
}

func (f *faults) oneOf(path, given string, allowed []string) {
	if !slices.Contains(allowed, given) {
		f.add(path, "%s is not allowed", quoted(given)).WithHint("use %s", alternatives(allowed))
	}
}

// alternatives joins words as a sentence does: a, b or c.
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (f *faults) checkText(path, text string, bytesMax int) {
	if len(text) > bytesMax {
		f.add(path, "it has %d bytes, more than %d", len(text), bytesMax).WithHint("shorten it")
	}
}

func (f *faults) checkPage(path string, room *anteroom.Room, checks Checks) {
	language := child(path, "default_template_language")
	if !slices.Contains(append(Languages(), anteroom.AutoLanguage), room.DefaultTemplateLanguage) {
		f.add(language, "%s is not a known language", quoted(room.DefaultTemplateLanguage)).
			WithHint("use a published one such as en-US or de-DE, or %s for the visitor's own", anteroom.AutoLanguage)
	}
	page := child(path, "custom_page_html")
	f.checkText(page, room.CustomPageHTML, anteroom.CustomPageBytesMax)
	if room.CustomPageHTML == "" || checks.Template == nil || f.has(page) || f.has(language) {
		return
	}
	err := checks.Template(room.CustomPageHTML, room.DefaultTemplateLanguage)
	if err == nil {
		return
	}
	fault := f.add(page, "the template cannot be used: %w", err)
	if detail := (*anteroom.Error)(nil); errors.As(err, &detail) {
		fault.Text, fault.Hint = "the template cannot be used: "+detail.Text, detail.Hint
	}
}

func (f *faults) checkCookie(path string, room *anteroom.Room) {
	suffix := child(path, "cookie_suffix")
	if bad := strings.Trim(room.CookieSuffix, suffixLetters); bad != "" {
		f.add(suffix, "%s has %q, which is not allowed in the name of a cookie", quoted(room.CookieSuffix),
			[]rune(bad)[0]).WithHint("use letters, digits, '-' and '_'")
	}
	f.checkText(suffix, room.CookieSuffix, suffixBytesMax)
	if len(room.AdditionalRoutes) > 0 && room.CookieSuffix == "" {
		f.add(suffix, "%s is required with additional_routes", suffix).
			WithHint("name the cookie that the routes share, such as \"shop\"")
	}
	attributes := child(path, "cookie_attributes")
	samesite, secure := child(attributes, "samesite"), child(attributes, "secure")
	f.oneOf(samesite, room.CookieAttributes.SameSite, []string{"auto", "lax", "none", "strict"})
	f.oneOf(secure, room.CookieAttributes.Secure, []string{"auto", "always", "never"})
	if room.CookieAttributes.SameSite == "none" && room.CookieAttributes.Secure == "never" {
		f.add(samesite, "none is not allowed together with secure never: browsers refuse such a cookie").
			WithHint("set secure to auto or always")
	}
}

func (f *faults) checkCommands(path string, commands []string) {
	for i, command := range commands {
		at := path + "[" + strconv.Itoa(i) + "]"
		f.oneOf(at, command, []string{"revoke"})
		if slices.Contains(commands[:i], command) {
			f.add(at, "%s stands twice", quoted(command)).WithHint("leave one of them")
		}
	}
}
