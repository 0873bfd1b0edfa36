package pack

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/internal/wire"
)

// A Kind determines the meaning of a record's name.
type Kind uint8

// The kinds of records.
const (
	Site     Kind = iota // an origin; the captures are of its robots.txt
	Target               // another URL, the target of redirects
	numKinds = int(iota)
)

// A Ref locates a chunk in a pack.
type Ref struct {
	Offset uint64
	Size   uint32 // bytes, without the checksum
}

// A File can be written and read back. An *os.File is one.
type File interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
}

// A Writer writes a pack. It writes chunks and texts immediately. It sorts captures, with a temporary file if they do
// not fit in memory, and writes them at the end. It keeps 16 bytes in memory for each text and each name. A Writer is
// not safe for concurrent use.
type Writer struct {
	file   File
	out    *bufio.Writer
	at     uint64 // bytes written
	header header
	texts  []byte // the table of texts
	notes  []byte
	sorter sorter
	index  [numKinds][]entry
	record []byte // scratch
}

// An entry is an entry of an index.
type entry struct{ hash, offset uint64 }

// NewWriter begins a pack in an empty file. Temporary files are in dir, or in the default directory if it is "". The
// caller must call Close.
func NewWriter(file File, dir string) *Writer {
	w := &Writer{file: file, out: bufio.NewWriterSize(file, 1<<20), sorter: sorter{limit: runLimit, spill: extsort.NewSpill(dir)}}
	w.write(make([]byte, headerSize))
	return w
}

// write writes bytes. Errors are sticky in the bufio.Writer.
func (w *Writer) write(b []byte) {
	n, _ := w.out.Write(b)
	w.at += uint64(n)
}

// AddChunk writes a chunk, and returns the Ref for reading it back. The error is about its size: errors of writing are
// returned by Finish.
func (w *Writer) AddChunk(payload []byte) (Ref, error) {
	if len(payload) > maxChunk {
		return Ref{}, fmt.Errorf("a chunk has %d bytes; the limit is %d", len(payload), maxChunk)
	}
	ref := Ref{w.at, uint32(len(payload))}
	w.write(binary.LittleEndian.AppendUint64(nil, checksum(payload, w.at)))
	w.write(payload)
	return ref, nil
}

// AddText writes a chunk for a text, with an error as in AddChunk. Texts are numbered from 0, in the order of these
// calls.
func (w *Writer) AddText(payload []byte) error {
	ref, err := w.AddChunk(payload)
	w.texts = binary.LittleEndian.AppendUint64(w.texts, ref.Offset)
	w.texts = binary.LittleEndian.AppendUint64(w.texts, uint64(ref.Size))
	return err
}

// AddCapture adds a capture of the named site or target, which it copies. The error is that of the temporary file.
func (w *Writer) AddCapture(kind Kind, name string, c Capture) error {
	s := &w.sorter
	at := len(s.memory)
	s.memory = append(s.memory, name...)
	s.memory = appendCapture(s.memory, &c)
	s.items = append(s.items, item{uint32(at), uint32(len(s.memory)), uint32(len(name)), kind})
	if len(s.memory)+16*len(s.items) >= s.limit {
		return s.writeRun()
	}
	return nil
}

// SetNotes sets the notes, which Finish writes. It returns an error if they are too long.
func (w *Writer) SetNotes(notes []byte) error {
	if len(notes) > maxNotes {
		return fmt.Errorf("the notes have %d bytes; the limit is %d", len(notes), maxNotes)
	}
	w.notes = notes
	return nil
}

// Finish writes the records, the tables, the notes and the header. To get the Summary for the header, it calls
// summarize with the pack, which is complete except for its Summary. The Writer must only be closed afterwards.
func (w *Writer) Finish(summarize func(*Reader) (Summary, error)) error {
	w.header.chunks = w.at - headerSize
	// The captures of one record are consecutive; end writes the record.
	var (
		kind     Kind
		name     []byte
		captures []byte
		count    int
	)
	end := func() error {
		if count == 0 {
			return nil
		}
		b := append(w.record[:0], make([]byte, recordHead)...)
		b = wire.AppendText(b, name)
		b = binary.AppendUvarint(b, uint64(count))
		b = append(b, captures...)
		w.record = b
		if len(b) > maxChunk {
			return fmt.Errorf("%d captures of %s: too many", count, name)
		}
		binary.LittleEndian.PutUint32(b, uint32(len(b)-recordHead))
		binary.LittleEndian.PutUint64(b[4:], checksum(b[recordHead:], w.at))
		s := &w.header.records[kind]
		w.index[kind] = append(w.index[kind], entry{xxh3.Hash(name), s.Bytes})
		s.Bytes += uint64(len(b))
		s.Count++
		w.write(b)
		return nil
	}
	err := w.sorter.each(func(r sortRecord) error {
		if count == 0 || r.kind != kind || string(r.name) != string(name) {
			if err := end(); err != nil {
				return err
			}
			kind, name, captures, count = r.kind, append(name[:0], r.name...), captures[:0], 0
		}
		captures = append(captures, r.capture...)
		count++
		return nil
	})
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	w.header.texts = uint64(len(w.texts) / tableEntry)
	for kind, entries := range w.index {
		slices.SortFunc(entries, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.offset, b.offset))
		})
		section := make([]byte, 0, len(entries)*tableEntry)
		for _, e := range entries {
			section = binary.LittleEndian.AppendUint64(section, e.hash)
			section = binary.LittleEndian.AppendUint64(section, e.offset)
		}
		w.index[kind] = nil
		w.writeTable(kind, section)
	}
	w.writeTable(tableTexts, w.texts)
	w.texts = nil
	w.header.notes, w.header.sums[numTables] = uint64(len(w.notes)), xxh3.Hash(w.notes)
	w.write(w.notes)
	if w.header.texts >= maxCount || w.header.records[Site].Count >= maxCount || w.header.records[Target].Count >= maxCount {
		return fmt.Errorf("more than %d origins or texts", int64(maxCount))
	}
	if err := w.writeHeader(); err != nil {
		return err
	}
	r, err := Open(w.file, int64(w.at))
	if err != nil {
		return err
	}
	if w.header.Summary, err = summarize(r); err != nil {
		return err
	}
	return w.writeHeader()
}

