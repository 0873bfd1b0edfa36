package output

import (
	"slices"

	"github.com/robobatch/robobatch/engine"
)

// Neighbouring rows of a log often have one origin and one verdict: some 200 on end where it is grouped by host. So of a chunk that has one row a
// URL and becomes pages at once, the columns that depend on nothing else are gathered by runs: a value stands there once for each run of rows, and
// beside the values, how many rows they are for. Where runs are short, and for all that does not know them, the values are spread to one for each row.
// Pages are the same bytes from either form.

// A runGroup is some columns that have the same runs.
type runGroup struct {
	on      bool    // gathered by runs; by row if not
	lengths []int32 // rows of each run; at least 1
}

// The groups, by what their columns depend on.
const (
	byBatch int = iota
	bySite
	byVerdict
	numRunGroups
)

// groupColumns are the columns of each group.
var groupColumns = [numRunGroups][]column{
	byBatch:   {colInput, colAgent},
	bySite:    {colOrigin},
	byVerdict: {colAllowed, colReason, colRuleLine, colRule},
}

// resetRuns has an empty chunk gathered by runs, if that can be.
func (c *columns) resetRuns() {
	for i := range c.runs {
		c.runs[i] = runGroup{c.canRun, c.runs[i].lengths[:0]}
	}
}

// runsOf returns the lengths of the runs of a column, nil if it is by row.
func (c *columns) runsOf(col column) []int32 {
	for i, columns := range groupColumns {
		if c.runs[i].on && slices.Contains(columns, col) {
			return c.runs[i].lengths
		}
	}
	return nil
}

// appendRuns adds the URLs from up to to of b to the columns of all groups.
func (c *columns) appendRuns(b *engine.Batch, from, to int) {
	c.runs[byBatch].lengths = append(c.runs[byBatch].lengths, int32(to-from))
	if c.want[colInput] {
		fill(c.ids[colInput].extend(1), c.names.input(b.Input))
	}
	if c.want[colAgent] {
		fill(c.ids[colAgent].extend(1), c.names.agent(0))
	}
	if c.want[colOrigin] {
		c.appendOriginRuns(b, b.Sites[from:to])
	}
	if c.want[colAllowed] || c.want[colReason] || c.want[colRule] || c.want[colRuleLine] {
		c.appendVerdictRuns(b.Verdicts[from:to], b.Rulings[from:to])
	}
}

// appendOriginRuns adds the origins of rows of b.
func (c *columns) appendOriginRuns(b *engine.Batch, sites []engine.SiteID) {
	c.names.startBatch(len(b.Strays))
	g, start := &c.runs[bySite], 0
	for i, site := range sites {
		if next := i + 1; next < len(sites) && sites[next] == site {
			continue
		}
		rows, id := i+1-start, int32(0)
		if site != engine.NoSite {
			id = c.names.origin(site, b.Strays)
		}
		c.ids[colOrigin].addRun(id, site != engine.NoSite, rows)
		g.lengths = append(g.lengths, int32(rows))
		start = i + 1
	}
}

// appendVerdictRuns adds verdicts, given what is in force for each.
func (c *columns) appendVerdictRuns(verdicts []engine.Verdict, rulings []engine.RulingID) {
	g, start := &c.runs[byVerdict], 0
	for i, v := range verdicts {
		if next := i + 1; next < len(verdicts) && verdicts[next] == v && (v.Rule == engine.NoRule || rulings[next] == rulings[i]) {
			continue
		}
		rows := i + 1 - start
		c.appendVerdict(v, rulings[i], rows)
		g.lengths = append(g.lengths, int32(rows))
		start = i + 1
	}
}

// appendVerdict adds that of a run of so many rows.
func (c *columns) appendVerdict(v engine.Verdict, ruling engine.RulingID, rows int) {
	if c.want[colAllowed] {
		c.allowed.addRun(v.Access == engine.Allowed, v.Access != engine.Unknown, rows)
	}
	if c.want[colReason] {
		fill(c.ids[colReason].extend(1), c.names.reason(v.Reason))
	}
	if c.want[colRule] || c.want[colRuleLine] {
		id, line := int32(0), int32(0)
		if v.Rule != engine.NoRule {
			id, line = c.names.rule(ruling, 0, v.Rule)
		}
		c.ids[colRule].addRun(id, v.Rule != engine.NoRule, rows)
		c.ruleLine.addRun(line, v.Rule != engine.NoRule, rows)
	}
}

// shortRuns reports whether rows of one site are mostly not next to each other, as far as one row in eight shows.
func shortRuns(sites []engine.SiteID) bool {
	const step = 8
	ends := 0
	for i := 1; i < len(sites); i += step {
		if sites[i] != sites[i-1] {
			ends++
		}
	}
	return ends*longRuns*step > len(sites)
}

// addRun adds the value of a run of so many rows to a column with nulls.
func (v *valueColumn[T]) addRun(value T, present bool, rows int) {
	level := int16(1)
	if !present {
		level = 0
		v.nulls += rows
	}
	v.values, v.present = append(v.values, value), append(v.present, level)
}

// spread brings the chunk into the form that has a value for each row, also for the rows that are still to come.
func (c *columns) spread() {
	for group := range c.runs {
		c.spreadGroup(group)
	}
}

// spreadGroup is spread for one group.
func (c *columns) spreadGroup(group int) {
	g := &c.runs[group]
	if !g.on {
		return
	}
	for _, col := range groupColumns[group] {
		switch col {
		case colAllowed:
			c.allowed.spread(g.lengths)
		case colRuleLine:
			c.ruleLine.spread(g.lengths)
		default:
			c.ids[col].spread(g.lengths)
		}
	}
	g.on = false
}

// spread makes one value for each row of those for each run.
func (v *valueColumn[T]) spread(lengths []int32) {
	if len(v.values) > 0 {
		v.values = spreadValues(v.values, lengths)
	}
	if len(v.present) > 0 {
		v.present = spreadValues(v.present, lengths)
	}
}

// spreadValues does it in place, from the end: no value has moved before it is read.
func spreadValues[T any](values []T, lengths []int32) []T {
	rows := 0
	for _, n := range lengths {
		rows += int(n)
	}
	values = slices.Grow(values, rows-len(values))[:rows]
	for i := len(lengths) - 1; i >= 0 && rows > i; i-- {
		value, end := values[i], rows
		rows -= int(lengths[i])
		for row := rows; row < end; row++ {
			values[row] = value
		}
	}
	return values
}
