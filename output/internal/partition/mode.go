package partition

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output/internal/container"
)

// A Mode says how to treat a partitioned output that is in the directory already.
type Mode uint8

// The modes.
const (
	New     Mode = iota // there must be none
	Replace             // it is replaced, all of it
	ByParts             // partitions that have rows are replaced, and all others stay
	Append              // files are added to its partitions
)

// modeNames are the names of the modes, by PartitionMode.
var modeNames = [...]string{New: "new", Replace: "replace", ByParts: "replace-partitions", Append: "append"}

// ErrMode is the error of ParsePartitionMode.
var ErrMode = errors.New("no such way to write into a directory")

// String returns the name: "replace-partitions".
func (m Mode) String() string { return modeNames[m] }

// Modes returns the names of the modes but for [PartitionNew].
func Modes() []string { return modeNames[Replace:] }

// ParseMode returns the mode of that name, PartitionNew for "". The error is ErrMode, with
// the names there are.
func ParseMode(name string) (Mode, error) {
	if name == "" {
		return New, nil
	}
	if i := slices.Index(Modes(), name); i >= 0 {
		return Replace + Mode(i), nil
	}
	return 0, fmt.Errorf("%w as %q: use %s", ErrMode, name, strings.Join(Modes(), ", "))
}

// Merges reports whether files are put into an output that is there.
func (m Mode) Merges() bool { return m == ByParts || m == Append }

// Options say how a partitioned output is written.
type Options struct {
	By     []string // the columns, the first being the outermost directories
	Mode   Mode
	Sort   string // the name of the order of the rows, for the marker
	File   container.Options
	Cancel <-chan struct{}   // closed to end a wait for the directory; nil is never
	System atomicfile.System // that changes names; nil is the operating system's

	Tree string // the temporary directory that is written to
	Into string // the one that it will be, or be put into; "" if that does not matter

	Parts *Parts // takes the files that are written; nil if nobody asks
}
