package anteroom_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// levelTable compares the table of docs/architecture.md with levels and with the packages there are.
func levelTable(tr *tree) []string {
	const doc = "docs/architecture.md"
	_, rest, begun := strings.Cut(string(tr.text[doc]), "<!-- levels -->\n")
	table, _, ended := strings.Cut(rest, "<!-- /levels -->")
	if !begun || !ended {
		return []string{doc + ": has no table between <!-- levels --> and <!-- /levels -->: write one with the columns level, package, job"}
	}
	var faults []string
	shown := map[string]bool{}
	level := levels()
	row := regexp.MustCompile("(?m)^\\| (\\d+) \\| `([^`]+)` \\| ([^|]+) \\|$")
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		dir := m[2]
		if dir == "anteroom" {
			dir = "."
		}
		shown[dir] = true
		if want := strconv.Itoa(level[dir]); m[1] != want {
			faults = append(faults, fmt.Sprintf("%s: `%s` has level %s here and %s in tidy_test.go: make them equal", doc, m[2], m[1], want))
		}
		if !slices.Contains(tr.packages(), dir) {
			faults = append(faults, fmt.Sprintf("%s: `%s` does not exist: remove its row", doc, m[2]))
		}
	}
	for _, dir := range tr.packages() {
		if !shown[dir] {
			faults = append(faults, fmt.Sprintf("%s: %s is missing: add the row | %d | `%s` | its job |", doc, dir, level[dir], dir))
		}
	}
	return faults
}

// levelLint wants each package of levels below the command line in a list of the linter's rules.
func levelLint(tr *tree) []string {
	var faults []string
	level := levels()
	for _, dir := range tr.packages() {
		glob := "${base-path}/" + strings.TrimPrefix(dir+"/", "./") + "*.go"
		if level[dir] < level["cmd/anteroom"] && !strings.Contains(string(tr.text[linterRules]), glob) {
			faults = append(faults, fmt.Sprintf("%s: no rule of depguard names %s: add it to the files of level%d, and to what its level and the lower ones are denied", linterRules, glob, level[dir]))
		}
	}
	return faults
}

// prose is a document without its code: fenced blocks and code spans are blank.
func prose(text []byte) string {
	code := regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]*`")
	return code.ReplaceAllStringFunc(string(text), func(s string) string {
		return regexp.MustCompile(`[^\n]`).ReplaceAllString(s, "")
	})
}

// brokenLinks finds links to files and headings of the repository that do not exist.
func brokenLinks(tr *tree) []string {
	var faults []string
	link := regexp.MustCompile(`\]\(([^)\s]+)(?: "[^"]*")?\)`)
	for _, name := range tr.named(".md") {
		for _, m := range link.FindAllStringSubmatch(prose(tr.text[name]), -1) {
			if strings.Contains(m[1], ":") { // another site
				continue
			}
			file, heading, _ := strings.Cut(m[1], "#")
			target := path.Join(path.Dir(name), file)
			if file == "" {
				target = name
			}
			if !tr.exists(target) {
				faults = append(faults, fmt.Sprintf("%s: link to %s: there is no %s: mend the link or write the page", name, m[1], target))
			} else if heading != "" && !slices.Contains(anchors(tr.text[target]), heading) {
				faults = append(faults, fmt.Sprintf("%s: link to %s: %s has no heading with that anchor", name, m[1], target))
			}
		}
	}
	return faults
}

// exists tells whether a file or folder of that name is in the tree.
func (tr *tree) exists(name string) bool {
	for file := range tr.text {
		if file == name || strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// anchors lists the names under which a document's headings can be linked to.
func anchors(text []byte) []string {
	var names []string
	fenced := regexp.MustCompile("(?ms)^ *```.*?^ *```")
	heading := regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	gone := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		name := gone.ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// titles wants one first-level heading in each document.
func titles(tr *tree) []string {
	var faults []string
	title := regexp.MustCompile(`(?m)^# `)
	for _, name := range tr.named(".md") {
		if n := len(title.FindAllString(prose(tr.text[name]), -1)); n != 1 {
			faults = append(faults, fmt.Sprintf("%s: %d titles: a document has one line that begins with a single #", name, n))
		}
	}
	return faults
}

// marks finds reminders of unfinished work.
func marks(tr *tree) []string {
	var faults []string
	mark := regexp.MustCompile(`(^|[^.\w])(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	for name, text := range tr.text {
		if name == linterRules || strings.Contains(name, ".min.") { // names what it forbids; others' work
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			if mark.MatchString(line) {
				faults = append(faults, fmt.Sprintf("%s:%d: a reminder mark: finish it, or open an issue and say here what holds today", name, i+1))
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// errorCodes compares the codes of errors.go with the table of docs/errors.md.
func errorCodes(tr *tree) []string {
	const doc = "docs/errors.md"
	var faults []string
	rows := map[string]string{} // name to number
	row := regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \| [1-5]\d\d \| [^|]*\w[^|]* \| [^|]*\w[^|]* \|$`)
	for _, m := range row.FindAllStringSubmatch(string(tr.text[doc]), -1) {
		rows[m[2]] = m[1]
	}
	owner := map[string]string{} // number to name
	for _, c := range codes(tr.code["errors.go"]) {
		if first, taken := owner[c.number]; taken {
			faults = append(faults, fmt.Sprintf("errors.go: %s and %s are both %s: a number has one meaning, for ever", first, c.name, c.number))
		}
		owner[c.number] = c.name
		if rows[c.name] != c.number {
			faults = append(faults, fmt.Sprintf("%s: no row for %s: add | %s | %s | HTTP status | meaning | remedy |", doc, c.name, c.number, c.name))
		}
		delete(rows, c.name)
	}
	for name, number := range rows {
		faults = append(faults, fmt.Sprintf("%s: %s %s is not in errors.go: remove the row, or keep the number there as retired", doc, number, name))
	}
	return faults
}

type code struct{ name, number string }

// codes lists the constants of type Code.
func codes(file *ast.File) []code {
	var found []code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.INT {
			found = append(found, code{name: spec.Names[0].Name, number: lit.Value})
		}
		return true
	})
	return found
}
