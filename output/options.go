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

// Options configure a Writer. The zero value writes the default columns as Parquet.
type Options struct {
	Format Format
	Layout Layout // the meaning of a row
	Where  Where  // which rows are written

	// Old is the store of [engine.Options].Old. If it is not nil, only changed rows are written, in the layout Long
	// and without a Where, with the columns [ChangeColumns].
	Old *engine.Store

	Columns []string     // which columns, and their order; nil means Layout.DefaultColumns
	Kept    []KeptColumn // columns of the input, by index in Batch.Kept, written after the others
	Inputs  []string     // names of the inputs, by Batch.Input; "" if missing
	Version string       // of the program, for the metadata and as Parquet's creator; "" is "devel"
	Workers int          // chunks encoded in parallel (not in Arrow); with 1 or less, Write encodes; same output

	Compression Compression // of columns
	Level       int         // of the compression, for Parquet: 1 to 22 for Zstd, 1 to 9 for Gzip; 0 is 1 or 6
	RowGroup    int         // maximum rows of a Parquet row group, but rows of one URL stay together; 0 means 524,288
	CSV         CSVForm     // of CSV
	Terminal    bool        // text is for a terminal: control characters are escaped; see [Create]

	// Order of the rows if it is not the input order, and partitions; see [Create]. With either, all rows are stored
	// until Close, first in memory, then in a temporary file.
	Sort       Sort
	Partition  []string        // of Partitions, the first being the outermost directories
	Location   *time.Location  // of the days of PartitionDate; nil is UTC
	Partitions int             // maximum number of partitions; 0 means no limit
	Mode       PartitionMode   // how to treat an existing partitioned output
	SortMemory int64           // bytes of rows stored in memory; 0 means 256 MiB; at least 8 MiB
	TempDir    string          // directory of the temporary file; "" means that of the output, or the default
	Cancel     <-chan struct{} // closed to end Write or Close early, with context.Canceled; nil means never

	// DictMemory is the maximum size, in bytes, of the dictionaries of an Arrow file, which grow with the file.
	// Beyond it, Write returns an error of the kind ErrDictMemory. 0 means no limit.
	DictMemory int64

	tree string // the directory for Partition
	into string // the one that it will be, or be put into; "" if that does not matter

	written *partition.Parts  // takes the files of a Partition
	perURL  int               // rows per URL; 0 is one for each agent
	system  atomicfile.System // that changes names; nil is the operating system's
}

// file returns the options of the container.
func (o Options) file() container.Options {
	return container.Options{
		Format: o.Format, Compression: o.Compression, Level: o.Level, RowGroup: o.RowGroup,
		CSV: o.CSV, Version: cmp.Or(o.Version, "devel"), Workers: o.Workers, DictMemory: o.DictMemory,
	}
}

// shape returns the choice of columns.
func (o Options) shape() columnar.Shape {
	return columnar.Shape{
		Layout: o.Layout, Names: o.Columns, Kept: o.Kept, Changes: o.Old != nil, Pages: o.Format == Parquet,
		Partition: o.Partition, Sort: o.Sort.Columns(),
	}
}

// parts returns the options of partitions.
func (o Options) parts() partition.Options {
	return partition.Options{By: o.Partition, Mode: o.Mode, Sort: o.Sort.String(), File: o.file(), Cancel: o.Cancel, System: o.system, Tree: o.tree, Into: o.into, Parts: o.written, Most: o.Partitions}
}

// order returns the options of sorting.
func (o Options) order() order.Options {
	return order.Options{Keys: append(slices.Clone(o.Partition), o.Sort.Columns()...), Memory: o.SortMemory, TempDir: o.TempDir, Cancel: o.Cancel}
}

// Maximum memory, in bytes, of an open Parquet file: a chunk and a row group, and more for each extra column. Files
// share the encoders, which are excluded.
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

// CheckTarget returns an error if a partitioned output cannot have that name, or the name for rows kept before a
// fault.
func (o Options) CheckTarget(name string) error {
	return o.parts().CheckTargets(name, o.PartialName(name))
}

// CheckContainer returns the joined errors of options that the format does not support, of the kinds ErrLevel,
// ErrRowGroup, ErrCSV and ErrPartition. It does not check the columns of these agents in the wide layout; [NewWriter]
// does.
func (o Options) CheckContainer(agents []string) error {
	file := o.file()
	if _, _, err := o.shape().Schemas(agents); errors.Is(err, ErrPartition) {
		return errors.Join(file.Check(), err)
	}
	return file.Check()
}

// A Format is a container for the table.
type Format = container.Format

