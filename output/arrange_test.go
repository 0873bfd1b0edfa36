package output

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/internal/order"
	"github.com/robobatch/robobatch/output/internal/partition"
)

// addTimes adds random times to rows, some of them unknown, and their days as a last column.
func (t *table) addTimes() {
	rng := rand.New(rand.NewPCG(5, 6))
	row := 0
	for _, b := range t.batches {
		for range b.Len() {
			at := time.Date(1969, 12, 29, 22, 0, 0, 0, time.UTC).Add(time.Duration(rng.IntN(150)) * time.Hour)
			micros, day := at.UnixMicro(), any(at.Format(time.DateOnly))
			if rng.IntN(10) == 0 {
				micros, day = math.MinInt64, nil
			}
			b.Times = append(b.Times, micros)
			for range t.agents {
				t.rows[row] = append(t.rows[row], day)
				row++
			}
		}
	}
}

// value returns a value as text that sorts like the value, with nulls last.
func value(v any) string {
	if v == nil {
		return "\xff"
	}
	return fmt.Sprint(v)
}

// sortedRows sorts rows by a column, in the obvious way.
func sortedRows(rows [][]any, col int) [][]any {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b []any) int { return cmp.Compare(value(a[col]), value(b[col])) })
	return rows
}

// arrangedTable has kept columns, times, strays and invalid UTF-8.
func arrangedTable(urls int) *table {
	t := tableSpec{urls: urls, agents: 2, sites: 40, batch: 900, dirty: true, keepRows: true}.make()
	t.addKept()
	t.addTimes()
	return t
}

// arranger returns the Arranger of a Writer.
func arranger(w *Writer) *order.Arranger {
	if s, ok := w.container.(*order.Splitter); ok {
		return s.Rest
	}
	return w.container.(*order.Arranger)
}

// withLimit sets the memory limit of the Arranger, below the minimum of Options, and the limits of a chunk.
func withLimit(limit int) func(*Writer) {
	return func(w *Writer) {
		arranger(w).Limit = limit
		w.chunk.Limits = columnar.Limits{Rows: 500, Bytes: 40_000}
	}
}

// writeWith writes the table with a Writer that change has modified.
func (t *table) writeWith(w io.Writer, opt Options, change func(*Writer)) (*Writer, error) {
	opt.Inputs = t.inputs
	out, err := newWriter(w, t.catalog, t.agents, opt, container.Metadata{})
	if err != nil {
		return nil, err
	}
	change(out)
	for _, b := range t.batches {
		if err := out.Write(b); err != nil {
			return out, err
		}
	}
	return out, out.Close()
}

// TestSort compares the output with sorted rows. It sorts in memory and with files that are merged once or several
// times, which must give the same bytes.
func TestSort(t *testing.T) {
	urls, limits := 9000, []int{1, 300_000, 1_000_000}
	if testing.Short() {
		urls, limits = 2000, limits[:2] // the last is for more rows
	}
	table := arrangedTable(urls)
	want := sortedRows(table.rows, colOrigin)
	for i := range want {
		want[i] = want[i][:len(want[i])-1] // the day
	}
	for _, f := range testedFormats() {
		t.Run(f.String()[1:], func(t *testing.T) {
			t.Parallel()
			opt := Options{Format: f, Columns: Columns(), Kept: keptColumns, Sort: SortOrigin, TempDir: t.TempDir()}
			data := table.bytes(t, opt)
			sameRows(t, read(t, f, data).rows, want)
			for _, limit := range limits {
				opt.Workers = limit % 3
				var buf bytes.Buffer
				var a *order.Arranger
				w, err := table.writeWith(&buf, opt, func(w *Writer) {
					withLimit(limit)(w)
					a = arranger(w)
				})
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(buf.Bytes(), data) {
					t.Errorf("with %d bytes of memory the output is another", limit)
				}
				if a.Spill.Runs() == 0 {
					t.Errorf("with %d bytes of memory nothing was written to a file", limit)
				}
				if w.Rows() != int64(len(want)) {
					t.Errorf("%d rows", w.Rows())
				}
			}
			if left := names(t, opt.TempDir); len(left) > 0 {
				t.Errorf("temporary files %q are left", left)
			}
		})
	}
}

