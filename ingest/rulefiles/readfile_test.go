package rulefiles

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestReadRegular compares files that are read by system calls with those read by package os, and checks that it leaves
// files that are not regular, or may have more bytes than their size, to package os.
func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	changed := time.Date(2024, 3, 2, 1, 0, 0, 123456789, time.UTC)
	for _, size := range []int{0, 1, 100, MaxBody - 1, MaxBody, MaxBody + 1, 2 * MaxBody} {
		f := ruleFile{name: "x", path: filepath.Join(dir, "x")}
		want := bytes.Repeat([]byte("0123456789\n"), size/11+1)[:size]
		if err := os.WriteFile(f.path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f.path, changed, changed); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(f.path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.read()
		if err != nil || !bytes.Equal(r.Body, want[:min(size, MaxBody)]) || r.Size != int64(size) || !r.FetchedAt.Equal(info.ModTime()) || r.FetchedAt.Location() != time.UTC {
			t.Errorf("%d bytes: read %d of %d, changed %v: %v", size, len(r.Body), r.Size, r.FetchedAt, err)
		}
		if body, size, at, ok, err := readRegular(f.path); err != nil || ok && (!bytes.Equal(body, r.Body) || size != r.Size || !at.Equal(r.FetchedAt)) {
			t.Errorf("%d of %d bytes, changed %v: %v", len(body), size, at, err)
		}
	}
	for _, name := range []string{dir, "/proc/self/status", os.DevNull} {
		if _, err := os.Stat(name); err != nil {
			continue
		}
		if body, _, _, ok, err := readRegular(name); ok || err != nil {
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
	f := ruleFile{path: filepath.Join(dir, "none")}
	_, err := f.read()
	if pe, ok := errors.AsType[*fs.PathError](err); !ok || !errors.Is(err, fs.ErrNotExist) || pe.Op != "open" || pe.Path != f.path {
		t.Errorf("error %v", err)
	}
}
