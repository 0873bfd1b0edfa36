package output

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
)

// createTable begins the output of a small table.
func createTable(t *testing.T, name string, stdout io.Writer) (*File, *table, error) {
	t.Helper()
	table := tableSpec{urls: 5000, agents: 1, sites: 10, batch: 1000, keepRows: true}.make()
	format, err := FormatOf(name)
	if err != nil {
		format = Parquet
	}
	f, err := create(name, stdout, Options{Format: format, Inputs: table.inputs}, func(w io.Writer, opt Options) (*Writer, error) {
		return newWriter(w, table.catalog, table.agents, opt, container.Metadata{})
	})
	return f, table, err
}

// mustCreate begins the output of a small table and writes all of it.
func mustCreate(t *testing.T, name string) (*File, *table) {
	t.Helper()
	f, table, err := createTable(t, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range table.batches {
		if err := f.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	return f, table
}

// names lists a directory.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func contentsOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFileCommit(t *testing.T) {
	for format := range Format(container.NumFormats) {
		t.Run(format.String()[1:], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			name := filepath.Join(dir, "out"+format.String())
			if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			f, table := mustCreate(t, name)
			if got := contentsOf(t, name); got != "old" {
				t.Error("the final name changed before Commit")
			}
			if list := names(t, dir); len(list) != 2 || !strings.HasPrefix(list[0], ".out") {
				t.Errorf("files %q", list)
			}
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			sameRows(t, read(t, format, []byte(contentsOf(t, name))).rows, project(table.rows, Long.DefaultColumns()))
			if list := names(t, dir); len(list) != 1 {
				t.Errorf("files %q", list)
			}
		})
	}
}

func TestFileAbort(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.parquet")
	f, _ := mustCreate(t, name)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if list := names(t, dir); len(list) != 0 {
		t.Errorf("files %q", list)
	}
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Commit after Abort: %v", err)
	}
}

func TestFileFault(t *testing.T) {
	for format := range Format(container.NumFormats) {
		t.Run(format.String()[1:], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			name := filepath.Join(dir, "urls.verdicts"+format.String())
			if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			f, table := mustCreate(t, name)
			partial, err := f.Fault()
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(dir, "urls.verdicts.partial"+format.String()); partial != want {
				t.Errorf("partial name %s", partial)
			}
			sameRows(t, read(t, format, []byte(contentsOf(t, partial))).rows, project(table.rows, Long.DefaultColumns()))
			if contentsOf(t, name) != "old" {
				t.Error("the final name changed")
			}
			if err := f.Close(); err != nil || len(names(t, dir)) != 2 {
				t.Errorf("%v, files %q", err, names(t, dir))
			}
		})
	}
}

func TestFileSymlink(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target.parquet")
	link := filepath.Join(dir, "link.parquet")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	f, _ := mustCreate(t, link)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() || len(contentsOf(t, target)) == 0 {
		t.Errorf("the link was replaced, not its target: %v", err)
	}
}

// TestFileDanglingLink tests an output whose name is a link to a missing file, through other links: the file is created
// at the target, and the links stay.
func TestFileDanglingLink(t *testing.T) {
	for name, links := range map[string]map[string]string{
		"relative": {"link.parquet": "sub/target.parquet"},
		"chain":    {"link.parquet": "sub/next", "sub/next": "target.parquet"},
		"up":       {"link.parquet": "away/../target.parquet", "away": "sub/deep"}, // the parent of sub/deep
		"circle":   {"link.parquet": "other", "other": "link.parquet"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "sub", "deep"), 0o700); err != nil {
				t.Fatal(err)
			}
			for link, target := range links {
				if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			link, target := filepath.Join(dir, "link.parquet"), filepath.Join(dir, "sub", "target.parquet")
			f, _ := mustCreate(t, link)
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(link)
			if err != nil {
				t.Fatal(err)
			}
			if name == "circle" { // it leads nowhere
				if !info.Mode().IsRegular() {
					t.Error("the circle is still there")
				}
			} else if info.Mode().IsRegular() || len(contentsOf(t, target)) == 0 {
				t.Error("the link was replaced")
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]error{
		filepath.Join(dir, "missing", "out.parquet"): atomicfile.ErrNoDirectory,
		dir: nil,
	} {
		_, _, err := createTable(t, name, nil)
		fault, ok := errors.AsType[*atomicfile.Error](err)
		if !ok || fault.Name != name || fault.Doing != "create" || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := create(filepath.Join(dir, "out.parquet"), nil, Options{Columns: []string{"x"}}, func(w io.Writer, opt Options) (*Writer, error) {
		return newWriter(w, newFakeCatalog(0), nil, opt, container.Metadata{})
	})
	if !errors.Is(err, columnar.ErrColumn) || len(names(t, dir)) != 0 {
		t.Errorf("%v, files %q", err, names(t, dir))
	}
}

// TestFileRename fails at the last step, because a directory has the final name.
func TestFileRename(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.parquet")
	f, _ := mustCreate(t, name)
	if err := os.MkdirAll(filepath.Join(name, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := f.Commit()
	if fault, ok := errors.AsType[*atomicfile.Error](err); !ok || !strings.HasPrefix(fault.Doing, "rename") {
		t.Error(err)
	}
	if list := names(t, dir); !slices.Equal(list, []string{"out.parquet"}) {
		t.Errorf("files %q", list)
	}
}

// TestFileDiskFull writes to the device that is always full, in place.
func TestFileDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	f, _ := mustCreate(t, "/dev/full")
	err := f.Commit()
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "write /dev/full: no space left on device: free some space") {
		t.Error(err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Fatal("the device is gone")
	}
}

// TestClosedPipe writes to a pipe whose reader has closed it.
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	f, table, err := createTable(t, "-", w)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(table.batches[0]); err != nil {
		t.Fatal(err) // still in the buffer
	}
	err = f.Commit()
	if !errors.Is(err, syscall.EPIPE) || !strings.HasPrefix(err.Error(), "write standard output: ") {
		t.Error(err)
	}
}
