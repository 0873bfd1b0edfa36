//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDescriptor(t *testing.T) {
	dir := t.TempDir()
	pid := os.Getpid()
	link := filepath.Join(dir, "link")
	next := filepath.Join(dir, "next")
	if err := errors.Join(os.Symlink("/dev/stderr", link), os.Symlink("link", next)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{
		"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/3": 3, "/dev/../dev/fd/12": 12,
		link: 2, next: 2,
		"-": -1, "x": -1, "/dev/null": -1, "/dev/fd": -1, "/dev/fd/": -1, "/dev/fd/x": -1, "/dev/fd/-1": -1, "/dev/fd/99999999999": -1,
		filepath.Join(dir, "none", "1"): -1, filepath.Join(dir, "1"): -1,
	} {
		if got := Descriptor(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	for name, want := range map[string]int{
		"/proc/self/fd/3": 3, fmt.Sprintf("/proc/%d/fd/4", pid): 4, "/proc/thread-self/fd/5": 5, "/proc/1/fd/1": -1,
		fmt.Sprintf("/proc/%d/fdinfo/1", pid): -1,
	} {
		if got := Descriptor(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

// given returns a file like one that the process inherited, and the name of its descriptor.
func given(t *testing.T, mode int) (*os.File, string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "f"), mode|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	return f, fmt.Sprintf("/dev/fd/%d", f.Fd())
}

// TestWriteDescriptor tests that a descriptor is written at its offset, stays open, and is not renamed or removed.
func TestWriteDescriptor(t *testing.T) {
	for _, mode := range []int{os.O_RDWR, os.O_RDWR | os.O_APPEND} {
		f, name := given(t, mode)
		if _, err := f.WriteString("first\n"); err != nil {
			t.Fatal(err)
		}
		if !InPlace(name) {
			t.Errorf("%s is not written in place", name)
		}
		out := create(t, name, "second\n")
		if at := out.Offset(); at != int64(len("first\nsecond\n")) {
			t.Errorf("offset %d", at)
		}
		if _, err := out.CommitAs(func(string) string { return "other" }); err != nil {
			t.Fatal(err)
		}
		dropped := create(t, name, "third\n")
		if err := dropped.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("fourth\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(f); err != nil || string(text) != "first\nsecond\nthird\nfourth\n" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

func TestDescriptorErrors(t *testing.T) {
	_, name := given(t, os.O_RDONLY)
	if _, err := Create(name, nil); !errors.Is(err, errNotWritable) {
		t.Error(err)
	}
	own, err := os.Create(filepath.Join(t.TempDir(), "own"))
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	for _, name := range []string{fmt.Sprintf("/dev/fd/%d", own.Fd()), "/dev/fd/9999"} {
		if _, err := Create(name, nil); !errors.Is(err, errNotGiven) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
