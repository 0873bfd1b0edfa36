package main

import (
	"io"
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
	packages []pack
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
func (b *built) find(t *testing.T, end string) *pack {
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
func (p *pack) save(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), p.name)
	if err := os.WriteFile(path, p.body, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWrite writes a release twice to one directory, and once to one that is none of its own.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dist")
	for _, name := range []string{"robobatch-old.zip", "robobatch-new.zip"} {
		if err := write(io.Discard, dir, []pack{{name, []byte(name)}}); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 2 {
		t.Errorf("%v, %v; want robobatch-new.zip and its checksum", names, err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, sumsName))
	if err != nil || string(sums) != hash([]byte("robobatch-new.zip"))+"  robobatch-new.zip\n" {
		t.Errorf("%q, %v", sums, err)
	}
	other := filepath.Join(dir, "letter.txt")
	if err := os.WriteFile(other, []byte("dear"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := write(io.Discard, dir, nil); err == nil {
		t.Error("a directory with a letter was written to")
	}
	for _, name := range []string{"letter.txt", "robobatch-new.zip"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
