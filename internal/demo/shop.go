package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"
)

//go:embed shop
var files embed.FS

const (
	cartCookie  = "nightfall_cart"
	ticketShown = 8 // digits of the ticket that a page shows
	formSizeMax = 4096

	// commandHeader tells the waiting room to end the session of this answer, commandRevoke.
	commandHeader = "Anteroom-Command"
	commandRevoke = "revoke"
	// ticketHeader names the visitor's session; the waiting room sets it.
	ticketHeader = "Anteroom-Ticket"

	shopPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// shop is the sample shop.
type shop struct{ pages map[string]*template.Template }

// Shop is the sample shop: a few pages, a small JSON API, a cart. It needs no other server and makes
// no request. It answers JSON, with the cfWaitingRoom object of an admitted visitor, when the client
// prefers JSON.
func Shop() http.Handler {
	s := &shop{pages: map[string]*template.Template{}}
	frame := template.Must(template.ParseFS(files, "shop/frame.html"))
	for _, name := range []string{"home", "show", "cart", "thanks", "lost"} {
		own := template.Must(frame.Clone())
		s.pages[name] = template.Must(own.ParseFS(files, "shop/"+name+".html"))
	}
	poster := template.Must(template.ParseFS(files, "shop/poster.svg"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /shows/{slug}", s.show)
	mux.HandleFunc("GET /cart", s.cart)
	mux.HandleFunc("POST /cart", s.addToCart)
	mux.HandleFunc("POST /order", s.order)
	mux.HandleFunc("GET /api/shows", s.api)
	mux.HandleFunc("GET /shop.css", s.style)
	mux.HandleFunc("GET /posters/{file}", func(w http.ResponseWriter, r *http.Request) { s.poster(w, r, poster) })
	mux.HandleFunc("/", s.lost)
	return mux
}

// view is what every page can show.
type view struct {
	Title  string
	Ticket string // the beginning of the visitor's ticket; empty without a waiting room
	Keep   int    // seconds for which the place stays without a request
	Shows  []Show
	Show   Show
	Cart   cart
}

type cart struct {
	Show    Show
	Tickets int // 0 is an empty cart
}

// Total is in whole euros.
func (c cart) Total() int { return c.Tickets * c.Show.Price }

func (s *shop) home(w http.ResponseWriter, r *http.Request) {
	if prefersJSON(r.Header.Get("Accept")) {
		s.api(w, r)
		return
	}
	s.render(w, r, http.StatusOK, "home", view{Title: "The Nightfall Tour", Shows: shows()})
}

func (s *shop) show(w http.ResponseWriter, r *http.Request) {
	show, ok := showBySlug(r.PathValue("slug"))
	if !ok {
		s.lost(w, r)
		return
	}
	s.render(w, r, http.StatusOK, "show", view{Title: show.City, Show: show})
}

func (s *shop) cart(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, "cart", view{Title: "Your cart"})
}

// addToCart keeps the cart in a cookie: the shop has no memory of its own.
func (s *shop) addToCart(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, formSizeMax)
	wanted := r.FormValue("show") + "." + r.FormValue("tickets")
	if readCart(wanted).Tickets == 0 {
		http.Error(w, "Choose a show and one to four tickets.", http.StatusBadRequest)
		return
	}
	setCart(w, wanted, 3600)
	http.Redirect(w, r, "/cart", http.StatusSeeOther)
}

// order ends the visit, and gives the visitor's place to the next in line.
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	setCart(w, "", -1)
	w.Header().Set(commandHeader, commandRevoke)
	r.Header.Del("Cookie") // the cart is ordered, so the page must not show it
	s.render(w, r, http.StatusOK, "thanks", view{Title: "Thank you"})
}

func (s *shop) lost(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusNotFound, "lost", view{Title: "Not found"})
}

// api is the shop for apps. An app reads one shape of answer, in line and inside.
func (s *shop) api(w http.ResponseWriter, r *http.Request) {
	type room struct {
		InWaitingRoom bool `json:"inWaitingRoom"`
	}
	body, err := json.Marshal(struct {
		Room   room   `json:"cfWaitingRoom"`
		Ticket string `json:"ticket"`
		Shows  []Show `json:"shows"`
	}{Ticket: r.Header.Get(ticketHeader), Shows: shows()})
	if err != nil {
		http.Error(w, "the shop is broken: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(body) // whoever asked has gone when this fails
}

func (s *shop) style(w http.ResponseWriter, _ *http.Request) {
	body, err := files.ReadFile("shop/shop.css")
	if err != nil {
		http.Error(w, "no style sheet", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=60")
	_, _ = w.Write(body)
}

func (s *shop) poster(w http.ResponseWriter, r *http.Request, poster *template.Template) {
	slug, isSVG := strings.CutSuffix(r.PathValue("file"), ".svg")
	show, ok := showBySlug(slug)
	var b bytes.Buffer
	if !ok || !isSVG || poster.Execute(&b, show) != nil {
		http.Error(w, "no such poster", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "public, max-age=60")
	_, _ = w.Write(b.Bytes())
}

func (s *shop) render(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	v.Keep = int(sessionDuration / time.Second)
	v.Ticket = r.Header.Get(ticketHeader)
	if len(v.Ticket) > ticketShown {
		v.Ticket = v.Ticket[:ticketShown]
	}
	if c, err := r.Cookie(cartCookie); err == nil {
		v.Cart = readCart(c.Value)
	}
	var b bytes.Buffer
	if err := s.pages[name].Execute(&b, v); err != nil {
		http.Error(w, "the shop is broken: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", shopPolicy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// readCart reads a cart such as "lisbon.2"; anything else is an empty one.
func readCart(s string) cart {
	slug, count, _ := strings.Cut(s, ".")
	show, ok := showBySlug(slug)
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 || n > ticketsMax {
		return cart{}
	}
	return cart{Show: show, Tickets: n}
}

func setCart(w http.ResponseWriter, value string, seconds int) {
	//nolint:gosec // the sample shop is served over plain HTTP on loopback
	http.SetCookie(w, &http.Cookie{
		Name: cartCookie, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// prefersJSON tells whether JSON stands before HTML in an Accept header.
func prefersJSON(accept string) bool {
	var asJSON, asHTML float64
	for entry := range strings.SplitSeq(accept, ",") {
		kind, parameters, _ := strings.Cut(strings.TrimSpace(entry), ";")
		quality := 1.0
		if _, q, ok := strings.Cut(parameters, "q="); ok {
			quality, _ = strconv.ParseFloat(strings.TrimSpace(q), 64)
		}
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/json":
			asJSON = quality
		case "text/html", "application/xhtml+xml":
			asHTML = max(asHTML, quality)
		}
	}
	return asJSON > asHTML
}
