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

// ManyNames is the most names that [Reader.AllCandidates] takes.
const ManyNames = 64

// Numbers are numbers of records, Lo up to Hi.
type Numbers struct{ Lo, Hi uint32 }

// AllCandidates is [Reader.Candidates] for several names. It reads the index for all of them before it looks at the first,
// so that the reads wait for memory together.
func (r *Reader) AllCandidates(kind Kind, names [][]byte, found *[ManyNames]Numbers) error {
	t := r.tables[kind]
	if t.count == 0 {
		clear(found[:])
		return nil
	}
	var keys [ManyNames]uint64
	for k, name := range names {
		keys[k] = xxh3.Hash(name)
		n, i := t.guess(keys[k])
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

// use has the compiler keep the read of a value.
//
//go:noinline
func use(uint64) {}

// firstRead is the number of bytes that are read at once. Most records are no longer.
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

// A table is a section of entries: a key and a value, eight bytes each, in the order of the keys. An
// index has the hash of a name, and the offset of its record; the table of texts has the offset and the
// size of a chunk. Entries are read in blocks, when one of a block is first needed. A block stays in
// memory, so a lookup reads the file once for each block. A table is safe for concurrent use.
type table struct {
	file   io.ReaderAt
	name   string // in errors
	at     uint64 // the place of the first entry
	count  uint32 // entries
	blocks []tableBlock
}

// A tableBlock is the entry of a block in the directory of its table, and the block once it is read.
type tableBlock struct {
	first, sum uint64 // the first key, and the checksum
	entries    atomic.Pointer[[blockSize]byte]
}

const (
	tableEntry   = 16
	blockEntries = 256 // a block is as long as a page of memory
	blockSize    = blockEntries * tableEntry
	blockMemory  = blockSize + 24 // with its tableBlock
)

// tableNames are the names of the tables, in the order of the file.
var tableNames = [numTables]string{"index of origins", "index of targets", "table of texts"}

// blocksOf returns the number of blocks of that many entries.
func blocksOf(count uint64) uint64 { return (count + blockEntries - 1) / blockEntries }

// openTable opens a table: it reads and checks its directory.
func openTable(file io.ReaderAt, h *header, number int) (*table, error) {
	t := &table{file: file, name: tableNames[number], at: h.place(placeIndex + number), count: uint32(h.entries(number))}
	t.blocks = make([]tableBlock, blocksOf(h.entries(number)))
	data, at := make([]byte, len(t.blocks)*tableEntry), t.at+uint64(t.count)*tableEntry
	if err := readAt(file, data, at); err != nil {
		return nil, err
	}
	if xxh3.Hash(data) != h.sums[number] {
		return nil, fmt.Errorf("%w (its %s has a wrong checksum)", ErrDamaged, t.name)
	}
	for n := range t.blocks {
		t.blocks[n].first, t.blocks[n].sum = entryAt(data, n)
	}
	return t, nil
}

// entryAt returns an entry of a table or directory.
func entryAt(entries []byte, i int) (key, value uint64) {
	e := entries[i*tableEntry:]
	return binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:])
}

// keep keeps a block in memory if its keys are in order.
func (t *table) keep(n int, b *[blockSize]byte) error {
	last := t.blocks[n].first
	for i := range t.entriesIn(n) {
		key, _ := entryAt(b[:], i)
		if key < last || i == 0 && key != last {
			return t.blockError(n, "is not in order")
		}
		last = key
	}
	if n+1 < len(t.blocks) && t.blocks[n+1].first < last {
		return t.blockError(n, "is not in order")
	}
	t.blocks[n].entries.Store(b)
	return nil
}

// entriesIn returns the number of entries of a block.
func (t *table) entriesIn(n int) int { return min(blockEntries, int(t.count)-n*blockEntries) }

func (t *table) blockError(n int, fault string) error {
	return fmt.Errorf("%w (block %d of its %s, at byte %d, %s)", ErrDamaged, n, t.name, t.at+uint64(n)*blockSize, fault)
}

// block returns a block. Its first use reads and checks it.
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
	return b, t.keep(n, b)
}

// entry returns the entry of that number.
func (t *table) entry(number uint32) (key, value uint64, err error) {
	b, err := t.block(int(number / blockEntries))
	if err != nil {
		return 0, 0, err
	}
	key, value = entryAt(b[:], int(number%blockEntries))
	return key, value, nil
}

// find returns the numbers of the entries with that key, lo up to hi: mostly one or none.
func (t *table) find(key uint64) (lo, hi uint32, err error) {
	if t.count == 0 {
		return 0, 0, nil
	}
	n, i := t.guess(key)
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

// guess returns the block that has the first entry whose key is no less, or the block before, and where in it that entry
// lies if keys are evenly spread: mostly within a cache line of it. There is a block.
func (t *table) guess(key uint64) (n, i int) {
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

// guessed is the number of blocks by which the first guess of blockBefore may be wrong before it searches all of them.
const guessed = 8

// blockBefore returns the last block that begins with a lesser key, or the first block: that of the first entry with
// the key, or the one before. Keys of an index are hashes, and evenly spread, so a guess is mostly right.
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
