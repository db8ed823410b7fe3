package queue

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/anteroom/anteroom"
)

// drawRecordVersion is the form of the record that this program makes and reads.
const drawRecordVersion = 1

// drawFaultsMax bounds the tickets whose faults are listed: one wrong seed makes every key wrong.
const drawFaultsMax = 10

// DrawRecord is what a room publishes after a draw: with it anybody can recompute every place.
// [DrawRecord.Complete] makes one, [DrawRecord.Verify] checks one. docs/draw.md describes its form.
type DrawRecord struct {
	// Version is the form of the record, 1.
	Version int `json:"version"`
	// Room is the name under which the room announced the draw, up to DrawRoomMax bytes.
	Room string `json:"room"`
	// Number tells the draws of a room apart, up to DrawNumberMax.
	Number uint64     `json:"number"`
	Method DrawMethod `json:"method"`
	// Commitment was published before the start, see DrawCommitment.
	Commitment Hash     `json:"commitment"`
	Seal       DrawSeal `json:"seal"`
	// External came after the seal. It is left out when there is none.
	External DrawExternal `json:"external,omitzero"`
	// LateCount is how many tickets joined after the seal, in a lottery.
	LateCount int `json:"late_count"`
	// Seed was secret until the seal.
	Seed Hash `json:"seed"`
	// Final is the seed of the keys, see FinalSeed.
	Final Hash `json:"final_seed"`
	// Tickets are in the order of their places.
	Tickets []DrawTicket `json:"tickets"`
}

// DrawSeal closes the list of those who wait.
type DrawSeal struct {
	// Count is how many tickets are sealed.
	Count int `json:"count"`
	// Root is MerkleRoot over their public ids in ascending order.
	Root Hash `json:"root"`
}

// DrawExternal is randomness that the operator does not control.
type DrawExternal struct {
	// Value is what goes into the final seed, 1 to DrawExternalMax bytes.
	Value HexBytes `json:"value"`
	// Note says where the value is from, up to DrawNoteMax bytes. Nothing is computed from it: people
	// compare the value with its source.
	Note string `json:"note,omitempty"`
}

// IsZero tells that there is no external randomness.
func (e DrawExternal) IsZero() bool { return len(e.Value) == 0 && e.Note == "" }

// DrawTicket is one ticket of a draw.
type DrawTicket struct {
	// Place counts from 1.
	Place int `json:"place"`
	// ID is the public id, see PublicID.
	ID ID `json:"id"`
	// Key decides the place; tickets with the same key go by ID. It is text in JSON, since many
	// readers round whole numbers from 2^53 on.
	Key int64 `json:"key,string"`
	// Late tells that the ticket joined a lottery after the seal. No root vouches for it: that its
	// base is right, and that none is left out, is for the operator to prove by other means.
	Late bool `json:"late,omitempty"`
	// Base is where the axis stood when a late ticket joined, up to DrawBaseMax; 0 for sealed ones.
	Base int64 `json:"base,omitempty"`
}

// compareDrawTickets is the order of places.
func compareDrawTickets(a, b DrawTicket) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID[:], b.ID[:]))
}

// Complete fills in what follows from room, number, method, seed, external randomness and each
// ticket's ID, Late and Base: all the rest, with the tickets in the order of their places.
func (r *DrawRecord) Complete() {
	r.Version = drawRecordVersion
	r.Commitment = DrawCommitment(r.Room, r.Number, r.Method, Seed(r.Seed))
	final := FinalSeed(Seed(r.Seed), r.External.Value)
	r.Final = Hash(final)
	if r.Tickets == nil {
		r.Tickets = []DrawTicket{} // null is no list
	}
	for i := range r.Tickets {
		t := &r.Tickets[i]
		t.Key = drawKey(r.Method, final, t.ID, t.Base)
	}
	slices.SortFunc(r.Tickets, compareDrawTickets)
	for i := range r.Tickets {
		r.Tickets[i].Place = i + 1
	}
	sealed, late := r.ids()
	r.LateCount = len(late)
	r.Seal = DrawSeal{Count: len(sealed), Root: MerkleRoot(sealed)}
}

