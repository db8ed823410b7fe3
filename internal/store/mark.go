package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

// mark says what the buckets had at least. JetStream cuts off what it cannot read and goes on; only
// a second record can tell that saved configuration is missing.
type mark struct {
	Revision uint64 `json:"revision"`
	// Keys are the keys of the configuration with the revisions of their values.
	Keys map[string]uint64 `json:"keys"`
	// CookieKey is the ID of the newest key of cookies.
	CookieKey uint32 `json:"cookie_key"`
}

func (s *Store) markFile() string { return filepath.Join(s.o.Dir, "configuration.mark") }

func markOf(now *config.Snapshot, ring *keyRing) mark {
	m := mark{Revision: now.Revision, Keys: map[string]uint64{}}
	for _, a := range now.Accounts {
		m.Keys[accountKey(a.ID)] = 0
	}
	for _, z := range now.Zones {
		m.Keys[zoneKey(z.ID)] = 0
	}
	for i := range now.Rooms {
		m.Keys[roomKey(now.Rooms[i].Zone, now.Rooms[i].Room.ID)] = now.Rooms[i].Revision
	}
	if len(ring.keys) > 0 {
		m.CookieKey = ring.keys[0].ID
	}
	return m
}

func (s *Store) writeMark(now *config.Snapshot) error {
	if s.o.Dir == "" {
		return nil
	}
	data, err := json.Marshal(markOf(now, s.keys.value()))
	if err != nil {
		return fmt.Errorf("cannot encode the mark: %w", err)
	}
	return replaceFile(s.markFile(), data)
}

// checkMark compares what the buckets have with what they had.
func (s *Store) checkMark(ctx context.Context) error {
	if s.o.Dir == "" {
		return nil
	}
	data, err := os.ReadFile(s.markFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var saved mark
	if err == nil {
		err = json.Unmarshal(data, &saved)
	}
	if err != nil {
		return anteroom.Errorf(anteroom.CodeUnavailable, "cannot read %s: %w", s.markFile(), err).
			WithHint("remove it to start without the check that nothing is missing")
	}
	missing, err := s.missing(ctx, saved)
	if err != nil || len(missing) == 0 {
		return err
	}
	return anteroom.Errorf(anteroom.CodeUnavailable, "the configuration in %s is damaged: %d saved entries are missing, such as %s",
		s.o.Dir, len(missing), missing[0]).WithHint("restore %s from a copy; or remove %s to go on with what is left%s",
		s.o.Dir, s.markFile(), s.applyHint())
}

// explain gives the error of a bucket that cannot be read its remedy.
func (s *Store) explain(err error) error {
	if !errors.Is(err, errIncomplete) || s.o.Dir == "" {
		return err
	}
	return anteroom.Errorf(anteroom.CodeUnavailable, "the configuration in %s is damaged: %w", s.o.Dir, err).
		WithHint("restore %s from a copy; or move %s and %s away to begin anew%s",
			s.o.Dir, filepath.Join(s.o.Dir, "jetstream"), s.markFile(), s.applyHint())
}

func (s *Store) applyHint() string {
	if s.o.Export == "" {
		return ""
	}
	return ", and bring the rooms back with anteroom apply -f " + s.o.Export + " (copy that file first)"
}

// missing lists what the mark knows and the buckets have lost.
func (s *Store) missing(ctx context.Context, saved mark) ([]string, error) {
	now := markOf(s.Snapshot(), s.keys.value())
	var missing []string
	for key, revision := range saved.Keys {
		if have, ok := now.Keys[key]; ok && have >= revision {
			continue
		}
		deleted, err := s.isDeleted(ctx, key)
		if err != nil {
			return nil, err
		}
		if !deleted {
			missing = append(missing, key)
		}
	}
	slices.Sort(missing)
	known := func(k storedKey) bool { return k.ID == saved.CookieKey }
	if saved.CookieKey != 0 && !slices.ContainsFunc(s.keys.value().keys, known) {
		missing = append(missing, "the key of the cookies")
	}
	if len(missing) == 0 && now.Revision < saved.Revision {
		missing = append(missing, fmt.Sprintf("the changes after revision %d", now.Revision))
	}
	return missing, nil
}

// isDeleted tells whether the last thing known of a key is that somebody deleted it.
func (s *Store) isDeleted(ctx context.Context, key string) (bool, error) {
	stream, err := s.o.JetStream.Stream(ctx, "KV_"+configBucket)
	if err != nil {
		return false, unavailable(err)
	}
	m, err := stream.GetLastMsgForSubject(ctx, "$KV."+configBucket+"."+key)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	if err != nil {
		return false, unavailable(err)
	}
	return m.Header.Get("KV-Operation") != "", nil
}
