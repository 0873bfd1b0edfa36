package conduct

import (
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
)

// Indexes in files.
const (
	ofOut = iota
	ofRows
	ofChanges
)

// files are the tables. A table without a name is not written.
type files struct{ all []*file }

// A file is an output table. It gets its name only when it is complete.
type file struct {
	process.Sink[storage.Output]
	flag  string
	opt   output.CellOptions
	table *output.CellTable // nil if not written
}

// addFile adds the file that a flag names; "" means that the table is not written. Call it in the order of ofOut,
// ofRows and ofChanges.
func (f *files) addFile(flag, name string, format output.Format, csv output.CSVForm) {
	t := &file{flag: flag, opt: output.CellOptions{Format: format, CSV: csv, Version: process.Version()}}
	t.Name = name
	f.all = append(f.all, t)
}

// names returns the names of the files that are written.
func (f *files) names() (names []string) {
	for _, t := range f.all {
		if t.Name != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// addRow adds a row to the table, if it is written. It does not keep the row.
func (t *file) addRow(row []parquet.Cell) error {
	if t.table == nil {
		return nil
	}
	return t.Use(func(out storage.Output) error { return out.Wrap("write", t.table.Add(row)) })
}

// commitAll gives all files their names, or none of them; outs are the outputs of previous files. It holds the locks
// of the files, so that another goroutine cannot drop a file in the meantime.
func commitAll(files []*file, outs []storage.Output) error {
	if len(files) == 0 {
		return storage.CommitAll(outs...)
	}
	return files[0].Commit(func(out storage.Output) error { return commitAll(files[1:], append(outs, out)) })
}

// A row is a row of -out. Depending on verified and bytes, some columns are null in all rows of a run.
type row struct {
	*conduct.Row
	verified, bytes bool // addresses were verified; the logs have bytes
}

// rowColumns are the columns of -out. A new column goes last.
var rowColumns = slices.Concat([]output.CellColumn[row]{
	output.CellOf("agent", parquet.Dictionary, false, func(r *row) parquet.Cell { return parquet.Cell{Text: r.Agent} }),
	output.CellOf("operator", parquet.Dictionary, true, func(r *row) parquet.Cell { return text(r.Operator) }),
	output.CellOf("origin", parquet.Dictionary, false, func(r *row) parquet.Cell { return parquet.Cell{Text: r.Origin} }),
	countColumn("requests", func(r *row) int64 { return r.Requests }),
	senderColumn("verified", func(r *row) int64 { return r.Verified }),
	senderColumn("impostors", func(r *row) int64 { return r.Impostors }),
	senderColumn("unpublished", func(r *row) int64 { return r.Unpublished }),
	senderColumn("stale", func(r *row) int64 { return r.Stale }),
	senderColumn("no_address", func(r *row) int64 { return r.NoAddress }),
	countColumn("robots_requests", func(r *row) int64 { return r.Robots }),
	countColumn("robots_answers", func(r *row) int64 { return r.Answers }),
	output.CellOf("first_robots", parquet.Time, true, func(r *row) parquet.Cell { return moment(r.FirstAnswer) }),
	output.CellOf("last_robots", parquet.Time, true, func(r *row) parquet.Cell { return moment(r.LastAnswer) }),
	output.CellOf("robots_gap_median", parquet.Double, true, func(r *row) parquet.Cell { return seconds(r.AnswerMedian, r.AnswerGaps > 0) }),
	output.CellOf("robots_gap_max", parquet.Double, true, func(r *row) parquet.Cell { return seconds(r.AnswerMost, r.AnswerGaps > 0) }),
	countColumn("disallowed", func(r *row) int64 { return r.Disallowed }),
	countColumn("violations", func(r *row) int64 { return r.Violations }),
}, conductColumns(), []output.CellColumn[row]{
	countColumn("untimed", func(r *row) int64 { return r.Untimed }),
	output.CellOf("crawl_delay", parquet.Double, true, func(r *row) parquet.Cell { return seconds(r.Delay, r.Delay != conduct.NoDelay) }),
	countColumn("gaps", func(r *row) int64 { return r.Gaps }),
	countColumn("gaps_short", func(r *row) int64 { return r.ShortGaps }),
	output.CellOf("first", parquet.Time, true, func(r *row) parquet.Cell { return moment(r.First) }),
	output.CellOf("last", parquet.Time, true, func(r *row) parquet.Cell { return moment(r.Last) }),
	output.CellOf("bytes", parquet.Int64, true, func(r *row) parquet.Cell { return parquet.Cell{Null: !r.bytes, Int: r.Bytes} }),
})

// conductColumns are the columns that count disallowed requests, one column for each conduct: what the crawler knew
// of the rule.
func conductColumns() (columns []output.CellColumn[row]) {
	for c := range conduct.NumConducts {
		columns = append(columns, countColumn(c.String(), func(r *row) int64 { return r.Conducts[c] }))
	}
	return columns
}

// countColumn returns a numeric column.
func countColumn(name string, n func(r *row) int64) output.CellColumn[row] {
	return output.CellOf(name, parquet.Int64, false, func(r *row) parquet.Cell { return parquet.Cell{Int: n(r)} })
}

// senderColumn returns a column of requests by verification result; null if they were not verified.
func senderColumn(name string, n func(r *row) int64) output.CellColumn[row] {
	return output.CellOf(name, parquet.Int64, true, func(r *row) parquet.Cell { return parquet.Cell{Null: !r.verified, Int: n(r)} })
}

// text returns a text, null for "".
func text(s string) parquet.Cell { return parquet.Cell{Null: s == "", Text: s} }

// moment returns a time, null if there is none.
func moment(micros int64) parquet.Cell {
	return parquet.Cell{Null: micros == conduct.NoTime, Int: micros}
}

// seconds returns a duration in seconds; null if there is none.
func seconds(micros int64, there bool) parquet.Cell {
	return parquet.Cell{Null: !there, Float: float64(micros) / 1e6}
}

// columnsFor returns the columns of -out, without the column origin if each row covers all origins of a crawler.
func columnsFor(byAgent bool) []output.CellColumn[row] {
	if !byAgent {
		return rowColumns
	}
	return slices.DeleteFunc(slices.Clone(rowColumns), func(c output.CellColumn[row]) bool { return c.Name == "origin" })
}

// requestColumns are the columns of -rows. A new column goes last.
var requestColumns = []output.CellColumn[conduct.Request]{
	output.CellOf("agent", parquet.Dictionary, false, func(r *conduct.Request) parquet.Cell { return parquet.Cell{Text: r.Agent} }),
	output.CellOf("operator", parquet.Dictionary, true, func(r *conduct.Request) parquet.Cell { return text(r.Operator) }),
	output.CellOf("origin", parquet.Dictionary, false, func(r *conduct.Request) parquet.Cell { return parquet.Cell{Text: r.Origin} }),
	output.CellOf("time", parquet.Time, false, func(r *conduct.Request) parquet.Cell { return moment(r.At) }),
	output.CellOf("url", parquet.Text, false, func(r *conduct.Request) parquet.Cell { return parquet.Cell{Text: string(r.URL)} }),
	output.CellOf("client", parquet.Text, true, func(r *conduct.Request) parquet.Cell { return text(string(r.Client)) }),
	output.CellOf("conduct", parquet.Dictionary, false, func(r *conduct.Request) parquet.Cell { return parquet.Cell{Text: r.Conduct.String()} }),
	output.CellOf("violation", parquet.Bool, true, func(r *conduct.Request) parquet.Cell { return parquet.Cell{Null: !r.Violated, Int: 1} }),
	output.CellOf("last_robots", parquet.Time, true, func(r *conduct.Request) parquet.Cell { return moment(r.Answer) }),
	output.CellOf("got_text", parquet.Bool, true, func(r *conduct.Request) parquet.Cell {
		c := parquet.Cell{Null: r.Answer == conduct.NoTime}
		if r.HadText {
			c.Int = 1
		}
		return c
	}),
	output.CellOf("capture", parquet.Time, true, func(r *conduct.Request) parquet.Cell { return moment(r.Capture) }),
	output.CellOf("rule", parquet.Dictionary, true, func(r *conduct.Request) parquet.Cell { return text(string(r.Rule)) }),
	output.CellOf("rule_line", parquet.Int32, true, func(r *conduct.Request) parquet.Cell { return parquet.Cell{Null: r.RuleLine == 0, Int: r.RuleLine} }),
	output.CellOf("user_agent", parquet.Dictionary, true, func(r *conduct.Request) parquet.Cell { return text(string(r.UserAgent)) }),
	output.CellOf("status", parquet.Int32, true, func(r *conduct.Request) parquet.Cell { return parquet.Cell{Null: r.Status == 0, Int: r.Status} }),
	output.CellOf("verified", parquet.Dictionary, true, func(r *conduct.Request) parquet.Cell { return text(r.Verified.String()) }),
}

// changeColumns are the columns of -changes.
var changeColumns = []output.CellColumn[conduct.Change]{
	output.CellOf("agent", parquet.Dictionary, false, func(c *conduct.Change) parquet.Cell { return parquet.Cell{Text: c.Agent} }),
	output.CellOf("operator", parquet.Dictionary, true, func(c *conduct.Change) parquet.Cell { return text(c.Operator) }),
	output.CellOf("origin", parquet.Dictionary, false, func(c *conduct.Change) parquet.Cell { return parquet.Cell{Text: c.Origin} }),
	output.CellOf("changed", parquet.Time, false, func(c *conduct.Change) parquet.Cell { return moment(c.At) }),
	output.CellOf("fetched", parquet.Time, true, func(c *conduct.Change) parquet.Cell { return moment(c.Answer) }),
	output.CellOf("seconds", parquet.Double, true, func(c *conduct.Change) parquet.Cell { return seconds(c.Answer-c.At, c.Answer != conduct.NoTime) }),
	output.CellOf("disallowed_before", parquet.Int64, false, func(c *conduct.Change) parquet.Cell { return parquet.Cell{Int: c.Before} }),
	output.CellOf("disallowed_after", parquet.Int64, false, func(c *conduct.Change) parquet.Cell { return parquet.Cell{Int: c.After} }),
}
