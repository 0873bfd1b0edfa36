package output

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/internal/order"
	"github.com/robobatch/robobatch/output/internal/partition"
)

// Options choose the output of a Writer. The zero value is the default columns as Parquet.
type Options struct {
	Format Format
	Layout Layout // the meaning of a row
	Where  Where  // which rows are written

	// Old, unless it is nil, is the store of [engine.Options].Old. Then the rows that changed are
	// written, in the layout Long and without a Where, and the columns are [ChangeColumns].
	Old *engine.Store

	Columns []string     // which columns, and their order; nil means Layout.DefaultColumns
	Kept    []KeptColumn // columns of the input, by index in Batch.Kept, written behind the others
	Inputs  []string     // names of the inputs, by Batch.Input; "" for one that is not here
	Version string       // of the program, for the metadata and as Parquet's creator; "" is "devel"
	Workers int          // chunks that are encoded at once, but for Arrow; 1 or less means that Write encodes. It changes no byte

	Compression Compression // of columns
	Level       int         // of the compression, for Parquet: 1 to 22 for Zstd, 1 to 9 for Gzip; 0 is 1 or 6
	RowGroup    int         // the most rows of a row group of Parquet, though rows of one URL stay together; 0 is 524,288
	CSV         CSVForm     // of CSV
	Terminal    bool        // text is for a terminal: bytes that it might obey are escaped; see [Create]

	// The order of the rows, other than the order of the input, and the directories that they are
	// written to; see [Create]. Either has all rows wait until Close, in memory and then in a
	// temporary file.
	Sort       Sort
	Partition  []string        // of Partitions, the first being the outermost directories
	Location   *time.Location  // of the days of PartitionDate; nil is UTC
	Mode       PartitionMode   // how to treat a partitioned output that is there already
	SortMemory int64           // bytes of rows that are held in memory; 0 is 256 MiB, and less than 8 MiB is that
	TempDir    string          // of the temporary file; "" is the directory of the output, or the usual one
	Cancel     <-chan struct{} // closed to end Write or Close early, with context.Canceled; nil is never

	// DictMemory is how many bytes the dictionaries of an Arrow file may take, which grow with the
	// file: with more, Write returns an error of the kind ErrDictMemory. 0 is no limit.
	DictMemory int64

	tree string // the directory for Partition
	into string // the one that it will be, or be put into; "" if that does not matter

	written *partition.Parts  // takes the files of a Partition
	perURL  int               // rows per URL; 0 is one for each agent
	system  atomicfile.System // that changes names; nil is the operating system's
}

// file returns how a file holds the table.
func (o Options) file() container.Options {
	return container.Options{
		Format: o.Format, Compression: o.Compression, Level: o.Level, RowGroup: o.RowGroup,
		CSV: o.CSV, Version: cmp.Or(o.Version, "devel"), Workers: o.Workers, DictMemory: o.DictMemory,
	}
}

// shape returns which columns the table has.
func (o Options) shape() columnar.Shape {
	return columnar.Shape{
		Layout: o.Layout, Names: o.Columns, Kept: o.Kept, Changes: o.Old != nil, Pages: o.Format == Parquet,
		Partition: o.Partition, Sort: o.Sort.Columns(),
	}
}

// parts returns how a partitioned output is written.
func (o Options) parts() partition.Options {
	return partition.Options{By: o.Partition, Mode: o.Mode, Sort: o.Sort.String(), File: o.file(), Cancel: o.Cancel, System: o.system, Tree: o.tree, Into: o.into, Parts: o.written}
}

// order returns how rows are put in order.
func (o Options) order() order.Options {
	return order.Options{Keys: append(slices.Clone(o.Partition), o.Sort.Columns()...), Memory: o.SortMemory, TempDir: o.TempDir, Cancel: o.Cancel}
}

// The most bytes that a file of Parquet takes while it is open: a chunk and a row group, and more for each extra
// column. Encoders are not counted, as files share them.
const (
	heldBytes = 22 << 20
	heldKept  = 5 << 19
)

// heldFile returns the bytes of a partition's file that is open beside others; 0 if none should be: where an order
// has all rows wait anyway, and in formats and a layout that take more.
func (o Options) heldFile() int {
	if o.Format != Parquet || o.Layout == Wide || o.Sort != SortNone {
		return 0
	}
	return heldBytes + heldKept*len(o.Kept)
}

// Needs returns the options' needs from the store and the log. No Columns mean the default ones,
// which need nothing.
func (o Options) Needs() Needs {
	n := columnar.NeedsOf(slices.Concat(o.Columns, o.Partition)...)
	n.AddNeeds(Needs{Directives: o.Where.Directives(), LogAgents: o.Where.NeedsLogAgents(), Ranges: o.Where.NeedsRanges(), Sitemaps: o.Where.NeedsSitemaps()})
	return n
}

// ColumnNames returns the names of all columns that a Writer with these options has for the agents,
// in their order. The error joins the errors of [NewWriter] about the choice of columns.
func (o Options) ColumnNames(agents []string) ([]string, error) { return o.shape().ColumnNames(agents) }

// PartialName returns the name under which the rows before a fault are kept: "a.partial.parquet"
// for "a.parquet", "a.partial.csv.zst" for "a.csv.zst"; "a.partial" for a directory "a".
func (o Options) PartialName(name string) string {
	if len(o.Partition) > 0 {
		return filepath.Clean(name) + ".partial"
	}
	return container.PartialName(name)
}

// CheckTarget returns why a partitioned output cannot have that name, or the name for rows kept
// before a fault.
func (o Options) CheckTarget(name string) error {
	return o.parts().CheckTargets(name, o.PartialName(name))
}

// CheckContainer returns the faults in the options' demands on their format, joined: of the
// kinds ErrLevel, ErrRowGroup, ErrCSV and ErrPartition. Columns
// that cannot be, of these agents in the wide layout, are left to [NewWriter].
func (o Options) CheckContainer(agents []string) error {
	file := o.file()
	if _, _, err := o.shape().Schemas(agents); errors.Is(err, ErrPartition) {
		return errors.Join(file.Check(), err)
	}
	return file.Check()
}
