package output

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/robobatch/robobatch/engine"
)

// limits say when a chunk is full.
type limits struct {
	rows  int // rows of the table
	bytes int // bytes of the columns of URLs and of kept texts, before escaping
}

// columns are the rows of a chunk, by column. Their slices are reused from chunk to chunk. A column that is not wanted
// stays empty.
type columns struct {
	want    [numColumns]bool
	agents  int // rows of a URL
	limits  limits
	plain   bool  // the texts are laid out as Parquet's encoding PLAIN has them
	canRun  bool  // rows are gathered by runs
	invalid int64 // bytes escaped in the chunk, see Writer.InvalidBytes

	rows     int
	urlBytes int // as limits.bytes counts them
	line     []int64
	texts    [numColumns]textColumn // of the columns of URLs
	allowed  valueColumn[bool]
	violated valueColumn[bool]
	ruleLine valueColumn[int32]
	// index and presence of the dictionary columns; the texts are in the numbering
	ids  [numColumns]valueColumn[int32]
	runs [numRunGroups]runGroup // how some of these and of allowed and ruleLine are gathered
	wide []agentColumns         // in place of those of a verdict, in the wide layout
	kept []keptColumn           // of the input, behind all others

	turned []engine.Verdict // scratch: those of an agent for up to wideBlock URLs, then those of the next

	keptTexts bool // some of them are texts

	date     valueColumn[int32] // index of the day, if wantDate
	wantDate bool

	vectors  []vector // see bind
	measured []int    // the vectors of texts that limits.bytes counts

	names *numbering // shared by all columns of a Writer
}

// A valueColumn holds one value per row, or per run of rows; that of a null is zero.
type valueColumn[T any] struct {
	values  []T
	present []int16 // 1, or 0 for null: Parquet's definition levels; empty if the column has no nulls by its schema
	nulls   int     // rows that are null
}

// A textColumn holds the texts of all rows end to end, in Arrow's layout: the text of row i is text[offsets[i]:offsets[i+1]].
// In the layout PLAIN each text that is not null follows its length, in four bytes, and there are no offsets.
type textColumn struct {
	offsets []int32
	text    []byte
	present []int16
	nulls   int
}

// newColumns returns empty columns that take their texts from names.
func newColumns(l layout, agents int, names *numbering, lim limits) *columns {
	c := &columns{agents: agents, limits: lim, names: names, plain: l.plain, wantDate: l.date}
	for _, col := range l.picked {
		c.want[col.base()] = true
		c.texts[col.base()].offsets = []int32{0}
	}
	if l.wide != nil {
		c.agents, c.wide = 1, make([]agentColumns, len(l.wide)/numWide)
	}
	for _, f := range l.kept {
		c.kept = append(c.kept, keptColumn{kind: f.kind, texts: textColumn{offsets: []int32{0}}})
		c.keptTexts = c.keptTexts || f.kind == kindText
	}
	c.canRun = l.plain && c.agents == 1 && l.wide == nil && !c.want[colViolation]
	c.resetRuns()
	return c
}

// reset empties the chunk. The dictionaries live on, see numbering.reset.
func (c *columns) reset() {
	c.rows, c.urlBytes, c.invalid = 0, 0, 0
	c.line = c.line[:0]
	for i := range c.texts {
		c.texts[i].reset()
	}
	c.allowed.reset()
	c.violated.reset()
	c.ruleLine.reset()
	for i := range c.ids {
		c.ids[i].reset()
	}
	for i := range c.wide {
		c.wide[i].reset()
	}
	for i := range c.kept {
		c.kept[i].reset()
	}
	c.date.reset()
	c.resetRuns()
}

func (t *textColumn) reset() {
	*t = textColumn{offsets: t.offsets[:min(1, len(t.offsets))], text: t.text[:0], present: t.present[:0]}
}

func (v *valueColumn[T]) reset() { v.values, v.present, v.nulls = v.values[:0], v.present[:0], 0 }

// extend appends n rows to the column, for the caller to fill.
func (v *valueColumn[T]) extend(n int) []T {
	v.values = slices.Grow(v.values, n)[:len(v.values)+n]
	return v.values[len(v.values)-n:]
}

// extendNullable is extend for a column with nulls: the caller fills both slices and counts the nulls.
func (v *valueColumn[T]) extendNullable(n int) ([]T, []int16) {
	v.present = slices.Grow(v.present, n)[:len(v.present)+n]
	return v.extend(n), v.present[len(v.present)-n:]
}

// full reports whether another URL may not fit.
func (c *columns) full() bool {
	return c.rows > 0 && (c.rows+c.agents > c.limits.rows || c.urlBytes >= c.limits.bytes)
}

