package weblog

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// A header is the names of the fields of a log, in their order.
type header []string

// placesIn returns where each name is in a record of the same names in any order, and in any case. It is nil if the
// record has others.
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

// cutFields splits a line at sep and appends its fields to dst. It looks at eight bytes at once, since most fields are short.
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

// marksOf returns the highest bit of each of the first eight bytes of a text that is c.
func marksOf(text []byte, c byte) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	x := binary.LittleEndian.Uint64(text) ^ lowBits*uint64(c)
	return ^((x&low + low) | x | low)
}
