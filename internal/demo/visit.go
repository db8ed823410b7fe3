package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

const (
	answerTimeout = 15 * time.Second
	bodySizeMax   = 1 << 20
	failuresMax   = 6 // in a row; then the visitor goes away
	failureMin    = time.Second
	failureMax    = 4 * time.Second
	againMin      = time.Second // whatever an answer says, nobody asks more often
	againMax      = time.Minute

	// stateHeader is where the waiting room tells a client that nobody new is let in.
	stateHeader   = "Anteroom-State"
	stateRejected = "rejected"
)

// outcome is how a visit ended.
type outcome uint8

const (
	left outcome = iota
	gaveUp
	failed
)

// visit is one visitor: a browser or an app with its own cookies.
type visit struct {
	all    *Visitors
	client *http.Client
	rng    *rand.Rand
	intent intent
	inside bool
	leaves time.Time // zero until the visitor is inside
	styled bool      // the style sheet is in the browser's cache
}

// run waits in line, looks around in the shop and leaves.
func (v *visit) run(ctx context.Context) {
	end := v.live(ctx)
	v.enter(false)
	v.all.count(func(c *Counts) {
		c.Waiting--
		switch end {
		case left:
			c.Left++
		case gaveUp:
			c.GaveUp++
		case failed:
			c.Failed++
		}
	})
}

// live does as each answer tells until the visitor has seen enough.
func (v *visit) live(ctx context.Context) outcome {
	came, failures := sys.Now(), 0
	for {
		a, err := v.open(ctx, v.choose())
		if ctx.Err() != nil {
			return left
		}
		pause := a.again
		switch {
		case err != nil:
			if failures++; failures >= failuresMax {
				v.all.options.Log.DebugContext(ctx, "demo visit failed", "error", err)
				return failed
			}
			pause = between(v.rng, failureMin, failureMax)
		case a.refused, a.waiting && v.impatient(came):
			return gaveUp
		case a.waiting:
			failures = 0
			v.enter(false)
		case a.done:
			return left
		default:
			failures = 0
			v.enter(true)
			pause = between(v.rng, thinkMin, thinkMax)
		}
		if sys.Sleep(ctx, pause) != nil || v.sated() && !v.intent.orders {
			return left
		}
	}
}

// sated tells that the visitor has been inside for long enough.
func (v *visit) sated() bool { return !v.leaves.IsZero() && sys.Now().After(v.leaves) }

func (v *visit) impatient(came time.Time) bool {
	return v.intent.patience > 0 && sys.Since(came) > v.intent.patience
}

// enter counts the visitor as inside or as waiting.
func (v *visit) enter(inside bool) {
	if inside == v.inside {
		return
	}
	v.inside = inside
	if inside && v.leaves.IsZero() {
		v.leaves = sys.Now().Add(v.intent.stay)
	}
	v.all.count(func(c *Counts) {
		step := 1
		if !inside {
			step = -1
		}
		c.Inside += step
		c.Waiting -= step
	})
}

// page is a request that a visitor makes.
type page struct {
	path string
	form url.Values // nil for a GET
	last bool       // the visit ends with its answer
}

// choose is where the visitor goes next: to the door until it opens, then anywhere.
func (v *visit) choose() page {
	switch {
	case !v.inside:
		return page{path: "/"}
	case v.intent.orders && v.sated():
		return page{path: "/order", form: url.Values{}, last: true}
	case v.intent.json:
		return page{path: "/api/shows"}
	}
	all := shows()
	slug := all[v.rng.IntN(len(all))].Slug
	switch v.rng.IntN(4) {
	case 0:
		return page{path: "/"}
	case 1:
		return page{path: "/cart", form: url.Values{"show": {slug}, "tickets": {strconv.Itoa(1 + v.rng.IntN(ticketsMax))}}}
	default:
		return page{path: "/shows/" + slug}
	}
}

// reply is what an answer means to the visitor.
type reply struct {
	waiting bool
	again   time.Duration // when to ask again while waiting
	refused bool          // waiting would be in vain
	done    bool
}

