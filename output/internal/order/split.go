package order

import (
	"slices"

	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
)

// A Splitter is a container that writes the rows of each partition to a target of its own, as long as the memory
// suffices for the targets. It passes the rows of all other partitions to an Arranger. Both ways write the same rows in
// the same order, so the amount of memory does not change the output.
type Splitter struct {
	Rest        *Arranger // sorts the rows of partitions without a target
	Room        int       // maximum number of partitions with a target; 0 passes all rows to Rest
	targetBytes int       // memory of a target, in bytes
	limit       int       // Rest.Limit while there is no target
	target      splitTarget

	parts []splitPart
	cache [cacheSlots]cachedPart
	keys  []keyColumn     // of the chunk that is split
	other []columnar.Ref  // rows of the chunk without a target
	left  *columnar.Chunk // rows of earlier chunks without a target
}

// A splitTarget is a target that can keep several partitions open.
type splitTarget interface {
	target
	// Hold opens the partition of a row, until Finish or Abort.
	Hold(c *columnar.Chunk, row uint32) (Held, error)
}

// A Held is the target of one open partition.
type Held interface {
	// Chunk returns the chunk to which rows are added.
	Chunk() *columnar.Chunk
	// Flush writes that chunk, which is full.
	Flush() error
}

// A splitPart is a partition with a target.
type splitPart struct {
	values [][]byte // its key values; a null is nil
	first  uint32   // its first row, in the chunk where it appeared
	held   Held     // nil until that chunk is divided
	rows   []columnar.Ref
}

const (
	cacheSlots = 256 // slots of Splitter.cache; a power of two
	mostKeys   = 4   // maximum number of key columns; with more, all rows are sorted

	// restRows determines whether there are targets at all: only if they take at least 1 of 4 rows of the first chunk.
	// Rows without a target are copied once more, which costs an eighth of the time that a row with a target saves.
	restRows = 4
	// restPart is the divisor of the memory limit that gives the memory reserved for sorting.
	restPart = 4
	// namesPart is the divisor of the memory limit that gives the maximum size of the texts in dictionaries.
	namesPart = 16
	// freeMemory is the memory for targets, in bytes, if there is no limit. They rarely use half of it.
	freeMemory = 384 << 20
)

// A cachedPart is the partition of rows whose keys have these IDs.
type cachedPart struct {
	ids  [mostKeys]int32
	part int32 // 1 + index in Splitter.parts; 0 if the slot is empty, -1 for a partition without a target
}

// NewSplitter returns a Splitter for chunks of the schema. Each target needs up to targetBytes of opt.Memory. If
// targetBytes is 0, or there are more than mostKeys keys, there are no targets.
func NewSplitter(all *columnar.Schema, opt Options, to splitTarget, targetBytes int) *Splitter {
	s := &Splitter{Rest: NewArranger(all, opt, to), target: to, targetBytes: targetBytes}
	memory := s.Rest.Limit - s.Rest.Limit/restPart
	if opt.Memory == 0 {
		memory = freeMemory
	}
	if targetBytes > 0 && len(s.Rest.keys) <= mostKeys {
		s.Room = memory / targetBytes
	}
	return s
}

// Write passes the rows of a chunk to the targets of their partitions, and the others to Rest. If too few rows of the
// first chunk have a target (restRows), all rows go to Rest from then on.
func (s *Splitter) Write(c *columnar.Chunk) (*columnar.Chunk, error) {
	if s.Room == 0 {
		return s.Rest.Write(c)
	}
	if err := s.Rest.checkCancelled(); err != nil {
		return nil, err
	}
	begun := len(s.parts)
	if begun == 0 {
		s.limit = s.Rest.Limit
	}
	if s.assignRows(c); begun == 0 && len(s.other)*restRows > c.Rows*(restRows-1) {
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
		s.Rest.Limit = max(s.limit-len(s.parts)*s.targetBytes, s.limit/restPart)
	}
	from := []*columnar.Chunk{c}
	for i := range s.parts {
		p := &s.parts[i]
		if err := addRows(p.held, from, p.rows); err != nil {
			return nil, err
		}
		p.rows = p.rows[:0]
	}
	// Empty the chunk. Pass the other rows to the Arranger: at once if they are the whole chunk, otherwise when enough
	// of them are collected.
	if s.left == nil && len(s.other) > 0 {
		s.left = c.Next()
	}
	names := c.Names
	switch {
	case len(s.other) == c.Rows:
		s.addLeft()
		s.Rest.addChunk(c)
		c = s.Rest.nextChunk(c)
	case len(s.other) > 0:
		s.left.TakeRows(from, s.other)
		fallthrough
	default:
		c.Reset()
		if s.left != nil && (s.left.Rows >= SortChunk.Rows || s.left.Size() >= SortChunk.Bytes) {
			s.addLeft()
		}
	}
	return c, s.limitMemory(names)
}

// assignRows assigns the rows of the chunk to s.parts and s.other. It adds new partitions to s.parts while there is
// room.
func (s *Splitter) assignRows(c *columnar.Chunk) {
	s.keys, s.other = s.keys[:0], s.other[:0]
	for i := range s.Rest.keys {
		s.keys = append(s.keys, s.Rest.keys.Column(c, i))
	}
	for row := range uint32(c.Rows) {
		var ids [mostKeys]int32
		slot := uint32(0)
		for i, k := range s.keys {
			ids[i] = k.KeyID(row)
			slot = slot*31 + uint32(ids[i])
		}
		cached := &s.cache[slot%cacheSlots]
		if cached.part == 0 || cached.ids != ids { // compare the key values
			i := slices.IndexFunc(s.parts, func(p splitPart) bool { return s.Rest.keys.Match(c, row, p.values) })
			if i < 0 && len(s.parts) < s.Room {
				i = len(s.parts)
				s.parts = append(s.parts, splitPart{values: s.Rest.keys.Values(c, row), first: row})
			}
			if *cached = (cachedPart{ids, -1}); i >= 0 {
				cached.part = int32(i + 1)
			}
		}
		if part := cached.part; part > 0 {
			p := &s.parts[part-1]
			p.rows = append(p.rows, columnar.Ref{Row: row})
			continue
		}
		s.other = append(s.other, columnar.Ref{Row: row})
	}
}

// addLeft passes s.left to the Arranger.
func (s *Splitter) addLeft() {
	if s.left != nil && s.left.Rows > 0 {
		s.Rest.addChunk(s.left)
		s.left = s.Rest.nextChunk(s.left)
	}
}

// limitMemory spills the gathered rows, or empties the dictionaries, when they exceed their share of the memory. Call
// it only between chunks.
func (s *Splitter) limitMemory(names *columnar.Numbering) error {
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
	s.cache = [cacheSlots]cachedPart{} // the IDs start again
	return nil
}

// addRows adds rows to a target, and flushes each chunk that is full.
func addRows(to Held, from []*columnar.Chunk, rows []columnar.Ref) error {
	for len(rows) > 0 {
		c := to.Chunk()
		n := c.FitRows(from, rows)
		c.TakeRows(from, rows[:n])
		rows = rows[n:]
		if c.FullForRow() {
			if err := to.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close passes on the remaining rows, and completes all targets.
func (s *Splitter) Close(c *columnar.Chunk, md container.Metadata) error {
	if err := s.Rest.checkCancelled(); err != nil {
		return err
	}
	s.addLeft()
	return s.Rest.Close(c, md)
}

// Abort drops the gathered rows.
func (s *Splitter) Abort() { s.Rest.Abort() }
