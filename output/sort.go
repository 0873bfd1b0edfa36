package output

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Sort is an order of the rows.
type Sort uint8

// The orders.
const (
	SortNone   Sort = iota // that of the input
	SortOrigin             // by the bytes of the origin, those without one last; those of one origin as in the input
)

// sortNames are the names of the orders, by Sort.
var sortNames = [...]string{SortNone: "none", SortOrigin: "origin"}

// The kinds of the errors about the order and the parts of the output.
var (
	ErrSort      = errors.New("no such order")
	ErrPartition = errors.New("cannot be partitioned so")
)

// String returns the name: "origin".
func (s Sort) String() string { return sortNames[s] }

// ParseSort returns the order of that name, SortNone for "". The error is ErrSort, with the names there are.
func ParseSort(name string) (Sort, error) {
	if name == "" {
		return SortNone, nil
	}
	if i := slices.Index(sortNames[:], name); i >= 0 {
		return Sort(i), nil
	}
	return 0, fmt.Errorf("%w %q: use none or origin", ErrSort, name)
}

// ParsePartition splits a comma-separated list of what the output is partitioned by. The empty list is no partitions. The error is
// ErrPartition.
func ParsePartition(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := splitNames(list)
	return names, checkPartition(names)
}

// checkPartition returns what is wrong with names to partition by.
func checkPartition(names []string) error {
	var errs []error
	for i, name := range names {
		switch {
		case !slices.Contains(Partitions(), name):
			errs = append(errs, fmt.Errorf("%w: %q is none of %s", ErrPartition, name, strings.Join(Partitions(), ", ")))
		case slices.Contains(names[:i], name):
			errs = append(errs, fmt.Errorf("%w: %s is named twice", ErrPartition, name))
		}
	}
	return errors.Join(errs...)
}

// arranged reports whether the rows are put in another order than that of the input.
func (o Options) arranged() bool { return o.Sort != SortNone || len(o.Partition) > 0 }

// layouts returns the columns that are gathered, by which rows may have to be put in order, and those
// of them that are written. The errors are those of newLayout, and ErrPartition.
func (o Options) layouts(agents []string) (all, written *layout, err error) {
	written, err = newLayout(o, agents)
	if err == nil {
		err = checkPartition(o.Partition)
	}
	if err != nil || !o.arranged() {
		return written, written, err
	}
	gathered := *written
	all = &gathered
	all.pages, all.streaks, all.fields = false, false, slices.Clone(written.fields)
	var errs []error
	need := slices.Clone(o.Partition)
	if o.Sort == SortOrigin {
		need = append(need, nameOrigin)
	}
	for _, name := range need {
		s, at := lookup(name), all.index(name)
		switch {
		case o.Layout == Wide && (s.perAgent || name == nameAgent):
			errs = append(errs, fmt.Errorf("%w: by %s, which each agent has a column for in the wide layout: use the long one",
				ErrPartition, name))
		case at >= 0 && all.fields[at].spec != s:
			errs = append(errs, fmt.Errorf("%w: by %s, which is the name of a column of the input that is kept: do not keep it",
				ErrPartition, name))
		case at < 0:
			all.fields = append(all.fields, field{Field: s.Field, spec: s})
		}
	}
	written.fields = slices.DeleteFunc(written.fields, func(f field) bool { return slices.Contains(o.Partition, f.Name) })
	if len(written.fields) == 0 {
		errs = append(errs, fmt.Errorf("%w: no column would be left in the files, as the names of directories say the rest: write more columns",
			ErrPartition))
	}
	for _, f := range written.fields {
		written.from = append(written.from, all.index(f.Name))
	}
	all.complete(len(agents))
	written.complete(len(agents))
	return all, written, errors.Join(errs...)
}

// A keyColumn is a column that rows are ordered by. Nulls come last.
type keyColumn interface {
	// keyText returns the value of a row, and false for a null.
	keyText(row uint32) ([]byte, bool)
	// keyID returns a number that is the same for the same value of chunks that share their dictionaries; -1 for a null.
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

// A ref is a row of one of several chunks.
type ref struct{ chunk, row uint32 }

// keys are the columns that rows are ordered by, the first deciding most.
type keys []int

// at returns key k of a chunk.
func (k keys) at(c *chunk, i int) keyColumn { return c.columns[k[i]].(keyColumn) }

// compare compares a row with that of another chunk.
func (k keys) compare(a *chunk, rowA uint32, b *chunk, rowB uint32) int {
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
func (k keys) same(a *chunk, rowA uint32, b *chunk, rowB uint32) bool {
	for i := range k {
		if k.at(a, i).keyID(rowA) != k.at(b, i).keyID(rowB) {
			return false
		}
	}
	return true
}

// sort returns the rows of chunks that share their dictionaries in order; those that are equal stay as they are. It counts how many rows
// have each value, for one key after the other, so that the time is linear in the rows.
func (k keys) sort(chunks []*chunk) []ref {
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
