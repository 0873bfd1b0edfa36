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
	"cmp"
	"errors"
	"fmt"
	"slices"

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

// A run is its blocks, which lie one after the other in the file.
type run struct {
	from   int64
	blocks []packedBlock
}

// A packedBlock has the known facts of a block, so that a disk that gives back other bytes is found.
type packedBlock struct {
	size uint32 // packed
	sum  uint64 // XXH3 of that
}

// NewSpill returns a Spill whose file will are in dir; "" is the usual directory. The first run creates it.
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

// A Run writes one sorted run to the temporary file. One is written at a time.
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

// A Cursor stands on a record of a block. C is the type itself.
type Cursor[C any] interface {
	// Load moves the cursor to the first record of another block, which is valid until the next
	// call.
	Load(block []byte) error
	// Done reports whether the cursor is after the last record of its block.
	Done() bool
	// Compare compares the records of two cursors.
	Compare(C) int
}

// An Output takes the records of a merge in order.
type Output[C any] interface {
	// Take takes the record of the cursor and moves it on. It may take more from the block of the
	// cursor, if they equal that.
	Take(C) error
	// Finish is called after the last record.
	Finish() error
}

// Merge hands all records to last. At most fan runs, 2 or more, are merged at once; where there are
// more, neighbouring runs are first merged into longer ones, by way of an Output that begin returns
// for each. Each run that is merged has a cursor, from newCursor, which holds one block of it.
func Merge[C Cursor[C]](s *Spill, fan int, newCursor func() C, begin func(*Run) Output[C], last Output[C]) error {
	for len(s.runs) > fan {
		runs := s.runs
		s.runs = nil
		for some := range slices.Chunk(runs, fan) {
			to, err := s.Begin()
			if err != nil {
				return err
			}
			if err := merge(s, some, newCursor, begin(to)); err != nil {
				return err
			}
			to.End()
		}
	}
	return merge(s, s.runs, newCursor, last)
}

// A source reads one run of a merge.
type source[C Cursor[C]] struct {
	run         run
	number      int // of equal records, the one of the lower number comes first
	cursor      C
	raw, packed []byte
}

// merge hands the records of some runs to an Output.
func merge[C Cursor[C]](s *Spill, runs []run, newCursor func() C, to Output[C]) error {
	var heap []*source[C] // the first has the least record
	for i, r := range runs {
		from := &source[C]{run: r, number: i, cursor: newCursor()}
		if ok, err := from.load(s); err != nil {
			return err
		} else if ok {
			heap = append(heap, from)
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	for len(heap) > 0 {
		first := heap[0]
		if err := to.Take(first.cursor); err != nil {
			return err
		}
		if first.cursor.Done() {
			if ok, err := first.load(s); err != nil {
				return err
			} else if !ok {
				heap[0] = heap[len(heap)-1]
				heap = heap[:len(heap)-1]
			}
		}
		sink(heap, 0)
	}
	return to.Finish()
}

var errDamaged = errors.New("it differs from what was written: check the disk")

// load moves the cursor to the next block that has records, and reports whether there is one.
func (f *source[C]) load(s *Spill) (bool, error) {
	for len(f.run.blocks) > 0 {
		n := int(f.run.blocks[0].size)
		f.packed = slices.Grow(f.packed[:0], n)[:n]
		_, err := s.file.ReadAt(f.packed, f.run.from)
		if err == nil && xxh3.Hash(f.packed) != f.run.blocks[0].sum {
			err = errDamaged
		}
		if err == nil {
			f.raw, err = s2.Decode(f.raw[:cap(f.raw)], f.packed)
		}
		if err == nil {
			err = f.cursor.Load(f.raw)
		}
		if err != nil {
			return false, fmt.Errorf("read a temporary file: %w", err)
		}
		f.run.from, f.run.blocks = f.run.from+int64(n), f.run.blocks[1:]
		if !f.cursor.Done() {
			return true, nil
		}
	}
	return false, nil
}

// sink moves a source down the heap to where its record belongs.
func sink[C Cursor[C]](heap []*source[C], i int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child+1].compare(heap[child]) < 0 {
			child++
		}
		if heap[i].compare(heap[child]) <= 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// compare compares the next records of two runs; equal ones are in the order of the runs.
func (f *source[C]) compare(other *source[C]) int {
	return cmp.Or(f.cursor.Compare(other.cursor), cmp.Compare(f.number, other.number))
}
