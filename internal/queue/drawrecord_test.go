package queue_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// drawRecord makes a record with so many sealed and late tickets.
func drawRecord(method queue.DrawMethod, sealed, late int) *queue.DrawRecord {
	r := &queue.DrawRecord{
		Room: "tickets é", Number: 258, Method: method, Seed: queue.Hash(drawSeed()),
		External: queue.DrawExternal{Value: queue.HexBytes{0, 255, 16}, Note: "round 4711 of a <beacon>"},
	}
	for i, id := range publicIDs(sealed + late) {
		ticket := queue.DrawTicket{ID: id}
		if i >= sealed {
			ticket.Late, ticket.Base = true, int64(i)*1_000_000
		}
		r.Tickets = append(r.Tickets, ticket)
	}
	r.Complete()
	return r
}

func text(r *queue.DrawRecord) []byte {
	var b []byte
	for piece := range r.JSON() {
		b = append(b, piece...)
	}
	return b
}

func decode(text []byte) (*queue.DrawRecord, error) {
	return queue.DecodeDrawRecord(json.NewDecoder(bytes.NewReader(text)))
}

// TestDrawRecordHolds: what Complete makes is true, in memory and after a way through text.
func TestDrawRecordHolds(t *testing.T) {
	t.Parallel()
	for _, r := range []*queue.DrawRecord{
		drawRecord(queue.DrawShuffle, 0, 0), drawRecord(queue.DrawShuffle, 1, 0), drawRecord(queue.DrawShuffle, 700, 0),
		drawRecord(queue.DrawRandom, 0, 3), drawRecord(queue.DrawRandom, 5, 0), drawRecord(queue.DrawRandom, 400, 300),
	} {
		if faults := r.Verify(); faults != nil {
			t.Errorf("%s of %d: %v", r.Method, len(r.Tickets), faults)
		}
		got, err := decode(text(r))
		if err != nil {
			t.Errorf("%s of %d: %v", r.Method, len(r.Tickets), err)
			continue
		}
		if faults := got.Verify(); faults != nil || !bytes.Equal(text(got), text(r)) {
			t.Errorf("%s of %d changed on its way: %v", r.Method, len(r.Tickets), faults)
		}
		whole, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decode(whole); err != nil || !bytes.Equal(text(got), text(r)) {
			t.Errorf("%s of %d: json.Marshal gives another record: %v", r.Method, len(r.Tickets), err)
		}
	}
}

// TestDrawRecordFaults: each fault names its place and a remedy.
func TestDrawRecordFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		tamper func(r *queue.DrawRecord)
		fields []string
		text   string
	}{
		{"Version", func(r *queue.DrawRecord) { r.Version = 2 }, []string{"version"}, "release"},
		{"RoomEmpty", func(r *queue.DrawRecord) { r.Room = "" }, []string{"room", "commitment"}, "announcement"},
		{"RoomLong", func(r *queue.DrawRecord) { r.Room = strings.Repeat("x", 257); r.Complete() }, []string{"room"}, "257"},
		{"RoomNoText", func(r *queue.DrawRecord) { r.Room = "\xff"; r.Complete() }, []string{"room"}, "UTF-8"},
		{"NumberLarge", func(r *queue.DrawRecord) { r.Number = 1 << 53; r.Complete() }, []string{"number"}, "at most"},
		{"Number", func(r *queue.DrawRecord) { r.Number++ }, []string{"commitment"}, "void"},
		{"Method", func(r *queue.DrawRecord) { r.Method = "fifo" }, []string{"method"}, "shuffle"},
		{"Commitment", func(r *queue.DrawRecord) { r.Commitment[0]++ }, []string{"commitment"}, "compare"},
		{"Count", func(r *queue.DrawRecord) { r.Seal.Count++ }, []string{"seal.count"}, "6"},
		{"LateCount", func(r *queue.DrawRecord) { r.LateCount++ }, []string{"late_count"}, "original"},
		{"Root", func(r *queue.DrawRecord) { r.Seal.Root[31]++ }, []string{"seal.root"}, "exchanged"},
		{"ExternalLong", func(r *queue.DrawRecord) { r.External.Value = make([]byte, 1025); r.Complete() }, []string{"external.value"}, "1025"},
		{"NoteLong", func(r *queue.DrawRecord) { r.External.Note = strings.Repeat("x", 1025) }, []string{"external.note"}, "1024"},
		{"NoteAlone", func(r *queue.DrawRecord) { r.External.Value = nil; r.Complete() }, []string{"external.value"}, "leave external out"},
		{"Final", func(r *queue.DrawRecord) { r.Final[5]++ }, []string{"final_seed"}, "source"},
		{"TooMany", func(r *queue.DrawRecord) { r.Method = ""; r.Tickets = make([]queue.DrawTicket, queue.DrawTicketsMax+1) }, []string{"method", "tickets"}, "5000001"},
		{"Key", func(r *queue.DrawRecord) { r.Tickets[2].Key++ }, []string{"tickets[2].key"}, "final seed gives"},
		{"Place", func(r *queue.DrawRecord) { r.Tickets[2].Place++ }, []string{"tickets[2].place"}, "listed as number 3"},
		{"Base", func(r *queue.DrawRecord) { r.Tickets[0].Base = 1 }, []string{"tickets[0].base"}, "sealed ticket has 0"},
		{"BaseNegative", func(r *queue.DrawRecord) { r.Tickets[0].Base = -1 }, []string{"tickets[0].base"}, "want 0 to"},
		{"LateShuffle", func(r *queue.DrawRecord) { r.Tickets[4].Late = true; r.Complete() }, []string{"tickets[4].late"}, "lottery"},
		{"Swapped", func(r *queue.DrawRecord) {
			a, b := &r.Tickets[1], &r.Tickets[2]
			a.ID, a.Key, b.ID, b.Key = b.ID, b.Key, a.ID, a.Key
		}, []string{"tickets[2]"}, "whose key is greater"},
		{"Twice", func(r *queue.DrawRecord) { r.Tickets = append(r.Tickets, r.Tickets[0]); r.Complete() }, []string{"tickets"}, "more than once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := drawRecord(queue.DrawShuffle, 6, 0)
			c.tamper(r)
			faults := r.Verify()
			for _, field := range c.fields {
				if !slices.ContainsFunc(faults, func(f *anteroom.Error) bool { return f.Field == field && f.Hint != "" }) {
					t.Errorf("no fault with a remedy at %s: %v", field, faults)
				}
			}
			if !strings.Contains(faults.Error(), c.text) {
				t.Errorf("the faults lack %q: %v", c.text, faults)
			}
		})
	}
}

