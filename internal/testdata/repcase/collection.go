package repcase

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Collection unpacks the collection of real robots.txt into a temporary folder and returns that. It
// skips the test where the large test data is not there.
func Collection(tb testing.TB) (dir string) {
	tb.Helper()
	f, err := os.Open(filepath.Join(SharedDir(tb), "data", "rules.tar.zst"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	dir = tb.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			tb.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), body, 0o600)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// Robots returns real robots.txt: those of testdata/quickstart, and the collection where the large test data is there.
func Robots(tb testing.TB) (all [][]byte) {
	tb.Helper()
	dirs := []string{filepath.Join(root(tb), "testdata", "quickstart", "rules")}
	if _, err := os.Stat(filepath.Join(filepath.Dir(root(tb)), "shared", "data", "rules.tar.zst")); err == nil {
		dirs = append(dirs, Collection(tb))
	}
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
		if err != nil || len(names) == 0 {
			tb.Fatalf("no robots.txt in %s: %v", dir, err)
		}
		for _, name := range names {
			body, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			all = append(all, body)
		}
	}
	return all
}
