package ticket_test

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/ticket"
)

// sealByHand follows the form in the package documentation with nothing but the standard library.
func sealByHand(t *testing.T, k ticket.Key, version byte, room string, nonce ticket.Nonce, plain []byte) string {
	t.Helper()
	block, err := aes.NewCipher(k.Secret[:])
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	head := binary.BigEndian.AppendUint32([]byte{version}, k.ID)
	raw := append(append([]byte{}, head...), nonce[:]...)
	raw = gcm.Seal(raw, nonce[:], plain, append([]byte(room), head...))
	return base64.RawURLEncoding.EncodeToString(raw)
}

func plain(id ticket.ID, arrival, accepted, seen int64, refresh uint32) []byte {
	b := append([]byte{}, id[:]...)
	for _, v := range []int64{arrival, accepted, seen} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	return binary.BigEndian.AppendUint32(b, refresh)
}

// TestForm pins the bytes: cookies outlive an upgrade.
func TestForm(t *testing.T) {
	t.Parallel()
	in := admitted()
	contents := plain(in.ID, in.Arrival.UnixMilli(), in.Accepted.UnixMilli(), in.LastSeen.UnixMilli(), 20_000)
	want := sealByHand(t, key(77), 1, room, ticket.Nonce{5, 11: 6}, contents)
	r := ring(t, key(77))
	if got := string(r.Append(nil, room, in, ticket.Nonce{5, 11: 6})); got != want {
		t.Errorf("sealed\n%s, want\n%s", got, want)
	}
	const pinned = "AQAAAE0FAAAAAAAAAAAAAAYwdmT7GSiwV5ZSh5ksR8lypcQYM-KFJwnJqkhHxabvNQ3qpYBIhKDlGw-Q3LBwK6J2OmcbA7I6NaS4HGw"
	if want != pinned {
		t.Errorf("the form changed:\n%s, was\n%s", want, pinned)
	}
	out, err := r.Open(room, pinned, noon())
	if err != nil || out != in {
		t.Errorf("opened %+v (%v), want %+v", out, err, in)
	}
}

// TestContentsWithoutSense: what only a fault of ours could seal is refused like a foreign text.
func TestContentsWithoutSense(t *testing.T) {
	t.Parallel()
	r := ring(t, key(1))
	now := noon().UnixMilli()
	none := time.Time{}.UnixMilli()
	id := ticket.ID{1}
	for name, c := range map[string]struct {
		version byte
		plain   []byte
		want    error
	}{
		"Sound":                  {1, plain(id, now-3, now-2, now-1, 9), nil},
		"SoundAtOneInstant":      {1, plain(id, now, now, now, 0), nil},
		"SoundQueued":            {1, plain(id, now-3, none, now-1, 9), nil},
		"Version0":               {0, plain(id, now-3, now-2, now-1, 9), ticket.ErrForeign},
		"Version2":               {2, plain(id, now-3, now-2, now-1, 9), ticket.ErrForeign},
		"NoID":                   {1, plain(ticket.ID{}, now-3, now-2, now-1, 9), ticket.ErrForeign},
		"ArrivalAfterSeen":       {1, plain(id, now, none, now-1, 9), ticket.ErrForeign},
		"AcceptedBeforeArrival":  {1, plain(id, now-3, now-4, now-1, 9), ticket.ErrForeign},
		"AcceptedAfterSeen":      {1, plain(id, now-3, now, now-1, 9), ticket.ErrForeign},
		"AcceptedIn1970":         {1, plain(id, now-3, 0, now-1, 9), ticket.ErrForeign},
		"TimesBeyondAllCalendar": {1, plain(id, now, none, 1<<63-1, 9), ticket.ErrFuture},
		"ArrivalBeforeTime":      {1, plain(id, -1<<63, none, now, 9), nil},
		"Longer":                 {1, append(plain(id, now-3, now-2, now-1, 9), 0), ticket.ErrForeign},
		"Shorter":                {1, plain(id, now-3, now-2, now-1, 9)[1:], ticket.ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := sealByHand(t, key(1), c.version, room, ticket.Nonce{}, c.plain)
			if _, err := r.Open(room, text, noon()); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// TestLineBreakIsNoSpelling: decoders skip line breaks, so a text whose last byte happens to be zero would have
// a second spelling without that byte.
func TestLineBreakIsNoSpelling(t *testing.T) {
	t.Parallel()
	r := ring(t, key(1))
	var n ticket.Nonce
	for tries := range 1 << 16 {
		binary.BigEndian.PutUint32(n[:], uint32(tries))
		text := r.Append(nil, room, admitted(), n)
		raw, err := base64.RawURLEncoding.DecodeString(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if raw[len(raw)-1] != 0 {
			continue
		}
		other := string(text[:len(text)-1]) + "\n"
		if _, err := r.Open(room, other, noon()); !errors.Is(err, ticket.ErrForeign) {
			t.Errorf("%q opens as well as %q", other, text)
		}
		return
	}
	t.Fatal("no text with a zero at its end")
}
