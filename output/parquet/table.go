package parquet

import "encoding/binary"

// A Cell is a value of a row. Its zero value is an empty text, 0 or false.
type Cell struct {
	Null bool
	Text string // of Text and Dictionary, in UTF-8
	Int  int64  // of the other types; a Bool is 0 or 1

	Float float64 // of Double
}

// The maximum size of a page and of a row group of a Table.
const (
	tablePageRows  = 8 << 10
	tablePageBytes = 1 << 20 // texts that are not in dictionaries
	tableRows      = 32 << 10
	tableBytes     = 32 << 20 // all texts
)

// A Table writes a file row by row. It is not safe for concurrent use.
type Table struct {
	out     *Writer
	encoder *Encoder
	fields  []Field
	columns []tableColumn
	texts   []TextList // dictionaries of the current row group, by column; nil for columns without one

	rows, bytes           int // of the current page; bytes count texts that are not in dictionaries
	groupRows, groupBytes int // of the current row group
}

// A tableColumn is a column of the current page. Only the values of its type are used.
type tableColumn struct {
	longs Values[int64]
	ints  Values[int32] // also indices into a dictionary
	bools Values[bool]
	reals Values[float64]
	texts Texts
	dict  *tableDict
}

// A tableDict is the dictionary of a column in the current row group.
type tableDict struct {
	ids  map[string]int32
	list []string
}

// Len returns the number of texts.
func (d *tableDict) Len() int { return len(d.list) }

// At returns text i.
func (d *tableDict) At(i int32) []byte { return []byte(d.list[i]) }

// NewTable begins a file with these columns. Like NewWriter, it panics if a [Type] or the [Codec] is invalid.
func NewTable(to Sink, fields []Field, opt Options) (*Table, error) {
	out, err := NewWriter(to, fields, opt)
	if err != nil {
		return nil, err
	}
	t := &Table{out: out, fields: fields, columns: make([]tableColumn, len(fields)), texts: make([]TextList, len(fields))}
	for i, f := range fields {
		if f.Type == Dictionary {
			t.columns[i].dict = &tableDict{ids: map[string]int32{}}
			t.texts[i] = t.columns[i].dict
		}
	}
	t.encoder, err = out.NewEncoder()
	return t, err
}

// Add adds a row, one cell for each column, and does not keep row. It encodes a page when it is full, and writes a
// full row group.
func (t *Table) Add(row []Cell) error {
	for i, cell := range row {
		c := &t.columns[i]
		present := int16(1)
		if cell.Null {
			present, cell = 0, Cell{Null: true}
		}
		switch t.fields[i].Type {
		case Text:
			if !cell.Null {
				c.texts.Bytes = append(binary.LittleEndian.AppendUint32(c.texts.Bytes, uint32(len(cell.Text))), cell.Text...)
				t.bytes += len(cell.Text)
			}
			c.texts.Present = append(c.texts.Present, present)
			c.texts.Nulls += 1 - int(present)
		case Dictionary:
			id, ok := c.dict.ids[cell.Text]
			if !ok && !cell.Null {
				id = int32(len(c.dict.list))
				c.dict.ids[cell.Text], c.dict.list = id, append(c.dict.list, cell.Text)
				t.groupBytes += len(cell.Text)
			}
			addCell(&c.ints, id, present)
		case Int64, Time:
			addCell(&c.longs, cell.Int, present)
		case Int32:
			addCell(&c.ints, int32(cell.Int), present)
		case Bool:
			addCell(&c.bools, cell.Int != 0, present)
		case Double:
			addCell(&c.reals, cell.Float, present)
		}
	}
	t.rows++
	if t.rows < tablePageRows && t.bytes < tablePageBytes {
		return nil
	}
	t.endPage()
	if t.groupRows >= tableRows || t.groupBytes >= tableBytes {
		return t.endGroup()
	}
	return nil
}

// addCell adds a value, or a null.
func addCell[T any](v *Values[T], value T, present int16) {
	v.All, v.Present = append(v.All, value), append(v.Present, present)
	v.Nulls += 1 - int(present)
}

// endPage encodes the rows so far as a page of each column, and empties the columns.
func (t *Table) endPage() {
	to := t.out.Begin(t.rows, t.texts)
	for i := range t.columns {
		c := &t.columns[i]
		switch t.fields[i].Type {
		case Text:
			t.encoder.Texts(to, i, &c.texts)
		case Dictionary:
			t.encoder.IDs(to, i, &c.ints)
		case Int64, Time:
			t.encoder.Int64s(to, i, &c.longs)
		case Int32:
			t.encoder.Int32s(to, i, &c.ints)
		case Bool:
			t.encoder.Bools(to, i, &c.bools)
		case Double:
			t.encoder.Doubles(to, i, &c.reals)
		}
		c.longs, c.ints, c.bools, c.reals = emptied(c.longs), emptied(c.ints), emptied(c.bools), emptied(c.reals)
		c.texts = Texts{Bytes: c.texts.Bytes[:0], Present: c.texts.Present[:0]}
	}
	t.groupRows += t.rows
	t.groupBytes += t.bytes
	t.rows, t.bytes = 0, 0
}

// emptied returns no values, in the memory of v.
func emptied[T any](v Values[T]) Values[T] {
	return Values[T]{All: v.All[:0], Present: v.Present[:0]}
}

// endGroup writes the pages so far as a row group, and empties the dictionaries.
func (t *Table) endGroup() error {
	err := t.out.EndGroup(t.texts)
	for i := range t.columns {
		if d := t.columns[i].dict; d != nil {
			clear(d.ids)
			d.list = d.list[:0]
		}
	}
	t.groupRows, t.groupBytes = 0, 0
	return err
}

// Close writes the last rows, and the footer with this metadata. It does not close the Sink.
func (t *Table) Close(keys, values []string) error {
	if t.rows > 0 {
		t.endPage()
	}
	if err := t.endGroup(); err != nil {
		return err
	}
	return t.out.Close(keys, values)
}
