package repcase

import (
	"os"
	"path/filepath"
	"testing"
)

// SharedDir returns the folder of large test data that lies beside the source tree in the project's own setup. Where
// it is missing, as in every clone, the test is skipped.
func SharedDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(root(t)), "shared")
	if info, err := os.Stat(filepath.Join(dir, "conformance")); err != nil || !info.IsDir() {
		t.Skipf("large test data is not there: no folder %s", dir)
	}
	return dir
}

// Dir returns the path of testdata/rep.
func Dir(t testing.TB) string {
	t.Helper()
	return filepath.Join(root(t), "testdata", "rep")
}

// root returns the top of the source tree: the nearest folder with a go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}
