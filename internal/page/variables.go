package page

import (
	"strconv"

	"github.com/anteroom/anteroom"
)

// variable is one name that a custom template may use.
type variable struct {
	name string
	kind kind
	// append appends the value as text; it is also what a rendering is remembered by.
	append func(dst []byte, v *View, f *facts) []byte
	// personal tells that the value differs from visitor to visitor, so that remembering a
	// rendering is of no use.
	personal bool
}

// kind is how Mustache sees a variable: as a flag or as a value that may be empty.
type kind uint8

const (
	kindText kind = iota
	kindInt
	kindBool
)

// value is the variable for the renderer: a string, an int or a bool and nothing that has methods.
func (x *variable) value(v *View, f *facts) any {
	b := x.append(nil, v, f)
	switch x.kind {
	case kindBool:
		return string(b) == "true"
	case kindInt:
		n, err := strconv.Atoi(string(b))
		if err != nil {
			return 0
		}
		return n
	case kindText:
	}
	return string(b)
}

func variables() []variable { return append(published(), own()...) }

// published are the variables of the published template, in the order of the JSON object.
func published() []variable {
	is := func(m anteroom.Method) func(*View, *facts) bool {
		return func(v *View, _ *facts) bool { return v.Method == m }
	}
	percentile := func(pick func(p25, p50, p75 int) int) func(*View, *facts) int {
		return func(v *View, f *facts) int { return pick(f.percentiles(v.Method)) }
	}
	never := func(*View, *facts) bool { return false }
	none := func(*View, *facts) int { return 0 }
	return []variable{
		flag("inWaitingRoom", func(*View, *facts) bool { return true }),
		flag("waitTimeKnown", func(_ *View, f *facts) bool { return f.known }),
		number("waitTime", func(_ *View, f *facts) int { return minutes(f.mid) }),
		number("waitTime25Percentile", percentile(func(p, _, _ int) int { return p })),
		number("waitTime50Percentile", percentile(func(_, p, _ int) int { return p })),
		number("waitTime75Percentile", percentile(func(_, _, p int) int { return p })),
		text("waitTimeFormatted", func(dst []byte, _ *View, f *facts) []byte { return f.appendFormatted(dst) }),
		flag("queueIsFull", func(_ *View, f *facts) bool { return f.full }),
		flag("queueAll", func(v *View, _ *facts) bool { return v.QueueAll }),
		personal(text("lastUpdated", func(dst []byte, v *View, _ *facts) []byte { return appendTime(dst, v.LastUpdated) })),
		number("refreshIntervalSeconds", func(_ *View, f *facts) int { return f.refresh }),
		text("queueingMethod", func(dst []byte, v *View, _ *facts) []byte { return append(dst, v.Method...) }),
		flag("isFIFOQueue", is(anteroom.FIFO)),
		flag("isRandomQueue", is(anteroom.Random)),
		flag("isPassthroughQueue", is(anteroom.Passthrough)),
		flag("isRejectQueue", is(anteroom.Reject)),
		flag("isEventActive", never),
		flag("isEventPrequeueing", never),
		number("timeUntilEventStart", none),
		text("timeUntilEventStartFormatted", unavailable),
		number("timeUntilEventEnd", none),
		text("timeUntilEventEndFormatted", unavailable),
		flag("shuffleAtEventStart", never),
		text(rawVariable, func(dst []byte, _ *View, _ *facts) []byte { return dst }),
		flag("infiniteQueue", never),
		number("waitTimeHours", func(_ *View, f *facts) int { return minutes(f.mid) / 60 }),
		number("waitTimeHourMinutes", func(_ *View, f *facts) int { return minutes(f.mid) % 60 }),
	}
}

// rawVariable is the one that a template may show unescaped: it is an HTML tag of ours.
const rawVariable = "turnstile"

// own are our additions.
func own() []variable {
	return []variable{
		number("position", func(v *View, _ *facts) int { return max(v.Position, 0) }),
		number("usersWaiting", func(v *View, _ *facts) int { return max(v.Waiting, 0) }),
		flag("yourTurn", func(v *View, _ *facts) bool { return v.Turn }),
		personal(text("ticketId", func(dst []byte, v *View, _ *facts) []byte { return append(dst, v.TicketID...) })),
		number("waitTimeLowSeconds", func(_ *View, f *facts) int { return seconds(f.low) }),
		number("waitTimeSeconds", func(_ *View, f *facts) int { return seconds(f.mid) }),
		number("waitTimeHighSeconds", func(_ *View, f *facts) int { return seconds(f.high) }),
		flag("waitTimeIsRange", func(_ *View, f *facts) bool { return f.ranged }),
		text("waitTimeReason", func(dst []byte, _ *View, f *facts) []byte { return append(dst, f.reason...) }),
		number("drawNumber", func(v *View, _ *facts) int { return int(v.Draw.Number) }),
		text("drawPhase", func(dst []byte, v *View, _ *facts) []byte { return append(dst, v.Draw.Phase...) }),
		text("drawCommitment", func(dst []byte, v *View, _ *facts) []byte { return append(dst, v.Draw.Commitment...) }),
		personal(text("drawTicket", func(dst []byte, v *View, _ *facts) []byte { return append(dst, v.Draw.Ticket...) })),
		number("drawSealedCount", func(v *View, _ *facts) int { return v.Draw.Sealed }),
		text("drawSealedRoot", func(dst []byte, v *View, _ *facts) []byte { return append(dst, v.Draw.Root...) }),
		text("drawRecordURL", func(dst []byte, v *View, _ *facts) []byte { return append(dst, samePath(v.Draw.Record, "")...) }),
		text("roomName", func(dst []byte, v *View, _ *facts) []byte { return append(dst, v.RoomName...) }),
		text("language", func(dst []byte, v *View, _ *facts) []byte { return append(dst, v.Language...) }),
		flag("newVisitor", func(v *View, _ *facts) bool { return v.New }),
		text("returnURL", func(dst []byte, v *View, _ *facts) []byte { return append(dst, samePath(v.Return, "/")...) }),
		text("waitURL", func(dst []byte, v *View, _ *facts) []byte { return append(dst, samePath(v.WaitURL, "")...) }),
	}
}

func flag(name string, get func(*View, *facts) bool) variable {
	return variable{name: name, kind: kindBool, append: func(dst []byte, v *View, f *facts) []byte {
		return strconv.AppendBool(dst, get(v, f))
	}}
}

func number(name string, get func(*View, *facts) int) variable {
	return variable{name: name, kind: kindInt, append: func(dst []byte, v *View, f *facts) []byte {
		return strconv.AppendInt(dst, int64(get(v, f)), 10)
	}}
}

func text(name string, get func([]byte, *View, *facts) []byte) variable {
	return variable{name: name, kind: kindText, append: get}
}

func personal(x variable) variable {
	x.personal = true
	return x
}

func unavailable(dst []byte, _ *View, _ *facts) []byte { return append(dst, "unavailable"...) }
