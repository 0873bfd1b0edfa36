package parquet

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// A Type is the type of a column's values.
type Type uint8

// The types.
const (
	Int64 Type = iota
	Int32
	Bool
	Text       // UTF-8 that rarely repeats
	Dictionary // UTF-8 that repeats: a row group stores each text once
	Time       // microseconds since 1970 in UTC, as int64
	Double
)

// A Field describes a column.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	Delta    bool // Int64 in DELTA_BINARY_PACKED, for small steps; Text in DELTA_BYTE_ARRAY, if it pays
}

// node returns the field as the library describes it.
func (f Field) node() schema.Node {
	rep := parquet.Repetitions.Required
	if f.Nullable {
		rep = parquet.Repetitions.Optional
	}
	types := [...]struct {
		physical parquet.Type
		logical  schema.LogicalType
	}{
		Int64: {parquet.Types.Int64, nil}, Int32: {parquet.Types.Int32, nil}, Bool: {parquet.Types.Boolean, nil},
		Text: {parquet.Types.ByteArray, schema.StringLogicalType{}}, Dictionary: {parquet.Types.ByteArray, schema.StringLogicalType{}},
		Time:   {parquet.Types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros)},
		Double: {parquet.Types.Double, nil},
	}
	t := types[f.Type]
	if t.logical == nil {
		return schema.MustPrimitive(schema.NewPrimitiveNode(f.Name, rep, t.physical, -1, 0))
	}
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(f.Name, rep, t.logical, t.physical, 0, -1))
}

// Values are a column of some rows: one value a row, or one a streak of equal rows.
type Values[T any] struct {
	All     []T     // a null has any value
	Present []int16 // by value: 1, or 0 for null; empty unless the field is nullable
	Nulls   int     // rows that are null
	Streaks []int32 // by value: its rows, at least 1; nil means one row for each value
}

// Spread makes one value a row of one value a streak.
func (v *Values[T]) Spread() {
	if v.Streaks == nil {
		return
	}
	v.All, v.Present = spread(v.All, v.Streaks), spread(v.Present, v.Streaks)
	v.Streaks = nil
}

// spread repeats each value, in place and from the end, so that no value moves before it is read.
func spread[T any](values []T, rows []int32) []T {
	if len(values) == 0 {
		return values
	}
	end := 0
	for _, n := range rows {
		end += int(n)
	}
	values = slices.Grow(values, end-len(values))[:end]
	for i := len(rows) - 1; i >= 0 && end > i; i-- {
		value, start := values[i], end-int(rows[i])
		for row := start; row < end; row++ {
			values[row] = value
		}
		end = start
	}
	return values
}

// Texts are the texts of some rows.
type Texts struct {
	Bytes   []byte  // each text that is not null, after its length in four bytes: Parquet's PLAIN
	Present []int16 // as of Values
	Nulls   int
}

// A TextList is the texts of a dictionary, by number.
type TextList interface {
	Len() int
	At(i int32) []byte // valid until the list changes
}

// ordinal returns the number of a row group. Row groups beyond the type's range share the last
// number: only readers of encrypted files look at it.
func ordinal(group int) int16 { return int16(min(group, math.MaxInt16)) }
