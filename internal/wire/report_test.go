package wire_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/wire"
)

// noon is a time of today's size, in microseconds since the Unix epoch.
const noon = int64(1_790_000_000_000_000)

// sampleReport is a report of a busy room, with something in every field.
func sampleReport() queue.Report {
	r := queue.Report{
		DataCenter: "frankfurt", Incarnation: 7, Epoch: 3, Seq: 4711, Full: true, GrantSeen: 4650,
		Sent: noon, Shift: -1234, Synced: true, Settled: true,
		Rights:  queue.Account{Granted: 90_000, Returned: 85_000, Idle: 12, Debt: 3},
		Permits: queue.Account{Granted: 91_000, Returned: 90_400, Idle: 5, Debt: 1},
		Need:    40, TurnsSeen: 88_000, Refused: 2, Oldest: noon - 600_000_000,
		Order: 1, Newcomers: 333, Admitted: 87_900,
		Experience: queue.Experience{
			Exits: 82_000, Beyond: 9_876_543.25, Left: 1200, Waited: 7.5e7, Joined: 120_000,
			Active: 5000, Young: 4200, YoungLeft: 654_321.5,
		},
		NoticesSeen: 17,
	}
	for class := range r.Marks {
		r.Marks[class] = queue.Mark{Frontier: noon/1_000_000 - 600 + int64(class), Partial: 2 + class}
	}
	for i := range int64(20) {
		r.Buckets = append(r.Buckets, queue.Bucket{At: noon/1_000_000 - 600 + 30*i, Class: uint8(i % 3), Count: int32(150 - i)})
	}
	for i := range uint64(2) {
		r.Moved = append(r.Moved, queue.Move{Number: 11 + 2*i, ID: queue.ID{0xaa, byte(i)}, Seen: noon - int64(i), Home: 0xdeadbeef, To: "x"})
		r.Released = append(r.Released, queue.Move{Number: 5 + 2*i, ID: queue.ID{0xbb, byte(i)}, Seen: 4, Home: 2, To: "paris"})
	}
	return r
}

// shortReport is the smallest report; every byte is one field.
func shortReport() []byte { return append([]byte{1, 0, 1, 'a'}, make([]byte, 28)...) }

func TestEveryFieldOfAReportArrives(t *testing.T) {
	t.Parallel()
	f := reportForm()
	f.tellsFieldsApart(t, sampleReport()) // names the field, so it comes first
	f.tellsFieldsApart(t, queue.Report{DataCenter: "a"})
	f.roundTrip(t)
}

func TestDamagedReportsAreRefused(t *testing.T) {
	t.Parallel()
	f := reportForm()
	f.refusesTornOnes(t)
	f.survivesFlips(t, sampleReport())
	f.knowsItsVersion(t, shortReport())
}

func TestReportErrorsNameFieldAndRemedy(t *testing.T) {
	t.Parallel()
	f := reportForm()
	nan, endless := slices.Repeat([]byte{0xff}, 8), []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x7f}
	move := slices.Concat([]byte{1, 1}, make([]byte, 16), []byte{0, 0, 0})
	f.refuses(t, shortReport(), "report", "the next report makes it good", []refusal{
		{"TooLong", 32, 0, []byte{0}, "end: 1 bytes too many"},
		{"UnknownFlag", 1, 1, []byte{0x10}, "flags: 00010000 has bits beside 00001111"},
		{"NoName", 2, 2, []byte{0}, "data_center: the name is empty"},
		{"LongName", 2, 2, slices.Concat([]byte{0x80, 2}, bytes.Repeat([]byte{'a'}, 256)), "data_center: 256 "},
		{"NameBeyondTheEnd", 2, 1, []byte{100}, "data_center: it needs 100 bytes and 29 are left"},
		{"PaddedNumber", 4, 1, []byte{0x80, 0}, "incarnation: the number is longer than it need be"},
		{"OverflowingNumber", 5, 1, slices.Repeat([]byte{0xff}, 11), "epoch: the number has more than 64 bits"},
		{"NumberWithoutEnd", 4, 28, []byte{0xff}, "incarnation: the message ends within the number"},
		{"NegativeIdle", 12, 1, huge(), "rights.idle: 18446744073709551615 (-1 with a sign)"},
		{"NegativeDebt", 17, 1, huge(), "permits.debt: "},
		{"NegativeNeed", 18, 1, huge(), "need: "},
		{"NegativeRefused", 20, 1, huge(), "refused: "},
		{"NegativeNewcomers", 25, 1, huge(), "newcomers: "},
		{"ZeroMark", 23, 1, []byte{4, 0, 0}, "marks[2].frontier: the mark is zero"},
		{"NegativePartial", 23, 1, slices.Concat([]byte{2, 1}, huge()), "marks[1].partial: "},
		{"ManyBuckets", 24, 1, huge(), "buckets: 18446744073709551615 items of 2 bytes at least are announced and 7 bytes are left"},
		{"ABucketTooMany", 24, 1, []byte{4}, "buckets: 4 items"},
		{"BucketTwice", 24, 1, []byte{2, 2, 1, 0, 1}, "buckets[1].at: it is the bucket before once more"},
		{"BucketsBackwards", 24, 1, slices.Concat([]byte{2, 2, 1}, huge(1)), "buckets[1].at: it stands before"},
		{"BucketBeyondKeys", 24, 1, slices.Concat([]byte{1}, huge(1)), "buckets[0].at: no key is in the second"},
		{"NegativeBucket", 24, 1, slices.Concat([]byte{1, 2}, huge()), "buckets[0].count: "},
		{"LargeBucket", 24, 1, []byte{1, 2, 0x80, 0x80, 0x80, 0x80, 8}, "buckets[0].count: 2147483648 "},
		{"ManyMoves", 27, 1, []byte{1}, "moved: 1 items of 20 bytes at least are announced and 4 bytes are left"},
		{"MoveWithoutNumber", 27, 1, slices.Concat([]byte{1, 0}, move[2:]), "moved[0].number: it is not above 0"},
		{"MoveBackwards", 28, 1, slices.Concat([]byte{2}, move[1:], huge(), move[2:]), "released[1].number: it is not above 1"},
		{"FarHome", 27, 1, slices.Concat([]byte{1, 1}, make([]byte, 17), []byte{0x80, 0x80, 0x80, 0x80, 0x10, 0}), "moved[0].home: 4294967296 "},
		{"LongTo", 27, 1, slices.Concat([]byte{1, 1}, make([]byte, 18), []byte{0x80, 2}, make([]byte, 256)), "moved[0].to: 256 "},
	})
	some := wire.AppendReport(nil, queue.Report{DataCenter: "a", Experience: queue.Experience{Exits: 1}})
	f.refuses(t, some, "report", "the next report makes it good", []refusal{
		{"NoExits", 27, 8, make([]byte, 8), "experience: it is zero and should have been left out"},
		{"NegativeExits", 27, 8, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0xbf}, "experience.exits: -1 is negative"},
		{"NaN", 35, 8, nan, "experience.beyond: NaN"},
		{"Endless", 43, 8, endless, "experience.left: +Inf"},
		{"NegativeActive", 67, 1, huge(), "experience.active: "},
		{"EndlessYoungLeft", 69, 8, endless, "experience.young_left: +Inf"},
	})
}

