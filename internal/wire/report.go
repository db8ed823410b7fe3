package wire

import (
	"slices"

	"github.com/anteroom/anteroom/internal/queue"
)

// reportVersion is the version of the form of reports.
const reportVersion = 1

// Flags of a report.
const (
	reportFull byte = 1 << iota
	reportSynced
	reportSettled
	reportExperience // an experience follows
	reportFlags      = 1<<iota - 1
)

// reportBytes is room for a report with no lists.
const reportBytes = 224

// AppendReport appends the byte form of a report. The values must be as the queue makes them: buckets in
// order, of classes that there are, move numbers rising. What is not is refused by the receiver; a
// class that does not exist panics here.
func AppendReport(dst []byte, r queue.Report) []byte {
	dst = slices.Grow(dst, reportBytes+3*len(r.Buckets)+moveBytes*(len(r.Moved)+len(r.Released)))
	some := r.Experience != queue.Experience{}
	dst = append(dst, reportVersion,
		flag(r.Full, reportFull)|flag(r.Synced, reportSynced)|flag(r.Settled, reportSettled)|flag(some, reportExperience))
	dst = appendName(dst, r.DataCenter)
	dst = appendUvarints(dst, r.Incarnation, r.Epoch, r.Seq, r.GrantSeen)
	dst = appendVarints(dst, r.Sent, r.Shift)
	dst = appendAccount(dst, r.Rights)
	dst = appendAccount(dst, r.Permits)
	dst = appendNumbers(dst, r.Need)
	dst = appendUvarints(dst, r.TurnsSeen)
	dst = appendNumbers(dst, r.Refused)
	dst = appendVarints(dst, r.Oldest)
	dst = appendUvarints(dst, r.Order)
	dst = appendMarks(dst, &r.Marks)
	dst = appendBuckets(dst, r.Buckets)
	dst = appendNumbers(dst, r.Newcomers)
	dst = appendUvarints(dst, r.Admitted)
	if some {
		dst = appendExperience(dst, r.Experience)
	}
	dst = appendMoves(dst, r.Moved)
	dst = appendMoves(dst, r.Released)
	return appendNumbers(appendUvarints(dst, r.NoticesSeen), r.Rights.Quarantined, r.Permits.Quarantined)
}

// DecodeReport reads a report. Whatever is not the byte form of a report, from the first to the last byte, is an
// error that names the field and what to do.
func DecodeReport(b []byte) (queue.Report, error) {
	in := newReader("report", "drop it, the next report makes it good; if it comes again, compare the releases of sender and receiver", reportVersion, b)
	flags := in.bits("flags", reportFlags)
	r := queue.Report{
		Full: flags&reportFull != 0, Synced: flags&reportSynced != 0, Settled: flags&reportSettled != 0,
		DataCenter: in.name("data_center"),
	}
	r.Incarnation, r.Epoch = in.uvarint("incarnation"), in.uvarint("epoch")
	r.Seq, r.GrantSeen = in.uvarint("seq"), in.uvarint("grant_seen")
	r.Sent, r.Shift = in.varint("sent"), in.varint("shift")
	r.Rights = in.account("rights")
	r.Permits = in.account("permits")
	r.Need, r.TurnsSeen = in.number("need"), in.uvarint("turns_seen")
	r.Refused, r.Oldest = in.number("refused"), in.varint("oldest")
	r.Order = in.uvarint("order")
	r.Marks = in.marks()
	r.Buckets = in.buckets()
	r.Newcomers, r.Admitted = in.number("newcomers"), in.uvarint("admitted")
	if flags&reportExperience != 0 {
		r.Experience = in.experience()
	}
	r.Moved = in.moves("moved")
	r.Released = in.moves("released")
	r.NoticesSeen = in.uvarint("notices_seen")
	r.Rights.Quarantined, r.Permits.Quarantined = in.number("rights.quarantined"), in.number("permits.quarantined")
	if err := in.end(); err != nil {
		return queue.Report{}, err
	}
	return r, nil
}

func appendAccount(dst []byte, a queue.Account) []byte {
	return appendNumbers(appendUvarints(dst, a.Granted, a.Returned), a.Idle, a.Debt)
}

func (r *reader) account(kind string) queue.Account {
	return queue.Account{
		Granted: r.uvarint(kind + ".granted"), Returned: r.uvarint(kind + ".returned"),
		Idle: r.number(kind + ".idle"), Debt: r.number(kind + ".debt"),
	}
}
