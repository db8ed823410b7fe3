package queue

// ClassesMax is how many priority classes a room may have.
const ClassesMax = 8

// Account is what a data center says of one kind of entitlement (rights, or permits). All counters
// are cumulative, so a lost or repeated message changes nothing.
type Account struct {
	// Granted is the sum of all grants this data center has seen, Returned the sum of what it gave
	// back. Granted - Returned is what it holds. Neither ever falls within one incarnation.
	Granted, Returned uint64
	// Idle is how many held entitlements are free this instant.
	Idle int
	// Debt is how many are in use without being held: sessions that were honoured without a right.
	Debt int
	// Quarantined are held by visitors of an earlier incarnation whom nobody remembers, if at all.
	Quarantined int
}

// Held is what the data center holds.
func (a Account) Held() int { return int(a.Granted - a.Returned) }

// Bucket is one second of the waiting histogram: how many tickets of a class with a key in [At, At+1)
// seconds wait.
type Bucket struct {
	At    int64
	Class uint8
	Count int32
}

// Mark is how far turns are given in one class: everyone with a key before the second Frontier has
// theirs, and of those with a key in that second the Partial oldest of the data center.
type Mark struct {
	Frontier int64
	Partial  int
}

// Move is a session that changes its data center.
type Move struct {
	// Number counts the moves of one list. A receiver takes each number once.
	Number uint64
	ID     ID
	// Seen is when the visitor was last seen by the former home, in microseconds since the Unix epoch.
	Seen int64
	// Home is the tag of the former home, To the name of the new one.
	Home uint32
	To   string
}

// Report is what a data center's coordinator tells the global one.
type Report struct {
	DataCenter string
	// Incarnation grows with each restart or takeover of the sender, Epoch is the leader's that the
	// sender follows, Seq counts the reports of this incarnation.
	Incarnation, Epoch, Seq uint64
	// Full tells that Buckets is the whole histogram. Otherwise it has every bucket that changed since
	// the last report that a grant has acknowledged, so a lost report is made good by the next one.
	Full bool
	// GrantSeen is Seq of the last grant applied; a lower one than expected asks for a repetition.
	GrantSeen uint64
	// Sent is the sender's clock in microseconds since the Unix epoch. Shift is what the sender adds to it
	// to get the room's time, as far as it knows: Synced.
	Sent, Shift int64
	Synced      bool
	// Settled tells that the sender knows what its incarnation has inherited.
	Settled bool

	Rights, Permits Account
	// Need is how many visitors have their turn and have not entered yet; TurnsSeen is the
	// cumulative number of turns in the last grant that was applied.
	Need      int
	TurnsSeen uint64
	// Refused is how many of them found no right, and Oldest the key of the first of these.
	Refused int
	Oldest  int64

	// Order names the key order of the histogram; it grows whenever the keys change their meaning.
	Order uint64
	// Marks repeat those of the last grant applied.
	Marks   [ClassesMax]Mark
	Buckets []Bucket

	// Newcomers is how many visitors came since the report before.
	Newcomers int
	// Admitted is how many sessions began in this incarnation.
	Admitted uint64

	// Experience is what the sender has seen of sessions and waiting visitors.
	Experience Experience

	// Moved are sessions that were taken over from other data centers and not acknowledged yet.
	Moved []Move
	// Released are sessions whose rights left for another data center: they are among Rights.Returned.
	// NoticesSeen is the number of the last of Grant.Notices that was looked at.
	Released    []Move
	NoticesSeen uint64
}

// Terms are the part of a grant that is repeated until it has changed or is acknowledged.
type Terms struct {
	// Rights and Permits are cumulative sums granted to this incarnation. Of them the Inherited were out
	// when the incarnation began: what it does not remember of them may still be in use.
	Rights, Permits                   uint64
	InheritedRights, InheritedPermits uint64
	// RightsMax and PermitsMax are the most this data center may hold from now on: whatever is
	// above is returned as soon as it is idle. This is how a lowered limit takes effect.
	RightsMax, PermitsMax int

	// Order is the key order that Grant.Marks are in; they count only in the receiver's own.
	Order uint64
	// Turns is the cumulative number of turns given to this data center.
	Turns uint64
	// Queue tells that visitors wait in other data centers: newcomers do not walk in.
	Queue bool
	// Spare tells that more visitors could have their turn than wait: whoever registers is reported at once.
	Spare bool
	// Resync asks for a full report.
	Resync bool
	// ReportSeen is Seq of the last report counted.
	ReportSeen uint64
}

// Grant is what the global coordinator tells one data center.
type Grant struct {
	// Incarnation is the receiver's that the grant is for; 0 announces the epoch of a new leader to any
	// and says nothing else.
	Incarnation, Epoch, Seq uint64
	Terms
	Marks [ClassesMax]Mark
	// Others is how many visitors wait in other data centers.
	Others int

	// Echo repeats Sent of the last report counted. Heard is when it came and Sent when this grant was
	// made, in the room's time: microseconds since the Unix epoch.
	Echo, Heard, Sent int64
	// Ranks tell how many wait before given keys, over all data centers, as it was at RanksAt in the room's
	// time.
	Ranks   []Rank
	RanksAt int64
	// Experience is what all data centers have seen of late, when there are several.
	Experience Experience
	// Notices are sessions of the receiver that other data centers have taken over.
	Notices []Move
}

// Announces tells that the grant only makes a new leader known.
func (g *Grant) Announces() bool { return g.Incarnation == 0 }

// Rank is how many tickets of a class wait before a key.
type Rank struct {
	Key    int64
	Class  uint8
	Before int32
}

// Addressed is a grant and the data center it is for.
type Addressed struct {
	DataCenter string
	Grant      Grant
}
