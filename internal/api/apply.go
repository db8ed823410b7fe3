package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

// job is one room of a site on its way to the server.
type job struct {
	want config.SiteRoom
	// index is the place in the site, for errors and for the diff.
	index int
	// old is the server's room, nil when it has none of this name.
	old *anteroom.Room
	// room and extras tell what differs.
	room, extras bool
}

// path is the job's place in the site.
func (j *job) path() string { return fmt.Sprintf("waiting_rooms[%d]", j.index) }

// differs tells that there is something to write.
func (j *job) differs() bool { return j.room || j.extras }

// applier holds what one apply knows.
type applier struct {
	*Client
	path string // of the zone's rooms
	site config.Site
	jobs []*job
	stay []anteroom.Room // the server's rooms that the site does not have
	diff Diff
}

// Apply makes the server's rooms equal to the site's: missing ones are created, differing ones
// changed, others stay. Everything is checked first, and nothing is applied when a room is invalid.
// With dryRun nothing is applied at all. On a failure midway the Diff and the error say what was
// done; applying again goes on from there.
func Apply(ctx context.Context, c *Client, site config.Site, dryRun bool) (Diff, error) {
	a := &applier{Client: c, site: site}
	if err := a.compare(ctx); err != nil {
		return a.diff, err
	}
	if err := a.check(ctx); err != nil {
		return a.diff, err
	}
	order, err := a.order()
	if err != nil || dryRun {
		return a.diff, err
	}
	for i, j := range order {
		if err := a.send(ctx, j, false); err != nil {
			return a.diff, a.midway(order, i, err)
		}
		a.diff.Rooms[j.index].Done = true
	}
	return a.diff, nil
}

// compare reads the server's rooms and finds what differs.
func (a *applier) compare(ctx context.Context) error {
	zone, err := a.zone(ctx)
	if err != nil {
		return err
	}
	a.path = "/zones/" + zone + "/waiting_rooms"
	have, err := a.rooms(ctx, a.path)
	if err != nil {
		return err
	}
	byName := map[string]*anteroom.Room{}
	for i := range have {
		byName[have[i].Name] = &have[i]
	}
	for i, want := range a.site.Rooms {
		j := &job{want: want, index: i, old: byName[want.Room.Name]}
		delete(byName, want.Room.Name)
		a.jobs = append(a.jobs, j)
		if err := a.compareRoom(ctx, j); err != nil {
			return err
		}
	}
	for _, room := range have {
		if byName[room.Name] != nil {
			a.stay = append(a.stay, room)
			a.diff.Others = append(a.diff.Others, room.Name)
		}
	}
	return nil
}

func (a *applier) compareRoom(ctx context.Context, j *job) error {
	d := RoomDiff{Name: j.want.Room.Name, Created: j.old == nil}
	j.room, j.extras = d.Created, d.Created && j.want.Extras != nil
	if !d.Created {
		fields, err := fieldsOf("", j.old, j.want.Room)
		if err != nil {
			return err
		}
		j.room, d.Fields = len(fields) > 0, fields
	}
	if !d.Created && j.want.Extras != nil {
		var old anteroom.Extras
		if err := a.call(ctx, http.MethodGet, a.path+"/"+j.old.ID+"/extras", nil, &old); err != nil {
			return err
		}
		fields, err := fieldsOf("extras.", old, j.want.Extras)
		if err != nil {
			return err
		}
		j.extras = len(fields) > 0
		d.Fields = append(d.Fields, fields...)
	}
	d.Done = !d.Changed()
	a.diff.Rooms = append(a.diff.Rooms, d)
	return nil
}

// check lets the server check every room that would be written, and compares the site with the
// rooms that stay. It collects all faults.
func (a *applier) check(ctx context.Context) error {
	faults := a.clashes()
	for _, j := range a.jobs {
		err := a.send(ctx, j, true)
		if err == nil {
			continue
		}
		list := listOf(err)
		if list[0].Code != anteroom.CodeInvalid {
			return err // not the site's fault
		}
		for _, e := range list {
			faults = append(faults, e.At(j.path()))
		}
	}
	return faults.OrNil()
}

