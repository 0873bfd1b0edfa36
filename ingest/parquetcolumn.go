package ingest

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A parquetColumn reads a column as texts: numbers in decimal, times as in 2026-01-31T18:00:00Z.
type parquetColumn struct {
	name   string
	index  int
	maxDef int16
	unit   time.Duration // of a number that is a moment since 1970; 0 if it is none

	next func(rows int64) (levels, values int, err error) // reads into defs and pieces
	defs []int16
	data []byte
	ends []int   // where the value ends in data, by value
	of   []int32 // value of each row, -1 for a null
}

// newParquetColumn returns a column of the file. Lists and decimals are an ErrNoField.
func newParquetColumn(col *schema.Column, index int) (*parquetColumn, error) {
	c := &parquetColumn{name: col.Path(), index: index, maxDef: col.MaxDefinitionLevel()}
	_, decimal := col.LogicalType().(schema.DecimalLogicalType)
	if col.MaxRepetitionLevel() > 0 || decimal {
		return nil, fmt.Errorf("%w: %q is a list or a decimal, which is not read", weblog.ErrNoField, c.name)
	}
	switch t := col.LogicalType().(type) {
	case schema.DateLogicalType:
		c.unit = 24 * time.Hour
	case schema.TimestampLogicalType:
		c.unit = map[schema.TimeUnitType]time.Duration{
			schema.TimeUnitMillis: time.Millisecond, schema.TimeUnitMicros: time.Microsecond, schema.TimeUnitNanos: time.Nanosecond,
		}[t.TimeUnit()]
	}
	return c, nil
}

// text returns the value of a row, nil for a null. It is valid until the next call of read.
func (c *parquetColumn) text(row int) []byte {
	v := c.of[row]
	if v < 0 {
		return nil
	}
	begin := 0
	if v > 0 {
		begin = c.ends[v-1]
	}
	return c.data[begin:c.ends[v]:c.ends[v]]
}

// open begins the column of a row group.
func (c *parquetColumn) open(chunk file.ColumnChunkReader) {
	switch chunk := chunk.(type) {
	case *file.ByteArrayColumnChunkReader:
		c.next = reader(c, chunk.ReadBatch, func(v parquet.ByteArray) { c.data = append(c.data, v...) })
	case *file.FixedLenByteArrayColumnChunkReader:
		c.next = reader(c, chunk.ReadBatch, func(v parquet.FixedLenByteArray) { c.data = append(c.data, v...) })
	case *file.Int32ColumnChunkReader:
		c.next = reader(c, chunk.ReadBatch, func(v int32) { c.addInt(int64(v)) })
	case *file.Int64ColumnChunkReader:
		c.next = reader(c, chunk.ReadBatch, c.addInt)
	case *file.Int96ColumnChunkReader:
		c.next = reader(c, chunk.ReadBatch, func(v parquet.Int96) { c.addTime(v.ToTime()) })
	case *file.Float32ColumnChunkReader:
		c.next = reader(c, chunk.ReadBatch, func(v float32) { c.data = strconv.AppendFloat(c.data, float64(v), 'g', -1, 32) })
	case *file.Float64ColumnChunkReader:
		c.next = reader(c, chunk.ReadBatch, func(v float64) { c.data = strconv.AppendFloat(c.data, v, 'g', -1, 64) })
	case *file.BooleanColumnChunkReader:
		c.next = reader(c, chunk.ReadBatch, func(v bool) { c.data = strconv.AppendBool(c.data, v) })
	}
}

// addInt adds a number, or the moment that it means.
func (c *parquetColumn) addInt(n int64) {
	switch c.unit {
	case 0:
		c.data = strconv.AppendInt(c.data, n, 10)
	case 24 * time.Hour:
		c.addTime(time.Unix(n*24*3600, 0))
	case time.Millisecond:
		c.addTime(time.UnixMilli(n))
	case time.Microsecond:
		c.addTime(time.UnixMicro(n))
	default:
		c.addTime(time.Unix(0, n))
	}
}

func (c *parquetColumn) addTime(t time.Time) {
	c.data = t.UTC().AppendFormat(c.data, time.RFC3339Nano)
}

// reader returns a function that reads rows of a column chunk and adds their values. Texts of the
// library are valid until the next call.
func reader[T any](c *parquetColumn, read func(int64, []T, []int16, []int16) (int64, int, error), add func(T)) func(int64) (int, int, error) {
	var values []T
	return func(rows int64) (levels, n int, err error) {
		if int64(len(values)) < rows {
			values = make([]T, rows)
			c.defs = make([]int16, rows)
		}
		total, n, err := read(rows, values[:rows], c.defs[:rows], nil)
		for _, v := range values[:n] {
			add(v)
			c.ends = append(c.ends, len(c.data))
		}
		return int(total), n, err
	}
}

// read reads the next rows.
func (c *parquetColumn) read(rows int) error {
	c.data, c.ends, c.of = c.data[:0], c.ends[:0], c.of[:0]
	for len(c.of) < rows {
		value := int32(len(c.ends))
		levels, _, err := c.next(int64(rows - len(c.of)))
		if err == nil && levels == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("%w: column %s: %w", ErrParquet, c.name, err)
		}
		for _, def := range c.defs[:levels] {
			if c.maxDef > 0 && def < c.maxDef {
				c.of = append(c.of, -1)
				continue
			}
			c.of = append(c.of, value)
			value++
		}
		if int(value) != len(c.ends) {
			return fmt.Errorf("%w: column %s: %d values, want %d", ErrParquet, c.name, len(c.ends), value)
		}
	}
	return nil
}
