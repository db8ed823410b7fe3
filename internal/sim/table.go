package sim

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// missed marks a value that is not as asked.
const missed = " !"

// Table is a table of text with a line of titles.
type Table struct {
	Head []string
	Rows [][]string
}

// WriteText writes the table for a terminal.
func (t *Table) WriteText(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		if _, err := fmt.Fprintln(columns, strings.TrimRight(strings.Join(row, "\t"), "\t")); err != nil {
			return err
		}
	}
	return columns.Flush()
}

// WriteMarkdown writes the table for a document. Values that are not as asked are bold.
func (t *Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	line := func(cells []string) {
		for _, cell := range cells {
			if strings.HasSuffix(cell, missed) {
				cell = "**" + cell + "**"
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	b.WriteString(strings.Repeat("|---", len(t.Head)) + "|\n")
	for _, row := range t.Rows {
		line(row)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Missed tells whether a value of the table is not as asked.
func (t *Table) Missed() bool {
	return slices.ContainsFunc(t.Rows, func(row []string) bool {
		return slices.ContainsFunc(row, func(cell string) bool { return strings.HasSuffix(cell, missed) })
	})
}

// SideBySide has a line for each figure and a column for each result. What is asked is that of the
// first result of which something is asked.
func SideBySide(results ...*Result) Table {
	t := Table{Head: []string{"figure", "asked"}}
	asked := make([]map[string]goal, len(results))
	for i, r := range results {
		t.Head = append(t.Head, columnTitle(r, results))
		asked[i] = goals(&r.World)
	}
	for _, f := range figures() {
		row, some := []string{f.title, ""}, false
		for i, r := range results {
			v := f.read(r)
			some = some || !math.IsNaN(v)
			g, ok := asked[i][f.key]
			if ok && row[1] == "" {
				row[1] = g.text(f.unit)
			}
			row = append(row, f.cell(v, g, ok))
		}
		if some {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// cell writes a value, with a mark when it is not as asked.
func (f *figure) cell(v float64, g goal, asked bool) string {
	text := f.unit.text(v)
	if asked && !g.met(v) {
		text += missed
	}
	return text
}

// columnTitle is what tells a result from the others.
func columnTitle(r *Result, among []*Result) string {
	for _, other := range among {
		if other.World.Name != r.World.Name {
			return r.World.Name + ", " + string(r.World.Algorithm)
		}
	}
	return string(r.World.Algorithm)
}

// OneEach has a line for each result and a column for each of the figures, named by their keys in JSON, that
// any of them has. What is asked stands in a line of its own, and beside the values where it is not the same for
// all of them.
func OneEach(results []*Result, keys ...string) Table {
	t := Table{Head: []string{"world", "algorithm"}, Rows: [][]string{{"asked", ""}}}
	for _, r := range results {
		t.Rows = append(t.Rows, []string{r.World.Name, string(r.World.Algorithm)})
	}
	all := figures()
	for _, key := range keys {
		i := slices.IndexFunc(all, func(f figure) bool { return f.key == key })
		if i < 0 {
			panic("no figure has the key " + key)
		}
		t.column(&all[i], results)
	}
	return t
}

// column adds a figure to the table of OneEach, unless no result has it.
func (t *Table) column(f *figure, results []*Result) {
	cells, words := make([]string, len(results)), make([]string, len(results))
	some := false
	for i, r := range results {
		v := f.read(r)
		some = some || !math.IsNaN(v)
		g, asked := goals(&r.World)[f.key]
		cells[i] = f.cell(v, g, asked)
		if asked && !math.IsNaN(v) {
			words[i] = g.text(f.unit)
		}
	}
	if !some {
		return
	}
	t.Head = append(t.Head, f.title)
	common, several := alike(words)
	t.Rows[0] = append(t.Rows[0], common)
	for i := range results {
		if words[i] != "" && several {
			bare, marked := strings.CutSuffix(cells[i], missed)
			cells[i] = bare + " (" + words[i] + ")"
			if marked {
				cells[i] += missed
			}
		}
		t.Rows[i+1] = append(t.Rows[i+1], cells[i])
	}
}

// alike is the only word among the words that are not empty, or tells that there are several.
func alike(words []string) (common string, several bool) {
	for _, w := range words {
		if w != "" && common != "" && w != common {
			return "", true
		}
		common = max(common, w)
	}
	return common, false
}
