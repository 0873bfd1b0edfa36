package output

import (
	"bytes"
	"slices"
)

// A keyColumn is a column that rows are ordered by. Nulls come last.
type keyColumn interface {
	// keyText returns the value of a row, and false for a null.
	keyText(row uint32) ([]byte, bool)
	// keyID returns a number that is the same for the same value of chunks that share their
	// dictionaries; -1 for a null.
	keyID(row uint32) int32
	// keyRanks returns the place of the value of each number in their order.
	keyRanks() []int32
}

func (c *dictColumn) keyID(row uint32) int32 {
	if len(c.Present) > 0 && c.Present[row] == 0 {
		return -1
	}
	return c.All[row]
}

func (c *dictColumn) keyText(row uint32) ([]byte, bool) {
	id := c.keyID(row)
	if id < 0 {
		return nil, false
	}
	return c.dict.At(id), true
}

func (c *dictColumn) keyRanks() []int32 {
	sorted := make([]int32, c.dict.Len())
	for i := range sorted {
		sorted[i] = int32(i)
	}
	slices.SortFunc(sorted, func(a, b int32) int { return bytes.Compare(c.dict.At(a), c.dict.At(b)) })
	ranks := make([]int32, len(sorted))
	for rank, id := range sorted {
		ranks[id] = int32(rank)
	}
	return ranks
}

func (c *boolColumn) keyID(row uint32) int32 {
	switch {
	case c.Present[row] == 0:
		return -1
	case c.All[row]:
		return 1
	}
	return 0
}

var boolTexts = [2][]byte{[]byte("false"), []byte("true")}

func (c *boolColumn) keyText(row uint32) ([]byte, bool) {
	id := c.keyID(row)
	if id < 0 {
		return nil, false
	}
	return boolTexts[id], true
}

func (c *boolColumn) keyRanks() []int32 { return []int32{0, 1} } // false comes before true

// sortKeys are the columns that rows are ordered by, the first deciding most.
type sortKeys []int

// at returns key k of a chunk.
func (k sortKeys) at(c *chunk, i int) keyColumn { return c.columns[k[i]].(keyColumn) }

// compare compares a row with that of another chunk.
func (k sortKeys) compare(a *chunk, rowA uint32, b *chunk, rowB uint32) int {
	for i := range k {
		textA, okA := k.at(a, i).keyText(rowA)
		textB, okB := k.at(b, i).keyText(rowB)
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

// same reports whether two rows of chunks that share their dictionaries have the same values.
func (k sortKeys) same(a *chunk, rowA uint32, b *chunk, rowB uint32) bool {
	for i := range k {
		if k.at(a, i).keyID(rowA) != k.at(b, i).keyID(rowB) {
			return false
		}
	}
	return true
}

// sort returns the rows of chunks that share their dictionaries in order; those that are equal stay
// as they are. It counts how many rows have each value, for one key after the other, so that the
// time is linear in the rows.
func (k sortKeys) sort(chunks []*chunk) []ref {
	total := 0
	for _, c := range chunks {
		total += c.rows
	}
	rows, next := make([]ref, 0, total), make([]ref, total)
	for i, c := range chunks {
		for row := range c.rows {
			rows = append(rows, ref{uint32(i), uint32(row)})
		}
	}
	if total == 0 {
		return rows
	}
	for i := len(k) - 1; i >= 0; i-- {
		ranks := k.at(chunks[0], i).keyRanks()
		rows, next = countingSort(rows, next, len(ranks)+1, func(r ref) int32 {
			if id := k.at(chunks[r.chunk], i).keyID(r.row); id >= 0 {
				return ranks[id]
			}
			return int32(len(ranks)) // nulls are last
		}), rows
	}
	return rows
}

// countingSort returns the rows by rank, below n, in the memory of to.
func countingSort(rows, to []ref, n int, rank func(ref) int32) []ref {
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
