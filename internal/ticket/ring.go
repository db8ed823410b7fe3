package ticket

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Secret is the secret part of a key. It prints as ****.
type Secret [32]byte

// Format writes **** for every verb, so that no log or error shows a secret.
func (Secret) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("****")) }

// Key is one AES-256 key of a ring.
type Key struct {
	// ID is random and names the key in sealed texts. It is not secret.
	ID uint32
	// Secret is 32 bytes from a secure source, never all zero.
	Secret Secret
}

// Nonce makes one sealing different from all others. It must be unique under a key, among all processes that
// seal with it and for as long as the key is used: two texts with one nonce give their contents away and let
// others be forged. Make it of a random prefix of 6 bytes drawn when the process starts and of a counter of
// 6 bytes. Do not draw all 12 at random: collisions then bound a key to 2^32 sealings, which a million
// visitors with a request every 20 seconds use up in a day.
type Nonce [12]byte

// SealedMax is the most characters of a sealed text, now and in later versions.
const SealedMax = 200

// The form of version 1; see the package documentation.
const (
	version   = 1
	keyAt     = 1
	nonceAt   = keyAt + 4
	plainAt   = nonceAt + len(Nonce{})
	tagSize   = 16
	sealedLen = plainAt + plainSize + tagSize
	textLen   = (sealedLen*8 + 5) / 6
)

// Ring seals and opens tickets. It never changes and may be used by many goroutines at once.
type Ring struct {
	keys []sealer // the first one seals
	// text is strict: spare bits of the last character must be zero, so that a text has one spelling.
	text *base64.Encoding
}

type sealer struct {
	id   uint32
	aead cipher.AEAD
}

// NewRing makes a ring of the keys: the first one seals, all open. Ids must differ and secrets must not be zero.
func NewRing(keys ...Key) (*Ring, error) {
	if len(keys) == 0 {
		return nil, errors.New("a key ring needs at least one key")
	}
	r := &Ring{keys: make([]sealer, 0, len(keys)), text: base64.RawURLEncoding.Strict()}
	for _, k := range keys {
		if k.Secret == (Secret{}) {
			return nil, fmt.Errorf("the secret of key %08x is all zero; it must be 32 random bytes", k.ID)
		}
		if r.find(k.ID) != nil {
			return nil, fmt.Errorf("two keys have the id %08x; ids must differ", k.ID)
		}
		aead, err := newAEAD(k.Secret)
		if err != nil {
			return nil, fmt.Errorf("key %08x: %w", k.ID, err)
		}
		r.keys = append(r.keys, sealer{id: k.ID, aead: aead})
	}
	return r, nil
}

func newAEAD(secret Secret) (cipher.AEAD, error) {
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// find gives the cipher of a key, or nil. Rings have two or three keys, so a scan beats a map.
func (r *Ring) find(id uint32) cipher.AEAD {
	for i := range r.keys {
		if r.keys[i].id == id {
			return r.keys[i].aead
		}
	}
	return nil
}

// Append seals the ticket for the room and appends the text to dst. Whatever the ticket holds, its text opens
// again at the time of LastSeen as long as its ID is not zero: times that stand in the wrong order are raised,
// Refresh is cut to its bounds. With [SealedMax] bytes to spare in dst and a room id of ordinary length nothing
// is allocated; the spare bytes behind the text are overwritten.
func (r *Ring) Append(dst []byte, room string, t Ticket, n Nonce) []byte {
	// The room's id stands before the raw bytes, so that id, version and key id are one piece: the associated
	// data. The text is encoded over it afterwards.
	front := max(textLen, len(room))
	dst = slices.Grow(dst, front+sealedLen)
	buf := dst[len(dst) : len(dst)+front+sealedLen]
	raw := buf[front:]
	bound := buf[front-len(room) : front+nonceAt]
	copy(bound, room)
	raw[0] = version
	binary.BigEndian.PutUint32(raw[keyAt:], r.keys[0].id)
	copy(raw[nonceAt:], n[:])
	t.put(raw[plainAt:])
	r.keys[0].aead.Seal(raw[plainAt:plainAt], raw[nonceAt:plainAt], raw[plainAt:plainAt+plainSize], bound)
	r.text.Encode(buf, raw)
	return dst[:len(dst)+textLen]
}

// Open reads a text that was sealed for the room. The error is [ErrForeign], [ErrFuture] or [ErrOld]; any text
// is safe to try, and one of a wrong length costs nothing.
func (r *Ring) Open(room, sealed string, now time.Time) (Ticket, error) {
	if len(sealed) != textLen {
		return Ticket{}, ErrForeign
	}
	var text [textLen]byte
	copy(text[:], sealed)
	buf := make([]byte, len(room)+sealedLen)
	raw := buf[copy(buf, room):]
	// The decoder skips line breaks; a text with any comes out too short.
	n, err := r.text.Decode(raw, text[:])
	if err != nil || n != sealedLen || raw[0] != version {
		return Ticket{}, ErrForeign
	}
	aead := r.find(binary.BigEndian.Uint32(raw[keyAt:]))
	if aead == nil {
		return Ticket{}, ErrForeign
	}
	plain, err := aead.Open(raw[plainAt:plainAt], raw[nonceAt:plainAt], raw[plainAt:], buf[:len(room)+nonceAt])
	if err != nil {
		return Ticket{}, ErrForeign
	}
	t := parse(plain)
	if err := t.check(now); err != nil {
		return Ticket{}, err
	}
	return t, nil
}
