package summary

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSave writes statistics over an old file, and fails without a trace.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.json")
	for range 2 {
		if err := new(Report).Save(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := new(Report).Save(os.DevNull, nil); err != nil {
		t.Errorf("%s: %v", os.DevNull, err)
	}
	if err := new(Report).Save(filepath.Join(dir, "no", "x.json"), nil); err == nil {
		t.Error("no error for a missing directory")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v left, %v", left, err)
	}
}
