package dashboard

import (
	"fmt"
	"hash/fnv"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// state is what a room does with newcomers, in one word for the style sheet and the script.
type state string

const (
	stateOpen      state = "open"
	stateQueueing  state = "queueing"
	stateRefusing  state = "refusing"
	stateQueueAll  state = "queue-all"
	stateSuspended state = "suspended"
)

// line is one room's live part: what changes by itself while a page is open. Page and event stream
// use the same value, so that both say the same words.
type line struct {
	ID     string `json:"id"`
	State  state  `json:"state"`
	Status string `json:"status"`
	Detail string `json:"detail"`

	Limit    int `json:"limit"`
	Active   int `json:"active"`
	Free     int `json:"free"`
	Waiting  int `json:"waiting"`
	Rate     int `json:"rate"`
	Admitted int `json:"admitted"`

	// Longest is the wait expected for the last in line, First how long the first has waited.
	Longest string `json:"longest"`
	First   string `json:"first"`

	AdmittedAll uint64 `json:"admitted_all"`
	Joined      uint64 `json:"joined"`
	Abandoned   uint64 `json:"abandoned"`
	Lapsed      uint64 `json:"lapsed"`
}

func lineOf(r Room) line {
	s := r.Status
	l := line{
		ID:          r.Config.ID,
		State:       stateOf(r),
		Limit:       r.Config.TotalActiveUsers,
		Active:      s.Active,
		Free:        s.Free,
		Waiting:     s.Waiting,
		Rate:        r.Config.NewUsersPerMinute,
		Admitted:    s.AdmittedMinute,
		Longest:     longestText(r),
		First:       "–",
		AdmittedAll: s.Admitted,
		Joined:      s.Joined,
		Abandoned:   s.Abandoned,
		Lapsed:      s.Lapsed,
	}
	if s.Waiting > 0 {
		l.First = durationText(s.OldestWait)
	}
	l.Status, l.Detail = statusText(l)
	return l
}

func stateOf(r Room) state {
	switch {
	case r.Config.Suspended:
		return stateSuspended
	case r.Config.QueueAll:
		return stateQueueAll
	case r.Status.State == queue.Open:
		return stateOpen
	case r.Config.QueueingMethod == anteroom.Reject:
		return stateRefusing
	default:
		return stateQueueing
	}
}

func statusText(l line) (status, detail string) {
	switch l.State {
	case stateSuspended:
		return "Suspended", "traffic goes straight to the site"
	case stateQueueAll:
		return "Queue-all", grouped(l.Waiting) + " waiting"
	case stateRefusing:
		return "Rejecting", "the room is full"
	case stateQueueing:
		return "Queueing", grouped(l.Waiting) + " waiting"
	case stateOpen:
		return "Not queueing", grouped(l.Active) + " active"
	}
	return string(l.State), ""
}

// longestText is the wait of whoever joins last. In a lottery nobody's wait is bounded; the time
// that three of four do not exceed stands for it.
func longestText(r Room) string {
	e := r.Status.Longest
	switch {
	case r.Status.Waiting == 0:
		return "–"
	case !e.Known:
		return "unknown"
	case r.Config.QueueingMethod == anteroom.Random:
		return durationText(e.High)
	default:
		return durationText(e.Middle)
	}
}

// durationText rounds to what a person needs: seconds below ten minutes, then minutes.
func durationText(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", max(s, 0))
	case s < 600 && s%60 != 0:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 24*3600:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	default:
		return "over 24 h"
	}
}

// grouped writes a number with commas between thousands.
func grouped(n int) string { return groupedDigits(strconv.Itoa(n)) }

func groupedDigits(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// version changes whenever something changes that pages show but lines do not carry: the set of
// rooms and their settings.
func version(rooms []Room) string {
	h := fnv.New64a()
	for _, r := range rooms {
		c := r.Config
		_, _ = fmt.Fprintf(h, "%q %q %q %q %v %v %v %v %v %v %q\n", c.ID, c.Name, c.Routes(), c.Description,
			c.QueueingMethod, c.TotalActiveUsers, c.NewUsersPerMinute, c.Session(r.Extras),
			c.DisableSessionRenewal, c.ModifiedOn.UnixNano(), c.CookieSuffix)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// sorted orders rooms by name as a person would look for them.
func sorted(rooms []Room) []Room {
	rooms = slices.Clone(rooms)
	slices.SortStableFunc(rooms, func(a, b Room) int {
		if c := strings.Compare(strings.ToLower(a.Config.Name), strings.ToLower(b.Config.Name)); c != 0 {
			return c
		}
		return strings.Compare(a.Config.ID, b.Config.ID)
	})
	return rooms
}

// siteURL is where a visitor of the route goes; empty when that is not known.
func siteURL(visitors string, route anteroom.Route) string {
	base, err := url.Parse(visitors)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return ""
	}
	u := url.URL{Scheme: base.Scheme, Host: base.Host, Path: route.Path}
	if route.Host != anteroom.AnyHost && route.Host != "" {
		u.Host = route.Host
		if port := base.Port(); port != "" {
			u.Host = net.JoinHostPort(strings.Trim(route.Host, "[]"), port)
		}
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// routeText is the route as a person writes it.
func routeText(route anteroom.Route) string {
	if route.Host != anteroom.AnyHost {
		return route.Host + route.Path
	}
	if route.Path == "" || route.Path == "/" {
		return "every host and path"
	}
	return "every host, " + route.Path
}
