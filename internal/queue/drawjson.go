package queue

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
)

// drawChunkBytes is about how many bytes of a record are handed on at once.
const drawChunkBytes = 32 << 10

// HexBytes is text of hexadecimal digits in JSON.
type HexBytes []byte

// MarshalText gives two digits for each byte.
func (b HexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }

// UnmarshalText reads two digits for each byte.
func (b *HexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// JSON gives the record as JSON in pieces, one ticket a line, so that a large record is never in memory
// as a whole. It has the values of json.Marshal. A piece is valid until the next one.
func (r *DrawRecord) JSON() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		head := *r
		head.Tickets = []DrawTicket{}
		b, err := json.Marshal(head)
		if err != nil {
			panic(fmt.Sprintf("queue: a draw record cannot be written: %v", err)) // no field has such a type
		}
		b = b[:len(b)-len("]}")]
		for i := range r.Tickets {
			if i > 0 {
				b = append(b, ',')
			}
			b = r.Tickets[i].appendJSON(append(b, '\n'))
			if len(b) >= drawChunkBytes {
				if !yield(b) {
					return
				}
				b = b[:0]
			}
		}
		yield(append(b, "\n]}\n"...))
	}
}

func (t DrawTicket) appendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"place":`...), int64(t.Place), 10)
	b = hex.AppendEncode(append(b, `,"id":"`...), t.ID[:])
	b = strconv.AppendInt(append(b, `","key":"`...), t.Key, 10)
	b = append(b, '"')
	if t.Late {
		b = append(b, `,"late":true`...)
	}
	if t.Base != 0 {
		b = strconv.AppendInt(append(b, `,"base":`...), t.Base, 10)
	}
	return append(b, '}')
}

// DecodeDrawRecord reads one record and leaves what follows it. It is strict: two programs that read
// the same text must not see different draws, so unknown, missing and repeated names are faults, and
// so are values of another type. It stops at the first fault and at DrawTicketsMax tickets; the caller
// bounds the bytes.
func DecodeDrawRecord(from *json.Decoder) (*DrawRecord, error) {
	return drawDecoder{from, DrawTicketsMax}.record()
}

// drawDecoder reads values of exactly the type that is wanted.
type drawDecoder struct {
	*json.Decoder
	ticketsMax int
}

func (d drawDecoder) record() (*DrawRecord, error) {
	d.UseNumber()
	r := &DrawRecord{}
	names := []string{"version", "room", "number", "method", "commitment", "seal", "late_count", "seed", "final_seed", "tickets", "external"}
	err := d.object(names, len(names)-1, func(name string) error { return d.recordField(r, name) })
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (d drawDecoder) recordField(r *DrawRecord, name string) error {
	switch name {
	case "version":
		return readWhole(d, &r.Version)
	case "room":
		return d.text(&r.Room)
	case "number":
		return readWhole(d, &r.Number)
	case "method":
		return d.text((*string)(&r.Method))
	case "commitment":
		return d.parsed(&r.Commitment)
	case "seal":
		return d.object([]string{"count", "root"}, 2, func(name string) error {
			if name == "count" {
				return readWhole(d, &r.Seal.Count)
			}
			return d.parsed(&r.Seal.Root)
		})
	case "late_count":
		return readWhole(d, &r.LateCount)
	case "external":
		return d.external(&r.External)
	case "seed":
		return d.parsed(&r.Seed)
	case "final_seed":
		return d.parsed(&r.Final)
	default: // tickets
		return d.tickets(&r.Tickets)
	}
}

func (d drawDecoder) external(e *DrawExternal) error {
	return d.object([]string{"value", "note"}, 1, func(name string) error {
		if name == "note" {
			return d.text(&e.Note)
		}
		if err := d.parsed(&e.Value); err != nil || len(e.Value) > 0 {
			return err
		}
		return drawFault("is empty").WithHint("leave external out when there is no value")
	})
}

func (d drawDecoder) tickets(to *[]DrawTicket) error {
	if err := d.delim('['); err != nil {
		return err
	}
	list := []DrawTicket{}
	names := []string{"place", "id", "key", "late", "base"}
	for d.More() {
		if len(list) == d.ticketsMax {
			return drawFault("are over %d, the most of a draw", d.ticketsMax).WithHint("split the draw")
		}
		list = append(list, DrawTicket{})
		t := &list[len(list)-1]
		err := d.object(names, 3, func(name string) error { return d.ticketField(t, name) })
		if err != nil {
			return within(fmt.Sprintf("[%d]", len(list)-1), err)
		}
	}
	*to = list
	return d.delim(']')
}

func (d drawDecoder) ticketField(t *DrawTicket, name string) error {
	switch name {
	case "place":
		return readWhole(d, &t.Place)
	case "id":
		return d.parsed(&t.ID)
	case "key":
		var text string
		if err := d.text(&text); err != nil {
			return err
		}
		return parseWhole(text, &t.Key)
	case "late":
		return d.truth(&t.Late)
	default: // base
		return readWhole(d, &t.Base)
	}
}

// object reads an object whose names are among those given, each at most once; the first required
// ones must be there. read reads the value of a name.
func (d drawDecoder) object(names []string, required int, read func(name string) error) error {
	if err := d.delim('{'); err != nil {
		return err
	}
	seen := 0
	for d.More() {
		var name string
		if err := d.text(&name); err != nil {
			return err
		}
		i := slices.Index(names, name)
		if i < 0 {
			return drawFault("has the unknown name %.40q", name).WithHint("it may have %s", strings.Join(names, ", "))
		}
		if seen&(1<<i) != 0 {
			return drawFault("has the name %q twice", name).WithHint("ask for a record that has it once")
		}
		seen |= 1 << i
		if err := read(name); err != nil {
			return within(name, err)
		}
	}
	for i, name := range names[:required] {
		if seen&(1<<i) == 0 {
			return drawFault("has no %q", name).WithHint("ask for the whole record")
		}
	}
	return d.delim('}')
}

// token reads the next token.
func (d drawDecoder) token() (json.Token, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "is not JSON at byte %d: %w", d.InputOffset(), err).
			WithHint("ask for the whole record as it was published")
	}
	return tok, nil
}

