package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/internal/partition"
)

// A steps is a System that counts its calls, and does something in place of one of them.
type steps struct {
	atomicfile.System
	left       int // calls before that one; negative is never
	instead    func() error
	noExchange bool
}

func (s *steps) step(do func() error) error {
	if s.left--; s.left == -1 {
		return s.instead()
	}
	return do()
}

func (s *steps) Rename(from, to string) error {
	return s.step(func() error { return s.System.Rename(from, to) })
}

func (s *steps) Exchange(a, b string) error {
	if s.noExchange {
		return errors.ErrUnsupported
	}
	return s.step(func() error { return s.System.Exchange(a, b) })
}

func (s *steps) MkdirAll(dir string) error {
	return s.step(func() error { return s.System.MkdirAll(dir) })
}

func (s *steps) RemoveAll(name string) error {
	return s.step(func() error { return s.System.RemoveAll(name) })
}

func (s *steps) WriteFile(name string, text []byte) error {
	return s.step(func() error { return s.System.WriteFile(name, text) })
}

func (s *steps) SyncDir(dir string) error {
	return s.step(func() error { return s.System.SyncDir(dir) })
}

func (s *steps) SyncTree(string) error {
	return s.step(func() error { return nil }) // a sync of the whole disk for each of some hundred tests
}

// writeRun writes a table whose inputs, and so its rows, depend on the name of the run. Runs whose names begin with S
// have one agent, and so half of the partitions.
func writeRun(name, run string, mode PartitionMode, sys atomicfile.System) error {
	spec := tableSpec{urls: 120, agents: 2, sites: 5, batch: 50}
	if strings.HasPrefix(run, "S") {
		spec.agents = 1
	}
	table := spec.make()
	table.inputs = []string{run, run, run}
	opt := Options{
		Format: CSV, Columns: []string{"line", "input", "agent", "allowed"}, Partition: []string{"agent", "allowed"}, Mode: mode,
		Inputs: table.inputs, system: sys,
	}
	f, err := create(name, nil, opt, func(w io.Writer, opt Options) (*Writer, error) {
		return newWriter(w, table.catalog, table.agents, opt, container.Metadata{Keys: []string{KeyInputs}, Values: []string{container.JSONText(table.inputs)}})
	})
	if err != nil {
		return err
	}
	defer f.Close()
	for _, b := range table.batches {
		if err := f.Write(b); err != nil {
			return err
		}
	}
	return f.Commit()
}

// A state is the number of rows of each run, by partition.
type state map[string]map[string]int

