package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestMode tests that a replaced file or directory keeps its permissions.
func TestMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	for _, mode := range []os.FileMode{0o600, 0o640, 0o666} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		f, err := Create(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != mode || info.Size() != 3 {
			t.Errorf("%v: %v, %v", mode, info.Mode(), err)
		}
	}
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := CreateDir(tree, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(tree); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestTaken tests the error if another process has removed the temporary file.
func TestTaken(t *testing.T) {
	f, err := Create(filepath.Join(t.TempDir(), "x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.temp); err != nil {
		t.Skipf("it is open, so that nobody can remove it: %v", err)
	}
	if err := f.Commit(); !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
