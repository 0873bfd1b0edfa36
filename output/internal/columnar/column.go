package columnar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/output/parquet"
)

// A column is one column of the rows of a chunk. There is one implementation per type of value. Only the code that
// gathers a column uses its implementation. All methods work on many rows at once, so there is no call per value.
type column interface {
	// reset empties the column and keeps its memory. Later values are one per row or, if streaks is true and the
	// column supports it, one per streak of equal rows.
	reset(streaks bool)
	// expandStreaks makes the column store one value per row, for the present and for later rows.
	expandStreaks()

	// appendRows appends rows of other chunks. at is the index of the column there, which must have the same type.
	appendRows(from []*Chunk, at int, rows []Ref)
	// encode appends the column to dst, for a temporary file.
	encode(dst []byte) []byte
	// decode reads it back into an empty column.
	decode(d *wire.Cursor)
	// allocated returns the number of allocated bytes, without those of a dictionary.
	allocated() int

	// Page encodes the column as a Parquet page.
	Page(e *parquet.Encoder, to *parquet.Pages, i int)
	// dataType returns the type of the Arrow array.
	dataType() arrow.DataType
	// toArrow returns the rows as an Arrow array that shares the column's memory.
	toArrow(rows int, texts DictTexts) arrow.Array
	// Cells returns the values in the form that lines of text need. They share the column's memory.
	Cells() Cells
}

// DictTexts says which texts the Arrow array of a dictionary contains.
type DictTexts uint8

// The texts of an array.
const (
	NoTexts     DictTexts = iota // none, because the array contains only numbers
	CopiedTexts                  // copies, which do not change with the dictionary
	SharedTexts                  // those of the dictionary itself
)

// Cells are the values of a column for lines of text. Only the field for the column's type is set.
type Cells struct {
	Kind    parquet.Type
	Present []int16 // nil if no value is null

	IDs    []int32 // numbers of texts in the dictionary, or 32-bit integers
	Ints   []int64 // also times
	Floats []float64
	Bools  []bool
	Text   []byte
	Offset []int32 // in text
}

// newColumn returns an empty column for a field. Columns with the same dictionary share dict.
func newColumn(f *field, pages bool, dict *Dictionary) column {
	switch f.Type {
	case parquet.Text:
		return &TextColumn{pages: pages, offsets: []int32{0}}
	case parquet.Dictionary:
		return &dictColumn{dict: dict}
	case parquet.Bool:
		return &boolColumn{values[bool]{arrow: arrow.FixedWidthTypes.Boolean}}
	case parquet.Int32:
		return &int32Column{values[int32]{arrow: arrow.PrimitiveTypes.Int32}}
	case parquet.Double:
		return &floatColumn{values[float64]{arrow: arrow.PrimitiveTypes.Float64}}
	case parquet.Time:
		return &intColumn{values[int64]{arrow: arrow.FixedWidthTypes.Timestamp_us}, parquet.Time}
	case parquet.Int64:
	}
	return &intColumn{values[int64]{arrow: arrow.PrimitiveTypes.Int64}, parquet.Int64}
}

// A scalar is a value of a fixed size.
type scalar interface {
	int16 | int32 | int64 | float64 | bool
}

// A numeric is a column with values[T].
type numeric[T scalar] interface{ numbers() *values[T] }

// values is the common part of all columns except columns of texts.
type values[T scalar] struct {
	parquet.Values[T]
	spare []int32        // reused memory for Streaks
	arrow arrow.DataType // not of a dictColumn
}

// numbers returns the values of a column, given only the type T of its values.
func (v *values[T]) numbers() *values[T] { return v }

// reset empties the values and keeps the memory. If streaks is true, later values may stand for streaks.
func (v *values[T]) reset(streaks bool) {
	v.All, v.Present, v.Nulls, v.Streaks = v.All[:0], v.Present[:0], 0, nil
	if streaks {
		if v.spare == nil {
			v.spare = make([]int32, 0, 256)
		}
		v.Streaks = v.spare[:0]
	}
}

func (v *values[T]) expandStreaks() { v.Spread() }

