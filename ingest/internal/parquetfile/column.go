// Package parquetfile reads columns of Parquet files, and detects damage as far as the format allows.
//
// Parquet stores most facts twice, and this package compares them before it returns the first row that depends on them:
// the number of rows in the file, in its row groups and in their columns; names and types in the schema and next to the
// data; the values and bytes of all pages of a column, according to their headers; the checksum of a page, if it has
// one; the length of a page before and after compression; and the length of the values of a page. A damaged file is
// therefore an error. Two kinds of damage remain undetected: altered data in a page if neither the page nor its
// compression has a checksum, and an altered footer that is still consistent.
//
// The arrow library reads the footer. This package reads the pages itself, because the library ignores checksums and
// panics on some damaged pages. Lists of lists are not supported. Only package ingest imports it.
package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// A Column reads the values of a column, row group by row group. It is not safe for concurrent use.
type Column struct {
	file  *File
	desc  *schema.Column
	index int

	chunk  chunk
	pages  []page // unread pages of the row group
	left   int64  // unread values of the current page
	unpack unpacker
	window window

	packed []byte // the current page, compressed
	raw    []byte // the current page, uncompressed
	dict   dictionary
	dictIn [2][]byte // memory of the dictionary, compressed and not
	levels []uint8   // definition levels of the current page, which mark nulls; empty if no value can be null
	reps   []uint8   // repetition levels, 0 for the first value of a row; empty if the column is not a list
	rows   int64     // rows of the row group that begin on later pages, if the column is a list
	values values
	summed [dataPageV2 + 1]tristate // by kind of page: whether pages have checksums
	bare   bool                     // some page of the row groups so far had no checksum
}

// A tristate is a truth value that may be unknown.
type tristate uint8

// tristateOf returns the tristate of b.
func tristateOf(b bool) tristate {
	if b {
		return 2
	}
	return 1
}

// A page is the position of a page.
type page struct {
	header
	at int64 // position of the data after the header
}

// NewColumn returns a reader of a column, given by its index in the schema. The column may be a list, see Continues,
// but not a list of lists.
func (f *File) NewColumn(index int) *Column {
	return &Column{file: f, desc: f.Schema().Column(index), index: index, window: window{r: f.r}}
}

// Open starts the column in a row group. It reads the headers of all pages and checks them against each other and
// against the footer, before any page is used. Next then returns the first value of the row group.
func (c *Column) Open(group int) (err error) {
	c.left, c.pages, c.dict, c.summed = 0, c.pages[:0], dictionary{}, [...]tristate{dataPageV2: 0}
	if c.chunk, err = c.file.chunk(group, c.desc, c.index); err != nil {
		return err
	}
	c.rows = c.file.Rows(group)
	at, values := c.chunk.start, int64(0)
	for at < c.chunk.end || c.chunk.old && values < c.chunk.values && at < c.chunk.end+mrBug {
		p, err := c.window.header(at, c.file.end)
		if err == nil {
			err = c.check(&p)
		}
		if err != nil {
			return fmt.Errorf("the header of the page at byte %d: %w", at, err)
		}
		at = p.at + p.packed
		switch p.kind {
		case dataPage, dataPageV2:
			values += p.values
		case indexPage:
			continue
		case dictionaryPage:
		}
		c.pages = append(c.pages, p)
	}
	if values != c.chunk.values || at != c.chunk.end && !c.chunk.old {
		return fmt.Errorf("its pages have %d values and end at byte %d, in the footer it has %d and ends at %d", values, at, c.chunk.values, c.chunk.end)
	}
	return nil
}

// ErrChecksum means that a page has a wrong checksum.
var ErrChecksum = errors.New("its checksum is wrong")

// Faults of headers and levels.
var (
	errBeyond   = errors.New("the page goes beyond the end of the column")
	errCodec    = errors.New("the page has another length uncompressed, and is not compressed")
	errDict     = errors.New("a dictionary is not the first page, or not in PLAIN")
	errEncoding = errors.New("its encoding is not listed in the footer for the column")
	errRows     = errors.New("it has other rows than values")
	errLevels   = errors.New("its definition levels are damaged")
	errNulls    = errors.New("its number of nulls differs from its header")
	errUnsummed = errors.New("it has no checksum, and others of the column have one")
)

