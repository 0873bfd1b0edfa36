package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// check returns a function that fails the test unless a directory has exactly these entries: "name/" or
// "name=contents".
func check(t *testing.T, dir string) func(want ...string) {
	t.Helper()
	return func(want ...string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				got = append(got, e.Name()+"/")
				continue
			}
			got = append(got, e.Name()+"="+string(text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func create(t *testing.T, name, text string) *File {
	t.Helper()
	f, err := Create(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	name, is := filepath.Join(dir, "x.csv"), check(t, dir)
	f, second := create(t, name, "one"), create(t, name, "two")
	if entries, _ := filepath.Glob(filepath.Join(dir, ".x.csv.*-[01].tmp")); len(entries) != 2 {
		t.Errorf("temporary files %q", entries)
	}
	if err := errors.Join(f.Commit(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(second.Close(), second.Close()); err != nil {
		t.Fatal(err)
	}
	is("x.csv=one")
	if err := second.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	third := create(t, name, "three")
	partial, err := third.CommitAs(func(name string) string { return name + ".partial" })
	if err != nil || partial != name+".partial" {
		t.Error(partial, err)
	}
	is("x.csv=one", "x.csv.partial=three")
}

// TestErrors tests that errors name the output rather than its temporary file, and unwrap to the cause.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		filepath.Join(dir, "none", "x"): "directory does not exist",
		dir:                             "is a directory: name a file in it",
	} {
		_, err := Create(name, nil)
		if e, ok := errors.AsType[*Error](err); !ok || e.Name != name || !strings.HasPrefix(err.Error(), "create "+name+": "+want) {
			t.Error(err)
		}
	}
	if _, err := Create(filepath.Join(dir, "none", "x"), nil); !errors.Is(err, ErrNoDirectory) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, name := range []string{Stdout, os.DevNull} {
		if _, err := CreateRegular(name); !errors.Is(err, ErrNotRegular) {
			t.Error(err)
		}
	}
	f := create(t, filepath.Join(dir, "x"), "")
	err := f.Wrap("write", &fs.PathError{Op: "write", Path: f.temp, Err: syscall.ENOSPC})
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "write "+filepath.Join(dir, "x")+": no space left on device: free some space, or write elsewhere" {
		t.Error(err)
	}
	if again := f.Wrap("finish", err); again.Error() != err.Error() {
		t.Error(again)
	}
	if f.Wrap("write", nil) != nil || f.Close() != nil {
		t.Error("an error")
	}
}

// TestCloseError tests that Close returns an error, once, if the temporary file cannot be removed.
func TestCloseError(t *testing.T) {
	f := create(t, filepath.Join(t.TempDir(), "x"), "")
	if err := os.Remove(f.temp); err != nil {
		t.Fatal(err)
	}
	err := f.Close()
	if e, ok := errors.AsType[*Error](err); !ok || e.Name != f.name || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("error %v again", err)
	}
}

func TestStdout(t *testing.T) {
	var out strings.Builder
	f, err := Create(Stdout, &out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if name, err := f.CommitAs(func(string) string { return "other" }); name != Stdout || err != nil || out.String() != "x" {
		t.Errorf("%q, %v, %q", name, err, out.String())
	}
}

// TestInPlace writes to a device, which must stay.
func TestInPlace(t *testing.T) {
	if !InPlace(Stdout) || !InPlace(os.DevNull) || InPlace(t.TempDir()) || InPlace(filepath.Join(t.TempDir(), "x")) {
		t.Error("InPlace")
	}
	f := create(t, os.DevNull, "x")
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Error("the device is gone")
	}
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	name, is := filepath.Join(dir, "out"), check(t, dir)
	foreign := errors.New("foreign")
	var checked error
	begin := func(text string) *Dir {
		d, err := CreateDir(name, func(string) error { return checked })
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.Path(), "part"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, text := range []string{"one", "two"} { // the second replaces the first
		d := begin(text)
		if err := errors.Join(d.Commit(), d.Close()); err != nil {
			t.Fatal(err)
		}
		is("out/")
		check(t, name)("part=" + text)
	}
	checked = foreign
	if err := begin("three").Commit(); !errors.Is(err, foreign) {
		t.Error(err)
	}
	is("out/")
	check(t, name)("part=two")
	checked = nil
	if partial, err := begin("four").CommitAs(func(name string) string { return name + ".partial" }); err != nil || partial != name+".partial" {
		t.Error(partial, err)
	}
	d := begin("five")
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if err := d.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	is("out/", "out.partial/")
	if _, err := CreateDir(".", nil); err == nil {
		t.Error("the working directory")
	}
}

func TestTemp(t *testing.T) {
	dir := t.TempDir()
	f, err := CreateTemp(dir, "x-*")
	if err != nil {
		t.Fatal(err)
	}
	if !f.Named() {
		check(t, dir)()
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Error(err)
	}
	if err := errors.Join(f.Remove(), f.Remove(), (*Temp)(nil).Remove()); err != nil {
		t.Error(err)
	}
	check(t, dir)()
}

// TestLeftovers tests that Leftovers finds files of a process that has ended, but not those of this process, or with
// other names.
func TestLeftovers(t *testing.T) {
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	if isRunning(dead.Process.Pid) {
		t.Skip("nobody knows here whether a process has ended")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "x.csv")
	pid := strconv.Itoa(dead.Process.Pid)
	var want []string
	for _, left := range []string{".x.csv." + pid + "-0.tmp", ".x.csv." + pid + "-12.tmp", ".x.csv." + pid + "-3.old"} {
		want = append(want, filepath.Join(dir, left))
	}
	for _, path := range append(slices.Clone(want), filepath.Join(dir, ".y.csv."+pid+"-0.tmp"), filepath.Join(dir, ".x.csv."+pid+"-a.tmp"), filepath.Join(dir, ".x.csv.tmp")) {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Create(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	slices.Sort(want)
	if got := Leftovers(name); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Leftovers(Stdout); got != nil {
		t.Errorf("standard output: %q", got)
	}
}
