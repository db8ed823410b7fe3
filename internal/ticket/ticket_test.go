package ticket_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/ticket"
)

const room = "699d98642c564d2e855e9661899b7252"

// noon is when the tests' tickets are read.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func key(id uint32) ticket.Key {
	k := ticket.Key{ID: id}
	for i := range k.Secret {
		k.Secret[i] = byte(id) + byte(i)
	}
	return k
}

func ring(tb testing.TB, keys ...ticket.Key) *ticket.Ring {
	tb.Helper()
	r, err := ticket.NewRing(keys...)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// admitted is an ordinary ticket: arrived 10 min, accepted 2 min and seen 1 min before noon.
func admitted() ticket.Ticket {
	return ticket.Ticket{
		ID:       ticket.ID{1, 2, 3, 15: 16},
		Arrival:  noon().Add(-10 * time.Minute),
		Accepted: noon().Add(-2 * time.Minute),
		LastSeen: noon().Add(-time.Minute),
		Refresh:  20 * time.Second,
	}
}

func seal(r *ticket.Ring, t ticket.Ticket) string {
	return string(r.Append(nil, room, t, ticket.Nonce{0: 9, 11: 7}))
}

func TestBucket(t *testing.T) {
	t.Parallel()
	day := func(clock string) time.Time {
		at, err := time.Parse(time.DateTime, "2021-01-13 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for name, c := range map[string]struct {
		arrival time.Time
		want    time.Time
	}{
		"T1":             {day("10:23:45"), day("10:23:00")},
		"T2First":        {day("19:51:00"), day("19:51:00")},
		"T2Last":         {day("19:51:59").Add(999 * time.Millisecond), day("19:51:00")},
		"HalfHourZone":   {day("10:23:45").In(time.FixedZone("", 19800)), day("10:23:00")},
		"OddSecondsZone": {day("10:23:45").In(time.FixedZone("", 1172)), day("10:23:00")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ticket.Ticket{Arrival: c.arrival}.Bucket()
			if !got.Equal(c.want) || got.Location() != time.UTC {
				t.Errorf("bucket of %v is %v, want %v", c.arrival, got, c.want)
			}
		})
	}
}

// TestBucketStaysWhenAdmitted is T3: who came at 19:51 and was accepted at 20:01:13 keeps the bucket.
func TestBucketStaysWhenAdmitted(t *testing.T) {
	t.Parallel()
	r := ring(t, key(1))
	accepted := time.Date(2021, 1, 13, 20, 1, 13, 0, time.UTC)
	in := ticket.Ticket{
		ID: ticket.ID{1}, Arrival: time.Date(2021, 1, 13, 19, 51, 12, 0, time.UTC),
		Accepted: accepted, LastSeen: accepted,
	}
	out, err := r.Open(room, seal(r, in), accepted)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Bucket().Format(time.TimeOnly); got != "19:51:00" {
		t.Errorf("bucket %s, want 19:51:00", got)
	}
	if !out.Accepted.Equal(accepted) || !out.LastSeen.Equal(accepted) {
		t.Errorf("accepted %v and seen %v, want %v", out.Accepted, out.LastSeen, accepted)
	}
}

func TestNewRing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []ticket.Key
		want string // part of the error; empty for none
	}{
		"NoKey":       {nil, "at least one key"},
		"ZeroSecret":  {[]ticket.Key{key(1), {ID: 2}}, "key 00000002 is all zero"},
		"DuplicateID": {[]ticket.Key{key(10), key(2), key(10)}, "two keys have the id 0000000a"},
		"One":         {[]ticket.Key{key(1)}, ""},
		"IDZero":      {[]ticket.Key{key(0), key(1)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := ticket.NewRing(c.keys...)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want == "" && r == nil:
				t.Error("no ring and no error")
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestSecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	k := key(0x41)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%b", "%o", "%c", "%U"} {
		got := fmt.Sprintf(verb, k)
		if !strings.Contains(got, "****") || strings.ContainsAny(got, "[") || len(got) > 60 {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		base := rapid.Int64Range(0, 4e12).Draw(rt, "now")
		age := func(label string, most int64) int64 { return rapid.Int64Range(0, most).Draw(rt, label) }
		seen := base - age("seen", ticket.MaxAge.Milliseconds())
		accepted := seen - age("accepted", 1e9)
		in := ticket.Ticket{
			ID:       ticket.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Filter(notZero).Draw(rt, "id")),
			Arrival:  time.UnixMilli(accepted - age("arrival", 1e9)).UTC(),
			Accepted: time.UnixMilli(accepted).UTC(),
			LastSeen: time.UnixMilli(seen).UTC(),
			Refresh:  time.Duration(rapid.Uint32().Draw(rt, "refresh")) * time.Millisecond,
		}
		if rapid.Bool().Draw(rt, "queued") {
			in.Accepted = time.Time{}
		}
		name := rapid.String().Draw(rt, "room")
		r := ring(t, key(rapid.Uint32().Draw(rt, "key")))
		nonce := ticket.Nonce(rapid.SliceOfN(rapid.Byte(), 12, 12).Draw(rt, "nonce"))
		prefix := []byte(rapid.String().Draw(rt, "prefix"))

		text := r.Append(prefix, name, in, nonce)
		if !bytes.HasPrefix(text, prefix) {
			rt.Fatalf("%q does not begin with %q", text, prefix)
		}
		sealed := string(text[len(prefix):])
		if len(sealed) > ticket.SealedMax || strings.Trim(sealed, cookieSafe) != "" {
			rt.Fatalf("not a cookie value of at most %d characters: %q", ticket.SealedMax, sealed)
		}
		out, err := r.Open(name, sealed, time.UnixMilli(base))
		if err != nil {
			rt.Fatalf("%+v does not open: %v", in, err)
		}
		if out != in {
			rt.Fatalf("sealed %+v, opened %+v", in, out)
		}
		if again := string(r.Append(nil, name, out, nonce)); again != sealed {
			rt.Fatalf("the same contents make two texts, %q and %q", sealed, again)
		}
	})
}

const cookieSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func notZero(b []byte) bool { return ticket.ID(b) != ticket.ID{} }

// TestAppendNeverMakesARefusedText: clocks of nodes differ, so the steps of a visit may seem to be in the wrong
// order. The visitor must not lose the place for it.
func TestAppendNeverMakesARefusedText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		at := func(label string) time.Time {
			return noon().Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(rt, label)))
		}
		in := ticket.Ticket{
			ID: ticket.ID{1}, Arrival: at("arrival"), LastSeen: at("seen"),
			Refresh: time.Duration(rapid.Int64().Draw(rt, "refresh")),
		}
		if rapid.Bool().Draw(rt, "admitted") {
			in.Accepted = at("accepted")
		}
		latest := in.Arrival
		for _, step := range []time.Time{in.Accepted, in.LastSeen} {
			if step.After(latest) {
				latest = step
			}
		}
		r := ring(t, key(1))
		out, err := r.Open(room, seal(r, in), latest)
		if err != nil {
			rt.Fatalf("%+v: %v", in, err)
		}
		if !out.Arrival.Equal(in.Arrival.Truncate(time.Millisecond)) || out.Accepted.IsZero() != in.Accepted.IsZero() {
			rt.Fatalf("sealed %+v, opened %+v", in, out)
		}
		want := min(max(in.Refresh.Truncate(time.Millisecond), 0), (1<<32-1)*time.Millisecond)
		if out.Refresh != want {
			rt.Fatalf("refresh %v became %v, want %v", in.Refresh, out.Refresh, want)
		}
	})
}

func TestRotation(t *testing.T) {
	t.Parallel()
	before := ring(t, key(1))
	during := ring(t, key(2), key(1))
	after := ring(t, key(2))
	old, fresh := seal(before, admitted()), seal(during, admitted())
	for name, c := range map[string]struct {
		ring *ticket.Ring
		text string
		want error
	}{
		"OldKeyOpensDuring":     {during, old, nil},
		"NewKeyOpensDuring":     {during, fresh, nil},
		"NewKeyOpensAfter":      {after, fresh, nil},
		"NewKeySealed":          {before, fresh, ticket.ErrForeign},
		"RemovedKey":            {after, old, ticket.ErrForeign},
		"OtherSecretOfSameName": {ring(t, ticket.Key{ID: 1, Secret: key(3).Secret}), old, ticket.ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.ring.Open(room, c.text, noon())
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if err == nil && got != admitted() {
				t.Errorf("opened %+v, want %+v", got, admitted())
			}
			if err != nil && got != (ticket.Ticket{}) {
				t.Errorf("an error came with contents: %+v", got)
			}
		})
	}
}

