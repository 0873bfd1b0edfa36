package output

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/klauspost/compress/zstd"
)

// pages are a chunk as Parquet has it: a page of each column, compressed.
type pages struct {
	rows    int
	columns []page // by index in layout.picked
	kept    []page
	done    chan struct{} // gets a value when the pages are complete
}

// A page is a page of a column.
type page struct {
	dictLen int // texts in the column's dictionary, as of the end of the chunk
	data    []byte
	size    int // before compression
	stats   columnStats
}

// columnStats are what a page, or a column of a row group, says of its values.
type columnStats struct {
	nulls int64
	least int64 // of the values that are not null; numbers only, which count from 1
	most  int64 // 0 if there are none
}

// merge adds what another page says.
func (s *columnStats) merge(o columnStats) {
	s.nulls += o.nulls
	switch {
	case o.most == 0:
	case s.most == 0:
		s.least, s.most = o.least, o.most
	default:
		s.least, s.most = min(s.least, o.least), max(s.most, o.most)
	}
}

// encode returns the number of nulls and, for numbers, the range.
func (s columnStats) encode(k kind) (e metadata.EncodedStatistics) {
	e.SetNullCount(s.nulls)
	if s.most == 0 {
		return e
	}
	e.Signed = true
	switch k {
	case kindInt64:
		e.SetMin(binary.LittleEndian.AppendUint64(nil, uint64(s.least)))
		e.SetMax(binary.LittleEndian.AppendUint64(nil, uint64(s.most)))
	case kindInt32:
		e.SetMin(binary.LittleEndian.AppendUint32(nil, uint32(s.least)))
		e.SetMax(binary.LittleEndian.AppendUint32(nil, uint32(s.most)))
	case kindBool, kindText, kindDictionary, kindTime, kindFloat:
	}
	return e
}

// A pageEncoder makes the pages of chunks, one chunk after the other. It keeps its memory.
type pageEncoder struct {
	zstd  *zstd.Encoder
	spare *columns // the chunk before, emptied; nil at first

	page  []byte  // before compression
	ids   []int32 // scratch
	bools []bool  // scratch

	ints   []int64   // scratch
	floats []float64 // scratch
}

// encode makes the pages of a chunk.
func (e *pageEncoder) encode(to *pages, c *columns, picked []column) {
	for i, col := range picked {
		p := &to.columns[i]
		p.stats = e.encodeColumn(c, col, p.dictLen)
		e.finish(p)
	}
	for i := range c.kept {
		to.kept[i].stats = e.encodeKept(&c.kept[i])
		e.finish(&to.kept[i])
	}
}

// finish compresses the page that was made.
func (e *pageEncoder) finish(p *page) {
	p.size = len(e.page)
	p.data = e.zstd.EncodeAll(e.page, p.data[:0])
}

// encodeColumn makes e.page the page of a column, and returns what it says of its values.
func (e *pageEncoder) encodeColumn(c *columns, col column, dictLen int) (stats columnStats) {
	e.page = e.page[:0]
	switch col.base() {
	case colLine:
		e.page = appendDeltas(e.page, c.line)
		stats.least, stats.most = slices.Min(c.line), slices.Max(c.line)
	case colURL, colCanonical:
		stats.nulls = e.addLevels(c.texts[col].present, c.texts[col].nulls)
		e.page = append(e.page, c.texts[col].text...)
	case colAllowed, colViolation:
		v := c.bools(col)
		stats.nulls = e.addLevels(v.present, v.nulls)
		e.page = packBits(e.page, compact(&e.bools, v))
	case colRuleLine:
		v := c.ruleLines(col)
		stats.nulls = e.addLevels(v.present, v.nulls)
		lines := compact(&e.ids, v)
		for _, line := range lines {
			e.page = binary.LittleEndian.AppendUint32(e.page, uint32(line))
		}
		if len(lines) > 0 {
			stats.least, stats.most = int64(slices.Min(lines)), int64(slices.Max(lines))
		}
	default:
		ids := c.indices(col)
		if fields[col.base()].nullable {
			stats.nulls = e.addLevels(ids.present, ids.nulls)
		}
		width := bits.Len(uint(max(1, dictLen) - 1))
		e.page = appendHybrid(append(e.page, byte(width)), compact(&e.ids, ids), width)
	}
	return stats
}

// addLevels starts a page with what is null, and returns how many are.
func (e *pageEncoder) addLevels(present []int16, nulls int) int64 {
	e.page = append(e.page, 0, 0, 0, 0)
	if nulls == 0 {
		e.page = appendRun(e.page, 1, len(present), 1)
	} else {
		e.page = appendHybrid(e.page, present, 1)
	}
	binary.LittleEndian.PutUint32(e.page, uint32(len(e.page)-4))
	return int64(nulls)
}

// compact returns the values that are not null: all of them where they are, or a copy in the memory of scratch.
func compact[T any](scratch *[]T, v *valueColumn[T]) []T {
	if v.nulls == 0 {
		return v.values
	}
	dst := slices.Grow((*scratch)[:0], len(v.values))[:len(v.values)]
	n := 0
	for i, value := range v.values {
		dst[n] = value
		n += int(v.present[i])
	}
	*scratch = dst
	return dst[:n]
}