// readState reads the output like its readers: all files with rows, by partition.
func readState(t *testing.T, dir string) state {
	t.Helper()
	got := state{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".csv") {
			return err
		}
		rel, _ := filepath.Rel(dir, filepath.Dir(path))
		if got[rel] == nil {
			got[rel] = map[string]int{}
		}
		text, err := os.ReadFile(path)
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		for _, line := range lines[1:] {
			_, run, _ := strings.Cut(line, ",")
			got[rel][run]++
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return got
}

// after returns the state after another run has been written to this one.
func (s state) after(mode PartitionMode, run state) state {
	next := state{}
	if mode != PartitionReplace {
		maps.Copy(next, s)
	}
	for part, rows := range run {
		sum := maps.Clone(rows)
		if mode == PartitionAppend {
			for run, n := range next[part] {
				sum[run] += n
			}
		}
		next[part] = sum
	}
	return next
}

func (s state) equal(other state) bool {
	return maps.EqualFunc(s, other, func(a, b map[string]int) bool { return maps.Equal(a, b) })
}

// checkBetween fails the test unless each partition is as in one of the states, or, if it may be missing for a moment,
// has no rows.
func (s state) checkBetween(t *testing.T, mayLack bool, states ...state) {
	t.Helper()
	parts := map[string]bool{}
	for _, one := range append(states, s) {
		for part := range one {
			parts[part] = true
		}
	}
	for part := range parts {
		if known := slices.ContainsFunc(states, func(one state) bool { return maps.Equal(s[part], one[part]) }); !known && (!mayLack || len(s[part]) > 0) {
			t.Errorf("%s has %v, and that is of none of %v", part, s[part], states)
		}
	}
}

// stateOf returns the state of an output that has one run.
func stateOf(t *testing.T, run string) state {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out")
	if err := writeRun(name, run, PartitionNew, nil); err != nil {
		t.Fatal(err)
	}
	return readState(t, name)
}

// TestModes writes to an existing output in each mode.
func TestModes(t *testing.T) {
	a, s := stateOf(t, "A"), stateOf(t, "S")
	if len(a) != 6 || len(s) != 3 {
		t.Fatalf("%d and %d partitions", len(a), len(s))
	}
	for _, mode := range []PartitionMode{PartitionReplace, PartitionByParts, PartitionAppend} {
		name := filepath.Join(t.TempDir(), "out")
		want := state{}
		for _, run := range []string{"A", "S", "B"} {
			if err := writeRun(name, run, mode, nil); err != nil {
				t.Fatal(err)
			}
			want = want.after(mode, stateOf(t, run))
			if got := readState(t, name); !got.equal(want) {
				t.Errorf("%v: after %s %v, want %v", mode, run, got, want)
			}
		}
		m, err := partition.ReadMarker(name)
		if err != nil || m.Metadata[KeyInputs] != `["B","B","B"]` || m.Mode != mode.String() || m.Pending != nil {
			t.Errorf("%v: %+v, %v", mode, m, err)
		}
		if earlier := len(m.Earlier); mode.Merges() && (earlier != 2 || m.Earlier[0].Rows != 240) || !mode.Merges() && earlier != 0 {
			t.Errorf("%v: %d earlier runs", mode, earlier)
		}
		if left := names(t, filepath.Dir(name)); !slices.Equal(left, []string{"out"}) {
			t.Errorf("%v: %q are left", mode, left)
		}
		if err := writeRun(name, "A", PartitionReplace, nil); err != nil { // it still takes all for its own
			t.Error(err)
		}
	}
}

// TestModeErrors tests the errors of each mode, and that the output stays unchanged.
func TestModeErrors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	for _, run := range []string{"A", "S"} {
		if err := writeRun(name, run, PartitionAppend, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := readState(t, name)
	if err := writeRun(name, "B", PartitionNew, nil); !errors.Is(err, ErrOutput) {
		t.Error(err)
	}
	for _, run := range []string{"A", "S"} {
		if err := writeRun(name, run, PartitionAppend, nil); !errors.Is(err, ErrSameRun) {
			t.Error(err)
		}
	}
	for _, change := range []func(*partition.Marker){
		func(m *partition.Marker) { m.PartitionBy = []string{"agent"} },
		func(m *partition.Marker) { m.Format = ".parquet" },
		func(m *partition.Marker) { m.Columns = []string{"line int64"} },
	} {
		other := filepath.Join(t.TempDir(), "out")
		m := partition.Marker{
			Robobatch: partition.MarkerKind, PartitionBy: []string{"agent", "allowed"}, Format: ".csv",
			Columns: []string{"line int64", "input dictionary"},
		}
		m2, err := partition.ReadMarker(name)
		if err != nil {
			t.Fatal(err)
		}
		m.Columns = m2.Columns
		if err := m2.CheckMerge(&m); err != nil {
			t.Error(err)
		}
		change(&m)
		text, err := m.Text()
		if err := errors.Join(err, os.Mkdir(other, 0o700), os.WriteFile(filepath.Join(other, partition.MarkerName), text, 0o600)); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []PartitionMode{PartitionAppend, PartitionByParts} {
			if err := writeRun(other, "B", mode, nil); !errors.Is(err, ErrOther) {
				t.Errorf("%+v: %v", m, err)
			}
		}
	}
	mine := filepath.Join(name, "agent=Bot0", "allowed=true", "mine.csv")
	if err := os.WriteFile(mine, []byte("line,input\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeRun(name, "B", PartitionByParts, nil); !errors.Is(err, partition.ErrForeign) {
		t.Error(err)
	}
	if got := readState(t, name); !got.equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if left := names(t, filepath.Dir(name)); !slices.Equal(left, []string{"out"}) {
		t.Errorf("%q are left", left)
	}
	if _, err := ParsePartitionMode("new"); !errors.Is(err, partition.ErrMode) {
		t.Error(err)
	}
}

// TestRunNames tests that all files of a run have the same name, which depends only on the input.
func TestRunNames(t *testing.T) {
	run := func(run string) string {
		name := filepath.Join(t.TempDir(), "out")
		if err := writeRun(name, run, PartitionAppend, nil); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(name, "*", "*", "*"))
		if err != nil || len(files) != 6 {
			t.Fatalf("%q, %v", files, err)
		}
		for _, file := range files {
			if filepath.Base(file) != filepath.Base(files[0]) {
				t.Errorf("%s and %s", file, files[0])
			}
		}
		return filepath.Base(files[0])
	}
	if a, again, b := run("A"), run("A"), run("B"); a != again || a == b || len(a) != len("part-0123456789abcdef.csv") {
		t.Errorf("%s, %s and %s", a, again, b)
	}
}

// crashed writes a run in a process that is killed instead of a step; a negative step means not at all. It reports
// whether the process was killed.
func crashed(t *testing.T, name, run string, mode PartitionMode, step int, noExchange bool) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("ROBOBATCH_CRASH=%d,%d,%s,%v,%s", step, mode, run, noExchange, name))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != -1 { // by a signal
		t.Fatalf("step %d: %v\n%s", step, err, out)
	}
	return true
}

