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

	Columns []string     // names of the columns, in their order; nil means Layout.DefaultColumns
	Kept    []KeptColumn // columns of the input, by index in Batch.Kept, written after the others
	Inputs  []string     // names of the inputs, by Batch.Input; "" if missing
	Version string       // of the program, for the metadata and as Parquet's creator; "" is "devel"
	Workers int          // chunks encoded in parallel (not in Arrow); with 1 or less, Write encodes; same output

	Compression Compression // of the columns of Parquet and Arrow
	Level       int         // compression level in Parquet: 1 to 22 for Zstd (0 means 1), 1 to 9 for Gzip (0 means 6)
	RowGroup    int         // maximum rows of a Parquet row group, but rows of one URL stay together; 0 means 524,288
	CSV         CSVForm     // for CSV and TSV
	Terminal    bool        // escape control characters in text formats

	// Order of the rows if it is not the input order, and partitions; see [Create]. With either, all rows are stored
	// until Close, first in memory, then in a temporary file.
	Sort       Sort
	Partition  []string        // names from Partitions, the outermost directory first
	Location   *time.Location  // time zone of the days of PartitionDate; nil means UTC
	Partitions int             // maximum number of partitions; 0 means no limit
	Mode       PartitionMode   // how to treat an existing partitioned output
	SortMemory int64           // bytes of rows stored in memory; 0 means 256 MiB; at least 8 MiB
	TempDir    string          // directory of the temporary file; "" means that of the output, or the default
	Cancel     <-chan struct{} // closed to end Write or Close early, with context.Canceled; nil means never

	// DictMemory is the maximum size, in bytes, of the dictionaries of an Arrow file, which grow with the file.
	// Beyond it, Write returns an error of the kind ErrDictMemory. 0 means no limit.
	DictMemory int64

	tree string // temporary directory of a partitioned output
	into string // its final name; "" if an existing output need not be checked

	written *partition.Parts  // collects the files of a partitioned output
	perURL  int               // rows per URL; 0 means one per agent
	system  atomicfile.System // nil means that of the operating system
}

// containerOptions returns the options of the container.
func (o Options) containerOptions() container.Options {
	return container.Options{
		Format: o.Format, Compression: o.Compression, Level: o.Level, RowGroup: o.RowGroup,
		CSV: o.CSV, Version: cmp.Or(o.Version, "devel"), Workers: o.Workers, DictMemory: o.DictMemory,
	}
}

// shape returns the options that determine the columns.
func (o Options) shape() columnar.Shape {
	return columnar.Shape{
		Layout: o.Layout, Names: o.Columns, Kept: o.Kept, Changes: o.Old != nil, Pages: o.Format == Parquet,
		Partition: o.Partition, Sort: o.Sort.Columns(),
	}
}

// partitionOptions returns the options of a partitioned output.
func (o Options) partitionOptions() partition.Options {
	return partition.Options{By: o.Partition, Mode: o.Mode, Sort: o.Sort.String(), File: o.containerOptions(), Cancel: o.Cancel, System: o.system, Tree: o.tree, Into: o.into, Parts: o.written, Most: o.Partitions}
}

// sortOptions returns the options of sorting.
func (o Options) sortOptions() order.Options {
	return order.Options{Keys: append(slices.Clone(o.Partition), o.Sort.Columns()...), Memory: o.SortMemory, TempDir: o.TempDir, Cancel: o.Cancel}
}

// Maximum memory, in bytes, of an open Parquet file: a chunk and a row group, and more for each extra column. Files
// share the encoders, which are excluded.
const (
	openFileBytes   = 22 << 20
	openColumnBytes = 5 << 19
)

// openFileMemory returns the memory, in bytes, of the file of one partition while several files are open; 0 if only
// one may be open at a time: with an order, because all rows are sorted first, and in formats and layouts that need
// more memory.
func (o Options) openFileMemory() int {
	if o.Format != Parquet || o.Layout == Wide || o.Sort != SortNone {
		return 0
	}
	return openFileBytes + openColumnBytes*len(o.Kept)
}

// Needs returns what the columns, the partitions and the Where need from the store and the log. The default columns
// need nothing.
func (o Options) Needs() Needs {
	n := columnar.NeedsOf(slices.Concat(o.Columns, o.Partition)...)
	n.AddNeeds(Needs{Directives: o.Where.Directives(), LogAgents: o.Where.NeedsLogAgents(), Ranges: o.Where.NeedsRanges(), Sitemaps: o.Where.NeedsSitemaps()})
	return n
}

