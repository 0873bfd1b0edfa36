package pack

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

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

// blocksOf returns the number of blocks of so many entries.
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
	n := t.blockBefore(key)
	b, err := t.block(n)
	if err != nil {
		return 0, 0, err
	}
	// The number in its block of the first entry whose key is no less. It begins where the entry lies if
	// keys are evenly spread: mostly within the cache line of it.
	first, last := t.blocks[n].first, ^uint64(0)
	if n+1 < len(t.blocks) {
		last = t.blocks[n+1].first
	}
	count := t.entriesIn(n)
	i := 0
	if key > first {
		i = max(0, min(count-1, int(float64(key-first)/float64(last-first)*float64(count))))
	}
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

// guessed is how many blocks the first guess of blockBefore may be wrong before it looks at all.
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
