package pack

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/internal/wire"
)

// A sorter puts captures in the order of their names, and captures of one name in the order that
// they came in. Captures that do not fit in its memory are written to a temporary file in sorted runs.
type sorter struct {
	limit  int // bytes of a run
	memory []byte
	items  []item
	spill  *extsort.Spill
}

// An item is a capture in the sorter's memory: the name at off, and then the encoding, up to end.
type item struct {
	off, end, name uint32
	kind           Kind
}

const (
	runLimit = 8 << 20  // the memory of a run
	runBlock = 64 << 10 // bytes of a block of a run; a merge holds one of each
)

func (s *sorter) sort() {
	slices.SortStableFunc(s.items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), bytes.Compare(s.memory[a.off:a.off+a.name], s.memory[b.off:b.off+b.name]))
	})
}

// record returns an item as a record.
func (s *sorter) record(it item) sortRecord {
	return sortRecord{it.kind, s.memory[it.off : it.off+it.name], s.memory[it.off+it.name : it.end]}
}

// writeRun writes the records in memory as a run.
func (s *sorter) writeRun() error {
	s.sort()
	run, err := s.spill.Begin()
	if err != nil {
		return err
	}
	w := runWriter{run: run}
	for _, it := range s.items {
		if err := w.writeRecord(s.record(it)); err != nil {
			return err
		}
	}
	s.memory, s.items = s.memory[:0], s.items[:0]
	if err := w.Finish(); err != nil {
		return err
	}
	run.End()
	return nil
}

// each calls yield with all captures in order. They are valid during the call.
func (s *sorter) each(yield func(sortRecord) error) error {
	if s.spill.Runs() == 0 {
		s.sort()
		for _, it := range s.items {
			if err := yield(s.record(it)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.writeRun(); err != nil {
		return err
	}
	s.memory, s.items = nil, nil
	newCursor := func() *sortCursor { return &sortCursor{} }
	begin := func(run *extsort.Run) extsort.Output[*sortCursor] { return &runWriter{run: run} }
	return extsort.Merge(s.spill, extsort.MaxFan, newCursor, begin, yieldRecords(yield))
}

// A sortRecord is a capture while it is sorted: kind and name, which are its key, and the encoding.
type sortRecord struct {
	kind          Kind
	name, capture []byte
}

// A sortCursor reads the records of a block.
type sortCursor struct {
	sortRecord
	rest wire.Cursor // behind the record
	done bool
}

var errSortBlock = errors.New("a record is damaged")

// Load moves the cursor to another block.
func (c *sortCursor) Load(block []byte) error {
	c.rest = wire.NewCursor(block)
	return c.next()
}

// Done reports whether there is no record any more.
func (c *sortCursor) Done() bool { return c.done }

// Compare compares by kind and name.
func (c *sortCursor) Compare(other *sortCursor) int {
	return cmp.Or(cmp.Compare(c.kind, other.kind), bytes.Compare(c.name, other.name))
}

// next reads the next record: kind, name and encoding.
func (c *sortCursor) next() error {
	if c.done = c.rest.AtEnd(); c.done {
		return nil
	}
	c.kind, c.name, c.capture = Kind(c.rest.Byte()), c.rest.Text(), c.rest.Text()
	if c.rest.Bad() {
		return errSortBlock
	}
	return nil
}

// A runWriter writes the records of a run.
type runWriter struct {
	run   *extsort.Run
	block []byte
}

func (w *runWriter) writeRecord(r sortRecord) error {
	w.block = append(w.block, byte(r.kind))
	w.block = wire.AppendText(wire.AppendText(w.block, r.name), r.capture)
	if len(w.block) < runBlock {
		return nil
	}
	return w.Finish()
}

// Take adds the record of a cursor.
func (w *runWriter) Take(c *sortCursor) error {
	if err := w.writeRecord(c.sortRecord); err != nil {
		return err
	}
	return c.next()
}

// Finish writes the block that is not full.
func (w *runWriter) Finish() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block = w.block[:0]
	return err
}

// yieldRecords hands the records of a merge to a function.
type yieldRecords func(sortRecord) error

// Take yields the record of a cursor.
func (yield yieldRecords) Take(c *sortCursor) error {
	if err := yield(c.sortRecord); err != nil {
		return err
	}
	return c.next()
}

// Finish does nothing.
func (yieldRecords) Finish() error { return nil }
