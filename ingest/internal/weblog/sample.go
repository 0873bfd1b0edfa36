package weblog

import "strings"

// A sample is the first rows of a table, behind its header. An empty one contradicts nothing.
type sample [][][]byte

// column returns the first column of a header that has one of the names of a field, and whose values
// do not contradict that; the first with such a name if all do, and -1 if none has one. So the column
// "Status" of a crawl, which says "OK", does not hide its "Status Code".
func (s sample) column(h header, field string, names []string) int {
	named := -1
	for _, name := range names {
		for i, have := range h {
			if !strings.EqualFold(have, name) {
				continue
			}
			if s.allows(field, i) {
				return i
			}
			if named < 0 {
				named = i
			}
		}
	}
	return named
}

// allows reports whether most values of a column may be a field's. Empty values do not count.
func (s sample) allows(field string, column int) bool {
	fits := valuesOf[field]
	if fits == nil {
		return true
	}
	all, fit := 0, 0
	for _, row := range s {
		value := trimBlank(at(row, column))
		if len(value) == 0 || string(value) == "-" {
			continue
		}
		if all++; fits(value) {
			fit++
		}
	}
	return all == 0 || 2*fit > all
}

// valuesOf say of a value whether it may be one of a field. Fields that it does not have may hold
// anything.
var valuesOf = map[string]func(value []byte) bool{
	NameStatus: isStatus,
	NameTime:   isMoment,
	NameAgent:  hasLetter,
}

// isStatus reports whether a value is a status: three digits, or 0 where there was no answer.
func isStatus(value []byte) bool {
	return len(value) == 3 && number(value) >= 100 || string(value) == "0" || string(value) == "000"
}

// firstMoment is 1990-01-01, in microseconds: before that there were no logs, and a small number is
// how long something took.
const firstMoment = 631152000e6

// isMoment reports whether a value is a time.
func isMoment(value []byte) bool { return ParseTime(value) >= firstMoment }

// hasLetter reports whether a value has a letter, as all User-Agents have.
func hasLetter(value []byte) bool {
	for _, b := range value {
		if 'a' <= b|0x20 && b|0x20 <= 'z' {
			return true
		}
	}
	return false
}
