package output

import (
	"cmp"
	"container/heap"
)

// mergeMemory is about what a run takes while it is merged: a block, packed and unpacked.
const mergeMemory = 2 << 20

// maxMerge is the most runs that are merged at once: beyond, what reading takes from a disk is in ever smaller pieces.
const maxMerge = 64

// fanIn returns how many runs are merged at once.
func (a *arranger) fanIn() int { return max(2, min(maxMerge, a.limit/mergeMemory)) }

// reduceRuns merges neighbouring runs until all that are left can be merged at once.
func (a *arranger) reduceRuns() error {
	for fan := a.fanIn(); len(a.spill.runs) > fan; {
		runs := a.spill.runs
		a.spill.runs = nil
		for ; len(runs) > 0; runs = runs[min(fan, len(runs)):] {
			to, err := a.spill.create(a.layout)
			if err != nil {
				return err
			}
			if err := a.merge(runs[:min(fan, len(runs))], to); err != nil {
				return err
			}
			if err := to.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge hands the rows of runs to a target, in order.
func (a *arranger) merge(runs []span64, to target) error {
	m := merger{keys: a.keys}
	for i, run := range runs {
		r := a.spill.read(a.layout, run, i)
		if ok, err := r.next(); err != nil {
			return err
		} else if ok {
			m.readers = append(m.readers, r)
		}
	}
	heap.Init(&m)
	var rows []ref
	for len(m.readers) > 0 {
		if err := a.cancelled(); err != nil {
			return err
		}
		r := m.readers[0]
		rows = rows[:0]
		for first := r.row; int(r.row) < r.rows.rows && a.keys.same(r.rows, first, r.rows, r.row); r.row++ {
			rows = append(rows, ref{0, r.row})
		}
		if err := emit(to, []*columns{r.rows}, rows); err != nil {
			return err
		}
		if err := m.advance(r); err != nil {
			return err
		}
	}
	return nil
}

// A merger is a heap of runs by what comes next in each; of equals the earlier run comes first.
type merger struct {
	keys    keys
	readers []*runReader
}

// advance puts the first reader where its next row belongs.
func (m *merger) advance(r *runReader) error {
	if int(r.row) >= r.rows.rows {
		ok, err := r.next()
		if err != nil {
			return err
		}
		if !ok {
			heap.Pop(m)
			return nil
		}
	}
	heap.Fix(m, 0)
	return nil
}

// Len returns the number of runs.
func (m *merger) Len() int { return len(m.readers) }

// Swap swaps two of them.
func (m *merger) Swap(i, j int) { m.readers[i], m.readers[j] = m.readers[j], m.readers[i] }

// Push is not used.
func (m *merger) Push(r any) { m.readers = append(m.readers, r.(*runReader)) }

// Less reports whether the next row of a run comes first.
func (m *merger) Less(i, j int) bool {
	a, b := m.readers[i], m.readers[j]
	return cmp.Or(m.keys.compare(a.rows, a.row, b.rows, b.row), cmp.Compare(a.number, b.number)) < 0
}

// Pop takes a run out.
func (m *merger) Pop() any {
	last := len(m.readers) - 1
	r := m.readers[last]
	m.readers = m.readers[:last]
	return r
}
