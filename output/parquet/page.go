package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/robobatch/robobatch/output/parquet/internal/wordzstd"
)

// Pages are some rows of a row group: one compressed page for each column. They belong to their Writer, which reuses
// them.
type Pages struct {
	rows    int
	columns []page
}

// A page contains some rows of a column.
type page struct {
	texts    int // length of the column's dictionary when the Pages were begun
	data     []byte
	size     int    // before compression
	crc      uint32 // of data
	encoding parquet.Encoding
	stats    statistics
}

// An Encoder fills Pages, with one call per column. The result does not depend on which Encoder fills which Pages. It
// reuses its memory, and is not safe for concurrent use.
type Encoder struct {
	pack   packer
	words  *wordzstd.Encoder // for texts in DELTA_BYTE_ARRAY; nil unless the codec is Zstd at its fastest level
	fields []Field

	page    []byte // before compression
	packed  []byte // scratch for pack
	ids     []int32
	ints    []int64
	floats  []float64
	bools   []bool
	streaks []streak
	texts   textCutter
}

// finish compresses e.page, and adds it to the column.
func (e *Encoder) finish(to *Pages, column int, stats statistics, encoding parquet.Encoding) {
	e.addPage(to, column, stats, encoding, e.pack(e.packed, e.page))
}

// addPage adds a compressed page to its column. The page keeps a copy until the end of the row group, because the
// memory of packed is several times as large. The next page reuses packed, unless it is e.page itself.
func (e *Encoder) addPage(to *Pages, column int, stats statistics, encoding parquet.Encoding, packed []byte) {
	p := &to.columns[column]
	p.stats, p.size, p.encoding = stats, len(e.page), encoding
	p.data = append(p.data[:0], packed...)
	if len(packed) > 0 && &packed[0] != &e.page[0] {
		e.packed = packed
	}
	p.crc = crc32.ChecksumIEEE(p.data)
}

// longStreaks is the minimum average number of rows per streak: shorter streaks are faster to encode by row.
const longStreaks = 4

// beginPage starts the page of a column with its levels. It spreads short streaks. Before compression, a data page (version
// 1) consists of:
//
//	length   of the levels, 4 bytes, little-endian; only in nullable columns
//	levels   1 bit each, RLE or bit-packed: 1 for a value, 0 for null; only in nullable columns
//	values   without nulls, in the encoding of the column: plain, indices into a dictionary
//	         (1 byte with their width, then RLE or bit-packed), or deltas
func beginPage[T any](e *Encoder, to *Pages, column int, v *Values[T]) (stats statistics) {
	if len(v.Streaks)*longStreaks > to.rows {
		v.Spread()
	}
	e.page = e.page[:0]
	if !e.fields[column].Nullable {
		return stats
	}
	e.page = append(e.page, 0, 0, 0, 0)
	switch {
	case v.Nulls == 0:
		e.page = appendRun(e.page, 1, to.rows, 1)
	case v.Streaks == nil:
		e.page = appendHybrid(e.page, v.Present, 1)
	default:
		e.streaks = e.streaks[:0]
		for i, level := range v.Present {
			e.streaks = appendStreak(e.streaks, int32(level), int(v.Streaks[i]))
		}
		e.page = e.appendHybridStreaks(e.page, e.streaks, 1)
	}
	binary.LittleEndian.PutUint32(e.page, uint32(len(e.page)-4))
	return statistics{nulls: int64(v.Nulls)}
}

// withoutNulls returns the values that are not null. They share the memory of v or of scratch.
func withoutNulls[T any](scratch *[]T, v *Values[T]) []T {
	if v.Nulls == 0 {
		return v.All
	}
	dst := slices.Grow((*scratch)[:0], len(v.All))[:len(v.All)]
	n := 0
	for i, value := range v.All {
		dst[n] = value
		n += int(v.Present[i])
	}
	*scratch = dst
	return dst[:n]
}

// collectStreaks sets e.streaks to the values that are not null, converted by number, and returns it.
func collectStreaks[T any](e *Encoder, v *Values[T], number func(T) int32) []streak {
	e.streaks = e.streaks[:0]
	for i, value := range v.All {
		if len(v.Present) == 0 || v.Present[i] != 0 {
			e.streaks = appendStreak(e.streaks, number(value), int(v.Streaks[i]))
		}
	}
	return e.streaks
}

