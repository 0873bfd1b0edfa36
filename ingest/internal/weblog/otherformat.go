package weblog

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// ShapeOf returns whether a line that a parser of a format has refused has the shape of that format all the same, as
// records of JSON that tell of no request, and if not, whether it is a request in another one.
func ShapeOf(line []byte, own Format) (isOwn, isOther bool) {
	var its *format
	if i := slices.IndexFunc(formats, func(f *format) bool { return f.name == own }); i >= 0 {
		if its = formats[i]; (its.line != nil || its.sure > 0) && its.isLine(line, allSigns) {
			return true, false
		}
	}
	signs := signsOf(line)
	return false, own != W3C && own != CloudFront && isW3CRequest(line) || slices.ContainsFunc(formats, func(f *format) bool {
		return f != its && f.isLine(line, signs) && (f.name != JSON || hasURL(line))
	})
}

// isW3CRequest reports whether a line has a date and a time, and later a method beside a path, or beside a host and a path
// as CloudFront writes them. Other programs write such times, too.
func isW3CRequest(line []byte) bool {
	if !hasShape(line, w3cMoment) {
		return false
	}
	fields := bytes.Fields(line[len(w3cMoment):])
	if len(fields) > 0 && fields[0][0] == '+' { // a zone, which no row of W3C has
		return false
	}
	for i, field := range fields {
		if !isMethod(field) {
			continue
		}
		if path := slices.IndexFunc(fields[i+1:], func(f []byte) bool { return f[0] == '/' }); path == 0 || path == 1 {
			return true
		}
	}
	return false
}

// isMethod reports whether a field is the method of a request that logs have.
func isMethod(field []byte) bool {
	return slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, string(field))
}

// hasURL reports whether an object of JSON has a field that is known for the URL.
func hasURL(line []byte) bool {
	has := false
	return flatten(line, func(name string, _ []byte) { has = has || isURLName(name) }) && has
}

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
