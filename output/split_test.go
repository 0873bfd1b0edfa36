package output

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/internal/order"
)

// withRoom sets the number of partitions that may be open at the same time, if there may be any, and the memory limit
// for other rows.
func withRoom(room, limit int) func(*Writer) {
	return func(w *Writer) {
		withLimit(limit)(w)
		if s := w.container.(*order.Splitter); s.Room > 0 {
			s.Room = room
		}
	}
}

// treeFiles returns all files of a directory, by name.
func treeFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path[len(dir):]] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestSplit tests that partitions, marker and list have the same bytes for any number of open partitions and any memory
// limit. TestPartition compares these with the rows.
func TestSplit(t *testing.T) {
	urls := shorter(6000)
	for _, test := range []struct {
		name, by string
		spec     tableSpec
		opt      Options
		least    int // partitions
	}{
		{"one", "agent", tableSpec{urls: urls, agents: 1, sites: 9}, Options{}, 1},
		{"two", "allowed", tableSpec{urls: urls, agents: 1, sites: 9}, Options{Columns: []string{"url", "rule"}}, 2},
		{"nulls", "agent,allowed", tableSpec{urls: urls, agents: 3, sites: 40, dirty: true}, Options{Columns: Columns(), RowGroup: 700}, 9},
		{"17", "date", tableSpec{urls: urls, agents: 1, sites: 40}, Options{}, 7},
		{"all", "date,allowed,agent,origin", tableSpec{urls: shorter(2000), agents: 2, sites: 3}, Options{Columns: []string{"line", "url"}}, 60},
		{"strays", "origin", tableSpec{urls: shorter(2500), agents: 1, sites: 4, strays: true}, Options{}, 400},
		{"merged", "allowed,agent", tableSpec{urls: urls, agents: 2, sites: 40, dirty: true}, Options{Mode: PartitionAppend}, 6},
		{"none", "agent", tableSpec{agents: 2, sites: 17}, Options{}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.spec.batch, test.spec.keepRows = 900, true
			table := test.spec.make()
			table.addKept()
			table.addTimes()
			write := func(change func(*Writer), workers int) (map[string]string, []Part) {
				opt := test.opt
				opt.Partition, opt.Kept, opt.Inputs = strings.Split(test.by, ","), keptColumns, table.inputs
				opt.Workers, opt.TempDir = workers, t.TempDir()
				name := filepath.Join(t.TempDir(), "out")
				f, err := create(name, nil, opt, func(w io.Writer, opt Options) (*Writer, error) {
					out, err := newWriter(w, table.catalog, table.agents, opt, container.Metadata{})
					if err == nil {
						change(out)
					}
					return out, err
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range table.batches {
					if err := f.Write(b); err != nil {
						t.Fatal(err)
					}
				}
				if err := f.Commit(); err != nil {
					t.Fatal(err)
				}
				if left := names(t, opt.TempDir); len(left) > 0 {
					t.Errorf("temporary files %q are left", left)
				}
				return treeFiles(t, name), f.Parts()
			}
			want, parts := write(withRoom(0, order.SortMemory), 1)
			if len(want) < test.least+1 {
				t.Errorf("%d files", len(want))
			}
			for i, room := range []int{1, 3, 2000} {
				for _, limit := range []int{1, 300_000} {
					got, list := write(withRoom(room, limit), 1+i%3)
					if !slices.Equal(list, parts) {
						t.Errorf("room for %d, %d bytes: the list of %d files differs", room, limit, len(list))
					}
					if len(got) != len(want) {
						t.Errorf("room for %d, %d bytes: %d files, want %d", room, limit, len(got), len(want))
					}
					for name, data := range want {
						if got[name] != data {
							t.Errorf("room for %d, %d bytes: %s differs", room, limit, name)
						}
					}
				}
			}
		})
	}
}

// TestSplitMany tests a first chunk with too many partitions, after which all rows are sorted, and one with few
// partitions, after which others follow.
func TestSplitMany(t *testing.T) {
	table := tableSpec{urls: 4000, agents: 1, sites: 300, batch: 100}.make()
	for _, test := range []struct {
		room, rows int // of a chunk
		held       bool
	}{{3, 4000, false}, {3, 20, true}, {290, 4000, true}} {
		t.Run(fmt.Sprint(test.room, test.rows), func(t *testing.T) {
			var s *order.Splitter
			opt := Options{Partition: []string{"origin"}, tree: t.TempDir()}
			if _, err := table.writeWith(nil, opt, func(w *Writer) {
				s = w.container.(*order.Splitter)
				s.Room = test.room
				w.chunk.Limits = columnar.Limits{Rows: test.rows, Bytes: 1 << 20}
			}); err != nil {
				t.Fatal(err)
			}
			if held := s.Room > 0; held != test.held {
				t.Errorf("partitions are written side by side: %v", held)
			}
		})
	}
}

// TestSplitRoom tests that open partitions and the sort together stay within the memory limit.
func TestSplitRoom(t *testing.T) {
	for _, test := range []struct {
		opt  Options
		want int
	}{
		{Options{}, 17},
		{Options{SortMemory: 256 << 20}, 8},
		{Options{SortMemory: 64 << 20}, 2},
		{Options{SortMemory: 8 << 20}, 0},
		{Options{SortMemory: 256 << 20, Kept: keptColumns}, 5},
		{Options{Sort: SortOrigin}, 0},
		{Options{Format: ArrowFile}, 0},
		{Options{Layout: Wide, Columns: []string{"line"}}, 0},
	} {
		test.opt.Partition, test.opt.tree = []string{"origin"}, t.TempDir()
		w, err := newWriter(nil, newFakeCatalog(1), []string{"a"}, test.opt, container.Metadata{})
		if err != nil {
			t.Fatal(err)
		}
		if room := w.container.(*order.Splitter).Room; room != test.want {
			t.Errorf("%+v: room for %d, want %d", test.opt, room, test.want)
		}
	}
}

// TestSplitFault ends a run that cannot open the file of a partition while others are open.
func TestSplitFault(t *testing.T) {
	table := tableSpec{urls: 3000, agents: 3, sites: 9, batch: 100}.make()
	opt := Options{Partition: []string{"agent", "allowed"}, tree: t.TempDir()}
	in := filepath.Join(opt.tree, "agent=Bot1")
	if err := os.WriteFile(in, nil, 0o666); err != nil { // in the way of a directory
		t.Fatal(err)
	}
	w, err := table.writeWith(nil, opt, func(*Writer) {})
	if err == nil || !strings.Contains(err.Error(), "agent=Bot1") {
		t.Errorf("%v", err)
	}
	if again := w.Close(); again == nil {
		t.Error("Close says nothing of the error")
	}
}