// fit returns the end of the URLs of b, from the given one on, that the chunk takes: at least one if it is not full.
// It depends on nothing but the URLs, so that chunks end at the same rows however the rows are cut into batches.
func (c *columns) fit(b *engine.Batch, from int) int {
	to := min(b.Len(), from+max(1, (c.limits.rows-c.rows)/c.agents))
	if !c.want[colURL] && !c.want[colCanonical] && !c.keptTexts {
		return to
	}
	for i := from; i < to; i++ {
		if c.urlBytes >= c.limits.bytes {
			return i
		}
		if c.want[colURL] {
			c.urlBytes += int(b.URLs[i].Len) * c.agents
		}
		if c.want[colCanonical] {
			c.urlBytes += int(b.Canonicals[i].Len) * c.agents
		}
		if c.keptTexts {
			c.urlBytes += c.keptBytes(b, i) * c.agents
		}
	}
	return to
}

// append adds the URLs from up to to of b.
func (c *columns) append(b *engine.Batch, from, to int) {
	c.rows += (to - from) * c.agents
	if c.want[colLine] {
		c.appendLines(b.Lines[from:to])
	}
	if c.want[colURL] {
		c.appendURLs(&c.texts[colURL], b.Data, b.URLs[from:to])
	}
	if c.want[colCanonical] {
		c.appendURLs(&c.texts[colCanonical], b.Data, b.Canonicals[from:to])
	}
	if c.wantDate {
		c.appendDates(b, from, to)
	}
	c.appendKept(b, from, to)
	if len(b.Agents) > 0 || c.canRun && shortRuns(b.Sites[from:to]) {
		c.spread()
	}
	if c.runs[byBatch].on {
		c.appendRuns(b, from, to)
		return
	}
	if c.want[colInput] {
		fill(c.ids[colInput].extend((to-from)*c.agents), c.names.input(b.Input))
	}
	if c.want[colOrigin] {
		c.appendOrigins(b, from, to)
	}
	if c.wide != nil {
		c.appendWide(b, from, to)
	} else {
		c.appendLong(b, from, to)
	}
}

// appendLong adds what the URLs from up to to of b have in a row for each agent.
func (c *columns) appendLong(b *engine.Batch, from, to int) {
	if c.want[colAgent] {
		c.appendAgents(b, from, to)
	}
	verdicts := b.Verdicts[from*c.agents : to*c.agents]
	if c.want[colAllowed] {
		c.appendAllowed(verdicts)
	}
	if c.want[colReason] {
		c.appendReasons(verdicts)
	}
	if c.want[colRule] || c.want[colRuleLine] {
		c.appendRules(b, from, to)
	}
	if c.want[colViolation] {
		c.appendViolations(b.Violations[from*c.agents : to*c.agents])
	}
}

func fill(dst []int32, id int32) {
	for i := range dst {
		dst[i] = id
	}
}

func (c *columns) appendLines(lines []int64) {
	if c.agents == 1 {
		c.line = append(c.line, lines...)
		return
	}
	at, n := len(c.line), len(lines)*c.agents
	c.line = slices.Grow(c.line, n)[:at+n]
	for i, line := range lines {
		rows := c.line[at+i*c.agents:][:c.agents]
		for a := range rows {
			rows[a] = line
		}
	}
}

// appendURLs copies pieces of data to the column u, once per agent, and escapes what is not UTF-8.
func (c *columns) appendURLs(u *textColumn, data []byte, spans []engine.Span) {
	size := 0
	for _, span := range spans {
		size += int(span.Len)
	}
	valid := size > len(data)/4 && utf8.Valid(data) // of a few rows each is looked at by itself
	for _, span := range spans {
		present := int16(1)
		start := len(u.text)
		if c.plain && span != engine.NoURL {
			u.text = binary.LittleEndian.AppendUint32(u.text, span.Len)
		}
		switch {
		case span == engine.NoURL:
			present = 0
			u.nulls += c.agents
		case valid && validPiece(data, span):
			u.text = append(u.text, data[span.Off:span.Off+span.Len]...)
		default:
			var escaped int
			u.text, escaped = appendValid(u.text, data[span.Off:span.Off+span.Len])
			c.invalid += int64(escaped * c.agents)
			if c.plain {
				binary.LittleEndian.PutUint32(u.text[start:], uint32(len(u.text)-start-4))
			}
		}
		c.endText(u, present)
		end := len(u.text)
		for range c.agents - 1 {
			u.text = append(u.text, u.text[start:end]...)
			c.endText(u, present)
		}
	}
}

// endText ends a row of the column u.
func (c *columns) endText(u *textColumn, present int16) {
	u.present = append(u.present, present)
	if !c.plain {
		u.offsets = append(u.offsets, int32(len(u.text)))
	}
}

// textBytes returns the bytes of all texts of the chunk.
func (c *columns) textBytes() (size int) {
	for i := range c.texts {
		size += c.texts[i].textBytes(c.plain)
	}
	for i := range c.kept {
		size += c.kept[i].texts.textBytes(c.plain)
	}
	return size
}

