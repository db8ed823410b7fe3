package sim_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sim"
)

// TestWorlds: every named world can be run, has a line that says what it shows, and is found by its name.
func TestWorlds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, w := range sim.Worlds() {
		if err := w.Check(); err != nil {
			t.Errorf("%s: %v", w.Name, err)
		}
		if w.About == "" || seen[w.Name] {
			t.Errorf("%s: it stands twice or says nothing of itself", w.Name)
		}
		seen[w.Name] = true
		if again, ok := sim.Named(w.Name); !ok || !reflect.DeepEqual(again, w) {
			t.Errorf("%s: not found", w.Name)
		}
	}
	for _, name := range []string{
		"flash", "flash-1", "flash-2", "flash-200", "rate", "rate-paced", "steady", "ramp", "newdc", "diurnal",
		"lottery", "lottery-20s", "lottery-rate", "prequeue-shuffle", "priority", "moves",
		"published-uniform-fifo", "published-uniform-random", "published-atonce-fifo", "published-atonce-random",
	} {
		if !seen[name] {
			t.Errorf("there is no world %s", name)
		}
	}
	if _, ok := sim.Named("nowhere"); ok {
		t.Error("a world that does not exist was found")
	}
}

// TestFaultKinds: each kind of fault has a world of its own.
func TestFaultKinds(t *testing.T) {
	t.Parallel()
	missing := map[sim.FaultKind]bool{
		sim.Partition: true, sim.LeaderLoss: true, sim.TwoLeaders: true, sim.Crash: true, sim.Amnesia: true,
		sim.Restart: true, sim.NodesLost: true, sim.LowerLimit: true, sim.LedgerSilent: true,
	}
	for _, w := range sim.Worlds() {
		for _, f := range w.Faults {
			if f.At != 400*time.Second {
				t.Errorf("%s: the fault is at %v", w.Name, f.At)
			}
			delete(missing, f.Kind)
		}
	}
	if len(missing) > 0 {
		t.Errorf("no world has %v", missing)
	}
}

// TestRandomFaults: every seed makes a world that can be run, the same one each time, and all kinds of
// faults come up.
func TestRandomFaults(t *testing.T) {
	t.Parallel()
	kinds := map[sim.FaultKind]bool{}
	loads := map[sim.Load]bool{}
	for seed := range uint64(500) {
		w := sim.RandomFaults(seed)
		if err := w.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if w.Seed != seed || !reflect.DeepEqual(w, sim.RandomFaults(seed)) {
			t.Fatalf("seed %d: two worlds differ", seed)
		}
		if n := len(w.Faults); n < 1 || n > 4 || w.Network.Centers < 2 || w.Network.Centers > 13 ||
			w.Network.Loss > 0.02 || w.Crowd.Moves > 0.005 || w.Network.Skew != 2*time.Second {
			t.Fatalf("seed %d: %+v", seed, w)
		}
		for _, f := range w.Faults {
			kinds[f.Kind] = true
			if f.At+f.For > w.Duration-time.Minute {
				t.Fatalf("seed %d: the fault %+v ends too late to show in %v", seed, f, w.Duration)
			}
		}
		loads[w.Crowd.Load] = true
	}
	if len(kinds) != 9 || len(loads) != 4 {
		t.Errorf("500 seeds have the faults %v and the loads %v", kinds, loads)
	}
}

// TestRandomFaultsDiffer: neighbouring seeds are strangers.
func TestRandomFaultsDiffer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		a, b := sim.RandomFaults(seed), sim.RandomFaults(seed+1)
		if a.Seed = b.Seed; reflect.DeepEqual(a, b) {
			rt.Fatalf("seeds %d and %d make the same world", seed, b.Seed)
		}
	})
}

// TestWrittenWorld: what a world is written as reads back as the same world.
func TestWrittenWorld(t *testing.T) {
	t.Parallel()
	worlds := append(sim.Worlds(), sim.RandomFaults(1), sim.RandomFaults(2))
	for _, w := range worlds {
		again := reread(t, w)
		if !reflect.DeepEqual(normal(again), normal(w)) {
			t.Errorf("%s became %+v", w.Name, again)
		}
	}
}

func reread(t *testing.T, w sim.World) sim.World {
	t.Helper()
	var b bytes.Buffer
	if err := w.WriteYAML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	again, err := sim.ReadWorld(&b)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return again
}

// normal makes no difference between no list and an empty one.
func normal(w sim.World) sim.World {
	if len(w.Faults) == 0 {
		w.Faults = nil
	}
	if len(w.Room.Classes) == 0 {
		w.Room.Classes = nil
	}
	return w
}