// TestSortColumns sorts by an origin that is not written, and sorts rows in the wide layout.
func TestSortColumns(t *testing.T) {
	table := tableSpec{urls: 5000, agents: 2, sites: 40, batch: 900, keepRows: true}.make()
	for _, f := range []Format{Parquet, ArrowFile} {
		got := read(t, f, table.bytes(t, Options{Format: f, Columns: []string{"rule", "line"}, Sort: SortOrigin}))
		if !slices.Equal(got.columns, []string{"rule", "line"}) {
			t.Errorf("columns %q", got.columns)
		}
		sameRows(t, got.rows, project(sortedRows(table.rows, colOrigin), got.columns))

		opt := Options{Format: f, Layout: Wide, Columns: []string{"origin", "line", "allowed", "reason", "rule_line", "rule"}}
		want := sortedRows(read(t, f, table.bytes(t, opt)).rows, 0)
		opt.Sort = SortOrigin
		sameRows(t, read(t, f, table.bytes(t, opt)).rows, want)
	}
}

// readTree returns the rows of a partitioned output by directory, and the names of files that are not part of it.
func readTree(t *testing.T, f Format, dir string) (parts map[string]contents, others []string) {
	t.Helper()
	parts = map[string]contents{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.Name() != "part-0"+f.String() {
			others = append(others, rel)
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			parts[filepath.ToSlash(filepath.Dir(rel))] = read(t, f, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return parts, others
}

// TestPartition compares each partition with its rows, in order, for all columns that can partition and some
// combinations, in memory and with files.
func TestPartition(t *testing.T) {
	table := arrangedTable(shorter(6000))
	width := len(table.rows[0])
	columnOf := map[string]int{"origin": colOrigin, "agent": colAgent, "allowed": colAllowed, "date": width - 1}
	for _, test := range []struct {
		by   string
		sort Sort
		f    Format
	}{
		{"origin", SortNone, Parquet},
		{"agent", SortOrigin, Parquet},
		{"allowed", SortNone, ArrowFile},
		{"date", SortNone, Parquet},
		{"agent,allowed", SortNone, ArrowStream},
		{"date,allowed,agent", SortOrigin, Parquet},
		{"allowed,origin", SortOrigin, Parquet},
	} {
		t.Run(strings.ReplaceAll(test.by, ",", "+")+test.f.String(), func(t *testing.T) {
			t.Parallel()
			by := strings.Split(test.by, ",")
			rows := table.rows
			if test.sort == SortOrigin {
				rows = sortedRows(rows, colOrigin)
			}
			want := map[string][][]any{}
			for _, row := range rows {
				var dirs []string
				left := slices.Clone(row)
				for _, name := range by {
					text := partition.HiveNull
					if v := row[columnOf[name]]; v != nil {
						text = url.PathEscape(fmt.Sprint(v))
						text = strings.NewReplacer(":", "%3A", "=", "%3D").Replace(text)
					}
					dirs = append(dirs, name+"="+text)
					left[columnOf[name]] = "-"
				}
				left = slices.DeleteFunc(left[:width-1], func(v any) bool { return v == "-" })
				want[strings.Join(dirs, "/")] = append(want[strings.Join(dirs, "/")], left)
			}
			for i, limit := range []int{order.SortMemory, 400_000, 400_000} {
				dir := t.TempDir()
				opt := Options{Format: test.f, Columns: Columns(), Kept: keptColumns, Sort: test.sort, Partition: by, tree: dir, Workers: 2}
				if _, err := table.writeWith(nil, opt, withRoom([]int{0, 0, 3}[i], limit)); err != nil {
					t.Fatal(err)
				}
				parts, others := readTree(t, test.f, dir)
				if !slices.Equal(others, []string{partition.MarkerName}) {
					t.Errorf("other files: %q", others)
				}
				if len(parts) != len(want) {
					t.Errorf("%d partitions, want %d", len(parts), len(want))
				}
				for name, part := range parts {
					sameRows(t, part.rows, want[name])
					for _, col := range by {
						if slices.Contains(part.columns, col) {
							t.Errorf("%s: columns %q", name, part.columns)
						}
					}
				}
			}
		})
	}
}

// TestHiveName tests values that need escaping or truncation in directory names.
func TestHiveName(t *testing.T) {
	long := "https://" + strings.Repeat("é", 300)
	for _, test := range []struct {
		value string
		ok    bool
		want  string
		cut   bool
	}{
		{"https://a.example:8080", true, "x=https%3A%2F%2Fa.example%3A8080", false},
		{"*", true, "x=%2A", false},
		{"100%", true, "x=100%25", false},
		{"a=b\x01\x7f[{^}]", true, "x=a%3Db%01%7F%5B%7B%5E}%5D", false},
		{"bücher -_.~", true, "x=bücher -_.~", false},
		{"", true, "x=__HIVE_DEFAULT_PARTITION__", false},
		{"", false, "x=__HIVE_DEFAULT_PARTITION__", false},
	} {
		if got, cut := partition.HiveName("x", []byte(test.value), test.ok); got != test.want || cut != test.cut {
			t.Errorf("%q: %s", test.value, got)
		}
	}
	for n := range 300 {
		a, cutA := partition.HiveName("origin", []byte(strings.Repeat("x", n)+long+"1"), true)
		b, cutB := partition.HiveName("origin", []byte(strings.Repeat("x", n)+long+"2"), true)
		if a == b || !cutA || !cutB || len(a) > partition.MaxName || strings.ToValidUTF8(a, "") != a || len(a) < partition.MaxName-4 {
			t.Fatalf("%s and %s", a, b)
		}
		if _, err := url.PathUnescape(a); err != nil {
			t.Fatal(err)
		}
	}
}

// TestArrangeErrors tests invalid orders and partitions.
func TestArrangeErrors(t *testing.T) {
	for _, test := range []struct {
		opt  Options
		want string
	}{
		{Options{Partition: []string{"url"}}, `by "url": use origin, agent, allowed, reason, date`},
		{Options{Partition: []string{"agent", "agent"}}, "agent is named twice"},
		{Options{Partition: []string{"agent"}, Layout: Wide}, "use the long layout"},
		{Options{Partition: []string{"agent"}, Columns: []string{"agent"}}, "the files would have no columns"},
		{Options{Partition: []string{"date"}, Kept: []KeptColumn{{Name: "date"}}}, "remove it from -keep"},
	} {
		_, err := newWriter(nil, newFakeCatalog(1), []string{"a"}, test.opt, container.Metadata{})
		if !errors.Is(err, ErrPartition) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.opt, err, test.want)
		}
	}
	if _, err := ParseSort("url"); !errors.Is(err, order.ErrSort) {
		t.Error(err)
	}
}

// TestArrangeDiskFull lets the output fail after each number of bytes.
func TestArrangeDiskFull(t *testing.T) {
	table := arrangedTable(3000)
	opt := Options{Columns: Columns(), Kept: keptColumns, Sort: SortOrigin, TempDir: t.TempDir()}
	size := len(table.bytes(t, opt))
	for _, room := range []int{0, 3, size / 2, size - 1} {
		disk := fullDisk(room)
		if _, err := table.writeWith(&disk, opt, withLimit(300_000)); !errors.Is(err, errDisk) {
			t.Errorf("room for %d of %d bytes: %v", room, size, err)
		}
	}
	opt.TempDir = filepath.Join(opt.TempDir, "none")
	if _, err := table.writeWith(io.Discard, opt, withLimit(300_000)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory for the temporary file: %v", err)
	}
}

// TestArrangeCancel cancels the work while a sorted piece is written, and at the end.
func TestArrangeCancel(t *testing.T) {
	table := arrangedTable(3000)
	cancel := make(chan struct{})
	close(cancel)
	for _, limit := range []int{300_000, order.SortMemory} {
		opt := Options{Columns: Columns(), Kept: keptColumns, Sort: SortOrigin, TempDir: t.TempDir(), Cancel: cancel}
		if _, err := table.writeWith(io.Discard, opt, withLimit(limit)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if left := names(t, opt.TempDir); len(left) > 0 {
			t.Errorf("temporary files %q are left", left)
		}
	}
}

// createTree begins a partitioned output of a small table, and writes all of it.
func createTree(t *testing.T, name string) (*File, error) {
	t.Helper()
	table := tableSpec{urls: 500, agents: 2, sites: 10, batch: 100}.make()
	f, err := create(name, nil, Options{Partition: []string{"agent", "origin"}, Mode: PartitionReplace, Inputs: table.inputs}, func(w io.Writer, opt Options) (*Writer, error) {
		return newWriter(w, table.catalog, table.agents, opt, container.Metadata{})
	})
	if err != nil {
		return nil, err
	}
	for _, b := range table.batches {
		if err := f.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	return f, nil
}

// TestTree ends a partitioned output in each way, if there is nothing, an empty directory or an existing output.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	end := func(do func(*File) error) {
		t.Helper()
		f, err := createTree(t, name+"/")
		if err != nil {
			t.Fatal(err)
		}
		if err := do(f); err != nil {
			t.Fatal(err)
		}
	}
	end((*File).Abort)
	if left := names(t, dir); len(left) > 0 {
		t.Fatalf("%q are left", left)
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		t.Fatal(err)
	}
	end((*File).Commit)
	old := filepath.Join(name, "agent=old")
	if err := os.Mkdir(old, 0o777); err != nil {
		t.Fatal(err)
	}
	end((*File).Commit)
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the old output was not replaced")
	}
	parts, _ := readTree(t, Parquet, name)
	if len(parts) < 20 {
		t.Errorf("%d partitions", len(parts))
	}
	end(func(f *File) error {
		partial, err := f.Fault()
		if partial != name+".partial" {
			t.Errorf("the partial output is %s", partial)
		}
		return err
	})
	if left := names(t, dir); !slices.Equal(left, []string{"out", "out.partial"}) {
		t.Errorf("%q are left", left)
	}
}

