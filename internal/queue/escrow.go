package queue

// escrow is a data center's account of one kind of entitlement. What it holds is in use, idle,
// quarantined, or owed back; it can only grow by a grant and only shrink by a return.
type escrow struct {
	granted  uint64 // cumulative, as seen; never falls within an incarnation
	returned uint64 // cumulative; never falls, never above granted
	most     int    // the most to hold; what is above goes back as soon as it is idle
	used     int    // sessions in force, or permits cooling
	// foreign of them came from elsewhere before the inheritance was known: they are not among it.
	foreign int
	// quarantined are held by visitors of an earlier incarnation whom this one does not remember, as far
	// as anybody knows. They are in use until the longest of these sessions must be over.
	quarantined int
}

func (e *escrow) held() int { return int(e.granted - e.returned) }

// idle is how many may be used this instant.
func (e *escrow) idle() int { return max(0, e.held()-e.used-e.quarantined) }

// debt is how many are in use without being held.
func (e *escrow) debt() int { return max(0, e.used+e.quarantined-e.held()) }

// give returns what is idle beyond the number to keep, and what is above the most that may be held. It
// tells whether it did.
func (e *escrow) give(keep int) bool {
	back := min(e.idle(), max(e.idle()-keep, e.held()-e.most))
	if back > 0 {
		e.returned += uint64(back)
	}
	return back > 0
}

// grant applies a cumulative grant. A lower number is an old message and changes nothing.
func (e *escrow) grant(granted uint64, most int) {
	e.granted = max(e.granted, granted)
	e.most = most
}

// inherit puts what was out when the incarnation began and is not remembered into quarantine.
func (e *escrow) inherit(inherited uint64) {
	e.quarantined = max(0, int(inherited)-max(0, e.used-e.foreign))
}

// recognise takes one out of quarantine for a visitor who came back, and tells whether there was one.
func (e *escrow) recognise() bool {
	if e.quarantined == 0 {
		return false
	}
	e.quarantined--
	return true
}

func (e *escrow) account() Account {
	return Account{Granted: e.granted, Returned: e.returned, Idle: e.idle(), Debt: e.debt(), Quarantined: e.quarantined}
}

// capacity is how many can be in use: what is held, without what is called back.
func (e *escrow) capacity() int { return max(min(e.held(), e.most), min(e.used, e.held())) }
