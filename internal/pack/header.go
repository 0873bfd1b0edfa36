package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/exp/mmap"

	"github.com/robobatch/robobatch/internal/storage"
)

// Errors of Open and of a Reader wrap one of these, or are errors of reading the file.
var (
	ErrNotPack   = errors.New("it is not a rule pack")
	ErrVersion   = errors.New("it has a different format version")
	ErrTruncated = errors.New("it is truncated: copy or compile it again")
	ErrDamaged   = errors.New("it is damaged: copy or compile it again")
)

// Version is the version of the format. A program reads only packs of its own version.
const Version = 14

// Is reports whether r begins like a pack. It returns false if r cannot be read.
func Is(r io.Reader) bool {
	var head [len(magic)]byte
	_, err := io.ReadFull(r, head[:])
	return err == nil && string(head[:]) == magic
}

// magic is the start of a pack. It is damaged by transfers that change line ends or clear the eighth bit.
const magic = "\x93RBP\r\n\x1a\n"

// headerSize is the length of the header. Its last eight bytes are the hash of the others.
const headerSize = 256

// A Summary describes a pack. It is part of the header.
type Summary struct {
	Dialect uint32    // as numbered by the compiler
	Newest  time.Time // time of the latest capture; zero if no time is known
	Files   int64     // number of files that the captures were read from
	InForce int64     // number of sites whose current capture has rules, or an outcome instead of rules
	Hash    [32]byte  // hash of these rules
	Odd     Ref       // chunk about invalid texts; its Size is 0 if there are none
	Tokens  Ref       // chunk with product tokens; its Size is 0 if there are none
}

// A header describes the parts of a file: chunks, records of each kind, tables and notes, in this order.
type header struct {
	Summary
	chunks  uint64            // bytes
	records [numKinds]section // of each kind
	texts   uint64            // number of texts
	notes   uint64            // bytes
	sums    [numTables + 1]uint64
}

// A section has the records of one kind.
type section struct{ Bytes, Count uint64 }

// numTables is the number of tables: an index for each kind of records, and the table of texts.
const (
	numTables  = numKinds + 1
	tableTexts = numKinds
)

const (
	maxSection = 1 << 56 // bytes; sums of lengths cannot overflow
	maxCount   = 1 << 31 // a SiteID has 31 bits
	maxNotes   = 1 << 20 // bytes; Open reads the notes into memory
)

// offset returns the offset of a part in the file, in bytes: that of the records of a kind, or of partTables plus the
// number of a table, partNotes or partEnd.
func (h *header) offset(part int) uint64 {
	at := headerSize + h.chunks
	for kind := range min(part, numKinds) {
		at += h.records[kind].Bytes
	}
	for table := range max(0, min(part-partTables, numTables)) {
		at += h.entries(table) * tableEntry
		at += blocksOf(h.entries(table)) * tableEntry
	}
	if part > partNotes {
		at += h.notes
	}
	return at
}

// Parts of a file after the records.
const (
	partTables = numKinds // the first of numTables
	partNotes  = partTables + numTables
	partEnd    = partNotes + 1 // the end of the file
)

// entries returns the number of entries of a table.
func (h *header) entries(table int) uint64 {
	if table == tableTexts {
		return h.texts
	}
	return h.records[table].Count
}

// A fileHeader is the encoding of a header.
type fileHeader struct {
	Magic                   [len(magic)]byte
	Version, Dialect        uint32
	End                     uint64
	HasNewest, Nanoseconds  uint32
	Seconds, Files, InForce int64
	Chunks                  uint64
	Records                 [numKinds]section
	Texts, Notes            uint64
	Sums                    [numTables + 1]uint64
	Hash                    [32]byte
	OddAt, TokensAt         uint64
	OddSize, TokensSize     uint32
	_                       [48]byte
	Check                   uint64 // hash of all bytes before it
}

