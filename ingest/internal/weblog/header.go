package weblog

import (
	"bytes"
	"fmt"
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

// noClient returns the error of a header without a field for the client's address: the one that was named, or
// any that is known.
func noClient(named string, have []string) error {
	if named != "" {
		return noField(named, have)
	}
	return fmt.Errorf("%w: there are %s", ErrNoClients, listed(have))
}

// at returns field i, nil if there is none.
func at(fields [][]byte, i int) []byte {
	if i < 0 || i >= len(fields) {
		return nil
	}
	return fields[i]
}

// cutFields splits a line at sep and appends its fields to dst.
func cutFields(dst [][]byte, line []byte, sep byte) [][]byte {
	for {
		i := bytes.IndexByte(line, sep)
		if i < 0 {
			return append(dst, line)
		}
		dst = append(dst, line[:i:i])
		line = line[i+1:]
	}
}
