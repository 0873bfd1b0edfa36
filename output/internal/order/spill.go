package order

import (
	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/output/internal/columnar"
)

// spillBlock is the unit for writing and reading a sorted piece: small, as a merge has one of each piece
// in memory.
var spillBlock = columnar.Limits{Rows: 4 << 10, Bytes: 256 << 10}

// mergeMemory is about the memory of a sorted piece while it is merged: a block, packed and unpacked.
const mergeMemory = 2 << 20

// newSpillChunk returns the rows of a block, which has dictionaries of its own.
func newSpillChunk(l *columnar.Schema) *columnar.Chunk {
	return columnar.NewChunk(l, 1, columnar.NewDictionaries(l), spillBlock)
}

// A pieceTarget writes a sorted piece.
type pieceTarget struct {
	piece *extsort.Run
	rows  *columnar.Chunk
	raw   []byte
}

func newPieceTarget(piece *extsort.Run, l *columnar.Schema) *pieceTarget {
	return &pieceTarget{piece: piece, rows: newSpillChunk(l)}
}

func (t *pieceTarget) Start(*columnar.Chunk, uint32) error { return nil }
func (t *pieceTarget) Chunk() *columnar.Chunk              { return t.rows }
func (t *pieceTarget) Abort()                              {}

// Flush writes the rows as a block.
func (t *pieceTarget) Flush() error {
	t.raw = t.rows.Encode(t.raw[:0])
	t.rows.Reset()
	t.rows.Names.Reset()
	return t.piece.Write(t.raw)
}

// Finish writes the block that is not full.
func (t *pieceTarget) Finish() error {
	if t.rows.Rows == 0 {
		return nil
	}
	return t.Flush()
}

// A rowCursor stands on a row of a block.
type rowCursor struct {
	keys SortKeys
	rows *columnar.Chunk
	row  uint32
}

// Load moves the cursor to another block.
func (c *rowCursor) Load(block []byte) error {
	c.row = 0
	return c.rows.Decode(block)
}

// Done reports whether there is no row any more.
func (c *rowCursor) Done() bool { return int(c.row) >= c.rows.Rows }

// Compare compares the keys of two rows.
func (c *rowCursor) Compare(other *rowCursor) int {
	return c.keys.compare(c.rows, c.row, other.rows, other.row)
}

// A mergeOutput hands merged rows to a target.
type mergeOutput struct {
	arranger *Arranger
	target   target
	refs     []columnar.Ref
}

// Take takes the row of the cursor, and all behind it in the block that have the same keys.
func (m *mergeOutput) Take(c *rowCursor) error {
	if err := m.arranger.cancelled(); err != nil {
		return err
	}
	m.refs = m.refs[:0]
	for first := c.row; !c.Done() && c.keys.same(c.rows, first, c.rows, c.row); c.row++ {
		m.refs = append(m.refs, columnar.Ref{Row: c.row})
	}
	return emit(m.target, []*columnar.Chunk{c.rows}, m.refs)
}

// Finish writes the target's rows.
func (m *mergeOutput) Finish() error { return m.target.Finish() }
