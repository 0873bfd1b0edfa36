package container

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/parquet"
)

// lineChunk limits a chunk that is encoded at once: some megabytes of text.
var lineChunk = columnar.Limits{Rows: 32 << 10, Bytes: 1 << 20}

const (
	// linePiece is how much text is written, or compressed to a frame or member, before a chunk
	// goes on. Only rules of many kilobytes, which lines repeat, make a chunk of several pieces.
	linePiece = 8 << 20

	// lineDicts is how much text the dictionaries hold before they start again. Escaped, in tables,
	// and grown by doubling that is five times as much memory.
	lineDicts = 4 << 20
)

// A LineFile writes rows as lines of text. Chunks are encoded, and compressed, several at once;
// each waits until those before it are written. A text of a dictionary is escaped once, when it is
// first used; rows copy it.
type LineFile struct {
	sink     *Sink
	syntax   *fieldtext.Syntax
	packing  fieldtext.Packing
	columns  []lineColumn
	header   []byte    // the part that is not written yet
	begun    bool      // something was written
	formulas *Formulas // counts them; nil if they are not counted
	Dicts    int       // as lineDicts
	Piece    int       // as linePiece

	encoders pool[*lineEncoder]
	ready    chan struct{} // of the next chunk: gets a value when those before are written
}

// A lineColumn is a column as all its rows have it. In the texts the lead of the column comes
// first.
type lineColumn struct {
	lead, null, yes, no []byte

	dict    []byte // values of its dictionary, end to end: they are only added to, so that encoders can read on
	offsets []int  // value i is dict[offsets[i]:offsets[i+1]]

	formulas [][]byte // by value, the text of one that is a formula; nil before the first of them
}

// Write has a chunk encoded and written.
func (f *LineFile) Write(c *columnar.Chunk) (*columnar.Chunk, error) {
	for i, d := range c.Names.Dicts {
		if d != nil {
			if f.formulas != nil {
				f.columns[i].findFormulas(d)
			}
			f.columns[i].escape(d, f.syntax)
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
	// Give a chunk to an encoder.
	e := w.encoder
	// Make the cells the cells of a chunk.
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
		// Empty all dictionaries. Texts that encoders still read stay as they are.
		c.Names.Reset()
		for i := range f.columns {
			f.columns[i].dict, f.columns[i].offsets, f.columns[i].formulas = nil, []int{0}, nil
		}
	}
	next := f.encoders.run(w, c, func() { w.encoder.encode(f, c.Rows) })
	if f.encoders.workers > 1 {
		return next, nil // an error appears when the encoder is used again, or at the end
	}
	return next, w.encoder.err
}

// escape adds the dictionary's new texts.
func (l *lineColumn) escape(d *columnar.Dictionary, s *fieldtext.Syntax) {
	for i := len(l.offsets) - 1; i < d.Len(); i++ {
		l.dict = s.Text(append(l.dict, l.lead...), d.At(int32(i)))
		l.offsets = append(l.offsets, len(l.dict))
	}
}

// findFormulas looks for formulas in the dictionary's new texts.
func (l *lineColumn) findFormulas(d *columnar.Dictionary) {
	for i := len(l.offsets) - 1; i < d.Len(); i++ {
		text := d.At(int32(i))
		switch {
		case fieldtext.IsFormula(text):
			l.formulas = append(append(l.formulas, make([][]byte, i-len(l.formulas))...), bytes.Clone(text))
		case l.formulas != nil:
			l.formulas = append(l.formulas, nil)
		}
	}
}

// Close waits for the chunks being written. A file without rows has its header, and its frame.
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

// wait waits for all encoders, and returns an error of theirs.
func (f *LineFile) wait() (err error) {
	failed := f.encoders.wait(func(e *lineEncoder) {
		if err == nil {
			err = e.err
		}
	})
	return cmp.Or(failed, err)
}

// Abort waits for the chunks being written.
func (f *LineFile) Abort() { f.wait() } //nolint:errcheck // nobody is left to report it to

// A lineEncoder makes the lines of chunks, one chunk after the other. It keeps its memory.
type lineEncoder struct {
	columns []lineCells // by column of the table
	text    []byte      // the piece that is being made
	*fieldtext.Packer

	before <-chan struct{} // gets a value when the chunks before are written
	after  chan<- struct{} // wants one when this chunk is
	begun  bool            // the chunks before are written

	calendar fieldtext.Calendar
	counts   bool     // formulas are counted
	formulas Formulas // of the chunk
	err      error    // sticky
}

// lineCells are a column of a chunk, and the text around its lines.
type lineCells struct {
	lineColumn
	columnar.Cells
}

// encode makes and writes the lines of all rows of the chunk.
func (e *lineEncoder) encode(f *LineFile, rows int) {
	defer func() { // also if it panics: the chunks behind it wait
		if !e.begun {
			<-e.before
		}
		e.after <- struct{}{}
	}()
	for row := range rows {
		// Append a row to the piece.
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
		f.formulas.Add(e.formulas) // it is this chunk's turn
	}
}

// write writes the piece that was made, when the chunks before are written.
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
