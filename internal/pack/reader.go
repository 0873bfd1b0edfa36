package pack

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/wire"
)

// A Reader reads a pack from a file. Open reads the header, the directories of the tables and the notes. Blocks of the
// tables, records and chunks are read and checked when they are needed. A Reader is safe for concurrent use if the file
// is.
type Reader struct {
	file   io.ReaderAt
	header *header
	tables [numTables]*table
	notes  []byte
}

// Open opens a pack with that size, in bytes. The Reader uses file until its end. Errors wrap ErrNotPack, ErrVersion,
// ErrTruncated or ErrDamaged, or are errors of file.
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
	for i, name := range tableNames {
		// Read and check the directory of the table.
		t := &table{file: file, name: name, at: h.offset(partTables + i), count: uint32(h.entries(i))}
		t.blocks = make([]tableBlock, blocksOf(h.entries(i)))
		data := make([]byte, len(t.blocks)*tableEntry)
		if err := readAt(file, data, t.at+uint64(t.count)*tableEntry); err != nil {
			return nil, err
		}
		if xxh3.Hash(data) != h.sums[i] {
			return nil, fmt.Errorf("%w (its %s has a wrong checksum)", ErrDamaged, t.name)
		}
		for n := range t.blocks {
			t.blocks[n].first, t.blocks[n].sum = entryAt(data, n)
		}
		r.tables[i] = t
	}
	r.notes = make([]byte, h.notes)
	if err := readAt(file, r.notes, h.offset(partNotes)); err != nil {
		return nil, err
	}
	if xxh3.Hash(r.notes) != h.sums[numTables] {
		return nil, fmt.Errorf("%w (its notes have a wrong checksum)", ErrDamaged)
	}
	return r, nil
}

// readAt fills b from an offset of the file. The error is ErrTruncated if the file ends before that.
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

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 { return int64(r.header.offset(partEnd)) }

// Sites returns the number of sites. They are numbered from 0.
func (r *Reader) Sites() int { return int(r.tables[Site].count) }

// Texts returns the number of texts.
func (r *Reader) Texts() int { return int(r.header.texts) }

// IndexSize returns the memory of the Reader, in bytes, after all origins and texts have been read.
func (r *Reader) IndexSize() int64 { return r.header.indexSize() }

// A Buffer is memory for reading records. A record is valid until the next use of the Buffer.
type Buffer struct {
	bytes  []byte
	record Record
}

// Candidates returns the numbers of the records of a kind that may have that name: lo to hi, exclusive; both are equal
// if there is none. Read each with [Buffer.Read], and compare its name, because only hashes are compared here.
func (r *Reader) Candidates(kind Kind, name []byte) (lo, hi uint32, err error) {
	return r.tables[kind].find(xxh3.Hash(name))
}

// ManyNames is the maximum number of names for [Reader.AllCandidates].
const ManyNames = 64

// Numbers are the numbers of records from Lo to Hi, exclusive.
type Numbers struct{ Lo, Hi uint32 }

// AllCandidates is like [Reader.Candidates], for at most ManyNames names, and sets the elements of found with their
// indices. It first loads an index entry for each of them, so that the cache misses overlap.
func (r *Reader) AllCandidates(kind Kind, names [][]byte, found *[ManyNames]Numbers) error {
	t := r.tables[kind]
	if t.count == 0 {
		clear(found[:])
		return nil
	}
	var keys [ManyNames]uint64
	for k, name := range names {
		keys[k] = xxh3.Hash(name)
		n, i := t.guessPosition(keys[k])
		if b := t.blocks[n].entries.Load(); b != nil {
			key, _ := entryAt(b[:], i)
			use(key)
		}
	}
	for k := range names {
		var err error
		if found[k].Lo, found[k].Hi, err = t.find(keys[k]); err != nil {
			return err
		}
	}
	return nil
}

// use keeps the compiler from removing the load of a value.
//
//go:noinline
func use(uint64) {}

// firstRead is the number of bytes that Read reads first. Most records are not longer.
const firstRead = 192

