package output

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// maxBound is the longest text that is given as least or greatest of a column. Statistics must be exact, as some readers
// answer with them, so what is longer is not cut: that column has none.
const maxBound = 1 << 10

// columnStats are what a page, or a column of a row group, says of its values.
type columnStats struct {
	nulls int64
	some  bool // there are values that are not null, with a range, of which one of these is filled
	none  bool // the range is not known, or cannot be said

	ints   [2]int64 // the least and the greatest; bools too
	floats [2]float64
	texts  [2][]byte
}

// merge adds what another page says.
func (s *columnStats) merge(o columnStats) {
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

// addInts takes in values that are not null.
func addInts[T int32 | int64](s *columnStats, values []T) {
	if len(values) == 0 {
		return
	}
	least, most := values[0], values[0]
	for _, v := range values[1:] {
		least, most = min(least, v), max(most, v)
	}
	s.some, s.ints = true, [2]int64{int64(least), int64(most)}
}

// addBools takes in values that are not null.
func (s *columnStats) addBools(values []bool) {
	for _, v := range values {
		n := int64(0)
		if v {
			n = 1
		}
		if !s.some {
			s.some, s.ints = true, [2]int64{n, n}
		} else if s.ints[n] != n {
			s.ints[n] = n
			return
		}
	}
}

// addFloats takes in values that are not null. A NaN leaves the column without a range, and a zero counts as both.
func (s *columnStats) addFloats(values []float64) {
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

// addText takes in a text, of which it keeps the memory.
func (s *columnStats) addText(text []byte) {
	switch {
	case !s.some:
		s.some, s.texts = true, [2][]byte{text, text}
	case bytes.Compare(text, s.texts[0]) < 0:
		s.texts[0] = text
	case bytes.Compare(text, s.texts[1]) > 0:
		s.texts[1] = text
	}
}

// addPlain takes in texts in the encoding PLAIN, of which it keeps nothing.
func (s *columnStats) addPlain(plain []byte) {
	eachPlain(plain, s.addText)
	s.keepTexts()
}

// keepTexts copies the bounds, or drops them if they are too long.
func (s *columnStats) keepTexts() {
	if len(s.texts[0]) > maxBound || len(s.texts[1]) > maxBound {
		s.none, s.texts = true, [2][]byte{}
	}
	for i, text := range s.texts {
		s.texts[i] = bytes.Clone(text)
	}
}

// eachPlain calls yield for each text of the encoding PLAIN that is not that before it.
func eachPlain(plain []byte, yield func(text []byte)) {
	var last []byte
	for first := true; len(plain) > 0; first = false {
		end := 4 + int(binary.LittleEndian.Uint32(plain))
		text := plain[4:end]
		plain = plain[end:]
		if first || !bytes.Equal(text, last) {
			yield(text)
		}
		last = text
	}
}

// addDictionary takes in all texts of a dictionary, each of which occurs. It keeps nothing of it.
func (s *columnStats) addDictionary(d *dictionary) {
	for i := range d.len() {
		s.addText(d.at(int32(i)))
	}
	s.keepTexts()
}

// encode returns the number of nulls and the range.
func (s columnStats) encode(k kind) (e metadata.EncodedStatistics) {
	e.SetNullCount(s.nulls)
	if !s.some || s.none {
		return e
	}
	e.Signed = true
	var bounds [2][]byte
	for i := range bounds {
		switch k {
		case kindInt64, kindTime:
			bounds[i] = binary.LittleEndian.AppendUint64(nil, uint64(s.ints[i]))
		case kindInt32:
			bounds[i] = binary.LittleEndian.AppendUint32(nil, uint32(s.ints[i]))
		case kindBool:
			bounds[i] = []byte{byte(s.ints[i])}
		case kindFloat:
			f := s.floats[i]
			if f == 0 { // both zeros are in the range
				f = math.Copysign(0, float64(i)-0.5)
			}
			bounds[i] = binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
		case kindText, kindDictionary:
			e.Signed = false // texts are compared by their bytes: the older fields, which say otherwise, stay empty
			bounds[i] = s.texts[i]
		}
	}
	e.SetMin(bounds[0])
	e.SetMax(bounds[1])
	return e
}
