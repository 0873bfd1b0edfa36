package output

import (
	"encoding/binary"
	"errors"
	"slices"
)

// A ref is a row of one of several chunks.
type ref struct{ chunk, row uint32 }

// A vector is a column of a chunk whose rows can be picked, written to a temporary file and read back. A chunk from which rows are
// picked, or that is written, has its texts laid out by offsets.
type vector interface {
	// take appends rows of the vectors at that index of the chunks, which are of the same type.
	take(from []*columns, at int, rows []ref)
	// encode appends the vector to dst.
	encode(dst []byte) []byte
	// decode reads it back, into an empty chunk.
	decode(d *decoder)
	// memory returns how many bytes are allocated for it, without its dictionary.
	memory() int
}

// bind makes the vectors of the columns of a layout. Of a column that is not wanted the vector is nil.
func (c *columns) bind(all layout, want func(i int) bool) {
	c.vectors = make([]vector, all.width())
	c.measured = nil
	for i := range c.vectors {
		if !want(i) {
			continue
		}
		c.vectors[i] = c.vector(all, i)
		if _, ok := c.vectors[i].(textVector); ok {
			c.measured = append(c.measured, i)
		}
	}
}

// vector returns column i of the layout; the kept columns follow those that are picked, and the day follows them.
func (c *columns) vector(all layout, i int) vector {
	switch k := i - len(all.picked); {
	case k == len(all.kept):
		return dictVector{&c.date, &c.names.dates}
	case k >= 0:
		return c.kept[k].vector(c.plain)
	}
	switch col := all.picked[i]; col.base() {
	case colLine:
		return lineVector{c}
	case colURL, colCanonical:
		return textVector{&c.texts[col], c.plain}
	case colAllowed, colViolation:
		return boolVector{valueVector[bool]{c.bools(col)}}
	case colRuleLine:
		return valueVector[int32]{c.ruleLines(col)}
	default:
		return dictVector{c.indices(col), c.names.dict(col)}
	}
}

// vector returns the column as one.
func (k *keptColumn) vector(plain bool) vector {
	switch k.kind {
	case kindText:
		return textVector{&k.texts, plain}
	case kindFloat:
		return valueVector[float64]{&k.floats}
	case kindBool:
		return valueVector[bool]{&k.bools}
	default:
		return valueVector[int64]{&k.ints}
	}
}

// fitRows returns how many of the rows, at least one, the chunk takes, which is not full. It depends on nothing but the rows.
func (c *columns) fitRows(from []*columns, rows []ref) int {
	n := min(len(rows), c.limits.rows-c.rows)
	if len(c.measured) == 0 {
		return n
	}
	for i, r := range rows[:n] {
		if c.urlBytes >= c.limits.bytes {
			return i
		}
		for _, at := range c.measured {
			c.urlBytes += len(from[r.chunk].vectors[at].(textVector).row(r.row))
		}
	}
	return n
}

// filled reports whether the chunk takes no other row.
func (c *columns) filled() bool { return c.rows >= c.limits.rows || c.urlBytes >= c.limits.bytes }

// takeRows appends rows of other chunks, whose vectors are bound to the same layout.
func (c *columns) takeRows(from []*columns, rows []ref) {
	c.spread()
	c.rows += len(rows)
	for i, v := range c.vectors {
		if v != nil {
			v.take(from, i, rows)
		}
	}
}

// memory returns how many bytes are allocated for the chunk, without the dictionaries.
func (c *columns) memory() (size int) {
	for _, v := range c.vectors {
		size += v.memory()
	}
	return size
}

// encode appends the chunk with its dictionaries to dst.
func (c *columns) encode(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(c.rows))
	for _, v := range c.vectors {
		dst = v.encode(dst)
	}
	return dst
}

// decode reads what encode wrote into the chunk.
func (c *columns) decode(b []byte) error {
	c.reset()
	d := &decoder{rest: b}
	c.rows = d.count()
	for _, v := range c.vectors {
		v.decode(d)
	}
	if d.err == nil && len(d.rest) > 0 {
		d.err = errBlock
	}
	return d.err
}

// errBlock is the error of rows in a temporary file that are not those that were written.
var errBlock = errors.New("rows in a temporary file are damaged")

// A decoder reads what vectors encoded. Its error is sticky.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) count() int {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > 1<<40 {
		d.err, d.rest = errBlock, nil
		return 0
	}
	d.rest = d.rest[size:]
	return int(n)
}

