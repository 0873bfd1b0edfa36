package weblog

import (
	"maps"
	"slices"
)

// Records reads rows whose fields are separate already, as in a columnar file.
type Records struct{ table table }

// NewRecords returns Records for rows with these fields, the first of which are known. The error says which field they
// lack: one that was named, or one for the URL.
func NewRecords(header []string, first [][][]byte, opt Options) (*Records, Choice, error) {
	r := &Records{table{named: named{common: newCommon(opt), isTable: true, isHeaded: true}, header: header}}
	choice := r.table.locate(first)
	return r, choice, r.table.err
}

// Lacks reports whether the rows lack what is wanted, which a field with a name that is not known may have.
func (r *Records) Lacks() bool { return len(r.table.plan.lacks(&r.table.opt)) > 0 }

// Candidates returns the indices of the fields of a header that may be read.
func Candidates(header []string, opt Options) (fields []int) {
	for i, name := range header {
		if len(fieldTable().byKey[keyOf(name)]) > 0 || slices.Contains(opt.Keep, name) || slices.Contains(slices.Collect(maps.Values(opt.Named)), name) {
			fields = append(fields, i)
		}
	}
	return fields
}

// Needed returns the indices of the fields that Row reads. Some may occur twice.
func (r *Records) Needed() (needed []int) {
	r.table.eachPlace(func(at int) int {
		needed = append(needed, at)
		return at
	})
	return needed
}

// Kept returns the indices of the fields of [Options].Keep, in their order; -1 for those that are missing.
func (r *Records) Kept() (kept []int) {
	for _, k := range r.table.keep {
		kept = append(kept, append(k.source, spot{at: -1})[0].at)
	}
	return kept
}

// Row makes the row of fields. There must be as many as in the header; nil is a null.
func (r *Records) Row(fields [][]byte, row *Row) Result {
	row.reset()
	r.table.buf = r.table.buf[:0]
	r.table.values = fields
	return r.table.row(row)
}

// Err returns why the log cannot be read, after Failed.
func (r *Records) Err() error { return r.table.err }