// TestTreeForeign tests that a directory with other files is not replaced, even if they appear just before the end.
func TestTreeForeign(t *testing.T) {
	dir := t.TempDir()
	name, mine := filepath.Join(dir, "out"), filepath.Join(dir, "out", "mine")
	f, err := createTree(t, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); !errors.Is(err, partition.ErrForeign) {
		t.Error(err)
	}
	if _, err := createTree(t, name); !errors.Is(err, partition.ErrForeign) {
		t.Error(err)
	}
	if _, err := createTree(t, mine); err == nil {
		t.Error("a file was taken for a directory")
	}
	if _, err := createTree(t, filepath.Join(dir, "none", "out")); !errors.Is(err, atomicfile.ErrNoDirectory) {
		t.Error(err)
	}
	if left := names(t, dir); !slices.Equal(left, []string{"out"}) {
		t.Errorf("%q are left", left)
	}
	if err := os.Rename(name, name+".partial"); err != nil {
		t.Fatal(err)
	}
	if _, err := createTree(t, name); !errors.Is(err, partition.ErrForeign) || !strings.Contains(err.Error(), name+".partial, for rows written before an input fails: ") {
		t.Error(err)
	}
}

// TestTreeKeepsFiles tests that an output is not replaced if another program has added files to it, at any depth.
func TestTreeKeepsFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	f, err := createTree(t, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob(filepath.Join(name, "*", "*", "part-0.parquet"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("%d files in %s: %v", len(parts), name, err)
	}
	leaf := filepath.Dir(parts[0])
	for _, mine := range []string{
		filepath.Join(name, "notes.txt"), filepath.Join(name, "part-0.parquet"), filepath.Join(filepath.Dir(leaf), "notes.txt"),
		filepath.Join(leaf, "notes.txt"), filepath.Join(leaf, "_robobatch.json"),
	} {
		if err := os.WriteFile(mine, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(name, mine)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := createTree(t, name); !errors.Is(err, partition.ErrForeign) || !strings.HasSuffix(err.Error(), "; one is "+rel) {
			t.Errorf("%s: %v", rel, err)
		}
		if err := os.Remove(mine); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, filepath.Join(name, "agent=link")); err != nil {
		t.Fatal(err)
	}
	if _, err := createTree(t, name); !errors.Is(err, partition.ErrForeign) {
		t.Error(err)
	}
	if left := names(t, dir); !slices.Equal(left, []string{"out"}) {
		t.Errorf("%q are left", left)
	}
}
