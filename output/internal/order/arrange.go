// Package order sorts the rows of a table.
//
// An [Arranger] takes the place of a container. It hides how rows are sorted, in memory and in a temporary file, and
// passes them on to a target. The order depends only on the rows. A [Splitter] writes the rows of few partitions
// directly, without sorting. Package output and package partition import it.
package order

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
)

// A Sort is an order of the rows.
type Sort uint8

// The orders.
const (
	SortNone   Sort = iota // the order of the input
	SortOrigin             // by origin (bytewise), rows without one last; rows of one origin in input order
)

// sortNames are the names of the orders, by Sort.
var sortNames = [...]string{SortNone: "none", SortOrigin: "origin"}

// ErrSort is the error of ParseSort.
var ErrSort = errors.New("unknown order")

// String returns the name: "origin".
func (s Sort) String() string { return sortNames[s] }

// Columns returns the names of the columns to sort by; none for SortNone.
func (s Sort) Columns() []string {
	if s == SortNone {
		return nil
	}
	return []string{columnar.NameOrigin}
}

// ParseSort returns the order of that name, SortNone for "". The error is ErrSort, and lists the names.
func ParseSort(name string) (Sort, error) {
	if name == "" {
		return SortNone, nil
	}
	if i := slices.Index(sortNames[:], name); i >= 0 {
		return Sort(i), nil
	}
	return 0, fmt.Errorf("%w %q: use none or origin", ErrSort, name)
}

const (
	// SortMemory is the default of Options.Memory, in bytes.
	SortMemory = 256 << 20
	// minSortMemory is the minimum, in bytes, for a few chunks and the merge of several sorted pieces.
	minSortMemory = 8 << 20
)

// SortChunk limits a chunk. The memory limit is checked after every chunk.
var SortChunk = columnar.Limits{Rows: 16 << 10, Bytes: 1 << 20}

// An Arranger is a container that sorts all rows before it passes them to a target: by their keys and, if these are
// equal, in the order of their arrival. It gathers chunks until they fill its memory, sorts their rows and writes
// them as a sorted piece to a temporary file; at the end it merges the pieces. The order depends only on the rows,
// not on the memory.
type Arranger struct {
	schema *columnar.Schema
	keys   SortKeys
	Limit  int             // maximum bytes of gathered chunks, their dictionaries, and references to their rows
	cancel <-chan struct{} // closed to end the work early

	chunks []*columnar.Chunk // gathered chunks; they share their numbering
	spare  []*columnar.Chunk // empty chunks
	bytes  int               // memory of chunks
	Spill  *extsort.Spill
	target target
}

// A target receives rows in order.
type target interface {
	// Start announces rows with the same keys as this row.
	Start(c *columnar.Chunk, row uint32) error
	// Chunk returns the chunk to which rows are added.
	Chunk() *columnar.Chunk
	// Flush writes that chunk, which is full.
	Flush() error
	// Finish writes the last chunk, and completes the target.
	Finish() error
	// Abort stops all work.
	Abort()
}

// Options configure sorting.
type Options struct {
	Keys    []string        // columns to sort by, the most significant first; repeated names are ignored
	Memory  int64           // maximum bytes of rows in memory; 0 means 256 MiB; at least 8 MiB
	TempDir string          // directory of the temporary file; "" means the default
	Cancel  <-chan struct{} // closed to end the work early; nil means never
}

// NewArranger returns an Arranger for chunks of the schema, which must have the columns of opt.Keys.
func NewArranger(all *columnar.Schema, opt Options, to target) *Arranger {
	a := &Arranger{schema: all, cancel: opt.Cancel, target: to, Limit: SortMemory, Spill: extsort.NewSpill(opt.TempDir)}
	if opt.Memory > 0 {
		a.Limit = int(max(minSortMemory, opt.Memory))
	}
	for _, name := range opt.Keys {
		if at := all.Index(name); !slices.Contains(a.keys, at) {
			a.keys = append(a.keys, at)
		}
	}
	return a
}

// Write gathers a chunk. If the gathered chunks fill the memory, it writes them to the temporary file.
func (a *Arranger) Write(c *columnar.Chunk) (*columnar.Chunk, error) {
	a.addChunk(c)
	if a.bytes+c.Names.Memory() >= a.Limit {
		if err := a.spillPiece(); err != nil {
			return nil, err
		}
	}
	return a.nextChunk(c), nil
}

// addChunk gathers a chunk. It does not check the memory limit.
func (a *Arranger) addChunk(c *columnar.Chunk) {
	a.chunks = append(a.chunks, c)
	a.bytes += c.Memory() + 16*c.Rows // sorting needs two references to each row
}

// nextChunk returns an empty chunk for rows after c: a spare one, or a new one.
func (a *Arranger) nextChunk(c *columnar.Chunk) *columnar.Chunk {
	n := len(a.spare)
	if n == 0 {
		return c.Next()
	}
	next := a.spare[n-1]
	a.spare = a.spare[:n-1]
	return next
}

