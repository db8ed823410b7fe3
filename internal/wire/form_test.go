package wire_test

import (
	"bytes"
	"cmp"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/wire"
)

// form is a message and its two functions.
type form[T any] struct {
	encode func(dst []byte, v T) []byte
	decode func(b []byte) (T, error)
	// arrange puts the lists of a message with random fields in order.
	arrange func(v *T)
}

func reportForm() form[queue.Report] {
	return form[queue.Report]{wire.AppendReport, wire.DecodeReport, func(r *queue.Report) {
		r.Buckets = sorted(r.Buckets, func(a, b queue.Bucket) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Class, b.Class)) })
		r.Moved, r.Released = numbered(r.Moved), numbered(r.Released)
	}}
}

func grantForm() form[queue.Grant] {
	return form[queue.Grant]{wire.AppendGrant, wire.DecodeGrant, func(g *queue.Grant) {
		g.Ranks = sorted(g.Ranks, func(a, b queue.Rank) int { return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Key, b.Key)) })
		for i := 1; i < len(g.Ranks); i++ {
			if g.Ranks[i].Class == g.Ranks[i-1].Class {
				g.Ranks[i].Before = max(g.Ranks[i].Before, g.Ranks[i-1].Before)
			}
		}
		g.Notices = numbered(g.Notices)
	}}
}

func boundsForm() form[queue.Bounds] {
	return form[queue.Bounds]{wire.AppendBounds, wire.DecodeBounds, func(b *queue.Bounds) {
		b.Centers = sorted(b.Centers, func(a, b queue.Bound) int { return cmp.Compare(a.DataCenter, b.DataCenter) })
	}}
}

// sorted puts a list in order and drops what is equal.
func sorted[E any](list []E, compare func(a, b E) int) []E {
	slices.SortFunc(list, compare)
	return slices.CompactFunc(list, func(a, b E) bool { return compare(a, b) == 0 })
}

func numbered(moves []queue.Move) []queue.Move {
	return sorted(moves, func(a, b queue.Move) int { return cmp.Compare(a.Number, b.Number) })
}

// draw makes a message whose every field has a random value.
func (f *form[T]) draw(t *rapid.T) (v T) {
	fill(t, reflect.ValueOf(&v).Elem(), reflect.TypeFor[T]().Name())
	f.arrange(&v)
	return v
}

// fill draws a value for each field, whatever fields there are, within the range that its meaning allows.
func fill(t *rapid.T, v reflect.Value, path string) {
	name := path[strings.LastIndexByte(path, '.')+1:]
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), path)
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 9).Draw(t, path); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fill(t, v.Index(i), path)
		}
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, path))
	case reflect.String:
		least := 1
		if name == "To" { // a move may have no destination
			least = 0
		}
		v.SetString(rapid.StringN(least, 255, 255).Draw(t, path))
	case reflect.Float64:
		least := 0.0
		if name == "YoungLeft" {
			least = -math.MaxFloat64
		}
		v.SetFloat(rapid.Float64Range(least, math.MaxFloat64).Draw(t, path))
	default:
		fillNumber(t, v, path, name)
	}
}

func fillNumber(t *rapid.T, v reflect.Value, path, name string) {
	switch {
	case name == "Class":
		v.SetUint(uint64(rapid.IntRange(0, queue.ClassesMax-1).Draw(t, path)))
	case name == "Number":
		v.SetUint(rapid.Uint64Range(1, math.MaxUint64).Draw(t, path))
	case name == "At":
		v.SetInt(rapid.Int64Range(math.MinInt64/1_000_000-1, math.MaxInt64/1_000_000).Draw(t, path))
	case v.Kind() == reflect.Int64: // times and keys
		v.SetInt(rapid.Int64().Draw(t, path))
	case v.Kind() == reflect.Int, v.Kind() == reflect.Int32: // counts
		v.SetInt(rapid.Int64Range(0, math.MaxInt64>>(64-v.Type().Bits())).Draw(t, path))
	case v.CanUint():
		v.SetUint(rapid.Uint64Range(0, math.MaxUint64>>(64-v.Type().Bits())).Draw(t, path))
	default:
		t.Fatalf("%s is a %s: teach fill to draw one", path, v.Type())
	}
}

