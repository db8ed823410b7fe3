package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// draws stands for the draws of the coordinators.
type draws struct {
	state    queue.DrawState
	external queue.DrawExternal
}

func (r *rooms) Draws(context.Context, string) (queue.DrawState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.draws.state, r.err
}

func (r *rooms) SealDraw(_ context.Context, id string) (queue.DrawState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draws.state.Sealed = &queue.DrawNotice{
		Phase: queue.DrawSealed, Number: 1, Method: queue.DrawRandom, Commitment: queue.DrawCommitment(id, 1, queue.DrawRandom, queue.Seed{1}),
		Seal: queue.DrawSeal{Count: 3, Root: queue.Hash{4}}, At: time.Date(2026, 5, 27, 12, 0, 0, 0, time.UTC),
	}
	r.draws.state.Open = &queue.DrawNotice{Phase: queue.DrawOpen, Number: 2, Method: queue.DrawRandom, Commitment: queue.Hash{2}}
	return r.draws.state, r.err
}

func (r *rooms) EndDraw(_ context.Context, _ string, external queue.DrawExternal) (queue.DrawState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draws.external, r.draws.state.Sealed, r.draws.state.Records = external, nil, []uint64{1}
	return r.draws.state, r.err
}

func (r *rooms) ServeDrawRecord(w http.ResponseWriter, _ *http.Request, _ string, number uint64) error {
	if number != 1 {
		return anteroom.Errorf(anteroom.CodeNotFound, "there is no record of a draw %d", number)
	}
	_, err := io.WriteString(w, `{"version":1}`)
	return err
}

func TestDrawGoesOn(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", `,"queueing_method":"random"`)
	id := room[strings.LastIndex(room, "/")+1:]
	if a := s.good(t, http.MethodGet, room+"/draw", ""); string(a.Result) != `{"room":"`+id+`","open":null,"sealed":null,"records":[]}` {
		t.Errorf("a room that draws nothing: %s", a.Result)
	}
	if a := s.good(t, http.MethodGet, room+"/status", ""); strings.Contains(string(a.Result), "draw") {
		t.Errorf("its status: %s", a.Result)
	}
	sealed := s.good(t, http.MethodPost, room+"/draw", `{"action":"seal"}`)
	for _, want := range []string{
		`"open":{"number":2,"method":"random","commitment":"02`, `"sealed":{"number":1,`,
		`"seal":{"count":3,"root":"04`, `"sealed_on":"2026-05-27T12:00:00Z"`,
	} {
		if !strings.Contains(string(sealed.Result), want) {
			t.Errorf("%s lacks %s", sealed.Result, want)
		}
	}
	var status struct{ Draw json.RawMessage }
	must(t, json.Unmarshal(s.good(t, http.MethodGet, room+"/status", "").Result, &status))
	if string(status.Draw) != string(sealed.Result) {
		t.Errorf("the status has %s, the draw is %s", status.Draw, sealed.Result)
	}
	for _, text := range []string{"00ff10", "AP8Q"} {
		drawn := s.good(t, http.MethodPost, room+"/draw", `{"action":"draw","external":"`+text+`","note":"round 7"}`)
		if !strings.Contains(string(drawn.Result), `"sealed":null,"records":[1]`) {
			t.Errorf("after the draw: %s", drawn.Result)
		}
		if e := s.rooms.draws.external; string(e.Value) != "\x00\xff\x10" || e.Note != "round 7" {
			t.Errorf("%s came as %x %q", text, e.Value, e.Note)
		}
	}
}

func TestDrawRecord(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+room+"/draw/1", http.NoBody)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := s.client.Do(request)
	must(t, err)
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != `{"version":1}` {
		t.Errorf("the record came as %q, %v", body, err)
	}
	s.bad(t, fault{404, 1001}, http.MethodGet, room+"/draw/2", "")
	s.bad(t, fault{400, 1002}, http.MethodGet, room+"/draw/last", "")
}

// TestDrawBodies: what cannot be understood changes nothing.
func TestDrawBodies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	room := s.create(t, "shop", "")
	for _, c := range []struct{ body, pointer string }{
		{``, ""},
		{`[]`, ""},
		{`{"action":"seal"}{}`, ""},
		{`{"action":"seal","extern":"00"}`, ""},
		{`{"action":1}`, ""},
		{`{}`, "/action"},
		{`{"action":"stop"}`, "/action"},
		{`{"action":"seal","external":"00"}`, "/external"},
		{`{"action":"draw","external":"0g!"}`, "/external"},
	} {
		a := s.bad(t, fault{400, 1002}, http.MethodPost, room+"/draw", c.body)
		if a.Errors[0].Source.Pointer != c.pointer {
			t.Errorf("%s: %s", c.body, a.raw)
		}
	}
	if s.rooms.draws.state.Any() || s.rooms.draws.external.Value != nil {
		t.Error("a faulty body went through: " + strconv.Quote(string(s.rooms.draws.external.Value)))
	}
	s.bad(t, fault{405, 2005}, http.MethodDelete, room+"/draw", "")
	s.bad(t, fault{404, 1001}, http.MethodPost, s.zones+"/none/draw", `{"action":"seal"}`)
	s.rooms.fail(anteroom.Errorf(anteroom.CodeConflict, "no list is sealed").At("action"))
	s.bad(t, fault{409, 2001}, http.MethodPost, room+"/draw", `{"action":"draw"}`)
}
