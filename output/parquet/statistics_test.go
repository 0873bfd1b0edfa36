package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// A textList is a TextList in memory.
type textList []string

func (t textList) Len() int          { return len(t) }
func (t textList) At(i int32) []byte { return []byte(t[i]) }

// TestFloatBounds tests values without an order: with a NaN there is no range, and a zero as a bound has the sign that
// includes both zeros.
func TestFloatBounds(t *testing.T) {
	bits := func(f float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)) }
	minusZero := math.Copysign(0, -1)
	for _, test := range []struct {
		values      []float64
		least, most []byte
	}{
		{[]float64{1, -2, 0.5}, bits(-2), bits(1)},
		{[]float64{0, 1}, bits(minusZero), bits(1)},
		{[]float64{minusZero, -1}, bits(-1), bits(0)},
		{[]float64{1, math.NaN()}, nil, nil},
		{[]float64{math.NaN(), 1}, nil, nil},
		{[]float64{math.Inf(1), math.Inf(-1)}, bits(math.Inf(-1)), bits(math.Inf(1))},
		{nil, nil, nil},
	} {
		var all statistics
		for i := range test.values { // as if each were a page
			var page statistics
			page.addFloats(test.values[i : i+1])
			all.merge(&page)
		}
		if e := all.encode(Double); !bytes.Equal(e.Min, test.least) || !bytes.Equal(e.Max, test.most) {
			t.Errorf("%v: %x to %x", test.values, e.Min, e.Max)
		}
	}
}

// TestLongBounds tests that a column with a text too long for statistics has no range, rather than a wrong one.
func TestLongBounds(t *testing.T) {
	long := strings.Repeat("x", maxBound+1)
	for _, texts := range [][]string{{"a", long}, {long, "z"}, {long}} {
		var plain []byte
		var list textList
		for _, text := range texts {
			plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(text))), text...)
			list = append(list, text)
		}
		var page, group, dict statistics
		new(textCutter).texts(nil, plain, false, &page)
		group.merge(&page)
		dict.addList(list)
		for _, s := range []statistics{group, dict} {
			if e := s.encode(Text); e.HasMin || e.HasMax {
				t.Errorf("texts of %d and more bytes have a range", maxBound)
			}
		}
	}
}
