package conduct

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/robobatch/robobatch/internal/extsort"
)

// medians find the median of numbers by key, exactly: numbers beyond its memory go to disk.
type medians struct {
	dir   string
	all   []keyed
	most  int
	count map[uint32]int64
	spill *extsort.Spill // nil if all fit
}

// A keyed is a number of a key.
type keyed struct {
	key   uint32
	value int64
}

// compare orders numbers by key.
func (k keyed) compare(o keyed) int {
	return cmp.Or(cmp.Compare(k.key, o.key), cmp.Compare(k.value, o.value))
}

// newMedians returns medians without numbers, which take a sixteenth of the memory of a Journal.
func newMedians(opt Options) *medians {
	const size = 16
	return &medians{dir: opt.TempDir, most: int(max(64, cmp.Or(opt.Memory, DefaultMemory)/16/size)), count: map[uint32]int64{}}
}

// write writes all numbers to disk, and forgets them.
func (m *medians) write() error {
	if m.spill == nil {
		m.spill = extsort.NewSpill(m.dir)
	}
	run, err := m.spill.Begin()
	if err != nil {
		return err
	}
	slices.SortFunc(m.all, keyed.compare)
	w := &keyedWriter{run: run}
	for _, k := range m.all {
		if err := w.write(k); err != nil {
			return err
		}
	}
	if err := w.Finish(); err != nil {
		return err
	}
	run.End()
	m.all = m.all[:0]
	return nil
}

// finish calls tell with the median of each key: if the count is even, the mean of the two numbers in the middle. Then it
// forgets all numbers.
func (m *medians) finish(tell func(key uint32, median int64)) error {
	p := &picker{count: m.count, tell: tell}
	if m.spill == nil {
		slices.SortFunc(m.all, keyed.compare)
		for _, k := range m.all {
			p.takeNumber(k)
		}
	} else {
		defer m.close()
		if err := m.write(); err != nil {
			return err
		}
		begin := func(run *extsort.Run) extsort.Output[*keyedCursor] { return &keyedWriter{run: run} }
		if err := extsort.Merge(m.spill, extsort.MaxFan, func() *keyedCursor { return &keyedCursor{} }, begin, p); err != nil {
			return err
		}
	}
	m.all = m.all[:0]
	clear(m.count)
	return nil
}

// close removes the temporary file.
func (m *medians) close() {
	if m.spill != nil {
		m.spill.Close()
		m.spill = nil
	}
}

// A picker takes numbers in order, and picks those in the middle.
type picker struct {
	count map[uint32]int64
	tell  func(key uint32, median int64)
	key   uint32
	n     int64 // numbers of the key so far
	lower int64
}

// takeNumber counts a number of its key, and tells the median once it is reached.
func (p *picker) takeNumber(k keyed) {
	if k.key != p.key {
		p.key, p.n = k.key, 0
	}
	all := p.count[k.key]
	if p.n == (all-1)/2 {
		p.lower = k.value
	}
	if p.n == all/2 {
		p.tell(k.key, p.lower+(k.value-p.lower)/2)
	}
	p.n++
}

// Take takes the number of a cursor, and moves it on.
func (p *picker) Take(c *keyedCursor) error {
	p.takeNumber(c.keyed())
	c.next()
	return nil
}

// Finish does nothing.
func (p *picker) Finish() error { return nil }

// A keyedWriter writes numbers in their order as blocks of a run.
type keyedWriter struct {
	run   *extsort.Run
	block []byte
}

// keyedSize is how many bytes a number has in a run.
const keyedSize = 12

// write writes a number.
func (w *keyedWriter) write(k keyed) error {
	w.block = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(w.block, k.key), uint64(k.value))
	if len(w.block) >= runBlock {
		return w.Finish()
	}
	return nil
}

// Take writes the number of a cursor, and moves it on.
func (w *keyedWriter) Take(c *keyedCursor) error {
	if err := w.write(c.keyed()); err != nil {
		return err
	}
	c.next()
	return nil
}

// Finish writes the block.
func (w *keyedWriter) Finish() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block = w.block[:0]
	return err
}

// A keyedCursor stands on a number of a block.
type keyedCursor struct{ block []byte }

// Load moves the cursor to the first number of a block.
func (c *keyedCursor) Load(block []byte) error {
	if len(block)%keyedSize != 0 {
		return errItem
	}
	c.block = block
	return nil
}

// Done reports whether the cursor is behind the last number.
func (c *keyedCursor) Done() bool { return len(c.block) == 0 }

// Compare compares two numbers.
func (c *keyedCursor) Compare(o *keyedCursor) int { return c.keyed().compare(o.keyed()) }

// keyed returns the number.
func (c *keyedCursor) keyed() keyed {
	return keyed{binary.LittleEndian.Uint32(c.block), int64(binary.LittleEndian.Uint64(c.block[4:]))}
}

// next moves the cursor on.
func (c *keyedCursor) next() { c.block = c.block[keyedSize:] }
