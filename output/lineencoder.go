package output

import "strconv"

// A lineEncoder makes the lines of chunks, one chunk after the other. It keeps its memory.
type lineEncoder struct {
	spare *columns // the chunk before, emptied; nil at first
	cells []cells  // by column of the table
	text  []byte   // the piece that is being made
	*linePacker

	before <-chan struct{} // gets a value when the chunks before are written
	after  chan<- struct{} // wants one when this chunk is
	turned bool            // it is this chunk's turn

	calendar calendar
	err      error // sticky
}

// cells are a column of a chunk. Of its values, only those of its kind are set.
type cells struct {
	lineColumn
	kind    kind
	present []int16 // nil if all are

	ids    []int32
	ints   []int64 // of times, too
	ints32 []int32
	floats []float64
	bools  []bool
	text   []byte
	offset []int32 // of text
}

// bind makes the cells those of a chunk.
func (e *lineEncoder) bind(all []lineColumn, picked []column, c *columns) {
	e.cells = e.cells[:0]
	for i, l := range all {
		var cell cells
		if k := i - len(picked); k < 0 {
			cell = c.cells(picked[i])
		} else {
			cell = c.kept[k].cells()
		}
		cell.lineColumn = l
		e.cells = append(e.cells, cell)
	}
	e.turned = false
}

// cells returns a column of the verdicts.
func (c *columns) cells(col column) cells {
	out := cells{kind: fields[col.base()].kind}
	switch col.base() {
	case colLine:
		out.ints = c.line
	case colURL, colCanonical:
		out.text, out.offset, out.present = c.texts[col].text, c.texts[col].offsets, c.texts[col].levels()
	case colAllowed, colViolation:
		v := c.bools(col)
		out.bools, out.present = v.values, v.levels()
	case colRuleLine:
		v := c.ruleLines(col)
		out.ints32, out.present = v.values, v.levels()
	default:
		ids := c.indices(col)
		out.ids, out.present = ids.values, ids.levels()
	}
	return out
}

// cells returns a kept column.
func (k *keptColumn) cells() cells {
	out := cells{kind: k.kind}
	switch k.kind {
	case kindText:
		out.text, out.offset, out.present = k.texts.text, k.texts.offsets, k.texts.levels()
	case kindFloat:
		out.floats, out.present = k.floats.values, k.floats.levels()
	case kindBool:
		out.bools, out.present = k.bools.values, k.bools.levels()
	default:
		out.ints, out.present = k.ints.values, k.ints.levels()
	}
	return out
}

// levels returns which values are present, nil if all are.
func (v *valueColumn[T]) levels() []int16 {
	if v.nulls == 0 {
		return nil
	}
	return v.present
}

// levels returns which texts are present, nil if all are.
func (t *textColumn) levels() []int16 {
	if t.nulls == 0 {
		return nil
	}
	return t.present
}

// encode makes and writes the lines of all rows of the chunk.
func (e *lineEncoder) encode(f *lineFile, rows int) {
	for row := range rows {
		e.appendRow(f.syntax, row)
		if len(e.text) >= f.piece {
			e.write(f.sink)
		}
	}
	e.write(f.sink)
}

// write writes the piece that was made, when the turn of the chunk comes.
func (e *lineEncoder) write(s *sink) {
	var packed []byte
	if e.err == nil && len(e.text) > 0 {
		packed, e.err = e.pack(e.text)
	}
	if !e.turned {
		<-e.before
		e.turned = true
	}
	if e.err == nil {
		_, e.err = s.Write(packed)
	}
	e.text = e.text[:0]
}

// appendRow appends a row to the piece.
func (e *lineEncoder) appendRow(s *syntax, row int) {
	dst := e.text
	for i := range e.cells {
		c := &e.cells[i]
		if c.present != nil && c.present[row] == 0 {
			dst = append(dst, c.null...)
			continue
		}
		switch c.kind {
		case kindDictionary:
			id := c.ids[row]
			dst = append(dst, c.dict[c.offsets[id]:c.offsets[id+1]]...)
		case kindBool:
			if c.bools[row] {
				dst = append(dst, c.yes...)
			} else {
				dst = append(dst, c.no...)
			}
		case kindInt64:
			dst = strconv.AppendInt(append(dst, c.lead...), c.ints[row], 10)
		case kindInt32:
			dst = strconv.AppendInt(append(dst, c.lead...), int64(c.ints32[row]), 10)
		case kindText:
			dst = s.text(append(dst, c.lead...), c.text[c.offset[row]:c.offset[row+1]])
		case kindTime:
			dst = s.time(&e.calendar, append(dst, c.lead...), c.ints[row])
		case kindFloat:
			dst = s.float(append(dst, c.lead...), c.floats[row])
		}
	}
	e.text = append(dst, s.end...)
}
