package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom"
)

// Site is the content of a site file: the rooms that an operator wants.
type Site struct {
	Rooms []SiteRoom
}

// SiteRoom is a room of a site file.
type SiteRoom struct {
	Room anteroom.Room
	// Extras is nil when the file does not speak of them: then they stay as they are.
	Extras *anteroom.Extras
}

// Fault is a fault with its place in a file.
type Fault struct {
	Err  *anteroom.Error
	File string
	// Line and Column begin at 1; 0 is unknown.
	Line, Column int
}

// Error puts file, line and column before the text.
func (f Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Err.Error()
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Err.Error())
}

// Unwrap gives the fault without its place.
func (f Fault) Unwrap() error { return f.Err }

// Faults are all faults of one file.
type Faults []Fault

// Error has one fault a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// SiteBytesMax is the largest site file.
const SiteBytesMax = 64 << 20

// DecodeSite reads a site file: YAML with waiting_rooms, a list of rooms with the field names of the
// API, each with optional extras. The name stands in the errors. The error is a Faults with every
// fault of the file.
func DecodeSite(name string, data []byte, checks Checks) (Site, error) {
	if len(data) > SiteBytesMax {
		fault := anteroom.Errorf(anteroom.CodeTooLarge, "the file has %d bytes, more than %d", len(data), SiteBytesMax)
		return Site{}, Faults{{Err: fault, File: name}}
	}
	n, fault, at := parseYAML(data)
	if fault != nil {
		return Site{}, Faults{{fault, name, at.line, at.column}}
	}
	if n == nil {
		n = &node{place: place{1, 1}}
	}
	f := newFaults()
	site := readSite(reader{f}, n, checks)
	if len(f.list) == 0 {
		return site, nil
	}
	return Site{}, placed(name, n, f)
}

func readSite(r reader, n *node, checks Checks) Site {
	site := Site{}
	if n.kind != objectKind {
		r.wrongType(n, "", "an object with waiting_rooms")
		return site
	}
	if n.get("waiting_rooms") == nil {
		r.add("waiting_rooms", "waiting_rooms is required").WithHint("write \"waiting_rooms: []\" for no room")
	}
	read := func(room *SiteRoom) func(*node, string) {
		return func(n *node, path string) { readSiteRoom(r, n, path, room) }
	}
	r.object(n, "", []field{{"waiting_rooms", list(r, &site.Rooms, read)}})
	for i := range site.Rooms {
		path := "waiting_rooms[" + strconv.Itoa(i) + "]"
		checkRoom(r.faults, path, &site.Rooms[i].Room, checks)
		if x := site.Rooms[i].Extras; x != nil {
			checkExtras(r.faults, path+".extras", x)
		}
	}
	checkBeside(r.faults, site)
	return site
}

// readSiteRoom splits the object: the extras are ours, the rest is a room as the API has it.
func readSiteRoom(r reader, n *node, path string, to *SiteRoom) {
	to.Room = Defaults()
	room := *n
	room.members = nil
	for _, m := range n.members {
		if m.name != "extras" {
			room.members = append(room.members, m)
			continue
		}
		if to.Extras != nil {
			r.add(path+".extras", "extras stands twice").WithHint("leave one of them")
		}
		to.Extras = &anteroom.Extras{}
		if m.value.kind != nullKind {
			readExtras(r, m.value, path+".extras", to.Extras)
		}
	}
	readWholeRoom(r, &room, path, &to.Room)
}

// checkBeside notes rooms that cannot be together.
func checkBeside(f *faults, site Site) {
	taken := map[string]int{} // by name and by route, so that thousands of rooms are no matter
	for i := range site.Rooms {
		keys := Claims(&RoomRecord{Room: site.Rooms[i].Room})
		for _, key := range keys {
			if j, ok := taken[key]; ok && j != i {
				noteClash(f, site, i, j)
			}
		}
		for _, key := range keys {
			taken[key] = i
		}
	}
}

func noteClash(f *faults, site Site, i, j int) {
	room, other := RoomRecord{Room: site.Rooms[i].Room}, RoomRecord{Room: site.Rooms[j].Room}
	other.Room.ID = fmt.Sprintf("waiting_rooms[%d]", j)
	for _, clash := range Clashes(&room, &other) {
		if at := fmt.Sprintf("waiting_rooms[%d].%s", i, clash.Field); !f.has(at) {
			f.add(at, "%s", clash.Text).Hint = clash.Hint
		}
	}
}

// placed gives each fault the place of its field, or of the nearest thing around it.
func placed(name string, root *node, f *faults) Faults {
	places := map[string]place{}
	note(places, root, "", root.place)
	maps.Copy(places, f.names)
	faults := make(Faults, 0, len(f.list))
	for _, e := range f.list {
		path := e.Field
		for path != "" && places[path].line == 0 {
			path = parent(path)
		}
		faults = append(faults, Fault{e, name, places[path].line, places[path].column})
	}
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return faults
}

// note fills in the place of every path of a tree.
func note(places map[string]place, n *node, path string, at place) {
	places[path] = at
	for i, item := range n.items {
		note(places, item, path+"["+strconv.Itoa(i)+"]", item.place)
	}
	for _, m := range n.members {
		note(places, m.value, child(path, m.name), m.value.place)
	}
}

// EncodeSite writes a site file that DecodeSite reads.
func EncodeSite(site Site) ([]byte, error) {
	rooms := &node{kind: listKind}
	for _, room := range site.Rooms {
		n, err := tree(room.Room)
		if err != nil {
			return nil, err
		}
		n.members = slices.DeleteFunc(n.members, func(m member) bool {
			return strings.HasPrefix(m.name, "next_event_") || m.name == "modified_on"
		})
		if room.Extras != nil {
			x, err := tree(room.Extras)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, member{name: "extras", value: x})
		}
		rooms.items = append(rooms.items, n)
	}
	root := &node{kind: objectKind, members: []member{{name: "waiting_rooms", value: rooms}}}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(toYAML(root)); err != nil {
		return nil, fmt.Errorf("cannot write the site as YAML: %w", err)
	}
	return out.Bytes(), errors.Join(encoder.Close())
}

// tree turns a value into nodes by way of its JSON form, which has the names and the order.
func tree(v any) (*node, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("cannot write as JSON: %w", err)
	}
	n, fault := parseJSON(body)
	if fault != nil {
		return nil, fault
	}
	return n, nil
}
