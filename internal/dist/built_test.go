package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// full asks for what takes minutes: all targets, and a build that finds nothing in Go's cache.
var full = os.Getenv("ROBOBATCH_DIST") != ""

// targetsHere are those that the tests build.
func targetsHere() []target {
	if full {
		return allTargets
	}
	return []target{hostTarget}
}

// A built release is what the tests of packages look at.
type built struct {
	*release
	dir      string // of the programs, as they were linked
	packages []file
}

// here is the release of the files as they are.
var here = sync.OnceValues(func() (*built, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	r, err := newRelease(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "robobatch-dist-test-")
	if err != nil {
		return nil, err
	}
	packages, err := build(r, dir, targetsHere())
	return &built{r, dir, packages}, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if b, err := here(); err == nil {
		os.RemoveAll(b.dir)
	}
	os.Exit(code)
}

// builtHere returns the release of the files as they are.
func builtHere(t *testing.T) *built {
	t.Helper()
	b, err := here()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// find returns the package whose name has the end, for this machine.
func (b *built) find(t *testing.T, end string) *file {
	t.Helper()
	for i := range b.packages {
		if name := b.packages[i].name; strings.HasSuffix(name, end) {
			return &b.packages[i]
		}
	}
	t.Fatalf("no package %s", end)
	return nil
}

// save writes a package to a directory of the test, and returns its name.
func (p *file) save(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), p.name)
	if err := os.WriteFile(path, p.body, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRun holds that a directory with files is not written to: they would be taken for files of the release.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ out, targets string }{{dir, ""}, {"", ""}, {dir + "-new", "linux/amd64,plan9/amd64"}} {
		if err := run(test.out, test.targets); err == nil {
			t.Errorf("no error for %+v", test)
		}
	}
	if left, err := filepath.Glob(dir + "*"); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	sums := checksums([]file{{name: "b", body: []byte("x")}, {name: "a", body: []byte("y")}})
	if want := hash([]byte("y")) + "  a\n" + hash([]byte("x")) + "  b\n"; string(sums.body) != want {
		t.Errorf("%s, want %s", sums.body, want)
	}
}
