package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anteroom/anteroom"
)

// parseYAML builds the tree of a YAML file with one document. A nil node is an empty file.
func parseYAML(data []byte) (*node, *anteroom.Error, place) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil, place{}
	} else if err != nil {
		return yamlSyntax(err)
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the file has a second document").
			WithHint("keep one, without a line of three dashes between"), place{second.Line, second.Column}
	} else if !errors.Is(err, io.EOF) {
		return yamlSyntax(err)
	}
	p := yamlParser{}
	n := p.value(&document, 0)
	return n, p.fault, p.at
}

func yamlSyntax(err error) (*node, *anteroom.Error, place) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	at := place{}
	if m := regexp.MustCompile(`^line (\d+): (.*)$`).FindStringSubmatch(text); m != nil {
		at.line, _ = strconv.Atoi(m[1]) // digits by the expression
		at.column, text = 1, m[2]
	}
	return nil, anteroom.Errorf(anteroom.CodeInvalid, "the file is not valid YAML: %s", text), at
}

// yamlParser turns yaml nodes into ours. After the first fault it only finishes.
type yamlParser struct {
	nodes int
	fault *anteroom.Error
	at    place
}

func (p *yamlParser) fail(y *yaml.Node, format string, args ...any) {
	if p.fault == nil {
		p.fault, p.at = anteroom.Errorf(anteroom.CodeInvalid, format, args...), place{y.Line, y.Column}
	}
}

func (p *yamlParser) value(y *yaml.Node, depth int) *node {
	n := &node{place: place{y.Line, y.Column}}
	// Aliases are followed, so a small file can be a huge tree: the bounds end it.
	if p.nodes++; p.nodes > nodesMax || depth > depthMax {
		p.fail(y, "the file has more than %d values or more than %d levels", nodesMax, depthMax)
	}
	if p.fault != nil {
		return n
	}
	switch y.Kind {
	case yaml.DocumentNode:
		return p.value(y.Content[0], depth)
	case yaml.AliasNode:
		aliased := p.value(y.Alias, depth+1)
		aliased.place = n.place
		return aliased
	case yaml.SequenceNode:
		n.kind = listKind
		for _, item := range y.Content {
			n.items = append(n.items, p.value(item, depth+1))
		}
	case yaml.MappingNode:
		n.kind = objectKind
		p.mapping(n, y, depth)
	case yaml.ScalarNode:
		p.scalar(n, y)
	}
	return n
}

func (p *yamlParser) mapping(n *node, y *yaml.Node, depth int) {
	for i := 0; i+1 < len(y.Content); i += 2 {
		name := y.Content[i]
		if name.Kind != yaml.ScalarNode || name.ShortTag() == "!!merge" {
			p.fail(name, "a field name must be plain text, without merging")
			return
		}
		n.members = append(n.members, member{
			name.Value, place{name.Line, name.Column}, p.value(y.Content[i+1], depth+1),
		})
	}
}

func (p *yamlParser) scalar(n *node, y *yaml.Node) {
	n.text = y.Value
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.kind = nullKind
	case "!!bool":
		n.kind, n.text = boolKind, strings.ToLower(y.Value)
	case "!!int":
		n.kind = numberKind
		var whole int64 // also reads 0x10 and 1_000
		if y.Decode(&whole) == nil {
			n.text = strconv.FormatInt(whole, 10)
		}
	case "!!float":
		n.kind = numberKind
	case "!!str", "!!timestamp":
		n.kind = textKind
	default:
		p.fail(y, "the tag %s has no meaning here", short(tag))
	}
}

// yamlText writes lines as lines where that reads back the same, else in quotes: the block form of the
// encoder fails on some blanks and tabs at the beginning of lines.
func yamlText(text string) *yaml.Node {
	y := &yaml.Node{}
	y.SetString(text)
	if y.Style != yaml.LiteralStyle {
		return y
	}
	data, err := yaml.Marshal(map[string][]*yaml.Node{"x": {y}}) // indented, as it will stand
	var again map[string][]string
	if err != nil || yaml.Unmarshal(data, &again) != nil || len(again["x"]) != 1 || again["x"][0] != text {
		y.Style = yaml.DoubleQuotedStyle
	}
	return y
}

// toYAML is the reverse of parseYAML.
func toYAML(n *node) *yaml.Node {
	switch n.kind {
	case nullKind:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case boolKind:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: n.text}
	case numberKind:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: n.text}
	case textKind:
		return yamlText(n.text)
	case listKind:
		y := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range n.items {
			y.Content = append(y.Content, toYAML(item))
		}
		return y
	case objectKind:
		y := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, m := range n.members {
			y.Content = append(y.Content, toYAML(&node{kind: textKind, text: m.name}), toYAML(m.value))
		}
		return y
	}
	panic(fmt.Sprintf("a node of kind %d", n.kind))
}
