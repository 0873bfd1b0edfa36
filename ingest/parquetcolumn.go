package ingest

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/robobatch/robobatch/ingest/internal/parquetfile"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A parquetColumn reads a column as texts: numbers in decimal, times as in 2026-01-31T18:00:00Z.
type parquetColumn struct {
	*parquetfile.Column
	name  string
	index int
	typ   parquet.Type
	unit  time.Duration // of a number that is a moment since 1970; 0 if it is none
	text  []byte        // of the current number
}

// newParquetColumn returns a column of the file. Lists and decimals are an ErrNoField.
func newParquetColumn(f *parquetfile.File, index int) (*parquetColumn, error) {
	col := f.Schema().Column(index)
	c := &parquetColumn{name: col.Path(), index: index, typ: col.PhysicalType()}
	_, decimal := col.LogicalType().(*schema.DecimalLogicalType)
	if col.MaxRepetitionLevel() > 0 || decimal {
		return nil, fmt.Errorf("%w: %q is a list or a decimal, which is not read", weblog.ErrNoField, c.name)
	}
	switch t := col.LogicalType().(type) {
	case schema.DateLogicalType:
		c.unit = 24 * time.Hour
	case *schema.TimestampLogicalType:
		c.unit = map[schema.TimeUnitType]time.Duration{
			schema.TimeUnitMillis: time.Millisecond, schema.TimeUnitMicros: time.Microsecond, schema.TimeUnitNanos: time.Nanosecond,
		}[t.TimeUnit()]
	}
	c.Column = f.NewColumn(index)
	return c, nil
}

// next returns the next value, nil for a null. It is valid until the next call.
func (c *parquetColumn) next() ([]byte, error) {
	v, null, err := c.Next()
	if err != nil || null {
		return nil, c.fault(err)
	}
	switch c.typ {
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return v.Bytes, nil
	case parquet.Types.Float:
		c.text = strconv.AppendFloat(c.text[:0], v.Float, 'g', -1, 32)
	case parquet.Types.Double:
		c.text = strconv.AppendFloat(c.text[:0], v.Float, 'g', -1, 64)
	case parquet.Types.Boolean:
		c.text = strconv.AppendBool(c.text[:0], v.Int != 0)
	case parquet.Types.Int96:
		c.text = appendTime(c.text[:0], parquet.Int96(v.Bytes).ToTime())
	default:
		c.text = c.appendInt(c.text[:0], v.Int)
	}
	return c.text, nil
}

// fault returns an error of the column, if err is one.
func (c *parquetColumn) fault(err error) error {
	if err == nil {
		return nil
	}
	return parquetFault(fmt.Errorf("column %s: %w", c.name, err))
}

// parquetFault returns err as an ErrParquet, and says what to do about it.
func parquetFault(err error) error {
	if errors.Is(err, parquetfile.ErrUnsupported) {
		return fmt.Errorf("%w: %w: write it again with another program", ErrParquet, err)
	}
	return fmt.Errorf("%w: %w: copy or download the file again", ErrParquet, err)
}

// appendInt appends a number, or the moment that it means.
func (c *parquetColumn) appendInt(dst []byte, n int64) []byte {
	switch {
	case c.unit == 0:
		return strconv.AppendInt(dst, n, 10)
	case c.unit < time.Second:
		perSecond := int64(time.Second / c.unit)
		return appendTime(dst, time.Unix(n/perSecond, n%perSecond*int64(c.unit)))
	}
	return appendTime(dst, time.Unix(n*int64(c.unit/time.Second), 0))
}

func appendTime(dst []byte, t time.Time) []byte { return t.UTC().AppendFormat(dst, time.RFC3339Nano) }
