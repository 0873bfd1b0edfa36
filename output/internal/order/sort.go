package order

import (
	"bytes"

	"github.com/robobatch/robobatch/output/internal/columnar"
)

// A keyColumn is a column that rows are ordered by. Nulls come last.
type keyColumn interface {
	// KeyText returns the value of a row, and false for a null.
	KeyText(row uint32) ([]byte, bool)
	// KeyID returns a number that is the same for the same value of chunks that share their
	// dictionaries; -1 for a null.
	KeyID(row uint32) int32
	// KeyRanks returns the place of the value of each number in their order.
	KeyRanks() []int32
}

// SortKeys are the columns that rows are ordered by, the first deciding most.
type SortKeys []int

// At returns key k of a chunk.
func (k SortKeys) At(c *columnar.Chunk, i int) keyColumn { return c.Columns[k[i]].(keyColumn) }

// compare compares a row with a row of another chunk.
func (k SortKeys) compare(a *columnar.Chunk, rowA uint32, b *columnar.Chunk, rowB uint32) int {
	for i := range k {
		textA, okA := k.At(a, i).KeyText(rowA)
		textB, okB := k.At(b, i).KeyText(rowB)
		switch {
		case okA != okB && okA:
			return -1
		case okA != okB:
			return 1
		}
		if c := bytes.Compare(textA, textB); c != 0 {
			return c
		}
	}
	return 0
}

// Values returns a copy of the values of a row; nil for a null.
func (k SortKeys) Values(c *columnar.Chunk, row uint32) [][]byte {
	values := make([][]byte, len(k))
	for i := range k {
		if text, ok := k.At(c, i).KeyText(row); ok {
			values[i] = append([]byte{}, text...) // not nil, even if empty
		}
	}
	return values
}

// Are reports whether a row has the values.
func (k SortKeys) Are(c *columnar.Chunk, row uint32, values [][]byte) bool {
	for i, have := range values {
		text, ok := k.At(c, i).KeyText(row)
		if ok != (have != nil) || !bytes.Equal(text, have) {
			return false
		}
	}
	return true
}

// CompareValues compares values as rows are put in order.
func CompareValues(a, b [][]byte) int {
	for i := range a {
		switch {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil:
			return 1
		case b[i] == nil:
			return -1
		default:
			if c := bytes.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
	}
	return 0
}

// same reports whether two rows of chunks that share their dictionaries have the same values.
func (k SortKeys) same(a *columnar.Chunk, rowA uint32, b *columnar.Chunk, rowB uint32) bool {
	for i := range k {
		if k.At(a, i).KeyID(rowA) != k.At(b, i).KeyID(rowB) {
			return false
		}
	}
	return true
}

// sort returns the rows of chunks that share their dictionaries in order; those that are equal stay
// as they are. It counts how many rows have each value, for one key after the other, so that the
// time is linear in the rows.
func (k SortKeys) sort(chunks []*columnar.Chunk) []columnar.Ref {
	total := 0
	for _, c := range chunks {
		total += c.Rows
	}
	rows, next := make([]columnar.Ref, 0, total), make([]columnar.Ref, total)
	for i, c := range chunks {
		for row := range c.Rows {
			rows = append(rows, columnar.Ref{Chunk: uint32(i), Row: uint32(row)})
		}
	}
	if total == 0 {
		return rows
	}
	for i := len(k) - 1; i >= 0; i-- {
		ranks := k.At(chunks[0], i).KeyRanks()
		rows, next = countingSort(rows, next, len(ranks)+1, func(r columnar.Ref) int32 {
			if id := k.At(chunks[r.Chunk], i).KeyID(r.Row); id >= 0 {
				return ranks[id]
			}
			return int32(len(ranks)) // nulls are last
		}), rows
	}
	return rows
}

// countingSort returns the rows by rank, below n, in the memory of to.
func countingSort(rows, to []columnar.Ref, n int, rank func(columnar.Ref) int32) []columnar.Ref {
	starts := make([]int, n+1)
	for _, r := range rows {
		starts[rank(r)+1]++
	}
	for i := range n {
		starts[i+1] += starts[i]
	}
	for _, r := range rows {
		at := &starts[rank(r)]
		to[*at] = r
		*at++
	}
	return to
}