// Int64s encodes a column of Int64 or Time. Like all these methods, it replaces the page of the column, and keeps no
// reference to v. It spreads v.
func (e *Encoder) Int64s(to *Pages, column int, v *Values[int64]) {
	v.Spread()
	stats := beginPage(e, to, column, v)
	ints := withoutNulls(&e.ints, v)
	addInts(&stats, ints)
	encoding := parquet.Encodings.Plain
	if e.fields[column].Delta {
		encoding = parquet.Encodings.DeltaBinaryPacked
		e.page = appendDeltas(e.page, ints)
	} else {
		for _, n := range ints {
			e.page = binary.LittleEndian.AppendUint64(e.page, uint64(n))
		}
	}
	e.finish(to, column, stats, encoding)
}

// Int32s encodes a column of Int32. It may spread v.
func (e *Encoder) Int32s(to *Pages, column int, v *Values[int32]) {
	stats := beginPage(e, to, column, v)
	if v.Streaks == nil {
		ints := withoutNulls(&e.ids, v)
		for _, n := range ints {
			e.page = binary.LittleEndian.AppendUint32(e.page, uint32(n))
		}
		addInts(&stats, ints)
	} else {
		for _, s := range collectStreaks(e, v, func(n int32) int32 { return n }) {
			for range s.rows {
				e.page = binary.LittleEndian.AppendUint32(e.page, uint32(s.value))
			}
			stats.addInt(int64(s.value))
		}
	}
	e.finish(to, column, stats, parquet.Encodings.Plain)
}

// Doubles encodes a column of Double. It spreads v.
func (e *Encoder) Doubles(to *Pages, column int, v *Values[float64]) {
	v.Spread()
	stats := beginPage(e, to, column, v)
	floats := withoutNulls(&e.floats, v)
	stats.addFloats(floats)
	for _, f := range floats {
		e.page = binary.LittleEndian.AppendUint64(e.page, math.Float64bits(f))
	}
	e.finish(to, column, stats, parquet.Encodings.Plain)
}

// Bools encodes a column of Bool. It may spread v.
func (e *Encoder) Bools(to *Pages, column int, v *Values[bool]) {
	stats := beginPage(e, to, column, v)
	if v.Streaks == nil {
		bools := withoutNulls(&e.bools, v)
		stats.addBools(bools)
		e.page = AppendBits(e.page, bools)
	} else {
		e.page = appendBitStreaks(e.page, collectStreaks(e, v, bit))
		for _, s := range e.streaks {
			stats.addInt(int64(s.value))
		}
	}
	e.finish(to, column, stats, parquet.Encodings.Plain)
}