// TestEverySingleChangeIsRefused flips each bit of each character, drops and doubles each character.
func TestEverySingleChangeIsRefused(t *testing.T) {
	t.Parallel()
	r := ring(t, key(1))
	valid := seal(r, admitted())
	refuse := func(text string) {
		t.Helper()
		if _, err := r.Open(room, text, noon()); !errors.Is(err, ticket.ErrForeign) {
			t.Errorf("%q: error %v, want ErrForeign", text, err)
		}
	}
	for i := range len(valid) {
		for bit := range 8 {
			b := []byte(valid)
			b[i] ^= 1 << bit
			refuse(string(b))
		}
		refuse(valid[:i])
		refuse(valid[:i] + valid[i+1:])
		refuse(valid[:i] + valid[i:i+1] + valid[i:])
		refuse(valid[:i] + "\n" + valid[i:])
		refuse(valid[:i] + "\r" + valid[i+1:])
	}
	for _, c := range cookieSafe {
		if text := valid[:len(valid)-1] + string(c); text != valid {
			refuse(text) // the two spare bits of the last character must be zero
		}
	}
	for _, text := range []string{"", "=", valid + "=", valid + "==", " " + valid, valid + valid, strings.Repeat("A", 1<<16)} {
		refuse(text)
	}
}

func TestOtherRoomIsRefused(t *testing.T) {
	t.Parallel()
	r := ring(t, key(1))
	for _, pair := range [][2]string{
		{"a", "b"},
		{"a", ""},
		{"", "a"},
		{"a", "aa"},
		{"room", "roo"},
		{"room", "room\x01"},
		{"room", "room\x01\x00\x00\x00\x01"},
		{strings.Repeat("r", 300), strings.Repeat("r", 301)},
	} {
		text := string(r.Append(nil, pair[0], admitted(), ticket.Nonce{}))
		if _, err := r.Open(pair[0], text, noon()); err != nil {
			t.Errorf("own room %q: %v", pair[0], err)
		}
		if _, err := r.Open(pair[1], text, noon()); !errors.Is(err, ticket.ErrForeign) {
			t.Errorf("ticket of %q in room %q: error %v, want ErrForeign", pair[0], pair[1], err)
		}
	}
}

func TestAgeBounds(t *testing.T) {
	t.Parallel()
	r := ring(t, key(1))
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		arrival, accepted, seen time.Duration // from now; accepted 0 is queued
		want                    error
	}{
		"SeenAtSkew":            {-time.Hour, 0, ticket.Skew, nil},
		"SeenBeyondSkew":        {-time.Hour, 0, ticket.Skew + ms, ticket.ErrFuture},
		"AllAtSkew":             {ticket.Skew, ticket.Skew, ticket.Skew, nil},
		"ArrivalBeyondSkew":     {ticket.Skew + ms, 0, ticket.Skew + ms, ticket.ErrFuture},
		"AcceptedBeyondSkew":    {-time.Hour, ticket.Skew + ms, ticket.Skew + ms, ticket.ErrFuture},
		"FarFuture":             {-time.Hour, 0, 1e6 * time.Hour, ticket.ErrFuture},
		"SeenAtMaxAge":          {-ticket.MaxAge, 0, -ticket.MaxAge, nil},
		"SeenBeyondMaxAge":      {-48 * time.Hour, 0, -ticket.MaxAge - ms, ticket.ErrOld},
		"ArrivedLongAgoSeenNow": {-48 * time.Hour, -47 * time.Hour, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := ticket.Ticket{ID: ticket.ID{1}, Arrival: noon().Add(c.arrival), LastSeen: noon().Add(c.seen)}
			if c.accepted != 0 {
				in.Accepted = noon().Add(c.accepted)
			}
			if _, err := r.Open(room, seal(r, in), noon()); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestZeroTicketIsRefused(t *testing.T) {
	t.Parallel()
	r := ring(t, key(1))
	in := admitted()
	in.ID = ticket.ID{}
	if _, err := r.Open(room, seal(r, in), noon()); !errors.Is(err, ticket.ErrForeign) {
		t.Errorf("no id: error %v, want ErrForeign", err)
	}
	if _, err := r.Open(room, seal(r, ticket.Ticket{}), noon()); !errors.Is(err, ticket.ErrForeign) {
		t.Errorf("nothing at all: error %v, want ErrForeign", err)
	}
}

func TestAppendKeepsWithinTheSpareBytes(t *testing.T) {
	t.Parallel()
	r := ring(t, key(1))
	buf := bytes.Repeat([]byte{'.'}, 3+ticket.SealedMax+5)
	text := r.Append(buf[:3:3+ticket.SealedMax], room, admitted(), ticket.Nonce{})
	if &text[0] != &buf[0] {
		t.Error("Append allocated although there was room")
	}
	if string(buf[:3]) != "..." || string(buf[len(buf)-5:]) != "....." {
		t.Errorf("bytes beside the spare ones were changed: %q", buf)
	}
}
