package repcase

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A tally counts the actions on the rows of each file, and how many there are of whose
// peculiarity.
type tally struct {
	columns []string
	files   []string
	counts  map[[2]string]int // by file and column
	remarks map[string]int    // rows by the remark on them
}

func newTally(columns ...string) *tally {
	return &tally{columns: columns, counts: map[[2]string]int{}, remarks: map[string]int{}}
}

// in returns the function that counts one more in a column of the file, which is the next of the table.
func (s *tally) in(file string) func(column string) {
	s.files = append(s.files, file)
	return func(column string) { s.counts[[2]string{file, column}]++ }
}

// String returns the table with its sums, and the remarks.
func (s *tally) String() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%12s file\n", s.columns)
	for _, file := range append(s.files, "total") {
		counts := make([]int, len(s.columns))
		for i, column := range s.columns {
			counts[i] = s.counts[[2]string{file, column}]
			s.counts[[2]string{"total", column}] += counts[i]
		}
		fmt.Fprintf(&sb, "%12d %s\n", counts, file)
	}
	for _, why := range slices.Sorted(maps.Keys(s.remarks)) {
		fmt.Fprintf(&sb, "%3d rows %s\n", s.remarks[why], why)
	}
	return sb.String()
}
