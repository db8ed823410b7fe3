package waitingroom

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
)

// CookieName is the base of our cookies' names. A cookie of this name, or of this name with '_' and
// a suffix, belongs to the gate and is never shown to the origin.
const CookieName = "__anteroom"

const (
	// cookieTriesMax bounds how many candidates of one request are tried: each costs a decryption.
	cookieTriesMax = 16
	// cookieBytesMax bounds how much of the Cookie header is read. Servers allow more, browsers send
	// some kilobytes.
	cookieBytesMax = 64 << 10
	// placeSeconds is the Max-Age of a queued visitor's cookie, counted from the last answer.
	placeSeconds = int(queue.TicketGrace / time.Second)
)

// cookies is what the gate needs to read and write one room's cookie.
type cookies struct {
	name string
	// attributes follow the value, without and with HTTPS; expire is the whole Set-Cookie value that
	// deletes the cookie.
	attributes, expire [2]string
}

func newCookies(name string, c anteroom.CookieAttributes) cookies {
	k := cookies{name: name}
	for i, https := range []bool{false, true} {
		k.attributes[i] = attributes(c, https)
		k.expire[i] = name + "=; Path=/; Max-Age=0" + k.attributes[i]
	}
	return k
}

// attributes is the end of a Set-Cookie value; see the package comment for auto.
func attributes(c anteroom.CookieAttributes, https bool) string {
	secure := c.Secure == "always" || c.Secure != "never" && https
	site := "Lax"
	switch {
	case strings.EqualFold(c.SameSite, "strict"):
		site = "Strict"
	case strings.EqualFold(c.SameSite, "lax"):
	case secure && (strings.EqualFold(c.SameSite, "none") || https):
		site = "None"
	}
	s := "; HttpOnly; SameSite=" + site
	if secure {
		s += "; Secure"
	}
	return s
}

// seal puts what the room said into the answer's Set-Cookie value.
func (m *room) seal(ring *ticket.Ring, r *Request, q *queue.Answer, a *Answer) {
	c := &m.cookies
	a.Cookie = append(append(a.Cookie, c.name...), '=')
	a.Cookie = ring.Append(a.Cookie, m.id, ticket.Ticket{
		ID:       q.ID,
		Arrival:  q.Arrival,
		Accepted: q.Accepted,
		LastSeen: q.LastSeen,
		Refresh:  q.Refresh,
	}, r.Nonce)
	a.Cookie = append(a.Cookie, "; Path=/; Max-Age="...)
	a.Cookie = strconv.AppendInt(a.Cookie, int64(m.maxAge(r.Now, q)), 10)
	a.Cookie = append(a.Cookie, c.attributes[index(r.HTTPS)]...)
}

// maxAge is how long the browser keeps the cookie: as long as what it stands for can last.
func (m *room) maxAge(now time.Time, q *queue.Answer) int {
	if q.Accepted.IsZero() {
		return placeSeconds
	}
	from := q.LastSeen
	if m.fixed {
		from = q.Accepted
	}
	// The coordinator's clock may be a little ahead; a session never lasts longer than its duration.
	return min(max(ceilSeconds(from.Add(m.session).Sub(now)), 0), ceilSeconds(m.session))
}

func index(https bool) int {
	if https {
		return 1
	}
	return 0
}

// findTicket reads the visitor's ticket for the room from the lines of the Cookie header. Foreign and
// broken cookies are passed over; of several usable ones the newest counts, so that a client that
// sends an old one beside the new one loses nothing. Cookies with another room's name are tried
// when the own name has none; see the package comment.
func (m *room) findTicket(ring *ticket.Ring, r *Request) (ticket.Ticket, bool) {
	var best ticket.Ticket
	found, tries := false, cookieTriesMax
	for _, own := range [...]bool{true, false} {
		for name, value := range eachCookie(r.Cookies) {
			if (name == m.cookies.name) != own || len(value) > ticket.SealedMax {
				continue
			}
			if tries--; tries < 0 {
				return best, found
			}
			t, err := ring.Open(m.id, value, r.Now)
			if err == nil && (!found || t.LastSeen.After(best.LastSeen)) {
				best, found = t, true
			}
		}
		if found {
			break
		}
	}
	return best, found
}

// eachCookie yields name and value of every cookie whose name is ours. It looks for the name itself
// instead of parsing the header, so malformed neighbours do no harm.
func eachCookie(lines []string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		left := cookieBytesMax
		for _, line := range lines {
			line = line[:min(len(line), left)]
			left -= len(line)
			for line != "" {
				var pair string
				pair, line = nextPair(line)
				name, value, ok := strings.Cut(pair, "=")
				name = strings.TrimRight(name, " \t")
				if ok && ours(name) && !yield(name, unquote(strings.Trim(value, " \t"))) {
					return
				}
			}
		}
	}
}

// nextPair finds the next pair that begins with our name, and what follows it.
func nextPair(line string) (pair, rest string) {
	for {
		at := strings.Index(line, CookieName)
		if at < 0 {
			return "", ""
		}
		begins := startsPair(line[:at])
		pair, rest, _ = strings.Cut(line[at:], ";")
		if begins {
			return pair, rest
		}
		line = rest
	}
}

// startsPair tells that a cookie may begin behind this text.
func startsPair(before string) bool {
	before = strings.TrimRight(before, " \t")
	return before == "" || before[len(before)-1] == ';'
}

// ours tells a name that the gate owns.
func ours(name string) bool {
	suffix, ok := strings.CutPrefix(name, CookieName)
	return ok && (suffix == "" || suffix[0] == '_')
}

func unquote(value string) string {
	if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}
