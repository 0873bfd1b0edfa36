package output

import (
	"io"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/parquet"
)

// A CellTable writes rows, cell by cell, to a stream of bytes in any format. It is for small tables without
// verdicts. It is not safe for concurrent use.
type CellTable struct {
	fields   []parquet.Field
	rows     cellRows
	sink     *container.Sink
	formulas Formulas
}

// A CellColumn is a column of a CellTable whose rows are values of type T.
type CellColumn[T any] struct {
	parquet.Field
	Cell func(r *T) parquet.Cell
}

// CellOf returns a column of that name and type. cell returns its value for a row, in the field of [parquet.Cell] for
// the type.
func CellOf[T any](name string, t parquet.Type, nullable bool, cell func(r *T) parquet.Cell) CellColumn[T] {
	return CellColumn[T]{parquet.Field{Name: name, Type: t, Nullable: nullable}, cell}
}

// CellFields returns the schema field of each column.
func CellFields[T any](columns []CellColumn[T]) []parquet.Field {
	fields := make([]parquet.Field, len(columns))
	for i := range columns {
		fields[i] = columns[i].Field
	}
	return fields
}

// AppendCells appends the cells of a row to dst.
func AppendCells[T any](dst []parquet.Cell, columns []CellColumn[T], r *T) []parquet.Cell {
	for i := range columns {
		dst = append(dst, columns[i].Cell(r))
	}
	return dst
}

// CellOptions configure a CellTable. The zero value writes Parquet.
type CellOptions struct {
	Format   Format
	CSV      CSVForm     // for CSV and TSV
	Terminal bool        // escape control characters in text formats
	Version  string      // of the program, for the metadata
	Metadata [][2]string // keys and values; ignored in text formats
}

// cellRows writes the rows of a CellTable in one format. addRow does not keep row.
type cellRows interface {
	addRow(row []parquet.Cell) error
	close() error
}

// NewCellTable begins a table with these columns, which is written to w. It ignores opt.CSV and opt.Terminal in
// formats that do not have them. The error is ErrFormat, or comes from w.
func NewCellTable(w io.Writer, fields []parquet.Field, opt CellOptions) (t *CellTable, err error) {
	if err := (container.Options{Format: opt.Format}).CheckFormat(); err != nil {
		return nil, err
	}
	if opt.Terminal && !opt.Format.HasMetadata() {
		w = fieldtext.NewVisible(w)
	}
	t = &CellTable{fields: fields, sink: container.NewSink(w)}
	keys, values := []string{KeyVersion}, []string{fieldtext.Valid(opt.Version)}
	for _, pair := range opt.Metadata {
		keys, values = append(keys, pair[0]), append(values, fieldtext.Valid(pair[1]))
	}
	switch opt.Format {
	case Parquet:
		table, err := parquet.NewTable(t.sink, fields, parquet.Options{CreatedBy: "robobatch version " + values[0], Codec: parquet.Zstd, Level: 1})
		t.rows = &parquetCells{table, keys, values}
		return t, err
	case ArrowFile, ArrowStream:
		columns := make([]arrow.Field, len(fields))
		for i, f := range fields {
			columns[i] = arrow.Field{Name: f.Name, Type: arrowTypes[f.Type], Nullable: f.Nullable}
		}
		md := arrow.NewMetadata(keys, values)
		schema := arrow.NewSchema(columns, &md)
		a := &arrowCells{builder: array.NewRecordBuilder(memory.DefaultAllocator, schema)}
		if t.rows = a; opt.Format == ArrowStream {
			a.writer = ipc.NewWriter(t.sink, ipc.WithSchema(schema))
			return t, nil
		}
		a.writer, err = ipc.NewFileWriter(t.sink, ipc.WithSchema(schema))
		return t, err
	default:
		spec := &container.Specs[opt.Format]
		syntax, head := opt.CSV.Begin(opt.Format)
		l := &lineCells{t: t, syntax: syntax, text: []byte(head), packer: fieldtext.NewPacker(spec.Packing), counts: spec.Syntax != &fieldtext.JSON && !opt.CSV.Safe}
		if syntax.Header {
			for i, f := range fields {
				l.text = syntax.Text(syntax.Lead(l.text, i, f.Name), []byte(f.Name))
			}
			l.text = append(l.text, syntax.End...)
		}
		t.rows = l
		return t, nil
	}
}

// Add adds a row, with one cell per column. It does not keep row, but changes it: bytes that are not valid UTF-8
// become %XX.
func (t *CellTable) Add(row []parquet.Cell) error {
	for i := range row {
		if t.fields[i].Type == parquet.Text || t.fields[i].Type == parquet.Dictionary {
			row[i].Text = fieldtext.Valid(row[i].Text)
		}
	}
	return t.rows.addRow(row)
}

