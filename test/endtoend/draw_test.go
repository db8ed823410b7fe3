package endtoend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// lot is what a waiting program is told of the draw.
type lot struct {
	Number                                        int
	Phase, Commitment, Ticket, SealedRoot, Record string
	SealedCount                                   int
}

// poll asks the way the page's script does.
func (v *visitor) poll(ctx context.Context, t *testing.T, wait string) lot {
	t.Helper()
	var got struct {
		Room struct {
			Draw lot
		} `json:"cfWaitingRoom"`
	}
	if err := json.Unmarshal(fetch(ctx, t, v.http, wait), &got); err != nil {
		t.Fatal(err)
	}
	return got.Room.Draw
}

// fetch reads an address.
func fetch(ctx context.Context, t *testing.T, client *http.Client, url string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: status %d, %v: %s", url, resp.StatusCode, err, b)
	}
	return b
}

// drawn is the state of a room's draws.
type drawn struct {
	Room string
	Open struct {
		Number     int
		Commitment string
	}
	Sealed *struct {
		Number     int
		Commitment string
		Seal       struct {
			Count int
			Root  string
		}
	}
	Records []int
}

func (p *program) draw(method, path, body string) (d drawn) {
	p.t.Helper()
	if err := json.Unmarshal(p.call(method, path+"/draw", body), &d); err != nil {
		p.t.Fatal(err)
	}
	return d
}

// TestLotteryIsDrawnForEverybodyToCheck: fifty wait, the list is sealed, the node is killed, the places are
// drawn with a value from outside. The record is found true by the program itself, everyone is in it,
// and enters in its order.
func TestLotteryIsDrawnForEverybodyToCheck(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := newShop(t, time.Hour)
	p := serve(t, s.URL, "--total-active-users", "1", "--new-users-per-minute", "1", "--session-duration", "30m")
	room := p.roomPath()
	lottery := func() { p.call(http.MethodPatch, room, `{"queueing_method":"random","json_response_enabled":true}`) }
	lottery()
	wait := p.visitors + "/.anteroom/wait?room=" + room[strings.LastIndex(room, "/")+1:]
	transport := &http.Transport{}
	join := func() *visitor {
		v := newVisitor(transport, p.visitors+"/")
		if _, _, err := v.ask(ctx); err != nil {
			t.Fatal(err)
		}
		return v
	}
	join() // takes the only place
	announced := p.draw(http.MethodGet, room, "")
	visitors := make([]*visitor, 50)
	tickets := map[string]*visitor{} // by public id
	for i := range visitors {
		visitors[i] = join()
		l := visitors[i].poll(ctx, t, wait)
		if l.Number != 1 || l.Phase != "open" || l.Commitment != announced.Open.Commitment {
			t.Fatalf("visitor %d is told of %+v, announced is %+v", i, l, announced.Open)
		}
		tickets[l.Ticket] = visitors[i]
	}
	sealed := p.draw(http.MethodPost, room, `{"action":"seal"}`).Sealed
	if sealed == nil || sealed.Seal.Count != 50 || sealed.Commitment != announced.Open.Commitment {
		t.Fatalf("sealed %+v", sealed)
	}
	p.kill()
	p.start()
	lottery()
	late := join()
	if l := late.poll(ctx, t, wait); l.Number != 2 || l.Phase != "open" {
		t.Errorf("a newcomer is told of %+v", l)
	}
	if l := visitors[0].poll(ctx, t, wait); l.Phase != "sealed" || l.SealedRoot != sealed.Seal.Root || l.SealedCount != 50 {
		t.Errorf("a sealed visitor is told of %+v", l)
	}
	after := p.draw(http.MethodPost, room, `{"action":"draw","external":"d67668ac76792356","note":"round 4711"}`)
	if after.Sealed != nil || !slices.Equal(after.Records, []int{1}) {
		t.Fatalf("after the draw: %+v", after)
	}
	l := visitors[0].poll(ctx, t, wait)
	if l.Phase != "drawn" || l.Record == "" {
		t.Fatalf("a drawn visitor is told of %+v", l)
	}
	record := string(fetch(ctx, t, &http.Client{Transport: transport}, p.visitors+l.Record))
	if fromAPI := p.get(ctx, "/client/v4"+room+"/draw/1"); fromAPI != record {
		t.Error("visitors and operator get different records")
	}
	for ticket := range tickets {
		out, code := p.command(record, "verify-draw", "-", "--ticket", ticket)
		if code != 0 || !strings.Contains(out, "commitment ok: "+announced.Open.Commitment) ||
			!strings.Contains(out, "50 tickets, root "+sealed.Seal.Root) || !strings.Contains(out, "of 50, sealed") {
			t.Fatalf("exit code %d: %s", code, out)
		}
		break // one is enough of the program; all are compared below
	}
	p.call(http.MethodDelete, room+"/sessions/"+late.ticket, "") // a newcomer's lot may be anywhere between
	enterInOrder(ctx, t, p, room, placesIn(t, record), tickets)
}

// placesIn are the public ids of a record by place.
func placesIn(t *testing.T, record string) []string {
	t.Helper()
	var r struct{ Tickets []struct{ ID string } }
	if err := json.Unmarshal([]byte(record), &r); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, ticket := range r.Tickets {
		ids = append(ids, ticket.ID)
	}
	return ids
}

// enterInOrder makes one place free after the other, and lets everybody ask in any order.
func enterInOrder(ctx context.Context, t *testing.T, p *program, room string, places []string, tickets map[string]*visitor) {
	t.Helper()
	if len(places) != len(tickets) {
		t.Fatalf("the record has %d tickets of %d", len(places), len(tickets))
	}
	for i, want := range places {
		if tickets[want] == nil {
			t.Fatalf("nobody has the ticket %s of place %d", want, i+1)
		}
		p.limit(room, i+2)
		entered := ""
		for deadline := time.Now().Add(5 * time.Second); entered == "" && time.Now().Before(deadline); {
			entered = oneEnters(ctx, t, tickets)
		}
		if entered != want {
			t.Fatalf("place %d entered as %q, want %s", i+1, entered, want)
		}
		delete(tickets, want)
	}
}

// oneEnters lets everybody ask once and tells who entered; "-" when several did.
func oneEnters(ctx context.Context, t *testing.T, tickets map[string]*visitor) (entered string) {
	t.Helper()
	ids := make([]string, 0, len(tickets))
	for id := range tickets {
		ids = append(ids, id)
	}
	rng := rand.New(rand.NewPCG(uint64(len(ids)), 1))
	slices.Sort(ids)
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, id := range ids {
		inside, _, err := tickets[id].ask(ctx)
		switch {
		case err != nil:
			t.Fatal(err)
		case inside && entered != "":
			return fmt.Sprintf("%s and %s", entered, id)
		case inside:
			entered = id
		}
	}
	return entered
}
