package order

import (
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
)

// A Splitter is a container that hands rows to one target for each partition, as they come, while
// there is room for the targets. It leaves rows of all other partitions to an Arranger. A target
// gets the same rows in the same order by either way, so that memory decides no byte.
type Splitter struct {
	Rest   *Arranger // its target begins all others
	Room   int       // how many partitions may have a target at once; 0 leaves all rows to Rest
	each   int       // the bytes of such a target
	limit  int       // of Rest while no target is held
	target splitTarget

	parts []splitPart
	known [knownParts]knownPart
	keys  []keyColumn     // of the chunk that is split
	other []columnar.Ref  // the rows of the chunk that have no target
	left  *columnar.Chunk // such rows of earlier chunks
}

// A splitTarget begins a target for each of some partitions.
type splitTarget interface {
	target
	// Hold begins the target of a row's partition. It stays open beside others until Finish or Abort.
	Hold(c *columnar.Chunk, row uint32) (Held, error)
}

// A Held is the target of one partition.
type Held interface {
	// Chunk returns the chunk that takes rows.
	Chunk() *columnar.Chunk
	// Flush writes that chunk, which is full.
	Flush() error
}

// A splitPart is a partition that has a target.
type splitPart struct {
	values [][]byte // of its keys; nil for a null
	first  uint32   // its first row in the chunk that it came with
	held   Held     // nil until the chunk with its first row was looked through
	rows   []columnar.Ref
}

// knownParts is a power of two: of how many values of keys it is remembered which partition they are.
const knownParts = 256

// restRows says when no target is held: unless they take one of that many rows of the first chunk. Rows of other
// partitions are copied once more, which costs an eighth of the time that a row saves without waiting.
const restRows = 4

// mostKeys is how many columns partitions may have.
const mostKeys = 4

// A knownPart says which partition values have that have these numbers.
type knownPart struct {
	ids  [mostKeys]int32
	part int32 // 1 + its number, 0 if nothing is known, less if it has no target
}

// restPart is the part of the memory that is left for rows of partitions without a target.
const restPart = 4

// freeMemory is how many bytes targets may take that are held without a limit. They rarely take half of it.
const freeMemory = 384 << 20

// namesPart is the part of the memory that texts of dictionaries may take before they are forgotten.
const namesPart = 16

// NewSplitter returns a Splitter of chunks of the layout. Each target that it holds takes up to so
// many bytes of opt.Memory; with 0 it holds none.
func NewSplitter(all *columnar.Schema, opt Options, to splitTarget, each int) *Splitter {
	s := &Splitter{Rest: NewArranger(all, opt, to), target: to, each: each}
	memory := s.Rest.Limit - s.Rest.Limit/restPart
	if opt.Memory == 0 {
		memory = freeMemory
	}
	if each > 0 && len(s.Rest.keys) <= mostKeys {
		s.Room = memory / each
	}
	return s
}

// Write hands on the rows of a chunk.
func (s *Splitter) Write(c *columnar.Chunk) (*columnar.Chunk, error) {
	if s.Room == 0 {
		return s.Rest.Write(c)
	}
	if err := s.Rest.cancelled(); err != nil {
		return nil, err
	}
	begun := len(s.parts)
	if begun == 0 {
		s.limit = s.Rest.Limit
	}
	if s.divide(c); begun == 0 && len(s.other)*restRows > c.Rows*(restRows-1) {
		s.Room, s.parts = 0, nil
		return s.Rest.Write(c)
	}
	for i := range s.parts[begun:] {
		p := &s.parts[begun+i]
		held, err := s.target.Hold(c, p.first)
		if err != nil {
			return nil, err
		}
		p.held = held
	}
	if len(s.parts) > begun {
		s.Rest.Limit = max(s.limit-len(s.parts)*s.each, s.limit/restPart)
	}
	from := []*columnar.Chunk{c}
	for i := range s.parts {
		p := &s.parts[i]
		if err := addRows(p.held, from, p.rows); err != nil {
			return nil, err
		}
		p.rows = p.rows[:0]
	}
	// Give the other rows of the chunk to the Arranger, so that the chunk is empty.
	if s.left == nil && len(s.other) > 0 {
		s.left = c.Next()
	}
	names := c.Names
	switch {
	case len(s.other) == c.Rows: // all of them: the chunk itself
		s.addLeft()
		s.Rest.addChunk(c)
		c = s.Rest.next(c)
	case len(s.other) > 0:
		s.left.TakeRows(from, s.other)
		fallthrough
	default:
		c.Reset()
		if s.left != nil && (s.left.Rows >= SortChunk.Rows || s.left.Size() >= SortChunk.Bytes) {
			s.addLeft()
		}
	}
	return c, s.settle(names)
}

// divide notes the rows of each partition in the chunk, and the others.
func (s *Splitter) divide(c *columnar.Chunk) {
	s.keys, s.other = s.keys[:0], s.other[:0]
	for i := range s.Rest.keys {
		s.keys = append(s.keys, s.Rest.keys.At(c, i))
	}
	for row := range uint32(c.Rows) {
		var ids [mostKeys]int32
		slot := uint32(0)
		for i, k := range s.keys {
			ids[i] = k.KeyID(row)
			slot = slot*31 + uint32(ids[i])
		}
		known := &s.known[slot%knownParts]
		if known.part == 0 || known.ids != ids {
			*known = knownPart{ids, s.find(c, row)}
		}
		part := known.part
		if part > 0 {
			p := &s.parts[part-1]
			p.rows = append(p.rows, columnar.Ref{Row: row})
			continue
		}
		s.other = append(s.other, columnar.Ref{Row: row})
	}
}

// find is partOf by the texts of the keys. It begins a partition if there is room.
func (s *Splitter) find(c *columnar.Chunk, row uint32) int32 {
	for i := range s.parts {
		if s.Rest.keys.Are(c, row, s.parts[i].values) {
			return int32(i + 1)
		}
	}
	if len(s.parts) == s.Room {
		return -1
	}
	s.parts = append(s.parts, splitPart{values: s.Rest.keys.Values(c, row), first: row})
	return int32(len(s.parts))
}

// addLeft gives the Arranger the rest of earlier chunks.
func (s *Splitter) addLeft() {
	if s.left != nil && s.left.Rows > 0 {
		s.Rest.addChunk(s.left)
		s.left = s.Rest.next(s.left)
	}
}

// settle keeps the memory of rows and dictionaries in its bounds, while no row waits to be split.
func (s *Splitter) settle(names *columnar.Numbering) error {
	a := s.Rest
	if a.bytes+names.Memory() < a.Limit && names.Size() < a.Limit/namesPart {
		return nil
	}
	s.addLeft()
	switch {
	case len(a.chunks) > 0:
		if err := a.spillPiece(); err != nil {
			return err
		}
	case names.Size() >= a.Limit/namesPart:
		names.Reset()
	}
	s.known = [knownParts]knownPart{}
	return nil
}

// addRows adds rows to the target of their partition.
func addRows(to Held, from []*columnar.Chunk, rows []columnar.Ref) error {
	for len(rows) > 0 {
		c := to.Chunk()
		n := c.FitRows(from, rows)
		c.TakeRows(from, rows[:n])
		rows = rows[n:]
		if c.Filled() {
			if err := to.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close hands on the rows that are left.
func (s *Splitter) Close(c *columnar.Chunk, md container.Metadata) error {
	if err := s.Rest.cancelled(); err != nil {
		return err
	}
	s.addLeft()
	return s.Rest.Close(c, md)
}

// Abort drops the gathered rows.
func (s *Splitter) Abort() { s.Rest.Abort() }
