package queue

import "math"

// giveTurns moves the frontiers over as many tickets as may enter now.
func (g *Global) giveTurns(now int64) {
	g.spare = false
	if !g.admits() {
		return
	}
	free := min(g.free(g.rights(), g.set.TotalActiveUsers), g.free(g.permits(), g.set.NewUsersPerMinute))
	for _, c := range g.centers {
		free -= c.outstanding()
	}
	free = min(free+g.ahead(), g.bucket.level(now, g.set))
	if free <= 0 {
		return
	}
	given := g.share(free)
	g.bucket.take(given)
	g.spare = given < free
}

// share divides turns among the classes and tells how many were given.
func (g *Global) share(turns int) (given int) {
	backlog := [ClassesMax]int{}
	for class := range g.lines {
		backlog[class] = max(0, g.lines[class].waiting)
	}
	for class, n := range g.fair.share(turns, backlog, g.set.weights()) {
		if n > 0 {
			given += n
			g.lines[class].advance(n, class, g.centers)
		}
	}
	return given
}

// rounds is a deficit round robin over the classes: in each round a class may give as many turns as its
// weight; one with nobody waiting gives its part to the others and saves nothing up.
type rounds struct {
	class  int // whose turn it is
	credit [ClassesMax]int
}

// share divides turns among classes with so many waiting.
func (r *rounds) share(turns int, backlog, weights [ClassesMax]int) (given [ClassesMax]int) {
	waiting := 0
	for _, n := range backlog {
		waiting += n
	}
	for turns = min(turns, waiting); turns > 0; {
		c := r.class
		left := backlog[c] - given[c]
		if left > 0 && r.credit[c] == 0 {
			r.credit[c] = max(1, weights[c])
		}
		n := min(left, r.credit[c], turns)
		given[c] += n
		r.credit[c] -= n
		turns -= n
		if left == n {
			r.credit[c] = 0
		}
		if r.credit[c] == 0 {
			r.class = (c + 1) % ClassesMax
		}
	}
	return given
}

// bucketOfTurns paces turns: it fills at the rate of new_users_per_minute and holds what the pacing
// allows at once.
type bucketOfTurns struct {
	tokens float64
	at     int64
	full   bool // it was filled once
}

// level is how many turns may be given now.
func (b *bucketOfTurns) level(now int64, s Settings) int {
	if s.Pacing <= 0 {
		*b = bucketOfTurns{}
		return math.MaxInt32
	}
	rate := float64(s.NewUsersPerMinute) / 60
	most := max(1, rate*s.Pacing.Seconds())
	if !b.full {
		b.tokens, b.full = most, true
	} else {
		b.tokens = min(most, b.tokens+rate*float64(now-b.at)/float64(second))
	}
	b.at = now
	return int(b.tokens)
}

func (b *bucketOfTurns) take(n int) {
	if b.full {
		b.tokens -= float64(n)
	}
}
