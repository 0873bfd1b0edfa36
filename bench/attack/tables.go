//go:build unix

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// foreignParquet returns the URLs of a base as the library for Arrow writes them: in row groups,
// without checksums of pages.
func foreignParquet(b *base, codec compress.Compression) ([]byte, error) {
	url, err := schema.NewPrimitiveNodeLogical("url", parquet.Repetitions.Optional, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)
	if err != nil {
		return nil, err
	}
	status := schema.NewInt32Node("status", parquet.Repetitions.Required, -1)
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{status, url}, -1)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(parquet.WithCompression(codec), parquet.WithDataPageSize(2048))))
	for rows := b.rows; len(rows) > 0; {
		n := min(len(rows), 500)
		if err := writeGroup(w.AppendRowGroup(), rows[:n]); err != nil {
			return nil, err
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeGroup writes a row group.
func writeGroup(g file.SerialRowGroupWriter, rows []row) error {
	statuses, urls, defined := make([]int32, len(rows)), make([]parquet.ByteArray, len(rows)), make([]int16, len(rows))
	for i, r := range rows {
		statuses[i], urls[i], defined[i] = 200, parquet.ByteArray(r.URL), 1
	}
	c, err := g.NextColumn()
	if err != nil {
		return err
	}
	if _, err := c.(*file.Int32ColumnChunkWriter).WriteBatch(statuses, nil, nil); err != nil {
		return err
	}
	if c, err = g.NextColumn(); err != nil {
		return err
	}
	if _, err := c.(*file.ByteArrayColumnChunkWriter).WriteBatch(urls, defined, nil); err != nil {
		return err
	}
	return g.Close()
}

// ownParquet returns the rows of a base as the command writes them.
func (a *attack) ownParquet(b *base) ([]byte, error) {
	var text []byte
	for _, r := range b.rows {
		text = append(append(text, r.URL...), '\n')
	}
	out, res := a.run(text, "-quiet", "-rules", "rules", "-in", "-", "-out", "-", "-out-format", "parquet", "-row-group", "1000")
	if res.code != 0 {
		return nil, errors.New(res.stderr)
	}
	return out, nil
}

// readParquet reads the column url as obviously as the library can. It is the slow reader of
// Parquet: rows it takes without a fault are the rows of the damaged file.
func readParquet(data []byte) (rows []row, err error) {
	defer func() {
		if r := recover(); r != nil { // the library has no error for some of the damage
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	column := f.MetaData().Schema.ColumnIndexByName("url")
	if column < 0 {
		return nil, errors.New("no column url")
	}
	for g := range f.NumRowGroups() {
		group := f.RowGroup(g)
		chunk, err := group.Column(column)
		if err != nil {
			return nil, err
		}
		c, ok := chunk.(*file.ByteArrayColumnChunkReader)
		if !ok {
			return nil, errors.New("url is no text")
		}
		n := int(group.NumRows())
		if n > len(data)*100 {
			return nil, errors.New("more rows than there can be")
		}
		values, defined := make([]parquet.ByteArray, n), make([]int16, n)
		for read := 0; read < n; {
			total, count, err := c.ReadBatch(int64(n-read), values, defined, nil)
			if err != nil || total == 0 {
				return nil, fmt.Errorf("%d rows of %d: %w", read, n, cmp.Or(err, io.ErrUnexpectedEOF))
			}
			for _, v := range values[:count] {
				rows = append(rows, row{Line: int64(len(rows) + 1), URL: written(v)})
			}
			read += int(total)
		}
	}
	return rows, nil
}

// parquetTarget returns the target of Parquet files that write makes.
func (a *attack) parquetTarget(name string, write func(b *base) ([]byte, error), checked bool) target {
	return target{
		name: name,
		bases: func(r *rand.Rand) (bases []*base, err error) {
			for _, rows := range []int{600, 60, 2500} {
				b := a.newBase(r, rows, false)
				if b.data, err = write(b); err != nil {
					return nil, err
				}
				bases = append(bases, b)
			}
			return bases, nil
		},
		try: func(r *rand.Rand, b *base, _ *mutation, data []byte) (*result, judgement, string) {
			res := a.runOnLog(r, &textFormat{name: "parquet"}, ".parquet", data)
			j, reason := a.judgeParquet(b, data, &res, checked)
			return &res, j, reason
		},
	}
}

// judgeParquet judges the rows of a Parquet file that was damaged. checked is whether its pages have
// checksums, so that all damage to them shows.
func (a *attack) judgeParquet(b *base, data []byte, res *result, checked bool) (judgement, string) {
	untrue := -1
	for i, got := range res.rows {
		if !b.has(got) || res.code == 0 && got.Allowed == nil || got.Allowed != nil && got.Line != int64(i+1) {
			untrue = i
			break
		}
	}
	switch {
	case untrue >= 0 && res.code != 0:
		if j, _ := excused(res, res.rows[untrue].Line, false, ""); j == refused {
			return refused, ""
		}
	case res.code != 0:
		return refused, ""
	case untrue < 0 && len(res.rows) == len(b.rows):
		return whole, ""
	case res.warned() || res.stats.refused() > 0:
		return warned, ""
	}
	reason := fmt.Sprintf("%d rows, want %d", len(res.rows), len(b.rows))
	if untrue >= 0 {
		reason = res.rows[untrue].String() + " is no row of the file"
	}
	if checked || res.code != 0 {
		return wrong, reason
	}
	read, err := a.slowly("parquet", data)
	if err != nil || len(read) != len(res.rows) {
		return wrong, fmt.Sprintf("%s; the slow reader has %d, and says: %v", reason, len(read), err)
	}
	for i, got := range res.rows {
		if got.URL != strings.Trim(read[i].URL, " \t") {
			return wrong, fmt.Sprintf("%v, and the slow reader has %v", got, read[i])
		}
	}
	return unseen, ""
}

// arrowTarget returns the target of streams to robobatch pipe.
func (a *attack) arrowTarget() target {
	return target{
		name: "arrow stream to pipe",
		bases: func(r *rand.Rand) (bases []*base, err error) {
			for _, rows := range []int{100, 30, 1200} {
				b := a.newBase(r, rows, false)
				if b.data, err = arrowStream(b); err != nil {
					return nil, err
				}
				bases = append(bases, b)
			}
			return bases, nil
		},
		try: func(r *rand.Rand, b *base, _ *mutation, data []byte) (*result, judgement, string) {
			out, res := a.runAny(r, data, "pipe", "-rules", "rules", "-columns", "allowed,rule_line", "-quiet")
			j, reason := a.judgeArrow(b, data, out, &res)
			return &res, j, reason
		},
	}
}

// arrowStream returns the URLs of a base as a stream of a few batches.
func arrowStream(b *base) ([]byte, error) {
	fields := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "url", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(fields))
	for rows := b.rows; len(rows) > 0; {
		n := min(len(rows), 25+len(b.rows)/5)
		builder := array.NewRecordBuilder(memory.DefaultAllocator, fields)
		for _, r := range rows[:n] {
			builder.Field(0).(*array.Int64Builder).Append(r.Line)
			builder.Field(1).(*array.StringBuilder).Append(r.URL)
		}
		if err := w.Write(builder.NewRecord()); err != nil {
			return nil, err
		}
		rows = rows[n:]
	}
	return out.Bytes(), w.Close()
}

// readArrow reads the URLs of a stream, and the verdicts if it has them. The rows before a fault are
// returned with it.
func readArrow(data []byte) (rows []row, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for r.Next() {
		rec := r.Record()
		column := func(name string) arrow.Array {
			if at := rec.Schema().FieldIndices(name); len(at) > 0 {
				return rec.Column(at[0])
			}
			return nil
		}
		urls, ok := column("url").(*array.String)
		if !ok {
			return rows, errors.New("no column url of text")
		}
		allowed, _ := column("allowed").(*array.Boolean)
		lines, _ := column("rule_line").(*array.Int32)
		for i := range int(rec.NumRows()) {
			r := row{Line: int64(len(rows) + 1)}
			if urls.IsValid(i) {
				r.URL = written([]byte(urls.Value(i)))
			}
			if allowed != nil && allowed.IsValid(i) {
				r.Allowed = new(bool)
				*r.Allowed = allowed.Value(i)
			}
			if lines != nil && lines.IsValid(i) {
				r.Rule = new(int64)
				*r.Rule = int64(lines.Value(i))
			}
			rows = append(rows, r)
		}
	}
	return rows, r.Err()
}

// judgeArrow judges the stream that comes out for a stream that was damaged. A stream has no
// checksums: the rows must fit its bytes.
func (a *attack) judgeArrow(b *base, data, out []byte, res *result) (judgement, string) {
	var got, in []row
	var outErr, inErr error
	if len(out) > 0 {
		got, outErr = a.slowly("arrow", out)
	}
	if res.code == 0 || len(got) > 0 {
		in, inErr = a.slowly("arrow", data)
	}
	for i, r := range got {
		if want := a.oracle.decide(r.Line, []byte(r.URL)); !same(want, r) && r.Allowed != nil {
			return wrong, fmt.Sprintf("%v, want %v", r, want)
		}
		if i < len(in) && in[i].URL != r.URL {
			return wrong, fmt.Sprintf("%v, and the stream has %q", r, in[i].URL)
		}
	}
	switch {
	case res.code != 0:
		return refused, ""
	case outErr != nil && inErr == nil:
		return wrong, fmt.Sprintf("the stream that comes out cannot be read: %v", outErr)
	case len(got) != len(in) && inErr == nil:
		return wrong, fmt.Sprintf("%d rows, want %d", len(got), len(in))
	}
	for i, r := range got {
		if len(got) != len(b.rows) || !same(b.rows[i], r) {
			return unseen, ""
		}
	}
	return whole, ""
}
