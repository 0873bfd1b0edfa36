package repcase

import (
	"os"
	"path/filepath"
	"testing"
)

// SharedDir returns the folder of large test data that is next to the source tree in the project's own setup. Where it
// is missing, as in every clone, the test is skipped.
func SharedDir(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(filepath.Dir(root(tb)), "shared")
	if info, err := os.Stat(filepath.Join(dir, "conformance")); err != nil || !info.IsDir() {
		tb.Skipf("large test data is not there: no folder %s", dir)
	}
	return dir
}

// Dir returns the path of testdata/rep.
func Dir(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(root(tb), "testdata", "rep")
}

// root returns the top of the source tree: the nearest folder with testdata/rep.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "testdata", "rep")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("no testdata/rep above the working directory")
		}
		dir = parent
	}
}
