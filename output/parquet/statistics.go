package parquet

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// maxBound is the longest text that statistics give as least or greatest, in bytes. Statistics must
// be exact, because some readers answer with them: a column with a longer one has no range.
const maxBound = 1 << 10

// statistics describe the values of a page, or of a column of a row group.
type statistics struct {
	nulls int64
	some  bool // there are values that are not null; one of the ranges below is filled
	none  bool // the range is unknown, or too long

	ints   [2]int64 // the least and the greatest; bools too
	floats [2]float64
	texts  [2][]byte
}

// merge adds the statistics of another page.
func (s *statistics) merge(o *statistics) {
	s.nulls += o.nulls
	s.none = s.none || o.none
	switch {
	case !o.some:
	case !s.some:
		s.some, s.ints, s.floats, s.texts = true, o.ints, o.floats, o.texts
	default:
		s.ints = [2]int64{min(s.ints[0], o.ints[0]), max(s.ints[1], o.ints[1])}
		s.floats = [2]float64{min(s.floats[0], o.floats[0]), max(s.floats[1], o.floats[1])}
		s.addText(o.texts[0])
		s.addText(o.texts[1])
	}
}

// addInts adds values that are not null.
func addInts[T int32 | int64](s *statistics, values []T) {
	if len(values) == 0 {
		return
	}
	least, most := values[0], values[0]
	for _, v := range values[1:] {
		least, most = min(least, v), max(most, v)
	}
	s.some, s.ints = true, [2]int64{int64(least), int64(most)}
}

// addInt adds a value that is not null; a bool is 0 or 1.
func (s *statistics) addInt(v int64) {
	if !s.some {
		s.some, s.ints = true, [2]int64{v, v}
	}
	s.ints = [2]int64{min(s.ints[0], v), max(s.ints[1], v)}
}

// addBools adds values that are not null.
func (s *statistics) addBools(values []bool) {
	for _, v := range values {
		n := int64(bit(v))
		if s.some && s.ints[n] != n {
			s.ints[n] = n
			return
		}
		s.addInt(n)
	}
}

// addFloats adds values that are not null. A NaN leaves the column without a range.
func (s *statistics) addFloats(values []float64) {
	for _, v := range values {
		if math.IsNaN(v) {
			s.none = true
			return
		}
		if !s.some {
			s.some, s.floats = true, [2]float64{v, v}
		}
		s.floats[0], s.floats[1] = min(s.floats[0], v), max(s.floats[1], v)
	}
}

// addText adds a text and keeps a reference to its memory.
func (s *statistics) addText(text []byte) {
	switch {
	case !s.some:
		s.some, s.texts = true, [2][]byte{text, text}
	case bytes.Compare(text, s.texts[0]) < 0:
		s.texts[0] = text
	case bytes.Compare(text, s.texts[1]) > 0:
		s.texts[1] = text
	}
}

// keepTexts copies the bounds, or drops them if they are too long.
func (s *statistics) keepTexts() {
	if len(s.texts[0]) > maxBound || len(s.texts[1]) > maxBound {
		s.none, s.texts = true, [2][]byte{}
	}
	for i, text := range s.texts {
		s.texts[i] = bytes.Clone(text)
	}
}

// addList adds all texts of a dictionary; each of them occurs. It keeps nothing of the list.
func (s *statistics) addList(texts TextList) {
	for i := range texts.Len() {
		s.addText(texts.At(int32(i)))
	}
	s.keepTexts()
}

// encode returns the number of nulls and the range.
func (s *statistics) encode(t Type) (e metadata.EncodedStatistics) {
	e.SetNullCount(s.nulls)
	if !s.some || s.none {
		return e
	}
	e.Signed = true
	var bounds [2][]byte
	for i := range bounds {
		switch t {
		case Int64, Time:
			bounds[i] = binary.LittleEndian.AppendUint64(nil, uint64(s.ints[i]))
		case Int32:
			bounds[i] = binary.LittleEndian.AppendUint32(nil, uint32(s.ints[i]))
		case Bool:
			bounds[i] = []byte{byte(s.ints[i])}
		case Double:
			f := s.floats[i]
			if f == 0 { // both zeros are in the range
				f = math.Copysign(0, float64(i)-0.5)
			}
			bounds[i] = binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
		case Text, Dictionary:
			e.Signed = false // compared by bytes: the format's older fields, compared as signed, stay empty
			bounds[i] = s.texts[i]
		}
	}
	e.SetMin(bounds[0])
	e.SetMax(bounds[1])
	return e
}
