package atomicfile

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A loggedSystem notes the calls, by the bases of the names, and fails the one that is named.
type loggedSystem struct {
	System
	calls []string
	fail  string
}

func (s *loggedSystem) call(name string, paths ...string) error {
	words := []string{name}
	for _, path := range paths {
		base := filepath.Base(path)
		if strings.HasSuffix(base, ".tmp") {
			base = "temp"
		}
		words = append(words, base)
	}
	name = strings.Join(words, " ")
	s.calls = append(s.calls, name)
	if s.fail != "" && strings.HasPrefix(name, s.fail) {
		return &os.PathError{Op: name, Path: paths[0], Err: syscall.EIO}
	}
	return nil
}

func (s *loggedSystem) Rename(from, to string) error {
	return cmpErr(s.call("rename", from, to), func() error { return s.System.Rename(from, to) })
}

func (s *loggedSystem) Exchange(a, b string) error {
	return cmpErr(s.call("exchange", a, b), func() error { return s.System.Exchange(a, b) })
}

func (s *loggedSystem) RemoveAll(name string) error {
	return cmpErr(s.call("remove", name), func() error { return s.System.RemoveAll(name) })
}

func (s *loggedSystem) SyncDir(dir string) error {
	return cmpErr(s.call("sync", dir), func() error { return s.System.SyncDir(dir) })
}

func (s *loggedSystem) SyncTree(dir string) error {
	return cmpErr(s.call("synctree", dir), func() error { return s.System.SyncTree(dir) })
}

func cmpErr(err error, do func() error) error {
	if err != nil {
		return err
	}
	return do()
}

// TestSteps tests the steps of a commit, and the result if one of them fails.
func TestSteps(t *testing.T) {
	for _, test := range []struct {
		dir   bool
		fail  string
		steps string // the parent directory is P
		err   string // after "create NAME: "
		left  string // the text that the name has
	}{
		{false, "", "rename temp x;sync P", "", "new"},
		{false, "rename", "rename temp x", "rename the temporary file of x: input/output error", "old"},
		{
			false, "sync", "rename temp x;sync P",
			"sync the directory of x: input/output error: the output is complete, but a power failure might undo that", "new",
		},
		{true, "", "synctree temp;exchange temp x;sync P;remove temp", "", "new"},
		{true, "synctree", "synctree temp;remove temp", "finish x: input/output error", "old"},
		{true, "exchange", "synctree temp;exchange temp x;remove temp", "rename the temporary directory of x: input/output error", "old"},
		{
			true, "sync P", "synctree temp;exchange temp x;sync P",
			"sync the directory of x: input/output error: the output is complete, but a power failure might undo that", "new",
		},
		{
			true, "remove", "synctree temp;exchange temp x;sync P;remove temp",
			"replace x: input/output error: the new output is complete; remove TEMP, the old one", "new",
		},
	} {
		t.Run(fmt.Sprintf("dir=%v/fail=%s", test.dir, test.fail), func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), "P")
			name := filepath.Join(parent, "x")
			sys := &loggedSystem{System: OS, fail: test.fail}
			got, err := commitWith(t, name, test.dir, sys)
			if steps := strings.Join(sys.calls, ";"); steps != test.steps {
				t.Errorf("steps %s, want %s", steps, test.steps)
			}
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), name, "x")
				text = regexp.MustCompile(`\S*\.tmp`).ReplaceAllString(text, "TEMP")
			}
			if text != test.err || got != test.left {
				t.Errorf("%q with the error %q, want %q and %q", got, text, test.left, test.err)
			}
		})
	}
}

// commitWith replaces an old file or directory, and returns the content afterwards.
func commitWith(t *testing.T, name string, dir bool, sys System) (string, error) {
	t.Helper()
	if !dir {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("old"), 0o600)); err != nil {
			t.Fatal(err)
		}
		f := create(t, name, "new")
		f.sys = sys
		err := f.Commit()
		text, _ := os.ReadFile(name)
		return string(text), err
	}
	if err := errors.Join(os.MkdirAll(name, 0o700), os.WriteFile(filepath.Join(name, "part"), []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	d, err := CreateDir(name, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	d.sys = sys
	if err := os.WriteFile(filepath.Join(d.Path(), "part"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = d.Commit()
	text, _ := os.ReadFile(filepath.Join(name, "part"))
	return string(text), err
}

// TestTraced runs this package under strace: a file must be synced before it is renamed, and its directory afterwards.
func TestTraced(t *testing.T) {
	if name := os.Getenv("ATOMICFILE_TRACED"); name != "" {
		if _, err := commitWith(t, name, false, OS); err != nil {
			t.Fatal(err)
		}
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace")
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	cmd := exec.Command(strace, "-f", "-y", "-e", "trace=fsync,rename,renameat,renameat2", "-o", log, os.Args[0], "-test.run=^TestTraced$")
	cmd.Env = append(os.Environ(), "ATOMICFILE_TRACED="+filepath.Join(dir, "P", "x"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("strace cannot trace here: %v\n%s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for line := range strings.Lines(string(text)) {
		switch {
		case !strings.Contains(line, filepath.Join(dir, "P")):
		case strings.Contains(line, "fsync(") && strings.Contains(line, ".tmp>"):
			steps = append(steps, "sync the file")
		case strings.Contains(line, "rename"):
			steps = append(steps, "rename")
		case strings.Contains(line, "fsync("):
			steps = append(steps, "sync the directory")
		}
	}
	if want := []string{"sync the file", "rename", "sync the directory"}; !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q, in\n%s", steps, want, text)
	}
}

func (s *loggedSystem) Link(from, to string) error {
	return cmpErr(s.call("link", from, to), func() error { return s.System.Link(from, to) })
}

// TestCommitAll tests that whichever step fails, either all files are new or all are old, and no other name is left.
func TestCommitAll(t *testing.T) {
	for _, fail := range []string{"", "rename temp a", "rename temp b", "rename temp c", "link"} {
		t.Run("fail="+fail, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"a", "c"} { // b is new
				if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			sys := &loggedSystem{System: OS, fail: fail}
			var files []*File
			for _, name := range []string{"a", "b", "c"} {
				f := create(t, filepath.Join(dir, name), "new")
				f.sys = sys
				files = append(files, f)
			}
			err := CommitAll(files...)
			got := map[string]string{}
			entries, errDir := os.ReadDir(dir)
			if errDir != nil {
				t.Fatal(errDir)
			}
			for _, e := range entries {
				text, errRead := os.ReadFile(filepath.Join(dir, e.Name()))
				if errRead != nil {
					t.Fatal(errRead)
				}
				got[e.Name()] = string(text)
			}
			want := map[string]string{"a": "old", "c": "old"}
			isDone := fail == "" || fail == "link"
			if isDone {
				want = map[string]string{"a": "new", "b": "new", "c": "new"}
			}
			if !maps.Equal(got, want) || (err == nil) != isDone {
				t.Errorf("%v: got %v, want %v, by %q", err, got, want, sys.calls)
			}
		})
	}
}

// TestCommitAllStays tests that the error names the new file if the old one could not be kept.
func TestCommitAllStays(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(a, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, second := create(t, a, "new"), create(t, b, "new")
	first.sys = &loggedSystem{System: OS, fail: "link"}
	second.sys = &loggedSystem{System: OS, fail: "rename"}
	err := CommitAll(first, second)
	if text, _ := os.ReadFile(a); string(text) != "new" || err == nil || !strings.Contains(err.Error(), "undo "+a+": the file system does not support a second name") {
		t.Errorf("%q, %v", text, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%v are left", entries)
	}
}
