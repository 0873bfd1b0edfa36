package weblog

import "slices"

// Records reads rows whose fields are separate already, as in a columnar file.
type Records struct{ table table }

// NewRecords returns Records for rows with these fields. The error says which field they lack: one
// that was named, or one for the URL.
func NewRecords(header []string, opt Options) (*Records, error) {
	r := &Records{table{common: newCommon(opt), header: header, byValues: -1}}
	r.table.locate()
	return r, r.table.err
}

// Needed returns the indices of the fields that Row reads. Some may occur twice.
func (r *Records) Needed() []int {
	c := &r.table.cols
	needed := append([]int{c.url}, c.keep...)
	if r.table.opt.Agents {
		needed = append(needed, c.agent)
	}
	if r.table.opt.Clients {
		needed = append(needed, c.client)
	}
	if r.table.opt.Times {
		needed = append(needed, c.time)
	}
	return slices.DeleteFunc(append(needed, c.host, c.scheme), func(i int) bool { return i < 0 })
}

// Kept returns the indices of the fields of [Options].Keep, in their order.
func (r *Records) Kept() []int { return r.table.cols.keep }

// Row makes the row of fields. There must be as many as in the header; nil is a null.
func (r *Records) Row(fields [][]byte, row *Row) Result {
	row.reset()
	r.table.fields = fields
	return r.table.row(row)
}

// Err returns why the log cannot be read, after Failed.
func (r *Records) Err() error { return r.table.err }
