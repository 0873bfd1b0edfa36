package output

import (
	"context"
	"slices"

	"github.com/robobatch/robobatch/internal/extsort"
)

const (
	// sortMemory is how many bytes of rows are sorted at once, unless Options.SortMemory says
	// otherwise.
	sortMemory = 256 << 20
	// minSortMemory is the least: chunks of that, and a merge of several sorted pieces, need some.
	minSortMemory = 8 << 20
)

// sortChunk is what is gathered before the memory of all chunks is looked at.
var sortChunk = limits{rows: 16 << 10, bytes: 1 << 20}

// An arranger is a container that puts all rows in another order before a target gets them: by
// their keys, and where these are equal in the order in which they came. It gathers chunks until
// they fill its memory, sorts their rows and writes them as a sorted piece to a temporary file; at
// the end it merges the pieces. The order depends on the rows alone, not on the memory.
type arranger struct {
	layout *layout
	keys   sortKeys
	limit  int             // bytes of gathered chunks, their dictionaries, and references to their rows
	cancel <-chan struct{} // closed to end the work early

	chunks []*chunk // gathered; they share their numbering
	spare  []*chunk
	bytes  int // of chunks
	spill  *extsort.Spill
	target target
}

// A target gets rows in order.
type target interface {
	// start says that rows follow which have the keys of that one.
	start(c *chunk, row uint32) error
	// chunk returns the chunk that takes rows.
	chunk() *chunk
	// flush writes that chunk, which is full.
	flush() error
	// finish writes what is left, and the end.
	finish() error
	// abort ends all work under way.
	abort()
}

// newArranger returns an arranger of chunks of the layout.
func newArranger(all *layout, opt Options, to target) *arranger {
	a := &arranger{layout: all, cancel: opt.Cancel, target: to, limit: sortMemory, spill: extsort.NewSpill(opt.TempDir)}
	if opt.SortMemory > 0 {
		a.limit = int(max(minSortMemory, opt.SortMemory))
	}
	for _, name := range opt.Partition {
		a.keys = append(a.keys, all.index(name))
	}
	if at := all.index(nameOrigin); opt.Sort == SortOrigin && !slices.Contains(a.keys, at) {
		a.keys = append(a.keys, at)
	}
	return a
}

// write gathers a chunk.
func (a *arranger) write(c *chunk) (*chunk, error) {
	a.chunks = append(a.chunks, c)
	a.bytes += c.memory() + 16*c.rows // and two references to each row while they are sorted
	if a.bytes+c.names.memory() >= a.limit {
		if err := a.spillPiece(); err != nil {
			return nil, err
		}
	}
	if n := len(a.spare); n > 0 {
		next := a.spare[n-1]
		a.spare = a.spare[:n-1]
		return next, nil
	}
	return c.next(), nil
}

// spillPiece writes what was gathered as a sorted piece.
func (a *arranger) spillPiece() error {
	piece, err := a.spill.Begin()
	if err != nil {
		return err
	}
	to := newPieceTarget(piece, a.layout)
	if err := a.emitChunks(to); err != nil {
		return err
	}
	if err := to.finish(); err != nil {
		return err
	}
	piece.End()
	a.chunks[0].names.reset()
	for _, c := range a.chunks {
		c.reset()
	}
	a.spare, a.chunks, a.bytes = append(a.spare, a.chunks...), a.chunks[:0], 0
	return nil
}

// emitChunks hands the rows that were gathered to a target, in order.
func (a *arranger) emitChunks(to target) error {
	rows := a.keys.sort(a.chunks)
	for len(rows) > 0 {
		if err := a.cancelled(); err != nil {
			return err
		}
		first := rows[0]
		n := 1
		for n < len(rows) && a.keys.same(a.chunks[first.chunk], first.row, a.chunks[rows[n].chunk], rows[n].row) {
			n++
		}
		if err := emit(to, a.chunks, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// emit hands rows that have the same keys to a target.
func emit(to target, from []*chunk, rows []ref) error {
	if err := to.start(from[rows[0].chunk], rows[0].row); err != nil {
		return err
	}
	for len(rows) > 0 {
		c := to.chunk()
		n := c.fitRows(from, rows)
		c.takeRows(from, rows[:n])
		rows = rows[n:]
		if c.filled() {
			if err := to.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// cancelled returns context.Canceled if the work is to end.
func (a *arranger) cancelled() error {
	select {
	case <-a.cancel:
		return context.Canceled
	default:
		return nil
	}
}

// close hands all rows to the target.
func (a *arranger) close(*chunk, metadataPairs) error {
	if a.spill.Runs() == 0 {
		if err := a.emitChunks(a.target); err != nil {
			return err
		}
		a.chunks, a.spare = nil, nil
		return a.target.finish()
	}
	if len(a.chunks) > 0 {
		if err := a.spillPiece(); err != nil {
			return err
		}
	}
	a.chunks, a.spare = nil, nil // their memory is that of the merge now
	return a.merge()
}

// abort drops what was gathered.
func (a *arranger) abort() {
	a.target.abort()
	a.spill.Close()
	a.chunks, a.spare = nil, nil
}

// A fileTarget is the container of one file.
type fileTarget struct {
	container container
	rows      *chunk
	md        *metadataPairs
}

func (t *fileTarget) start(*chunk, uint32) error { return nil }
func (t *fileTarget) chunk() *chunk              { return t.rows }

func (t *fileTarget) flush() error {
	next, err := t.container.write(t.rows)
	if err == nil {
		t.rows = next
	}
	return err
}

func (t *fileTarget) finish() error {
	if t.rows.rows > 0 {
		if err := t.flush(); err != nil {
			return err
		}
	}
	return t.container.close(t.rows, *t.md)
}

func (t *fileTarget) abort() { t.container.abort() }
