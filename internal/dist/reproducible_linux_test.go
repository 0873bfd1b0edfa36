package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestReproducible builds the commit in two clones, in directories of other names and lengths, with
// another umask, time zone, order of time and environment, and compares all bytes.
func TestReproducible(t *testing.T) {
	first := buildClone(t, "one")
	defer syscall.Umask(syscall.Umask(0o077))
	defer func(zone *time.Location) { time.Local = zone }(time.Local)
	time.Local = time.FixedZone("", -7*3600)
	for key, value := range map[string]string{
		"TZ": "Pacific/Auckland", "LC_ALL": "tr_TR.UTF-8", "GOAMD64": "v3", "GOFLAGS": "-buildvcs=true", "CGO_ENABLED": "1", "USER": "another",
	} {
		t.Setenv(key, value)
	}
	if full {
		t.Setenv("GOCACHE", t.TempDir())
	}
	second := buildClone(t, "another directory, at a greater depth/two")
	if len(first) != len(second) || len(first) == 0 {
		t.Fatalf("%d and %d packages", len(first), len(second))
	}
	for i := range first {
		if first[i].name != second[i].name || !bytes.Equal(first[i].body, second[i].body) {
			at, n := 0, min(len(first[i].body), len(second[i].body))
			for at < n && first[i].body[at] == second[i].body[at] {
				at++
			}
			t.Errorf("%s and %s differ from byte %d on", first[i].name, second[i].name, at)
		}
	}
}

// buildClone returns the packages of a clone of the repository in a directory of that name, and its
// checksums.
func buildClone(t *testing.T, name string) []file {
	t.Helper()
	root := filepath.Join(t.TempDir(), name)
	out, err := exec.Command("git", "clone", "-q", "--no-hardlinks", "../..", root).CombinedOutput()
	if err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	old := time.Now().Add(-time.Duration(len(name)) * 24 * time.Hour)
	if err := os.Chtimes(filepath.Join(root, "README.md"), old, old); err != nil {
		t.Fatal(err)
	}
	r, err := newRelease(root)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := build(r, t.TempDir(), targetsHere())
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(packages, []file{checksums(packages)})
}