// TestCrashChild is the process that is killed.
func TestCrashChild(t *testing.T) {
	asked := strings.SplitN(os.Getenv("ROBOBATCH_CRASH"), ",", 5)
	if len(asked) < 5 {
		t.Skip("only a child of TestCrash")
	}
	step, _ := strconv.Atoi(asked[0])
	mode, _ := strconv.Atoi(asked[1])
	sys := &steps{System: atomicfile.OS, left: step, noExchange: asked[3] == "true", instead: func() error {
		self, err := os.FindProcess(os.Getpid())
		if err != nil || self.Kill() != nil {
			os.Exit(3)
		}
		select {} // until it dies
	}}
	if err := writeRun(asked[4], asked[2], PartitionMode(mode), sys); err != nil {
		t.Fatal(err)
	}
}

// TestCrash kills a run at each step with SIGKILL. Each partition must then be old or new, and the next run, the same
// or another one, must continue, even if it is killed in turn.
func TestCrash(t *testing.T) {
	a, s := stateOf(t, "A"), stateOf(t, "S")
	b := stateOf(t, "B")
	for _, test := range []struct {
		mode       PartitionMode
		noExchange bool
	}{{PartitionReplace, false}, {PartitionByParts, false}, {PartitionByParts, true}, {PartitionAppend, false}} {
		t.Run(fmt.Sprintf("%v/exchange=%v", test.mode, !test.noExchange), func(t *testing.T) {
			t.Parallel()
			kills := 0
			begin := func() string {
				name := filepath.Join(t.TempDir(), "out")
				if err := writeRun(name, "A", test.mode, nil); err != nil {
					t.Fatal(err)
				}
				return name
			}
			withS := a.after(test.mode, s)
			for step := 0; ; step++ {
				name := begin()
				if !crashed(t, name, "S", test.mode, step, test.noExchange) {
					break
				}
				kills++
				readState(t, name).checkBetween(t, test.noExchange, a, withS)
				checkNext(t, name, test.mode, withS, b)
			}
			if want := map[PartitionMode]int{PartitionReplace: 4, PartitionByParts: 14, PartitionAppend: 14}[test.mode]; kills < want {
				t.Errorf("killed at %d steps, want %d at the least", kills, want)
			}
			if test.mode == PartitionReplace {
				return
			}
			for step := 0; ; step++ { // killed in the middle, and again while that is completed
				name := begin()
				if !crashed(t, name, "S", test.mode, 8, test.noExchange) {
					t.Fatal("not killed")
				}
				if !crashed(t, name, "B", test.mode, step, test.noExchange) {
					break
				}
				kills++
				readState(t, name).checkBetween(t, test.noExchange, a, withS, withS.after(test.mode, b))
				if err := writeRun(name, "B", test.mode, nil); err != nil && !errors.Is(err, ErrSameRun) {
					t.Fatal(err)
				}
				if got, want := readState(t, name), withS.after(test.mode, b); !got.equal(want) {
					t.Fatalf("step %d: %v, want %v", step, got, want)
				}
			}
			t.Logf("%d kills", kills)
		})
	}
}

