package ingest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

func TestOpenLogsNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"b.zst", "a.zst", "c[1].zst", "c1.zst", "sub/d.zst", "e.zst/f"} {
		testpack.WriteFile(t, ".", name, []byte("http://"+name+"/\n"))
	}
	if err := os.Symlink("a.zst", "link"); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		names []string
		want  []string
	}{
		{[]string{"b.zst", "a.zst", "b.zst"}, []string{"b.zst", "a.zst", "b.zst"}},
		{[]string{"*.zst"}, []string{"a.zst", "b.zst", "c1.zst", "c[1].zst"}}, // the directory does not match
		{[]string{"c[1].zst"}, []string{"c[1].zst"}},                          // a file with exactly this name
		{[]string{"[ab].zst"}, []string{"a.zst", "b.zst"}},
		{[]string{"s*/*", "?.zst"}, []string{"sub/d.zst", "a.zst", "b.zst"}},
		{[]string{"link"}, []string{"link"}},
		{[]string{"./a.zst"}, []string{"./a.zst"}},
		{[]string{"a.zst", "-"}, []string{"a.zst", "-"}},
	}
	for _, c := range cases {
		l, err := OpenLogs(c.names, LogOptions{Stdin: strings.NewReader("")})
		if err != nil {
			t.Errorf("%q: %v", c.names, err)
			continue
		}
		var got []string
		for _, in := range l.Inputs() {
			got = append(got, in.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.names, got, c.want)
		}
	}
}

func TestOpenLogsErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("logs/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	testpack.WriteFile(t, ".", "ok", nil)
	cases := []struct {
		names []string
		err   error
		want  string
	}{
		{nil, ErrNoInput, "no input: name a log, or - for standard input"},
		{[]string{"none.zst"}, fs.ErrNotExist, "none.zst: no such file or directory: check the name and the permissions"},
		{[]string{""}, fs.ErrNotExist, `"": no such file or directory: check the name and the permissions`},
		{[]string{"a\nb"}, fs.ErrNotExist, `"a\nb": no such file or directory: check the name and the permissions`},
		{[]string{"*.zst"}, errNoMatch, "*.zst: no file matches the pattern: check the directory and the pattern; directories are ignored"},
		{[]string{"logs/*"}, errNoMatch, "logs/*: no file matches the pattern: check the directory and the pattern; directories are ignored"},
		{[]string{"[a"}, filepath.ErrBadPattern, `[a: syntax error in pattern: quote the pattern's special characters with \`},
		{[]string{"logs"}, errDirectory, "logs: is a directory: name the logs in it, as in logs/*.zst"},
		{[]string{"-", "-"}, errStdinTwice, "standard input: can be read only once: name - once"},
		{
			[]string{"none", "ok", "logs"},
			errDirectory,
			"none: no such file or directory: check the name and the permissions\nlogs: is a directory: name the logs in it, as in logs/*.zst",
		},
	}
	for _, c := range cases {
		_, err := OpenLogs(c.names, LogOptions{})
		if !errors.Is(err, c.err) || err.Error() != c.want {
			t.Errorf("%q: got\n%v\nwant\n%s", c.names, err, c.want)
		}
	}
}

func TestOpenLogsUnreadable(t *testing.T) {
	path := testpack.WriteFile(t, t.TempDir(), "log", nil)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(path); err == nil {
		f.Close()
		t.Skip("this user may read any file")
	}
	_, err := OpenLogs([]string{path}, LogOptions{})
	if want := path + ": permission denied: make it readable"; !errors.Is(err, fs.ErrPermission) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestStdinSize checks that the size of standard input, if it is a file, is its unread part.
func TestStdinSize(t *testing.T) {
	f, err := os.Open(testpack.WriteFile(t, t.TempDir(), "log", []byte("0123456789")))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(3, 0); err != nil {
		t.Fatal(err)
	}
	if got := unpack.SizeOf(f); got != 7 {
		t.Errorf("size = %d, want 7", got)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if got := unpack.SizeOf(r); got != -1 {
		t.Errorf("size of a pipe = %d, want -1", got)
	}
}
