package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anteroom/anteroom"
)

// Bounds of a world. They keep a run within the memory and the patience of a laptop.
const (
	durationMax = 24 * time.Hour
	centersMax  = 200
	nodesMax    = 100
	visitorsMax = 5_000_000
	limitMax    = 10_000_000 // of total_active_users and new_users_per_minute
	sessionMax  = 30 * time.Minute
	delayMax    = 10 * time.Second // of messages, the ledger and wrong clocks
	intervalMin = 100 * time.Millisecond
	intervalMax = 5 * time.Minute
	classesMax  = 16
	weightMax   = 1000
	rateMax     = 100_000
	skewedMax   = 10
	faultsMax   = 100
	requestsMax = 500_000_000
	flawsMax    = 100
	aboutMax    = 200 // bytes
	nameMax     = 64  // bytes
)

// nameLetters may stand in the name of a world, which also names files.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// Check finds what a world cannot be run with. The error is an anteroom.Errors with every fault.
func (w World) Check() error {
	var l flaws
	return l.check(&w)
}

// check notes the flaws of the whole world and gives all that were noted.
func (l *flaws) check(w *World) error {
	l.world(w)
	l.room(w)
	l.network(&w.Network)
	l.crowd(w)
	l.faults(w)
	return l.list.OrNil()
}

// flaws collects what is wrong with a world, at most one flaw a field and flawsMax in all.
type flaws struct {
	list anteroom.Errors
	seen map[string]bool
	// lines are those of the fields in the file, when there is one.
	lines map[string]int
}

// add notes what is wrong with the field at a path, and the advice.
func (l *flaws) add(path, advice, format string, args ...any) {
	if l.seen[path] || len(l.list) >= flawsMax {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[path] = true
	text := fmt.Sprintf(format, args...)
	if line := l.lines[path]; line > 0 {
		text += fmt.Sprintf(" (line %d)", line)
	}
	l.list = append(l.list, anteroom.Errorf(anteroom.CodeInvalid, "%s", text).At(path).WithHint("%s", advice))
}

// within wants low <= v <= high. What is not a number is neither.
func within[T int | float64 | time.Duration](l *flaws, path string, v, low, high T) {
	advice := fmt.Sprintf("the range is %v to %v", low, high)
	switch {
	case v >= low && v <= high:
	case v < low:
		l.add(path, advice, "%v is below %v", v, low)
	case v > high:
		l.add(path, advice, "%v is above %v", v, high)
	default:
		l.add(path, advice, "%v is no number", v)
	}
}

// among wants one of the words.
func among[T ~string](l *flaws, path string, v T, allowed ...T) {
	if slices.Contains(allowed, v) {
		return
	}
	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}
	l.add(path, "use "+strings.Join(words[:len(words)-1], ", ")+" or "+words[len(words)-1], "%.40q is not allowed", v)
}

func (l *flaws) world(w *World) {
	switch bad := strings.Trim(w.Name, nameLetters); {
	case w.Name == "":
		l.add("name", "give the world a short name; plots are named after it", "it is empty")
	case bad != "":
		l.add("name", "use letters, digits, '-' and '_'", "%.40q has %q, which is not allowed", w.Name, []rune(bad)[0])
	case len(w.Name) > nameMax:
		l.add("name", "shorten it", "it has %d bytes, more than %d", len(w.Name), nameMax)
	}
	if len(w.About) > aboutMax || strings.ContainsAny(w.About, "\n\r|") {
		l.add("about", "say it in fewer words, without '|'", "it is more than one line of %d bytes", aboutMax)
	}
	within(l, "duration", w.Duration, time.Second, durationMax)
	among(l, "algorithm", w.Algorithm, Rights, Published)
}

func (l *flaws) room(w *World) {
	r := &w.Room
	among(l, "room.queueing_method", r.Method, anteroom.FIFO, anteroom.Random)
	within(l, "room.total_active_users", r.TotalActiveUsers, anteroom.LimitMin, limitMax)
	within(l, "room.new_users_per_minute", r.NewUsersPerMinute, anteroom.LimitMin, limitMax)
	within(l, "room.session_duration", r.Session, time.Second, sessionMax)
	within(l, "room.pacing", r.Pacing, 0, time.Minute)
	within(l, "room.opens", r.Opens, 0, max(w.Duration, 0))
	within(l, "room.report", r.Report, intervalMin, intervalMax)
	within(l, "room.sync", r.Sync, intervalMin, intervalMax)
	if r.Poll != 0 {
		within(l, "room.poll", r.Poll, time.Second, intervalMax)
	}
	if r.Shuffle && r.Opens == 0 {
		l.add("room.shuffle", "set room.opens, or leave shuffle out", "nobody comes before a room that is open from the start")
	}
	if len(r.Classes) > classesMax {
		l.add("room.classes", "use fewer classes", "%d classes are more than %d", len(r.Classes), classesMax)
		return
	}
	for i, weight := range r.Classes {
		within(l, fmt.Sprintf("room.classes[%d]", i), weight, 1, weightMax)
	}
}

