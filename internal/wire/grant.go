package wire

import (
	"slices"

	"github.com/anteroom/anteroom/internal/queue"
)

// grantVersion is the version of the form of grants.
const grantVersion = 1

// Flags of a grant.
const (
	grantQueue byte = 1 << iota
	grantSpare
	grantResync
	grantExperience // an experience follows
	grantFlags      = 1<<iota - 1
)

// grantBytes is room for a grant with no lists.
const grantBytes = 256

// AppendGrant appends the byte form of a grant. The values must be as the queue makes them: the ranks of each
// class by rising keys, move numbers rising. What is not is refused by the receiver; a class that does not
// exist panics here.
func AppendGrant(dst []byte, g queue.Grant) []byte {
	dst = slices.Grow(dst, grantBytes+5*len(g.Ranks)+moveBytes*len(g.Notices))
	some := g.Experience != queue.Experience{}
	dst = append(dst, grantVersion,
		flag(g.Queue, grantQueue)|flag(g.Spare, grantSpare)|flag(g.Resync, grantResync)|flag(some, grantExperience))
	dst = appendUvarints(dst, g.Incarnation, g.Epoch, g.Seq)
	dst = appendTerms(dst, &g.Terms)
	dst = appendMarks(dst, &g.Marks)
	dst = appendNumbers(dst, g.Others)
	// The other times are near the one of sending: their distances take less than half the bytes.
	dst = appendVarints(dst, g.Sent, g.Sent-g.Heard, g.Sent-g.Echo, g.Sent-g.RanksAt)
	dst = appendRanks(dst, g.Ranks)
	if some {
		dst = appendExperience(dst, g.Experience)
	}
	return appendMoves(dst, g.Notices)
}

// DecodeGrant reads a grant. Whatever is not the byte form of a grant, from the first to the last byte, is an
// error that names the field and what to do.
func DecodeGrant(b []byte) (queue.Grant, error) {
	in := newReader("grant", "drop it, the leader sends it again; if it comes again, compare the releases of sender and receiver", grantVersion, b)
	flags := in.bits("flags", grantFlags)
	g := queue.Grant{Incarnation: in.uvarint("incarnation"), Epoch: in.uvarint("epoch"), Seq: in.uvarint("seq")}
	g.Terms = in.terms()
	g.Queue, g.Spare, g.Resync = flags&grantQueue != 0, flags&grantSpare != 0, flags&grantResync != 0
	g.Marks = in.marks()
	g.Others = in.number("others")
	g.Sent = in.varint("sent")
	g.Heard = g.Sent - in.varint("heard")
	g.Echo = g.Sent - in.varint("echo")
	g.RanksAt = g.Sent - in.varint("ranks_at")
	g.Ranks = in.ranks()
	if flags&grantExperience != 0 {
		g.Experience = in.experience()
	}
	g.Notices = in.moves("notices")
	if err := in.end(); err != nil {
		return queue.Grant{}, err
	}
	return g, nil
}

// appendTerms appends all of the terms that are no flags.
func appendTerms(dst []byte, t *queue.Terms) []byte {
	dst = appendUvarints(dst, t.Rights, t.Permits, t.InheritedRights, t.InheritedPermits)
	dst = appendNumbers(dst, t.RightsMax, t.PermitsMax)
	return appendUvarints(dst, t.Order, t.Turns, t.ReportSeen)
}

func (r *reader) terms() queue.Terms {
	return queue.Terms{
		Rights: r.uvarint("rights"), Permits: r.uvarint("permits"),
		InheritedRights: r.uvarint("inherited_rights"), InheritedPermits: r.uvarint("inherited_permits"),
		RightsMax: r.number("rights_max"), PermitsMax: r.number("permits_max"),
		Order: r.uvarint("order"), Turns: r.uvarint("turns"), ReportSeen: r.uvarint("report_seen"),
	}
}
