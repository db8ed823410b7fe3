package api

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// drawState is what a room publishes of its draws.
type drawState struct {
	// Room is the name of the room in commitments and records: its id, which never changes.
	Room   string      `json:"room"`
	Open   *openDraw   `json:"open"`
	Sealed *sealedDraw `json:"sealed"`
	// Records are the numbers of the draws whose records can be fetched, oldest first.
	Records []uint64 `json:"records"`
}

// openDraw is the draw that newcomers belong to.
type openDraw struct {
	Number     uint64           `json:"number"`
	Method     queue.DrawMethod `json:"method"`
	Commitment queue.Hash       `json:"commitment"`
}

// sealedDraw is a draw whose list is closed.
type sealedDraw struct {
	openDraw

	Seal     queue.DrawSeal `json:"seal"`
	SealedOn time.Time      `json:"sealed_on"`
}

func drawStateOf(room string, s *queue.DrawState) *drawState {
	d := &drawState{Room: room, Records: s.Records}
	if d.Records == nil {
		d.Records = []uint64{}
	}
	open := func(n *queue.DrawNotice) openDraw { return openDraw{n.Number, n.Method, n.Commitment} }
	if s.Open != nil {
		now := open(s.Open)
		d.Open = &now
	}
	if s.Sealed != nil {
		d.Sealed = &sealedDraw{open(s.Sealed), s.Sealed.Seal, s.Sealed.At}
	}
	return d
}

func (h *handler) getDraw(r *http.Request) (reply, error) {
	record, err := h.room(r)
	if err != nil {
		return reply{}, err
	}
	s, err := h.o.Rooms.Draws(r.Context(), record.Room.ID)
	return reply{result: drawStateOf(record.Room.ID, &s)}, err
}

// drawAction is the body that goes on with a draw.
type drawAction struct {
	Action   string `json:"action"`
	External string `json:"external"`
	Note     string `json:"note"`
}

// goOnWithDraw seals the list of those who wait, or draws their places.
func (h *handler) goOnWithDraw(r *http.Request) (reply, error) {
	record, err := h.room(r)
	if err != nil {
		return reply{}, err
	}
	body, err := readBody(r)
	if err != nil {
		return reply{}, err
	}
	act, external, err := decodeDrawAction(body)
	if err != nil {
		return reply{}, err
	}
	var s queue.DrawState
	if act == "seal" {
		s, err = h.o.Rooms.SealDraw(r.Context(), record.Room.ID)
	} else {
		s, err = h.o.Rooms.EndDraw(r.Context(), record.Room.ID, external)
	}
	return reply{result: drawStateOf(record.Room.ID, &s)}, err
}

// decodeDrawAction reads a body strictly: what would be overlooked here cannot be made good.
func decodeDrawAction(body []byte) (act string, external queue.DrawExternal, err error) {
	var a drawAction
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return "", external, anteroom.Errorf(anteroom.CodeInvalid, "the body is not what is expected: %w", err).
			WithHint(`send {"action": "seal"}, or "draw" with "external" and "note"`)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", external, anteroom.Errorf(anteroom.CodeInvalid, "something follows the object in the body").WithHint("send one object")
	}
	switch {
	case a.Action != "seal" && a.Action != "draw":
		err = anteroom.Errorf(anteroom.CodeInvalid, "%.40q is not allowed", a.Action).At("action").WithHint("use seal or draw")
	case a.Action == "seal" && (a.External != "" || a.Note != ""):
		err = anteroom.Errorf(anteroom.CodeInvalid, "external randomness that is known at the seal proves nothing").At("external").
			WithHint("give it with the action draw")
	default:
		external, err = decodeExternal(a.External, a.Note)
	}
	return a.Action, external, err
}

// decodeExternal reads a value that is hexadecimal when it has nothing but such digits, else base64.
func decodeExternal(text, note string) (queue.DrawExternal, error) {
	value, err := hex.DecodeString(text)
	if err != nil {
		value, err = base64.StdEncoding.DecodeString(text)
	}
	if err != nil {
		return queue.DrawExternal{}, anteroom.Errorf(anteroom.CodeInvalid, "%.40q is neither hexadecimal nor base64", text).At("external").
			WithHint("give bytes, such as the value of a beacon's round, as pairs of hexadecimal digits")
	}
	return queue.DrawExternal{Value: value, Note: note}, nil
}

// getDrawRecord answers with the record itself: what verify-draw checks.
func (h *handler) getDrawRecord(r *http.Request) (reply, error) {
	record, err := h.room(r)
	if err != nil {
		return reply{}, err
	}
	number, err := strconv.ParseUint(r.PathValue("number"), 10, 64)
	if err != nil {
		return reply{}, anteroom.Errorf(anteroom.CodeInvalid, "%.40q is no number of a draw", r.PathValue("number")).At("number").
			WithHint("the draw's state lists the records that are kept")
	}
	return reply{serve: func(w http.ResponseWriter, r *http.Request) error {
		return h.o.Rooms.ServeDrawRecord(w, r, record.Room.ID, number)
	}}, nil
}
