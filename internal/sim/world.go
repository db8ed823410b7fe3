package sim

import (
	"time"

	"github.com/anteroom/anteroom"
)

// Algorithm names how a world's room decides.
type Algorithm string

// The algorithms.
const (
	// Rights is the product's own: transferable rights and permits, package queue.
	Rights Algorithm = "rights"
	// Published is the one of the articles: minute buckets, shares of two minutes ago, worker slots.
	Published Algorithm = "published"
)

// World describes one run. The YAML form of a world has the same fields; durations are written like
// 90s or 15m.
type World struct {
	Name     string        `yaml:"name"`
	About    string        `yaml:"about"`
	Seed     uint64        `yaml:"seed"`
	Duration time.Duration `yaml:"duration"` // of virtual time

	Algorithm Algorithm `yaml:"algorithm"`
	Room      Room      `yaml:"room"`
	Network   Network   `yaml:"network"`
	Crowd     Crowd     `yaml:"crowd"`
	Faults    []Fault   `yaml:"faults"`
}

// Room is what an operator would set, and the parameters of the algorithms.
type Room struct {
	Method            anteroom.Method `yaml:"queueing_method"` // fifo or random
	TotalActiveUsers  int             `yaml:"total_active_users"`
	NewUsersPerMinute int             `yaml:"new_users_per_minute"`
	Session           time.Duration   `yaml:"session_duration"`
	// Pacing spreads admissions: at most this much of the rate at once. 0 is off.
	Pacing time.Duration `yaml:"pacing"`
	// Classes are the weights of priority classes; none is one class.
	Classes []int `yaml:"classes"`
	// Opens lets everybody queue until then, as an event with a pre-queue does. 0 is from the start.
	Opens time.Duration `yaml:"opens"`
	// Shuffle draws the order of those who came before Opens.
	Shuffle bool `yaml:"shuffle"`
	// Report is the interval between reports of a data center; default 1 s.
	Report time.Duration `yaml:"report"`
	// Sync is the interval at which the published algorithm synchronises; default 1 s.
	Sync time.Duration `yaml:"sync"`
	// Poll replaces the room's own refresh intervals by a fixed one. 0 leaves them.
	Poll time.Duration `yaml:"poll"`
	// Held lets the head of the line wait in held requests.
	Held bool `yaml:"held"`
}

// Network is where the room runs.
type Network struct {
	Centers int `yaml:"data_centers"` // 1 to 200
	Nodes   int `yaml:"nodes"`        // in each data center
	// Near and Far bound the one-way delay between a data center and the global coordinator; each
	// data center has its own.
	Near   time.Duration `yaml:"near"`
	Far    time.Duration `yaml:"far"`
	Jitter float64       `yaml:"jitter"` // up to this share on top of a delay
	Loss   float64       `yaml:"loss"`   // share of lost messages
	// Skew bounds the error of each machine's wall clock to both sides.
	Skew time.Duration `yaml:"skew"`
	// Ledger is how long a write of the ledger takes.
	Ledger time.Duration `yaml:"ledger"`
}

// Load is the shape of the arrivals.
type Load string

// The loads. Rates are multiples of Crowd.Rate.
const (
	Flash   Load = "flash"   // 0 to 50 times in 10 s, held for 20 s, then 0.3 times
	Steady  Load = "steady"  // 1.1 times
	Ramp    Load = "ramp"    // 0 to 3 times over the duration
	NewDC   Load = "newdc"   // 0.6 times everywhere, then 5 times for two minutes where nobody was
	Diurnal Load = "diurnal" // 0.3 to 1.5 times, the share wandering over the data centers
	AtOnce  Load = "atonce"  // Crowd.Visitors within 10 s
	Even    Load = "even"    // Crowd.Visitors spread over the first 30 minutes
)

// Crowd is who comes and how they behave.
type Crowd struct {
	Load Load `yaml:"load"`
	// Rate is the arrivals a second that the load multiplies.
	Rate float64 `yaml:"rate"`
	// Visitors is how many come, for the loads that count people.
	Visitors int `yaml:"visitors"`
	// Browse is how long visitors stay at the origin on average; exponential, or even within
	// BrowseSpread to both sides when that is set.
	Browse       time.Duration `yaml:"browse"`
	BrowseSpread float64       `yaml:"browse_spread"`
	// Gap is the mean time between two requests of a visitor at the origin.
	Gap time.Duration `yaml:"gap"`
	// Patience is how long a visitor waits on average before giving up for good; 0 is for ever.
	Patience time.Duration `yaml:"patience"`
	// Returns is the share of visitors who go away once while they wait, for AwayMean on average.
	Returns  float64       `yaml:"returns"`
	AwayMean time.Duration `yaml:"away_mean"`
	// Moves is the share of requests that arrive at another data center than the one before.
	Moves float64 `yaml:"moves"`
	// Fast polls ten times as often as told; Lucky asks only 1 to 3 s after each full minute; Cookies
	// are tickets of a person who holds ten.
	Fast    float64 `yaml:"fast"`
	Lucky   float64 `yaml:"lucky"`
	Cookies float64 `yaml:"cookies"`
	// Skewed is how unevenly traffic is spread over data centers: the exponent of a power law, 0 is
	// evenly.
	Skewed float64 `yaml:"skewed"`
}

// FaultKind says what breaks.
type FaultKind string

// The kinds of faults.
const (
	Partition    FaultKind = "partition"     // a data center is cut off from the global coordinator
	LeaderLoss   FaultKind = "leader_loss"   // the global coordinator dies; a new one follows after For
	TwoLeaders   FaultKind = "two_leaders"   // a second leader is elected while the first goes on for For
	Crash        FaultKind = "crash"         // a data center's coordinator dies and comes back after For with its last snapshot
	Amnesia      FaultKind = "amnesia"       // the same, without a memory
	Restart      FaultKind = "restart"       // the same, with a complete journal
	NodesLost    FaultKind = "nodes_lost"    // half of the nodes of a data center die
	LowerLimit   FaultKind = "lower_limit"   // total_active_users is halved for For
	LedgerSilent FaultKind = "ledger_silent" // writes of the ledger stop for For
)

// Fault is one fault of a world.
type Fault struct {
	Kind   FaultKind     `yaml:"kind"`
	At     time.Duration `yaml:"at"`
	For    time.Duration `yaml:"for"`
	Center int           `yaml:"data_center"` // 0 is the busiest
}