// spillPiece writes the gathered rows as a sorted piece, and empties the chunks and dictionaries. There must be a
// gathered chunk.
func (a *Arranger) spillPiece() error {
	piece, err := a.Spill.Begin()
	if err != nil {
		return err
	}
	to := newPieceTarget(piece, a.schema)
	if err := a.emitChunks(to); err != nil {
		return err
	}
	if err := to.Finish(); err != nil {
		return err
	}
	piece.End()
	a.chunks[0].Names.Reset()
	for _, c := range a.chunks {
		c.Reset()
	}
	a.spare, a.chunks, a.bytes = append(a.spare, a.chunks...), a.chunks[:0], 0
	return nil
}

// emitChunks passes the gathered rows to a target, in order. It does not complete the target. The error may be
// context.Canceled.
func (a *Arranger) emitChunks(to target) error {
	rows := a.keys.sortedRows(a.chunks)
	for len(rows) > 0 {
		if err := a.checkCancelled(); err != nil {
			return err
		}
		first := rows[0]
		n := 1
		for n < len(rows) && a.keys.sameKeys(a.chunks[first.Chunk], first.Row, a.chunks[rows[n].Chunk], rows[n].Row) {
			n++
		}
		if err := emitGroup(to, a.chunks, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// emitGroup passes rows with the same keys to a target. There must be at least one.
func emitGroup(to target, from []*columnar.Chunk, rows []columnar.Ref) error {
	if err := to.Start(from[rows[0].Chunk], rows[0].Row); err != nil {
		return err
	}
	return addRows(to, from, rows)
}

// checkCancelled returns context.Canceled if Options.Cancel is closed.
func (a *Arranger) checkCancelled() error {
	select {
	case <-a.cancel:
		return context.Canceled
	default:
		return nil
	}
}

// Close passes all rows to the target in order, merging the sorted pieces if there are any, and completes the target.
func (a *Arranger) Close(*columnar.Chunk, container.Metadata) error {
	if a.Spill.Runs() == 0 {
		if err := a.emitChunks(a.target); err != nil {
			return err
		}
		a.chunks, a.spare = nil, nil
		return a.target.Finish()
	}
	if len(a.chunks) > 0 {
		if err := a.spillPiece(); err != nil {
			return err
		}
	}
	a.chunks, a.spare = nil, nil // the merge has their memory now
	newCursor := func() *rowCursor { return &rowCursor{keys: a.keys, rows: newSpillChunk(a.schema)} }
	begin := func(piece *extsort.Run) extsort.Output[*rowCursor] {
		return &mergeOutput{arranger: a, target: newPieceTarget(piece, a.schema)}
	}
	fan := max(2, min(extsort.MaxFan, a.Limit/mergeMemory))
	return extsort.Merge(a.Spill, fan, newCursor, begin, &mergeOutput{arranger: a, target: a.target})
}

// Abort drops the gathered rows, and aborts the target.
func (a *Arranger) Abort() {
	a.target.Abort()
	a.Spill.Close()
	a.chunks, a.spare = nil, nil
}

// A fileTarget writes rows to the container of one file.
type fileTarget struct {
	container container.Container
	rows      *columnar.Chunk
	md        *container.Metadata
}

// NewFileTarget returns a target that writes rows of the schema to a container, whose first chunk has these limits.
func NewFileTarget(c container.Container, written *columnar.Schema, lim columnar.Limits, md *container.Metadata) *fileTarget {
	return &fileTarget{container: c, rows: columnar.NewChunk(written, 1, columnar.NewDictionaries(written), lim.ForSchema(written)), md: md}
}

func (t *fileTarget) Start(*columnar.Chunk, uint32) error { return nil }
func (t *fileTarget) Chunk() *columnar.Chunk              { return t.rows }

func (t *fileTarget) Flush() error {
	next, err := t.container.Write(t.rows)
	if err == nil {
		t.rows = next
	}
	return err
}

// Finish writes the last chunk, and completes the container with the metadata.
func (t *fileTarget) Finish() error {
	if t.rows.Rows > 0 {
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return t.container.Close(t.rows, *t.md)
}

func (t *fileTarget) Abort() { t.container.Abort() }

// A keyColumn is a column to sort by. Nulls come last.
type keyColumn interface {
	// KeyText returns the value of a row; false for null.
	KeyText(row uint32) ([]byte, bool)
	// KeyID returns the number of the value of a row, which is unique among chunks that share their dictionaries; -1 for
	// null.
	KeyID(row uint32) int32
	// KeyRanks returns the rank of each number's value in the order.
	KeyRanks() []int32
}

// SortKeys are the indices of the columns to sort by, the most significant first.
type SortKeys []int

// Column returns the column of sort key i in a chunk.
func (k SortKeys) Column(c *columnar.Chunk, i int) keyColumn { return c.Columns[k[i]].(keyColumn) }

// Values returns a copy of the key values of a row; a null is nil.
func (k SortKeys) Values(c *columnar.Chunk, row uint32) [][]byte {
	values := make([][]byte, len(k))
	for i := range k {
		if text, ok := k.Column(c, i).KeyText(row); ok {
			values[i] = append([]byte{}, text...) // not nil, even if empty
		}
	}
	return values
}

// Match reports whether a row has these key values, as returned by Values.
func (k SortKeys) Match(c *columnar.Chunk, row uint32, values [][]byte) bool {
	for i, have := range values {
		text, ok := k.Column(c, i).KeyText(row)
		if ok != (have != nil) || !bytes.Equal(text, have) {
			return false
		}
	}
	return true
}

// CompareValues compares the results of Values in the order of rows: bytewise, nulls last.
func CompareValues(a, b [][]byte) int {
	for i := range a {
		switch {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil:
			return 1
		case b[i] == nil:
			return -1
		default:
			if c := bytes.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
	}
	return 0
}

// sameKeys reports whether two rows have the same keys. Their chunks must share dictionaries.
func (k SortKeys) sameKeys(a *columnar.Chunk, rowA uint32, b *columnar.Chunk, rowB uint32) bool {
	for i := range k {
		if k.Column(a, i).KeyID(rowA) != k.Column(b, i).KeyID(rowB) {
			return false
		}
	}
	return true
}

// sortedRows returns the rows of chunks, which must share dictionaries, in order; the sort is stable. It is a radix
// sort: a counting sort by each key, the least significant first. So the time is linear in the number of rows.
func (k SortKeys) sortedRows(chunks []*columnar.Chunk) []columnar.Ref {
	total := 0
	for _, c := range chunks {
		total += c.Rows
	}
	rows, next := make([]columnar.Ref, 0, total), make([]columnar.Ref, total)
	for i, c := range chunks {
		for row := range c.Rows {
			rows = append(rows, columnar.Ref{Chunk: uint32(i), Row: uint32(row)})
		}
	}
	if total == 0 {
		return rows
	}
	for i := len(k) - 1; i >= 0; i-- {
		ranks := k.Column(chunks[0], i).KeyRanks()
		rank := func(r columnar.Ref) int32 {
			if id := k.Column(chunks[r.Chunk], i).KeyID(r.Row); id >= 0 {
				return ranks[id]
			}
			return int32(len(ranks)) // nulls are last
		}
		starts := make([]int, len(ranks)+2) // index of the first row of each rank
		for _, r := range rows {
			starts[rank(r)+1]++
		}
		for i := range len(ranks) + 1 {
			starts[i+1] += starts[i]
		}
		for _, r := range rows {
			at := &starts[rank(r)]
			next[*at] = r
			*at++
		}
		rows, next = next, rows
	}
	return rows
}

// spillBlock limits a block, the unit in which a sorted piece is written and read. It is small, because a merge has one
// block of each piece in memory.
var spillBlock = columnar.Limits{Rows: 4 << 10, Bytes: 256 << 10}

// mergeMemory is the approximate memory, in bytes, of a sorted piece during a merge: a block, compressed and
// decompressed.
const mergeMemory = 2 << 20

// newSpillChunk returns an empty block, which has its own dictionaries.
func newSpillChunk(l *columnar.Schema) *columnar.Chunk {
	return columnar.NewChunk(l, 1, columnar.NewDictionaries(l), spillBlock)
}

// A pieceTarget writes rows to a sorted piece.
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

// Finish writes the last block.
func (t *pieceTarget) Finish() error {
	if t.rows.Rows == 0 {
		return nil
	}
	return t.Flush()
}

// A rowCursor is a position in a block.
type rowCursor struct {
	keys SortKeys
	rows *columnar.Chunk
	row  uint32
}

// Load moves the cursor to the first row of another block.
func (c *rowCursor) Load(block []byte) error {
	c.row = 0
	return c.rows.Decode(block)
}

// Done reports whether the cursor is past the last row.
func (c *rowCursor) Done() bool { return int(c.row) >= c.rows.Rows }

// Compare compares the keys of two rows: bytewise, nulls last.
func (c *rowCursor) Compare(other *rowCursor) int {
	for i := range c.keys {
		text, ok := c.keys.Column(c.rows, i).KeyText(c.row)
		otherText, otherOK := c.keys.Column(other.rows, i).KeyText(other.row)
		switch {
		case ok != otherOK && ok:
			return -1
		case ok != otherOK:
			return 1
		}
		if order := bytes.Compare(text, otherText); order != 0 {
			return order
		}
	}
	return 0
}

// A mergeOutput passes merged rows to a target.
type mergeOutput struct {
	arranger *Arranger
	target   target
	refs     []columnar.Ref
}

// Take passes on the row at the cursor, and the following rows of the block with the same keys. It moves the cursor
// behind them.
func (m *mergeOutput) Take(c *rowCursor) error {
	if err := m.arranger.checkCancelled(); err != nil {
		return err
	}
	m.refs = m.refs[:0]
	for first := c.row; !c.Done() && c.keys.sameKeys(c.rows, first, c.rows, c.row); c.row++ {
		m.refs = append(m.refs, columnar.Ref{Row: c.row})
	}
	return emitGroup(m.target, []*columnar.Chunk{c.rows}, m.refs)
}

// Finish completes the target.
func (m *mergeOutput) Finish() error { return m.target.Finish() }
