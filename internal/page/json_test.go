package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
)

// publishedFields are the fields of cfWaitingRoom in their published order.
func publishedFields() []string {
	return strings.Fields(`inWaitingRoom waitTimeKnown waitTime waitTime25Percentile waitTime50Percentile
		waitTime75Percentile waitTimeFormatted queueIsFull queueAll lastUpdated refreshIntervalSeconds queueingMethod
		isFIFOQueue isRandomQueue isPassthroughQueue isRejectQueue isEventActive isEventPrequeueing
		timeUntilEventStart timeUntilEventStartFormatted timeUntilEventEnd timeUntilEventEndFormatted
		shuffleAtEventStart turnstile infiniteQueue`)
}

func ownFields() []string {
	return strings.Fields(`position usersWaiting yourTurn ticketId waitTimeLowSeconds waitTimeSeconds
		waitTimeHighSeconds waitTimeIsRange waitTimeReason`)
}

func object(t testing.TB, v *page.View) map[string]any {
	t.Helper()
	var o map[string]map[string]any
	b := page.AppendJSON(nil, v)
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if len(o) != 1 || o["cfWaitingRoom"] == nil {
		t.Fatalf("not a cfWaitingRoom object: %s", b)
	}
	return o["cfWaitingRoom"]
}

func TestJSONFieldOrder(t *testing.T) {
	t.Parallel()
	dec := json.NewDecoder(bytes.NewReader(page.AppendJSON([]byte{}, inLine())))
	var names []string
	for depth, key := 0, true; ; {
		token, err := dec.Token()
		if err != nil {
			break
		}
		switch token {
		case json.Delim('{'):
			depth, key = depth+1, true
		case json.Delim('}'):
			depth--
		default:
			if name, ok := token.(string); ok && key && depth == 2 {
				names = append(names, name)
			}
			key = !key
		}
	}
	want := append(publishedFields(), ownFields()...)
	if fmt.Sprint(names) != fmt.Sprint(want) {
		t.Errorf("fields\n%v, want\n%v", names, want)
	}
}