// check compares the header of a page with the footer and with previous headers of the row group. It also notes
// whether the page has a checksum.
func (c *Column) check(p *page) error {
	end := c.chunk.end
	if c.chunk.old {
		end = min(end+mrBug, c.file.end)
	}
	stored := p.kind == dataPageV2 && p.stored || c.chunk.codec == compress.Codecs.Uncompressed
	switch {
	case p.at+p.packed > end:
		return errBeyond
	case p.kind == indexPage:
		return nil
	case stored && p.size != p.packed:
		return errCodec
	case p.kind == dictionaryPage && (len(c.pages) > 0 || p.encoding != parquet.Encodings.Plain && p.encoding != parquet.Encodings.PlainDict):
		return errDict
	case p.kind != dictionaryPage && !slices.Contains(c.chunk.encodings, p.encoding):
		return errEncoding
	case p.kind == dataPage && c.desc.MaxDefinitionLevel() > 0 && p.levels != parquet.Encodings.RLE &&
		(p.levels != parquet.Encodings.BitPacked || !slices.Contains(c.chunk.encodings, p.levels)):
		return errEncoding
	case p.kind == dataPage && c.isList() && p.repeats != parquet.Encodings.RLE:
		return fmt.Errorf("its repetition levels are in the encoding %s, %w", p.repeats, ErrUnsupported)
	case p.kind == dataPageV2 && p.rows != p.values && !c.isList():
		return errRows
	}
	if before := c.summed[p.kind]; before != 0 && before != tristateOf(p.checked) {
		return errUnsummed
	}
	c.summed[p.kind] = tristateOf(p.checked)
	c.bare = c.bare || !p.checked
	return nil
}

// Unverified reports whether a page of the opened row groups has no checksum, so that damaged values may be undetected.
func (c *Column) Unverified() bool { return c.bare }

// A Value is a value of a column. The field for its type is set: Float for FLOAT and DOUBLE, Bytes for texts and INT96,
// Int for all others; a BOOLEAN is 0 or 1.
type Value struct {
	Int   int64
	Float float64
	Bytes []byte // valid until the next call of Next or Open
}

// Next returns the next value of the row group, or reports that it is null. It is valid until the next call. The caller
// must know that a value remains.
func (c *Column) Next() (v Value, null bool, err error) {
	for c.left == 0 {
		if err := c.nextPage(); err != nil {
			return v, false, err
		}
	}
	c.left--
	if n := len(c.levels); n > 0 && int16(c.levels[n-1-int(c.left)]) < c.desc.MaxDefinitionLevel() {
		return v, true, nil
	}
	v, err = c.values.next()
	return v, false, err
}

// isList reports whether a row of the column may have any number of values.
func (c *Column) isList() bool { return c.desc.MaxRepetitionLevel() > 0 }

// Continues reports whether the next value of a list belongs to the same row as the previous one. It is false at the
// end of the row group.
func (c *Column) Continues() (bool, error) {
	for c.left == 0 {
		if len(c.pages) == 0 {
			return false, nil
		}
		if err := c.nextPage(); err != nil {
			return false, err
		}
	}
	return c.isList() && c.reps[len(c.reps)-int(c.left)] > 0, nil
}

// nextPage reads the next page, which may be the dictionary: then c.left stays 0. After the last page, the error is
// io.ErrUnexpectedEOF.
func (c *Column) nextPage() error {
	if len(c.pages) == 0 {
		return io.ErrUnexpectedEOF // Open counted the values
	}
	p := &c.pages[0]
	c.pages = c.pages[1:]
	err := c.loadPage(p)
	if err != nil {
		return fmt.Errorf("the page at byte %d: %w", p.at, err)
	}
	return nil
}