func (d drawDecoder) delim(want json.Delim) error {
	tok, err := d.token()
	if err == nil && tok != want {
		err = wrongType(tok, want.String())
	}
	return err
}

func (d drawDecoder) text(to *string) error {
	tok, err := d.token()
	if err != nil {
		return err
	}
	text, ok := tok.(string)
	if !ok {
		return wrongType(tok, "text")
	}
	*to = text
	return nil
}

func (d drawDecoder) truth(to *bool) error {
	tok, err := d.token()
	if err != nil {
		return err
	}
	is, ok := tok.(bool)
	if !ok {
		return wrongType(tok, "true or false")
	}
	*to = is
	return nil
}

func (d drawDecoder) parsed(to interface{ UnmarshalText([]byte) error }) error {
	var text string
	if err := d.text(&text); err != nil {
		return err
	}
	if err := to.UnmarshalText([]byte(text)); err != nil {
		return anteroom.Errorf(anteroom.CodeInvalid, "%w", err).WithHint("ask for the record as it was published")
	}
	return nil
}

func readWhole[T int | int64 | uint64](d drawDecoder, to *T) error {
	tok, err := d.token()
	if err != nil {
		return err
	}
	number, ok := tok.(json.Number)
	if !ok {
		return wrongType(tok, "a whole number")
	}
	return parseWhole(number.String(), to)
}

// parseWhole reads a whole number in its one form: no plus sign, no zero in front, no exponent.
func parseWhole[T int | int64 | uint64](text string, to *T) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return drawFault("is %.40q, want a whole number from 0 to 2^63-1", text).WithHint("ask for the record as it was published")
	}
	*to = T(n)
	return nil
}

func wrongType(tok json.Token, want string) error {
	return drawFault("has %.40q, want %s", fmt.Sprint(tok), want).WithHint("ask for the record as it was published")
}

// within puts the name of what is around in front of the field at fault.
func within(name string, err error) error {
	fault, ok := err.(*anteroom.Error) //nolint:errorlint // made here, never wrapped
	if !ok {
		return err
	}
	if fault.Field != "" && fault.Field[0] != '[' {
		name += "."
	}
	return fault.At(name + fault.Field)
}

// drawTicketField is the path of a ticket's field.
func drawTicketField(index int, field string) string {
	path := fmt.Sprintf("tickets[%d]", index)
	if field != "" {
		path += "." + field
	}
	return path
}