// roundTrip wants every field of every message back.
func (f *form[T]) roundTrip(t *testing.T) {
	t.Helper()
	if t.Failed() { // it is known already which field is lost
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		want := f.draw(t)
		before := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "before")
		b := f.encode(slices.Clone(before), want)
		if !bytes.HasPrefix(b, before) {
			t.Fatalf("%x is not before the message any more", before)
		}
		b = b[len(before):]
		got, err := f.decode(b)
		if err != nil {
			t.Fatalf("%+v is refused: %v", want, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("a field is not encoded, or not decoded:\nsent    %+v\narrived %+v", want, got)
		}
	})
}

// tellsFieldsApart wants other bytes whenever one field has another value.
func (f *form[T]) tellsFieldsApart(t *testing.T, v T) {
	t.Helper()
	base := f.encode(nil, v)
	leaves(reflect.ValueOf(&v).Elem(), reflect.TypeFor[T]().Name(), func(leaf reflect.Value, path string) {
		old := reflect.New(leaf.Type()).Elem()
		old.Set(leaf)
		change(leaf)
		if bytes.Equal(f.encode(nil, v), base) {
			t.Errorf("%s is not encoded", path)
		}
		leaf.Set(old)
	})
}

// leaves visits every field that is not made of others.
func leaves(v reflect.Value, path string, visit func(reflect.Value, string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			leaves(v.Index(i), path, visit)
		}
	default:
		visit(v, path)
	}
}

// change gives a field another value.
func change(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	default:
		v.SetUint(v.Uint() ^ 1)
	}
}

// refusesTornOnes wants an error for a message that has lost its end, or got more.
func (f *form[T]) refusesTornOnes(t *testing.T) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		b := f.encode(nil, f.draw(t))
		for n := range b {
			if v, err := f.decode(b[:n]); err == nil || !reflect.ValueOf(v).IsZero() {
				t.Fatalf("%d bytes of %d are taken for %+v, %v", n, len(b), v, err)
			}
		}
		if _, err := f.decode(append(b, rapid.Byte().Draw(t, "more"))); err == nil {
			t.Fatal("a byte behind the end is not seen")
		}
	})
}

// survivesFlips changes each bit of a message. What is taken nevertheless must be the one form of its value.
func (f *form[T]) survivesFlips(t *testing.T, v T) {
	t.Helper()
	b := f.encode(nil, v)
	for i := range 8 * len(b) {
		flipped := slices.Clone(b)
		flipped[i/8] ^= 1 << (i % 8)
		f.canonical(t, flipped)
	}
}

// canonical wants bytes to be refused, or to be the only form of their value.
func (f *form[T]) canonical(t *testing.T, b []byte) {
	t.Helper()
	v, err := f.decode(b)
	if err != nil {
		return
	}
	if again := f.encode(nil, v); !bytes.Equal(again, b) {
		t.Errorf("%x decodes to %+v and encodes to %x", b, v, again)
	}
}

// refusal is a message with one fault.
type refusal struct {
	name   string
	at     int    // where the good message is cut
	gone   int    // how many bytes of it are left out
	put    []byte // what comes in their place
	expect string // part of the error
}

// refuses breaks a good message in many ways. The error says which message and what to do.
func (f *form[T]) refuses(t *testing.T, good []byte, what, remedy string, cases []refusal) {
	t.Helper()
	if _, err := f.decode(good); err != nil {
		t.Fatalf("the good message is refused: %v", err)
	}
	for _, c := range cases {
		b := slices.Concat(good[:c.at], c.put, good[c.at+c.gone:])
		v, err := f.decode(b)
		if err == nil {
			t.Errorf("%s: %x is taken for %+v", c.name, b, v)
			continue
		}
		for _, part := range []string{what + ": ", remedy, c.expect} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error %q does not say %q", c.name, err, part)
			}
		}
	}
}

// knowsItsVersion wants the refusal of another version to name both and to say what to do.
func (f *form[T]) knowsItsVersion(t *testing.T, good []byte) {
	t.Helper()
	_, err := f.decode(append([]byte{good[0] + 1}, good[1:]...))
	for _, part := range []string{"version 2 ", "reads version 1", "neighbouring", "docs/wire.md"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("an unknown version: the error %v does not say %q", err, part)
		}
	}
}

// huge are the bytes of a number of 64 bits, and of one that has more.
func huge(more ...byte) []byte {
	return slices.Concat([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, more)
}
