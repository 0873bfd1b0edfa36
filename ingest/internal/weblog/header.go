package weblog

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// A header holds the names of the fields of a log, in order.
type header []string

// placesIn returns the index of each name in a record with the same names in any order, ignoring case. It is nil if the
// record has other names.
func (h header) placesIn(record [][]byte) []int {
	if len(record) != len(h) {
		return nil
	}
	places := make([]int, 0, len(h))
	for _, name := range h {
		for i, have := range record {
			have = bytes.TrimSpace(bytes.TrimPrefix(have, []byte(byteOrderMark)))
			if strings.EqualFold(string(have), name) && !slices.Contains(places, i) {
				places = append(places, i)
				break
			}
		}
	}
	if len(places) < len(h) {
		return nil
	}
	return places
}

// at returns field i, nil if there is none.
func at(fields [][]byte, i int) []byte {
	if i < 0 || i >= len(fields) {
		return nil
	}
	return fields[i]
}

// cutFields splits a line at sep and appends its fields to dst. It tests eight bytes at once, because most fields are
// short.
func cutFields(dst [][]byte, line []byte, sep byte) [][]byte {
	begin, at := 0, 0
	for ; at+8 <= len(line); at += 8 {
		for marks := marksOf(line[at:], sep); marks != 0; marks &= marks - 1 {
			end := at + bits.TrailingZeros64(marks)/8
			dst = append(dst, line[begin:end:end])
			begin = end + 1
		}
	}
	for ; at < len(line); at++ {
		if line[at] == sep {
			dst = append(dst, line[begin:at:at])
			begin = at + 1
		}
	}
	return append(dst, line[begin:])
}

// marksOf sets the highest bit of each of the first eight bytes of a text that equals c.
func marksOf(text []byte, c byte) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	x := binary.LittleEndian.Uint64(text) ^ lowBits*uint64(c)
	return ^((x&low + low) | x | low)
}
