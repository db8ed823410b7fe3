package wire_test

import (
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/wire"
)

// sampleGrant is a grant of a busy room, with something in every field.
func sampleGrant() queue.Grant {
	g := queue.Grant{
		Incarnation: 7, Epoch: 3, Seq: 4651,
		Terms: queue.Terms{
			Rights: 90_010, Permits: 91_020, InheritedRights: 40, InheritedPermits: 8, RightsMax: 6000, PermitsMax: 900,
			Order: 1, Turns: 88_030, Queue: true, Spare: true, Resync: true, ReportSeen: 4711,
		},
		Others: 34_567, Sent: noon, Heard: noon - 45_000, Echo: noon - 81_000, RanksAt: noon - 700_000,
		Experience: queue.Experience{
			Exits: 182_000, Beyond: 19_876_543.25, Left: 3200, Waited: 1.5e8, Joined: 320_000,
			Active: 15_000, Young: 14_200, YoungLeft: 1_654_321.5,
		},
	}
	for class := range g.Marks {
		g.Marks[class] = queue.Mark{Frontier: noon/1_000_000 - 600 + int64(class), Partial: 2 + class}
	}
	g.Ranks = append(g.Ranks, queue.Rank{Key: noon - 600_000_000 + 123_456, Before: 2})
	for i := range int64(39) {
		g.Ranks = append(g.Ranks, queue.Rank{Key: noon - (599-15*i)*1_000_000, Class: uint8(i / 20), Before: int32(7 + i%20*i%20*110)})
	}
	for i := 1; i < len(g.Ranks); i++ {
		if g.Ranks[i].Class == g.Ranks[i-1].Class {
			g.Ranks[i].Before = max(g.Ranks[i].Before, g.Ranks[i-1].Before+1)
		}
	}
	for i := range uint64(2) {
		g.Notices = append(g.Notices, queue.Move{Number: 18 + 2*i, ID: queue.ID{0xcc, byte(i)}, Seen: noon - 9, Home: 3, To: "paris"})
	}
	return g
}

// shortGrant is the smallest grant; every byte is one field.
func shortGrant() []byte { return append([]byte{1}, make([]byte, 21)...) }

func TestEveryFieldOfAGrantArrives(t *testing.T) {
	t.Parallel()
	f := grantForm()
	f.tellsFieldsApart(t, sampleGrant()) // names the field, so it comes first
	f.tellsFieldsApart(t, queue.Grant{})
	f.roundTrip(t)
}

func TestDamagedGrantsAreRefused(t *testing.T) {
	t.Parallel()
	f := grantForm()
	f.refusesTornOnes(t)
	f.survivesFlips(t, sampleGrant())
	f.knowsItsVersion(t, shortGrant())
}