// loadPage reads a page: the dictionary, or values, to which Next then moves. It checks the levels and values against
// the header.
func (c *Column) loadPage(p *page) (err error) {
	if p.kind == dictionaryPage {
		if c.dictIn[0], err = c.readPage(p, c.dictIn[0]); err != nil {
			return err
		}
		raw, err := c.unpack.unpack(c.chunk.codec, c.dictIn[1], c.dictIn[0], int(p.size))
		if err != nil {
			return err
		}
		c.dictIn[1] = raw
		return c.dict.set(c.desc, raw, int(p.values))
	}
	if c.packed, err = c.readPage(p, c.packed); err != nil {
		return err
	}
	reps, levels, data, err := c.splitPage(p)
	if err != nil {
		return err
	}
	if c.isList() {
		// Read the repetition levels of a page. Compare the number of rows that begin in it with its header and, after the
		// last page, with the row group.
		var err error
		if c.reps, err = readLevels(c.reps[:0], reps, p, p.repeats, int(c.desc.MaxRepetitionLevel())); err != nil {
			return err
		}
		begun := int64(bytes.Count(c.reps, []byte{0}))
		c.rows -= begun
		if p.kind == dataPageV2 && begun != p.rows || c.rows < 0 || len(c.pages) == 0 && c.rows > 0 {
			return errRows
		}
	}
	values := int(p.values)
	if most := c.desc.MaxDefinitionLevel(); most > 0 {
		if c.levels, err = readLevels(c.levels[:0], levels, p, p.levels, int(most)); err != nil {
			return err
		}
		for _, l := range c.levels {
			if int16(l) < most {
				values--
			}
		}
	}
	if p.kind == dataPageV2 && int64(values) != p.values-p.nulls && !c.isList() { // nulls of lists are counted in several ways
		return errNulls
	}
	c.left = p.values
	return c.values.set(c.desc, &c.dict, data, values, p.encoding)
}

// readPage reads the bytes of the page after its header, reusing the memory of dst, and verifies the checksum if there
// is one.
func (c *Column) readPage(p *page, dst []byte) ([]byte, error) {
	dst = slices.Grow(dst[:0], int(p.packed))[:p.packed]
	if _, err := c.file.r.ReadAt(dst, p.at); err != nil {
		return dst, err
	}
	if p.checked && crc32.ChecksumIEEE(dst) != p.crc {
		return dst, ErrChecksum
	}
	return dst, nil
}

// splitPage returns the repetition and definition levels and the values of the page in c.packed, uncompressed. Levels
// that the column does not have are nil. The results are valid until the next page.
func (c *Column) splitPage(p *page) (reps, levels, data []byte, err error) {
	if p.kind == dataPageV2 {
		n := p.repBytes + p.defBytes
		data = c.packed[n:]
		if !p.stored {
			if data, err = c.unpack.unpack(c.chunk.codec, c.raw, data, int(p.size-n)); err != nil {
				return nil, nil, nil, err
			}
			c.keepMemory(data)
		}
		return c.packed[:p.repBytes], c.packed[p.repBytes:n], data, nil
	}
	if data, err = c.unpack.unpack(c.chunk.codec, c.raw, c.packed, int(p.size)); err != nil {
		return nil, nil, nil, err
	}
	c.keepMemory(data)
	if c.isList() {
		if reps, data, err = cutLevels(data); err != nil {
			return nil, nil, nil, err
		}
	}
	if c.desc.MaxDefinitionLevel() == 0 {
		return reps, nil, data, nil
	}
	if p.levels == parquet.Encodings.BitPacked {
		n := (uint64(p.values)*uint64(bits.Len(uint(c.desc.MaxDefinitionLevel()))) + 7) / 8
		if n > uint64(len(data)) {
			return nil, nil, nil, errLevels
		}
		return reps, data[:n], data[n:], nil
	}
	levels, data, err = cutLevels(data)
	return reps, levels, data, err
}

// cutLevels splits a version 1 page into the levels at its beginning, which are preceded by their length, and the
// rest.
func cutLevels(data []byte) (levels, rest []byte, err error) {
	n := 4 + uint64(0)
	if len(data) >= 4 {
		n += uint64(binary.LittleEndian.Uint32(data))
	}
	if n > uint64(len(data)) {
		return nil, nil, errLevels
	}
	return data[4:n], data[n:], nil
}

