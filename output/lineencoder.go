package output

import (
	"strconv"

	"github.com/robobatch/robobatch/output/parquet"
)

// A lineEncoder makes the lines of chunks, one chunk after the other. It keeps its memory.
type lineEncoder struct {
	cells []cells // by column of the table
	text  []byte  // the piece that is being made
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
	kind    parquet.Type
	present []int16 // nil if all are

	ids    []int32 // of texts of the dictionary, or integers of 32 bits
	ints   []int64 // of times, too
	floats []float64
	bools  []bool
	text   []byte
	offset []int32 // of text
}

// bind makes the cells those of a chunk.
func (e *lineEncoder) bind(all []lineColumn, c *chunk) {
	e.cells = e.cells[:0]
	for i, col := range c.columns {
		cells := col.cells()
		cells.lineColumn = all[i]
		e.cells = append(e.cells, cells)
	}
	e.turned = false
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
	e.after <- struct{}{}
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
		case parquet.Dictionary:
			id := c.ids[row]
			dst = append(dst, c.dict[c.offsets[id]:c.offsets[id+1]]...)
		case parquet.Bool:
			if c.bools[row] {
				dst = append(dst, c.yes...)
			} else {
				dst = append(dst, c.no...)
			}
		case parquet.Int64:
			dst = strconv.AppendInt(append(dst, c.lead...), c.ints[row], 10)
		case parquet.Int32:
			dst = strconv.AppendInt(append(dst, c.lead...), int64(c.ids[row]), 10)
		case parquet.Text:
			dst = s.text(append(dst, c.lead...), c.text[c.offset[row]:c.offset[row+1]])
		case parquet.Time:
			dst = s.time(&e.calendar, append(dst, c.lead...), c.ints[row])
		case parquet.Double:
			dst = s.float(append(dst, c.lead...), c.floats[row])
		}
	}
	e.text = append(dst, s.end...)
}