// ids are the public ids of the sealed and of the late tickets in ascending order.
func (r *DrawRecord) ids() (sealed, late []ID) {
	sealed = make([]ID, 0, len(r.Tickets))
	for i := range r.Tickets {
		if t := &r.Tickets[i]; t.Late {
			late = append(late, t.ID)
		} else {
			sealed = append(sealed, t.ID)
		}
	}
	slices.SortFunc(sealed, compareIDs)
	slices.SortFunc(late, compareIDs)
	return sealed, late
}

func compareIDs(a, b ID) int { return bytes.Compare(a[:], b[:]) }

// Verify recomputes everything and lists what is wrong with the record. A record without a fault is
// true to itself; that commitment and seal were published in time, and that the external value is
// that of its source, is for people to compare.
func (r *DrawRecord) Verify() anteroom.Errors {
	faults := r.VerifyForm()
	if len(r.Tickets) > DrawTicketsMax {
		return faults // named there; the rest would take long
	}
	faults = append(faults, r.VerifyCommitment()...)
	faults = append(faults, r.VerifySeal()...)
	return append(faults, r.VerifyPlaces()...)
}

// VerifyForm checks the bounds of the values.
func (r *DrawRecord) VerifyForm() anteroom.Errors {
	var faults anteroom.Errors
	wrong := func(is bool, field, hint, format string, args ...any) {
		if is {
			faults = append(faults, drawFault(format, args...).At(field).WithHint("%s", hint))
		}
	}
	wrong(r.Version != drawRecordVersion, "version", "verify it with the release that made it",
		"is %d, this program knows %d", r.Version, drawRecordVersion)
	wrong(r.Room == "" || len(r.Room) > DrawRoomMax || !utf8.ValidString(r.Room), "room", "take the name from the announcement of the draw",
		"has %d bytes, want 1 to %d of UTF-8", len(r.Room), DrawRoomMax)
	wrong(r.Number > DrawNumberMax, "number", "take the number from the announcement of the draw",
		"is %d, at most %d", r.Number, int64(DrawNumberMax))
	wrong(!slices.Contains(DrawMethods(), r.Method), "method", "take the method from the announcement of the draw",
		"is %q, want one of %q", string(r.Method), DrawMethods())
	wrong(len(r.External.Value) > DrawExternalMax, "external.value", "publish the SHA-256 of a longer value, and use that",
		"has %d bytes, at most %d", len(r.External.Value), DrawExternalMax)
	wrong(len(r.External.Note) > DrawNoteMax || !utf8.ValidString(r.External.Note), "external.note", "shorten it to where the value is from",
		"has %d bytes, want at most %d of UTF-8", len(r.External.Note), DrawNoteMax)
	wrong(len(r.External.Value) == 0 && r.External.Note != "", "external.value", "give the value that the note speaks of, or leave external out",
		"is empty, and there is a note")
	wrong(len(r.Tickets) > DrawTicketsMax, "tickets", "split the draw",
		"are %d, at most %d", len(r.Tickets), DrawTicketsMax)
	return faults
}

// VerifyCommitment compares the seed with the commitment.
func (r *DrawRecord) VerifyCommitment() anteroom.Errors {
	if want := DrawCommitment(r.Room, r.Number, r.Method, Seed(r.Seed)); want != r.Commitment {
		return anteroom.Errors{drawFault("is not that of room, number, method and seed, which have %v", want).At("commitment").
			WithHint("compare all of them with what was published; if they are as published, the seed was exchanged and the draw is void")}
	}
	return nil
}

