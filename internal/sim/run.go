package sim

import (
	"fmt"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/sys"
	"github.com/anteroom/anteroom/internal/wire"
)

// progressEvery is the virtual time between two calls of progress.
const progressEvery = 10 * time.Second

// Run carries out a world. progress, which may be nil, hears how much of the virtual time has passed. An
// invalid world is an error; what the run breaks is in the result.
func Run(w World, progress func(done, total time.Duration)) (*Result, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	r := newRun(w)
	if progress != nil {
		r.e.every(progressEvery, func() { progress(r.e.since(), w.Duration) })
	}
	begin := sys.Now()
	r.play()
	out := r.result()
	out.Elapsed = sys.Now().Sub(begin)
	return out, nil
}

// run is a world that is being played.
type run struct {
	w      World
	e      *engine
	look   *observer
	system system
	people *people
	checks *checks
}

func newRun(w World) *run {
	r := &run{w: w, e: newEngine(w.Seed, w.Duration)}
	r.look = newObserver(r.e, &r.w)
	if w.Algorithm == Published {
		r.system = newPublished(r.e, r.w, newNetwork(r.e, &r.w.Network).forPublished())
	} else {
		r.system = newRooms(r.e, &r.w, r.look.complain)
	}
	r.people = newPeople(r.e, &r.w, r.system, r.look)
	r.checks = newChecks(r)
	return r
}

// play lets the run happen.
func (r *run) play() {
	r.e.every(sampleEvery, r.look.sample)
	r.e.every(time.Second, func() {
		c := r.system.counts()
		r.look.plot(c)
		r.checks.conserve()
	})
	r.e.after(warmUp, r.people.crowd.start)
	if opener, ok := r.system.(interface{ open() }); ok && r.w.Room.Opens > 0 {
		r.e.after(r.w.Room.Opens, opener.open)
	}
	for _, f := range r.w.Faults {
		r.e.after(f.At, func() { r.strike(f) })
	}
	for r.e.step() {
		r.collectTurns()
	}
	for _, fault := range r.system.audit() {
		r.look.complain("%s", fault)
	}
	r.checks.finish()
}

// warmUp is the time in which the coordinators find each other before the first visitor comes.
const warmUp = 2 * time.Second

// strike lets a fault happen, and end.
func (r *run) strike(f Fault) {
	heal := r.system.strike(f)
	if heal == nil {
		return // nothing was there that could break
	}
	r.checks.faulty(f)
	if f.Kind == LowerLimit {
		r.look.relimit(r.w.Room.TotalActiveUsers / 2)
	}
	r.e.after(f.For, func() {
		heal()
		if f.Kind == LowerLimit {
			r.look.relimit(r.w.Room.TotalActiveUsers)
		}
		r.checks.healed()
	})
}

// collectTurns tells visitors' records when the room decided on them, after each event: whether they were
// there then is known only now.
func (r *run) collectTurns() {
	for _, t := range r.system.turns() {
		if v := r.people.byID[t.id]; v != nil && v.turn.IsZero() {
			v.turn = t.at
			v.passed = v.passed || v.gone || v.absent
			r.look.called(v)
		}
	}
}

// passages lists the visitors' ways.
func (r *run) passages() []Passage {
	out := make([]Passage, len(r.people.all))
	for i, v := range r.people.all {
		p := Passage{Arrived: v.arrived.Sub(r.e.start), Entered: v.inside}
		switch {
		case v.inside:
			p.Waited = v.entered.Sub(v.arrived)
		default:
			p.Waited = r.e.end.Sub(v.arrived)
		}
		out[i] = p
	}
	return out
}

func (r *run) result() *Result {
	o := r.look
	span := r.w.Duration.Seconds()
	messages, bytes := r.system.traffic()
	out := &Result{
		World: r.w, Visitors: len(r.people.all), Admitted: o.admitted, GaveUp: o.gaveUp,
		OverUsers: o.overUsers.result(), OverRate: o.overRate.result(),
		Utilisation: o.use.mean(), LowestUse: o.use.worst, RecoveredIn: r.checks.recovered(),
		Needless: part(o.needless, o.newcomers),
		Messages: float64(messages) / span, Bytes: float64(bytes) / span, Polls: float64(r.people.polls) / span,
		PeakEntries: o.peak, Series: o.series, Passages: r.passages(),
		Broken: o.broken, BrokenCount: o.brokenCount, Events: r.e.events,
	}
	out.StillWaiting = out.Visitors - out.Admitted - out.GaveUp
	r.judgeOrder(out)
	r.judgeEstimates(out)
	r.judgeLottery(out)
	return out
}

func part(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// wireSize is the size of a message between data centers.
func wireSize(m any) int {
	switch m := m.(type) {
	case queue.Report:
		return len(wire.AppendReport(nil, m))
	case queue.Grant:
		return len(wire.AppendGrant(nil, m))
	}
	panic(fmt.Sprintf("%T is no message", m))
}
