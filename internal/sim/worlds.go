package sim

import (
	"slices"
	"time"

	"github.com/anteroom/anteroom"
)

// experimentVisitors is how many visitors the published experiment has.
const experimentVisitors = 10_000

// Defaults is the world of the algorithm study: a flash crowd of about 23,000 visitors in an hour
// meets a room of 2,000 in 20 data centers. Every other world says what it changes.
func Defaults() World {
	return World{
		Name: "flash", About: "a flash crowd of about 23,000, active users bind",
		Seed: 1, Duration: time.Hour, Algorithm: Rights,
		Room: Room{
			Method: anteroom.FIFO, TotalActiveUsers: 2000, NewUsersPerMinute: 3000,
			Session: time.Minute, Report: time.Second, Sync: time.Second, Held: true,
		},
		Network: Network{
			Centers: 20, Nodes: 3, Near: 2 * time.Millisecond, Far: 145 * time.Millisecond, Jitter: 0.2,
			Ledger: 20 * time.Millisecond,
		},
		Crowd: Crowd{
			Load: Flash, Rate: 10, Browse: 2 * time.Minute, Gap: 10 * time.Second,
			Patience: 3000 * time.Second, Returns: 0.05, AwayMean: 90 * time.Second, Skewed: 0.55,
		},
	}
}

// Worlds lists the named worlds in the order of their report.
func Worlds() []World {
	return slices.Concat(loadWorlds(), roomWorlds(), faultWorlds(), Experiment())
}

// Named is the named world, and whether there is one.
func Named(name string) (World, bool) {
	worlds := Worlds()
	i := slices.IndexFunc(worlds, func(w World) bool { return w.Name == name })
	if i < 0 {
		return World{}, false
	}
	return worlds[i], true
}

// studied is the world of the study with changes.
func studied(name, about string, change func(w *World)) World {
	w := Defaults()
	w.Name, w.About = name, about
	change(&w)
	return w
}

// loadWorlds are the crowds of the study.
func loadWorlds() []World {
	return []World{
		Defaults(),
		studied("flash-1", "the flash crowd in one data center", func(w *World) { w.Network.Centers = 1 }),
		studied("flash-2", "the flash crowd in two data centers", func(w *World) { w.Network.Centers = 2 }),
		studied("flash-200", "the flash crowd in 200 data centers of 10 places", func(w *World) {
			w.Network.Centers, w.Duration = 200, 30*time.Minute
		}),
		studied("rate", "the flash crowd, new users per minute bind", rateBinds),
		studied("rate-paced", "the same, admissions spread to 5 s of the rate", func(w *World) {
			rateBinds(w)
			w.Room.Pacing = 5 * time.Second
		}),
		studied("steady", "as many arrivals as the room admits", func(w *World) { w.Crowd.Load = Steady }),
		studied("ramp", "arrivals grow from none to three times the rate", func(w *World) { w.Crowd.Load = Ramp }),
		studied("newdc", "a crowd where nobody was before", func(w *World) {
			w.Crowd.Load, w.Duration = NewDC, 30*time.Minute
		}),
		studied("diurnal", "a day in an hour, the crowd wanders over the data centers", func(w *World) { w.Crowd.Load = Diurnal }),
	}
}

func rateBinds(w *World) { w.Room.NewUsersPerMinute = 600 }

// roomWorlds are other settings of a room, on the flash crowd.
func roomWorlds() []World {
	return []World{
		studied("lottery", "a lottery; some poll fast, at lucky moments or hold ten cookies", lotteryCrowd),
		studied("lottery-20s", "the lottery, everybody polls each 20 s", func(w *World) {
			lotteryCrowd(w)
			w.Room.Poll, w.Room.Held = 20*time.Second, false
		}),
		studied("lottery-rate", "the lottery, new users per minute bind", func(w *World) {
			lotteryCrowd(w)
			rateBinds(w)
		}),
		studied("prequeue-shuffle", "an event opens after 15 minutes and draws the order of those who were there", func(w *World) {
			w.Room.Opens, w.Room.Shuffle = 15*time.Minute, true
			w.Crowd.Load, w.Crowd.Visitors = Even, experimentVisitors
		}),
		studied("priority", "three classes of visitors with the weights 1, 2 and 4", func(w *World) { w.Room.Classes = []int{1, 2, 4} }),
		studied("moves", "1 % of the requests change the data center", func(w *World) { w.Crowd.Moves = 0.01 }),
		studied("skew", "machines' clocks are up to 2 s wrong", func(w *World) { w.Network.Skew = 2 * time.Second }),
		studied("loss", "5 % of the messages between data centers are lost", func(w *World) { w.Network.Loss = 0.05 }),
	}
}

