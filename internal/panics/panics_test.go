package panics

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCatch tests that panics in goroutines, however started, become errors with the stack and the first Where that was
// set.
func TestCatch(t *testing.T) {
	explode := func() error {
		defer At(func() string { return "outer" })
		defer At(func() string { return "a.log: line 7" })
		var all []int
		return errors.New("not " + string(rune(all[3])))
	}
	group, ctx := WithContext(context.Background())
	group.Go(explode)
	plain := new(Group)
	plain.Go(explode)
	sent := make(chan error, 1)
	Send(sent, explode, func(err error) error { return err })
	passedOn := func() error {
		return Catch(func() error { panic(<-Run(explode)) })
	}
	for name, err := range map[string]error{"Catch": Catch(explode), "WithContext": group.Wait(), "Group": plain.Wait(), "Send": <-sent, "Run": <-Run(explode), "passed on": passedOn()} {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := "a.log: line 7: a bug of robobatch stopped the run: panic: runtime error: index out of range [3] with length 0: report it, with the stack that -v prints"; e.Error() != want {
			t.Errorf("%s: %q, want %q", name, e, want)
		}
		if !strings.Contains(e.Stack, "panics.TestCatch.func1") {
			t.Errorf("%s: the stack does not have the function that panicked: %s", name, e.Stack)
		}
	}
	if ctx.Err() == nil {
		t.Error("the context goes on")
	}
	if err := Catch(func() error { return fs.ErrExist }); err != fs.ErrExist { //nolint:errorlint // it is the same
		t.Errorf("an error became %v", err)
	}
	if e := (&Error{Value: fs.ErrExist}); errors.Is(e, fs.ErrExist) {
		t.Error("a panic passes for its value")
	}
}

// bare returns the positions in a file at which goroutines are started whose panic would end the process.
func bare(set *token.FileSet, file *ast.File) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, set.Position(n.Pos()).String()+": go statement")
		case *ast.ImportSpec:
			if n.Path.Value == `"golang.org/x/sync/errgroup"` {
				found = append(found, set.Position(n.Pos()).String()+": errgroup")
			}
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && of.Name == "sync" && n.Sel.Name == "WaitGroup" {
				found = append(found, set.Position(n.Pos()).String()+": sync.WaitGroup")
			}
		}
		return true
	})
	return found
}

// TestGoroutines tests that no other package in any module of the repository starts a goroutine. Tests may.
func TestGoroutines(t *testing.T) {
	set, files := token.NewFileSet(), 0
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || filepath.ToSlash(name) == "../../internal/panics/panics.go" {
			return nil
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		for _, place := range bare(set, file) {
			t.Errorf("%s: start it by package panics, so that a panic becomes an error", place)
		}
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files: %v", files, err)
	}
}

// TestBare tests that the check of TestGoroutines finds each way to start a goroutine, and only the expected one in
// this package.
func TestBare(t *testing.T) {
	for text, want := range map[string]int{
		"package x\nfunc f() { go f() }": 1, "package x\nfunc f() { go func() {}() }": 1, "package x\nimport \"sync\"\nfunc f() { var g sync.WaitGroup; g.Go(f) }": 1,
		"package x\nimport other \"golang.org/x/sync/errgroup\"\nvar g other.Group": 1, "package x\n// go f()\nfunc f() { print(\"go f()\") }": 0,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := bare(set, file); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	text, err := os.ReadFile("panics.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	if file, err := parser.ParseFile(set, "panics.go", text, 0); err != nil || len(bare(set, file)) != 2 {
		t.Errorf("%v, %q", err, bare(set, file))
	}
}