// The formats.
const (
	Parquet     = container.Parquet     // columns compressed by zstd; ".parquet"
	ArrowFile   = container.ArrowFile   // Arrow IPC file, not compressed; ".arrow"
	ArrowStream = container.ArrowStream // Arrow IPC stream, not compressed; ".arrows"
	CSV         = container.CSV         // comma-separated values under a header line; ".csv"
	CSVZstd     = container.CSVZstd     // the same, compressed; ".csv.zst"
	CSVGzip     = container.CSVGzip     // ".csv.gz"
	JSONL       = container.JSONL       // one JSON object per line; ".jsonl"
	JSONLZstd   = container.JSONLZstd   // the same, compressed; ".jsonl.zst"
	JSONLGzip   = container.JSONLGzip   // ".jsonl.gz"
	TSV         = container.TSV         // CSV with tabs instead of commas; ".tsv"
	TSVZstd     = container.TSVZstd     // the same, compressed; ".tsv.zst"
	TSVGzip     = container.TSVGzip     // ".tsv.gz"
)

// The kinds of the errors about formats.
var (
	ErrFormat   = container.ErrFormat   // the choice of a format
	ErrNoFormat = container.ErrNoFormat // the ErrFormat for a name without a known format
	ErrLevel    = container.ErrLevel
	ErrRowGroup = container.ErrRowGroup
	ErrCSV      = container.ErrCSV // a CSVForm

	// ErrDictMemory is the kind of error for an Arrow file whose dictionaries exceed [Options].DictMemory.
	ErrDictMemory = container.ErrDictMemory
)

// FormatNames returns the names of the formats: "parquet", "csv.zst".
func FormatNames() []string { return container.FormatNames() }

// FormatOf returns the format of an output by the extension of its name; ArrowStream for "-", standard output. The
// error is ErrFormat, with the known extensions.
func FormatOf(name string) (Format, error) { return container.FormatOf(name) }

// ChooseFormat returns the format of an output from its name, or else from the name of a format ("" for none). The
// default is Parquet. The names "-" and "" do not determine a format. The error is ErrFormat, or says that the two
// contradict each other.
func ChooseFormat(name, format string) (Format, error) { return container.ChooseFormat(name, format) }

// A Compression is the compression of columns. Zero is the default of the format: zstd for Parquet, none for Arrow.
type Compression = container.Compression

// The compressions.
const (
	DefaultCompression = container.DefaultCompression
	NoCompression      = container.NoCompression
	Zstd               = container.Zstd
	Snappy             = container.Snappy // Parquet only
	Gzip               = container.Gzip   // Parquet only
	LZ4                = container.LZ4    // Arrow only
)

// Compressions returns the names that ParseCompression takes.
func Compressions() []string { return container.Compressions() }

// ParseCompression returns the compression of that name, DefaultCompression for "". The error says
// which names there are.
func ParseCompression(name string) (Compression, error) { return container.ParseCompression(name) }

// A CSVForm is how CSV is written for programs that do not read it as it usually is. The zero value
// is the usual form.
type CSVForm = container.CSVForm

// CSVForms returns the words that ParseCSV takes.
func CSVForms() []string { return container.CSVForms() }

// ParseCSV returns the form of these words, which commas separate; a separator may also be written itself. The error is ErrCSV.
func ParseCSV(list string) (CSVForm, error) { return container.ParseCSV(list) }

// Formulas are the cells of CSV that spreadsheets would run. They are not counted in another format,
// and where they are written so that they are safe.
type Formulas = container.Formulas

// The names of the key-value metadata that programs set.
const (
	KeyVersion = container.KeyVersion // of the program; NewWriter sets it from Options
	KeyDialect = container.KeyDialect // NewWriter sets it
	KeyInputs  = container.KeyInputs  // JSON array; NewWriter sets the names, a program names and sizes
	KeyCounts  = container.KeyCounts  // JSON object; a program sets it at the end
)

// A Sort is an order of the rows.
type Sort = order.Sort

// The orders.
const (
	SortNone   = order.SortNone   // the order of the input
	SortOrigin = order.SortOrigin // by the bytes of the origin, rows without one last; rows of one origin as in the input
)

// ParseSort returns the order of that name, SortNone for "". The error says which names there are.
func ParseSort(name string) (Sort, error) { return order.ParseSort(name) }

// A Part is a file of a partitioned output: its name, its size, and its hash, XXH3 of 128 bits as text.
type Part = partition.Part

// MaxParts is of how many files [File.Parts] tells.
const MaxParts = partition.MaxParts

// PartitionMarker is the name of the file of a partitioned output that describes its content.
const PartitionMarker = partition.MarkerName

// A PartitionMode says how to treat a partitioned output that is in the directory already.
type PartitionMode = partition.Mode

