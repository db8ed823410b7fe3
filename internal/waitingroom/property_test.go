package waitingroom_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// words draws a header value: mostly a sensible one, sometimes anything at all.
func words(t *rapid.T, label string, sensible ...string) string {
	if rapid.IntRange(0, 9).Draw(t, label+"IsOdd") == 0 {
		return string(rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, label))
	}
	return rapid.SampledFrom(append(sensible, "")).Draw(t, label)
}

func drawRequest(t *rapid.T, cookie string) *waitingroom.Request {
	r := &waitingroom.Request{
		Method:          rapid.SampledFrom([]string{"GET", "HEAD", "POST", "OPTIONS", "PUT", "CONNECT", "BREW"}).Draw(t, "method"),
		Host:            words(t, "host", "shop.test", "shop.test", "Shop.Test:8443", "other.test"),
		Path:            words(t, "path", "/", "/cart", "/.anteroom/wait", "/.anteroom/x", "//evil.test", "/a\r\nX: y"),
		Query:           words(t, "query", "room="+roomID, "a=b", "x\r\nSet-Cookie: a=b"),
		Accept:          words(t, "accept", chromeAccept, "*/*", "application/json", "image/webp,*/*", "text/html;q=0.1,application/json", "text/event-stream"),
		AcceptLanguage:  words(t, "language", "de", "en-US,en;q=0.5"),
		ContentType:     words(t, "contentType", "application/json", "text/plain"),
		FetchDest:       words(t, "dest", "document", "iframe", "image", "empty", "script", "serviceworker", "object"),
		FetchMode:       words(t, "mode", "navigate", "cors", "no-cors", "websocket"),
		Purpose:         words(t, "purpose", "", "", "prefetch", "prefetch;prerender"),
		RequestedWith:   words(t, "requestedWith", "", "XMLHttpRequest", "com.example.app"),
		Upgrade:         words(t, "upgrade", "", "", "websocket", "h2c"),
		Origin:          words(t, "origin", "https://app.test", "null"),
		PreflightMethod: words(t, "preflight", "", "", "GET"),
		ServiceWorker:   words(t, "worker", "", "", "script"),
		HTTPS:           rapid.Bool().Draw(t, "https"),
		Held:            rapid.Bool().Draw(t, "held"),
		Now:             start(),
		NewID:           queue.ID{1},
		Draw:            rapid.Uint64().Draw(t, "draw"),
		Nonce:           [waitingroom.NonceSize]byte{1},
	}
	if cookie != "" {
		r.Cookies = []string{words(t, "neighbour", "a=b"), cookie}
	}
	return r
}

// drawRooms draws a coordinator whose answers are arbitrary but the same for the same question.
func drawRooms(t *rapid.T) *rooms {
	now := start()
	answers := map[queue.Purpose]queue.Answer{}
	fails := rapid.IntRange(0, 5).Draw(t, "fails") == 0
	for _, p := range []queue.Purpose{queue.Enter, queue.Check, queue.Look} {
		a := queue.Answer{
			Verdict: rapid.SampledFrom([]queue.Verdict{queue.Waiting, queue.Admitted, queue.Refused}).Draw(t, "verdict"),
			Turn:    rapid.Bool().Draw(t, "turn"), Head: rapid.Bool().Draw(t, "head"), Known: rapid.Bool().Draw(t, "known"),
			ID: queue.ID{byte(rapid.IntRange(0, 3).Draw(t, "id"))}, Arrival: now, LastSeen: now,
			Refresh:  time.Duration(rapid.Int64Range(-1, int64(2*time.Minute)).Draw(t, "refresh")),
			Position: rapid.IntRange(-1, 1000).Draw(t, "position"), Waiting: rapid.IntRange(-1, 1000).Draw(t, "waiting"),
			Estimate: queue.Estimate{Known: rapid.Bool().Draw(t, "estimated"), Middle: time.Duration(rapid.Int64().Draw(t, "middle"))},
		}
		if a.Verdict == queue.Admitted {
			a.Accepted = now
		}
		answers[p] = a
	}
	return &rooms{answer: func(a queue.Ask) (queue.Answer, error) {
		if fails {
			return queue.Answer{}, errAbsent
		}
		return answers[a.Purpose], nil
	}}
}

func drawConfig(t *rapid.T) waitingroom.Config {
	return config(func(c *waitingroom.Config) {
		c.Room.QueueingStatusCode = rapid.SampledFrom([]int{200, 202, 429}).Draw(t, "status")
		c.Room.JSONResponseEnabled = rapid.Bool().Draw(t, "json")
		c.Room.QueueingMethod = rapid.SampledFrom(anteroom.Methods()).Draw(t, "method")
		c.Room.QueueAll = rapid.Bool().Draw(t, "queueAll")
		c.Room.Suspended = rapid.IntRange(0, 9).Draw(t, "suspended") == 0
		c.Room.DisableSessionRenewal = rapid.Bool().Draw(t, "fixed")
		c.Room.DefaultTemplateLanguage = rapid.SampledFrom([]string{"auto", "de-DE"}).Draw(t, "language")
		if rapid.Bool().Draw(t, "custom") {
			c.Room.CustomPageHTML = "<p>{{waitTime}}</p>"
		}
	})
}

