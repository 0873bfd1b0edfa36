package ingest

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/parquetfile"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A parquetColumn reads a column as texts: numbers in decimal, times as in 2026-01-31T18:00:00Z.
type parquetColumn struct {
	*parquetfile.Column
	name  string
	index int
	typ   parquet.Type
	unit  time.Duration // unit of a number that is a time since 1970; 0 if it is not
	point int           // digits after the point of a decimal; -1 if it is not a decimal
	plus  bool          // the number is unsigned
	large bool          // it may be too large for an int
	inner bool          // it is a field of a structure
	text  []byte        // of the current number
}

// newParquetColumn returns a column of the file. Lists are an ErrNoField.
func newParquetColumn(f *parquetfile.File, index int) (*parquetColumn, error) {
	if col := f.Schema().Column(index); col.MaxRepetitionLevel() > 0 {
		return nil, fmt.Errorf("%w: %q is a list, which is not read", weblog.ErrNoField, col.Path())
	}
	return newParquetValues(f, index), nil
}

// newParquetValues returns a column of the file, which may be a list.
func newParquetValues(f *parquetfile.File, index int) *parquetColumn {
	col := f.Schema().Column(index)
	c := &parquetColumn{name: col.Path(), index: index, typ: col.PhysicalType(), point: -1, inner: len(col.ColumnPath()) > 1}
	switch t := col.LogicalType().(type) {
	case *schema.DecimalLogicalType:
		c.point = int(t.Scale())
	case *schema.IntLogicalType:
		c.plus = !t.IsSigned()
		c.large = c.plus && c.typ == parquet.Types.Int64 && !f.Small(index)
	case schema.DateLogicalType:
		c.unit = 24 * time.Hour
	case *schema.TimestampLogicalType:
		c.unit = map[schema.TimeUnitType]time.Duration{
			schema.TimeUnitMillis: time.Millisecond, schema.TimeUnitMicros: time.Microsecond, schema.TimeUnitNanos: time.Nanosecond,
		}[t.TimeUnit()]
	}
	c.Column = f.NewColumn(index)
	return c
}

// open starts a row group.
func (c *parquetColumn) open(group int) error { return c.fault(c.Open(group)) }

// read sets the field of the column to its next value.
func (c *parquetColumn) read(fields [][]byte) (err error) {
	fields[c.index], err = c.next()
	return err
}

// next returns the next value, nil for a null. It is valid until the next call.
func (c *parquetColumn) next() ([]byte, error) {
	v, null, err := c.Next()
	if err != nil || null {
		return nil, c.fault(err)
	}
	switch c.typ {
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		if c.point < 0 {
			return v.Bytes, nil
		}
		c.text = c.appendDecimal(c.text[:0], bigOf(v.Bytes))
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

// kind returns the kind that the column keeps: text where no kind is exact.
func (c *parquetColumn) kind() engine.KeptKind {
	switch c.typ {
	case parquet.Types.Float, parquet.Types.Double:
		return c.unless(engine.KeptFloat)
	case parquet.Types.Boolean:
		return c.unless(engine.KeptBool)
	case parquet.Types.Int96:
		return c.unless(engine.KeptTime)
	case parquet.Types.Int32, parquet.Types.Int64:
		if c.unit > 0 {
			return c.unless(engine.KeptTime)
		}
		if c.large {
			return engine.KeptText
		}
		return c.unless(engine.KeptInt)
	default:
		return engine.KeptText
	}
}

// unless returns the kind, or text for decimals and fields of structures.
func (c *parquetColumn) unless(kind engine.KeptKind) engine.KeptKind {
	if c.inner || c.point >= 0 {
		return engine.KeptText
	}
	return kind
}

// bigOf returns the number of bytes in two's complement, the greatest first.
func bigOf(bytes []byte) *big.Int {
	n := new(big.Int).SetBytes(bytes)
	if len(bytes) > 0 && bytes[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
	}
	return n
}

// appendDecimal appends a number of the unit after the point.
func (c *parquetColumn) appendDecimal(dst []byte, n *big.Int) []byte {
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	digits := new(big.Int).Abs(n).String()
	if zeros := c.point + 1 - len(digits); zeros > 0 {
		digits = strings.Repeat("0", zeros) + digits
	}
	dst = append(dst, digits[:len(digits)-c.point]...)
	if c.point > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-c.point:]...)
	}
	return dst
}

// fault returns an error of the column, if err is one.
func (c *parquetColumn) fault(err error) error {
	if err == nil {
		return nil
	}
	return parquetFault(fmt.Errorf("column %s: %w", c.name, err))
}

// parquetFault returns err as an ErrParquet, and gives advice.
func parquetFault(err error) error {
	if errors.Is(err, parquetfile.ErrUnsupported) {
		return fmt.Errorf("%w: %w: write it again with another program", ErrParquet, err)
	}
	return fmt.Errorf("%w: %w: copy or download the file again", ErrParquet, err)
}

// appendInt appends a number, or the moment that it means.
func (c *parquetColumn) appendInt(dst []byte, n int64) []byte {
	switch {
	case c.point >= 0:
		return c.appendDecimal(dst, big.NewInt(n))
	case c.plus && c.typ == parquet.Types.Int64:
		return strconv.AppendUint(dst, uint64(n), 10)
	case c.plus:
		return strconv.AppendUint(dst, uint64(uint32(n)), 10)
	case c.unit == 0:
		return strconv.AppendInt(dst, n, 10)
	case c.unit < time.Second:
		perSecond := int64(time.Second / c.unit)
		return appendTime(dst, time.Unix(n/perSecond, n%perSecond*int64(c.unit)))
	}
	return appendTime(dst, time.Unix(n*int64(c.unit/time.Second), 0))
}

func appendTime(dst []byte, t time.Time) []byte { return t.UTC().AppendFormat(dst, time.RFC3339Nano) }
