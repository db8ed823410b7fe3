package store

import (
	"context"
	"slices"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/sys"
	"github.com/anteroom/anteroom/internal/ticket"
)

// Bounds of the key ring.
const (
	ringKey = "ticket_keys"
	// A new key is made when the newest is this old. It is kept for as long again after the next one
	// has come, because cookies that it sealed can be that old.
	keyLife     = 24 * time.Hour
	keysMax     = 64
	rotateEvery = 10 * time.Minute // how often the age is looked at
)

// storedKey is a key as the bucket has it.
type storedKey struct {
	ID     uint32    `json:"id"`
	Secret []byte    `json:"secret"`
	Made   time.Time `json:"made"`
}

// keyRing is all keys, the newest first.
type keyRing struct{ keys []storedKey }

func ringContent() content[keyRing] {
	return content[keyRing]{
		decode: func(_ string, value []byte, _ uint64) (any, error) { return decode[[]storedKey](value) },
		build: func(decoded map[string]any, _ uint64) *keyRing {
			keys, _ := decoded[ringKey].([]storedKey) // none at the first start
			return &keyRing{keys}
		},
	}
}

// tickets are the keys in the form that seals and opens.
func (r *keyRing) tickets() []ticket.Key {
	keys := make([]ticket.Key, len(r.keys))
	for i, k := range r.keys {
		keys[i].ID = k.ID
		copy(keys[i].Secret[:], k.Secret)
	}
	return keys
}

// Keys are the keys of cookies: the first one seals, all of them open. There is always one.
func (s *Store) Keys() []ticket.Key { return s.keys.value().tickets() }

// OnKeys calls f after every change of the keys, as OnChange does.
func (s *Store) OnKeys(f func(keys []ticket.Key)) (cancel func()) {
	return s.keys.subscribe(func(_, now *keyRing) { f(now.tickets()) })
}

// Rotate puts a new key first. The others stay for as long as cookies that they sealed can be valid.
func (s *Store) Rotate(ctx context.Context) error {
	_, err := s.rotate(ctx, func(*keyRing) bool { return true })
	return err
}

// RotateIfDue rotates when there is no key or the newest is older than a day, and tells whether it
// did. The store calls it by itself.
func (s *Store) RotateIfDue(ctx context.Context) (bool, error) {
	return s.rotate(ctx, func(now *keyRing) bool {
		return len(now.keys) == 0 || s.o.Now().Sub(now.keys[0].Made) >= keyLife
	})
}

func (s *Store) rotate(ctx context.Context, due func(*keyRing) bool) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	rotated := false
	err := s.keys.write(ctx, func(now *keyRing) (change, error) {
		if rotated = due(now); !rotated {
			return change{}, nil
		}
		keys := append([]storedKey{s.newKey(now.keys)}, s.living(now.keys)...)
		if len(keys) > keysMax {
			return change{}, anteroom.Errorf(anteroom.CodeConflict, "the keys were rotated %d times in a day", keysMax).
				WithHint("wait until the oldest may go")
		}
		return put(ringKey, keys)
	})
	return rotated && err == nil, err
}

// living are the keys with which valid cookies may still be sealed.
func (s *Store) living(keys []storedKey) []storedKey {
	var living []storedKey
	for i, k := range keys {
		if i == 0 || s.o.Now().Sub(keys[i-1].Made) < keyLife {
			living = append(living, k)
		}
	}
	return living
}

// newKey makes a key whose ID no other one has.
func (s *Store) newKey(keys []storedKey) storedKey {
	k := storedKey{Secret: make([]byte, len(ticket.Secret{})), Made: s.now()}
	sys.RandomBytes(k.Secret)
	for k.ID == 0 || slices.ContainsFunc(keys, func(other storedKey) bool { return other.ID == k.ID }) {
		k.ID = uint32(sys.RandomUint64())
	}
	return k
}

func (s *Store) runRotation(ctx context.Context) {
	ticker := sys.NewTicker(rotateEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if _, err := s.RotateIfDue(ctx); err != nil && ctx.Err() == nil {
				s.o.Logger.WarnContext(ctx, "the cookie keys could not be rotated", "error", err)
			}
		}
	}
}