// Close writes the buffered rows and the end of the table. It does not close the stream.
func (t *CellTable) Close() error {
	err := t.rows.close()
	if errFlush := t.sink.Flush(); err == nil {
		err = errFlush
	}
	return err
}

// Formulas returns the number of cells that spreadsheets would run as formulas, with examples. It is empty except for
// CSV and TSV without CSVForm.Safe.
func (t *CellTable) Formulas() Formulas { return t.formulas }

// parquetCells writes a Parquet file.
type parquetCells struct {
	table        *parquet.Table
	keys, values []string // metadata
}

func (p *parquetCells) addRow(row []parquet.Cell) error { return p.table.Add(row) }
func (p *parquetCells) close() error                    { return p.table.Close(p.keys, p.values) }

const (
	cellBatch = 8192    // rows per Arrow record batch
	cellPiece = 1 << 20 // bytes of lines that are written, or compressed, together
)

// arrowCells writes an Arrow file or stream.
type arrowCells struct {
	builder *array.RecordBuilder
	writer  interface {
		Write(arrow.Record) error
		Close() error
	}
	rows int // in the builder
}

// arrowTypes maps the types of columns to Arrow types.
var arrowTypes = [...]arrow.DataType{
	parquet.Int64: arrow.PrimitiveTypes.Int64, parquet.Int32: arrow.PrimitiveTypes.Int32, parquet.Bool: arrow.FixedWidthTypes.Boolean,
	parquet.Text: arrow.BinaryTypes.String, parquet.Dictionary: arrow.BinaryTypes.String, parquet.Time: arrow.FixedWidthTypes.Timestamp_us,
	parquet.Double: arrow.PrimitiveTypes.Float64,
}

// addRow adds a row to the record batch, and writes the batch when it is full.
func (a *arrowCells) addRow(row []parquet.Cell) error {
	for i, cell := range row {
		to := a.builder.Field(i)
		if cell.Null {
			to.AppendNull()
			continue
		}
		switch to := to.(type) {
		case *array.Int64Builder:
			to.Append(cell.Int)
		case *array.Int32Builder:
			to.Append(int32(cell.Int))
		case *array.BooleanBuilder:
			to.Append(cell.Int != 0)
		case *array.StringBuilder:
			to.Append(cell.Text)
		case *array.TimestampBuilder:
			to.Append(arrow.Timestamp(cell.Int))
		case *array.Float64Builder:
			to.Append(cell.Float)
		}
	}
	if a.rows++; a.rows < cellBatch {
		return nil
	}
	return a.flush()
}

// flush writes the rows as a record batch.
func (a *arrowCells) flush() error {
	record := a.builder.NewRecord()
	defer record.Release()
	a.rows = 0
	return a.writer.Write(record)
}

func (a *arrowCells) close() error {
	if err := a.flush(); err != nil {
		return err
	}
	return a.writer.Close()
}

// lineCells writes lines of text.
type lineCells struct {
	t        *CellTable
	syntax   *fieldtext.Syntax
	packer   *fieldtext.Packer
	text     []byte // lines that are not written yet
	begun    bool   // a piece was written
	calendar fieldtext.Calendar
	counts   bool // count formulas
}

// addRow adds a line, and counts its formulas. It writes the piece once it has cellPiece bytes.
func (l *lineCells) addRow(row []parquet.Cell) error {
	for i := range row {
		l.text = l.syntax.Lead(l.text, i, l.t.fields[i].Name)
		kind := l.t.fields[i].Type
		cell := &row[i]
		switch {
		case cell.Null:
			l.text = append(l.text, l.syntax.Null...)
		case kind == parquet.Text || kind == parquet.Dictionary:
			if l.counts && fieldtext.IsFormula([]byte(cell.Text)) {
				l.t.formulas.See([]byte(cell.Text))
			}
			l.text = l.syntax.Text(l.text, []byte(cell.Text))
		case kind == parquet.Bool && cell.Int != 0:
			l.text = append(l.text, "true"...)
		case kind == parquet.Bool:
			l.text = append(l.text, "false"...)
		case kind == parquet.Time:
			l.text = l.syntax.Time(&l.calendar, l.text, cell.Int)
		case kind == parquet.Double:
			l.text = l.syntax.Float(l.text, cell.Float)
		default:
			l.text = strconv.AppendInt(l.text, cell.Int, 10)
		}
	}
	l.text = append(l.text, l.syntax.End...)
	if len(l.text) < cellPiece {
		return nil
	}
	return l.flush()
}

// flush compresses the lines as a piece, and writes it, even if there are none.
func (l *lineCells) flush() error {
	packed, err := l.packer.Pack(l.text)
	if err == nil {
		_, err = l.t.sink.Write(packed)
	}
	l.text, l.begun = l.text[:0], true
	return err
}

// close writes the last piece. A file without rows gets one empty piece, so that a compressed file is valid.
func (l *lineCells) close() error {
	if l.begun && len(l.text) == 0 {
		return nil
	}
	return l.flush()
}
