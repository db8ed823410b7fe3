package queue

import "slices"

// resendAfter is when a grant that was not acknowledged is sent again, and announceEvery how often a
// leader makes itself known where it was not heard.
const (
	resendAfter   = 600 * milli
	announceEvery = 300 * milli
)

// grants makes the grants that differ from the last ones sent or have got lost.
func (g *Global) grants(now int64) []Addressed {
	var out []Addressed
	for i, c := range g.centers {
		if !c.joined || c.newest > c.incarnation {
			if now-c.sentAt >= announceEvery || c.dirty {
				c.sentAt, c.dirty = now, false
				out = append(out, Addressed{c.name, Grant{Epoch: g.epoch}})
			}
			continue
		}
		terms := g.terms(i, c)
		lost := c.grantSeen < c.sentSeq && now-c.sentAt >= resendAfter
		if !g.books.welcomed(c.name, c.incarnation) || terms == c.sent && !c.dirty && !lost {
			continue
		}
		c.sent, c.sentAt, c.dirty = terms, now, false
		c.sentSeq++
		picture := g.look(now)
		marks, others := g.marks(i, c)
		out = append(out, Addressed{c.name, Grant{
			Incarnation: c.incarnation, Epoch: g.epoch, Seq: c.sentSeq, Terms: terms, Marks: marks, Others: others,
			Echo: c.echo, Heard: c.echoAt + g.shift, Sent: now + g.shift,
			Ranks: picture.points, RanksAt: picture.at + g.shift, Notices: slices.Clone(c.notices), Experience: g.learned(),
		}})
	}
	return out
}

func (g *Global) terms(i int, c *center) Terms {
	t := Terms{
		Rights: c.rights.granted, Permits: c.permits.granted,
		InheritedRights: c.rights.inherited, InheritedPermits: c.permits.inherited,
		RightsMax: c.rights.most, PermitsMax: c.permits.most,
		Order: g.order, Turns: c.turns, Spare: g.spare, Resync: c.unordered, ReportSeen: c.seq,
	}
	for class := range g.lines {
		m := &g.lines[class]
		t.Queue = t.Queue || m.waiting > m.waitingIn(i)
	}
	return t
}

// marks are the frontiers as a data center is told them, and how many wait elsewhere.
func (g *Global) marks(i int, c *center) (marks [ClassesMax]Mark, others int) {
	for class := range g.lines {
		m := &g.lines[class]
		marks[class] = Mark{Frontier: m.frontier, Partial: c.partial[class]}
		others += m.waiting - m.waitingIn(i)
	}
	return marks, others
}
