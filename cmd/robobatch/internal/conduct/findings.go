package conduct

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
)

// worst is the maximum number of rows and changes in the text output.
const worst = 10

// findings receives rows and changes while a journal is evaluated. It writes the tables, and keeps the rows to print.
type findings struct {
	*outcome
	about   *about
	out     io.Writer
	columns []output.CellColumn[row]
	cells   []parquet.Cell
	json    *bufio.Writer // nil unless JSON is printed
	cancel  context.Context
	failed  error

	rows       int64
	agents     map[string]*conduct.Row // totals over all origins
	total      conduct.Row             // totals over all crawlers
	worst      []conduct.Row
	changes    []conduct.Change // first those that no crawler fetched, then the slowest
	changed    int64
	mismatches []conduct.Mismatch
	verdicts   []ci.Verdict
}

// Row counts the row of a crawler at an origin, and writes it to -out. It copies the row if it may be printed.
func (f *findings) Row(r *conduct.Row) error {
	if err := f.cancel.Err(); err != nil {
		return err
	}
	f.rows++
	all, ok := f.agents[r.Agent]
	if !ok {
		all = conduct.NewRow(r.Agent, r.Operator, "")
		f.agents[r.Agent] = all
	}
	all.Add(r)
	f.total.Add(r)
	f.worst = append(f.worst, *r)
	if len(f.worst) >= 8*worst {
		f.worst = worstRows(f.worst)
	}
	f.cells = output.AppendCells(f.cells[:0], f.columns, &row{r, f.about.verified, f.about.bytes})
	f.printJSON("crawler", output.CellFields(f.columns))
	return f.files.all[ofOut].addRow(f.cells)
}

// Request writes a request that a text disallows to -rows.
func (f *findings) Request(q *conduct.Request) error {
	f.cells = output.AppendCells(f.cells[:0], requestColumns, q)
	return f.files.all[ofRows].addRow(f.cells)
}

// Change counts a change of a robots.txt and the crawler's reaction, and writes it to -changes. It copies the change
// if it may be printed.
func (f *findings) Change(c *conduct.Change) error {
	f.changed++
	f.changes = append(f.changes, *c)
	if len(f.changes) >= 8*worst {
		f.changes = slowestChanges(f.changes)
	}
	f.cells = output.AppendCells(f.cells[:0], changeColumns, c)
	f.printJSON("change", output.CellFields(changeColumns))
	return f.files.all[ofChanges].addRow(f.cells)
}

// Mismatch receives an origin whose responses contradict its robots.txt.
func (f *findings) Mismatch(m *conduct.Mismatch) error {
	f.mismatches = append(f.mismatches, *m)
	return nil
}

// worstRows returns at most worst of the rows, the worst first. It sorts the slice, and returns a part of it.
func worstRows(rows []conduct.Row) []conduct.Row {
	slices.SortStableFunc(rows, func(a, b conduct.Row) int {
		return cmp.Or(
			cmp.Compare(b.Violations, a.Violations), cmp.Compare(b.Conducts[conduct.Knew], a.Conducts[conduct.Knew]),
			cmp.Compare(b.Disallowed, a.Disallowed), cmp.Compare(b.ShortGaps, a.ShortGaps), cmp.Compare(b.Requests, a.Requests),
			cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Agent, b.Agent))
	})
	return rows[:min(worst, len(rows))]
}

// slowestChanges returns at most worst of the changes. It sorts the slice by the number of requests that the new text
// disallows, and then by the delay until the crawler fetched that text, longest first, and returns a part of it.
func slowestChanges(all []conduct.Change) []conduct.Change {
	took := func(c *conduct.Change) int64 {
		if c.Answer == conduct.NoTime {
			return 1<<63 - 1
		}
		return c.Answer - c.At
	}
	slices.SortStableFunc(all, func(a, b conduct.Change) int {
		return cmp.Or(cmp.Compare(b.Before+b.After, a.Before+a.After), cmp.Compare(took(&b), took(&a)),
			cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.At, b.At))
	})
	return all[:min(worst, len(all))]
}

// printJSON prints the current row as a JSON object of a kind, such as "change", if the output form is JSON. It
// records an error in f.failed, after which it prints nothing.
func (f *findings) printJSON(kind string, fields []parquet.Field) {
	if f.json == nil || f.failed != nil {
		return
	}
	line := fieldtext.JSON.Text(fieldtext.JSON.Lead(nil, 0, "kind"), []byte(kind))
	for i, cell := range f.cells {
		text, err := json.Marshal(outputs.JSONValue(fields[i].Type, cell))
		if err != nil {
			f.failed = err
			return
		}
		line = append(fieldtext.JSON.Lead(line, i+1, fields[i].Name), text...)
	}
	line = append(line, '}')
	_, f.failed = f.json.Write(append(msg.EscapeJSON(line), '\n'))
}

// A gateKind is a kind of count for -fail. count returns the count, and the total for percentages.
type gateKind struct {
	name  string
	count func(r *conduct.Row) (count, of int64)
}

// gateKinds lists the kinds.
var gateKinds = func() []gateKind {
	kinds := []gateKind{
		{"violations", func(r *conduct.Row) (int64, int64) { return r.Violations, r.Requests - r.Impostors }},
		{"disallowed", func(r *conduct.Row) (int64, int64) { return r.Disallowed + r.Untimed, r.Requests - r.Impostors }},
	}
	for c := range conduct.NumConducts {
		kinds = append(kinds, gateKind{c.String(), func(r *conduct.Row) (int64, int64) { return r.Conducts[c], r.Disallowed }})
	}
	return append(kinds, gateKind{"gaps_short", func(r *conduct.Row) (int64, int64) { return r.ShortGaps, r.Gaps }})
}()

// gates are the names of gateKinds, for -fail.
var gates = func() ci.Kinds {
	k := ci.Kinds{Noun: "kind of conduct", Examples: "violations=0, never_asked=1% or gaps_short:GPTBot=10"}
	for _, kind := range gateKinds {
		k.Names = append(k.Names, kind.name)
	}
	return k
}()

// crawlers returns the names of all crawlers.
func (f *findings) crawlers() []string { return slices.Sorted(maps.Keys(f.agents)) }
