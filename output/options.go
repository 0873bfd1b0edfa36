package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// Options say what a Writer writes. The zero value is the default columns as Parquet.
type Options struct {
	Format Format
	Layout Layout // what a row is
	Where  Where  // which rows are written

	// Old, unless it is nil, is the store of [engine.Options].Old. Then the rows that changed are
	// written, in the layout Long and without a Where, and the columns are [ChangeColumns].
	Old *engine.Store

	Columns []string     // which columns, and their order; nil means Layout.DefaultColumns
	Kept    []KeptColumn // columns of the input, by index in Batch.Kept, written behind the others
	Inputs  []string     // names of the inputs, by Batch.Input; "" for one that is not here
	Version string       // of the program, for the metadata and as Parquet's creator; "" is "devel"
	Workers int          // chunks that are encoded at once, but for Arrow; 1 or less means that Write encodes. It changes no byte

	Compression Compression  // of columns
	Level       int          // of the compression, for Parquet: 1 to 22 for Zstd, 1 to 9 for Gzip; 0 is 1 or 6
	Texts       TextEncoding // of texts that are not in dictionaries, for Parquet
	RowGroup    int          // the most rows of a row group of Parquet, though those of one URL stay together; 0 is 524,288
	Bloom       []string     // the columns of text that have Bloom filters, in Parquet
	CSV         CSVForm      // of CSV
	Terminal    bool         // text is for a terminal: what that might obey is escaped; see [Create]

	// The order of the rows, other than that of the input, and the directories that they are
	// written to; see [Create]. Either has all rows wait until Close, in memory and then in a
	// temporary file.
	Sort       Sort
	Partition  []string        // of Partitions, the first being the outermost directories
	Mode       PartitionMode   // what becomes of a partitioned output that is there already
	SortMemory int64           // bytes of rows that are held in memory; 0 is 256 MiB, and less than 8 MiB is that
	TempDir    string          // of the temporary file; "" is that of the output, or the usual one
	Cancel     <-chan struct{} // closed to end Write or Close early, with context.Canceled; nil is never

	// DictMemory is how many bytes the dictionaries of an Arrow file may take, which grow with the
	// file: with more, Write returns an error of the kind ErrDictMemory. 0 is no limit.
	DictMemory int64

	tree     string            // the directory for Partition
	into     string            // the one that it will be, or be put into; "" if that does not matter
	formulas *Formulas         // counts them; nil is nobody
	system   atomicfile.System // that changes names; nil is that of the operating system
	perURL   int               // rows per URL; 0 is one for each agent
}

// A PartitionMode says what becomes of a partitioned output that is in the directory already.
type PartitionMode uint8

// The modes.
const (
	PartitionNew     PartitionMode = iota // there must be none
	PartitionReplace                      // it is replaced, all of it
	PartitionByParts                      // partitions of which there are rows are replaced, and all others stay
	PartitionAppend                       // files are added to its partitions
)

// modeNames are the names of the modes, by PartitionMode.
var modeNames = [...]string{PartitionNew: "new", PartitionReplace: "replace", PartitionByParts: "replace-partitions", PartitionAppend: "append"}

// errMode is the error of ParsePartitionMode.
var errMode = errors.New("no such way to write into a directory")

// String returns the name: "replace-partitions".
func (m PartitionMode) String() string { return modeNames[m] }

// PartitionModes returns the names of the modes but for [PartitionNew].
func PartitionModes() []string { return modeNames[PartitionReplace:] }

// ParsePartitionMode returns the mode of that name, PartitionNew for "". The error is errMode, with
// the names there are.
func ParsePartitionMode(name string) (PartitionMode, error) {
	if name == "" {
		return PartitionNew, nil
	}
	if i := slices.Index(PartitionModes(), name); i >= 0 {
		return PartitionReplace + PartitionMode(i), nil
	}
	return 0, fmt.Errorf("%w as %q: use %s", errMode, name, strings.Join(PartitionModes(), ", "))
}

// merges reports whether files are put into an output that is there.
func (m PartitionMode) merges() bool { return m == PartitionByParts || m == PartitionAppend }

// A Sort is an order of the rows.
type Sort uint8

// The orders.
const (
	SortNone   Sort = iota // that of the input
	SortOrigin             // by the bytes of the origin, those without one last; those of one origin as in the input
)

// sortNames are the names of the orders, by Sort.
var sortNames = [...]string{SortNone: "none", SortOrigin: "origin"}

// The kinds of the errors about the order and the parts of the output.
var (
	errSort      = errors.New("no such order")
	ErrPartition = errors.New("no partitions")
)

// String returns the name: "origin".
func (s Sort) String() string { return sortNames[s] }

// ParseSort returns the order of that name, SortNone for "". The error is errSort, with the names
// there are.
func ParseSort(name string) (Sort, error) {
	if name == "" {
		return SortNone, nil
	}
	if i := slices.Index(sortNames[:], name); i >= 0 {
		return Sort(i), nil
	}
	return 0, fmt.Errorf("%w %q: use none or origin", errSort, name)
}

// ParsePartition splits a comma-separated list of what the output is partitioned by. The empty list
// is no partitions. The error is ErrPartition.
func ParsePartition(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := splitNames(list)
	return names, checkPartition(names)
}

// checkPartition returns what is wrong with names to partition by.
func checkPartition(names []string) error {
	var errs []error
	for i, name := range names {
		switch {
		case !slices.Contains(Partitions(), name):
			errs = append(errs, fmt.Errorf("%w by %q: use %s", ErrPartition, name, strings.Join(Partitions(), ", ")))
		case slices.Contains(names[:i], name):
			errs = append(errs, fmt.Errorf("%w: %s is named twice", ErrPartition, name))
		}
	}
	return errors.Join(errs...)
}

// arranged reports whether the rows are put in another order than that of the input.
func (o Options) arranged() bool { return o.Sort != SortNone || len(o.Partition) > 0 }