// extend appends n values for the caller to fill.
func (v *values[T]) extend(n int) []T {
	all := slices.Grow(v.All, n)[:len(v.All)+n]
	v.All = all
	return all[len(all)-n:]
}

// extendNullable is like extend, for a nullable column: the caller fills both slices and counts nulls.
func (v *values[T]) extendNullable(n int) ([]T, []int16) {
	v.Present = slices.Grow(v.Present, n)[:len(v.Present)+n]
	return v.extend(n), v.Present[len(v.Present)-n:]
}

// append adds values of a nullable column.
func (v *values[T]) append(all []T, present []int16, nulls int) {
	v.All = append(v.All, all...)
	v.Present = append(v.Present, present...)
	v.Nulls += nulls
}

// fill adds the same value for a number of rows, as one value if the column is stored by streak.
func (v *values[T]) fill(value T, rows int) {
	if v.Streaks != nil {
		v.All = append(v.All, value)
		v.addStreaks(int32(rows))
		return
	}
	dst := v.extend(rows)
	for i := range dst {
		dst[i] = value
	}
}

// addStreaks sets the number of rows that each of the last values stands for.
func (v *values[T]) addStreaks(rows ...int32) {
	v.Streaks = append(v.Streaks, rows...)
	v.spare = v.Streaks
}

// setStreaks calls addStreaks if rows are given (not nil). Nulls must have been counted once per value; it adds the
// other rows of null streaks.
func (v *values[T]) setStreaks(rows []int32) {
	if rows == nil {
		return
	}
	v.addStreaks(rows...)
	if len(v.Present) == 0 {
		return
	}
	for i, level := range v.Present[len(v.Present)-len(rows):] {
		if level == 0 {
			v.Nulls += int(rows[i]) - 1
		}
	}
}

// repeat repeats each of the last n values the given number of times. Nulls must already count the repetitions.
func (v *values[T]) repeat(n, times int) {
	if times > 1 {
		v.All, v.Present = repeat(v.All, n, times), repeat(v.Present, n, times)
	}
}

// repeat repeats each of the last n values, and returns the longer slice. It works in place, from the end, so that no
// value is overwritten before it is read.
func repeat[T any](all []T, n, times int) []T {
	if len(all) == 0 {
		return all
	}
	start := len(all) - n
	all = slices.Grow(all, n*(times-1))[:start+n*times]
	for i := n - 1; i >= 0; i-- {
		value, dst := all[start+i], all[start+i*times:][:times]
		for k := range dst {
			dst[k] = value
		}
	}
	return all
}

// appendRows appends rows of the chunks in from. at is the index of the same column there.
func (v *values[T]) appendRows(from []*Chunk, at int, rows []Ref) {
	for len(rows) > 0 {
		n := countSameChunk(rows)
		src := from[rows[0].Chunk].Columns[at].(numeric[T]).numbers()
		if len(src.Present) == 0 {
			all := v.extend(n)
			for i, r := range rows[:n] {
				all[i] = src.All[r.Row]
			}
		} else {
			all, present := v.extendNullable(n)
			for i, r := range rows[:n] {
				all[i], present[i] = src.All[r.Row], src.Present[r.Row]
				v.Nulls += 1 - int(present[i])
			}
		}
		rows = rows[n:]
	}
}

func (v *values[T]) encode(dst []byte) []byte {
	return appendNumbers(appendNumbers(dst, v.All), v.Present)
}

func (v *values[T]) decode(d *wire.Cursor) {
	v.All, v.Present = readNumbers(d, v.All), readNumbers(d, v.Present)
	v.Nulls = countNulls(v.Present)
}

func (v *values[T]) allocated() int {
	return binary.Size(*new(T))*cap(v.All) + 2*cap(v.Present)
}

func (v *values[T]) dataType() arrow.DataType { return v.arrow }

// arrayOf returns the values as an Arrow array with the given data buffer.
func (v *values[T]) arrayOf(rows int, data []byte) arrow.Array {
	return newArray(v.arrow, rows, v.Present, v.Nulls, data)
}

// levels returns the definition levels, or nil if no value is null.
func levels(present []int16, nulls int) []int16 {
	if nulls == 0 {
		return nil
	}
	return present
}

