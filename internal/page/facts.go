package page

import (
	"strconv"
	"time"

	"github.com/anteroom/anteroom"
)

// longestWait is the wait beyond which a queue counts as full and no number is shown, as published.
const longestWait = 24 * time.Hour

// facts are what a View comes down to under the published value rules. Both the JSON object and the
// pages read them, so that they never disagree.
type facts struct {
	known, full bool
	// ranged tells that low to high is to be shown instead of mid.
	ranged bool
	// low, mid and high are zero unless known, and equal unless ranged.
	low, mid, high time.Duration
	// reason is why the wait is longer than promised; empty unless known.
	reason string
	// refresh is in whole seconds; 0 when there is nothing to refresh.
	refresh int
}

func factsOf(v *View) facts {
	f := facts{refresh: RefreshSeconds(v)}
	if !v.Known || v.QueueAll || v.Method == anteroom.Reject {
		return f
	}
	if v.Wait > longestWait {
		f.full = true
		return f
	}
	f.known, f.reason = true, v.Reason
	f.low, f.mid, f.high = atLeastZero(v.Wait), atLeastZero(v.Wait), atLeastZero(v.Wait)
	if v.Method == anteroom.Random || v.Ranged {
		f.low, f.high = atLeastZero(v.Wait25), atLeastZero(v.Wait75)
		f.ranged = true
	}
	return f
}

func atLeastZero(d time.Duration) time.Duration { return max(d, 0) }

// RefreshSeconds is the published refreshIntervalSeconds and the value of the Refresh header: whole
// seconds, rounded up; 0 for a rejected visitor, who has nothing to refresh.
func RefreshSeconds(v *View) int {
	if v.Method == anteroom.Reject && !v.QueueAll {
		return 0
	}
	return seconds(v.Refresh)
}

// minutes rounds up, so that a known wait above zero is never shown as none.
func minutes(d time.Duration) int {
	return int((atLeastZero(d) + time.Minute - 1) / time.Minute)
}

func seconds(d time.Duration) int {
	return int((atLeastZero(d) + time.Second - 1) / time.Second)
}

// percentiles are the published three, in minutes; they are set for a lottery only.
func (f *facts) percentiles(m anteroom.Method) (p25, p50, p75 int) {
	if m != anteroom.Random {
		return 0, 0, 0
	}
	return minutes(f.low), minutes(f.mid), minutes(f.high)
}

// appendFormatted appends the published English text of the wait: "10 minutes", "5 minutes to 15
// minutes" or "unavailable".
func (f *facts) appendFormatted(dst []byte) []byte {
	if !f.known {
		return append(dst, "unavailable"...)
	}
	low, high := minutes(f.low), minutes(f.high)
	if !f.ranged || low == high {
		return appendMinutes(dst, minutes(f.mid))
	}
	dst = appendMinutes(dst, low)
	dst = append(dst, " to "...)
	return appendMinutes(dst, high)
}

func appendMinutes(dst []byte, n int) []byte {
	dst = strconv.AppendInt(dst, int64(n), 10)
	if n == 1 {
		return append(dst, " minute"...)
	}
	return append(dst, " minutes"...)
}

// appendTime appends t in ISO 8601 with milliseconds, in UTC. It is three times as fast as a layout.
func appendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	dst = append2(append2(dst, year/100), year%100)
	dst = append2(append(dst, '-'), int(month))
	dst = append2(append(dst, '-'), day)
	dst = appendClock(append(dst, 'T'), t)
	ms := t.Nanosecond() / int(time.Millisecond)
	dst = append(dst, '.', '0'+byte(ms/100))
	return append(append2(dst, ms%100), 'Z')
}

// appendClock appends the time of day as 15:04:05.
func appendClock(dst []byte, t time.Time) []byte {
	hour, minute, second := t.Clock()
	dst = append(append2(dst, hour), ':')
	dst = append(append2(dst, minute), ':')
	return append2(dst, second)
}

// append2 appends the last two digits of n.
func append2(dst []byte, n int) []byte {
	return append(dst, '0'+byte(n/10%10), '0'+byte(n%10))
}
