package waitingroom_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// records has the record of draw 1.
type records struct{}

func (records) ServeDrawRecord(w http.ResponseWriter, _ *http.Request, room string, number uint64) error {
	if number != 1 {
		return errors.New("there is no such record")
	}
	_, err := fmt.Fprintf(w, "the record of %s", room)
	return err
}

// TestRecordsArePublished: everybody can fetch a record, whatever the room does with visitors.
func TestRecordsArePublished(t *testing.T) {
	t.Parallel()
	o := &origin{Handler: http.NotFoundHandler()}
	coordinator := &rooms{answer: scene("Full")}
	s := httptest.NewServer(waitingroom.NewHandler(waitingroom.Options{
		Gate: gate(t, coordinator, config()), Sessions: coordinator, Origin: o, Client: client, Records: records{},
	}))
	t.Cleanup(s.Close)
	none, _ := site(t, coordinator, nil, config())
	for _, c := range []struct {
		name, method, query string
		of                  *httptest.Server
		status              int
		body                string
	}{
		{"Record", "GET", "?room=" + roomID + "&number=1", s, 200, "the record of " + roomID},
		{"NotYet", "GET", "?room=" + roomID + "&number=2", s, 404, "it has not ended"},
		{"NoNumber", "GET", "?room=" + roomID, s, 404, "no draw of that number"},
		{"Negative", "GET", "?room=" + roomID + "&number=-1", s, 404, "no draw of that number"},
		{"OtherRoom", "GET", "?room=other&number=1", s, 404, "no waiting room of that id"},
		{"Post", "POST", "?room=" + roomID + "&number=1", s, 405, "Only GET and HEAD"},
		{"NoRecords", "GET", "?room=" + roomID + "&number=1", none, 404, "it has not ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			resp, body := get(t, c.of, c.method, "/.anteroom/draw"+c.query, "")
			if resp.StatusCode != c.status || !strings.Contains(body, c.body) {
				t.Errorf("%d %s, want %d with %q", resp.StatusCode, body, c.status, c.body)
			}
		})
	}
	if asked := coordinator.purposes(); asked != "" {
		t.Errorf("the room was asked %q", asked)
	}
}

// TestVisitorIsToldOfTheDraw: number and commitment from the beginning, root and record when they are there.
func TestVisitorIsToldOfTheDraw(t *testing.T) {
	t.Parallel()
	notice := queue.DrawNotice{Phase: queue.DrawOpen, Number: 3, Method: queue.DrawRandom, Commitment: queue.Hash{0xc0}}
	sealed, drawn := notice, notice
	sealed.Phase, sealed.Seal = queue.DrawSealed, queue.DrawSeal{Count: 5, Root: queue.Hash{0x2d}}
	drawn.Phase = queue.DrawEnded
	for _, c := range []struct {
		name   string
		notice *queue.DrawNotice
		root   string
		record string
	}{
		{"Open", &notice, "", ""},
		{"Sealed", &sealed, sealed.Seal.Root.String(), ""},
		{"Drawn", &drawn, "", "/.anteroom/draw?room=" + roomID + "&number=3"},
		{"None", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			coordinator := &rooms{answer: func(ask queue.Ask) (queue.Answer, error) {
				return queue.Answer{Verdict: queue.Waiting, ID: ask.NewID, LastSeen: start(), Draw: c.notice}, nil
			}}
			r := request(func(r *waitingroom.Request) { r.Accept, r.FetchDest, r.FetchMode = "application/json", "empty", "cors" })
			r.Path, r.Query = "/.anteroom/wait", "room="+roomID
			a := decide(t, gate(t, coordinator, config(func(c *waitingroom.Config) { c.Room.QueueingMethod = anteroom.Random })), r)
			var got struct {
				Room struct {
					Draw *struct {
						Number                                 uint64
						Commitment, Ticket, SealedRoot, Record string
					}
				} `json:"cfWaitingRoom"`
			}
			if err := json.Unmarshal(a.Body, &got); err != nil {
				t.Fatal(err)
			}
			d := got.Room.Draw
			if c.notice == nil {
				if d != nil {
					t.Errorf("told of %+v", d)
				}
				return
			}
			if d == nil || d.Number != 3 || d.Commitment != notice.Commitment.String() || d.Ticket != queue.PublicID(r.NewID).String() ||
				d.SealedRoot != c.root || d.Record != c.record {
				t.Errorf("told of %+v", d)
			}
		})
	}
}
