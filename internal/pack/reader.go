package pack

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/wire"
)

// A Reader reads a pack from a file. Open reads the header, the directories of the tables and the
// notes. Blocks of the tables, records and chunks are read and checked when they are needed. A Reader
// is safe for concurrent use if the file is.
type Reader struct {
	file   io.ReaderAt
	header *header
	tables [numTables]*table
	notes  []byte
}

// Open reads a pack of that size. Its errors are ErrNotPack, ErrVersion, ErrTruncated and
// ErrDamaged, wrapped, and the errors of file.
func Open(file io.ReaderAt, size int64) (*Reader, error) {
	head := make([]byte, min(headerSize, max(0, size)))
	if err := readAt(file, head, 0); err != nil {
		return nil, err
	}
	h, err := parseHeader(head, size)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file, header: h}
	for i := range r.tables {
		if r.tables[i], err = openTable(file, h, i); err != nil {
			return nil, err
		}
	}
	r.notes = make([]byte, h.notes)
	if err := readAt(file, r.notes, h.place(placeNotes)); err != nil {
		return nil, err
	}
	if xxh3.Hash(r.notes) != h.sums[numTables] {
		return nil, fmt.Errorf("%w (its notes have a wrong checksum)", ErrDamaged)
	}
	return r, nil
}

// readAt fills b from that place of the file.
func readAt(file io.ReaderAt, b []byte, off uint64) error {
	if len(b) == 0 {
		return nil
	}
	n, err := file.ReadAt(b, int64(off))
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		return ErrTruncated
	}
	return err
}

// Summary returns the Summary in the header.
func (r *Reader) Summary() Summary { return r.header.Summary }

// Notes returns the notes, which the caller must not change.
func (r *Reader) Notes() []byte { return r.notes }

// Size returns the bytes of the file.
func (r *Reader) Size() int64 { return int64(r.header.place(placeEnd)) }

// Sites returns the number of sites. They are numbered from 0.
func (r *Reader) Sites() int { return int(r.tables[Site].count) }

// Texts returns the number of texts.
func (r *Reader) Texts() int { return int(r.header.texts) }

// IndexSize returns the bytes that the Reader keeps in memory when all origins and texts were asked for.
func (r *Reader) IndexSize() int64 { return r.header.indexSize() }

// A Buffer is memory that records are read into. A record is valid until its next use.
type Buffer struct {
	bytes  []byte
	record Record
}

// Candidates returns the numbers of the records that may have that name, lo up to hi. Read each
// with [Buffer.Read] and compare its name. The error is of reading the index.
func (r *Reader) Candidates(kind Kind, name []byte) (lo, hi uint32, err error) {
	return r.tables[kind].find(xxh3.Hash(name))
}

// firstRead is how many bytes are read at once. Most records are no longer.
const firstRead = 192

// Read reads the record of that number. The result belongs to the Buffer.
func (b *Buffer) Read(r *Reader, kind Kind, number uint32) (*Record, error) {
	size := r.header.records[kind].Bytes
	_, off, err := r.tables[kind].entry(number)
	if err != nil {
		return nil, err
	}
	if off > size || size-off < recordHead {
		return nil, errRecord
	}
	left := size - off - recordHead
	b.grow(min(firstRead, recordHead+left))
	if err := readAt(r.file, b.bytes, r.header.place(int(kind))+off); err != nil {
		return nil, err
	}
	n := uint64(binary.LittleEndian.Uint32(b.bytes))
	if n > left {
		return nil, errRecord
	}
	if recordHead+n > uint64(len(b.bytes)) {
		b.grow(recordHead + n)
		if err := readAt(r.file, b.bytes, r.header.place(int(kind))+off); err != nil {
			return nil, err
		}
	}
	return b.parse(b.bytes[:recordHead+n], r.header.place(int(kind))+off, uint32(r.header.texts))
}

var errRecord = fmt.Errorf("%w (a record has a wrong checksum)", ErrDamaged)

func (b *Buffer) grow(n uint64) {
	if uint64(cap(b.bytes)) < n {
		b.bytes = make([]byte, n)
	}
	b.bytes = b.bytes[:n]
}

// parse reads a record with its head, which lies at a place of the file.
func (b *Buffer) parse(data []byte, at uint64, texts uint32) (*Record, error) {
	if checksum(data[recordHead:], at) != binary.LittleEndian.Uint64(data[4:]) {
		return nil, errRecord
	}
	c := wire.NewCursor(data[recordHead:])
	if !readRecord(&c, &b.record, texts) {
		return nil, errRecord
	}
	return &b.record, nil
}

// All yields the records of a kind in the order of their names. They belong to b, which must not be
// used otherwise meanwhile. An error ends the records.
func (b *Buffer) All(r *Reader, kind Kind) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		size := r.header.records[kind].Bytes
		in := bufio.NewReaderSize(io.NewSectionReader(r.file, int64(r.header.place(int(kind))), int64(size)), 256<<10)
		for left := size; left > 0; {
			var head [recordHead]byte
			if _, err := io.ReadFull(in, head[:]); err != nil {
				yield(nil, err)
				return
			}
			n := recordHead + uint64(binary.LittleEndian.Uint32(head[:]))
			if n > left {
				yield(nil, errRecord)
				return
			}
			at := r.header.place(int(kind)) + size - left
			left -= n
			b.grow(n)
			copy(b.bytes, head[:])
			if _, err := io.ReadFull(in, b.bytes[recordHead:]); err != nil {
				yield(nil, err)
				return
			}
			record, err := b.parse(b.bytes, at, uint32(r.header.texts))
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Text appends the chunk of the text of that number to dst, and returns the extended buffer.
func (r *Reader) Text(dst []byte, number int) ([]byte, error) {
	off, size, err := r.tables[tableTexts].entry(uint32(number))
	if err != nil {
		return dst, err
	}
	return r.Chunk(dst, Ref{off, uint32(size)})
}

// Chunk appends the bytes of a chunk to dst, and returns the extended buffer.
func (r *Reader) Chunk(dst []byte, ref Ref) ([]byte, error) {
	const head = 8
	end := headerSize + r.header.chunks
	if ref.Offset < headerSize || ref.Offset > end || end-ref.Offset < head+uint64(ref.Size) {
		return dst, errChunk
	}
	at := len(dst)
	n := at + head + int(ref.Size)
	if cap(dst) < n {
		dst = append(make([]byte, 0, n), dst...)
	}
	dst = dst[:n]
	if err := readAt(r.file, dst[at:], ref.Offset); err != nil {
		return dst[:at], err
	}
	if checksum(dst[at+head:], ref.Offset) != binary.LittleEndian.Uint64(dst[at:]) {
		return dst[:at], errChunk
	}
	copy(dst[at:], dst[at+head:])
	return dst[:n-head], nil
}

var errChunk = fmt.Errorf("%w (a chunk has a wrong checksum)", ErrDamaged)