func TestJSONExact(t *testing.T) {
	t.Parallel()
	const want = `{"cfWaitingRoom":{"inWaitingRoom":true,"waitTimeKnown":true,"waitTime":10,` +
		`"waitTime25Percentile":0,"waitTime50Percentile":0,"waitTime75Percentile":0,"waitTimeFormatted":"10 minutes",` +
		`"queueIsFull":false,"queueAll":false,"lastUpdated":"2026-11-30T14:03:22.081Z","refreshIntervalSeconds":20,` +
		`"queueingMethod":"fifo","isFIFOQueue":true,"isRandomQueue":false,"isPassthroughQueue":false,"isRejectQueue":false,` +
		`"isEventActive":false,"isEventPrequeueing":false,"timeUntilEventStart":0,` +
		`"timeUntilEventStartFormatted":"unavailable","timeUntilEventEnd":0,"timeUntilEventEndFormatted":"unavailable",` +
		`"shuffleAtEventStart":false,"turnstile":"","infiniteQueue":false,"position":1284,"usersWaiting":23456,` +
		`"yourTurn":false,"ticketId":"4f1d0c9a8b7e6f5d4c3b2a1908f7e6d5","waitTimeLowSeconds":600,"waitTimeSeconds":600,` +
		`"waitTimeHighSeconds":600,"waitTimeIsRange":false,"waitTimeReason":""}}`
	if got := string(page.AppendJSON([]byte("before"), inLine())); got != "before"+want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// TestStates is the published table of values per state, with T41 to T45.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		view *page.View
		want map[string]any
	}{
		{"FIFO", inLine(), map[string]any{
			"waitTimeKnown": true, "waitTime": 10, "waitTimeFormatted": "10 minutes", "waitTime25Percentile": 0,
			"waitTime50Percentile": 0, "waitTime75Percentile": 0, "refreshIntervalSeconds": 20, "queueIsFull": false,
			"isFIFOQueue": true, "isRandomQueue": false,
		}},
		{"FIFOFive", with(func(v *page.View) { v.Wait = 5 * time.Minute }), map[string]any{"waitTimeFormatted": "5 minutes"}},
		{"FIFORoundsUp", with(func(v *page.View) { v.Wait = 61 * time.Second }), map[string]any{"waitTime": 2, "waitTimeFormatted": "2 minutes"}},
		{"FIFOOne", with(func(v *page.View) { v.Wait = time.Nanosecond }), map[string]any{"waitTime": 1, "waitTimeFormatted": "1 minute", "waitTimeSeconds": 1}},
		{"FIFONone", with(func(v *page.View) { v.Wait = 0 }), map[string]any{"waitTimeKnown": true, "waitTime": 0, "waitTimeFormatted": "0 minutes"}},
		{"FIFONegative", with(func(v *page.View) { v.Wait = -time.Hour }), map[string]any{"waitTime": 0, "waitTimeSeconds": 0}},
		{"FIFOLater", with(func(v *page.View) { v.Reason = "visits" }), map[string]any{"waitTimeReason": "visits", "waitTimeIsRange": false}},
		{"FIFORanged", with(func(v *page.View) { v.Ranged = true }), map[string]any{
			"waitTime": 10, "waitTimeFormatted": "8 minutes to 15 minutes", "waitTime50Percentile": 0,
			"waitTimeLowSeconds": 480, "waitTimeSeconds": 600, "waitTimeHighSeconds": 900, "waitTimeIsRange": true,
		}},
		{"Unknown", with(func(v *page.View) { v.Known = false }), map[string]any{
			"waitTimeKnown": false, "waitTime": 0, "waitTimeFormatted": "unavailable", "waitTimeSeconds": 0,
			"queueIsFull": false, "refreshIntervalSeconds": 20,
		}},
		{"Random", with(func(v *page.View) { v.Method, v.Wait25 = anteroom.Random, 5*time.Minute }), map[string]any{
			"waitTimeKnown": true, "waitTime": 10, "waitTimeFormatted": "5 minutes to 15 minutes", "waitTime25Percentile": 5,
			"waitTime50Percentile": 10, "waitTime75Percentile": 15, "isRandomQueue": true, "isFIFOQueue": false,
			"queueingMethod": "random", "waitTimeIsRange": true,
		}},
		{"RandomOneToTwo", with(func(v *page.View) {
			v.Method, v.Wait25, v.Wait, v.Wait75 = anteroom.Random, 25*time.Second, time.Minute, 2*time.Minute
		}), map[string]any{"waitTimeFormatted": "1 minute to 2 minutes", "waitTime25Percentile": 1}},
		{"RandomNarrow", with(func(v *page.View) {
			v.Method, v.Wait25, v.Wait, v.Wait75 = anteroom.Random, 10*time.Second, 20*time.Second, 30*time.Second
		}), map[string]any{"waitTimeFormatted": "1 minute", "waitTime": 1}},
		{"DayIsNotFull", with(func(v *page.View) { v.Wait = 1440 * time.Minute }), map[string]any{
			"queueIsFull": false, "waitTimeKnown": true, "waitTime": 1440,
		}},
		{"Full", with(func(v *page.View) { v.Wait = 1440*time.Minute + 1 }), map[string]any{
			"queueIsFull": true, "waitTimeKnown": false, "waitTime": 0, "waitTimeFormatted": "unavailable",
			"waitTime50Percentile": 0, "refreshIntervalSeconds": 20, "waitTimeSeconds": 0,
		}},
		{"FullRandom", with(func(v *page.View) { v.Method, v.Wait = anteroom.Random, 25*time.Hour }), map[string]any{
			"queueIsFull": true, "waitTimeKnown": false, "waitTime25Percentile": 0, "waitTime75Percentile": 0,
		}},
		{"QueueAll", with(func(v *page.View) { v.QueueAll = true }), map[string]any{
			"queueAll": true, "waitTimeKnown": false, "waitTime": 0, "waitTimeFormatted": "unavailable",
			"queueIsFull": false, "refreshIntervalSeconds": 20, "position": 1284,
		}},
		{"QueueAllPassthrough", with(func(v *page.View) { v.QueueAll, v.Method = true, anteroom.Passthrough }), map[string]any{
			"isPassthroughQueue": true, "queueingMethod": "passthrough", "waitTimeKnown": false,
		}},
		{"QueueAllReject", with(func(v *page.View) { v.QueueAll, v.Method = true, anteroom.Reject }), map[string]any{
			"isRejectQueue": true, "refreshIntervalSeconds": 20,
		}},
		{"Reject", with(func(v *page.View) { v.Method = anteroom.Reject }), map[string]any{
			"isRejectQueue": true, "waitTimeKnown": false, "waitTime": 0, "waitTimeFormatted": "unavailable",
			"refreshIntervalSeconds": 0, "inWaitingRoom": true,
		}},
		{"Turn", with(func(v *page.View) { v.Turn, v.Position = true, 0 }), map[string]any{"yourTurn": true, "inWaitingRoom": true}},
		{"NegativeCounts", with(func(v *page.View) { v.Position, v.Waiting, v.Refresh = -1, -1, -time.Second }), map[string]any{
			"position": 0, "usersWaiting": 0, "refreshIntervalSeconds": 0,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := object(t, c.view)
			for field, want := range c.want {
				if fmt.Sprint(got[field]) != fmt.Sprint(want) {
					t.Errorf("%s is %v, want %v", field, got[field], want)
				}
			}
		})
	}
}

