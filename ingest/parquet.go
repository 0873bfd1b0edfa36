package ingest

import (
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A parquetLog reads the rows of a Parquet file. It reads the columns that are asked for, and holds
// some pages of each.
type parquetLog struct {
	file    *os.File
	size    int64 // of file
	reader  *file.Reader
	records *weblog.Records
	columns []*parquetColumn // those that are needed
	fields  [][]byte         // of a row, by column of the file

	group int   // the next row group
	left  int64 // rows of the one before it that were not read
	row   int64 // rows read
}

// openParquet opens a file that begins as a Parquet file does.
func openParquet(in *Input, fields Fields) (p *parquetLog, err error) {
	f, err := os.Open(in.Name)
	if err != nil {
		return nil, err
	}
	p = &parquetLog{file: f, size: in.Size}
	if err := guarded(func() error { return p.start(fields) }); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

// guarded calls do and returns its error, or its panic as an error: the library panics at some
// damaged files.
func guarded(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrParquet, r)
		}
	}()
	return do()
}

// start reads the footer and finds the columns.
func (p *parquetLog) start(fields Fields) (err error) {
	props := parquet.NewReaderProperties(nil)
	props.BufferedStreamEnabled = true
	if p.reader, err = file.NewParquetReader(p.file, file.WithReadProps(props)); err != nil {
		return fmt.Errorf("%w: %w", ErrParquet, err)
	}
	schema := p.reader.MetaData().Schema
	header := make([]string, schema.NumColumns())
	for i := range header {
		header[i] = schema.Column(i).ColumnPath().String()
	}
	if p.records, err = weblog.NewRecords(header, fields); err != nil {
		return err
	}
	p.fields = make([][]byte, len(header))
	seen := make([]bool, len(header))
	for _, i := range p.records.Needed() {
		if seen[i] {
			continue
		}
		seen[i] = true
		c, err := newParquetColumn(schema.Column(i), i)
		if err != nil {
			return err
		}
		p.columns = append(p.columns, c)
	}
	return nil
}

// done reports whether all rows were read.
func (p *parquetLog) done() bool { return p.left == 0 && p.group == p.reader.NumRowGroups() }

// at returns where a fault is: in the next row.
func (p *parquetLog) at() where { return where{line: p.row + 1} }

// packed returns 0 before the end, since the columns lie far apart in the file.
func (p *parquetLog) packed() int64 {
	if !p.done() {
		return 0
	}
	return p.size
}

func (*parquetLog) unverified() int64 { return 0 }

func (p *parquetLog) format() Format { return weblog.Parquet }
func (p *parquetLog) close() error   { return p.file.Close() }

// fill adds at most so many rows to b. It returns why it stopped before the end.
func (p *parquetLog) fill(r *rowReader, b *engine.Batch, rows, _ int) error {
	for p.left == 0 && !p.done() {
		if err := guarded(p.nextGroup); err != nil {
			return err
		}
	}
	n := int(min(int64(rows), p.left))
	for _, c := range p.columns {
		if err := guarded(func() error { return c.read(n) }); err != nil {
			return err
		}
	}
	p.left -= int64(n)
	for i := range n {
		if err := p.addRow(r, b, i); err != nil {
			return err
		}
	}
	return nil
}

// addRow adds row i of those that were read.
func (p *parquetLog) addRow(r *rowReader, b *engine.Batch, i int) error {
	for _, c := range p.columns {
		p.fields[c.index] = c.text(i)
	}
	p.row++
	result := p.records.Row(p.fields, &r.row)
	if result == weblog.Failed {
		return p.records.Err()
	}
	return r.take(nil, result, r.row.Target, where{line: p.row}, b)
}

// nextGroup opens the columns of the next row group.
func (p *parquetLog) nextGroup() error {
	group := p.reader.RowGroup(p.group)
	p.group++
	p.left = group.NumRows()
	for _, c := range p.columns {
		chunk, err := group.Column(c.index)
		if err != nil {
			return fmt.Errorf("%w: column %s: %w", ErrParquet, c.name, err)
		}
		c.open(chunk)
	}
	return nil
}
