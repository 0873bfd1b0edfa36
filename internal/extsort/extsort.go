// Package extsort sorts more records than fit in memory. The caller sorts records that fit and writes them as a run,
// block by block, into one temporary file. At the end, the runs are merged.
//
// The package handles the file, the compression of blocks and the merging. It does not know the format of records: a
// [Cursor] of the caller reads the records of a block and compares them. Equal records keep the order in which they
// were written.
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

// MaxFan is the maximum number of runs to merge at once. With more runs, disk reads would become too small.
const MaxFan = 64

// A Spill is the temporary file with the runs. It is for one goroutine. Use Close.
type Spill struct {
	dir  string
	file *atomicfile.Temp // nil before the first run
	end  int64            // bytes written
	runs []run            // runs to merge; among equal records, those of earlier runs come first
}

// A run is a list of blocks that are stored one after another in the file.
type run struct {
	from   int64
	blocks []packedBlock
}

// A packedBlock describes a compressed block, with a checksum that detects disk corruption.
type packedBlock struct {
	size uint32 // packed
	sum  uint64 // XXH3 of that
}

// NewSpill returns a Spill with its file in dir; "" means the system's default. The first run creates the file.
func NewSpill(dir string) *Spill { return &Spill{dir: dir} }

// Runs returns the number of runs to merge.
func (s *Spill) Runs() int { return len(s.runs) }

// Close removes the file. Further calls do nothing.
func (s *Spill) Close() {
	if s.file == nil {
		return
	}
	s.file.Remove() //nolint:errcheck // nobody needs it any more
	s.file = nil
}

// A Run writes one sorted run to the temporary file. Only one Run may be open at a time.
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

// Write adds a block of sorted records. No record may be less than a record of an earlier block.
func (r *Run) Write(block []byte) error {
	r.packed = s2.Encode(r.packed[:cap(r.packed)], block)
	if _, err := r.spill.file.WriteAt(r.packed, r.spill.end); err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	r.spill.end += int64(len(r.packed))
	r.run.blocks = append(r.run.blocks, packedBlock{uint32(len(r.packed)), xxh3.Hash(r.packed)})
	return nil
}

// End completes the run and adds it to the runs to merge.
func (r *Run) End() { r.spill.runs = append(r.spill.runs, r.run) }

// A Cursor points to a record of a block. The type parameter C is the cursor type itself.
type Cursor[C any] interface {
	// Load moves the cursor to the first record of another block. The block is valid until the next call.
	Load(block []byte) error
	// Done reports whether the cursor is after the last record of its block.
	Done() bool
	// Compare compares the records of two cursors.
	Compare(C) int
}

// An Output receives the records of a merge in order.
type Output[C any] interface {
	// Take takes the record of the cursor, and advances it. It may also take equal records that follow in the block.
	Take(C) error
	// Finish is called after the last record.
	Finish() error
}

// Merge passes all records to last, in order. At most fan runs (2 or more) are merged at once. If there are more,
// adjacent runs are first merged into longer ones, through an Output that begin returns for each. newCursor creates
// one cursor per merged run; a cursor holds one block.
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
	number      int // among equal records, those of lower numbers come first
	cursor      C
	raw, packed []byte
}

// merge passes the records of some runs to an Output.
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

// load moves the cursor to the next block that has records, and reports whether there was one.
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

// sink moves a source down the heap until its record is in order.
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

// compare compares the next records of two runs; equal records keep the order of the runs.
func (f *source[C]) compare(other *source[C]) int {
	return cmp.Or(f.cursor.Compare(other.cursor), cmp.Compare(f.number, other.number))
}
