package sim

import (
	"fmt"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// Grains of the product's own loops.
const (
	localTick  = 50 * time.Millisecond // a data center looks at its clock
	globalTick = 50 * time.Millisecond // the leader decides
)

// rooms is one room run by the product's own core: a coordinator in each data center, a leader, the
// ledger and the messages between them.
type rooms struct {
	e        *engine
	w        *World
	net      *network
	settings queue.Settings
	centers  []*dataCenter
	leaders  []*leader // those alive; the last one was elected last
	ledger   *ledger
	epoch    uint64
	complain func(format string, args ...any)
	given    []turn
	books    books
}

// dataCenter is the coordinator of one data center and what surrounds it.
type dataCenter struct {
	rooms       *rooms
	index       int
	name        string
	local       *queue.Local // nil while it is down
	incarnation uint64
	skew        time.Duration // of its wall clock
	shift       time.Duration // from its clock to the room's, as nodes know it
	snapshot    []queue.Record
	journal     []queue.Record
	holds       map[queue.ID]func()
	woken       []queue.ID
	records     []queue.Record
}

func newRooms(e *engine, w *World, complain func(string, ...any)) *rooms {
	r := &rooms{e: e, w: w, complain: complain, settings: settingsOf(w), ledger: &ledger{e: e, takes: w.Network.Ledger}}
	r.net = newNetwork(e, &w.Network)
	for i := range w.Network.Centers {
		dc := &dataCenter{rooms: r, index: i, name: fmt.Sprintf("dc%03d", i), holds: map[queue.ID]func(){}}
		dc.skew = r.drawSkew()
		r.centers = append(r.centers, dc)
		dc.start(nil, false)
	}
	r.books.begin(len(r.centers))
	r.elect()
	e.every(globalTick, r.decide)
	return r
}

// settingsOf is what the operator has set.
func settingsOf(w *World) queue.Settings {
	s := queue.Settings{
		Method: w.Room.Method, TotalActiveUsers: w.Room.TotalActiveUsers, NewUsersPerMinute: w.Room.NewUsersPerMinute,
		Session: w.Room.Session, Pacing: w.Room.Pacing, QueueAll: w.Room.Opens > 0,
	}
	copy(s.Weights[:], w.Room.Classes)
	if w.Room.Shuffle {
		s.Shuffle = queue.Shuffle{From: birth(), Until: birth().Add(w.Room.Opens), Seed: queue.Seed{byte(w.Seed)}}
	}
	return s
}

// drawSkew draws the error of a wall clock, to both sides.
func (r *rooms) drawSkew() time.Duration {
	if r.w.Network.Skew == 0 {
		return 0
	}
	return time.Duration(r.e.rng.Int64N(2*int64(r.w.Network.Skew))) - r.w.Network.Skew
}

// pace is how often data centers report.
func (r *rooms) pace() queue.Pace {
	p := queue.WidePace()
	if r.w.Room.Report > 0 {
		p.Report = r.w.Room.Report
	}
	return p
}

// configure puts new settings in force, everywhere within a second.
func (r *rooms) configure(change func(s *queue.Settings)) {
	change(&r.settings)
	s := r.settings
	for _, l := range r.leaders {
		l.global.Configure(l.now(), s)
	}
	for _, dc := range r.centers {
		r.e.after(time.Duration(r.e.rng.Int64N(int64(time.Second))), func() {
			if dc.local != nil {
				dc.local.Configure(dc.now(), s)
				dc.after()
			}
		})
	}
}

// now is the data center's wall clock.
func (dc *dataCenter) now() time.Time { return dc.rooms.e.now.Add(dc.skew) }

// start begins an incarnation with what is remembered.
func (dc *dataCenter) start(memory []queue.Record, complete bool) {
	dc.incarnation++
	dc.local = queue.NewLocal(dc.now(), queue.LocalConfig{
		DataCenter: dc.name, Incarnation: dc.incarnation, Complete: complete, Seed: queue.Seed{7},
		Settings: dc.rooms.settings, Pace: dc.rooms.pace(), Trace: true,
	})
	if memory != nil {
		dc.local.Restore(dc.now(), func(yield func(queue.Record) bool) {
			for _, rec := range memory {
				if !yield(rec) {
					return
				}
			}
		})
	}
	dc.journal = append(dc.journal[:0], dc.local.Snapshot(dc.now())...)
	dc.snapshot = dc.snapshot[:0]
	dc.tick(dc.incarnation)
}

// stop ends the incarnation.
func (dc *dataCenter) stop() {
	dc.local = nil
	holds := dc.holds
	dc.holds = map[queue.ID]func(){}
	for _, id := range sortedIDs(holds) {
		holds[id]()
	}
}

// tick lets time pass in the coordinator while the incarnation lasts.
func (dc *dataCenter) tick(incarnation uint64) {
	dc.rooms.e.after(localTick, func() {
		if dc.local == nil || dc.incarnation != incarnation {
			return
		}
		dc.local.Tick(dc.now())
		dc.after()
		dc.tick(incarnation)
	})
}

// after follows each step of the coordinator: it reports what is due, wakes whose turn has come, writes
// the journal and looks at the books.
func (dc *dataCenter) after() {
	r := dc.rooms
	if dc.local.ReportDue(dc.now()) {
		report := dc.local.Report(dc.now())
		if r.remembers() {
			dc.snapshot = append(dc.snapshot[:0], dc.local.Snapshot(dc.now())...)
		}
		dc.shift = dc.local.RoomTime(dc.now()).Sub(r.e.now)
		r.net.up(dc.index, wireSize(report), func() { r.heard(report) })
	}
	dc.woken = dc.local.Woken(dc.woken[:0])
	for _, id := range dc.woken {
		if wake := dc.holds[id]; wake != nil {
			delete(dc.holds, id)
			wake()
		}
	}
	dc.called(r.e.now)
	dc.records, _ = dc.local.Drain(dc.records[:0])
	if r.journals() {
		dc.journal = append(dc.journal, dc.records...)
	}
	r.books.look(r, dc)
}

// called notes whose turn has come, by what was decided at a moment.
func (dc *dataCenter) called(decided time.Time) {
	for _, id := range dc.local.Called() {
		dc.rooms.given = append(dc.rooms.given, turn{id, decided})
	}
}

// remembers and journals tell whether a fault of this world will ask for a memory: keeping one costs.
func (r *rooms) remembers() bool { return r.breaks(Crash) }
func (r *rooms) journals() bool  { return r.breaks(Restart) }

func (r *rooms) breaks(kind FaultKind) bool {
	for _, f := range r.w.Faults {
		if f.Kind == kind {
			return true
		}
	}
	return false
}

// ask is one request at a node of a data center. A node that finds no coordinator lets sessions go on
// that are in force by their cookie, and nobody else.
func (r *rooms) ask(q request) reply {
	dc := r.centers[q.center]
	if dc.local == nil {
		return dc.withoutCoordinator(q)
	}
	before, _ := dc.local.Accounts()
	a := dc.local.Ask(dc.now(), queue.Ask{
		Purpose: queue.Enter, ID: q.cookie.id, Arrival: q.cookie.arrival, Accepted: q.cookie.accepted,
		LastSeen: q.cookie.seen, Refresh: q.cookie.refresh, Home: q.cookie.home,
		Class: q.class, Draw: q.draw, NewID: q.fresh,
	})
	if after, _ := dc.local.Accounts(); a.Entered && after.Debt > before.Debt {
		r.complain("%s let a newcomer in without a right", dc.name)
	}
	dc.after()
	return reply{
		admitted: a.Verdict == queue.Admitted, entered: a.Entered, refresh: a.Refresh, head: a.Head, estimate: a.Estimate,
		cookie: cookie{a.ID, a.Arrival, a.Accepted, a.LastSeen, a.Refresh, a.Home},
	}
}

// withoutCoordinator answers for a node whose coordinator is down. After a restart of everything nobody
// answers at all.
func (dc *dataCenter) withoutCoordinator(q request) reply {
	here := dc.rooms.e.now.Add(dc.shift)
	if q.cookie.accepted.IsZero() || here.Sub(q.cookie.seen) >= dc.rooms.w.Room.Session || dc.rooms.journals() {
		return reply{lost: true}
	}
	c := q.cookie
	c.seen = here
	return reply{admitted: true, cookie: c}
}

// await holds a request until the visitor's turn.
func (r *rooms) await(center int, c cookie, wake func()) bool {
	dc := r.centers[center]
	if dc.local == nil {
		return false
	}
	held, turn := dc.local.Hold(dc.now(), c.id)
	if turn {
		wake()
		return true
	}
	if !held {
		return false
	}
	dc.holds[c.id] = wake
	incarnation := dc.incarnation
	r.e.after(queue.HoldMax, func() {
		if dc.holds[c.id] == nil || dc.incarnation != incarnation {
			return
		}
		delete(dc.holds, c.id)
		dc.local.Release(dc.now(), c.id)
		wake()
	})
	return true
}

// counts is the room's own view.
func (r *rooms) counts() (c counts) {
	for _, dc := range r.centers {
		if dc.local == nil {
			continue
		}
		s := dc.local.Status(dc.now())
		c.active += s.Active
		c.waiting += s.Waiting
		c.free += s.Free
		dc.after()
	}
	return c
}

func (r *rooms) traffic() (messages, bytes int) { return r.net.messages, r.net.bytes }

func (r *rooms) turns() []turn {
	out := r.given
	r.given = nil
	return out
}

// open lets an event begin.
func (r *rooms) open() { r.configure(func(s *queue.Settings) { s.QueueAll = false }) }

// isLottery tells that there is no order.
func isLottery(w *World) bool { return w.Room.Method == anteroom.Random }
