package waitingroom

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
	"github.com/anteroom/anteroom/internal/route"
	"github.com/anteroom/anteroom/internal/ticket"
)

// ReservedPath is the prefix of the gate's own paths on each host that has a room. Requests below it
// never reach the origin.
const ReservedPath = anteroom.ReservedPath

// waitPath is where the waiting page's script asks for its state.
const waitPath = ReservedPath + "wait"

// Config is one room's configuration.
type Config struct {
	Room   anteroom.Room
	Extras anteroom.Extras
}

// Table is a compiled configuration. It never changes; a new one replaces it with [Gate.Set].
type Table struct {
	routes *route.Table
	// rooms by the index that routes gives. An index from len(rooms) on means ReservedPath.
	rooms []room
	byID  map[string]int
	keys  *ticket.Ring
}

// room is one compiled room.
type room struct {
	id, name  string
	routes    []anteroom.Route
	suspended bool
	queueAll  bool
	method    anteroom.Method
	status    int
	json      bool
	session   time.Duration
	fixed     bool
	revocable bool
	cookies   cookies
	template  *page.Template
	policy    string // the template's Content-Security-Policy
	language  string
	waitURL   string
	drawURL   string // without the number of the draw
}

// Compile makes a table. The error names the room at fault; then nothing of the configuration is used.
// The keys open and seal the cookies.
func Compile(configs []Config, keys *ticket.Ring) (*Table, error) {
	if keys == nil {
		return nil, errors.New("the gate needs a key ring for its cookies")
	}
	t := &Table{keys: keys, rooms: make([]room, len(configs)), byID: make(map[string]int, len(configs))}
	names := cookieNames(configs)
	pages := templates{}
	for i := range configs {
		c := &configs[i]
		if _, twice := t.byID[c.Room.ID]; twice || c.Room.ID == "" {
			return nil, fmt.Errorf("room %q: the id %q is empty or another room's", c.Room.Name, c.Room.ID)
		}
		t.byID[c.Room.ID] = i
		if err := checkRoom(&c.Room); err != nil {
			return nil, fmt.Errorf("room %q: %w", c.Room.Name, err)
		}
		var err error
		if t.rooms[i], err = newRoom(c, names[i], pages); err != nil {
			return nil, fmt.Errorf("room %q: %w", c.Room.Name, err)
		}
	}
	var err error
	t.routes, err = route.Compile(entries(configs))
	if err != nil {
		return nil, err
	}
	return t, nil
}

// checkRoom refuses what would break a header or hide our own paths. The API has checked before and
// says it better; this is the last line.
func checkRoom(r *anteroom.Room) error {
	for i := range len(r.CookieSuffix) {
		c := r.CookieSuffix[i]
		if !plainByte(c) || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return anteroom.Errorf(anteroom.CodeInvalid, "%q has a character that no cookie name may have", r.CookieSuffix).
				At("cookie_suffix")
		}
	}
	for _, own := range r.Routes() {
		if reserved(own.Path) {
			return anteroom.Errorf(anteroom.CodeInvalid, "%q lies below %s, which is kept for the gate", own.Path, ReservedPath).
				At("path")
		}
	}
	return nil
}

func reserved(path string) bool {
	return strings.HasPrefix(strings.TrimSuffix(route.CanonicalPath(path), "/")+"/", ReservedPath)
}

func newRoom(c *Config, cookieName string, pages templates) (room, error) {
	r := &c.Room
	template, err := pages.compile(r.CustomPageHTML, r.DefaultTemplateLanguage)
	if err != nil {
		return room{}, err
	}
	return room{
		id:        r.ID,
		name:      r.Name,
		routes:    r.Routes(),
		suspended: r.Suspended,
		queueAll:  r.QueueAll,
		method:    cmp.Or(r.QueueingMethod, anteroom.FIFO),
		status:    cmp.Or(r.QueueingStatusCode, statusOK),
		json:      r.JSONResponseEnabled,
		session:   r.Session(c.Extras),
		fixed:     r.DisableSessionRenewal,
		revocable: slices.Contains(r.EnabledOriginCommands, commandRevoke),
		cookies:   newCookies(cookieName, r.CookieAttributes),
		template:  template,
		policy:    template.ContentSecurityPolicy(),
		language:  cmp.Or(r.DefaultTemplateLanguage, anteroom.DefaultLanguage),
		waitURL:   waitPath + "?room=" + url.QueryEscape(r.ID),
		drawURL:   drawPath + "?room=" + url.QueryEscape(r.ID) + "&number=",
	}, nil
}

// templates shares what rooms have in common: most of them have the default page.
type templates map[[2]string]*page.Template

func (p templates) compile(source, language string) (*page.Template, error) {
	key := [2]string{source, language}
	if t, ok := p[key]; ok {
		return t, nil
	}
	t, err := page.Compile(source, language)
	if err != nil {
		return nil, err
	}
	p[key] = t
	return t, nil
}

// entries are the rooms' routes, and one entry for our own paths on each host.
func entries(configs []Config) []route.Entry {
	var all []route.Entry
	hosts := map[string]bool{}
	for i := range configs {
		for _, r := range configs[i].Room.Routes() {
			all = append(all, route.Entry{Host: r.Host, Path: r.Path, Room: i})
			if host := route.CanonicalHost(r.Host); !hosts[host] {
				hosts[host] = true
				all = append(all, route.Entry{Host: r.Host, Path: strings.TrimSuffix(ReservedPath, "/"), Room: len(configs)})
			}
		}
	}
	return all
}

// cookieNames gives each room a name that no other room of the same host has: the oldest keeps the
// plain one.
func cookieNames(configs []Config) []string {
	order := make([]int, len(configs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &configs[a].Room, &configs[b].Room
		return cmp.Or(x.CreatedOn.Compare(y.CreatedOn), cmp.Compare(x.ID, y.ID))
	})
	names := make([]string, len(configs))
	taken := map[string]bool{} // by host and name
	for _, i := range order {
		r := &configs[i].Room
		name := CookieName
		if r.CookieSuffix != "" {
			name += "_" + r.CookieSuffix
		}
		if !claim(taken, r, name) {
			name += "_" + r.ID
		}
		names[i] = name
	}
	return names
}

// claim takes a name on every host of a room, or reports that it is taken on one of them. A room for
// every host meets all others.
func claim(taken map[string]bool, r *anteroom.Room, name string) bool {
	const someHost = "\x00"
	hosts := []string{someHost}
	for _, own := range r.Routes() {
		hosts = append(hosts, route.CanonicalHost(own.Host))
	}
	everywhere := slices.Contains(hosts, anteroom.AnyHost)
	if everywhere && taken[someHost+name] || taken[anteroom.AnyHost+name] {
		return false
	}
	for _, host := range hosts[1:] {
		if taken[host+name] {
			return false
		}
	}
	for _, host := range hosts {
		taken[host+name] = true
	}
	return true
}
