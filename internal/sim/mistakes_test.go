package sim_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sim"
)

// mistake is a known mistake of a first version: what it changes in the core, the world in which it shows,
// and how. The core without the mistake must be clean in the same world.
type mistake struct {
	name  string
	edits []edit
	world func() sim.World
	// worse tells that figures are far worse than without the mistake; nil when the limits and the invariants
	// show it.
	worse func(with, without *sim.Result) bool
}

// edit replaces a piece of a file of package queue, which must be in it once.
type edit struct{ file, old, with string }

// deposes is where a leader learns from a report that it is deposed.
const deposes = `	if r.Epoch > g.epoch {
		g.deposed = true
	}
`

func mistakes() []mistake {
	return []mistake{
		{
			name: "TurnsWithoutFrontier", // "your k oldest", whoever they are when the grant arrives
			edits: []edit{{"grant.go", `		l.turns = g.Turns
		for class, m := range g.Marks {
			l.moveFrontier(t, uint8(class), m)
		}
`, `		for n := g.Turns - min(g.Turns, l.turns); n > 0; {
			p, ok := l.tickets.lines[0].first()
			if !ok {
				break
			}
			if !l.tickets.slab.at(p.slot).absent() {
				n--
			}
			l.callNext(t, 0)
		}
		l.turns, l.marks = g.Turns, g.Marks
`}},
			world: impatientCrowd,
			worse: func(with, without *sim.Result) bool {
				return with.EntryOrder.Seconds > 0.0005 && with.EntryOrder.Seconds > 20*without.EntryOrder.Seconds
			},
		},
		{
			// The order within an incarnation alone does not show: a change is told again until its receipt has
			// arrived, and cumulative counters never fall. A report that is overtaken by the next incarnation does.
			name: "OvertakenReports",
			edits: []edit{
				{"global.go", "if r.Incarnation < c.newest {", "if false {"},
				{
					"global.go",
					"r.Incarnation < c.incarnation || c.joined && r.Incarnation == c.incarnation && r.Seq <= c.seq", "false",
				},
			},
			world: farCrashes,
		},
		{
			name:  "SilentDataCenterKeepsTurns",
			edits: []edit{{"global.go", "late := waits && now-c.heard > silentReports*g.pace.Report.Microseconds()", "late := false && waits"}},
			world: longPartition,
			worse: func(with, without *sim.Result) bool {
				return with.Utilisation < without.Utilisation-0.1 && with.StillWaiting > 2*without.StillWaiting
			},
		},
		{
			// Two more guards stand behind this one: a leader hands out nothing above what the ledger says, and
			// learns from a write that fails that it is deposed. Without those two alone the same world is clean.
			name: "DeposedLeaderCountsReturns",
			edits: []edit{
				{"global.go", deposes, ""},
				{"bounds.go", "	if !b.kept {\n		return math.MaxInt", "	if true {\n		return math.MaxInt"},
				{"hand.go", "	if !ok {\n		g.deposed = true\n", "	if !ok {\n"},
			},
			world: twoLeaders,
		},
		{
			name:  "MovedSessionIsNoDebt",
			edits: []edit{{"escrow.go", "return max(0, e.used+e.quarantined-e.held())", "return 0"}},
			world: movingCrowd,
		},
		{
			name: "MovedSessionIsNotHonoured",
			edits: []edit{{"local.go", "	until := s.end(l.set) - coverMargin\n", `	until := s.end(l.set) - coverMargin
	if moved && l.rights.idle() == 0 {
		return l.latecomer(now, ask)
	}
`}},
			world: movingCrowd,
		},
		{
			name:  "LeaderWithoutLedger",
			edits: []edit{{"global.go", "range cfg.Ledger.Centers {", "range cfg.Ledger.Centers[:0] {"}},
			world: forgottenRights,
		},
		{
			name:  "UncappedLookahead",
			edits: []edit{{"global.go", "min(pace, most)", "max(pace, 0*most)"}},
			world: openingBurst,
			worse: func(with, without *sim.Result) bool {
				return with.HandoverMean > 2*without.HandoverMean && with.HandoverP95 > 10*without.HandoverP95
			},
		},
		{
			// In a line nobody gets a turn while others who have theirs lack a right. A lottery draws ahead.
			name: "RefusedTicketIsNotFirst",
			edits: []edit{{"hand.go", `		switch {
		case x.refused > 0 && y.refused > 0:
			return cmp.Compare(x.oldest, y.oldest)
		case x.refused > 0:
			return -1
		case y.refused > 0:
			return 1
		default:
			return 0
		}
`, "		return cmp.Compare(x.name, y.name)\n"}},
			world: fullLottery,
		},
	}
}

// mistakenWorld is a flash crowd of some 2,000 in a room of 200 in four data centers.
func mistakenWorld(seed uint64, change func(w *sim.World)) sim.World {
	w := sim.Defaults()
	w.Name, w.Seed, w.Duration = "mistake", seed, 4*time.Minute
	w.Room.TotalActiveUsers, w.Room.NewUsersPerMinute, w.Room.Session = 200, 300, 30*time.Second
	w.Network.Centers, w.Network.Nodes = 4, 1
	w.Crowd.Rate, w.Crowd.Browse = 1.5, 30*time.Second
	w.Crowd.Patience, w.Crowd.Returns = 0, 0
	change(&w)
	return w
}

// impatientCrowd goes away and gives up between reports that are far apart.
func impatientCrowd() sim.World {
	return mistakenWorld(1, func(w *sim.World) {
		w.Duration, w.Room.Report = 8*time.Minute, 5*time.Second
		w.Crowd.Returns, w.Crowd.AwayMean, w.Crowd.Patience = 0.3, time.Minute, 3*time.Minute
	})
}

