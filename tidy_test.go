package anteroom_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rules of the repository that no linter sees. Each check takes the tree and returns its
// faults, one line each: the place, what is wrong, what to do instead. tidy_docs_test.go has the
// checks of the documents, tidy_self_test.go shows each check a fault that it must see.

const (
	tidyModule       = "github.com/anteroom/anteroom"
	functionLinesMax = 70
	fileLinesMax     = 600
	linterRules      = ".golangci.yml"
)

// levels is the order of the packages: an import goes from a higher level to a lower one. The root
// package is everybody's. docs/architecture.md shows the same table, with the job of each package.
func levels() map[string]int {
	return map[string]int{
		".":                    0,
		"internal/queue":       0,
		"internal/balance":     0,
		"internal/route":       0,
		"internal/ticket":      0,
		"internal/expr":        0,
		"internal/sys":         1,
		"internal/config":      1,
		"internal/bus":         1,
		"internal/wire":        1,
		"internal/page":        1,
		"internal/plot":        1,
		"internal/waitingroom": 2,
		"internal/proxy":       2,
		"internal/l4":          2,
		"internal/tunnel":      2,
		"internal/health":      2,
		"internal/api":         2,
		"internal/dashboard":   2,
		"internal/store":       2,
		"internal/coord":       2,
		"internal/demo":        2,
		"internal/edge":        3,
		"internal/sim":         3,
		"cmd/anteroom":         4,
	}
}

func TestTidy(t *testing.T) {
	t.Parallel()
	tr := readTree(t)
	for name, check := range map[string]func(*tree) []string{
		"PackageDocs":     packageDocs,
		"Levels":          brokenArrows,
		"LevelTable":      levelTable,
		"LevelLint":       levelLint,
		"PureCore":        impureCore,
		"ClockAndGo":      clockAndGo,
		"UnorderedRanges": unorderedCore,
		"Sizes":           sizes,
		"Skips":           skips,
		"Formatted":       unformatted,
		"Links":           brokenLinks,
		"Titles":          titles,
		"Marks":           marks,
		"ErrorCodes":      errorCodes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, fault := range check(tr) {
				t.Error(fault)
			}
		})
	}
}

// tree is the repository: the text of its files by path from the root, with slashes, and the Go files
// parsed.
type tree struct {
	text map[string][]byte
	code map[string]*ast.File
	fset *token.FileSet
}

// readTree reads the files that people write; it leaves out what a build or a run leaves behind.
func readTree(t *testing.T) *tree {
	t.Helper()
	text := map[string][]byte{}
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // another program removed it meanwhile
			return nil
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base[0] == '.' && base != ".ci" || base == "testdata" || base == "bin" || base == "anteroom-data"):
			return fs.SkipDir
		case d.Type().IsRegular() && (isText(name) || name == linterRules):
			text[name], err = fs.ReadFile(root, name)
		default:
			text[name] = nil // its name is enough: links may lead to it
		}
		return err
	})
	if err != nil {
		t.Fatalf("read the repository: %v", err)
	}
	return parseTree(t, text)
}

// isText tells the files that people read and write.
func isText(name string) bool {
	texts := []string{".go", ".md", ".sh", ".html", ".css", ".js"}
	return slices.Contains(texts, path.Ext(name)) || path.Base(name) == "Makefile" || strings.HasPrefix(name, ".ci/")
}

// parseTree makes a tree of files given as text.
func parseTree(t *testing.T, text map[string][]byte) *tree {
	t.Helper()
	tr := &tree{text: text, code: map[string]*ast.File{}, fset: token.NewFileSet()}
	for _, name := range tr.named(".go") {
		file, err := parser.ParseFile(tr.fset, name, text[name], parser.ParseComments)
		if err != nil {
			t.Fatalf("parse: %v", err)
		}
		tr.code[name] = file
	}
	return tr
}

// named lists the files with a suffix, in order.
func (tr *tree) named(suffix string) []string {
	names := slices.Sorted(maps.Keys(tr.text))
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, suffix) })
}

// program lists the Go files that are neither tests nor below bench/ and test/.
func (tr *tree) program() []string {
	return slices.DeleteFunc(tr.named(".go"), func(n string) bool { return isTest(n) || isStage(n) })
}

