package automaton

import (
	"cmp"
	"slices"
	"strings"
)

// runLength is how many entries are sorted by insertion, without a call for each comparison; most
// files have no more. The time to compile is the same with 16 and with 32.
const runLength = 24

// sort sorts entries by pattern, the highest rank first of equal ones, given in ascending order of
// rank: runs are sorted by insertion, and then merged. It returns the result, which is in all or in
// w.spare.
func (w *workspace) sort(all []entry) []entry {
	for lo := 0; lo < len(all); lo += runLength {
		w.insert(all[lo:min(lo+runLength, len(all))])
	}
	if len(all) <= runLength {
		return all
	}
	w.spare = slices.Grow(w.spare[:0], len(all))
	to := w.spare[:len(all)]
	for n := runLength; n < len(all); n *= 2 {
		for lo := 0; lo < len(all); lo += 2 * n {
			mid, hi := min(lo+n, len(all)), min(lo+2*n, len(all))
			w.merge(to[lo:lo:hi], all[lo:mid], all[mid:hi])
		}
		all, to = to, all
	}
	return all
}

// insert sorts one run.
func (w *workspace) insert(run []entry) {
	for i := 1; i < len(run); i++ {
		j := i
		for j > 0 && !w.less(&run[j-1], &run[i]) {
			j--
		}
		if j < i {
			e := run[i]
			copy(run[j+1:i+1], run[j:i])
			run[j] = e
		}
	}
}

// merge appends two sorted runs to dst, which has room for them, as one. The ranks of y are the
// higher ones.
func (w *workspace) merge(dst, x, y []entry) {
	for len(x) > 0 && len(y) > 0 {
		if w.less(&x[0], &y[0]) {
			dst, x = append(dst, x[0]), x[1:]
		} else {
			dst, y = append(dst, y[0]), y[1:]
		}
	}
	_ = append(append(dst, x...), y...)
}

// less reports whether the pattern of x comes before that of y.
func (w *workspace) less(x, y *entry) bool {
	return x.prefix < y.prefix || x.prefix == y.prefix && w.compare(x, y) < 0
}

// compare is [Pattern.compare] for entries of equal prefixes.
func (w *workspace) compare(x, y *entry) int {
	if x.anchor > prefixLen || y.anchor > prefixLen {
		if c := strings.Compare(w.anchorOf(x), w.anchorOf(y)); c != 0 {
			return c
		}
	}
	if x.anchor != y.anchor { // they differ in zero bytes, or one is empty
		return cmp.Compare(x.anchor, y.anchor)
	}
	if x.tail < 0 || y.tail < 0 {
		return cmp.Compare(x.tail, y.tail)
	}
	return w.parsed[x.tail].compare(w.parsed[y.tail].Pattern)
}
