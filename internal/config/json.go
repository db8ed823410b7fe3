package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/anteroom/anteroom"
)

// Bounds of what the decoders build, far above any honest input.
const (
	depthMax = 16
	nodesMax = 500_000
)

// parseJSON builds the tree of one JSON value. Unlike encoding/json it keeps duplicates, order and
// places, and refuses what is not UTF-8.
func parseJSON(body []byte) (*node, *anteroom.Error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the body is empty").WithHint("send a JSON object")
	}
	if !utf8.Valid(body) {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the body is not valid UTF-8")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, jsonSyntax(body, err)
	}
	p := jsonParser{decoder: json.NewDecoder(bytes.NewReader(body)), lines: newLines(body)}
	p.decoder.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "the body cannot be read: %w", err)
	}
	return n, nil
}

func jsonSyntax(body []byte, err error) *anteroom.Error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return anteroom.Errorf(anteroom.CodeInvalid, "the body is not valid JSON: %w", err)
	}
	at := newLines(body).place(int(syntax.Offset) - 1)
	return anteroom.Errorf(anteroom.CodeInvalid, "the body is not valid JSON at line %d, column %d: %w",
		at.line, at.column, err)
}

// jsonParser walks the tokens of a body that is known to be valid JSON.
type jsonParser struct {
	decoder *json.Decoder
	lines   *lines
	nodes   int
}

func (p *jsonParser) value(depth int) (*node, error) {
	if p.nodes++; p.nodes > nodesMax || depth > depthMax {
		return nil, fmt.Errorf("it has more than %d values or more than %d levels", nodesMax, depthMax)
	}
	n := &node{place: p.next()}
	token, err := p.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case nil:
	case bool:
		n.kind, n.text = boolKind, strconv.FormatBool(t)
	case json.Number:
		n.kind, n.text = numberKind, t.String()
	case string:
		n.kind, n.text = textKind, t
	case json.Delim:
		return n, p.inside(n, t, depth)
	}
	return n, nil
}

// inside reads what follows an opening bracket up to the closing one.
func (p *jsonParser) inside(n *node, open json.Delim, depth int) error {
	n.kind = listKind
	if open == '{' {
		n.kind = objectKind
	}
	for p.decoder.More() {
		var m member
		if n.kind == objectKind {
			m.place = p.next()
			token, err := p.decoder.Token()
			if err != nil {
				return err
			}
			m.name, _ = token.(string) // valid JSON has nothing else here
		}
		value, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		if m.value = value; n.kind == objectKind {
			n.members = append(n.members, m)
		} else {
			n.items = append(n.items, value)
		}
	}
	_, err := p.decoder.Token()
	return err
}

// next is the place of the token that follows.
func (p *jsonParser) next() place {
	at := int(p.decoder.InputOffset())
	for at < len(p.lines.body) && bytes.IndexByte([]byte(" \t\r\n,:"), p.lines.body[at]) >= 0 {
		at++
	}
	return p.lines.place(at)
}

// lines turns offsets into places. Offsets must not fall, so that a walk over a body is linear.
type lines struct {
	body        []byte
	offset      int
	line, start int
}

func newLines(body []byte) *lines { return &lines{body: body, line: 1} }

func (l *lines) place(offset int) place {
	offset = max(0, min(offset, len(l.body)))
	for ; l.offset < offset; l.offset++ {
		if l.body[l.offset] == '\n' {
			l.line++
			l.start = l.offset + 1
		}
	}
	return place{l.line, offset - l.start + 1}
}