// VerifySeal compares the tickets with the sealed list, and counts the others.
func (r *DrawRecord) VerifySeal() anteroom.Errors {
	var faults anteroom.Errors
	sealed, late := r.ids()
	if len(sealed) != r.Seal.Count {
		faults = append(faults, drawFault("is %d, and the record has %d sealed tickets", r.Seal.Count, len(sealed)).At("seal.count").
			WithHint("compare it with what was published at the seal; if it is as published, tickets were added or removed"))
	}
	if len(late) != r.LateCount {
		faults = append(faults, drawFault("is %d, and the record has %d late tickets", r.LateCount, len(late)).At("late_count").
			WithHint("tickets were added or removed: ask for the original"))
	}
	if root := MerkleRoot(sealed); root != r.Seal.Root {
		faults = append(faults, drawFault("is not that of the sealed tickets, which have %v", root).At("seal.root").
			WithHint("compare it with what was published at the seal; if it is as published, tickets were exchanged"))
	}
	twice := twiceIn(sealed)
	twice = append(twice, twiceIn(late)...)
	for _, id := range late {
		if _, ok := slices.BinarySearchFunc(sealed, id, compareIDs); ok {
			twice = append(twice, id)
		}
	}
	for _, id := range twice[:min(len(twice), drawFaultsMax)] {
		faults = append(faults, drawFault("has %v more than once", id).At("tickets").
			WithHint("each ticket has one place: ask for a record without the copies"))
	}
	return faults
}

// twiceIn lists what is in a sorted list again.
func twiceIn(ids []ID) []ID {
	var twice []ID
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			twice = append(twice, ids[i])
		}
	}
	return twice
}

// VerifyPlaces recomputes the final seed, each key and each place.
func (r *DrawRecord) VerifyPlaces() anteroom.Errors {
	var faults anteroom.Errors
	final := FinalSeed(Seed(r.Seed), r.External.Value)
	if Hash(final) != r.Final {
		faults = append(faults, drawFault("is not that of seed and external.value, which have %v", Hash(final)).At("final_seed").
			WithHint("compare external.value with its source, and the seed by the commitment"))
	}
	if !slices.Contains(DrawMethods(), r.Method) {
		return faults // VerifyForm names it
	}
	listed, last := 0, DrawTicket{Key: -1}
	for i := range r.Tickets {
		t := r.Tickets[i]
		key := drawKey(r.Method, final, t.ID, min(max(t.Base, 0), DrawBaseMax))
		fault := t.fault(r.Method, i+1, key)
		t.Key = key
		if fault == nil && compareDrawTickets(t, last) < 0 {
			fault = drawFault("stands behind %v, whose key is greater", last.ID).
				WithHint("tickets are listed by key, then by id: ask for a record in that order")
		}
		last = t
		if fault == nil {
			continue
		}
		if listed++; listed <= drawFaultsMax {
			faults = append(faults, fault.At(drawTicketField(i, fault.Field)))
		}
	}
	if listed > drawFaultsMax {
		faults = append(faults, drawFault("and %d more with wrong values", listed-drawFaultsMax).At("tickets").
			WithHint("mend the first ones; a wrong seed or external value makes every key wrong"))
	}
	return faults
}

// fault compares a ticket with the place and the key that it must have.
func (t DrawTicket) fault(method DrawMethod, place int, key int64) *anteroom.Error {
	switch {
	case t.Late && method != DrawRandom:
		return drawFault("is true, and only a lottery has tickets that joined after the seal").At("late").
			WithHint("ask for a record of the sealed tickets alone")
	case t.Base < 0 || t.Base > DrawBaseMax:
		return drawFault("is %d, want 0 to %d", t.Base, int64(DrawBaseMax)).At("base").
			WithHint("ask where the axis stood when the ticket joined")
	case !t.Late && t.Base != 0:
		return drawFault("is %d, and a sealed ticket has 0", t.Base).At("base").
			WithHint("this would put a sealed ticket behind: ask for a record without it")
	case t.Key != key:
		return drawFault("is %d, and the final seed gives %d", t.Key, key).At("key").
			WithHint("the place of %v was not drawn by this seed, or the record was changed: ask for the original", t.ID)
	case t.Place != place:
		return drawFault("is %d, and the ticket is listed as number %d", t.Place, place).At("place").
			WithHint("tickets are listed by place without gaps: some are missing, or the record was changed")
	}
	return nil
}

func drawFault(format string, args ...any) *anteroom.Error {
	return anteroom.Errorf(anteroom.CodeInvalid, format, args...)
}
