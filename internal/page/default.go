package page

import (
	"strconv"

	"github.com/anteroom/anteroom"
)

// state is which of its faces the default page shows. The script has the same names.
type state uint8

const (
	stateLine state = iota
	stateDraw
	stateAll
	stateNo
	stateTurn
	states = 5
)

// String is the state's name in the document.
func (s state) String() string {
	return [states]string{"line", "draw", "all", "no", "turn"}[s]
}

// stateOf follows the published precedence: queue_all stands above the method.
func stateOf(v *View) state {
	switch {
	case v.Turn:
		return stateTurn
	case v.QueueAll:
		return stateAll
	case v.Method == anteroom.Reject:
		return stateNo
	case v.Method == anteroom.Random:
		return stateDraw
	default:
		return stateLine
	}
}

// append appends the default page for v.
func (d *document) append(dst []byte, v *View) []byte {
	f, s := factsOf(v), stateOf(v)
	for i := range d.pieces {
		p := &d.pieces[i]
		dst = append(dst, p.static...)
		dst = d.appendSlot(dst, p.slot, s, v, &f)
	}
	return dst
}

func (d *document) appendSlot(dst []byte, p slot, s state, v *View, f *facts) []byte {
	switch p {
	case slotNone:
		return dst
	case slotState:
		return append(dst, s.String()...)
	case slotHeading:
		return append(dst, d.heading[s]...)
	case slotNext:
		return append(dst, d.next[s]...)
	case slotRoom:
		return appendHTML(dst, v.RoomName)
	case slotTicket:
		return appendHTML(dst, v.TicketID)
	case slotWaitURL:
		return appendPath(dst, samePath(v.WaitURL, ""))
	case slotReturn:
		return appendPath(dst, samePath(v.Return, "/"))
	case slotPlaceHidden:
		return appendHidden(dst, placeOf(v, s) == 0)
	case slotPosition:
		return d.locale.appendNumber(dst, placeOf(v, s))
	case slotWait:
		return d.locale.appendWait(dst, f)
	case slotWaiting:
		return d.locale.appendNumber(dst, max(v.Waiting, 0))
	case slotUpdatedISO:
		return appendTime(dst, v.LastUpdated)
	case slotUpdated:
		return d.locale.appendClock(dst, v.LastUpdated)
	case slotHintHidden:
		return appendHidden(dst, !v.New || s == stateNo || s == stateTurn)
	case slotLot:
		return d.appendLot(dst, v)
	case slotLotTicketHidden, slotLotTicket, slotLotNumber, slotCommitment, slotSealHidden, slotSealed, slotRoot, slotRecordHidden, slotRecord:
		return appendLotSlot(dst, p, &v.Draw)
	}
	return dst
}

// appendLot appends the part about the draw, if there is one.
func (d *document) appendLot(dst []byte, v *View) []byte {
	if v.Draw.Number == 0 {
		return dst
	}
	for i := range d.lot {
		dst = append(dst, d.lot[i].static...)
		dst = appendLotSlot(dst, d.lot[i].slot, &v.Draw)
	}
	return dst
}

// appendLotSlot appends a slot of the draw.
func appendLotSlot(dst []byte, p slot, lot *Draw) []byte {
	switch p { //nolint:exhaustive // the other slots are those of appendSlot
	case slotLotTicketHidden:
		return appendHidden(dst, lot.Ticket == "")
	case slotLotTicket:
		return appendHTML(dst, lot.Ticket)
	case slotLotNumber:
		return strconv.AppendUint(dst, lot.Number, 10)
	case slotCommitment:
		return appendHTML(dst, lot.Commitment)
	case slotSealHidden:
		return appendHidden(dst, lot.Root == "")
	case slotSealed:
		return strconv.AppendInt(dst, int64(lot.Sealed), 10)
	case slotRoot:
		return appendHTML(dst, lot.Root)
	case slotRecordHidden:
		return appendHidden(dst, lot.Record == "")
	case slotRecord:
		return appendPath(dst, samePath(lot.Record, "/"))
	default:
		return dst
	}
}

// placeOf is the position to show; 0 hides it.
func placeOf(v *View, s state) int {
	if s != stateLine && s != stateAll {
		return 0
	}
	return max(v.Position, 0)
}

func appendHidden(dst []byte, hidden bool) []byte {
	if hidden {
		return append(dst, " hidden"...)
	}
	return dst
}
