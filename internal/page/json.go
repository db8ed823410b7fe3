package page

import (
	"strconv"

	"github.com/anteroom/anteroom"
)

// AppendJSON appends {"cfWaitingRoom":{…}} for v to dst: the published fields in their published
// order, then position, usersWaiting, yourTurn, ticketId, waitTimeLowSeconds, waitTimeSeconds,
// waitTimeHighSeconds, waitTimeIsRange, waitTimeReason, and draw where places are drawn. A rejected
// visitor, a paused room and a full queue have no known wait.
func AppendJSON(dst []byte, v *View) []byte {
	f := factsOf(v)
	p25, p50, p75 := f.percentiles(v.Method)
	dst = append(dst, `{"cfWaitingRoom":{"inWaitingRoom":true,"waitTimeKnown":`...)
	dst = strconv.AppendBool(dst, f.known)
	dst = appendInt(dst, `,"waitTime":`, minutes(f.mid))
	dst = appendInt(dst, `,"waitTime25Percentile":`, p25)
	dst = appendInt(dst, `,"waitTime50Percentile":`, p50)
	dst = appendInt(dst, `,"waitTime75Percentile":`, p75)
	dst = append(dst, `,"waitTimeFormatted":"`...)
	dst = f.appendFormatted(dst)
	dst = appendBool(dst, `","queueIsFull":`, f.full)
	dst = appendBool(dst, `,"queueAll":`, v.QueueAll)
	dst = append(dst, `,"lastUpdated":"`...)
	dst = appendTime(dst, v.LastUpdated)
	dst = appendInt(dst, `","refreshIntervalSeconds":`, f.refresh)
	dst = append(dst, `,"queueingMethod":`...)
	dst = appendJSONString(dst, string(v.Method))
	dst = appendBool(dst, `,"isFIFOQueue":`, v.Method == anteroom.FIFO)
	dst = appendBool(dst, `,"isRandomQueue":`, v.Method == anteroom.Random)
	dst = appendBool(dst, `,"isPassthroughQueue":`, v.Method == anteroom.Passthrough)
	dst = appendBool(dst, `,"isRejectQueue":`, v.Method == anteroom.Reject)
	dst = append(dst, `,"isEventActive":false,"isEventPrequeueing":false`+
		`,"timeUntilEventStart":0,"timeUntilEventStartFormatted":"unavailable"`+
		`,"timeUntilEventEnd":0,"timeUntilEventEndFormatted":"unavailable"`+
		`,"shuffleAtEventStart":false,"turnstile":"","infiniteQueue":false`...)
	dst = appendOwn(dst, v, &f)
	return append(dst, `}}`...)
}

// appendOwn appends the fields that the published object lacks.
func appendOwn(dst []byte, v *View, f *facts) []byte {
	dst = appendInt(dst, `,"position":`, max(v.Position, 0))
	dst = appendInt(dst, `,"usersWaiting":`, max(v.Waiting, 0))
	dst = appendBool(dst, `,"yourTurn":`, v.Turn)
	dst = append(dst, `,"ticketId":`...)
	dst = appendJSONString(dst, v.TicketID)
	dst = appendInt(dst, `,"waitTimeLowSeconds":`, seconds(f.low))
	dst = appendInt(dst, `,"waitTimeSeconds":`, seconds(f.mid))
	dst = appendInt(dst, `,"waitTimeHighSeconds":`, seconds(f.high))
	dst = appendBool(dst, `,"waitTimeIsRange":`, f.ranged)
	dst = appendJSONString(append(dst, `,"waitTimeReason":`...), f.reason)
	return appendDraw(dst, &v.Draw)
}

// appendDraw appends the draw that the visitor belongs to, if any.
func appendDraw(dst []byte, d *Draw) []byte {
	if d.Number == 0 {
		return dst
	}
	dst = strconv.AppendUint(append(dst, `,"draw":{"number":`...), d.Number, 10)
	dst = appendJSONString(append(dst, `,"phase":`...), d.Phase)
	dst = appendJSONString(append(dst, `,"method":`...), d.Method)
	dst = appendJSONString(append(dst, `,"commitment":`...), d.Commitment)
	dst = appendJSONString(append(dst, `,"ticket":`...), d.Ticket)
	dst = appendInt(dst, `,"sealedCount":`, d.Sealed)
	dst = appendJSONString(append(dst, `,"sealedRoot":`...), d.Root)
	dst = appendJSONString(append(dst, `,"record":`...), d.Record)
	return append(dst, '}')
}

func appendInt(dst []byte, name string, n int) []byte {
	return strconv.AppendInt(append(dst, name...), int64(n), 10)
}

func appendBool(dst []byte, name string, b bool) []byte {
	return strconv.AppendBool(append(dst, name...), b)
}
