package output

import (
	"github.com/robobatch/robobatch/output/internal/order"
	"github.com/robobatch/robobatch/output/internal/partition"
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

// PartitionModes returns the names of the modes but for [PartitionNew].
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