// checkNext writes the same run to a copy of the output that a crash has left, and another run to a second copy, and
// checks the results.
func checkNext(t *testing.T, name string, mode PartitionMode, withS, b state) {
	t.Helper()
	left, err := partition.ReadMarker(name)
	if err != nil {
		t.Fatal(err)
	}
	done := left.Pending != nil || left.Metadata[KeyInputs] == `["S","S","S"]` // by the next run, or already
	before := readState(t, name)
	again := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(again, os.DirFS(filepath.Dir(name))); err != nil {
		t.Fatal(err)
	}
	again = filepath.Join(again, "out")
	err = writeRun(again, "S", mode, nil)
	if mayBeThere := mode == PartitionAppend && done; err != nil && (!mayBeThere || !errors.Is(err, ErrSameRun)) {
		t.Fatal(err)
	}
	if got := readState(t, again); !got.equal(withS) {
		t.Fatalf("after the same run %v, want %v", got, withS)
	}
	if done {
		before = withS
	}
	if err := writeRun(name, "B", mode, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := readState(t, name), before.after(mode, b); !got.equal(want) {
		t.Fatalf("after another run %v, want %v", got, want)
	}
	if m, err := partition.ReadMarker(name); err != nil || m.Pending != nil {
		t.Fatalf("%+v, %v", m, err)
	}
}

// TestStepErrors lets a run fail at each step. Each partition must be old or new; if some are new, the error says so,
// and the next run completes the output.
func TestStepErrors(t *testing.T) {
	a, s := stateOf(t, "A"), stateOf(t, "S")
	for _, mode := range []PartitionMode{PartitionReplace, PartitionByParts, PartitionAppend} {
		t.Run(mode.String(), func(t *testing.T) {
			with := a.after(mode, s)
			for step := 0; ; step++ {
				name := filepath.Join(t.TempDir(), "out")
				if err := writeRun(name, "A", mode, nil); err != nil {
					t.Fatal(err)
				}
				sys := &steps{System: atomicfile.OS, left: step, instead: func() error { return syscall.EIO }}
				err := writeRun(name, "S", mode, sys)
				if err == nil {
					break
				}
				if _, ok := errors.AsType[*atomicfile.Error](err); !ok || !errors.Is(err, syscall.EIO) {
					t.Fatalf("step %d: %v", step, err)
				}
				got := readState(t, name)
				got.checkBetween(t, false, a, with)
				says := strings.Contains(err.Error(), "some partitions may be in place") || strings.Contains(err.Error(), "output is complete")
				if !got.equal(a) && !says {
					t.Errorf("step %d: %v does not say that there are new partitions", step, err)
				}
				left := names(t, filepath.Dir(name))
				if !says && !slices.Equal(left, []string{"out"}) {
					t.Errorf("step %d: %q are left after %v", step, left, err)
				}
				if err := writeRun(name, "S", mode, nil); err != nil && (!errors.Is(err, ErrSameRun) || !got.equal(with)) {
					t.Fatalf("step %d: %v", step, err)
				}
				if got := readState(t, name); !got.equal(with) {
					t.Fatalf("step %d: %v, want %v", step, got, with)
				}
			}
		})
	}
}

// TestStoppedAndGone tests a stopped run whose files were removed: the same run can begin again, and another run is
// rejected.
func TestStoppedAndGone(t *testing.T) {
	for _, mode := range []PartitionMode{PartitionByParts, PartitionAppend} {
		name := filepath.Join(t.TempDir(), "out")
		if err := writeRun(name, "A", mode, nil); err != nil {
			t.Fatal(err)
		}
		want := readState(t, name).after(mode, stateOf(t, "S"))
		if !crashed(t, name, "S", mode, 8, false) {
			t.Fatal("not killed")
		}
		temps, err := filepath.Glob(filepath.Join(filepath.Dir(name), ".*.tmp"))
		if err != nil || len(temps) != 1 {
			t.Fatal(temps, err)
		}
		if err := os.RemoveAll(temps[0]); err != nil {
			t.Fatal(err)
		}
		if err := writeRun(name, "B", mode, nil); !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), `["S","S","S"]`) {
			t.Error(err)
		}
		if err := writeRun(name, "S", mode, nil); err != nil {
			t.Error(err)
		}
		if got := readState(t, name); !got.equal(want) {
			t.Errorf("%v: %v, want %v", mode, got, want)
		}
	}
}