// noNavigation tells by other means than the gate's that a client cannot want a page.
func noNavigation(r *waitingroom.Request) bool {
	page := []string{"", "empty", "document", "iframe", "frame", "fencedframe", "embed", "object"}
	switch {
	case r.Purpose == "prefetch", r.ServiceWorker == "script", r.Upgrade == "websocket":
		return true
	case r.FetchMode == "navigate":
		return false
	case !slices.Contains(page, r.FetchDest), r.FetchDest == "empty":
		return true
	case r.FetchDest == "" && r.FetchMode == "" && r.RequestedWith == "XMLHttpRequest":
		return true
	}
	return r.FetchDest == "" && r.Accept != "" && !strings.Contains(r.Accept, "*/*") && !strings.Contains(r.Accept, "html") && !strings.Contains(r.Accept, "text/*") && !strings.ContainsAny(r.Accept, "*,;\x00")
}

// TestProperties holds for every request, every configuration and every word of the coordinator.
func TestProperties(t *testing.T) {
	t.Parallel()
	keys := ring(t)
	cookies := []string{"", "__anteroom=garbage"}
	for i, tk := range []ticket.Ticket{place(), seat(), stale()} {
		cookies = append(cookies, "__anteroom="+string(keys.Append(nil, roomID, tk, ticket.Nonce{byte(i)})))
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := drawRequest(rt, rapid.SampledFrom(cookies).Draw(rt, "cookie"))
		coordinator := drawRooms(rt)
		table, err := waitingroom.Compile([]waitingroom.Config{drawConfig(rt)}, keys)
		if err != nil {
			rt.Fatal(err)
		}
		g := waitingroom.NewGate(coordinator)
		g.Set(table)
		var a, again waitingroom.Answer
		g.Decide(t.Context(), r, &a)
		asked := len(coordinator.asks)
		g.Decide(t.Context(), r, &again)
		if !reflect.DeepEqual(a, again) {
			rt.Fatalf("two answers to one request:\n%+v\n%+v", a, again)
		}
		for _, fault := range faults(r, &a, coordinator.asks[:asked]) {
			rt.Errorf("%s\nrequest %+v\nanswer %d %d %v %s", fault, *r, a.Action, a.Status, a.Headers, a.Cookie)
		}
	})
}

// faults lists the promises that an answer breaks.
func faults(r *waitingroom.Request, a *waitingroom.Answer, asks []queue.Ask) (list []string) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	for _, h := range append(a.Headers, waitingroom.Header{Name: "Set-Cookie", Value: string(a.Cookie)}) {
		check(!strings.ContainsFunc(h.Value, func(c rune) bool { return c < ' ' || c >= 0x7f }), "header %s: %q", h.Name, h.Value)
	}
	look := !slices.ContainsFunc(asks, func(q queue.Ask) bool { return q.Purpose != queue.Look })
	check(!look || len(a.Cookie) == 0, "a cookie without a counted request")
	check(a.Action != waitingroom.Pass || len(a.Cookie)+len(a.Headers) == 0, "something was added to a request that passes")
	check(a.Action != waitingroom.Hold || !r.Held, "held twice")
	check(len(asks) <= 2, "asked %d times", len(asks))
	if a.Action != waitingroom.Respond {
		return list
	}
	html := strings.HasPrefix(value(a, "Content-Type"), "text/html")
	check(value(a, "Cache-Control") == "no-store", "may be stored")
	check(a.Status != 304 && value(a, "Etag") == "", "may be revalidated")
	check(!html || a.Status >= 300 || !noNavigation(r), "a page for what is no navigation")
	check(html == strings.HasPrefix(string(a.Body), "<") || r.Method == "HEAD", "the body is not what the header says")
	check(r.Method != "HEAD" || len(a.Body) == 0, "a body for HEAD")
	state := value(a, waitingroom.StateHeader)
	check(slices.Contains([]string{"waiting", "turn", "rejected"}, state) || a.Outcome == waitingroom.Faulty || a.Status == 204, "state %q", state)
	check(state == "" || value(a, "Retry-After") != "", "no Retry-After")
	check(value(a, "Refresh") != "0" && value(a, "Retry-After") != "0", "asks at once")
	return list
}

// FuzzDecide gives the gate headers of any shape.
func FuzzDecide(f *testing.F) {
	f.Add("GET", "shop.test", "/cart", "a=b", chromeAccept, "document", "navigate", "https://app.test", "a=b")
	f.Add("POST", "shop.test:80", "/.anteroom/wait", "room="+roomID, "application/json;q=0.5,*/*", "empty", "cors", "null", "__anteroom=x")
	f.Add("OPTIONS", "*", "*", "room=%", ";q=,,/", "", "", "https://", ";")
	table, err := waitingroom.Compile([]waitingroom.Config{config()}, ring(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, host, path, query, accept, dest, mode, origin, cookie string) {
		r := request(func(r *waitingroom.Request) {
			*r = waitingroom.Request{
				Method: method, Host: host, Path: path, Query: query, Accept: accept, AcceptLanguage: accept, ContentType: accept,
				FetchDest: dest, FetchMode: mode, Purpose: mode, Upgrade: dest, Origin: origin, PreflightMethod: dest, Cookies: []string{cookie},
				Now: r.Now, NewID: r.NewID, Nonce: r.Nonce,
			}
		})
		coordinator := &rooms{answer: scene("Full")}
		g := waitingroom.NewGate(coordinator)
		g.Set(table)
		a := decide(t, g, r)
		if list := faults(r, a, coordinator.asks); len(list) > 0 {
			t.Fatalf("%v\n%+v\n%d %v", list, r, a.Status, a.Headers)
		}
	})
}