// farCrashes restarts a far data center so fast that its last reports arrive after the first new ones.
func farCrashes() sim.World {
	return mistakenWorld(14, func(w *sim.World) {
		w.Network.Far, w.Network.Jitter = 1500*time.Millisecond, 1
		for _, at := range []time.Duration{60 * time.Second, 100 * time.Second, 140 * time.Second} {
			w.Faults = append(w.Faults, sim.Fault{Kind: sim.Crash, At: at, For: 50 * time.Millisecond, Center: 1})
		}
	})
}

func longPartition() sim.World {
	return mistakenWorld(1, func(w *sim.World) {
		w.Duration = 10 * time.Minute
		w.Faults = []sim.Fault{{Kind: sim.Partition, At: 2 * time.Minute, For: 5 * time.Minute}}
	})
}

// twoLeaders meet again over lines that are slow and lose messages.
func twoLeaders() sim.World {
	return mistakenWorld(7, func(w *sim.World) {
		w.Network.Centers = 6
		w.Network.Near, w.Network.Far = 400*time.Millisecond, 400*time.Millisecond
		w.Network.Jitter, w.Network.Loss = 1, 0.3
		w.Faults = []sim.Fault{{Kind: sim.TwoLeaders, At: 90 * time.Second, For: time.Minute}}
	})
}

func movingCrowd() sim.World {
	return mistakenWorld(3, func(w *sim.World) { w.Crowd.Moves = 0.01 })
}

func forgottenRights() sim.World {
	return mistakenWorld(1, func(w *sim.World) {
		w.Faults = []sim.Fault{
			{Kind: sim.LeaderLoss, At: 2 * time.Minute, For: 3 * time.Second},
			{Kind: sim.Amnesia, At: 2*time.Minute + time.Second, For: time.Second},
		}
	})
}

// openingBurst fills the room at once with visitors who all leave together.
func openingBurst() sim.World {
	return mistakenWorld(1, func(w *sim.World) {
		w.Duration = 14 * time.Minute
		w.Room.Method, w.Room.Session = anteroom.Random, 5*time.Minute
		w.Room.TotalActiveUsers, w.Room.NewUsersPerMinute = 300, 3000
		w.Crowd.Load, w.Crowd.Visitors = sim.AtOnce, 1200
		w.Crowd.Browse, w.Crowd.BrowseSpread = time.Second, 1
	})
}

func fullLottery() sim.World {
	return mistakenWorld(1, func(w *sim.World) {
		w.Duration, w.Room.Method = 8*time.Minute, anteroom.Random
		w.Network.Centers, w.Network.Far = 12, 400*time.Millisecond
	})
}

// TestMistakes: each known mistake is reported in a world in which the core as it is has nothing to report.
func TestMistakes(t *testing.T) {
	t.Parallel()
	if testing.Short() { // ten builds take long; whether the mistakes still fit the core is seen at once
		for _, m := range mistakes() {
			laidOver(t, t.TempDir(), m.edits)
		}
		return
	}
	right := builtWith(t, nil)
	turn := make(chan struct{}, 2)
	for _, m := range mistakes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			turn <- struct{}{}
			defer func() { <-turn }()
			world := m.world()
			without, with := runBy(t, right, world), runBy(t, builtWith(t, m.edits), world)
			if faulty(without) {
				t.Fatalf("without the mistake: %+v over users, %+v over the rate, broken: %q", without.OverUsers, without.OverRate, without.Broken)
			}
			if m.worse == nil && !faulty(with) {
				t.Errorf("the mistake broke no limit and no invariant: %s", summary(with))
			}
			if m.worse != nil && !m.worse(with, without) {
				t.Errorf("the mistake does not show: %s; without it %s", summary(with), summary(without))
			}
		})
	}
}

// faulty tells that limits or invariants were broken.
func faulty(r *sim.Result) bool {
	return r.OverUsers.Max > 0 || r.OverRate.Max > 0 || r.BrokenCount > 0
}

// summary is a result without the long lists.
func summary(r *sim.Result) string {
	short := *r
	short.World = sim.World{}
	text, err := json.Marshal(short)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// laidOver writes edited files of the core and the list by which the go command reads them in place of the
// originals.
func laidOver(t *testing.T, dir string, edits []edit) (overlay string) {
	t.Helper()
	var list struct{ Replace map[string]string }
	list.Replace = map[string]string{}
	for _, e := range edits {
		original, err := filepath.Abs(filepath.Join("..", "queue", e.file))
		if err != nil {
			t.Fatal(err)
		}
		source := original
		if edited := list.Replace[original]; edited != "" {
			source = edited
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), e.old); n != 1 {
			t.Fatalf("internal/queue/%s has this %d times, want once: adapt the edit of the mistake to the core:\n%s", e.file, n, e.old)
		}
		list.Replace[original] = filepath.Join(dir, e.file)
		write(t, list.Replace[original], []byte(strings.Replace(string(text), e.old, e.with, 1)))
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	write(t, overlay, text)
	return overlay
}

// builtWith builds the program that runs a world, with edits of the core laid over it.
func builtWith(t *testing.T, edits []edit) (program string) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "mistaken.exe")
	build := exec.Command("go", "build", "-overlay", laidOver(t, dir, edits), "-o", program, "./testdata/mistaken")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// runBy runs a world by a program.
func runBy(t *testing.T, program string, w sim.World) *sim.Result {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var out, complaints bytes.Buffer
	cmd := exec.Command(program)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	r := new(sim.Result)
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatal(err)
	}
	return r
}
