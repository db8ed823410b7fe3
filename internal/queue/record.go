package queue

// Kind says what a record tells.
type Kind uint8

// The kinds of journal records. Numbers are part of the stored form and never change.
const (
	RecordJoin   Kind = 1  // a ticket took its place: ID, At (arrival), Key
	RecordTurn   Kind = 2  // tickets up to Key have their turn in order Order
	RecordAdmit  Kind = 3  // a session began: ID, At, Arrival
	RecordTouch  Kind = 4  // a session was seen: ID, At
	RecordEnd    Kind = 5  // a session or ticket ended: ID, At
	RecordOrder  Kind = 6  // the keys changed their meaning: Order, Method in Key
	RecordCooled Kind = 7  // snapshots only: an admission at At whose session is over
	RecordOver   Kind = 9  // sessions last seen up to At are over: they were shorter then
	RecordServed Kind = 8  // the origin has seen a session's first request by now: ID, At
	RecordLeft   Kind = 10 // a session went to another data center: ID, At
	RecordForgot Kind = 13 // an incarnation began at At that does not remember all before it
	// 11 and 12 are forms of others, see internal/wire.
	RecordSeed   Kind = 14 // draw Order is open; its seed in ID, Arrival, Key
	RecordSealed Kind = 15 // a ticket is in the list of draw Order: ID, At
	RecordSeal   Kind = 16 // that list is closed: At, Method in Class; seed of the next draw in ID, Arrival, Key
	RecordPlace  Kind = 17 // a ticket has the place Key in draw Order: ID, At
	RecordDrawn  Kind = 18 // draw Order has ended: At, Method in Class; its commitment in ID, Arrival, Key
)

// Record is one durable fact. Replaying records over a snapshot, in order, restores a coordinator.
type Record struct {
	Kind    Kind
	ID      ID
	At      int64 // microseconds since the Unix epoch
	Arrival int64 // microseconds since the Unix epoch
	Key     int64
	Order   uint64
	Class   uint8 // of joins and turns; the method of a draw
}