// Read reads the record of a kind with that number. The result belongs to the Buffer, and is valid until its next use.
func (b *Buffer) Read(r *Reader, kind Kind, number uint32) (*Record, error) {
	size := r.header.records[kind].Bytes
	_, off, err := r.tables[kind].entry(number)
	if err != nil {
		return nil, err
	}
	if off > size || size-off < recordHead {
		return nil, errRecord
	}
	at, left := r.header.offset(int(kind))+off, size-off-recordHead
	b.grow(min(firstRead, recordHead+left))
	if err := readAt(r.file, b.bytes, at); err != nil {
		return nil, err
	}
	n := uint64(binary.LittleEndian.Uint32(b.bytes))
	if n > left {
		return nil, errRecord
	}
	if recordHead+n > uint64(len(b.bytes)) {
		b.grow(recordHead + n)
		if err := readAt(r.file, b.bytes, at); err != nil {
			return nil, err
		}
	}
	return b.parse(b.bytes[:recordHead+n], at, uint32(r.header.texts))
}

var errRecord = fmt.Errorf("%w (a record has a wrong checksum)", ErrDamaged)

// grow makes b.bytes n bytes long. Their contents are lost if there is not enough memory.
func (b *Buffer) grow(n uint64) {
	if uint64(cap(b.bytes)) < n {
		b.bytes = make([]byte, n)
	}
	b.bytes = b.bytes[:n]
}

// parse checks and decodes a record that begins at an offset of the file. data is the record with its head. texts is
// the number of texts in the pack.
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

// All yields the records of a kind in the order of their names. Each is valid until the next one. b must not be used
// for anything else until the end. An error, with a nil record, is the last element.
func (b *Buffer) All(r *Reader, kind Kind) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		size := r.header.records[kind].Bytes
		in := bufio.NewReaderSize(io.NewSectionReader(r.file, int64(r.header.offset(int(kind))), int64(size)), 256<<10)
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
			at := r.header.offset(int(kind)) + size - left
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

// Text appends the chunk of the text with that number to dst, and returns the extended buffer. After an error, the
// buffer has the contents of dst.
func (r *Reader) Text(dst []byte, number int) ([]byte, error) {
	off, size, err := r.tables[tableTexts].entry(uint32(number))
	if err != nil {
		return dst, err
	}
	return r.Chunk(dst, Ref{off, uint32(size)})
}

// Chunk appends the bytes of a chunk to dst, and returns the extended buffer. After an error, the buffer has the
// contents of dst. While reading, it needs eight bytes more than the chunk.
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

// A table is a sorted list of entries with a key and a value, eight bytes each. In an index, the key is the hash of a
// name, and the value the offset of its record; in the table of texts, they are the offset and the size of a chunk.
// Entries are read and checked in blocks, which stay in memory. After the entries, the file has a directory of the
// blocks. A table is safe for concurrent use.
type table struct {
	file   io.ReaderAt
	name   string // for errors
	at     uint64 // offset of the first entry
	count  uint32 // number of entries
	blocks []tableBlock
}

// A tableBlock is a block, with its entry in the directory.
type tableBlock struct {
	first, sum uint64                          // its first key and its checksum, from the directory
	entries    atomic.Pointer[[blockSize]byte] // nil until it is read
}

const (
	tableEntry   = 16
	blockEntries = 256 // so that a block has the size of a memory page
	blockSize    = blockEntries * tableEntry
	blockMemory  = blockSize + 24 // including the tableBlock
)

// tableNames are the names of the tables, in the order of the file.
var tableNames = [numTables]string{"index of origins", "index of targets", "table of texts"}

// blocksOf returns the number of blocks for that number of entries.
func blocksOf(count uint64) uint64 { return (count + blockEntries - 1) / blockEntries }

// entryAt returns an entry of a table or directory.
func entryAt(entries []byte, i int) (key, value uint64) {
	e := entries[i*tableEntry:]
	return binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:])
}

// entriesIn returns the number of entries in a block.
func (t *table) entriesIn(n int) int { return min(blockEntries, int(t.count)-n*blockEntries) }