// TestVariablesAgree shows that templates and JSON have the same names and values.
func TestVariablesAgree(t *testing.T) {
	t.Parallel()
	for _, v := range []*page.View{
		inLine(),
		with(func(v *page.View) { v.Method, v.New = anteroom.Random, true }),
		with(func(v *page.View) { v.QueueAll, v.Turn = true, true }),
	} {
		vars := page.Variables(v)
		for field, want := range object(t, v) {
			if fmt.Sprint(vars[field]) != fmt.Sprint(want) {
				t.Errorf("variable %s is %v, the JSON field is %v", field, vars[field], want)
			}
		}
		for name, value := range vars {
			switch value.(type) {
			case string, int, bool:
			default:
				t.Errorf("variable %s is a %T", name, value)
			}
		}
	}
}

// TestHoursAndMinutes is T40.
func TestHoursAndMinutes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wait, hours, minutes int }{{135, 2, 15}, {59, 0, 59}, {60, 1, 0}, {1440, 24, 0}} {
		vars := page.Variables(with(func(v *page.View) { v.Wait = time.Duration(c.wait) * time.Minute }))
		if vars["waitTimeHours"] != c.hours || vars["waitTimeHourMinutes"] != c.minutes {
			t.Errorf("%d minutes are %v h %v min, want %d h %d min", c.wait,
				vars["waitTimeHours"], vars["waitTimeHourMinutes"], c.hours, c.minutes)
		}
	}
	if _, ok := object(t, inLine())["waitTimeHours"]; ok {
		t.Error("waitTimeHours is for templates only")
	}
}

func TestJSONEscapesStrings(t *testing.T) {
	t.Parallel()
	const odd = "a\"b\\c\x00\n\t\x7f</script><!--&'\u2028\u2029ü😀"
	v := with(func(v *page.View) { v.TicketID, v.Method = odd, anteroom.Method(odd) })
	o := object(t, v)
	if o["ticketId"] != odd || o["queueingMethod"] != odd {
		t.Errorf("came back as %q and %q", o["ticketId"], o["queueingMethod"])
	}
	if b := page.AppendJSON(nil, v); bytes.ContainsAny(b, "<>&\u2028") {
		t.Errorf("not safe inside HTML: %s", b)
	}
}

func TestJSONDraw(t *testing.T) {
	t.Parallel()
	v := with(func(v *page.View) {
		v.Draw = page.Draw{Number: 2, Phase: "drawn", Method: "random", Commitment: "c0", Ticket: "7e", Sealed: 5, Root: "2d", Record: "/.anteroom/draw?room=a&number=2"}
	})
	got := string(page.AppendJSON(nil, v))
	want := `"waitTimeIsRange":false,"waitTimeReason":"","draw":{"number":2,"phase":"drawn","method":"random","commitment":"c0","ticket":"7e",` +
		`"sealedCount":5,"sealedRoot":"2d","record":"/.anteroom/draw?room=a\u0026number=2"}}}`
	if !json.Valid([]byte(got)) {
		t.Error("this is no JSON")
	}
	if !strings.Contains(strings.ReplaceAll(got, `&`, `\u0026`), want) {
		t.Errorf("got %s, want %s", got, want)
	}
	vars := page.Variables(v)
	if vars["drawNumber"] != 2 || vars["drawTicket"] != "7e" || vars["drawRecordURL"] != v.Draw.Record || vars["drawSealedRoot"] != "2d" {
		t.Errorf("variables %v", vars)
	}
}
