package dashboard

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sys"
)

// tableRowsMax is how many rows the table under a chart has.
const tableRowsMax = 16

// pages are the compiled templates, each together with the frame around it.
type pages struct{ byName map[string]*template.Template }

// newPages compiles the embedded templates; that they compile is certain once the tests pass.
func newPages() *pages {
	functions := template.FuncMap{
		"asset":   assetURL,
		"grouped": groupedAny,
		"clock":   func(t time.Time) string { return t.Format("15:04:05") },
		"iso":     func(t time.Time) string { return t.Format(time.RFC3339) },
	}
	frame := template.Must(template.New("frame.html").Funcs(functions).
		ParseFS(files, "templates/frame.html", "templates/parts.html"))
	p := &pages{byName: map[string]*template.Template{}}
	for _, name := range []string{"rooms", "room", "login", "message"} {
		own := template.Must(frame.Clone())
		p.byName[name] = template.Must(own.ParseFS(files, "templates/"+name+".html"))
	}
	return p
}

func groupedAny(n any) string { return groupedDigits(fmt.Sprint(n)) }

// frameData is what every page has.
type frameData struct {
	Title string
	// Version is what an open page compares with the events; empty on pages that do not change.
	Version  string
	SignedIn bool
	Body     any
}

// show renders a page whole before the first byte goes out, so that a broken page is an error page
// and not half a page.
func (d *Dashboard) show(w http.ResponseWriter, status int, name string, data frameData) {
	var b bytes.Buffer
	if err := d.pages.byName[name].Execute(&b, data); err != nil {
		d.options.Log.Error("dashboard page failed", "page", name, "error", err)
		http.Error(w, "This page failed; the log tells why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // whoever asked has gone when this fails
}

// form is the sign-in form, in the place of the page that was asked for.
func (d *Dashboard) form(w http.ResponseWriter, r *http.Request, status int, fault string) {
	next := homePath
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		query := r.URL.Query()
		query.Del("token")
		next = ownPath(withQuery(r.URL.Path, query))
	} else if r.PostForm != nil {
		next = ownPath(r.PostForm.Get("next"))
	}
	body := struct{ Next, Fault string }{Next: next, Fault: fault}
	d.show(w, status, "login", frameData{Title: "Sign in", Body: body})
}

// message is a page that only says something.
func (d *Dashboard) message(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	body := struct{ Heading, Text string }{Heading: title, Text: text}
	d.show(w, status, "message", frameData{Title: title, SignedIn: d.allowed(r), Body: body})
}

func (d *Dashboard) notFound(w http.ResponseWriter, r *http.Request) {
	d.message(w, r, http.StatusNotFound, "Page not found", "There is no page at this address.")
}

// row is a room in the table of rooms.
type row struct {
	line
	Name, Route string
	More        int // routes beside the first
	Method      string
}

type roomsBody struct {
	Rows []row
	// Totals over all rooms.
	Active, Waiting, Queueing int
	RoomsURL                  string
}

// roomsPage is the table of rooms, or how to make the first one.
func (d *Dashboard) roomsPage(w http.ResponseWriter, _ *http.Request) {
	rooms := sorted(d.options.Rooms())
	body := roomsBody{RoomsURL: d.options.RoomsURL}
	for _, r := range rooms {
		l := lineOf(r)
		body.Rows = append(body.Rows, row{
			line: l, Name: r.Config.Name, Route: routeText(r.Config.Routes()[0]),
			More: len(r.Config.AdditionalRoutes), Method: methodText(r.Config.QueueingMethod),
		})
	}
	d.show(w, http.StatusOK, "rooms", frameData{
		Title: "Waiting rooms", Version: version(rooms), SignedIn: true, Body: body,
	})
}

type roomBody struct {
	line
	Config  anteroom.Room
	Method  string
	Session string
	Routes  []routeLink
	Span    span
	Spans   []span
	Zone    string // the name of the time zone of the table
	Points  []Point
}

type routeLink struct{ Text, URL string }

// roomPage is one room: its chart, numbers and settings.
func (d *Dashboard) roomPage(w http.ResponseWriter, r *http.Request) {
	rooms := d.options.Rooms()
	for _, room := range rooms {
		if room.Config.ID == r.PathValue("id") {
			d.show(w, http.StatusOK, "room", frameData{
				Title: room.Config.Name, Version: version(sorted(rooms)), SignedIn: true, Body: d.roomBody(room, spanOf(r)),
			})
			return
		}
	}
	d.message(w, r, http.StatusNotFound, "Room not found",
		"There is no waiting room at this address. It may have been deleted.")
}

func (d *Dashboard) roomBody(room Room, chosen span) roomBody {
	now := sys.Now()
	body := roomBody{
		line: lineOf(room), Config: room.Config, Span: chosen, Spans: spans(),
		Method:  methodText(room.Config.QueueingMethod),
		Session: durationText(room.Config.Session(room.Extras)),
		Zone:    now.Format("MST"),
	}
	for _, route := range room.Config.Routes() {
		body.Routes = append(body.Routes, routeLink{
			Text: routeText(route), URL: siteURL(d.options.VisitorURL, route),
		})
	}
	body.Points, _ = d.history.Range(room.Config.ID, now.Add(-chosen.Length), now, tableRowsMax)
	return body
}

// methodText says in words what a method does.
func methodText(m anteroom.Method) string {
	switch m {
	case anteroom.FIFO:
		return "First come, first served"
	case anteroom.Random:
		return "Lottery"
	case anteroom.Passthrough:
		return "Passthrough, nobody waits"
	case anteroom.Reject:
		return "Reject when full"
	}
	return string(m)
}