// blockError returns an ErrDamaged about block n, with its place.
func (t *table) blockError(n int, fault string) error {
	return fmt.Errorf("%w (block %d of its %s, at byte %d, %s)", ErrDamaged, n, t.name, t.at+uint64(n)*blockSize, fault)
}

// block returns block n. The first call reads it, and checks its checksum and the order of its keys. The block must not
// be changed.
func (t *table) block(n int) (*[blockSize]byte, error) {
	if b := t.blocks[n].entries.Load(); b != nil {
		return b, nil
	}
	b, at := new([blockSize]byte), t.at+uint64(n)*blockSize
	data := b[:t.entriesIn(n)*tableEntry]
	if err := readAt(t.file, data, at); err != nil {
		return nil, err
	}
	if checksum(data, at) != t.blocks[n].sum {
		return nil, t.blockError(n, "has a wrong checksum")
	}
	last := t.blocks[n].first
	for i := range t.entriesIn(n) {
		key, _ := entryAt(b[:], i)
		if key < last || i == 0 && key != last {
			return nil, t.blockError(n, "is not in order")
		}
		last = key
	}
	if n+1 < len(t.blocks) && t.blocks[n+1].first < last {
		return nil, t.blockError(n, "is not in order")
	}
	t.blocks[n].entries.Store(b)
	return b, nil
}

// entry returns the entry with that number, which must be less than count.
func (t *table) entry(number uint32) (key, value uint64, err error) {
	b, err := t.block(int(number / blockEntries))
	if err != nil {
		return 0, 0, err
	}
	key, value = entryAt(b[:], int(number%blockEntries))
	return key, value, nil
}

// find returns the numbers of the entries with that key: lo to hi, exclusive; both are equal if there is none. There is
// rarely more than one. It reads the blocks that it needs.
func (t *table) find(key uint64) (lo, hi uint32, err error) {
	if t.count == 0 {
		return 0, 0, nil
	}
	n, i := t.guessPosition(key)
	b, err := t.block(n)
	if err != nil {
		return 0, 0, err
	}
	count := t.entriesIn(n)
	for ; i > 0; i-- {
		if before, _ := entryAt(b[:], i-1); before < key {
			break
		}
	}
	for ; i < count; i++ {
		if at, _ := entryAt(b[:], i); at >= key {
			break
		}
	}
	lo = uint32(n*blockEntries + i)
	for hi = lo; hi < t.count; hi++ {
		found, _, err := t.entry(hi)
		if err != nil {
			return 0, 0, err
		}
		if found != key {
			break
		}
	}
	return lo, hi, nil
}

// guessPosition estimates the position of the first entry with at least that key: its block n, or the one before it,
// and its index i in the block. It interpolates, because keys are evenly distributed. i is usually within a cache line
// of the entry. The table must have a block.
func (t *table) guessPosition(key uint64) (n, i int) {
	n = t.blockBefore(key)
	first, last := t.blocks[n].first, ^uint64(0)
	if n+1 < len(t.blocks) {
		last = t.blocks[n+1].first
	}
	if count := t.entriesIn(n); key > first {
		i = max(0, min(count-1, int(float64(key-first)/float64(last-first)*float64(count))))
	}
	return n, i
}

// guessed is the number of blocks around the estimate in which blockBefore searches before it searches all of them.
const guessed = 8

// blockBefore returns the last block whose first key is less than key; 0 if there is none. The first entry with the key
// is in that block or the next one. Keys of an index are hashes, and so evenly distributed, which makes an estimate
// possible.
func (t *table) blockBefore(key uint64) int {
	lo, hi := 0, len(t.blocks)
	guess, _ := bits.Mul64(key, uint64(hi))
	if n := int(guess) - guessed; n > 0 && t.blocks[n].first < key {
		lo = n
	}
	if n := int(guess) + guessed; n < hi && t.blocks[n].first >= key {
		hi = n
	}
	for lo < hi {
		if n := int(uint(lo+hi) / 2); t.blocks[n].first < key {
			lo = n + 1
		} else {
			hi = n
		}
	}
	return max(0, lo-1)
}