func TestReadWorld(t *testing.T) {
	t.Parallel()
	w, err := sim.ReadWorld(strings.NewReader(`
name: my-sale
duration: 20m
seed: 18446744073709551615
room:
  total_active_users: 500
  classes: [1, 3]
network: {data_centers: 2}
crowd: {load: atonce, visitors: 2000, browse_spread: 0.5}
faults:
  - {kind: crash, at: 5m, for: 3s, data_center: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := sim.Defaults()
	want.Name, want.About, want.Duration, want.Seed = "my-sale", "", 20*time.Minute, 1<<64-1
	want.Room.TotalActiveUsers, want.Room.Classes = 500, []int{1, 3}
	want.Network.Centers = 2
	want.Crowd.Load, want.Crowd.Visitors, want.Crowd.BrowseSpread = sim.AtOnce, 2000, 0.5
	want.Faults = []sim.Fault{{Kind: sim.Crash, At: 5 * time.Minute, For: 3 * time.Second, Center: 1}}
	if !reflect.DeepEqual(w, want) {
		t.Errorf("got  %+v\nwant %+v", w, want)
	}
}

// TestBadWorlds: each fault is told with path, value, rule and advice, and all of them at once.
func TestBadWorlds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"UnknownField", "label: x", `"label": it is not a known field (line 1); the fields are name, about,`},
		{"UnknownFieldBelow", "room: {\n  tau: 1}", `room."tau": it is not a known field (line 2); the fields are queueing_method, total_active_users`},
		{"Twice", "seed: 1\nseed: 2", "seed: it stands twice (line 2); leave one of them"},
		{"SeedText", "seed: one", `seed: "one" does not fit (line 1); write a whole number`},
		{"SeedNegative", "seed: -1", `seed: "-1" does not fit (line 1)`},
		{"NameEmpty", "name: ''", "name: it is empty (line 1); give the world a short name"},
		{"NamePath", "name: ../x", `name: "../x" has '.', which is not allowed (line 1); use letters`},
		{"NameLong", "name: " + strings.Repeat("x", 65), "name: it has 65 bytes, more than 64"},
		{"NameNumber", "name: 5", `name: "5" is not text (line 1); put it in quotes`},
		{"AboutLines", "about: \"a\\nb\"", "about: it is more than one line"},
		{"Duration", "duration: 25h", "duration: 25h0m0s is above 24h0m0s (line 1); the range is 1s to 24h0m0s"},
		{"DurationNumber", "duration: 60", `duration: "60" is not a duration (line 1); write a number and a unit, such as 90s or 15m`},
		{"Algorithm", "algorithm: best", `algorithm: "best" is not allowed (line 1); use rights or published`},
		{"Method", "room: {queueing_method: reject}", `room.queueing_method: "reject" is not allowed (line 1); use fifo or random`},
		{"LimitZero", "room: {total_active_users: 0}", "room.total_active_users: 0 is below 1 (line 1); the range is 1 to 10000000"},
		{"RateHuge", "room: {new_users_per_minute: 10000001}", "room.new_users_per_minute: 10000001 is above 10000000"},
		{"Session", "room: {session_duration: 1ms}", "room.session_duration: 1ms is below 1s"},
		{"Opens", "duration: 5m\nroom: {opens: 10m}", "room.opens: 10m0s is above 5m0s (line 2)"},
		{"ShuffleAlone", "room: {shuffle: true}", "room.shuffle: nobody comes before a room that is open from the start (line 1); set room.opens"},
		{"Bool", "room: {held: perhaps}", `room.held: "perhaps" does not fit (line 1); write true or false`},
		{"Poll", "room: {poll: 1ms}", "room.poll: 1ms is below 1s"},
		{"Report", "room: {report: 0s}", "room.report: 0s is below 100ms"},
		{"ClassWeight", "room: {classes: [1, 0]}", "room.classes[1]: 0 is below 1 (line 1); the range is 1 to 1000"},
		{"ClassesMany", "room: {classes: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}", "room.classes: 17 classes are more than 16"},
		{"ClassesNoList", "room: {classes: 3}", `room.classes: "3" is not a list (line 1); write a list`},
		{"Centers", "network: {data_centers: 201}", "network.data_centers: 201 is above 200 (line 1); the range is 1 to 200"},
		{"Nodes", "network: {nodes: 0}", "network.nodes: 0 is below 1"},
		{"FarNearer", "network: {near: 1s, far: 10ms}", "network.far: 10ms is below near, which is 1s"},
		{"Loss", "network: {loss: 1.5}", "network.loss: 1.5 is above 1 (line 1); the range is 0 to 1"},
		{"LossNaN", "network: {loss: .nan}", "network.loss: NaN is no number"},
		{"Skew", "network: {skew: 11s}", "network.skew: 11s is above 10s"},
		{"NoObject", "network: fast", `network: "fast" is not an object (line 1); write lines of field: value below it`},
		{"NoValue", "network: {nodes: [1]}", "network.nodes: it has parts, and the field has none (line 1); write one value"},
		{"Load", "crowd: {load: huge}", `crowd.load: "huge" is not allowed (line 1); use flash, steady, ramp, newdc, diurnal, atonce or even`},
		{"Gap", "crowd: {gap: 0s}", "crowd.gap: 0s is below 1s"},
		{"NobodyCounted", "crowd: {load: even}", "crowd.visitors: nobody comes: the load even counts visitors"},
		{"NobodyRated", "crowd: {rate: 0}", "crowd.rate: nobody comes: the load flash multiplies the rate"},
		{"Millions", "crowd: {rate: 10000}", "crowd.rate: about 23210000 visitors are more than 5000000 (line 1); lower the rate"},
		{"Requests", "crowd: {browse: 24h, gap: 1s}", "crowd.gap: 23210 visitors who ask each 1s for 24h0m0s are more than 500000000 requests"},
		{"Strategies", "crowd: {fast: 0.5, lucky: 0.4, cookies: 0.3}", "crowd.cookies: fast, lucky and cookies are 1.2 together, more than 1"},
		{"FaultKind", "faults: [{kind: fire}]", `faults[0].kind: "fire" is not allowed (line 1); use partition, leader_loss`},
		{"FaultLate", "faults: [{kind: crash, at: 2h}]", "faults[0].at: 2h0m0s is above 1h0m0s"},
		{"FaultCenter", "faults: [{kind: crash, data_center: 20}]", "faults[0].data_center: 20 is above 19"},
		{"LowerTwice", "faults: [{kind: lower_limit, at: 5m, for: 1m}, {kind: lower_limit, at: 4m, for: 1m}]", "faults[1].at: the limit is lowered already then"},
		{"FaultsMany", "faults: [" + strings.Repeat("{kind: crash},", 101) + "]", "faults: 101 faults are more than 100"},
		{"Alias", "room: &r {poll: 1s}\ncrowd: *r", "room: anchors and aliases are not allowed (line 1); write the value out\ncrowd: anchors"},
		{"NotYAML", "room: [", "the world is not valid YAML"},
		{"TwoDocuments", "seed: 1\n---\nseed: 2", "begins a second document"},
		{"Huge", strings.Repeat("# x\n", 1<<19), "it has more than 1048576 bytes"},
		{"AllAtOnce", "seed: x\nduration: y\nroom: {poll: 1ms}", "seed: \"x\" does not fit (line 1); write a whole number\nduration: \"y\" is not a duration (line 2); write a number and a unit, such as 90s or 15m\nroom.poll: 1ms is below 1s (line 3)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := sim.ReadWorld(strings.NewReader(c.text))
			var all anteroom.Errors
			if !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestManyFaults: a file of nonsense is answered with a bounded number of faults.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5000 {
		b.WriteString(strings.Repeat("x", i%50+1) + time.Duration(i).String() + ": 1\n")
	}
	_, err := sim.ReadWorld(strings.NewReader(b.String()))
	var all anteroom.Errors
	if !errors.As(err, &all) || len(all) != 100 {
		t.Errorf("got %d faults", len(all))
	}
}

// FuzzReadWorld: a world that was accepted can be run and reads back from its own file; a refused one
// names its faults.
func FuzzReadWorld(f *testing.F) {
	for _, w := range sim.Worlds() {
		var b bytes.Buffer
		if err := w.WriteYAML(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	for _, text := range []string{
		"", "---", "# nothing", "null", "[]", "5", "room:", "room: {classes: null}", "seed: 0x10", "crowd: {rate: 1e300}",
		"crowd: {rate: .inf}", "faults: [null]", "faults: [{}]", "<<: {seed: 1}", "? [a]\n: b", "name: !!binary aGFsbG8=", "duration: 1e9h",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := sim.ReadWorld(bytes.NewReader(data))
		if err != nil {
			var all anteroom.Errors
			if !errors.As(err, &all) || len(all) == 0 || len(all) > 100 {
				t.Fatalf("the error is %#v", err)
			}
			return
		}
		if err := w.Check(); err != nil {
			t.Fatalf("an accepted world cannot be run: %v", err)
		}
		if again := reread(t, w); !reflect.DeepEqual(normal(again), normal(w)) {
			t.Fatalf("got  %+v\nwant %+v", again, w)
		}
	})
}