// TestDrawRecordTwiceLate: an id must not be sealed and late, nor late twice.
func TestDrawRecordTwiceLate(t *testing.T) {
	t.Parallel()
	for _, of := range []bool{false, true} {
		r := drawRecord(queue.DrawRandom, 3, 3)
		i := slices.IndexFunc(r.Tickets, func(t queue.DrawTicket) bool { return t.Late == of })
		r.Tickets = append(r.Tickets, queue.DrawTicket{ID: r.Tickets[i].ID, Late: true, Base: 1})
		r.Complete()
		if faults := r.Verify(); len(faults) != 1 || !strings.Contains(faults.Error(), "more than once") {
			t.Errorf("late %v: %v", of, faults)
		}
	}
}

// TestDrawRecordFaultsAreBounded: a wrong seed makes every key wrong, and the list stays readable.
func TestDrawRecordFaultsAreBounded(t *testing.T) {
	t.Parallel()
	r := drawRecord(queue.DrawShuffle, 1000, 0)
	r.External.Value = queue.HexBytes("other")
	faults := r.Verify()
	if len(faults) != 12 || !strings.Contains(faults.Error(), "and 990 more") {
		t.Errorf("%d faults: %v", len(faults), faults)
	}
}

// TestDrawRecordTampered changes one value of any record, and it must be found. The note alone is not
// bound to anything.
func TestDrawRecordTampered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		method := rapid.SampledFrom(queue.DrawMethods()).Draw(t, "method")
		late := 0
		if method == queue.DrawRandom {
			late = rapid.IntRange(0, 9).Draw(t, "late")
		}
		original := text(drawRecord(method, rapid.IntRange(1, 9).Draw(t, "sealed"), late))
		edits, tree := tamperedTree(t, original)
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(edits))).Draw(t, "edit")
		edits[name]()
		mustBeFound(t, name, tree)
	})
}

// TestDrawRecordTamperedAnywhere makes every single change there is to two small records.
func TestDrawRecordTamperedAnywhere(t *testing.T) {
	t.Parallel()
	for _, r := range []*queue.DrawRecord{drawRecord(queue.DrawShuffle, 2, 0), drawRecord(queue.DrawRandom, 1, 2)} {
		edits, tree := tamperedTree(t, text(r))
		for name, edit := range edits {
			undo := edit()
			mustBeFound(t, name, tree)
			undo()
		}
	}
}

// tamperedTree is a record as a tree, and the changes that can be made to it.
func tamperedTree(t rapid.TB, original []byte) (edits map[string]func() (undo func()), tree map[string]any) {
	t.Helper()
	reader := json.NewDecoder(bytes.NewReader(original))
	reader.UseNumber()
	if err := reader.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	return tamperings("", tree, func(any) {}), tree
}

// mustBeFound wants the tampered record refused, be it in reading or in checking.
func mustBeFound(t rapid.TB, edit string, tree map[string]any) {
	t.Helper()
	changed, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode(changed); err == nil && len(got.Verify()) == 0 {
		t.Fatalf("%s: not found in %s", edit, changed)
	}
}

