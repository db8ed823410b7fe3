package queue

// roomTime is what a data center's clock differs from the room's by, measured on the round trips of
// reports. Places in line and cookies carry the room's time; rights and permits depend on no wall
// clock, only on how much time passes here.
type roomTime struct {
	shift int64 // add it to a stamp
	rtt   int64 // round trip of the best measurement, growing with its age; 0 for none
	known bool
}

// rttAging is how much the round trip of an old measurement grows with each new one, so that a clock
// that drifts is followed.
const rttAging = milli

// measure takes one round trip: report sent by this clock, heard and answered by the room's, answer
// received by this clock. The error is at most half the difference of the two ways.
func (r *roomTime) measure(now int64, g Grant) {
	rtt := (now - g.Echo) - (g.Sent - g.Heard)
	if g.Echo == 0 || rtt < 0 {
		return
	}
	if r.known && r.rtt > 0 && rtt > r.rtt {
		r.rtt += rttAging
		return
	}
	r.shift = ((g.Heard - g.Echo) + (g.Sent - now)) / 2
	r.rtt, r.known = max(rtt, 1), true
}

// toRoom turns a stamp into the room's time.
func (l *Local) toRoom(stamp int64) int64 { return stamp + l.time.shift }

// fromRoom turns the room's time into a stamp.
func (l *Local) fromRoom(at int64) int64 { return at - l.time.shift }

// doubt is how wrong the room's time may be here: nothing that counts once it has been measured.
func (r *roomTime) doubt() int64 {
	if r.known {
		return 0
	}
	return coverMargin
}