// lotteryCrowd has the strategies of the study; nobody leaves, so that every rank is known.
func lotteryCrowd(w *World) {
	w.Room.Method = anteroom.Random
	w.Crowd.Patience, w.Crowd.Returns = 0, 0
	w.Crowd.Fast, w.Crowd.Lucky, w.Crowd.Cookies = 0.04, 0.04, 0.10
}

// faultWorlds are one world for each kind of fault, in the busiest data center when the queue is long.
func faultWorlds() []World {
	fault := func(kind FaultKind, lasts time.Duration, name, about string) World {
		return studied(name, about, func(w *World) {
			w.Faults = []Fault{{Kind: kind, At: 400 * time.Second, For: lasts}}
		})
	}
	return []World{
		fault(Partition, 10*time.Minute, "partition", "the busiest data center is cut off for 10 minutes"),
		fault(LeaderLoss, 5*time.Second, "leader-loss", "the global coordinator dies, the next one follows after 5 s"),
		fault(TwoLeaders, time.Minute, "two-leaders", "two global coordinators for a minute"),
		fault(Crash, 2*time.Second, "crash", "a data center's coordinator is lost for 2 s and has its last snapshot"),
		fault(Amnesia, 2*time.Second, "amnesia", "the same, without a memory"),
		fault(Restart, 2*time.Second, "restart", "the same, with a complete journal"),
		fault(NodesLost, time.Minute, "nodes-lost", "half of a data center's nodes die"),
		fault(LowerLimit, 5*time.Minute, "lower-limit", "the operator halves total_active_users for 5 minutes"),
		fault(LedgerSilent, 30*time.Second, "ledger-silent", "the ledger takes no writes for 30 s"),
	}
}

// Experiment lists the worlds of the published experiment: 10,000 visitors who stay for about a
// minute, 4 data centers with 3 nodes, arriving at once and evenly, first in first out and by lottery.
// The article gives no limits; these make waits like those of its pictures.
func Experiment() []World {
	var worlds []World
	for _, load := range []Load{Even, AtOnce} {
		for _, method := range []anteroom.Method{anteroom.FIFO, anteroom.Random} {
			worlds = append(worlds, experimentWorld(load, method))
		}
	}
	return worlds
}

// ExperimentFigures are the keys of the figures that compare its runs.
func ExperimentFigures() []string {
	return []string{"admitted", "wait_p10_s", "wait_p50_s", "wait_p90_s", "wait_longest_s", "over_users", "utilisation", "turns_inverted_1s", "chi_square", "broken"}
}

func experimentWorld(load Load, method anteroom.Method) World {
	name, about, limit, lasts := "uniform", "arrive within 30 minutes", 300, 2*time.Hour
	if load == AtOnce {
		name, about, limit, lasts = "atonce", "arrive within 10 s", 1000, 45*time.Minute
	}
	return studied("published-"+name+"-"+string(method), "the published experiment: 10,000 "+about+", "+string(method), func(w *World) {
		w.Duration = lasts
		w.Room.Method, w.Room.TotalActiveUsers, w.Room.NewUsersPerMinute = method, limit, experimentVisitors
		w.Network.Centers, w.Network.Nodes = 4, 3
		w.Crowd.Load, w.Crowd.Visitors = load, experimentVisitors
		w.Crowd.Browse, w.Crowd.BrowseSpread = time.Minute, 0.05
		w.Crowd.Patience, w.Crowd.Returns = 0, 0
	})
}