// writeTable writes a table and its directory. number is that of the table, and entries its encoded entries, sorted by
// key.
func (w *Writer) writeTable(number int, entries []byte) {
	var directory []byte
	for at := 0; at < len(entries); at += blockSize {
		block := entries[at:min(at+blockSize, len(entries))]
		directory = append(directory, block[:8]...)
		directory = binary.LittleEndian.AppendUint64(directory, checksum(block, w.at+uint64(at)))
	}
	w.header.sums[number] = xxh3.Hash(directory)
	w.write(entries)
	w.write(directory)
}

// Close removes the temporary file. It does not close the file of the pack.
func (w *Writer) Close() { w.sorter.spill.Close() }

// writeHeader flushes the output, and writes the header to the space that NewWriter reserved for it.
func (w *Writer) writeHeader() error {
	if err := w.out.Flush(); err != nil {
		return err
	}
	h := &w.header
	f := fileHeader{
		Magic: [len(magic)]byte([]byte(magic)), Version: Version, Dialect: h.Dialect, End: h.offset(partEnd),
		Nanoseconds: uint32(h.Newest.Nanosecond()), Seconds: h.Newest.Unix(), Files: h.Files, InForce: h.InForce,
		Chunks: h.chunks, Records: h.records, Texts: h.texts, Notes: h.notes, Sums: h.sums, Hash: h.Hash,
		OddAt: h.Odd.Offset, OddSize: h.Odd.Size, TokensAt: h.Tokens.Offset, TokensSize: h.Tokens.Size,
	}
	if !h.Newest.IsZero() {
		f.HasNewest = 1
	}
	b, _ := binary.Append(nil, binary.LittleEndian, &f) // cannot fail: fileHeader has a fixed size
	binary.LittleEndian.PutUint64(b[headerSize-8:], xxh3.Hash(b[:headerSize-8]))
	_, err := w.file.WriteAt(b, 0)
	return err
}

// recordHead is the size of a record's head: the length of the rest (4 bytes), and its checksum.
const recordHead = 4 + 8

// A sorter sorts captures by kind and name, and keeps the order of captures with the same name. Captures that do not
// fit in its memory are written to a temporary file, in sorted runs.
type sorter struct {
	limit  int // bytes of a run
	memory []byte
	items  []item
	spill  *extsort.Spill
}

// An item is a capture in the sorter's memory: a name of that length at off, then the encoding, up to end.
type item struct {
	off, end, name uint32
	kind           Kind
}

const (
	runLimit = 8 << 20  // memory of a run, in bytes
	runBlock = 64 << 10 // bytes of a block; a merge has one block of each run in memory
)

// sort sorts the items in memory.
func (s *sorter) sort() {
	slices.SortStableFunc(s.items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), bytes.Compare(s.memory[a.off:a.off+a.name], s.memory[b.off:b.off+b.name]))
	})
}

// toRecord returns an item as a sortRecord, which shares the memory of the sorter.
func (s *sorter) toRecord(it item) sortRecord {
	return sortRecord{it.kind, s.memory[it.off : it.off+it.name], s.memory[it.off+it.name : it.end]}
}

// writeRun writes the captures in memory as a sorted run, and removes them from memory.
func (s *sorter) writeRun() error {
	s.sort()
	run, err := s.spill.Begin()
	if err != nil {
		return err
	}
	w := runWriter{run: run}
	for _, it := range s.items {
		if err := w.writeRecord(s.toRecord(it)); err != nil {
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

// each calls yield with all captures, in order, until it returns an error. A capture is valid only during the call.
func (s *sorter) each(yield func(sortRecord) error) error {
	if s.spill.Runs() == 0 {
		s.sort()
		for _, it := range s.items {
			if err := yield(s.toRecord(it)); err != nil {
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

// A sortRecord is a capture in the sort: its key, which is kind and name, and its encoding.
type sortRecord struct {
	kind          Kind
	name, capture []byte
}

// A sortCursor reads the records of a block.
type sortCursor struct {
	sortRecord
	rest wire.Cursor // after the record
	done bool
}

var errSortBlock = errors.New("a record is damaged")

// Load moves the cursor to another block.
func (c *sortCursor) Load(block []byte) error {
	c.rest = wire.NewCursor(block)
	return c.next()
}

// Done reports whether the cursor is past the last record.
func (c *sortCursor) Done() bool { return c.done }

// Compare compares by kind and name.
func (c *sortCursor) Compare(other *sortCursor) int {
	return cmp.Or(cmp.Compare(c.kind, other.kind), bytes.Compare(c.name, other.name))
}

// next reads the next record of the block, or sets done at its end. The record shares the memory of the block.
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

// writeRecord adds a record to the block, and writes the block if it is full.
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

// Finish writes the last block, if it has a record.
func (w *runWriter) Finish() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block = w.block[:0]
	return err
}

// yieldRecords is an output of a merge that calls a function with each record.
type yieldRecords func(sortRecord) error

// Take calls the function with the record of a cursor.
func (yield yieldRecords) Take(c *sortCursor) error {
	if err := yield(c.sortRecord); err != nil {
		return err
	}
	return c.next()
}

// Finish does nothing.
func (yieldRecords) Finish() error { return nil }