func TestReportsKeepTheirForm(t *testing.T) {
	t.Parallel()
	r := sampleReport()
	r.Buckets, r.Moved, r.Released = r.Buckets[:3], r.Moved[:1], r.Released[:1]
	for class := range r.Marks {
		r.Marks[class] = queue.Mark{}
	}
	r.Marks[1] = queue.Mark{Frontier: 1_789_999_400, Partial: 2}
	for name, c := range map[string]struct {
		report queue.Report
		golden string
	}{
		"Short": {queue.Report{DataCenter: "a"}, hex.EncodeToString(shortReport())},
		"Busy":  {r, goldenReport},
	} {
		got := hex.EncodeToString(wire.AppendReport(nil, c.report))
		if got != strings.ReplaceAll(c.golden, "\n", "") {
			t.Errorf("%s: the form has changed: that takes a new version, see docs/wire.md\ngot  %s\nwant %s", name, got, c.golden)
		}
	}
}

func TestReportsAreSmall(t *testing.T) {
	t.Parallel()
	r := sampleReport() // one class in use, nobody moves
	r.Moved, r.Released = nil, nil
	for class := 1; class < len(r.Marks); class++ {
		r.Marks[class] = queue.Mark{}
	}
	for i := range r.Buckets {
		r.Buckets[i].Class, r.Buckets[i].Count = 0, int32(20+5*i)
	}
	if n := len(wire.AppendReport(nil, r)); n > 195 {
		t.Errorf("a report with 20 buckets takes %d bytes", n)
	}
	for i := range r.Buckets { // a second after the other, as in a crowd
		r.Buckets[i].At = r.Buckets[0].At + int64(i)
	}
	if n := len(wire.AppendReport(nil, r)); n > 175 {
		t.Errorf("a report with 20 neighbouring buckets takes %d bytes", n)
	}
	if n := len(wire.AppendReport(nil, queue.Report{DataCenter: "a"})); n != 32 {
		t.Errorf("an empty report takes %d bytes", n)
	}
}

func TestReportsOfFaultySendersAreRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*queue.Report){
		"negative count":   func(r *queue.Report) { r.Need = -1 },
		"negative bucket":  func(r *queue.Report) { r.Buckets[0].Count = -1 },
		"buckets disorder": func(r *queue.Report) { slices.Reverse(r.Buckets) },
		"moves disorder":   func(r *queue.Report) { slices.Reverse(r.Moved) },
		"no name":          func(r *queue.Report) { r.DataCenter = "" },
		"long name":        func(r *queue.Report) { r.DataCenter = strings.Repeat("a", 256) },
		"no number":        func(r *queue.Report) { r.Experience.YoungLeft = math.NaN() },
	} {
		r := sampleReport()
		spoil(&r)
		if _, err := wire.DecodeReport(wire.AppendReport(nil, r)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestClassesThatDoNotExistAreNotEncoded(t *testing.T) {
	t.Parallel()
	for name, encode := range map[string]func(class uint8){
		"bucket": func(c uint8) { wire.AppendReport(nil, queue.Report{Buckets: []queue.Bucket{{Class: c}}}) },
		"rank":   func(c uint8) { wire.AppendGrant(nil, queue.Grant{Ranks: []queue.Rank{{Class: c}}}) },
		"join":   func(c uint8) { wire.AppendRecord(nil, queue.Record{Kind: queue.RecordJoin, Class: c}) },
	} {
		encode(queue.ClassesMax - 1)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a %s of class %d is encoded as another one", name, queue.ClassesMax)
				}
			}()
			encode(queue.ClassesMax)
		}()
	}
}