// clashes are the faults of the site beside the rooms that stay.
func (a *applier) clashes() anteroom.Errors {
	claimed := map[string]int{}
	for i := range a.stay {
		for _, claim := range claims(&a.stay[i]) {
			claimed[claim] = i
		}
	}
	var faults anteroom.Errors
	for _, j := range a.jobs {
		seen := map[int]bool{}
		for _, claim := range claims(&j.want.Room) {
			i, ok := claimed[claim]
			if !ok || seen[i] {
				continue
			}
			seen[i] = true
			for _, e := range config.Clashes(&config.RoomRecord{Room: j.want.Room}, &config.RoomRecord{Room: a.stay[i]}) {
				faults = append(faults, e.At(j.path()+"."+e.Field))
			}
		}
	}
	return faults
}

func claims(room *anteroom.Room) []string { return config.Claims(&config.RoomRecord{Room: *room}) }

// order sorts the rooms to write so that each finds its name and routes free: a room that gives up a
// route comes before the room that takes it.
func (a *applier) order() ([]*job, error) {
	owner := map[string]*job{}
	var order, waiting []*job
	for _, j := range a.jobs {
		if j.old != nil {
			own(owner, j, j.old)
		}
		if j.differs() {
			waiting = append(waiting, j)
		}
	}
	for len(waiting) > 0 {
		var blocked []*job
		for _, j := range waiting {
			if !free(owner, j) {
				blocked = append(blocked, j)
				continue
			}
			order = append(order, j)
			if j.old != nil {
				own(owner, nil, j.old)
			}
			own(owner, j, &j.want.Room)
		}
		if len(blocked) == len(waiting) {
			return nil, anteroom.Errorf(anteroom.CodeInvalid, "the waiting rooms %s exchange their routes", names(blocked)).
				WithHint("give one of them another path first, apply, and then the wanted one")
		}
		waiting = blocked
	}
	return order, nil
}

// own notes whose the claims of a room are; nil sets them free.
func own(owner map[string]*job, j *job, room *anteroom.Room) {
	for _, claim := range claims(room) {
		owner[claim] = j
	}
}

// free tells that no other room has what this one wants.
func free(owner map[string]*job, j *job) bool {
	for _, claim := range claims(&j.want.Room) {
		if other := owner[claim]; other != nil && other != j {
			return false
		}
	}
	return true
}

func names(jobs []*job) string {
	var list []string
	for _, j := range jobs {
		list = append(list, j.want.Room.Name)
	}
	return strings.Join(list, ", ")
}

// send writes what differs of a room, or lets the server only check it.
func (a *applier) send(ctx context.Context, j *job, dry bool) error {
	query := ""
	if dry {
		query = "?dry_run=true"
	}
	var id string
	if j.old != nil {
		id = j.old.ID
	}
	switch {
	case j.old == nil:
		var created anteroom.Room
		if err := a.call(ctx, http.MethodPost, a.path+query, j.want.Room, &created); err != nil {
			return err
		}
		id = created.ID
	case j.room:
		if err := a.call(ctx, http.MethodPut, a.path+"/"+id+query, j.want.Room, nil); err != nil {
			return err
		}
	}
	if !j.extras || dry && j.old == nil { // a room that does not exist yet has no extras to check
		return nil
	}
	if err := a.call(ctx, http.MethodPut, a.path+"/"+id+"/extras"+query, j.want.Extras, nil); err != nil {
		if j.room && !dry {
			return fmt.Errorf("the room is written, its extras are not: %w", err)
		}
		return err
	}
	return nil
}

// midway is the error of an apply that failed after it began.
func (a *applier) midway(order []*job, failed int, err error) error {
	done, left := names(order[:failed]), names(order[failed+1:])
	if done == "" {
		done = "nothing"
	}
	if left == "" {
		left = "nothing"
	}
	return fmt.Errorf("waiting room %s: %w\napplied before: %s\nnot tried: %s",
		order[failed].want.Room.Name, err, done, left)
}
