// Package extsort sorts more records than memory holds. Its user sorts records that fit, and writes them
// as a run, block by block, into one temporary file; at the end the runs are merged.
//
// The package hides the file, the compression of blocks and the merging. It does not know how a
// record is: a [Cursor] of the user reads the records of a block and compares them. Equal records
// keep the order that they were written in. Package output sorts rows with it and package pack
// captures; it is for packages of this module that sort on disk.
//
// Only packages output, pack, aggregate, conduct and diagnose import it.
package extsort

import (
	"fmt"

	"github.com/klauspost/compress/s2"
	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/atomicfile"
)

// MaxFan is the most runs that should be merged at once: beyond it, a disk is read in ever smaller
// pieces.
const MaxFan = 64

// A Spill is the temporary file with the runs. It is for one goroutine. Use Close.
type Spill struct {
	dir  string
	file *atomicfile.Temp // nil before the first run
	end  int64            // bytes written
	runs []run            // to be merged; the records of the first come before equal ones of the others
}

// A run is its blocks, which lie one behind the other in the file.
type run struct {
	from   int64
	blocks []packedBlock
}

// A packedBlock has the known facts of a block, so that a disk that gives back other bytes is found.
type packedBlock struct {
	size uint32 // packed
	sum  uint64 // XXH3 of that
}

// NewSpill returns a Spill whose file will lie in dir; "" is the usual directory. The first run
// creates it.
func NewSpill(dir string) *Spill { return &Spill{dir: dir} }

// Runs returns how many runs there are to merge.
func (s *Spill) Runs() int { return len(s.runs) }

// Close removes the file. Further calls do nothing.
func (s *Spill) Close() {
	if s.file == nil {
		return
	}
	s.file.Remove() //nolint:errcheck // nobody needs it any more
	s.file = nil
}

// A Run is a run that is being written. One is written at a time.
type Run struct {
	spill  *Spill
	run    run
	packed []byte
}

// Begin starts a run.
func (s *Spill) Begin() (*Run, error) {
	if s.file == nil {
		// Create the file.
		var err error
		if s.file, err = atomicfile.CreateTemp(s.dir, ".robobatch-sort-*.tmp"); err != nil {
			return nil, fmt.Errorf("create a temporary file: %w", err)
		}
	}
	return &Run{spill: s, run: run{from: s.end}}, nil
}

// Write adds a block of records, which are in order; none comes before the records of earlier
// blocks.
func (r *Run) Write(block []byte) error {
	r.packed = s2.Encode(r.packed[:cap(r.packed)], block)
	if _, err := r.spill.file.WriteAt(r.packed, r.spill.end); err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	r.spill.end += int64(len(r.packed))
	r.run.blocks = append(r.run.blocks, packedBlock{uint32(len(r.packed)), xxh3.Hash(r.packed)})
	return nil
}

// End completes the run, which is one of those to be merged then.
func (r *Run) End() { r.spill.runs = append(r.spill.runs, r.run) }
