package weblog

import (
	"maps"
	"slices"
)

// Records makes rows of fields that are already separate, as in columnar files.
type Records struct{ table table }

// NewRecords returns Records for rows with these fields. first are the first rows. The error names a missing field: one
// that was named, or one for the URL.
func NewRecords(header []string, first [][][]byte, opt Options) (*Records, Choice, error) {
	r := &Records{table{named: named{common: newCommon(opt), isTable: true, isHeaded: true}, header: header}}
	choice := r.table.locate(first)
	return r, choice, r.table.err
}

// Lacks reports whether a requested role has no field, although a field with an unknown name might have it.
func (r *Records) Lacks() bool { return len(r.table.plan.lacks(&r.table.opt)) > 0 }

// Candidates returns the indexes of the fields in a header row that may be read.
func Candidates(header []string, opt Options) (fields []int) {
	for i, name := range header {
		if len(fieldTable().byKey[keyOf(name)]) > 0 || slices.Contains(opt.Keep, name) || slices.Contains(slices.Collect(maps.Values(opt.Named)), name) {
			fields = append(fields, i)
		}
	}
	return fields
}

// Needed returns the indexes of the fields that Row reads, possibly with duplicates.
func (r *Records) Needed() (needed []int) {
	r.table.eachPlace(func(at int) int {
		needed = append(needed, at)
		return at
	})
	return needed
}

// Kept returns the indexes of the fields of [Options].Keep, in order; -1 for missing ones.
func (r *Records) Kept() (kept []int) {
	for _, k := range r.table.keep {
		kept = append(kept, append(k.source, spot{at: -1})[0].at)
	}
	return kept
}

// Row makes a row of fields. Their number must be that of the header row; nil is a null.
func (r *Records) Row(fields [][]byte, row *Row) Result {
	row.reset()
	r.table.buf = r.table.buf[:0]
	r.table.values = fields
	return r.table.row(row)
}

// Err returns why the log cannot be read, after Failed.
func (r *Records) Err() error { return r.table.err }