// parseHeader returns the header of a file with that size, in bytes. data has its first headerSize bytes, or all of a
// shorter file. The error wraps ErrNotPack, ErrTruncated, ErrVersion or ErrDamaged.
func parseHeader(data []byte, size int64) (*header, error) {
	n := min(len(data), len(magic))
	if string(data[:n]) != magic[:n] || n == 0 {
		return nil, ErrNotPack
	}
	if len(data) < headerSize {
		return nil, ErrTruncated
	}
	var f fileHeader
	binary.Decode(data, binary.LittleEndian, &f) //nolint:errcheck // data is long enough
	if f.Version != Version {
		return nil, fmt.Errorf("%w (version %d; this program reads version %d)", ErrVersion, f.Version, Version)
	}
	if xxh3.Hash(data[:headerSize-8]) != f.Check {
		return nil, fmt.Errorf("%w (its header has a wrong checksum)", ErrDamaged)
	}
	h := &header{
		Summary: Summary{
			Dialect: f.Dialect, Files: f.Files, InForce: f.InForce, Hash: f.Hash,
			Odd: Ref{f.OddAt, f.OddSize}, Tokens: Ref{f.TokensAt, f.TokensSize},
		},
		chunks: f.Chunks, records: f.Records, texts: f.Texts, notes: f.Notes, sums: f.Sums,
	}
	if f.HasNewest != 0 {
		h.Newest = time.Unix(f.Seconds, int64(f.Nanoseconds%1e9)).UTC()
	}
	ok := h.chunks < maxSection && h.notes <= maxNotes
	for _, s := range h.records {
		ok = ok && s.Bytes < maxSection && s.Count < maxCount && s.Count <= s.Bytes
	}
	switch {
	case !ok || h.texts >= maxCount || h.offset(partEnd) != f.End:
		return nil, fmt.Errorf("%w (its header contradicts itself)", ErrDamaged)
	case uint64(size) < f.End:
		return nil, ErrTruncated
	case uint64(size) > f.End:
		return nil, fmt.Errorf("%w (it has bytes after its end)", ErrDamaged)
	}
	return h, nil
}

// checksum returns the checksum of a chunk, record or block at an offset of the file. It depends on the offset, so that
// moved or exchanged chunks are detected as damaged.
func checksum(data []byte, at uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15 // spreads offsets over all bits
	return xxh3.Hash(data) + at*odd
}

// indexSize returns the memory of the tables, in bytes, after all blocks have been read.
func (h *header) indexSize() (size int64) {
	for table := range numTables {
		size += int64(blocksOf(h.entries(table))) * blockMemory
	}
	return size
}

// MemoryOf returns the [Reader.IndexSize] of the named pack, and the number of its sites. It reads only the header. The
// errors are those of [OpenFile].
func MemoryOf(name string) (index int64, sites int, err error) {
	f, err := storage.Of(name).Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil {
		return 0, 0, err
	}
	head := make([]byte, min(headerSize, max(0, info.Size)))
	if err := readAt(f, head, 0); err != nil {
		return 0, 0, err
	}
	h, err := parseHeader(head, info.Size)
	if err != nil {
		return 0, 0, err
	}
	return h.indexSize(), int(h.records[Site].Count), nil
}

// OpenFile opens the named pack, which the caller must close. If mapped, a read copies from a memory mapping, in about
// 20 ns, and the pages count as memory of the process until the system reclaims them. Otherwise a read is a system
// call, and takes no memory. A remote file is never mapped: it is read by blocks, of which up to storage.RandomMemory
// bytes are cached. Errors are those of Open and of package os.
func OpenFile(name string, mapped bool) (*Reader, error) {
	var file interface {
		io.ReaderAt
		io.Closer
	}
	var size int64
	switch {
	case storage.IsRemote(name):
		var err error
		if file, size, err = storage.OpenRandom(name); err != nil {
			return nil, err
		}
	case mapped:
		m, err := mmap.Open(name)
		if err != nil {
			return nil, err
		}
		file, size = mapping{m}, int64(m.Len())
	default:
		f, err := storage.Files{}.Open(name)
		if err != nil {
			return nil, err
		}
		info, err := f.Info()
		if err != nil {
			f.Close()
			return nil, err
		}
		file, size = f, info.Size
	}
	r, err := Open(file, size)
	if err != nil {
		file.Close()
	}
	return r, err
}

// A mapping is a mapped file.
type mapping struct{ *mmap.ReaderAt }

// ReadAt reads from the mapping. If the file was truncated after it was mapped, it returns ErrTruncated; without the
// recover, the process would crash.
func (m mapping) ReadAt(b []byte, off int64) (n int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		fault := recover()
		if _, ok := fault.(interface{ Addr() uintptr }); ok {
			n, err = 0, ErrTruncated
		} else if fault != nil {
			panic(fault)
		}
	}()
	return m.ReaderAt.ReadAt(b, off)
}

// Close closes the file, if it can be closed. After that, the Reader must not be used.
func (r *Reader) Close() error {
	if c, ok := r.file.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
