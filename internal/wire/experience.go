package wire

import "github.com/anteroom/anteroom/internal/queue"

func appendExperience(dst []byte, x queue.Experience) []byte {
	dst = appendFloats(dst, x.Exits, x.Beyond, x.Left, x.Waited, x.Joined)
	dst = appendNumbers(dst, x.Active, x.Young)
	return appendFloats(dst, x.YoungLeft)
}

func (r *reader) experience() queue.Experience {
	x := queue.Experience{
		Exits: r.sum("experience.exits"), Beyond: r.sum("experience.beyond"), Left: r.sum("experience.left"),
		Waited: r.sum("experience.waited"), Joined: r.sum("experience.joined"),
		Active: r.number("experience.active"), Young: r.number("experience.young"),
		// Sessions that are older than a session duration that was just shortened make it negative.
		YoungLeft: r.float("experience.young_left"),
	}
	if x == (queue.Experience{}) {
		r.refuse("experience", "it is zero and should have been left out")
	}
	return x
}
