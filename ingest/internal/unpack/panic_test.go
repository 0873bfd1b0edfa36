package unpack

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/internal/panics"
)

// TestAheadPanics checks that a panic of an unpacking goroutine becomes the error of Read, and that Release returns.
func TestAheadPanics(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.gz")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(make([]byte, 1<<20))
	w.Close()
	if err := os.WriteFile(name, packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	a := newAhead([]string{name}, 2, nil) // causes a panic when it counts bytes
	err := panics.Catch(func() error {
		if err := a.Open(name, nil); err != nil {
			return err
		}
		_, err := io.ReadAll(a)
		return err
	})
	if _, ok := errors.AsType[*panics.Error](err); !ok {
		t.Errorf("it read: %v", err)
	}
	if err := a.Release(); err != nil {
		t.Error(err)
	}
}
