package queue

import "time"

// Times of the protocol between visitor and room. The study behind them is in docs/queue.md.
const (
	// TicketGrace is how long a queued ticket that is not seen keeps its place, as published.
	TicketGrace = 5 * time.Minute
	// TurnGrace is how long a right waits for a visitor whose turn has come, counted from the time
	// at which the visitor was due to ask again. The place outlives it: see lapse.
	TurnGrace = 15 * time.Second
	// lateRhythm is how often a visitor asks who has let a turn lapse: browsers let the timers of hidden
	// pages run once a minute.
	lateRhythm = time.Minute
	// HoldMax is the longest time a request of the head of the line may be held.
	HoldMax = 12 * time.Second
	// headWait is the estimated wait below which a visitor belongs to the head of the line.
	headWait = 8 * time.Second
	// refreshMin, refreshMax and refreshLottery bound the refresh interval.
	refreshMin     = time.Second
	refreshMax     = 60 * time.Second
	refreshSmall   = 10 * time.Second // the longest interval of a small crowd
	refreshLottery = 20 * time.Second
	// lookahead is for how long admissions of a lottery are drawn ahead of the free places: winners
	// ask again within refreshLottery, and whoever asks first takes a place, so that none idles. The
	// order among winners means nothing. A line has no lookahead: it would cost the order.
	lookahead = refreshLottery / 2
	// refreshUnknown is the interval while nobody is admitted and no wait can be estimated.
	refreshUnknown = 20 * time.Second
	// refreshPerSecond is the number of polls a second to which a room's crowd is spread.
	refreshPerSecond = 200
	// earlyMax is how much before its refresh interval a check-in may come and still count: it
	// covers the rounding of the interval to whole seconds and the clocks of clients.
	earlyMax = 250 * time.Millisecond
	// pendingHold is how long newcomers keep queueing after one was refused: the refused visitor
	// registers with the first check-in, and nobody may slip in before it.
	pendingHold = 4 * time.Second
	// permitCooling is the sliding window of new_users_per_minute. The half second above a minute
	// keeps the promise when it is counted at the origin: requests reach it with some jitter.
	permitCooling = 60*time.Second + 500*time.Millisecond
	// sessionMargin is how much longer than told a session holds its right: a request that came in at
	// the last moment reaches the origin a little later, and renews nothing when it is short.
	sessionMargin = 150 * time.Millisecond
	// endedMemory is how long a session's ID stays known after its end, so that an old cookie of
	// the same visitor cannot claim the place or the session again.
	endedMemory = TicketGrace + time.Minute
	// crashWindow is how long before a crash an admission may be one whose answer was lost: the origin
	// may see its request late, and the visitor does not know of the session yet. Its permit cools from
	// the restart, and its session lasts lostSlack longer, so that the visitor finds it.
	crashWindow = 10 * time.Second
	lostSlack   = 20 * time.Second
	// autonomyAfter is how long a data center waits for the global coordinator's answer before it gives its
	// own tickets their turn by the rights it holds.
	autonomyAfter = 5 * time.Second
	// adoptSlack is added to the end of a session that is restored from the journal: its last
	// requests may have reached the origin after the last durable record.
	adoptSlack = time.Second
)

// Pace says how often a data center's coordinator reports.
type Pace struct {
	// Report is the interval while anything happens, Idle the one while nothing does.
	Report, Idle time.Duration
	// Surplus is the least gap between reports that tell of idle rights during a queue, Urgent the
	// least gap between reports that tell of a newcomer who cannot be served.
	Surplus, Urgent time.Duration
}

// WidePace is the pace across data centers.
func WidePace() Pace {
	return Pace{Report: time.Second, Idle: 10 * time.Second, Surplus: 200 * time.Millisecond, Urgent: 100 * time.Millisecond}
}

// NearPace is the pace when the global coordinator lives in the same process: a report costs a
// function call, so a freed place is offered at once.
func NearPace() Pace {
	return Pace{Report: time.Second, Idle: 10 * time.Second, Surplus: 10 * time.Millisecond, Urgent: 10 * time.Millisecond}
}
