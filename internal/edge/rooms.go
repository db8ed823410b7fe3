package edge

import (
	"context"
	"fmt"
	"slices"

	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/coord"
	"github.com/anteroom/anteroom/internal/page"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// Checks are the rules of configuration that only the page package knows.
func Checks() config.Checks {
	return config.Checks{Template: func(source, language string) error {
		_, err := page.Compile(source, language)
		return err
	}}
}

// openGate puts the stored rooms in force and follows every change.
func (n *Node) openGate(context.Context) error {
	n.gate = waitingroom.NewGate(n.rooms)
	follow := func() {
		if err := n.enforce(); err != nil {
			n.log.Error("change of the rooms is not in force", "error", err)
		}
	}
	endRooms := n.store.OnChange(func(_, _ *config.Snapshot) { follow() })
	endKeys := n.store.OnKeys(func([]ticket.Key) { follow() })
	n.endWatch = func() { endRooms(); endKeys() }
	n.onStop("end the watch", func() error { n.endWatch(); return nil })
	if err := n.enforce(); err != nil {
		return fmt.Errorf("put the stored rooms in force: %w", err)
	}
	return nil
}

// enforce puts the newest configuration in force: everything new is built before the gate learns of it,
// and what is gone ends after the gate has forgotten it, so that no request falls in between. Rooms and
// keys change independently; whoever comes last reads both anew.
func (n *Node) enforce() error {
	n.enforcing.Lock()
	defer n.enforcing.Unlock()
	s := n.store.Snapshot()
	ring, err := ticket.NewRing(n.store.Keys()...)
	if err != nil {
		return fmt.Errorf("the stored keys of the cookies: %w", err)
	}
	configs := make([]waitingroom.Config, len(s.Rooms))
	rooms := make([]coord.Room, len(s.Rooms))
	for i := range s.Rooms {
		r := &s.Rooms[i]
		configs[i] = waitingroom.Config{Room: r.Room, Extras: r.Extras}
		rooms[i] = coord.Room{ID: r.Room.ID, Settings: settings(r)}
	}
	table, err := waitingroom.Compile(configs, ring)
	if err != nil {
		if table, err = n.salvage(configs, ring, err); err != nil {
			return err
		}
	}
	if err := n.rooms.Add(rooms); err != nil {
		return err
	}
	n.gate.Set(table)
	n.forgetRooms(s)
	return n.rooms.Keep(rooms)
}

// forgetRooms drops the metrics of names that are gone since the last time.
func (n *Node) forgetRooms(s *config.Snapshot) {
	names := make(map[string]bool, len(s.Rooms))
	for i := range s.Rooms {
		names[s.Rooms[i].Room.Name] = true
	}
	var gone []string
	for name := range n.names {
		if !names[name] {
			gone = append(gone, name)
		}
	}
	n.names = names
	n.meter.forget(gone)
}

// salvage compiles every room that can be: one that cannot must not take all others away. The API
// refuses such rooms, so only a store of another version has them.
func (n *Node) salvage(configs []waitingroom.Config, ring *ticket.Ring, why error) (*waitingroom.Table, error) {
	n.log.Error("not all rooms can be in force", "error", why)
	var sound []waitingroom.Config
	for _, c := range configs {
		if _, err := waitingroom.Compile(append(slices.Clip(sound), c), ring); err != nil {
			n.log.Error("room is not in force, its visitors go to the origin unchecked", "room", c.Room.Name, "error", err)
			continue
		}
		sound = append(sound, c)
	}
	return waitingroom.Compile(sound, ring)
}

// settings are a room's rules as the queue needs them.
func settings(r *config.RoomRecord) queue.Settings {
	return queue.Settings{
		Method:            r.Room.QueueingMethod,
		TotalActiveUsers:  r.Room.TotalActiveUsers,
		NewUsersPerMinute: r.Room.NewUsersPerMinute,
		Session:           r.Room.Session(r.Extras),
		FixedSessions:     r.Room.DisableSessionRenewal,
		QueueAll:          r.Room.QueueAll,
	}
}

// quickRoom makes the stored configuration have the room of the flags.
func (n *Node) quickRoom(ctx context.Context) error {
	quick := n.opts.Quick
	if quick == nil {
		return nil
	}
	s := n.store.Snapshot()
	zone := s.Zones[0].ID
	for _, r := range s.ZoneRooms(zone) {
		if r.Room.Name != quick.Room.Name {
			continue
		}
		_, err := n.store.EditRoom(ctx, zone, r.Room.ID, 0, func(old config.RoomRecord) (config.RoomRecord, error) {
			id, created, modified := old.Room.ID, old.Room.CreatedOn, old.Room.ModifiedOn
			old.Room, old.Extras = quick.Room, quick.Extras
			old.Room.ID, old.Room.CreatedOn, old.Room.ModifiedOn = id, created, modified
			return old, nil
		})
		return err
	}
	_, err := n.store.CreateRoom(ctx, zone, quick.Room, quick.Extras)
	return err
}
