package sim

import (
	"time"

	"github.com/anteroom/anteroom"
)

// publishedNet is the way between data centers and the global object, and the clocks.
type publishedNet struct {
	delay func(center int) time.Duration       // one way, of the next message
	lost  func() bool                          // whether the next message is lost; nil: none is
	skew  func(center, node int) time.Duration // how far a worker's clock is ahead; nil: not at all
}

// publishedSystem is the algorithm of the articles, as we read them; no later improvement is in it.
//
// Workers decide alone. Each holds a plan made at its last synchronisation, in which it tells its data
// center what it counted and hears what that knows of the room. Data centers report their counters to
// the global object and hear those of all others. A place in line is in the visitor's cookie, on the
// server there are only counters by minute.
//
// The articles say that slots are released at random moments, not how. Here workers and data centers
// synchronise at phases drawn at the start.
type publishedSystem struct {
	e    *engine
	room Room
	net  publishedNet

	opens    time.Time
	refresh  publishedRefresh
	centers  []*publishedCenter
	global   *publishedGlobal
	lost     int // faults in force that took the global object away
	lowered  int // faults in force that halve total_active_users
	messages int
	bytes    int
	given    []turn
}

// publishedRefresh is when a waiting visitor is to ask again: whole seconds around the mean.
type publishedRefresh struct {
	mean   time.Duration
	jitter int // seconds to both sides
}

var _ system = (*publishedSystem)(nil)

func newPublished(e *engine, w World, net publishedNet) *publishedSystem {
	s := &publishedSystem{
		e: e, room: w.Room, net: net, opens: e.start.Add(w.Room.Opens),
		refresh: publishedRefresh{20 * time.Second, 3}, global: newPublishedGlobal(w.Network.Centers),
	}
	if s.room.Sync <= 0 {
		s.room.Sync = time.Second
	}
	if w.Room.Poll > 0 {
		s.refresh = publishedRefresh{w.Room.Poll, 0}
	}
	for i := range w.Network.Centers {
		c := &publishedCenter{index: i}
		for n := range max(w.Network.Nodes, 1) {
			c.workers = append(c.workers, s.newWorker(i, n))
		}
		s.centers = append(s.centers, c)
	}
	for _, c := range s.centers {
		s.phased(func() { s.report(c) })
		for n, w := range c.workers {
			s.synchronise(c, w)
			s.phased(func() { s.synchronise(c, c.workers[n]) })
		}
	}
	return s
}

// phased does something once each sync interval, from a random moment of the first one on.
func (s *publishedSystem) phased(do func()) {
	s.e.after(time.Duration(s.e.rng.Int64N(int64(s.room.Sync))), func() {
		do()
		s.e.every(s.room.Sync, do)
	})
}

func (s *publishedSystem) newWorker(center, node int) *publishedWorker {
	w := &publishedWorker{heard: s.e.now}
	if s.net.skew != nil {
		w.skew = s.net.skew(center, node)
	}
	return w
}

func (s *publishedSystem) await(int, cookie, func()) bool { return false }

func (s *publishedSystem) audit() []string { return nil }

func (s *publishedSystem) traffic() (messages, bytes int) { return s.messages, s.bytes }

func (s *publishedSystem) turns() []turn {
	given := s.given
	s.given = nil
	return given
}

// counts is what the busiest data center knows.
func (s *publishedSystem) counts() counts {
	r := publishedRoomOf(s.centers[0].all(), s.e.now, s.room.Session)
	return counts{r.active, r.waiting, r.slots(s.limit(), s.room.NewUsersPerMinute)}
}

// strike begins a fault. Data centers have no coordinator that could be lost with a memory of its own,
// there are no leaders and no ledger.
func (s *publishedSystem) strike(f Fault) (heal func()) {
	c := s.centers[f.Center%len(s.centers)]
	switch f.Kind {
	case Partition:
		c.cut++
		return func() { c.cut-- }
	case LeaderLoss:
		s.lost++
		return func() { s.lost--; s.global = newPublishedGlobal(len(s.centers)) }
	case NodesLost:
		return s.loseNodes(c)
	case LowerLimit:
		s.lowered++
		return func() { s.lowered-- }
	case TwoLeaders, Crash, Amnesia, Restart, LedgerSilent:
	}
	return nil
}

// loseNodes ends half of a data center's workers. What they had not told yet is lost with them.
func (s *publishedSystem) loseNodes(c *publishedCenter) (heal func()) {
	half := len(c.workers) / 2
	for _, w := range c.workers[:half] {
		w.dead = true
	}
	return func() {
		for n, w := range c.workers[:half] {
			if !w.dead { // another fault ended before
				continue
			}
			c.workers[n] = s.newWorker(c.index, n)
			s.synchronise(c, c.workers[n])
		}
	}
}

// bucket is the bucket of somebody who arrived then. An event that shuffles puts everybody who came
// before it opened into one bucket: within a bucket there is no order.
func (s *publishedSystem) bucket(arrived time.Time) publishedMinute {
	if s.room.Shuffle && arrived.Before(s.opens) {
		return publishedMinuteOf(s.opens) - 1
	}
	return publishedMinuteOf(arrived)
}

// limit is total_active_users in force.
func (s *publishedSystem) limit() int {
	if s.lowered > 0 {
		return s.room.TotalActiveUsers / 2
	}
	return s.room.TotalActiveUsers
}

func (s *publishedSystem) random() bool { return s.room.Method == anteroom.Random }
