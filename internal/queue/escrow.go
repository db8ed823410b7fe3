package queue

// escrow is a data center's account of one kind of entitlement. What it holds is in use, idle, or
// owed back; it can only grow by a grant and only shrink by a return.
type escrow struct {
	granted  uint64 // cumulative, as seen; never falls within an incarnation
	returned uint64 // cumulative; never falls, never above granted
	most     int    // the most to hold; what is above goes back as soon as it is idle
	used     int    // sessions in force, or permits cooling
}

func (e *escrow) held() int { return int(e.granted - e.returned) }

// idle is how many may be used this instant.
func (e *escrow) idle() int { return max(0, e.held()-e.used) }

// debt is how many are in use without being held.
func (e *escrow) debt() int { return max(0, e.used-e.held()) }

// give returns what is idle and above the most that may be held, and tells whether it did.
func (e *escrow) give() bool {
	back := min(e.idle(), e.held()-e.most)
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

func (e *escrow) account() Account {
	return Account{Granted: e.granted, Returned: e.returned, Idle: e.idle(), Debt: e.debt()}
}