// open requests a page and, as a browser does, what belongs to it.
func (v *visit) open(ctx context.Context, p page) (reply, error) {
	told, err := v.send(ctx, p, "document")
	if err != nil {
		return reply{}, err
	}
	a, err := told.meaning()
	if err != nil {
		return reply{}, err
	}
	a.done = p.last && !a.waiting
	if !a.waiting && !v.intent.json && !v.styled {
		v.styled = true
		return a, v.dress(ctx)
	}
	return a, nil
}

// dress loads the style sheet and a poster.
func (v *visit) dress(ctx context.Context) error {
	if _, err := v.send(ctx, page{path: "/shop.css"}, "style"); err != nil {
		return err
	}
	all := shows()
	_, err := v.send(ctx, page{path: "/posters/" + all[v.rng.IntN(len(all))].Slug + ".svg"}, "image")
	return err
}

// answer is a whole response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (v *visit) send(ctx context.Context, p page, dest string) (answer, error) {
	r, err := v.request(ctx, p, dest)
	if err != nil {
		return answer{}, err
	}
	v.all.count(func(c *Counts) { c.Requests++ })
	response, err := v.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, bodySizeMax))
	if err != nil {
		return answer{}, fmt.Errorf("read the answer of %s: %w", p.path, err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: body}, nil
}

// request looks like one of a browser or of an app.
func (v *visit) request(ctx context.Context, p page, dest string) (*http.Request, error) {
	method, content := http.MethodGet, io.Reader(http.NoBody)
	if p.form != nil {
		method, content = http.MethodPost, strings.NewReader(p.form.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, method, v.all.base.JoinPath(p.path).String(), content)
	if err != nil {
		return nil, err
	}
	if p.form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("User-Agent", "anteroom-demo")
	switch {
	case v.intent.json:
		r.Header.Set("Accept", "application/json")
	case dest == "document":
		r.Header.Set("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		r.Header.Set("Sec-Fetch-Dest", dest)
	default:
		r.Header.Set("Accept", "*/*")
		r.Header.Set("Sec-Fetch-Mode", "no-cors")
		r.Header.Set("Sec-Fetch-Dest", dest)
	}
	return r, nil
}

// meaning reads an answer as any client of a waiting room does: the JSON object when there is one,
// else the Refresh or the Retry-After header.
func (a answer) meaning() (reply, error) {
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		var told struct {
			Room *struct {
				InWaitingRoom          bool `json:"inWaitingRoom"`
				RefreshIntervalSeconds int  `json:"refreshIntervalSeconds"`
				IsRejectQueue          bool `json:"isRejectQueue"`
			} `json:"cfWaitingRoom"`
		}
		if json.Unmarshal(a.body, &told) == nil && told.Room != nil {
			w := told.Room
			if !w.InWaitingRoom {
				return reply{}, nil
			}
			return reply{waiting: true, again: again(w.RefreshIntervalSeconds), refused: w.IsRejectQueue}, nil
		}
	}
	if a.header.Get(stateHeader) == stateRejected {
		return reply{waiting: true, refused: true}, nil
	}
	if seconds, ok := leadingNumber(a.header.Get("Refresh")); ok {
		return reply{waiting: true, again: again(seconds)}, nil
	}
	switch a.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if seconds, ok := leadingNumber(a.header.Get("Retry-After")); ok {
			return reply{waiting: true, again: again(seconds)}, nil
		}
	}
	if a.status >= http.StatusInternalServerError {
		return reply{}, fmt.Errorf("status %d", a.status)
	}
	return reply{}, nil
}

func again(seconds int) time.Duration {
	return min(max(time.Duration(seconds)*time.Second, againMin), againMax)
}

// leadingNumber reads "20" and "20; url=/".
func leadingNumber(s string) (int, bool) {
	head, _, _ := strings.Cut(s, ";")
	n, err := strconv.Atoi(strings.TrimSpace(head))
	return n, err == nil
}