// The modes.
const (
	PartitionNew     = partition.New     // there must be none
	PartitionReplace = partition.Replace // it is replaced, all of it
	PartitionByParts = partition.ByParts // partitions that have rows are replaced, and all others stay
	PartitionAppend  = partition.Append  // files are added to its partitions
)

// PartitionModes returns the names of the modes except for [PartitionNew].
func PartitionModes() []string { return partition.Modes() }

// ParsePartitionMode returns the mode of that name, PartitionNew for "". The error says which names
// there are.
func ParsePartitionMode(name string) (PartitionMode, error) { return partition.ParseMode(name) }

// The kinds of the errors about a directory that has an output already.
var (
	// ErrOutput: the directory has an output already, and the mode is [PartitionNew].
	ErrOutput = partition.ErrOutput
	// ErrOther: the output in the directory differs, so that its files and these are no one table.
	ErrOther = partition.ErrOther
	// ErrSameRun: the rows that would be added are there already.
	ErrSameRun = partition.ErrSameRun
	// ErrStopped: an earlier run was stopped while its files were put in place, and the rest of them
	// is gone.
	ErrStopped = partition.ErrStopped
)

// A Layout says which rows the table has: [Long] or [Wide].
type Layout = columnar.Layout

// The layouts.
const (
	Long = columnar.Long // a row for each URL and agent
	Wide = columnar.Wide // a row for each URL, with columns for each agent
)

// ParseLayout returns the layout of that name. The error says which names there are.
func ParseLayout(name string) (Layout, error) { return columnar.ParseLayout(name) }

// A KeptColumn is a column of the input that is written behind the columns of the verdicts. It has nulls.
type KeptColumn = columnar.KeptColumn

// A ColumnError is a column that cannot be chosen.
type ColumnError = columnar.ColumnError

// CanonicalURL is the name of the column of URLs without the parameters of clean-param lines.
const CanonicalURL = columnar.CanonicalURL

// Violation is the name of the column about the deeds of the log's crawlers.
const Violation = columnar.Violation

// PartitionDate is the name of the partitions by day.
const PartitionDate = columnar.PartitionDate

// ErrPartition is the kind of the errors about the columns that partition an output.
var ErrPartition = columnar.ErrPartition

// Columns returns the names of all columns in their default order.
func Columns() []string { return columnar.Columns() }

// LogColumns returns the names of the columns that are written by default, behind
// [Layout.DefaultColumns], if agents come from the log.
func LogColumns() []string { return columnar.LogColumns() }

// RangesColumns returns the names of the columns that are written by default, behind LogColumns, if the
// crawlers of the log are verified.
func RangesColumns() []string { return columnar.RangesColumns() }

// Needs list the needs of columns, partitions and rows from a store and from a log; see [Options.Needs].
type Needs = columnar.Needs

// SitemapColumns returns the names of the columns that are written by default, behind RangesColumns, if there are
// sitemaps.
func SitemapColumns() []string { return columnar.SitemapColumns() }

// NeedsOf returns all needs of the columns and partitions of these names. Names that are none need
// nothing.
func NeedsOf(names ...string) Needs { return columnar.NeedsOf(names...) }

// ChangeColumns returns the names of the columns of changes, see Options.Old: columns that name the
// row, then verdict and rule by the old store and by the store, then the [engine.Change].
func ChangeColumns() []string { return columnar.ChangeColumns() }

// VerdictColumns returns the names of the columns that [Verdicts] can have: those that depend on
// nothing but the row.
func VerdictColumns() []string { return columnar.VerdictColumns() }

// Partitions returns the names that ParsePartition takes: of columns, and [PartitionDate], the day
// in UTC of [engine.Batch.Times].
func Partitions() []string { return columnar.Partitions() }

// ParseColumns splits a comma-separated list of column names, which picks columns and orders them.
// Spaces around a name are dropped. The empty list is [Layout.DefaultColumns] of [Long]. The error
// joins a [ColumnError] for every fault. "usage" stands for the columns of preferences, and a "+" before
// the list for the default columns.
func ParseColumns(list string) ([]string, error) { return columnar.ParseColumns(list) }

// AddColumns returns a list of columns that begins with "+" with the default ones instead of that, except for those that
// it names, and another one as it is.
func AddColumns(list string, defaults []string) string { return columnar.AddColumns(list, defaults) }

// ParseVerdictColumns is [ParseColumns] for [VerdictColumns]; the empty list is nil.
func ParseVerdictColumns(list string) ([]string, error) { return columnar.ParseVerdictColumns(list) }

// ParsePartition splits a comma-separated list of the columns that partition the output. The empty list
// is not a partitions. The error is ErrPartition.
func ParsePartition(list string) ([]string, error) { return columnar.ParsePartition(list) }
