package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/exp/mmap"

	"github.com/robobatch/robobatch/internal/storage"
)

// The faults of a file. Errors of Open and of a Reader wrap one of these, or are errors of reading.
var (
	ErrNotPack   = errors.New("it is not a rule pack")
	ErrVersion   = errors.New("it has a different format version")
	ErrTruncated = errors.New("it is truncated: copy or compile it again")
	ErrDamaged   = errors.New("it is damaged: copy or compile it again")
)

// Version is the version of the format. A program reads only packs of this version: 14 has other ranks in the dialect
// yandex, and the other readings of a text.
const Version = 14

// Is reports whether r begins as a pack does. It reports false if r cannot be read.
func Is(r io.Reader) bool {
	var head [len(magic)]byte
	_, err := io.ReadFull(r, head[:])
	return err == nil && string(head[:]) == magic
}

// magic is the start of a pack. A transfer that changes line ends or clears the eighth bit damages
// it.
const magic = "\x93RBP\r\n\x1a\n"

// headerSize is the length of the header. Its last eight bytes are the hash of the others.
const headerSize = 256

// A Summary describes a pack. It stands in the header.
type Summary struct {
	Dialect uint32    // as the compiler numbers them
	Newest  time.Time // of the latest capture; zero if no time is known
	Files   int64     // files that the captures were read from
	InForce int64     // sites that have rules, or an outcome instead of them, without a moment
	Hash    [32]byte  // of these rules
	Odd     Ref       // of a chunk about odd texts; its Size is 0 if there are none
	Tokens  Ref       // of a chunk of product tokens; the same
}

// A header is the first bytes of a file. The sections follow it in the order of the fields.
type header struct {
	Summary
	chunks  uint64 // bytes
	records [numKinds]section
	texts   uint64 // number
	notes   uint64 // bytes
	sums    [numTables + 1]uint64
}

// A section is the records of a kind.
type section struct{ Bytes, Count uint64 }

// numTables is the number of tables: an index of each kind of records, and the table of texts.
const (
	numTables  = numKinds + 1
	tableTexts = numKinds
)

// maxSection keeps sums of lengths from overflowing; maxCount is the most that a SiteID of 31 bits numbers.
// Opening a pack reads the notes into memory, so they have at most maxNotes bytes.
const (
	maxSection = 1 << 56
	maxCount   = 1 << 31
	maxNotes   = 1 << 20
)

// place returns where a section begins: the records of a kind; from placeIndex on, the tables; then the notes, and
// last the end of the file.
func (h *header) place(n int) uint64 {
	at := headerSize + h.chunks
	for kind := range min(n, numKinds) {
		at += h.records[kind].Bytes
	}
	for table := range max(0, min(n-placeIndex, numTables)) {
		at += h.entries(table) * tableEntry
		at += blocksOf(h.entries(table)) * tableEntry
	}
	if n > placeNotes {
		at += h.notes
	}
	return at
}

// The numbers that place takes besides the kinds of records.
const (
	placeIndex = numKinds
	placeNotes = placeIndex + numTables
	placeEnd   = placeNotes + 1
)

// entries returns the number of entries of a table.
func (h *header) entries(table int) uint64 {
	if table == tableTexts {
		return h.texts
	}
	return h.records[table].Count
}

// A fileHeader is a header as it is in a file.
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
	Check                   uint64 // of all bytes before it
}

// parseHeader returns the header of a file of that size. data are the first bytes of it.
func parseHeader(data []byte, size int64) (*header, error) {
	n := min(len(data), len(magic))
	if string(data[:n]) != magic[:n] || n == 0 {
		return nil, ErrNotPack
	}
	if len(data) < headerSize {
		return nil, ErrTruncated
	}
	var f fileHeader
	binary.Decode(data, binary.LittleEndian, &f) //nolint:errcheck // there are as many bytes as it needs
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
	case !ok || h.texts >= maxCount || h.place(placeEnd) != f.End:
		return nil, fmt.Errorf("%w (its header contradicts itself)", ErrDamaged)
	case uint64(size) < f.End:
		return nil, ErrTruncated
	case uint64(size) > f.End:
		return nil, fmt.Errorf("%w (it has bytes after its end)", ErrDamaged)
	}
	return h, nil
}

// checksum returns the checksum of a chunk or record that begins at a place of the file. It depends
// on the place, so that a chunk that was moved, or exchanged with another, counts as damaged.
func checksum(data []byte, at uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15 // spreads places over all bits
	return xxh3.Hash(data) + at*odd
}

// indexSize returns the bytes of the tables in memory when all blocks are read.
func (h *header) indexSize() (size int64) {
	for table := range numTables {
		size += int64(blocksOf(h.entries(table))) * blockMemory
	}
	return size
}

// MemoryOf returns the bytes that a Reader of the pack of that name keeps in memory, as [Reader.IndexSize],
// and the number of its sites. It reads the header only. The errors are [OpenFile]'s.
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

// OpenFile reads the pack of that name. If mapped, a read copies from the mapping, in some 20 ns,
// and the pages count as memory of the process until the system takes them back. If not, a read is
// a system call and takes no memory. A remote file
// is read by blocks; storage.RandomMemory of them stay in memory. Use Close. Errors are Open's and package os's.
func OpenFile(name string, mapped bool) (*Reader, error) {
	open := openUnmapped
	switch {
	case storage.IsRemote(name):
		open = openRemote
	case mapped:
		open = openMapped
	}
	file, size, err := open(name)
	if err != nil {
		return nil, err
	}
	r, err := Open(file, size)
	if err != nil {
		file.(io.Closer).Close()
	}
	return r, err
}

func openRemote(name string) (io.ReaderAt, int64, error) {
	file, size, err := storage.OpenRandom(name)
	return file, size, err
}

func openMapped(name string) (io.ReaderAt, int64, error) {
	m, err := mmap.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return mapping{m}, int64(m.Len()), nil
}

// openUnmapped opens a file that cannot be mapped, and returns its size.
func openUnmapped(name string) (io.ReaderAt, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close() //nolint:errcheck // nothing was written
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// A mapping is a mapped file.
type mapping struct{ *mmap.ReaderAt }

// ReadAt reads from the mapping. A file that was cut after it was mapped is an error; without the
// recover it would end the process.
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

// Close closes the file. The Reader must not be used any more.
func (r *Reader) Close() error {
	if c, ok := r.file.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