// packages lists the folders of the program, "." for the root.
func (tr *tree) packages() []string {
	var dirs []string
	for _, name := range tr.program() {
		dirs = append(dirs, path.Dir(name))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func (tr *tree) place(n ast.Node) string {
	p := tr.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// isStage tells the folders that hold tests and load programs of the whole.
func isStage(name string) bool {
	return strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "test/")
}

// packageDocs wants one package doc of two sentences or more, in doc.go.
func packageDocs(tr *tree) []string {
	var faults []string
	docs := map[string]string{}
	end := regexp.MustCompile(`[.!?](\s|$)`)
	for _, name := range tr.program() {
		doc := tr.code[name].Doc
		switch {
		case doc == nil:
		case path.Base(name) != "doc.go":
			faults = append(faults, name+": the package doc stands in doc.go alone: move what this one adds")
		default:
			docs[path.Dir(name)] = doc.Text()
		}
	}
	for _, dir := range tr.packages() {
		if n := len(end.FindAllString(docs[dir], -1)); n < 2 {
			faults = append(faults, fmt.Sprintf("%s/doc.go: the package doc has %d sentences: say in two or more what the package decides, what it never does and where to start reading", dir, n))
		}
	}
	return faults
}

// door is the package that everyone above the core may import: clock and goroutines have no other way in.
const door = "internal/sys"

// brokenArrows finds packages without a level and imports that do not go downward.
func brokenArrows(tr *tree) []string {
	var faults []string
	level := levels()
	for _, dir := range tr.packages() {
		if _, ok := level[dir]; !ok {
			faults = append(faults, dir+": the package has no level: add it to levels in tidy_test.go, to docs/architecture.md and to .golangci.yml")
		}
	}
	for _, name := range tr.program() {
		from := path.Dir(name)
		for _, spec := range tr.code[name].Imports {
			to, ours := packageOf(spec)
			if ours && (from == "." || to != "." && to != door && level[to] >= level[from]) {
				faults = append(faults, fmt.Sprintf("%s: %s (level %d) imports %s (level %d): declare the small interface you need, a higher level hands it over",
					tr.place(spec), from, level[from], to, level[to]))
			}
		}
	}
	return faults
}

// packageOf is the folder of an imported package, and whether it is one of this module.
func packageOf(spec *ast.ImportSpec) (string, bool) {
	imported, _ := strconv.Unquote(spec.Path.Value)
	if imported == tidyModule {
		return ".", true
	}
	return strings.CutPrefix(imported, tidyModule+"/")
}

// core lists the packages of level 0 as arguments of the go command.
func (tr *tree) core() []string {
	var dirs []string
	level := levels()
	for _, dir := range tr.packages() {
		if l, ok := level[dir]; ok && l == 0 {
			dirs = append(dirs, "./"+dir)
		}
	}
	return dirs
}

// impureCore looks through the imports of level 0 for what reaches network, logs or randomness.
func impureCore(tr *tree) []string {
	var faults []string
	pkgs, err := goList(tr.core()...)
	if err != nil {
		return []string{err.Error()}
	}
	for _, p := range pkgs {
		faults = append(faults, impure(p.ImportPath, p.Deps)...)
	}
	return faults
}

func impure(pkg string, deps []string) []string {
	var faults []string
	for _, banned := range []string{"net", "net/http", "log/slog", "math/rand", "math/rand/v2", "crypto/rand", "os/exec"} {
		if slices.Contains(deps, banned) {
			faults = append(faults, fmt.Sprintf("%s: reaches %s through its imports: level 0 takes time and random draws as arguments (go list -deps shows the way)", pkg, banned))
		}
	}
	return faults
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath string   `json:"ImportPath"`
	Export     string   `json:"Export"`
	Deps       []string `json:"Deps"`
}

func goList(args ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-buildvcs=false", "-json=ImportPath,Export,Deps"}, args...)...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaint.Bytes())
	}
	var pkgs []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// clockAndGo keeps goroutines, clock and timers behind internal/sys.
func clockAndGo(tr *tree) []string {
	var faults []string
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	for _, name := range tr.program() {
		if path.Dir(name) == "internal/sys" {
			continue
		}
		ast.Inspect(tr.code[name], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				faults = append(faults, tr.place(n)+": go statement: start it with sys.Group, which names it and waits for it")
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(clock, n.Sel.Name) {
					faults = append(faults, tr.place(n)+": time."+n.Sel.Name+": use internal/sys, or take the time as an argument")
				}
			}
			return true
		})
	}
	return faults
}