// bytes returns the next n bytes.
func (d *decoder) bytes(n int) []byte {
	if n > len(d.rest) {
		d.err, d.rest = errBlock, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// A scalar is what values are made of.
type scalar interface {
	int16 | int32 | int64 | float64 | bool
}

// appendNumbers appends how many there are, and them.
func appendNumbers[T scalar](dst []byte, values []T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	dst, err := binary.Append(dst, binary.LittleEndian, values)
	if err != nil {
		panic(err) // numbers have a size
	}
	return dst
}

// readNumbers reads what appendNumbers wrote into the memory of dst.
func readNumbers[T scalar](d *decoder, dst []T) []T {
	n := d.count()
	b := d.bytes(n * binary.Size(*new(T)))
	if d.err != nil {
		return dst[:0]
	}
	dst = slices.Grow(dst[:0], n)[:n]
	if _, err := binary.Decode(b, binary.LittleEndian, dst); err != nil {
		d.err = err
	}
	return dst
}

// countNulls returns how many rows are not present.
func countNulls(present []int16) (n int) {
	for _, p := range present {
		n += 1 - int(p)
	}
	return n
}

// A lineVector is the column of lines.
type lineVector struct{ c *columns }

func (v lineVector) take(from []*columns, _ int, rows []ref) {
	for _, r := range rows {
		v.c.line = append(v.c.line, from[r.chunk].line[r.row])
	}
}

func (v lineVector) encode(dst []byte) []byte { return appendNumbers(dst, v.c.line) }
func (v lineVector) decode(d *decoder)        { v.c.line = readNumbers(d, v.c.line) }
func (v lineVector) memory() int              { return 8 * cap(v.c.line) }

// A valueVector is a column of values.
type valueVector[T scalar] struct{ *valueColumn[T] }

func (v valueVector[T]) take(from []*columns, at int, rows []ref) {
	for _, r := range rows {
		v.takeRow(from[r.chunk].vectors[at].(valueVector[T]).valueColumn, r.row)
	}
}

// takeRow appends a row of another column.
func (v *valueColumn[T]) takeRow(from *valueColumn[T], row uint32) {
	v.values = append(v.values, from.values[row])
	if len(from.present) > 0 {
		v.present = append(v.present, from.present[row])
		v.nulls += 1 - int(from.present[row])
	}
}

func (v valueVector[T]) encode(dst []byte) []byte {
	return appendNumbers(appendNumbers(dst, v.values), v.present)
}

func (v valueVector[T]) decode(d *decoder) {
	v.values, v.present = readNumbers(d, v.values), readNumbers(d, v.present)
	v.nulls = countNulls(v.present)
}

func (v valueVector[T]) memory() int { return binary.Size(*new(T))*cap(v.values) + 2*cap(v.present) }

// A textVector is a column of texts that are not numbered.
type textVector struct {
	*textColumn
	plain bool
}

// row returns the text of a row, empty for a null. The column has offsets.
func (t *textColumn) row(row uint32) []byte { return t.text[t.offsets[row]:t.offsets[row+1]] }

func (v textVector) take(from []*columns, at int, rows []ref) {
	for _, r := range rows {
		s := from[r.chunk].vectors[at].(textVector)
		text, present := s.row(r.row), s.present[r.row]
		if v.plain && present != 0 {
			v.text = binary.LittleEndian.AppendUint32(v.text, uint32(len(text)))
		}
		v.text = append(v.text, text...)
		v.present = append(v.present, present)
		v.nulls += 1 - int(present)
		if !v.plain {
			v.offsets = append(v.offsets, int32(len(v.text)))
		}
	}
}

func (v textVector) encode(dst []byte) []byte {
	dst = appendNumbers(appendNumbers(dst, v.offsets), v.present)
	dst = binary.AppendUvarint(dst, uint64(len(v.text)))
	return append(dst, v.text...)
}

func (v textVector) decode(d *decoder) {
	v.offsets, v.present = readNumbers(d, v.offsets), readNumbers(d, v.present)
	v.text = append(v.text[:0], d.bytes(d.count())...)
	v.nulls = countNulls(v.present)
}

func (v textVector) memory() int { return 4*cap(v.offsets) + 2*cap(v.present) + cap(v.text) }

// A dictVector is a column of indices, and the dictionary that they are of.
type dictVector struct {
	ids  *valueColumn[int32]
	dict *dictionary
}

func (v dictVector) take(from []*columns, at int, rows []ref) {
	for _, r := range rows {
		s := from[r.chunk].vectors[at].(dictVector)
		v.ids.takeRow(s.ids, r.row)
		if len(s.ids.present) == 0 || s.ids.present[r.row] != 0 {
			last := &v.ids.values[len(v.ids.values)-1]
			*last = s.dict.moveTo(v.dict, *last)
		}
	}
}

func (v dictVector) encode(dst []byte) []byte {
	dst = appendNumbers(dst, v.dict.offsets)
	dst = append(dst, v.dict.text...)
	return appendNumbers(appendNumbers(dst, v.ids.values), v.ids.present)
}

// decode leaves the dictionary without its table: texts can be had from it, but not found.
func (v dictVector) decode(d *decoder) {
	v.dict.moved = v.dict.moved[:0]
	v.dict.offsets = readNumbers(d, v.dict.offsets)
	if d.err != nil || len(v.dict.offsets) == 0 {
		d.err = errBlock
		return
	}
	v.dict.text = append(v.dict.text[:0], d.bytes(int(v.dict.offsets[len(v.dict.offsets)-1]))...)
	v.ids.values, v.ids.present = readNumbers(d, v.ids.values), readNumbers(d, v.ids.present)
	v.ids.nulls = countNulls(v.ids.present)
}

func (v dictVector) memory() int { return 4*cap(v.ids.values) + 2*cap(v.ids.present) }

// A move says which number a text of one dictionary has in another.
type move struct {
	age uint32 // of the other dictionary when it got it; 0 is never
	id  int32
}

// moveTo returns the number in another dictionary of the text with that number here. There must be no second other dictionary
// while the texts here are the same.
func (d *dictionary) moveTo(other *dictionary, id int32) int32 {
	if len(d.moved) < d.len() {
		d.moved = append(d.moved, make([]move, d.len()-len(d.moved))...)
	}
	m := &d.moved[id]
	if m.age != other.age {
		*m = move{other.age, other.add(d.at(id), 0)}
	}
	return m.id
}
