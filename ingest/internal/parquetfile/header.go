package parquetfile

import (
	"errors"
	"math"

	"github.com/apache/arrow/go/v17/parquet"
)

// A pageKind is the type of a page.
type pageKind int64

// The types of pages.
const (
	dataPage pageKind = iota
	indexPage
	dictionaryPage
	dataPageV2
)

// A header holds the fields before a page.
type header struct {
	kind         pageKind
	size, packed int64 // of the page before and after compression
	crc          uint32
	checked      bool // crc is set

	values   int64
	encoding parquet.Encoding
	levels   parquet.Encoding // of the definition levels, in pages of version 1
	repeats  parquet.Encoding // of the repetition levels, in pages of version 1

	// In pages of version 2.
	nulls, rows        int64
	defBytes, repBytes int64
	stored             bool // the values are not compressed
}

// errHeader is the error of a header that lacks something, or has it twice or in another form.
var errHeader = errors.New("is not that of a page")

// readHeader reads the header that data begin with, and returns its length too. If data are too
// short for it, the error is errShort.
func readHeader(data []byte) (h header, n int, err error) {
	c := compact{data: data}
	var kind, crc, encoding, levels, repeats int64
	numbers := map[int64]*int64{1: &kind, 2: &h.size, 3: &h.packed, 4: &crc}
	parts := map[int64]map[int64]*int64{
		5: {1: &h.values, 2: &encoding, 3: &levels, 4: &repeats},
		7: {1: &h.values, 2: &encoding},
		8: {1: &h.values, 2: &h.nulls, 3: &h.rows, 4: &encoding, 5: &h.defBytes, 6: &h.repBytes},
	}
	part := int64(0)
	c.fields(0, func(id int64, kind byte) bool {
		if fields := parts[id]; fields != nil && kind == typeStruct && part == 0 {
			part = id
			c.fields(1, func(id int64, kind byte) bool {
				if kind == typeFalse && id == 7 && part == 8 {
					h.stored = true
				}
				return c.readNumber(fields, id, kind)
			})
			if len(fields) > 0 {
				c.fail(errHeader)
			}
			return true
		}
		return c.readNumber(numbers, id, kind)
	})
	_, plain := numbers[4]
	delete(numbers, 4)
	if c.err == nil && len(numbers) > 0 {
		c.err = errHeader
	}
	h.kind, h.crc, h.checked = pageKind(kind), uint32(crc), !plain
	h.encoding, h.levels = parquet.Encoding(encoding), parquet.Encoding(levels)
	h.repeats = parquet.Encoding(repeats)
	if c.err == nil && !h.valid(part) {
		c.err = errHeader
	}
	return h, c.pos, c.err
}

// readNumber reads a number, and takes it from those that are still missing.
func (c *compact) readNumber(missing map[int64]*int64, id int64, kind byte) bool {
	to := missing[id]
	if to == nil || kind != typeI32 {
		return false
	}
	delete(missing, id)
	*to = c.int()
	return true
}

// valid reports whether the numbers are possible, and of the kind of page whose part was there.
func (h *header) valid(part int64) bool {
	for _, n := range [...]int64{h.size, h.packed, h.values, h.nulls, h.rows, h.defBytes, h.repBytes} {
		if n < 0 || n > math.MaxInt32 {
			return false
		}
	}
	switch h.kind {
	case dataPage:
		return part == 5
	case dictionaryPage:
		return part == 7
	case dataPageV2:
		levels := h.defBytes + h.repBytes
		return part == 8 && h.nulls <= h.values && levels <= h.packed && levels <= h.size
	case indexPage:
		return true
	}
	return false
}
