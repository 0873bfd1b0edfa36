package atomicfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestSetKilled lets a process kill itself before, between or after the renames of two files. Only the second case must
// leave a mixed set, which names the file of each run, and which the next run of one of them removes.
func TestSetKilled(t *testing.T) {
	if dir := os.Getenv("ATOMICFILE_SET"); dir != "" {
		killAfter(t, dir, os.Getenv("ATOMICFILE_NAMES"))
	}
	for _, test := range []struct {
		names         string // how many files get their names
		mixed, remain int    // sets, and notes
	}{{"0", 0, 1}, {"1", 1, 1}, {"2", 0, 1}} {
		dir := t.TempDir()
		for _, name := range []string{"a", "b"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("before"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestSetKilled$")
		cmd.Env = append(os.Environ(), "ATOMICFILE_SET="+dir, "ATOMICFILE_NAMES="+test.names)
		if out, err := cmd.CombinedOutput(); err == nil || len(out) > 0 {
			t.Fatalf("the process was not killed: %v, %s", err, out)
		}
		sets := MixedSets(dir)
		notes, err := filepath.Glob(filepath.Join(dir, ".robobatch.*.set"))
		if err != nil || len(sets) != test.mixed || len(notes) != test.remain {
			t.Errorf("%s names: %v, %v, %v", test.names, sets, notes, err)
		}
		if len(sets) > 0 && (!slices.Equal(sets[0].New, []string{filepath.Join(dir, "a")}) || !slices.Equal(sets[0].Old, []string{filepath.Join(dir, "b")})) {
			t.Errorf("%+v", sets[0])
		}
		end, err := NoteSet(filepath.Join(dir, "a"), "", Stdout)
		if err == nil {
			err = end()
		}
		if notes, _ := filepath.Glob(filepath.Join(dir, ".robobatch.*.set")); err != nil || len(notes) > 0 {
			t.Errorf("%s names: the next run leaves %v, %v", test.names, notes, err)
		}
	}
}

// killAfter writes a and b, and kills the process after that number of renames.
func killAfter(t *testing.T, dir, names string) {
	t.Helper()
	files := make([]*File, 2)
	for i, name := range []string{"a", "b"} {
		f, err := Create(filepath.Join(dir, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = f
	}
	if _, err := NoteSet(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	for i := range names[0] - '0' {
		if err := files[i].Commit(); err != nil {
			t.Fatal(err)
		}
	}
	process, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = process.Kill()
	}
	t.Fatal(err)
}