// bit returns 1 for true.
func bit(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// IDs encodes a column of Dictionary, given as indices into the dictionary. They must be below its length at the time
// of Writer.Begin.
func (e *Encoder) IDs(to *Pages, column int, v *Values[int32]) {
	stats := beginPage(e, to, column, v)
	width := bits.Len(uint(max(1, to.columns[column].texts) - 1))
	e.page = append(e.page, byte(width))
	if v.Streaks == nil {
		e.page = appendHybrid(e.page, withoutNulls(&e.ids, v), width)
	} else {
		e.page = e.appendHybridStreaks(e.page, collectStreaks(e, v, func(n int32) int32 { return n }), width)
	}
	e.finish(to, column, stats, parquet.Encodings.RLEDict)
}

// Texts encodes a column of Text. It keeps no reference to t.
func (e *Encoder) Texts(to *Pages, column int, t *Texts) {
	stats := beginPage(e, to, column, &Values[byte]{Present: t.Present, Nulls: t.Nulls})
	page, head, encoding := e.texts.texts(e.page, t.Bytes, e.fields[column].Delta, &stats)
	e.page = page
	if encoding == parquet.Encodings.DeltaByteArray && e.words != nil {
		if packed, ok := e.words.Append(e.packed[:0], page, head); ok {
			e.addPage(to, column, stats, encoding, packed)
			return
		}
	}
	e.finish(to, column, stats, encoding)
}

// maxBound is the maximum length, in bytes, of a text in statistics. If the minimum or maximum is longer, the column
// has no range: statistics must be exact, because some readers answer queries with them.
const maxBound = 1 << 10

// statistics describe the values of a page, or of a column of a row group.
type statistics struct {
	nulls int64
	some  bool // there are values that are not null, so one of the ranges below is set
	none  bool // the range is unknown, or too long

	ints   [2]int64 // minimum and maximum, also of bools
	floats [2]float64
	texts  [2][]byte
}

// merge adds the statistics of another page. It refers to the texts of that page.
func (s *statistics) merge(o *statistics) {
	s.nulls += o.nulls
	s.none = s.none || o.none
	switch {
	case !o.some:
	case !s.some:
		s.some, s.ints, s.floats, s.texts = true, o.ints, o.floats, o.texts
	default:
		s.ints = [2]int64{min(s.ints[0], o.ints[0]), max(s.ints[1], o.ints[1])}
		s.floats = [2]float64{min(s.floats[0], o.floats[0]), max(s.floats[1], o.floats[1])}
		s.addText(o.texts[0])
		s.addText(o.texts[1])
	}
}

// addInts sets the range of values that are not null. The statistics must have no range yet.
func addInts[T int32 | int64](s *statistics, values []T) {
	if len(values) == 0 {
		return
	}
	least, most := values[0], values[0]
	for _, v := range values[1:] {
		least, most = min(least, v), max(most, v)
	}
	s.some, s.ints = true, [2]int64{int64(least), int64(most)}
}

// addInt adds a value that is not null; a bool is 0 or 1.
func (s *statistics) addInt(v int64) {
	if !s.some {
		s.some, s.ints = true, [2]int64{v, v}
	}
	s.ints = [2]int64{min(s.ints[0], v), max(s.ints[1], v)}
}

// addBools adds values that are not null. It stops when both values have occurred.
func (s *statistics) addBools(values []bool) {
	for _, v := range values {
		n := int64(bit(v))
		if s.some && s.ints[n] != n {
			s.ints[n] = n
			return
		}
		s.addInt(n)
	}
}

// addFloats adds values that are not null. With a NaN, the column has no range.
func (s *statistics) addFloats(values []float64) {
	for _, v := range values {
		if math.IsNaN(v) {
			s.none = true
			return
		}
		if !s.some {
			s.some, s.floats = true, [2]float64{v, v}
		}
		s.floats[0], s.floats[1] = min(s.floats[0], v), max(s.floats[1], v)
	}
}

// addText adds a text, and refers to its memory until keepTexts is called.
func (s *statistics) addText(text []byte) {
	switch {
	case !s.some:
		s.some, s.texts = true, [2][]byte{text, text}
	case bytes.Compare(text, s.texts[0]) < 0:
		s.texts[0] = text
	case bytes.Compare(text, s.texts[1]) > 0:
		s.texts[1] = text
	}
}

// keepTexts copies the bounds, which may refer to a page. If one is longer than maxBound, it drops both, and the range
// is unknown.
func (s *statistics) keepTexts() {
	if len(s.texts[0]) > maxBound || len(s.texts[1]) > maxBound {
		s.none, s.texts = true, [2][]byte{}
	}
	for i, text := range s.texts {
		s.texts[i] = bytes.Clone(text)
	}
}

// addList adds all texts of a dictionary, which must all occur in the column. It copies what it keeps.
func (s *statistics) addList(texts TextList) {
	for i := range texts.Len() {
		s.addText(texts.At(int32(i)))
	}
	s.keepTexts()
}

// encode returns the statistics in the form of the library. They have no range if it is unknown, or if all values are
// null.
func (s *statistics) encode(t Type) (e metadata.EncodedStatistics) {
	e.SetNullCount(s.nulls)
	if !s.some || s.none {
		return e
	}
	e.Signed = true
	var bounds [2][]byte
	for i := range bounds {
		switch t {
		case Int64, Time:
			bounds[i] = binary.LittleEndian.AppendUint64(nil, uint64(s.ints[i]))
		case Int32:
			bounds[i] = binary.LittleEndian.AppendUint32(nil, uint32(s.ints[i]))
		case Bool:
			bounds[i] = []byte{byte(s.ints[i])}
		case Double:
			f := s.floats[i]
			if f == 0 { // -0 as minimum and +0 as maximum, so that both zeros are in the range
				f = math.Copysign(0, float64(i)-0.5)
			}
			bounds[i] = binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
		case Text, Dictionary:
			e.Signed = false // bytewise order: the older fields of the format, with signed order, stay empty
			bounds[i] = s.texts[i]
		}
	}
	e.SetMin(bounds[0])
	e.SetMax(bounds[1])
	return e
}