func (l *flaws) network(n *Network) {
	within(l, "network.data_centers", n.Centers, 1, centersMax)
	within(l, "network.nodes", n.Nodes, 1, nodesMax)
	within(l, "network.near", n.Near, 0, delayMax)
	within(l, "network.far", n.Far, 0, delayMax)
	if n.Far < n.Near {
		l.add("network.far", "network.near is the least and network.far the largest delay", "%v is below near, which is %v", n.Far, n.Near)
	}
	l.share("network.jitter", n.Jitter)
	l.share("network.loss", n.Loss)
	within(l, "network.skew", n.Skew, 0, delayMax)
	within(l, "network.ledger", n.Ledger, 0, delayMax)
}

// share wants a part of a whole.
func (l *flaws) share(path string, v float64) { within(l, path, v, 0, 1) }

func (l *flaws) crowd(w *World) {
	c := &w.Crowd
	among(l, "crowd.load", c.Load, Flash, Steady, Ramp, NewDC, Diurnal, AtOnce, Even)
	within(l, "crowd.rate", c.Rate, 0, rateMax)
	within(l, "crowd.visitors", c.Visitors, 0, visitorsMax)
	within(l, "crowd.browse", c.Browse, 0, durationMax)
	l.share("crowd.browse_spread", c.BrowseSpread)
	within(l, "crowd.gap", c.Gap, time.Second, time.Hour)
	within(l, "crowd.patience", c.Patience, 0, durationMax)
	within(l, "crowd.away_mean", c.AwayMean, 0, durationMax)
	within(l, "crowd.skewed", c.Skewed, 0, skewedMax)
	for _, s := range []struct {
		path string
		v    float64
	}{
		{"crowd.returns", c.Returns},
		{"crowd.moves", c.Moves},
		{"crowd.fast", c.Fast},
		{"crowd.lucky", c.Lucky},
		{"crowd.cookies", c.Cookies},
	} {
		l.share(s.path, s.v)
	}
	if all := c.Fast + c.Lucky + c.Cookies; all > 1 {
		l.add("crowd.cookies", "a visitor has one strategy: lower one of the three", "fast, lucky and cookies are %v together, more than 1", all)
	}
	l.arrivals(w)
}

// arrivals bounds how many come and ask in all.
func (l *flaws) arrivals(w *World) {
	n, c := w.expected(), &w.Crowd
	counted := c.Load == AtOnce || c.Load == Even
	switch {
	case counted && c.Visitors == 0:
		l.add("crowd.visitors", "say how many come", "nobody comes: the load %s counts visitors", c.Load)
	case !counted && c.Rate == 0:
		l.add("crowd.rate", "say how many come per second, such as 10", "nobody comes: the load %s multiplies the rate", c.Load)
	case n > visitorsMax:
		l.add("crowd.rate", "lower the rate or shorten the duration", "about %.0f visitors are more than %d", n, visitorsMax)
	case c.Gap > 0 && n*c.Browse.Seconds()/c.Gap.Seconds() > requestsMax:
		l.add("crowd.gap", "lengthen the gap or shorten crowd.browse", "%.0f visitors who ask each %v for %v are more than %d requests", n, c.Gap, c.Browse, requestsMax)
	}
}

// expected is about how many visitors come.
func (w World) expected() float64 {
	seconds := w.Duration.Seconds()
	switch w.Crowd.Load {
	case AtOnce, Even:
		return float64(w.Crowd.Visitors)
	case Flash:
		return w.Crowd.Rate * (1250 + 0.3*max(0, seconds-30))
	case Steady:
		return w.Crowd.Rate * 1.1 * seconds
	case Ramp:
		return w.Crowd.Rate * 1.5 * seconds
	case NewDC:
		return w.Crowd.Rate * (600 + 0.6*seconds)
	case Diurnal:
		return w.Crowd.Rate * 0.9 * seconds
	}
	return 0
}

func (l *flaws) faults(w *World) {
	if len(w.Faults) > faultsMax {
		l.add("faults", "use fewer", "%d faults are more than %d", len(w.Faults), faultsMax)
		return
	}
	for i, f := range w.Faults {
		path := fmt.Sprintf("faults[%d]", i)
		among(l, path+".kind", f.Kind, faultKinds()...)
		within(l, path+".at", f.At, 0, max(w.Duration, 0))
		within(l, path+".for", f.For, 0, max(w.Duration, 0))
		within(l, path+".data_center", f.Center, 0, max(w.Network.Centers, 1)-1)
		if f.Kind == LowerLimit && slices.ContainsFunc(w.Faults[:i], func(other Fault) bool { return other.Kind == LowerLimit && overlap(f, other) }) {
			l.add(path+".at", "let one end before the next begins", "the limit is lowered already then, and it is not clear what half of it is")
		}
	}
}

// overlap tells whether two faults last at the same time.
func overlap(a, b Fault) bool { return a.At <= b.At+b.For && b.At <= a.At+a.For }
