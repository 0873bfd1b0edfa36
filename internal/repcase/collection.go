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
	defer f.Close() //nolint:errcheck // nothing was written
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
