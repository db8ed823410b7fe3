package queue

import (
	"iter"
	"time"
)

// Pair is a room on a lone node: the coordinator of its only data center and the global one, in one
// process. They exchange the same messages as across data centers, without delay.
type Pair struct {
	*Local
	Global *Global

	settings Settings // as configured; see inForce
}

// NewPair makes the coordinators of a room on a lone node, restored from the records of its journal
// (nil for a new room), and lets them agree: the first visitor finds them ready.
func NewPair(now time.Time, cfg LocalConfig, records iter.Seq[Record]) *Pair {
	cfg.Complete = true // the journal has every admission
	p := &Pair{Local: NewLocal(now, cfg), Global: NewGlobal(now, GlobalConfig{Epoch: cfg.Incarnation, Settings: cfg.Settings, Pace: cfg.Pace})}
	p.settings = cfg.Settings
	if records != nil {
		p.Restore(now, records)
	}
	if s := p.inForce(); s != cfg.Settings {
		p.Local.Configure(now, s)
		p.Global.Configure(now, s)
	}
	p.exchange(now) // the leader makes itself known
	p.exchange(now)
	return p
}

// Configure puts new settings in force.
func (p *Pair) Configure(now time.Time, s Settings) {
	p.settings = s
	p.Local.Configure(now, p.inForce())
	p.Global.Configure(now, p.inForce())
	p.exchange(now)
}

// Pump exchanges report and grant when something is to be told, and tells whether it did.
func (p *Pair) Pump(now time.Time) bool {
	if !p.ReportDue(now) {
		return false
	}
	p.exchange(now)
	return true
}

func (p *Pair) exchange(now time.Time) {
	p.Global.Report(now, p.Report(now))
	for _, g := range p.Global.Tick(now).Grants {
		p.Grant(now, g.Grant)
	}
}
