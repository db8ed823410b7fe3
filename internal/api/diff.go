package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anteroom/anteroom"
)

// Diff is what an apply changes, or has changed.
type Diff struct {
	Rooms []RoomDiff
	// Others are the names of the server's rooms that the file does not have. They stay.
	Others []string
}

// RoomDiff is the difference of one room.
type RoomDiff struct {
	Name    string
	Created bool
	// Fields are the changed fields; none of them and not created means unchanged.
	Fields []FieldDiff
	// Done tells that the server has it.
	Done bool
}

// Changed tells that there is something to do, or was.
func (d RoomDiff) Changed() bool { return d.Created || len(d.Fields) > 0 }

// FieldDiff is a changed field, values as JSON.
type FieldDiff struct {
	Field    string
	Old, New string
}

// Changed tells that at least one room differs.
func (d Diff) Changed() bool {
	for _, room := range d.Rooms {
		if room.Changed() {
			return true
		}
	}
	return false
}

// String shows the difference for people: a line for each room that is created (+), changed (~) or
// unchanged (=), a line for each changed field, and a sum.
func (d Diff) String() string {
	var b strings.Builder
	created, changed, unchanged := 0, 0, 0
	for _, room := range d.Rooms {
		switch {
		case room.Created:
			created++
			b.WriteString("+ " + room.Name + "\n")
		case room.Changed():
			changed++
			b.WriteString("~ " + room.Name + "\n")
		default:
			unchanged++
			b.WriteString("= " + room.Name + "\n")
		}
		for _, f := range room.Fields {
			fmt.Fprintf(&b, "    %s: %s -> %s\n", f.Field, brief(f.Old), brief(f.New))
		}
	}
	fmt.Fprintf(&b, "%d created, %d changed, %d unchanged", created, changed, unchanged)
	if len(d.Others) > 0 {
		fmt.Fprintf(&b, "; not in the file and left alone: %s", strings.Join(d.Others, ", "))
	}
	return b.String() + "\n"
}

// briefMax is the longest value that a difference shows in full.
const briefMax = 80

func brief(value string) string {
	if len(value) <= briefMax {
		return value
	}
	return fmt.Sprintf("(%d bytes)", len(value))
}

// fieldsOf compares two values field by field in the order of their JSON form, without the fields
// that the server sets.
func fieldsOf(prefix string, old, now any) ([]FieldDiff, error) {
	before, err := members(old)
	if err != nil {
		return nil, err
	}
	after, err := members(now)
	if err != nil {
		return nil, err
	}
	var fields []FieldDiff
	for i := range before {
		switch name := before[i].name; name {
		case "id", "created_on", "modified_on", "next_event_prequeue_start_time", "next_event_start_time":
		default:
			if !bytes.Equal(before[i].value, after[i].value) {
				fields = append(fields, FieldDiff{prefix + name, string(before[i].value), string(after[i].value)})
			}
		}
	}
	return fields, nil
}

type jsonMember struct {
	name  string
	value json.RawMessage
}

// members are the fields of the JSON form of a struct, in order.
func members(v any) ([]jsonMember, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, anteroom.Errorf(anteroom.CodeInternal, "cannot compare: %w", err)
	}
	d := json.NewDecoder(&b)
	_, err := d.Token() // the opening brace
	var list []jsonMember
	for err == nil && d.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		list = append(list, jsonMember{fmt.Sprint(name), value})
	}
	if err != nil {
		return nil, anteroom.Errorf(anteroom.CodeInternal, "cannot compare: %w", err)
	}
	return list, nil
}
