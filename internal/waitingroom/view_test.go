package waitingroom_test

import (
	"testing"

	"github.com/anteroom/anteroom/internal/waitingroom"
)

// TestPageShowsTheAnswer: what the room said and what the visitor asked for is what the page can show.
func TestPageShowsTheAnswer(t *testing.T) {
	t.Parallel()
	const source = "<p>{{roomName}} {{queueingMethod}} {{position}}/{{usersWaiting}} {{waitTimeSeconds}} {{refreshIntervalSeconds}} " +
		"{{lastUpdated}} {{ticketId}} {{language}} {{returnURL}} {{waitURL}}" +
		"{{#newVisitor}} new{{/newVisitor}}{{#yourTurn}} turn{{/yourTurn}}{{#queueAll}} all{{/queueAll}}{{#isRejectQueue}} reject{{/isRejectQueue}}"
	const wait = "/.anteroom/wait?room=" + roomID
	for name, test := range map[string]struct {
		scene  string
		change func(*waitingroom.Request)
		all    bool
		want   string
	}{
		"Queued":  {"Queued", holds(t, place()), false, "<p>shop fifo 5/9 120 17 2026-11-30T10:23:45.000Z 04000000000000000000000000000000 de-DE /cart?a=b " + wait},
		"New":     {"Full", func(*waitingroom.Request) {}, false, "<p>shop fifo 10/10 0 1 2026-11-30T10:23:45.000Z 01020300000000000000000000000000 de-DE /cart?a=b " + wait + " new"},
		"Paused":  {"Full", func(*waitingroom.Request) {}, true, "<p>shop fifo 10/10 0 1 2026-11-30T10:23:45.000Z 01020300000000000000000000000000 de-DE /cart?a=b " + wait + " new all"},
		"Refused": {"Refused", func(*waitingroom.Request) {}, false, "<p>shop reject 0/0 0 0 2026-11-30T10:23:45.000Z  de-DE /cart?a=b " + wait + " new reject"},
		"Evil":    {"Full", func(r *waitingroom.Request) { r.Path = "//evil.test" }, false, "<p>shop fifo 10/10 0 1 2026-11-30T10:23:45.000Z 01020300000000000000000000000000 de-DE / " + wait + " new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := decide(t, gate(t, &rooms{answer: scene(test.scene)}, config(func(c *waitingroom.Config) {
				c.Room.CustomPageHTML, c.Room.DefaultTemplateLanguage, c.Room.QueueAll = source, "de-DE", test.all
			})), request(test.change))
			if got := string(a.Body); got != test.want {
				t.Errorf("the page shows\n%s, want\n%s", got, test.want)
			}
		})
	}
}