// countNulls returns how many rows are not present.
func countNulls(present []int16) (n int) {
	for _, p := range present {
		n += 1 - int(p)
	}
	return n
}

// newArray returns an array of n values that shares the buffers, which are in Arrow's order without the bitmap of
// nulls. The bitmap is made from present if there are nulls.
func newArray(t arrow.DataType, n int, present []int16, nulls int, buffers ...[]byte) arrow.Array {
	all := make([]*memory.Buffer, 1, 1+len(buffers))
	if nulls > 0 {
		all[0] = memory.NewBufferBytes(parquet.AppendBits(nil, present))
	}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.MakeFromData(array.NewData(t, n, all, nil, nulls, 0))
}

// An intColumn has 64-bit integers.
type intColumn struct {
	values[int64]
	kind parquet.Type
}

func (c *intColumn) Page(e *parquet.Encoder, to *parquet.Pages, i int) { e.Int64s(to, i, &c.Values) }

func (c *intColumn) toArrow(rows int, _ DictTexts) arrow.Array {
	return c.arrayOf(rows, arrow.GetBytes(c.All))
}

func (c *intColumn) Cells() Cells {
	return Cells{Kind: c.kind, Ints: c.All, Present: levels(c.Present, c.Nulls)}
}

// An int32Column has 32-bit integers.
type int32Column struct{ values[int32] }

func (c *int32Column) Page(e *parquet.Encoder, to *parquet.Pages, i int) { e.Int32s(to, i, &c.Values) }

func (c *int32Column) toArrow(rows int, _ DictTexts) arrow.Array {
	return c.arrayOf(rows, arrow.GetBytes(c.All))
}

func (c *int32Column) Cells() Cells {
	return Cells{Kind: parquet.Int32, IDs: c.All, Present: levels(c.Present, c.Nulls)}
}

// A floatColumn has 64-bit floating-point numbers.
type floatColumn struct{ values[float64] }

func (c *floatColumn) Page(e *parquet.Encoder, to *parquet.Pages, i int) { e.Doubles(to, i, &c.Values) }

func (c *floatColumn) toArrow(rows int, _ DictTexts) arrow.Array {
	return c.arrayOf(rows, arrow.GetBytes(c.All))
}

func (c *floatColumn) Cells() Cells {
	return Cells{Kind: parquet.Double, Floats: c.All, Present: levels(c.Present, c.Nulls)}
}

// A boolColumn has booleans.
type boolColumn struct{ values[bool] }

func (c *boolColumn) Page(e *parquet.Encoder, to *parquet.Pages, i int) { e.Bools(to, i, &c.Values) }

func (c *boolColumn) toArrow(rows int, _ DictTexts) arrow.Array {
	return c.arrayOf(rows, parquet.AppendBits(nil, c.All))
}

func (c *boolColumn) Cells() Cells {
	return Cells{Kind: parquet.Bool, Bools: c.All, Present: levels(c.Present, c.Nulls)}
}

// A dictColumn has repeated texts, as numbers in a dictionary that chunks share.
type dictColumn struct {
	values[int32]
	dict *Dictionary
}

// appendRows appends rows of the chunks in from, and adds their texts to the column's own dictionary. at is the index
// of the same column there.
func (c *dictColumn) appendRows(from []*Chunk, at int, rows []Ref) {
	start := len(c.All)
	c.values.appendRows(from, at, rows)
	for len(rows) > 0 {
		n := countSameChunk(rows)
		if src := from[rows[0].Chunk].Columns[at].(*dictColumn).dict; src != c.dict {
			i := slices.IndexFunc(src.moved, func(m moves) bool { return m.to == c.dict })
			if i < 0 {
				i = len(src.moved)
				src.moved = slices.Grow(src.moved, 1)[:i+1]
				src.moved[i].to = c.dict
			}
			m := &src.moved[i]
			if more := src.Len() - len(m.by); more > 0 {
				m.by = append(m.by, make([]move, more)...)
			}
			moves := m.by
			for i, id := range c.All[start : start+n] {
				if len(c.Present) == 0 || c.Present[start+i] != 0 {
					c.All[start+i] = src.move(&moves[id], c.dict, id)
				}
			}
		}
		rows, start = rows[n:], start+n
	}
}

