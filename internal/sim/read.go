package sim

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom"
)

// worldBytesMax is the largest file of a world.
const worldBytesMax = 1 << 20

// ReadWorld reads a world from YAML. A field that is left out or null has the value of Defaults. The
// error is an anteroom.Errors with every fault: unknown fields, wrong types, values out of range.
func ReadWorld(r io.Reader) (World, error) {
	w := Defaults()
	w.Name, w.About = "custom", ""
	document, err := parseWorld(r)
	if err != nil {
		return World{}, anteroom.Errors{anteroom.Errorf(anteroom.CodeInvalid, "the world is not valid YAML: %w", err).
			WithHint("anteroom simulate flash --yaml prints one to start from")}
	}
	l := flaws{lines: map[string]int{}}
	if document != nil {
		l.read(document, "", reflect.ValueOf(&w).Elem())
	}
	if err := l.check(&w); err != nil {
		return World{}, err
	}
	return w, nil
}

// WriteYAML writes the world as a file that ReadWorld reads.
func (w World) WriteYAML(out io.Writer) error {
	e := yaml.NewEncoder(out)
	e.SetIndent(2)
	return errors.Join(e.Encode(w), e.Close())
}

// parseWorld gives the top value of the only document; nil of an empty file.
func parseWorld(r io.Reader) (*yaml.Node, error) {
	data, err := io.ReadAll(io.LimitReader(r, worldBytesMax+1))
	if err != nil {
		return nil, err
	}
	if len(data) > worldBytesMax {
		return nil, fmt.Errorf("it has more than %d bytes", worldBytesMax)
	}
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	var document, second yaml.Node
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil //nolint:nilnil // an empty file is a world of defaults
	case err != nil:
		return nil, err
	}
	if err := d.Decode(&second); err == nil {
		return nil, fmt.Errorf("line %d begins a second document", second.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return document.Content[0], nil
}

// read reads a YAML value into the field at a path. The package yaml would stop at the first unknown
// field, name no path, and take a duration of 60 as nanoseconds.
func (l *flaws) read(n *yaml.Node, path string, to reflect.Value) {
	l.lines[path] = n.Line
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		l.add(path, "write the value out", "anchors and aliases are not allowed")
	case n.ShortTag() == "!!null":
	case to.Kind() == reflect.Struct:
		l.readObject(n, path, to)
	case to.Kind() == reflect.Slice:
		l.readList(n, path, to)
	case n.Kind != yaml.ScalarNode:
		l.add(path, "write one value", "it has parts, and the field has none")
	default:
		l.readScalar(n, path, to)
	}
}

func (l *flaws) readObject(n *yaml.Node, path string, to reflect.Value) {
	if n.Kind != yaml.MappingNode {
		l.add(path, "write lines of field: value below it", "%.40q is not an object", n.Value)
		return
	}
	fields := yamlFields(to.Type())
	given := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		field, known := fields[name.Value]
		shown := name.Value
		if !known {
			shown = fmt.Sprintf("%.40q", shown)
		}
		at := strings.TrimPrefix(path+"."+shown, ".")
		if !known || given[name.Value] {
			l.lines[at] = name.Line
		}
		switch {
		case !known:
			l.add(at, "the fields are "+fieldNames(to.Type()), "it is not a known field")
		case given[name.Value]:
			l.add(at, "leave one of them", "it stands twice")
		default:
			l.read(value, at, to.Field(field))
		}
		given[name.Value] = true
	}
}

func (l *flaws) readList(n *yaml.Node, path string, to reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		l.add(path, "write a list, such as [1, 2]", "%.40q is not a list", n.Value)
		return
	}
	items := reflect.MakeSlice(to.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		l.read(item, fmt.Sprintf("%s[%d]", path, i), items.Index(i))
	}
	to.Set(items)
}

func (l *flaws) readScalar(n *yaml.Node, path string, to reflect.Value) {
	advice := "write " + scalarForm(to)
	if to.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(n.Value)
		if err != nil {
			l.add(path, advice, "%.40q is not a duration", n.Value)
			return
		}
		to.SetInt(int64(d))
		return
	}
	if to.Kind() == reflect.String && n.ShortTag() != "!!str" {
		l.add(path, "put it in quotes", "%.40q is not text", n.Value)
		return
	}
	if err := n.Decode(to.Addr().Interface()); err != nil {
		l.add(path, advice, "%.40q does not fit", n.Value)
	}
}

// scalarForm says how a value of the type is written.
func scalarForm(v reflect.Value) string {
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		return "a number and a unit, such as 90s or 15m"
	case v.Kind() == reflect.Bool:
		return "true or false"
	case v.Kind() == reflect.String:
		return "text"
	case v.Kind() == reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// yamlFields are the fields of a type by their names in a file.
func yamlFields(t reflect.Type) map[string]int {
	fields := map[string]int{}
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("yaml"); name != "-" {
			fields[name] = i
		}
	}
	return fields
}

// fieldNames lists the same names in their order.
func fieldNames(t reflect.Type) string {
	var names []string
	for field := range t.Fields() {
		if name := field.Tag.Get("yaml"); name != "-" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
