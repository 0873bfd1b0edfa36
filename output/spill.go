package output

import (
	"github.com/robobatch/robobatch/internal/extsort"
)

// spillBlock is what a sorted piece is written and read by: small, as a merge has one of each piece
// in memory.
var spillBlock = limits{rows: 4 << 10, bytes: 256 << 10}

// mergeMemory is about what a sorted piece takes while it is merged: a block, packed and unpacked.
const mergeMemory = 2 << 20

// newSpillChunk returns the rows of a block, which has dictionaries of its own.
func newSpillChunk(l *layout) *chunk {
	return newChunk(l, 1, newDictionaries(l), spillBlock)
}

// A pieceTarget writes a sorted piece.
type pieceTarget struct {
	piece *extsort.Run
	rows  *chunk
	raw   []byte
}

func newPieceTarget(piece *extsort.Run, l *layout) *pieceTarget {
	return &pieceTarget{piece: piece, rows: newSpillChunk(l)}
}

func (t *pieceTarget) start(*chunk, uint32) error { return nil }
func (t *pieceTarget) chunk() *chunk              { return t.rows }
func (t *pieceTarget) abort()                     {}

// flush writes the rows as a block.
func (t *pieceTarget) flush() error {
	t.raw = t.rows.encode(t.raw[:0])
	t.rows.reset()
	t.rows.names.reset()
	return t.piece.Write(t.raw)
}

// finish writes the block that is not full.
func (t *pieceTarget) finish() error {
	if t.rows.rows == 0 {
		return nil
	}
	return t.flush()
}

// merge hands the rows of all sorted pieces to the target, in order.
func (a *arranger) merge() error {
	newCursor := func() *rowCursor { return &rowCursor{keys: a.keys, rows: newSpillChunk(a.layout)} }
	begin := func(piece *extsort.Run) extsort.Output[*rowCursor] {
		return &mergeOutput{arranger: a, target: newPieceTarget(piece, a.layout)}
	}
	fan := max(2, min(extsort.MaxFan, a.limit/mergeMemory))
	return extsort.Merge(a.spill, fan, newCursor, begin, &mergeOutput{arranger: a, target: a.target})
}

// A rowCursor stands on a row of a block.
type rowCursor struct {
	keys sortKeys
	rows *chunk
	row  uint32
}

// Load moves the cursor to another block.
func (c *rowCursor) Load(block []byte) error {
	c.row = 0
	return c.rows.decode(block)
}

// Done reports whether there is no row any more.
func (c *rowCursor) Done() bool { return int(c.row) >= c.rows.rows }

// Compare compares the keys of two rows.
func (c *rowCursor) Compare(other *rowCursor) int {
	return c.keys.compare(c.rows, c.row, other.rows, other.row)
}

// A mergeOutput hands merged rows to a target.
type mergeOutput struct {
	arranger *arranger
	target   target
	refs     []ref
}

// Take takes the row of the cursor, and all behind it in the block that have the same keys.
func (m *mergeOutput) Take(c *rowCursor) error {
	if err := m.arranger.cancelled(); err != nil {
		return err
	}
	m.refs = m.refs[:0]
	for first := c.row; !c.Done() && c.keys.same(c.rows, first, c.rows, c.row); c.row++ {
		m.refs = append(m.refs, ref{0, c.row})
	}
	return emit(m.target, []*chunk{c.rows}, m.refs)
}

// Finish writes what the target holds.
func (m *mergeOutput) Finish() error { return m.target.finish() }