// TestConcurrentRuns lets runs append to one output at the same time. No run must be lost.
func TestConcurrentRuns(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	want := stateOf(t, "A")
	if err := writeRun(name, "A", PartitionNew, nil); err != nil {
		t.Fatal(err)
	}
	const runs = 6
	done := make(chan error, runs)
	for i := range runs {
		run := fmt.Sprintf("C%d", i)
		want = want.after(PartitionAppend, stateOf(t, run))
		go func() { done <- writeRun(name, run, PartitionAppend, nil) }()
	}
	for range runs {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := readState(t, name); !got.equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if m, err := partition.ReadMarker(name); err != nil || len(m.Earlier) != runs {
		t.Errorf("%+v, %v", m, err)
	}
}

// A meanwhile is a System that does something else before it first syncs a directory of files.
type meanwhile struct {
	atomicfile.System
	do func()
}

func (m *meanwhile) SyncTree(string) error {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return nil
}

// TestNewTogether lets two runs create the same output at the same time. No run must be lost silently.
func TestNewTogether(t *testing.T) {
	for _, mode := range []PartitionMode{PartitionNew, PartitionReplace, PartitionByParts, PartitionAppend} {
		for _, empty := range []bool{false, true} {
			name := filepath.Join(t.TempDir(), "out")
			if empty {
				if err := os.Mkdir(name, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			want := stateOf(t, "A")
			err := writeRun(name, "S", mode, &meanwhile{atomicfile.OS, func() {
				if err := writeRun(name, "A", mode, nil); err != nil {
					t.Error(err)
				}
			}})
			if mode == PartitionNew {
				if !errors.Is(err, ErrOutput) {
					t.Errorf("%v: %v, want %v", mode, err, ErrOutput)
				}
			} else if want = want.after(mode, stateOf(t, "S")); err != nil {
				t.Errorf("%v: %v", mode, err)
			}
			if got := readState(t, name); !got.equal(want) {
				t.Errorf("%v, empty %v: %v, want %v", mode, empty, got, want)
			}
			if left := names(t, filepath.Dir(name)); !slices.Equal(left, []string{"out"}) {
				t.Errorf("%v: %q are left", mode, left)
			}
		}
	}
}

// TestWriterPartition tests that a Writer, which has no directory, rejects partitions.
func TestWriterPartition(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := newWriter(io.Discard, newFakeCatalog(1), []string{"a"}, Options{Partition: []string{"origin"}}, container.Metadata{}); !errors.Is(err, ErrPartition) {
		t.Error(err)
	}
	if left := names(t, "."); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