// textBytes returns the bytes of the texts of the column.
func (t *textColumn) textBytes(plain bool) int {
	if plain {
		return len(t.text) - 4*(len(t.present)-t.nulls)
	}
	return len(t.text)
}

func (c *columns) appendOrigins(b *engine.Batch, from, to int) {
	col := &c.ids[colOrigin]
	ids, present := col.extendNullable((to - from) * c.agents)
	c.names.startBatch(len(b.Strays))
	last, id := engine.NoSite, int32(0) // logs are often grouped by origin
	for i, site := range b.Sites[from:to] {
		has := int16(1)
		if site == engine.NoSite {
			last, id, has = site, 0, 0
			col.nulls += c.agents
		} else if site != last {
			last, id = site, c.names.origin(site, b.Strays)
		}
		for a := i * c.agents; a < (i+1)*c.agents; a++ {
			ids[a], present[a] = id, has
		}
	}
}

// appendDates adds the days of the rows, null where the time is not known.
func (c *columns) appendDates(b *engine.Batch, from, to int) {
	ids, present := c.date.extendNullable((to - from) * c.agents)
	for i := range to - from {
		id, has := int32(0), int16(0)
		if len(b.Times) > 0 && b.Times[from+i] != math.MinInt64 {
			id, has = c.names.date(b.Times[from+i]), 1
		} else {
			c.date.nulls += c.agents
		}
		for a := i * c.agents; a < (i+1)*c.agents; a++ {
			ids[a], present[a] = id, has
		}
	}
}

func (c *columns) appendAgents(b *engine.Batch, from, to int) {
	ids := c.ids[colAgent].extend((to - from) * c.agents)
	if len(b.Agents) > 0 {
		for i, agent := range b.Agents[from:to] {
			ids[i] = c.names.agent(int(agent))
		}
		return
	}
	for a := range c.agents {
		ids[a] = c.names.agent(a)
	}
	for n := c.agents; n < len(ids); n *= 2 { // the row of agents repeats
		copy(ids[n:], ids[:n])
	}
}

func (c *columns) appendAllowed(verdicts []engine.Verdict) {
	values, present := c.allowed.extendNullable(len(verdicts))
	unknown := 0
	for i := range verdicts {
		values[i], present[i] = verdicts[i].Access == engine.Allowed, 1
		if verdicts[i].Access == engine.Unknown {
			present[i] = 0
			unknown++
		}
	}
	c.allowed.nulls += unknown
}

func (c *columns) appendViolations(violations []engine.Violation) {
	values, present := c.violated.extendNullable(len(violations))
	for i, v := range violations {
		values[i], present[i] = v == engine.Violated, 1
		if v == engine.ViolationUnknown {
			present[i] = 0
			c.violated.nulls++
		}
	}
}

func (c *columns) appendReasons(verdicts []engine.Verdict) {
	ids := c.ids[colReason].extend(len(verdicts))
	for i := range verdicts {
		ids[i] = c.names.reason(verdicts[i].Reason)
	}
}

// appendRules fills rule and rule_line. Where only one of them is wanted the other is filled all the same: the price is
// that of a store, and the containers leave it out.
func (c *columns) appendRules(b *engine.Batch, from, to int) {
	verdicts := b.Verdicts[from*c.agents : to*c.agents]
	ids, present := c.ids[colRule].extendNullable(len(verdicts))
	lines, linePresent := c.ruleLine.extendNullable(len(verdicts))
	nulls, i := 0, 0
	for row, site := range b.Rulings[from:to] {
		for a := range c.agents {
			if len(b.Agents) > 0 {
				a = int(b.Agents[from+row])
			}
			switch rule := verdicts[i].Rule; {
			case rule == engine.NoRule:
				ids[i], lines[i], present[i] = 0, 0, 0
				nulls++
			case c.agents > 1 && a > 0 && rule == verdicts[i-1].Rule && c.names.catalog.FirstAgent(site, a) == c.names.catalog.FirstAgent(site, a-1):
				ids[i], lines[i], present[i] = ids[i-1], lines[i-1], 1
			default:
				ids[i], lines[i] = c.names.rule(site, a, rule)
				present[i] = 1
			}
			i++
		}
	}
	copy(linePresent, present)
	c.ids[colRule].nulls += nulls
	c.ruleLine.nulls += nulls
}

// countInvalid adds the bytes that were escaped in the dictionary columns of the chunk.
func (c *columns) countInvalid() {
	for i := range c.ids {
		if c.names.dicts[i].escapes != nil {
			c.spread() // rare
		}
		ids := &c.ids[i]
		if !c.want[i] || len(ids.values) == 0 {
			continue
		}
		present := ids.present
		if len(present) == 0 {
			present = nil
		}
		c.invalid += c.names.dicts[i].escapesOf(ids.values, present)
	}
	for a := range c.wide {
		if ids := &c.wide[a].rule; c.want[colRule] {
			c.invalid += c.names.dict(wideColumn(a, wideRule)).escapesOf(ids.values, ids.present)
		}
	}
}
