package waitingroom

import (
	"strconv"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
	"github.com/anteroom/anteroom/internal/queue"
)

// Header names of ours.
const (
	// StateHeader tells a script what an answer of the gate means: StateWaiting, StateTurn or
	// StateRejected. The origin's answers do not carry it.
	StateHeader = "Anteroom-State"

	StateWaiting  = "waiting"
	StateTurn     = "turn"
	StateRejected = "rejected"
)

const (
	// retryUnknown is the Retry-After where nothing is known of the visitor's place.
	retryUnknown = 20
	// retryLater is the Retry-After of rejected visitors and of speculative loads: browsers make no
	// further speculative loads of the site for that long.
	retryLater = 60

	statusOK       = 200
	statusNoBody   = 204
	statusBad      = 400
	statusNotFound = 404
	statusMethod   = 405
	statusTooMany  = 429
	statusAway     = 503
)

// form is the kind of body that an answer has.
type form uint8

const (
	formPage form = iota
	formJSON
	formText
)

// form chooses body and status of a waiting answer. Only navigations ever get a page.
func (m *room) form(kind Kind) (form, int) {
	switch kind {
	case Navigation:
		return formPage, m.status
	case JSONClient:
		if m.json {
			return formJSON, m.status
		}
		return formJSON, statusTooMany
	case Background:
		return formJSON, statusTooMany
	case WaitEndpoint:
		return formJSON, statusOK
	case Upgrade, ServiceWorker, Speculative:
		return formText, statusAway
	case Subresource, Preflight:
	}
	return formText, statusTooMany
}

// view is what page and JSON show of the room's answer.
func (m *room) view(r *Request, q *queue.Answer) page.View {
	v := page.View{
		RoomID:   m.id,
		RoomName: m.name,
		Method:   m.method,
		QueueAll: m.queueAll,

		Known:  q.Estimate.Known,
		Wait25: q.Estimate.Low,
		Wait:   q.Estimate.Middle,
		Wait75: q.Estimate.High,
		Ranged: q.Estimate.Ranged,
		Reason: q.Estimate.Reason.String(),

		Position: q.Position,
		Waiting:  q.Waiting,
		Turn:     q.Turn || q.Verdict == queue.Admitted,

		Refresh:     q.Refresh,
		LastUpdated: q.LastSeen,
		New:         !q.Known,

		Draw: m.draw(q),

		Language: m.speak(r),
		Return:   ReturnPath(r.Path, r.Query),
		WaitURL:  m.waitURL,
	}
	if !q.ID.IsZero() {
		v.TicketID = q.ID.String()
	}
	if q.LastSeen.IsZero() {
		v.LastUpdated = r.Now // nobody counted this visitor yet
	}
	if q.Verdict == queue.Refused {
		v.Method, v.Turn = anteroom.Reject, false
	}
	return v
}

// speak is the language of the visitor's page.
func (m *room) speak(r *Request) string {
	if m.language == anteroom.AutoLanguage {
		return page.MatchLanguage(r.AcceptLanguage)
	}
	return m.language
}

// respond writes the answer of a visitor who does not enter with this request.
func (m *room) respond(r *Request, q *queue.Answer, a *Answer) {
	a.Action = Respond
	form, status := m.form(a.Kind)
	a.Status = status
	v := m.view(r, q)
	m.head(form, &v, q, a)
	allowOrigin(r, a)
	if r.Method == "HEAD" {
		return
	}
	switch form {
	case formPage:
		a.Body = m.template.Append(a.Body, &v)
	case formJSON:
		a.Body = page.AppendJSON(a.Body, &v)
	case formText:
		a.Body = append(a.Body, plainText(q)...)
	}
}

// head writes the header of a waiting answer.
func (m *room) head(form form, v *page.View, q *queue.Answer, a *Answer) {
	state, outcome := StateWaiting, Waited
	retry := page.RefreshSeconds(v)
	switch {
	case q.Verdict == queue.Refused:
		state, outcome = StateRejected, Rejected
	case v.Turn:
		state, outcome = StateTurn, Turned
	}
	a.Outcome = outcome
	neverStored(a)
	a.set(StateHeader, state)
	switch form {
	case formPage:
		a.set("Content-Type", "text/html; charset=utf-8")
		a.set("Content-Security-Policy", m.policy)
		if !m.template.Custom() {
			a.set("Content-Language", v.Language)
		}
	case formJSON:
		a.set("Content-Type", "application/json")
	case formText:
		a.set("Content-Type", "text/plain; charset=utf-8")
	}
	if retry > 0 && form != formText {
		a.set("Refresh", seconds(retry))
	}
	a.set("Retry-After", seconds(retryAfter(a.Kind, q, retry)))
}

// retryAfter is the value of Retry-After: the refresh interval, or a guess where there is none.
func retryAfter(k Kind, q *queue.Answer, refresh int) int {
	switch {
	case q.Verdict == queue.Refused, k == Speculative:
		return retryLater
	case refresh <= 0:
		return retryUnknown
	}
	return refresh
}

// neverStored forbids every cache, indexer and sniffer to make something else of our answer.
func neverStored(a *Answer) {
	a.set("Cache-Control", "no-store")
	a.set("Vary", "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Dest, Sec-Fetch-Mode")
	a.set("X-Robots-Tag", "noindex")
	a.set("X-Content-Type-Options", "nosniff")
}

// plainText is the whole body for those who cannot show a page.
func plainText(q *queue.Answer) string {
	switch {
	case q.Verdict == queue.Refused:
		return "Nobody is let in at the moment.\n"
	case q.Turn:
		return "It is your turn. Load the page again to enter.\n"
	}
	return "There are more visitors than the site can hold. Load the page to wait in line.\n"
}

// seconds is a header value; small numbers cost no allocation.
func seconds(n int) string { return strconv.Itoa(n) }

// ceilSeconds rounds up to whole seconds.
func ceilSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
