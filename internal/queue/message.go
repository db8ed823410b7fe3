package queue

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
}

// Held is what the data center holds.
func (a Account) Held() int { return int(a.Granted - a.Returned) }

// Bucket is one second of the waiting histogram: how many tickets with a key in [At, At+1) seconds wait.
type Bucket struct {
	At    int64
	Count int32
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

	Rights, Permits Account
	// Need is how many visitors have their turn and have not entered yet; TurnsSeen is the
	// cumulative number of turns in the last grant that was applied.
	Need      int
	TurnsSeen uint64

	// Order names the key order of the histogram; it grows whenever the keys change their meaning.
	Order uint64
	// Partial repeats Grant.Partial of the last grant applied, for Frontier.
	Frontier int64
	Partial  int
	Buckets  []Bucket

	// Newcomers is how many visitors came since the report before.
	Newcomers int
	// Admitted is how many sessions began in this incarnation.
	Admitted uint64
}

// Grant is what the global coordinator tells one data center.
type Grant struct {
	Epoch, Seq uint64
	// ReportSeen is Seq of the last report counted.
	ReportSeen uint64
	// Rights and Permits are cumulative sums granted to this incarnation.
	Rights, Permits uint64
	// RightsMax and PermitsMax are the most this data center may hold from now on: whatever is
	// above is returned as soon as it is idle. This is how a lowered limit takes effect.
	RightsMax, PermitsMax int

	// Frontier is the second of keys before which everyone has their turn; of those with a key in
	// that very second the Partial oldest (cumulative) have it. Order must be the receiver's.
	Order    uint64
	Frontier int64
	Partial  int
	// Turns is the cumulative number of turns given to this data center.
	Turns uint64
	// Others is how many visitors wait in other data centers: newcomers walk in only at 0.
	Others int
}