func (c *dictColumn) encode(dst []byte) []byte {
	dst = appendNumbers(dst, c.dict.offsets)
	dst = append(dst, c.dict.Text...)
	return c.values.encode(dst)
}

// decode reads the dictionary without its hash table: it can return texts by number, but not find them.
func (c *dictColumn) decode(d *wire.Cursor) {
	c.dict.forgetMoves()
	c.dict.offsets = readNumbers(d, c.dict.offsets)
	if d.Bad() || len(c.dict.offsets) == 0 {
		d.Fail()
		return
	}
	c.dict.Text = append(c.dict.Text[:0], d.Bytes(uint64(c.dict.offsets[len(c.dict.offsets)-1]))...)
	c.values.decode(d)
}

func (c *dictColumn) Page(e *parquet.Encoder, to *parquet.Pages, i int) { e.IDs(to, i, &c.Values) }

// dictType is the type of all columns of a dictionary.
var dictType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

func (c *dictColumn) dataType() arrow.DataType { return dictType }

// toArrow returns an array that shares the column's memory, with the requested texts.
func (c *dictColumn) toArrow(rows int, texts DictTexts) arrow.Array {
	ids := newArray(dictType.IndexType, rows, c.Present, c.Nulls, arrow.GetBytes(c.All))
	var text []byte
	offsets := []int32{0}
	switch texts {
	case NoTexts:
	case CopiedTexts: // the library keeps a stream's dictionary to compare it with the next one
		text, offsets = slices.Clone(c.dict.Text), slices.Clone(c.dict.offsets)
	case SharedTexts:
		text, offsets = c.dict.Text, c.dict.offsets
	}
	list := newArray(dictType.ValueType, len(offsets)-1, nil, 0, arrow.GetBytes(offsets), text)
	return array.NewDictionaryArray(dictType, ids, list)
}

func (c *dictColumn) Cells() Cells {
	return Cells{Kind: parquet.Dictionary, IDs: c.All, Present: levels(c.Present, c.Nulls)}
}

// A TextColumn has texts that rarely repeat. If pages is true, they are stored as in Parquet pages, each after its
// length. Otherwise they are stored as in Arrow: text i is Bytes[offsets[i]:offsets[i+1]]. Only the second form
// allows copying single rows.
type TextColumn struct {
	parquet.Texts
	pages   bool
	offsets []int32
}

func (c *TextColumn) reset(bool) {
	*c = TextColumn{
		Texts: parquet.Texts{Bytes: c.Bytes[:0], Present: c.Present[:0]},
		pages: c.pages, offsets: c.offsets[:1],
	}
}

func (c *TextColumn) expandStreaks() {}

// beginText starts a text of the given length. The caller appends it to Bytes, and calls end.
func (c *TextColumn) beginText(length int) {
	if c.pages {
		c.Bytes = binary.LittleEndian.AppendUint32(c.Bytes, uint32(length))
	}
}

// endText completes a row, whose text is present (1) or null (0).
func (c *TextColumn) endText(present int16) {
	c.Present = append(c.Present, present)
	c.Nulls += 1 - int(present)
	if !c.pages {
		c.offsets = append(c.offsets, int32(len(c.Bytes)))
	}
}

// size returns the bytes of all texts.
func (c *TextColumn) size() int {
	if c.pages {
		return len(c.Bytes) - 4*(len(c.Present)-c.Nulls)
	}
	return len(c.Bytes)
}

// appendRows appends rows of the chunks in from, whose texts must have Arrow's form. at is the index of the same
// column there.
func (c *TextColumn) appendRows(from []*Chunk, at int, rows []Ref) {
	var src *TextColumn
	last := ^uint32(0)
	for _, r := range rows {
		if r.Chunk != last {
			src, last = from[r.Chunk].Columns[at].(*TextColumn), r.Chunk
		}
		text, present := src.Bytes[src.offsets[r.Row]:src.offsets[r.Row+1]], src.Present[r.Row]
		if present != 0 {
			c.beginText(len(text))
			c.Bytes = append(c.Bytes, text...)
		}
		c.endText(present)
	}
}

