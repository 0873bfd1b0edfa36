package ingest

import (
	"errors"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/parquetfile"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/internal/storage"
)

// mostProbed is the number of columns that are searched for a role without a column of a known name.
const mostProbed = 256

// A parquetLog reads the rows of a Parquet file. It reads the requested columns, and holds a page of each.
type parquetLog struct {
	file    storage.File
	size    int64 // of file
	reader  *parquetfile.File
	records *weblog.Records
	choice  weblog.Choice
	columns []parquetField // those that are needed
	fields  [][]byte       // of a row, by column of the file

	group int   // the next row group
	end   int   // the row group to end before
	left  int64 // rows of the one before it that were not read
	row   int64 // rows read
	total int64 // rows of all row groups
}

// openParquet opens a file that begins as a Parquet file does.
func openParquet(in *Input, fields Fields, part Part) (p *parquetLog, err error) {
	f, err := storage.Of(in.Name).Open(in.Name)
	if err != nil {
		return nil, err
	}
	p = &parquetLog{file: f, size: in.Size}
	if err := p.start(fields); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.pass(part)
	return p, nil
}

// A parquetField reads fields of a file, row by row.
type parquetField interface {
	// open starts a row group.
	open(group int) error
	// read sets its fields to the next row's.
	read(fields [][]byte) error
	// Unverified reports whether a page has no checksum.
	Unverified() bool
}

// start reads the footer and finds the columns.
func (p *parquetLog) start(fields Fields) (err error) {
	if p.reader, err = parquetfile.Open(p.file, p.size); err != nil {
		return parquetFault(err)
	}
	p.end = p.reader.Groups()
	for group := range p.end {
		p.total += p.reader.Rows(group)
	}
	schema := p.reader.Schema()
	header := make([]string, schema.NumColumns())
	for i := range header {
		header[i] = schema.Column(i).ColumnPath().String()
	}
	columns := len(header)
	header, lists := addPairs(header, p.reader, fields)
	p.fields = make([][]byte, len(header))
	use := func(needed []int) error {
		p.columns = nil
		seen := make([]bool, len(header))
		for _, i := range needed {
			if i < columns && !seen[i] {
				c, err := newParquetColumn(p.reader, i)
				if err != nil {
					return err
				}
				p.columns = append(p.columns, c)
			}
			seen[i] = true
		}
		for _, list := range lists {
			if slices.Contains(seen[list.from:list.from+len(list.keys)], true) {
				list.start(p.reader)
				p.columns = append(p.columns, list)
			}
		}
		return nil
	}
	isList := func(i int) bool { return i < columns && schema.Column(i).MaxRepetitionLevel() > 0 }
	known := weblog.Candidates(header, fields)
	if err := use(slices.DeleteFunc(slices.Clone(known), isList)); err != nil {
		return err
	}
	rows := p.firstRows()
	if p.records, p.choice, err = weblog.NewRecords(header, rows, fields); err != nil {
		return err
	}
	if p.records.Lacks() { // what another column may hold: one that cannot be read has nothing to say
		for i := range min(columns, mostProbed) {
			if slices.Contains(known, i) || isList(i) || use([]int{i}) != nil {
				continue
			}
			for k, row := range p.firstRows() {
				if k < len(rows) {
					rows[k][i] = row[i]
				}
			}
		}
		if p.records, p.choice, err = weblog.NewRecords(header, rows, fields); err != nil {
			return err
		}
	}
	return use(p.records.Needed())
}

// firstRows returns the first rows of the columns that are read, up to a fault, even if that is in an unneeded column.
func (p *parquetLog) firstRows() (rows [][][]byte) {
	defer func() {
		clear(p.fields)
		p.group, p.left = 0, 0
	}()
	for p.left == 0 && !p.done() {
		if p.nextGroup() != nil {
			return nil
		}
	}
	for range min(weblog.DetectLines, p.left) {
		for _, c := range p.columns {
			if c.read(p.fields) != nil {
				return rows
			}
		}
		row := make([][]byte, len(p.fields))
		for i, value := range p.fields {
			row[i] = append([]byte{}, value...)
		}
		rows = append(rows, row)
	}
	return rows
}

// done reports whether all rows were read.
func (p *parquetLog) done() bool { return p.left == 0 && p.group >= p.end }

// at returns where a fault is: in the next row.
func (p *parquetLog) at() where { return where{line: p.row + 1} }

// packed returns the share of the file that the rows read are of, since the columns lie far apart in it.
func (p *parquetLog) packed() int64 {
	if p.done() {
		return p.size
	}
	return int64(float64(p.size) * float64(p.row) / float64(p.total))
}

// unverified returns the first row of those before a fault whose pages may be damaged, too: all of
// them count if a page has no checksum.
func (p *parquetLog) unverified() int64 {
	if p.row > 0 && p.isBare() {
		return 1
	}
	return 0
}

// isBare reports whether a page of the opened row groups has no checksum.
func (p *parquetLog) isBare() bool {
	return slices.ContainsFunc(p.columns, func(c parquetField) bool { return c.Unverified() })
}

func (p *parquetLog) format() Format { return weblog.Parquet }
func (p *parquetLog) close() error   { return p.file.Close() }

// fill adds at most that many rows to b. It returns why it stopped before the end.
func (p *parquetLog) fill(r *rowReader, b *engine.Batch, rows, _ int) error {
	for p.left == 0 && !p.done() {
		if err := p.nextGroup(); err != nil {
			return err
		}
	}
	for range min(int64(rows), p.left) {
		if err := p.addRow(r, b); err != nil {
			return err
		}
	}
	return nil
}

// addRow adds the next row.
func (p *parquetLog) addRow(r *rowReader, b *engine.Batch) (err error) {
	for _, c := range p.columns {
		if err = c.read(p.fields); err != nil {
			return err
		}
	}
	p.left--
	p.row++
	result := p.records.Row(p.fields, &r.row)
	if result == weblog.Failed {
		return p.records.Err()
	}
	return r.addResult(nil, result, r.row.Target, where{line: p.row}, b)
}

// nextGroup opens the columns of the next row group.
func (p *parquetLog) nextGroup() error {
	rows := p.reader.Rows(p.group)
	for i := 0; i < len(p.columns) && rows > 0; i++ {
		if err := p.columns[i].open(p.group); err != nil {
			return err
		}
	}
	p.left = rows
	p.group++
	return nil
}
