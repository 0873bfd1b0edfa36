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

// PartitionDate is the name of the partitions by day.
const PartitionDate = "date"

// Partitions returns the names that ParsePartition takes: of columns, and [PartitionDate], the day in UTC of [engine.Batch.Times].
func Partitions() []string {
	return []string{fields[colOrigin].name, fields[colAgent].name, fields[colAllowed].name, PartitionDate}
}

// ParsePartition splits a comma-separated list of what the output is partitioned by. The empty list is no partitions. The error is
// ErrPartition.
func ParsePartition(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
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

// layouts returns the columns that are gathered, by which rows may have to be arranged, and those of them that are written. The errors are
// those of newLayout, and ErrPartition.
func (o Options) layouts(agents []string) (all, written layout, err error) {
	written, err = newLayout(o, agents)
	if err == nil {
		err = checkPartition(o.Partition)
	}
	if err != nil || !o.arranged() {
		return written, written, err
	}
	all = written
	all.plain = false
	all.picked = slices.Clone(all.picked)
	var errs []error
	need := slices.Clone(o.Partition)
	if o.Sort == SortOrigin {
		need = append(need, fields[colOrigin].name)
	}
	for _, name := range need {
		col, ok := lookup(name)
		switch {
		case !ok:
			all.date = true
		case o.Layout == Wide && col != colOrigin:
			errs = append(errs, fmt.Errorf("%w: by %s, which each agent has a column for in the wide layout: use the long one", ErrPartition, name))
		case !slices.Contains(all.picked, col):
			all.picked = append(all.picked, col)
		}
		if !ok && slices.ContainsFunc(all.kept, func(f field) bool { return f.name == name }) {
			errs = append(errs, fmt.Errorf("%w: by %s, which is the name of a column of the input that is kept: do not keep it", ErrPartition, name))
		}
	}
	written.picked = slices.DeleteFunc(slices.Clone(written.picked), func(col column) bool {
		return slices.Contains(o.Partition, written.field(col).name)
	})
	if len(written.picked)+len(written.kept) == 0 {
		errs = append(errs, fmt.Errorf("%w: no column would be left in the files, as the names of directories say the rest: write more columns", ErrPartition))
	}
	return all, written, errors.Join(errs...)
}

// width returns the number of columns.
func (l layout) width() int {
	n := len(l.picked) + len(l.kept)
	if l.date {
		n++
	}
	return n
}

// in reports which columns are in another layout as well.
func (l layout) in(other layout) func(i int) bool {
	all, some := l.fields(), other.fields()
	return func(i int) bool {
		return i < len(all) && slices.ContainsFunc(some, func(f field) bool { return f.name == all[i].name })
	}
}

// indexOf returns the index of the column of that name, which is there.
func (l layout) indexOf(name string) int {
	for i, f := range l.fields() {
		if f.name == name {
			return i
		}
	}
	return l.width() - 1 // the day
}

// A keyVector is a column that rows are ordered by. Nulls come last.
type keyVector interface {
	// keyText returns the value of a row, and false for a null.
	keyText(row uint32) ([]byte, bool)
	// keyID returns a number that is the same for the same value of chunks that share their dictionaries; -1 for a null.
	keyID(row uint32) int32
	// keyRanks returns the place of the value of each number in their order.
	keyRanks() []int32
}

func (v dictVector) keyID(row uint32) int32 {
	if len(v.ids.present) > 0 && v.ids.present[row] == 0 {
		return -1
	}
	return v.ids.values[row]
}

func (v dictVector) keyText(row uint32) ([]byte, bool) {
	id := v.keyID(row)
	if id < 0 {
		return nil, false
	}
	return v.dict.at(id), true
}

func (v dictVector) keyRanks() []int32 {
	sorted := make([]int32, v.dict.len())
	for i := range sorted {
		sorted[i] = int32(i)
	}
	slices.SortFunc(sorted, func(a, b int32) int { return bytes.Compare(v.dict.at(a), v.dict.at(b)) })
	ranks := make([]int32, len(sorted))
	for rank, id := range sorted {
		ranks[id] = int32(rank)
	}
	return ranks
}

// A boolVector is a column of truth values: false comes before true.
type boolVector struct{ valueVector[bool] }

func (v boolVector) take(from []*columns, at int, rows []ref) {
	for _, r := range rows {
		v.takeRow(from[r.chunk].vectors[at].(boolVector).valueColumn, r.row)
	}
}

func (v boolVector) keyID(row uint32) int32 {
	switch {
	case v.present[row] == 0:
		return -1
	case v.values[row]:
		return 1
	}
	return 0
}

var boolTexts = [2][]byte{[]byte("false"), []byte("true")}

func (v boolVector) keyText(row uint32) ([]byte, bool) {
	id := v.keyID(row)
	if id < 0 {
		return nil, false
	}
	return boolTexts[id], true
}

func (v boolVector) keyRanks() []int32 { return []int32{0, 1} }

// keys are the columns that rows are ordered by, the first deciding most.
type keys []int

// at returns key k of a chunk.
func (k keys) at(c *columns, i int) keyVector { return c.vectors[k[i]].(keyVector) }

// compare compares a row with that of another chunk.
func (k keys) compare(a *columns, rowA uint32, b *columns, rowB uint32) int {
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
func (k keys) same(a *columns, rowA uint32, b *columns, rowB uint32) bool {
	for i := range k {
		if k.at(a, i).keyID(rowA) != k.at(b, i).keyID(rowB) {
			return false
		}
	}
	return true
}

// sort returns the rows of chunks that share their dictionaries in order; those that are equal stay as they are. It counts how many rows
// have each value, for one key after the other, so that the time is linear in the rows.
func (k keys) sort(chunks []*columns) []ref {
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
