package anteroom_test

import (
	"go/importer"
	"strings"
	"testing"
)

// A check that sees nothing proves nothing: each one is shown a fault, and beside it the same thing
// done right.
func TestTidySeesFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		check func(*tree) []string
		files map[string]string
		want  []string // one part of each fault, in order
	}{
		{"PackageDocMissing", packageDocs, map[string]string{"internal/queue/a.go": "package queue"}, []string{"internal/queue/doc.go: the package doc has 0"}},
		{"PackageDocShort", packageDocs, map[string]string{"doc.go": "// Package a is one.\npackage a"}, []string{"has 1 sentences"}},
		{"PackageDocTwice", packageDocs, map[string]string{"doc.go": "// Package a is. It is.\npackage a", "b.go": "// Package a is.\npackage a"}, []string{"b.go: the package doc stands in doc.go alone"}},
		{"PackageDocGood", packageDocs, map[string]string{"doc.go": "// Package a is.\n// It is.\npackage a", "b.go": "package a", "a_test.go": "package a"}, nil},

		{"ArrowUp", brokenArrows, map[string]string{"internal/sys/a.go": imports("internal/edge")}, []string{"a.go:2: internal/sys (level 1) imports internal/edge (level 3)"}},
		{"ArrowSideways", brokenArrows, map[string]string{"internal/api/a.go": imports("internal/store")}, []string{"internal/api (level 2) imports internal/store"}},
		{"ArrowOutOfTheRoot", brokenArrows, map[string]string{"a.go": imports("internal/queue")}, []string{"imports internal/queue"}},
		{"ArrowDown", brokenArrows, map[string]string{"internal/queue/a.go": imports(""), "internal/api/a.go": imports("internal/sys"), "internal/api/a_test.go": imports("internal/edge")}, nil},
		{"PackageWithoutLevel", brokenArrows, map[string]string{"internal/util/a.go": "package util"}, []string{"internal/util: the package has no level"}},

		{"TableMissing", levelTable, map[string]string{"docs/architecture.md": "# A"}, []string{"has no table"}},
		{"TableRowMissing", levelTable, map[string]string{"docs/architecture.md": table("| 1 | `internal/sys` | x |"), "internal/sys/a.go": "package sys", "a.go": "package a"}, []string{". is missing"}},
		{"TableRowTooMany", levelTable, map[string]string{"docs/architecture.md": table("| 1 | `internal/sys` | x |")}, []string{"does not exist"}},
		{"TableLevelWrong", levelTable, map[string]string{"docs/architecture.md": table("| 2 | `internal/sys` | x |"), "internal/sys/a.go": "package sys"}, []string{"has level 2 here and 1"}},
		{"TableGood", levelTable, map[string]string{"docs/architecture.md": table("| 0 | `anteroom` | x |"), "a.go": "package a"}, nil},

		{"LintRuleMissing", levelLint, map[string]string{linterRules: "files: [${base-path}/internal/sys/*.go]", "internal/sys/a.go": "package sys", "internal/bus/a.go": "package bus"}, []string{"names ${base-path}/internal/bus/*.go"}},
		{"LintRuleGood", levelLint, map[string]string{linterRules: "files: [${base-path}/*.go]", "a.go": "package a", "cmd/anteroom/a.go": "package main"}, nil},

		{"Goroutine", clockAndGo, map[string]string{"internal/api/a.go": "package api\nfunc f() { go f() }"}, []string{"a.go:2: go statement"}},
		{"Clock", clockAndGo, map[string]string{"internal/api/a.go": "package api\nvar now = time.Now"}, []string{"a.go:2: time.Now"}},
		{"ClockAllowed", clockAndGo, map[string]string{"internal/sys/a.go": "package sys\nvar now = time.Now", "internal/api/a_test.go": "package api\nfunc f() { go f() }", "bench/a/a.go": "package a\nvar now = time.Now"}, nil},

		{"FileLong", sizes, map[string]string{"a.go": "package a\n" + strings.Repeat("\n", 600)}, []string{"a.go: 601 lines"}},
		{"FunctionLong", sizes, map[string]string{"a.go": "package a\nfunc f() {" + strings.Repeat("\n", 70) + "}"}, []string{"a.go:2: f has 71 lines"}},
		{"SizesGood", sizes, map[string]string{"a.go": "package a\nfunc f() {" + strings.Repeat("\n", 69) + "}", "b_test.go": "package a\n" + strings.Repeat("\n", 700)}, nil},

		{"Skip", skips, map[string]string{"a_test.go": "package a\nfunc f(t T) { t.Skip(); r.Skip() }"}, []string{"a_test.go:2: a skipped test"}},
		{"Unformatted", unformatted, map[string]string{"a.go": "package  a\n"}, []string{"a.go: not formatted"}},
		{"Formatted", unformatted, map[string]string{"a.go": "package a\n"}, nil},

		{"LinkBroken", brokenLinks, map[string]string{"docs/a.md": "[x](b.md) `[x](d.md)`\n```\n[x](c.md)\n```"}, []string{"docs/a.md: link to b.md: there is no docs/b.md"}},
		{"AnchorBroken", brokenLinks, map[string]string{"a.md": "# A b, c\n[x](#a-b)"}, []string{"has no heading"}},
		{"LinksGood", brokenLinks, map[string]string{"docs/a.md": "[x](../c/) [y](https://x.test/z) [z](../b.md#one-two)", "c/x.md": "", "b.md": "## One `two`"}, nil},
		{"TitleMissing", titles, map[string]string{"a.md": "## A"}, []string{"a.md: 0 titles"}},
		{"TitleTwice", titles, map[string]string{"a.md": "# A\n# B"}, []string{"a.md: 2 titles"}},
		{"TitleGood", titles, map[string]string{"a.md": "# A\n```sh\n# B\n```"}, nil},
		{"Mark", marks, map[string]string{"a.go": "package a // TO" + "DO: more"}, []string{"a.go:1: a reminder mark"}},
		{"MarkInAName", marks, map[string]string{"a.go": "package a\nvar _ = context.TO" + "DO"}, nil},

		{"CodeWithoutRow", errorCodes, map[string]string{"errors.go": "package a\nconst CodeA Code = 1"}, []string{"no row for CodeA"}},
		{"CodeTwice", errorCodes, map[string]string{"errors.go": "package a\nconst (\nCodeA Code = 1\nCodeB Code = 1\n)", "docs/errors.md": "| 1 | CodeA | 400 | x | y |\n| 1 | CodeB | 400 | x | y |"}, []string{"CodeA and CodeB are both 1"}},
		{"CodeRowTooMany", errorCodes, map[string]string{"errors.go": "package a", "docs/errors.md": "| 1 | CodeA | 400 | x | y |"}, []string{"1 CodeA is not in errors.go"}},
		{"CodeRowWithoutRemedy", errorCodes, map[string]string{"errors.go": "package a\nconst CodeA Code = 1", "docs/errors.md": "| 1 | CodeA | 400 | x | |"}, []string{"no row for CodeA"}},
		{"CodeGood", errorCodes, map[string]string{"errors.go": "package a\nconst CodeA Code = 1", "docs/errors.md": "| 1 | CodeA | 400 | x | y |"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			expectFaults(t, c.check(parseTree(t, texts(c.files))), c.want)
		})
	}
}