func TestGrantErrorsNameFieldAndRemedy(t *testing.T) {
	t.Parallel()
	f := grantForm()
	var heads [2][]byte // of a first key in the last second that there is, and in the first
	for i, key := range []int64{math.MaxInt64, math.MinInt64} {
		b := wire.AppendGrant(nil, queue.Grant{Ranks: []queue.Rank{{Key: key}}})
		if g, err := f.decode(b); err != nil || g.Ranks[0].Key != key {
			t.Errorf("the key %d becomes %+v, %v", key, g.Ranks, err)
		}
		heads[i] = b[22:29]
	}
	f.refuses(t, shortGrant(), "grant", "the leader sends it again", []refusal{
		{"TooLong", 22, 0, []byte{0}, "end: 1 bytes too many"},
		{"UnknownFlag", 1, 1, []byte{0x80}, "flags: "},
		{"NegativeRightsMax", 9, 1, huge(), "rights_max: "},
		{"NegativePermitsMax", 10, 1, huge(), "permits_max: "},
		{"NegativeOthers", 15, 1, huge(), "others: "},
		{"NoRanks", 20, 1, []byte{4, 0}, "ranks: class 2 has none"},
		{"ManyRanks", 20, 1, slices.Concat([]byte{1}, huge()), "ranks: 18446744073709551615 items of 2 bytes"},
		{"ARankTooMany", 20, 1, []byte{1, 2, 0, 0}, "ranks: 2 items"},
		{"RankTwice", 20, 1, []byte{1, 2, 4, 1, 0, 1}, "ranks[1].key: it is not behind"},
		{"PartBackwards", 20, 1, []byte{1, 2, 5, 9, 1, 1, 8, 1}, "ranks[1].key: it is not behind"},
		{"KeysBackwards", 20, 1, slices.Concat([]byte{1, 2, 4, 1}, huge(1)), "ranks[1].key: "},
		{"NoPart", 20, 1, []byte{1, 1, 5, 0, 1}, "ranks[0].key: it begins a second and says that it does not"},
		{"LargePart", 20, 1, []byte{1, 1, 5, 0xc0, 0x84, 0x3d, 1}, "ranks[0].key: 1000000 "},
		{"BehindEveryKey", 20, 1, slices.Concat([]byte{1, 1}, heads[0], []byte{0x80, 0xad, 0x2f, 1}), "beyond every key"},
		{"BeforeEveryKey", 20, 1, slices.Concat([]byte{1, 1}, heads[1], []byte{1, 1}), "beyond every key"},
		{"ManyBefore", 20, 1, []byte{1, 2, 4, 1, 4, 0xff, 0xff, 0xff, 0xff, 7}, "ranks[1].before: 2147483647 "},
		{"ManyNotices", 21, 1, []byte{1}, "notices: 1 items of 20 bytes at least"},
	})
}

func TestGrantsKeepTheirForm(t *testing.T) {
	t.Parallel()
	g := sampleGrant()
	g.Ranks = slices.Concat(g.Ranks[:3], g.Ranks[38:])
	g.Notices = g.Notices[:1]
	for class := range g.Marks {
		g.Marks[class] = queue.Mark{}
	}
	g.Marks[1] = queue.Mark{Frontier: 1_789_999_400, Partial: 2}
	for name, c := range map[string]struct {
		grant  queue.Grant
		golden string
	}{
		"Short":        {queue.Grant{}, hex.EncodeToString(shortGrant())},
		"Announcement": {queue.Grant{Epoch: 3}, "010000030000000000000000000000000000000000" + "00"},
		"Busy":         {g, goldenGrant},
	} {
		got := hex.EncodeToString(wire.AppendGrant(nil, c.grant))
		if got != strings.ReplaceAll(c.golden, "\n", "") {
			t.Errorf("%s: the form has changed: that takes a new version, see docs/wire.md\ngot  %s\nwant %s", name, got, c.golden)
		}
	}
}

func TestGrantsAreSmall(t *testing.T) {
	t.Parallel()
	g := sampleGrant()
	g.Notices = nil
	for class := 2; class < len(g.Marks); class++ {
		g.Marks[class] = queue.Mark{}
	}
	if n := len(wire.AppendGrant(nil, g)); n > 250 {
		t.Errorf("a grant with 40 ranks takes %d bytes", n)
	}
	if n := len(wire.AppendGrant(nil, queue.Grant{Epoch: 100})); n != 22 {
		t.Errorf("an announcement takes %d bytes", n)
	}
}

// Data centers look for ranks within one class: in which order the classes stand does not matter.
func TestRanksComeByClass(t *testing.T) {
	t.Parallel()
	mixed := queue.Grant{Ranks: []queue.Rank{{Key: 5, Class: 3}, {Key: 1}, {Key: 9, Class: 3, Before: 4}, {Key: 1_000_000, Before: 2}}}
	want := []queue.Rank{mixed.Ranks[1], mixed.Ranks[3], mixed.Ranks[0], mixed.Ranks[2]}
	got, err := wire.DecodeGrant(wire.AppendGrant(nil, mixed))
	if err != nil || !slices.Equal(got.Ranks, want) {
		t.Errorf("got %+v, %v, want %+v", got.Ranks, err, want)
	}
}