// unorderedCore finds what depends on the order of a map in level 0.
func unorderedCore(tr *tree) []string {
	pkgs, err := goList(append([]string{"-deps", "-export"}, tr.core()...)...)
	if err != nil {
		return []string{err.Error()}
	}
	exports := map[string]string{}
	for _, p := range pkgs {
		exports[p.ImportPath] = p.Export
	}
	imports := importer.ForCompiler(tr.fset, "gc", func(p string) (io.ReadCloser, error) { return os.Open(exports[p]) })
	var faults []string
	for _, dir := range tr.core() {
		faults = append(faults, tr.unordered(path.Clean(dir), imports)...)
	}
	return faults
}

// unordered finds ranges over maps and over their keys and values in one package. A line may say
// why the order does not matter there: "// unordered: the reason".
func (tr *tree) unordered(dir string, imports types.Importer) []string {
	var files []*ast.File
	for _, name := range tr.program() {
		if path.Dir(name) == dir {
			files = append(files, tr.code[name])
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: imports}
	if _, err := conf.Check(dir, tr.fset, files, info); err != nil {
		return []string{fmt.Sprintf("%s: cannot be checked for ranges over maps: %v", dir, err)}
	}
	var faults []string
	for _, file := range files {
		excused := tr.excused(file)
		for _, n := range rangesOverMaps(file, info) {
			if !excused[tr.fset.Position(n.Pos()).Line] {
				faults = append(faults, tr.place(n)+": the order of a map is random: sort the keys, or end the line with \"// unordered: why it does not matter\"")
			}
		}
	}
	return faults
}

// excused lists the lines that say why their order does not matter.
func (tr *tree) excused(file *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if reason, ok := strings.CutPrefix(c.Text, "// unordered: "); ok && reason != "" {
				lines[tr.fset.Position(c.Pos()).Line] = true
			}
		}
	}
	return lines
}

// rangesOverMaps lists range statements over maps, and maps.Keys, Values and All unless sorted at once.
func rangesOverMaps(file *ast.File, info *types.Info) []ast.Node {
	var found []ast.Node
	sorted := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if _, ok := info.Types[n.X].Type.Underlying().(*types.Map); ok {
				found = append(found, n)
			}
		case *ast.CallExpr:
			switch name := types.ExprString(n.Fun); name {
			case "slices.Sorted", "slices.SortedFunc":
				sorted[n.Args[0]] = true
			case "maps.Keys", "maps.Values", "maps.All":
				if !sorted[n] {
					found = append(found, n)
				}
			}
		}
		return true
	})
	return found
}

// sizes bounds functions and files that are not tests.
func sizes(tr *tree) []string {
	var faults []string
	for _, name := range tr.named(".go") {
		if isTest(name) {
			continue
		}
		if n := bytes.Count(tr.text[name], []byte("\n")); n > fileLinesMax {
			faults = append(faults, fmt.Sprintf("%s: %d lines, at most %d: a file has one noun, move the second one out", name, n, fileLinesMax))
		}
		for _, decl := range tr.code[name].Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := tr.fset.Position(fn.End()).Line - tr.fset.Position(fn.Pos()).Line + 1; n > functionLinesMax {
				faults = append(faults, fmt.Sprintf("%s: %s has %d lines, at most %d: keep the branches, move the plain parts into functions of their own", tr.place(fn), fn.Name.Name, n, functionLinesMax))
			}
		}
	}
	return faults
}

// skips finds tests that step aside.
func skips(tr *tree) []string {
	var faults []string
	for _, name := range tr.named("_test.go") {
		ast.Inspect(tr.code[name], func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
				return true
			}
			if recv, ok := sel.X.(*ast.Ident); ok && slices.Contains([]string{"t", "b", "f", "tb", "rt"}, recv.Name) {
				faults = append(faults, tr.place(n)+": a skipped test proves nothing: fail and say what is missing (scripts/needs.sh installs it); a fuzz target returns on input it has no use for")
			}
			return true
		})
	}
	return faults
}

// unformatted finds files that gofmt would change.
func unformatted(tr *tree) []string {
	var faults []string
	for _, name := range tr.named(".go") {
		if want, err := format.Source(tr.text[name]); err != nil || !bytes.Equal(want, tr.text[name]) {
			faults = append(faults, name+": not formatted: run make fmt")
		}
	}
	return faults
}
