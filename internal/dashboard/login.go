package dashboard

import (
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

const formSizeMax = 4096

// allowed tells whether the request comes from a signed-in browser whose token is still in force.
func (d *Dashboard) allowed(r *http.Request) bool {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return false
	}
	token, ok := d.sessions.token(sys.Now(), c.Value)
	return ok && d.options.Auth.Valid(token)
}

// signedIn guards what scripts ask for.
func (d *Dashboard) signedIn(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !d.allowed(r) {
			http.Error(w, "Sign in first.", http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// page guards what people open: a stranger gets the sign-in form in its place, a ready link's token
// becomes a session and leaves the address bar.
func (d *Dashboard) page(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch {
		case query.Has("token"):
			token := query.Get("token")
			query.Del("token")
			d.enter(w, r, token, withQuery(r.URL.Path, query))
		case !strings.HasPrefix(r.URL.Path, homePath) || d.allowed(r): // the cookie does not come to other paths
			next(w, r)
		default:
			d.form(w, r, http.StatusUnauthorized, "")
		}
	}
}

// login takes the sign-in form.
func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, formSizeMax)
	if err := r.ParseForm(); err != nil {
		d.form(w, r, http.StatusBadRequest, "The form could not be read. Please try again.")
		return
	}
	d.enter(w, r, r.PostForm.Get("token"), r.PostForm.Get("next"))
}

// enter turns a good token into a session and goes on to next; the answer to a wrong one says no
// more than that.
func (d *Dashboard) enter(w http.ResponseWriter, r *http.Request, token, next string) {
	now, address := sys.Now(), peer(r)
	if !d.guesses.allowed(now, address) {
		w.Header().Set("Retry-After", wrongRetry)
		d.form(w, r, http.StatusTooManyRequests, "Too many attempts. Wait a minute, then try again.")
		return
	}
	token = strings.TrimSpace(token)
	if token == "" || len(token) > tokenSizeMax || !d.options.Auth.Valid(token) {
		d.guesses.add(now, address)
		d.options.Log.WarnContext(r.Context(), "dashboard sign-in refused", "reason", "token")
		d.form(w, r, http.StatusUnauthorized, "This token is not valid.")
		return
	}
	http.SetCookie(w, sessionCookie(r, d.sessions.begin(now, token), sessionLife))
	d.options.Log.InfoContext(r.Context(), "dashboard sign-in")
	http.Redirect(w, r, ownPath(next), http.StatusSeeOther) //nolint:gosec // ownPath knows no other host
}

// logout ends the session and its event streams at their next heartbeat.
func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(cookieName); err == nil {
		d.sessions.end(sys.Now(), c.Value)
	}
	http.SetCookie(w, sessionCookie(r, "", -time.Second))
	http.Redirect(w, r, homePath, http.StatusSeeOther)
}

// ownPath is the path and query of next when they are the dashboard's, else the first page: whatever
// host a link names, it cannot lead an operator elsewhere.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || !strings.HasPrefix(u.Path, homePath) {
		return homePath
	}
	// A path with dot segments or empty ones would be resolved by the browser, to who knows where.
	if clean := path.Clean(u.Path); u.Path != clean && u.Path != clean+"/" {
		return homePath
	}
	return withQuery(u.Path, u.Query())
}

func withQuery(page string, query url.Values) string {
	u := url.URL{Path: page, RawQuery: query.Encode()}
	return u.String()
}

func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