// tamperings lists single changes of a JSON value and of all that is in it, by what they do.
func tamperings(path string, value any, set func(any)) map[string]func() (undo func()) {
	edits := map[string]func() (undo func()){}
	put := func(what string, other any) {
		edits[path+" "+what] = func() func() {
			set(other)
			return func() { set(value) }
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if name == "note" {
				continue
			}
			maps.Copy(edits, tamperings(path+"/"+name, inner, func(x any) { v[name] = x }))
			edits[path+"/"+name+" removed"] = func() func() {
				delete(v, name)
				return func() { v[name] = inner }
			}
		}
		edits[path+" with more"] = func() func() {
			v["more"] = 1
			return func() { delete(v, "more") }
		}
	case []any:
		for i, inner := range v {
			maps.Copy(edits, tamperings(path+"/"+strconv.Itoa(i), inner, func(x any) { v[i] = x }))
			put(fmt.Sprintf("without %d", i), slices.Delete(slices.Clone(v), i, i+1))
			put(fmt.Sprintf("with %d twice", i), slices.Insert(slices.Clone(v), i, inner))
			if i > 0 {
				swapped := slices.Clone(v)
				swapped[i], swapped[i-1] = v[i-1], v[i]
				put(fmt.Sprintf("with %d swapped", i), swapped)
			}
		}
	case json.Number:
		put("larger", json.Number("1"+v.String()))
		put("negative", json.Number("-1"))
		put("with a point", json.Number(v.String()+".0"))
	case bool:
		put("turned", !v)
	case string:
		for i, letter := range v {
			for _, other := range "0f" {
				if letter != other {
					put(fmt.Sprintf("with %c at %d", other, i), v[:i]+string(other)+v[i+utf8.RuneLen(letter):])
				}
			}
		}
		put("shorter", v[1:])
		put("longer", v+"00")
	}
	if path != "" {
		put("null", nil)
	}
	return edits
}

// TestDrawRecordStrict: text that two programs could read differently is refused, with the place.
func TestDrawRecordStrict(t *testing.T) {
	t.Parallel()
	good := string(text(drawRecord(queue.DrawRandom, 2, 2)))
	for _, c := range []struct{ name, old, new, want string }{
		{"Empty", good, "", "EOF"},
		{"NoObject", good, "[]", "want {"},
		{"CutOff", good[200:], "", "byte"},
		{"NameTwice", `{"version":1`, `{"version":1,"version":1`, `"version" twice`},
		{"NameInCapitals", `"room"`, `"Room"`, `"Room"`},
		{"UnknownName", `"count":`, `"counts":`, "seal: "},
		{"TicketNameTwice", `{"place":3`, `{"place":3,"place":3`, "tickets[2]: "},
		{"TicketUnknownName", `{"place":3`, `{"other":1,"place":3`, "tickets[2]: "},
		{"TicketNull", `{"place":3`, `null,{"place":3`, "tickets[2]: "},
		{"NumberAsText", `"number":258`, `"number":"258"`, "number: "},
		{"NumberWithPoint", `"number":258`, `"number":258.0`, "number: "},
		{"NumberNull", `"number":258`, `"number":null`, "number: "},
		{"NumberHuge", `"number":258`, `"number":18446744073709551874`, "number: "},
		{"KeyAsNumber", `"key":"`, `"key":1,"x":"`, "key: "},
		{"KeyWithSign", `"key":"`, `"key":"+`, "key: "},
		{"KeyWithZero", `"key":"`, `"key":"0`, "key: "},
		{"HashShort", `"root":"`, `"root":"","x":"`, "seal.root: "},
		{"HashNoHex", `"seed":"00`, `"seed":"0g`, "seed: "},
		{"LateAsText", `"late":true`, `"late":"true"`, "late: "},
		{"ExternalEmpty", `"value":"00ff10"`, `"value":""`, "external.value: "},
		{"ExternalNoHex", `"value":"00ff10"`, `"value":"0"`, "external.value: "},
		{"ExternalNoValue", `"value":"00ff10",`, ``, "external: "},
		{"NoVersion", `"version":1,`, ``, `"version"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(good, c.old, c.new, 1)
			if bad == good {
				t.Fatal("the case changes nothing")
			}
			_, err := decode([]byte(bad))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "; ") {
				t.Errorf("error %v, want one with %q and a remedy", err, c.want)
			}
		})
	}
}

// TestDrawRecordPiecesStop: who has enough of the pieces gets no more.
func TestDrawRecordPiecesStop(t *testing.T) {
	t.Parallel()
	n := 0
	for range drawRecord(queue.DrawShuffle, 5000, 0).JSON() {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d pieces", n)
	}
}

// FuzzDecodeDrawRecord: any text is refused, or is a record that stays the same on its way through text
// and whose check ends.
func FuzzDecodeDrawRecord(f *testing.F) {
	f.Add(text(drawRecord(queue.DrawShuffle, 2, 0)))
	f.Add(text(drawRecord(queue.DrawRandom, 1, 2)))
	f.Add([]byte(`{"version":1,"tickets":[{"place":1}]}`))
	f.Add([]byte(`{"tickets":[`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err != nil {
			return
		}
		faults := r.Verify()
		again, err := decode(text(r))
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if !bytes.Equal(text(again), text(r)) || again.Verify().Error() != faults.Error() {
			t.Fatalf("the record changed on its way: %s", text(r))
		}
	})
}