func TestTidySeesUnorderedRanges(t *testing.T) {
	t.Parallel()
	src := `package queue

import (
	"maps"
	"slices"
)

func f(m map[int]int, s []int) {
	for range m {
	}
	for range m { // unordered: only counts
	}
	for range s {
	}
	for range maps.Keys(m) {
	}
	_ = slices.Sorted(maps.Keys(m))
}
`
	tr := parseTree(t, texts(map[string]string{"internal/queue/a.go": src}))
	expectFaults(t, tr.unordered("internal/queue", importer.ForCompiler(tr.fset, "source", nil)),
		[]string{"a.go:9: the order of a map", "a.go:15: the order of a map"})
}

func TestTidySeesImpureImports(t *testing.T) {
	t.Parallel()
	pkgs, err := goList("net/http/cookiejar", "strings")
	if err != nil {
		t.Fatal(err)
	}
	if faults := impure(pkgs[1].ImportPath, pkgs[1].Deps); len(faults) != 0 {
		t.Errorf("strings is pure, got %q", faults)
	}
	if faults := impure(pkgs[0].ImportPath, pkgs[0].Deps); !strings.Contains(strings.Join(faults, "\n"), "cookiejar: reaches net/http ") {
		t.Errorf("want a fault about net/http, got %q", faults)
	}
}

// expectFaults wants as many faults as parts, each containing its part.
func expectFaults(t *testing.T, got, parts []string) {
	t.Helper()
	if len(got) != len(parts) {
		t.Fatalf("want %d faults, got %d: %q", len(parts), len(got), got)
	}
	for i, part := range parts {
		if !strings.Contains(got[i], part) {
			t.Errorf("want a fault with %q, got %q", part, got[i])
		}
	}
}

func imports(pkg string) string {
	return "package a\nimport \"" + strings.TrimSuffix(tidyModule+"/"+pkg, "/") + "\""
}

func table(row string) string {
	return "# A\n<!-- levels -->\n| level | package | job |\n|---|---|---|\n" + row + "\n<!-- /levels -->\n"
}

func texts(files map[string]string) map[string][]byte {
	text := map[string][]byte{}
	for name, content := range files {
		text[name] = []byte(content)
	}
	return text
}
