package container

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/parquet"
)

// lineChunk limits a chunk to some megabytes of text.
var lineChunk = columnar.Limits{Rows: 32 << 10, Bytes: 1 << 20}

const (
	// linePiece is the size, in bytes, at which text is written, as one frame or member if it is compressed. A chunk has
	// several pieces only if many of its lines repeat a rule of many kilobytes.
	linePiece = 8 << 20

	// lineDicts is the maximum size, in bytes, of the texts in the dictionaries before they start again. Their tables and
	// escaped copies take about five times as much memory.
	lineDicts = 4 << 20
)

// A LineFile writes rows as lines of text. Several chunks are encoded and compressed at the same time; each is written
// after the chunks before it. A text in a dictionary is escaped once, when it is first used, and rows copy the result.
type LineFile struct {
	sink     *Sink
	syntax   *fieldtext.Syntax
	packing  fieldtext.Packing
	columns  []lineColumn
	header   []byte    // the header row, until it is written
	begun    bool      // something was written
	formulas *Formulas // counts them; nil if they are not counted
	Dicts    int       // lineDicts, except in tests
	Piece    int       // linePiece, except in tests

	encoders pool[*lineEncoder]
	ready    chan struct{} // gets a value when the next chunk may be written
}

// A lineColumn has the texts that rows of a column share. Each begins with the lead: the separator and, in JSON, the
// key.
type lineColumn struct {
	lead, null, yes, no []byte

	dict    []byte // escaped values of the dictionary: append-only, because encoders read it concurrently
	offsets []int  // value i is dict[offsets[i]:offsets[i+1]]

	formulas [][]byte // for each value, its text if it is a formula; nil before the first formula
}

// Write escapes new texts of the dictionaries, and starts to encode a chunk. With several workers, an error appears
// when its encoder is used again, or in Close.
func (f *LineFile) Write(c *columnar.Chunk) (*columnar.Chunk, error) {
	for i, d := range c.Names.Dicts {
		if d == nil {
			continue
		}
		l := &f.columns[i]
		for id := len(l.offsets) - 1; id < d.Len(); id++ { // the new texts
			text := d.At(int32(id))
			if f.formulas != nil && fieldtext.IsFormula(text) {
				l.formulas = append(append(l.formulas, make([][]byte, id-len(l.formulas))...), bytes.Clone(text))
			} else if l.formulas != nil {
				l.formulas = append(l.formulas, nil)
			}
			l.dict = f.syntax.Text(append(l.dict, l.lead...), text)
			l.offsets = append(l.offsets, len(l.dict))
		}
	}
	w, err := f.encoders.takeWorker()
	if err != nil {
		return nil, err
	}
	defer f.encoders.giveBack(w)
	if w.encoder.err != nil {
		return nil, w.encoder.err
	}
	e := w.encoder
	e.columns = e.columns[:0]
	for i, col := range c.Columns {
		e.columns = append(e.columns, lineCells{f.columns[i], col.Cells()})
	}
	e.begun, e.formulas = false, Formulas{}
	e.text = append(e.text[:0], f.header...)
	f.header, f.begun = nil, true
	e.counts = f.formulas != nil
	after := make(chan struct{}, 1)
	e.before, e.after, f.ready = f.ready, after, after
	if c.Names.Size() >= f.Dicts {
		// Start again with empty dictionaries. Encoders may still read the old texts.
		c.Names.Reset()
		for i := range f.columns {
			f.columns[i].dict, f.columns[i].offsets, f.columns[i].formulas = nil, []int{0}, nil
		}
	}
	next := f.encoders.run(w, c, func() { e.encode(f, c.Rows) })
	if f.encoders.workers > 1 {
		return next, nil
	}
	return next, e.err
}

// Close waits for the chunks being written. If there are no rows, it writes the header, in a frame or member if the
// file is compressed.
func (f *LineFile) Close(*columnar.Chunk, Metadata) error {
	err := f.wait()
	if err != nil || f.begun {
		return err
	}
	packed, err := fieldtext.NewPacker(f.packing).Pack(f.header)
	if err != nil {
		return err
	}
	_, err = f.sink.Write(packed)
	return err
}

// wait waits for all encoders, and returns one of their errors.
func (f *LineFile) wait() (err error) {
	failed := f.encoders.wait(func(e *lineEncoder) {
		if err == nil {
			err = e.err
		}
	})
	return cmp.Or(failed, err)
}

// Abort waits for the chunks being written.
func (f *LineFile) Abort() { f.wait() } //nolint:errcheck // the output is dropped

// A lineEncoder formats the lines of one chunk after the other, and reuses its memory.
type lineEncoder struct {
	columns []lineCells // by column of the table
	text    []byte      // the current piece
	*fieldtext.Packer

	before <-chan struct{} // gets a value when the previous chunk is written
	after  chan<- struct{} // gets a value when this chunk is written
	begun  bool            // the previous chunk is written

	calendar fieldtext.Calendar
	counts   bool     // count formulas
	formulas Formulas // of the chunk
	err      error    // sticky
}

// lineCells are a column of a chunk, and the texts that its rows share.
type lineCells struct {
	lineColumn
	columnar.Cells
}

// encode formats and writes the lines of a chunk, and adds their formulas to f. Then the next chunk may be written.
func (e *lineEncoder) encode(f *LineFile, rows int) {
	defer func() { // even after a panic, because the next chunk waits
		if !e.begun {
			<-e.before
		}
		e.after <- struct{}{}
	}()
	for row := range rows {
		s := f.syntax
		dst := e.text
		for i := range e.columns {
			c := &e.columns[i]
			if c.Present != nil && c.Present[row] == 0 {
				dst = append(dst, c.null...)
				continue
			}
			switch c.Kind {
			case parquet.Dictionary:
				id := c.IDs[row]
				dst = append(dst, c.dict[c.offsets[id]:c.offsets[id+1]]...)
				if c.formulas != nil && c.formulas[id] != nil {
					e.formulas.See(c.formulas[id])
				}
			case parquet.Bool:
				if c.Bools[row] {
					dst = append(dst, c.yes...)
				} else {
					dst = append(dst, c.no...)
				}
			case parquet.Int64:
				dst = strconv.AppendInt(append(dst, c.lead...), c.Ints[row], 10)
			case parquet.Int32:
				dst = strconv.AppendInt(append(dst, c.lead...), int64(c.IDs[row]), 10)
			case parquet.Text:
				text := c.Text[c.Offset[row]:c.Offset[row+1]]
				dst = s.Text(append(dst, c.lead...), text)
				if e.counts && fieldtext.IsFormula(text) {
					e.formulas.See(text)
				}
			case parquet.Time:
				dst = s.Time(&e.calendar, append(dst, c.lead...), c.Ints[row])
			case parquet.Double:
				dst = s.Float(append(dst, c.lead...), c.Floats[row])
			}
		}
		e.text = append(dst, s.End...)
		if len(e.text) >= f.Piece {
			e.write(f.sink)
		}
	}
	e.write(f.sink)
	if e.counts {
		f.formulas.Add(e.formulas) // no other encoder does so now: it is this chunk's turn
	}
}

// write compresses the piece and writes it, after the previous chunk. After an error it drops the piece, but still
// waits for the previous chunk.
func (e *lineEncoder) write(s *Sink) {
	var packed []byte
	if e.err == nil && len(e.text) > 0 {
		packed, e.err = e.Pack(e.text)
	}
	if !e.begun {
		<-e.before
		e.begun = true
	}
	if e.err == nil {
		_, e.err = s.Write(packed)
	}
	e.text = e.text[:0]
}
