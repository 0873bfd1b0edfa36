package summary

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/robobatch/robobatch/internal/atomicfile"
)

// save saves an empty report under that name.
func save(t *testing.T, name string) error {
	t.Helper()
	f, err := atomicfile.Create(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return new(Report).Save(f)
}

// TestSave checks that statistics replace an old file, and that a failure leaves no file.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.json")
	for range 2 {
		if err := save(t, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := save(t, os.DevNull); err != nil {
		t.Errorf("%s: %v", os.DevNull, err)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		if err := save(t, "/dev/full"); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a full disk: %v", err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v left, %v", left, err)
	}
}