// keepMemory stores the memory of an unpacked page, to reuse it for the next page. A page that was not compressed has
// no such memory: it is part of the bytes that were read.
func (c *Column) keepMemory(raw []byte) {
	if c.chunk.codec != compress.Codecs.Uncompressed {
		c.raw = raw
	}
}

// A window is a part of a file from which headers are read.
type window struct {
	r    io.ReaderAt
	at   int64
	data []byte
}

// A header with long statistics may take kilobytes.
const (
	windowSize = 4 << 10
	mostHeader = 16 << 20
)

// header reads the page header at a byte position; the pages of the file end at end. It reads more of the file as
// needed, and keeps it for the next call.
func (w *window) header(at, end int64) (page, error) {
	if at < w.at || at >= w.at+int64(len(w.data)) {
		w.data = w.data[:0]
	}
	for size := int64(windowSize); ; size *= 16 {
		if len(w.data) > 0 {
			h, n, err := readHeader(w.data[at-w.at:])
			if err == nil {
				return page{h, at + int64(n)}, nil
			}
			if !errors.Is(err, errShort) || w.at+int64(len(w.data)) >= end || size > mostHeader {
				return page{}, err
			}
		}
		n := min(size, end-at)
		w.at, w.data = at, slices.Grow(w.data[:0], int(n))[:n]
		if _, err := w.r.ReadAt(w.data, at); err != nil {
			return page{}, err
		}
	}
}

// An unpacker decompresses pages. It is for one goroutine.
type unpacker struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

// errLength means that the uncompressed length of a page differs from its header.
var errLength = errors.New("its length differs from its header")

// unpack decompresses src to exactly size bytes. It reuses the memory of dst, or allocates; for an uncompressed page it
// returns src.
func (u *unpacker) unpack(codec compress.Compression, dst, src []byte, size int) (page []byte, err error) {
	switch codec {
	case compress.Codecs.Uncompressed:
		page = src
	case compress.Codecs.Snappy:
		page, err = unsnappy(dst, src, size)
	case compress.Codecs.Zstd:
		if u.zstd == nil {
			if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
				return nil, err
			}
		}
		page, err = u.zstd.DecodeAll(src, dst[:0])
	case compress.Codecs.Gzip:
		page, err = u.gunzip(dst, src, size)
	default:
		page, err = unpackOther(codec, src, size)
	}
	if err != nil {
		return nil, fmt.Errorf("it cannot be unpacked: %w", err)
	}
	if len(page) != size {
		return nil, errLength
	}
	return page, nil
}

// unsnappy unpacks src, whose uncompressed length must be size, reusing the memory of dst.
func unsnappy(dst, src []byte, size int) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err == nil && n != size {
		err = errLength
	}
	if err != nil {
		return nil, err
	}
	return s2.Decode(dst[:cap(dst)], src)
}

// gunzip unpacks src, reusing the memory of dst. It stops after size + 1 bytes, so that the caller can detect that
// there are too many.
func (u *unpacker) gunzip(dst, src []byte, size int) ([]byte, error) {
	if u.gzip == nil {
		u.gzip = new(gzip.Reader)
	}
	if err := u.gzip.Reset(bytes.NewReader(src)); err != nil {
		return nil, err
	}
	buf := bytes.NewBuffer(dst[:0])
	_, err := io.Copy(buf, io.LimitReader(u.gzip, int64(size)+1))
	return buf.Bytes(), err
}

// unpackOther unpacks the other compression formats, with the library. It returns a panic of the library as an error,
// because damaged data can cause one.
func unpackOther(codec compress.Compression, src []byte, size int) (page []byte, err error) {
	c, err := compress.GetCodec(codec)
	if err != nil {
		return nil, fmt.Errorf("it is compressed by %s, %w", codec, ErrUnsupported)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return c.Decode(slices.Grow([]byte(nil), size)[:size], src), nil
}