func (c *TextColumn) encode(dst []byte) []byte {
	return wire.AppendText(appendNumbers(appendNumbers(dst, c.offsets), c.Present), c.Bytes)
}

func (c *TextColumn) decode(d *wire.Cursor) {
	c.offsets, c.Present = readNumbers(d, c.offsets), readNumbers(d, c.Present)
	c.Bytes = append(c.Bytes[:0], d.Text()...)
	c.Nulls = countNulls(c.Present)
}

func (c *TextColumn) allocated() int { return 4*cap(c.offsets) + 2*cap(c.Present) + cap(c.Bytes) }

// Page encodes the column as a Parquet page.
func (c *TextColumn) Page(e *parquet.Encoder, to *parquet.Pages, i int) { e.Texts(to, i, &c.Texts) }

func (c *TextColumn) dataType() arrow.DataType { return arrow.BinaryTypes.String }

func (c *TextColumn) toArrow(rows int, _ DictTexts) arrow.Array {
	return newArray(c.dataType(), rows, c.Present, c.Nulls, arrow.GetBytes(c.offsets), c.Bytes)
}

// Cells returns the values in the form that lines of text need.
func (c *TextColumn) Cells() Cells {
	return Cells{Kind: parquet.Text, Text: c.Bytes, Offset: c.offsets, Present: levels(c.Present, c.Nulls)}
}

// errBlock is the error of a damaged temporary file.
var errBlock = errors.New("rows in a temporary file are damaged")

// appendNumbers appends the number of values, and the values.
func appendNumbers[T scalar](dst []byte, values []T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	dst, _ = binary.Append(dst, binary.LittleEndian, values) // cannot fail: numbers have a fixed size
	return dst
}

// readNumbers reads the output of appendNumbers into the memory of dst. It returns no values if d has failed.
func readNumbers[T scalar](d *wire.Cursor, dst []T) []T {
	n := d.Count()
	b := d.Bytes(uint64(n * binary.Size(*new(T))))
	if d.Bad() {
		return dst[:0]
	}
	dst = slices.Grow(dst[:0], n)[:n]
	binary.Decode(b, binary.LittleEndian, dst) //nolint:errcheck // b has the right length
	return dst
}

// KeyID returns the number of a row's text, or -1 for a null. Equal texts have equal numbers in columns that share
// a dictionary.
func (c *dictColumn) KeyID(row uint32) int32 {
	if len(c.Present) > 0 && c.Present[row] == 0 {
		return -1
	}
	return c.All[row]
}

// KeyText returns the text of a row, and false for a null. The text is valid until another one is added to the
// dictionary.
func (c *dictColumn) KeyText(row uint32) ([]byte, bool) {
	id := c.KeyID(row)
	if id < 0 {
		return nil, false
	}
	return c.dict.At(id), true
}

// KeyRanks returns, by number, the position of each text of the dictionary in byte order.
func (c *dictColumn) KeyRanks() []int32 {
	sorted := make([]int32, c.dict.Len())
	for i := range sorted {
		sorted[i] = int32(i)
	}
	slices.SortFunc(sorted, func(a, b int32) int { return bytes.Compare(c.dict.At(a), c.dict.At(b)) })
	ranks := make([]int32, len(sorted))
	for rank, id := range sorted {
		ranks[id] = int32(rank)
	}
	return ranks
}

// KeyID returns 1 for true, 0 for false, and -1 for a null.
func (c *boolColumn) KeyID(row uint32) int32 {
	switch {
	case c.Present[row] == 0:
		return -1
	case c.All[row]:
		return 1
	}
	return 0
}

// boolTexts are the values as texts.
var boolTexts = [2][]byte{[]byte("false"), []byte("true")}

// KeyText returns the value of a row as text, and false for a null.
func (c *boolColumn) KeyText(row uint32) ([]byte, bool) {
	id := c.KeyID(row)
	if id < 0 {
		return nil, false
	}
	return boolTexts[id], true
}

// KeyRanks returns the positions of false and true, in this order.
func (c *boolColumn) KeyRanks() []int32 { return []int32{0, 1} }