// ColumnNames returns the names of all columns that a Writer with these options writes for the agents, in their
// order. The error joins the errors of [NewWriter] about columns.
func (o Options) ColumnNames(agents []string) ([]string, error) { return o.shape().ColumnNames(agents) }

// PartialName returns the name for the rows written before an input failed: "a.partial.parquet" for "a.parquet",
// "a.partial.csv.zst" for "a.csv.zst", and "a.partial" for a directory "a".
func (o Options) PartialName(name string) string {
	if len(o.Partition) > 0 {
		return filepath.Clean(name) + ".partial"
	}
	return container.PartialName(name)
}

// CheckTarget returns an error if a partitioned output cannot be written under that name, or under its
// [Options.PartialName].
func (o Options) CheckTarget(name string) error {
	return o.partitionOptions().CheckTargets(name, o.PartialName(name))
}

// CheckContainer returns the joined errors of options that the format does not support, of the kinds ErrLevel,
// ErrRowGroup, ErrCSV and ErrPartition. It does not check the columns of these agents in the wide layout; [NewWriter]
// does.
func (o Options) CheckContainer(agents []string) error {
	file := o.containerOptions()
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

// The kinds of errors about formats.
var (
	ErrFormat   = container.ErrFormat   // unknown format
	ErrNoFormat = container.ErrNoFormat // an ErrFormat: the name of an output has no known extension
	ErrLevel    = container.ErrLevel
	ErrRowGroup = container.ErrRowGroup
	ErrCSV      = container.ErrCSV

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

// A Compression is a compression of columns. The zero value is the default of the format: zstd for Parquet, none for
// Arrow.
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

// Compressions returns the names that ParseCompression accepts.
func Compressions() []string { return container.Compressions() }

// ParseCompression returns the compression of that name, DefaultCompression for "". The error lists the names.
func ParseCompression(name string) (Compression, error) { return container.ParseCompression(name) }

// A CSVForm is a variant of CSV for programs that cannot read the usual form, which is the zero value.
type CSVForm = container.CSVForm

// CSVForms returns the words that ParseCSV accepts.
func CSVForms() []string { return container.CSVForms() }

// ParseCSV parses a comma-separated list of the words of [CSVForms]. A separator may also be given as the character.
// The error is ErrCSV.
func ParseCSV(list string) (CSVForm, error) { return container.ParseCSV(list) }

// Formulas counts the CSV cells that spreadsheets would run as formulas. It stays empty in other formats, and with
// CSVForm.Safe, which escapes them.
type Formulas = container.Formulas

// Keys of the metadata that programs read or set.
const (
	KeyVersion = container.KeyVersion // version of the program; NewWriter sets it from Options
	KeyDialect = container.KeyDialect // NewWriter sets it
	KeyInputs  = container.KeyInputs  // JSON array; NewWriter sets names, programs may set names and sizes
	KeyCounts  = container.KeyCounts  // JSON object; programs set it at the end
)

// A Sort is an order of the rows.
type Sort = order.Sort

// The orders.
const (
	SortNone   = order.SortNone   // the order of the input
	SortOrigin = order.SortOrigin // by origin (bytewise), rows without one last; rows of one origin in input order
)

// ParseSort returns the order of that name, SortNone for "". The error lists the names.
func ParseSort(name string) (Sort, error) { return order.ParseSort(name) }

// A Part is one file of a partitioned output: its name, size and hash (XXH3, 128 bits, as text).
type Part = partition.Part

// MaxParts is the maximum number of files that [File.Parts] lists.
const MaxParts = partition.MaxParts

// PartitionMarker is the name of the file that describes the content of a partitioned output.
const PartitionMarker = partition.MarkerName

// A PartitionMode determines what happens to an existing partitioned output in the directory.
type PartitionMode = partition.Mode

// The modes.
const (
	PartitionNew     = partition.New     // an existing output is an error
	PartitionReplace = partition.Replace // the whole output is replaced
	PartitionByParts = partition.ByParts // only partitions with new rows are replaced
	PartitionAppend  = partition.Append  // files are added to the partitions
)

// PartitionModes returns the names of the modes except [PartitionNew], which has none.
func PartitionModes() []string { return partition.Modes() }

// ParsePartitionMode returns the mode of that name, PartitionNew for "". The error lists the names.
func ParsePartitionMode(name string) (PartitionMode, error) { return partition.ParseMode(name) }

// The kinds of errors about a directory with an existing output.
var (
	// ErrOutput: the directory already has an output, and the mode is [PartitionNew].
	ErrOutput = partition.ErrOutput
	// ErrOther: the existing output has other columns, partitions or format, so the files would not be one table.
	ErrOther = partition.ErrOther
	// ErrSameRun: the directory already has the rows that would be added.
	ErrSameRun = partition.ErrSameRun
	// ErrStopped: an earlier run was stopped while it moved files into the directory, and the rest of its files are
	// missing.
	ErrStopped = partition.ErrStopped
)

// A Layout determines the rows of the table: [Long] or [Wide].
type Layout = columnar.Layout

// The layouts.
const (
	Long = columnar.Long // one row per URL and agent
	Wide = columnar.Wide // one row per URL, with columns for each agent
)

// ParseLayout returns the layout of that name. The error lists the names.
func ParseLayout(name string) (Layout, error) { return columnar.ParseLayout(name) }

// A KeptColumn is a column of the input that is copied to the output, after the columns of verdicts. It is nullable.
type KeptColumn = columnar.KeptColumn

// A ColumnError says why a column cannot be written.
type ColumnError = columnar.ColumnError

// CanonicalURL is the name of the column of URLs without the query parameters of Clean-param lines.
const CanonicalURL = columnar.CanonicalURL

// Violation is the name of the column that says whether a crawler of the log fetched a disallowed URL.
const Violation = columnar.Violation

// PartitionDate is the name of the partitions by day.
const PartitionDate = columnar.PartitionDate

// ErrPartition is the kind of errors about the columns that partition an output.
var ErrPartition = columnar.ErrPartition

// Columns returns the names of all columns in their default order.
func Columns() []string { return columnar.Columns() }

// LogColumns returns the names of the columns that are written by default after [Layout.DefaultColumns] if agents
// come from the log.
func LogColumns() []string { return columnar.LogColumns() }

// RangesColumns returns the names of the columns that are written by default after LogColumns if crawlers are
// verified by IP address.
func RangesColumns() []string { return columnar.RangesColumns() }

// Needs lists what columns, partitions and a Where need from a store and a log; see [Options.Needs].
type Needs = columnar.Needs

// SitemapColumns returns the names of the columns that are written by default after RangesColumns if there are
// sitemaps.
func SitemapColumns() []string { return columnar.SitemapColumns() }

// NeedsOf returns the needs of the columns and partitions of these names. Unknown names need nothing.
func NeedsOf(names ...string) Needs { return columnar.NeedsOf(names...) }

// ChangeColumns returns the names of the columns of changes (see Options.Old): first the columns that identify the
// row, then verdict and rule of the old store and of the new one, then the [engine.Change].
func ChangeColumns() []string { return columnar.ChangeColumns() }

// VerdictColumns returns the names of the columns that [Verdicts] supports: those that depend only on the row.
func VerdictColumns() []string { return columnar.VerdictColumns() }

// Partitions returns the names that ParsePartition accepts: columns, and [PartitionDate], the day of
// [engine.Batch.Times].
func Partitions() []string { return columnar.Partitions() }

// ParseColumns splits a comma-separated list of column names, in the order of the output. Spaces around names are
// dropped. The empty list means [Layout.DefaultColumns] of [Long], "usage" the columns of preferences, and a leading
// "+" the default columns. The error joins a [ColumnError] for every invalid name.
func ParseColumns(list string) ([]string, error) { return columnar.ParseColumns(list) }

// AddColumns replaces a leading "+" of the list by the default columns that the list does not name. It returns other
// lists unchanged.
func AddColumns(list string, defaults []string) string { return columnar.AddColumns(list, defaults) }

// ParseVerdictColumns is like [ParseColumns], for [VerdictColumns]; it returns nil for the empty list.
func ParseVerdictColumns(list string) ([]string, error) { return columnar.ParseVerdictColumns(list) }

// ParsePartition splits a comma-separated list of the columns that partition the output; "" means no partitions. The
// error is ErrPartition.
func ParsePartition(list string) ([]string, error) { return columnar.ParsePartition(list) }
