package output

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/output/parquet"
)

// limits say when a chunk is full.
type limits struct {
	rows  int // rows of the table
	bytes int // bytes of the texts that are not in dictionaries, before escaping
}

// wideCells is the most verdicts of a chunk in the wide layout, so that a chunk of many agents,
// too, takes some megabytes: up to 19 bytes a verdict. With twice as many, files are 3 % smaller
// and take as long to write.
const wideCells = 512 << 10

// forLayout returns the limits for chunks of a layout.
func (lim limits) forLayout(l *layout) limits {
	lim.rows = l.mostRows(lim.rows, wideCells)
	return lim
}

// mostRows returns how many rows a table may have that may have so many rows and verdicts.
func (l *layout) mostRows(rows, cells int) int {
	if !l.wide {
		return rows
	}
	return max(1, min(rows, cells/max(1, len(l.agents))))
}

// A chunk is rows that are written together, by column. Its memory is used again for the next rows.
type chunk struct {
	layout  *layout
	columns []column      // by field
	texts   []int         // the columns of Text
	rules   []ruleColumns // by agent in the wide layout; one in the long
	agents  int           // rows of a URL
	limits  limits
	names   *numbering // shared by all chunks of a Writer

	rows      int
	textBytes int   // as limits count them
	invalid   int64 // bytes escaped, see Writer.InvalidBytes
	streaks   bool  // columns that can have a value a streak, see gathering
}

// A ref is a row of one of several chunks.
type ref struct{ chunk, row uint32 }

// newChunk returns an empty chunk that takes texts from names, whose layout is the same.
func newChunk(l *layout, agents int, names *numbering, lim limits) *chunk {
	c := &chunk{layout: l, agents: agents, limits: lim, names: names}
	if l.wide {
		c.agents = 1
	}
	c.rules = make([]ruleColumns, max(1, len(l.agents)))
	for i := range l.fields {
		col := newColumn(&l.fields[i], l.pages, names.dicts[i])
		c.columns = append(c.columns, col)
		if l.fields[i].Type == parquet.Text {
			c.texts = append(c.texts, i)
		}
		switch rules := &c.rules[l.fields[i].agent]; l.fields[i].spec.Name {
		case nameRule:
			rules.texts = col.(*dictColumn)
		case nameRuleLine:
			rules.lines = col.(*int32Column)
		}
	}
	c.reset()
	return c
}

// next returns a chunk like c for the rows after it.
func (c *chunk) next() *chunk { return newChunk(c.layout, c.agents, c.names, c.limits) }

// reset empties the chunk. The dictionaries live on.
func (c *chunk) reset() {
	c.rows, c.textBytes, c.invalid = 0, 0, 0
	c.streaks = c.layout.streaks && c.agents == 1
	for i, col := range c.columns {
		col.reset(c.streaks && c.layout.fields[i].spec.streaks)
	}
}

// spread gives each column a value for each row, also for rows to come.
func (c *chunk) spread() {
	if !c.streaks {
		return
	}
	c.streaks = false
	for _, col := range c.columns {
		col.spread()
	}
}

// full reports whether another URL may not fit.
func (c *chunk) full() bool {
	return c.rows > 0 && (c.rows+c.agents > c.limits.rows || c.textBytes >= c.limits.bytes)
}

// fit returns the end of the URLs of b, from the given one on, that the chunk takes: at least one
// if it is not full. It depends on nothing but the URLs, so that chunks end at the same rows
// however the rows are cut into batches.
func (c *chunk) fit(b *engine.Batch, from int) int {
	to := min(b.Len(), from+max(1, (c.limits.rows-c.rows)/c.agents))
	if len(c.texts) == 0 {
		return to
	}
	var buf [8][]engine.Span
	spans := buf[:0]
	for _, i := range c.texts {
		f := &c.layout.fields[i]
		spans = append(spans, f.spec.spans(b, f))
	}
	for i := from; i < to; i++ {
		if c.textBytes >= c.limits.bytes {
			return i
		}
		for _, s := range spans {
			c.textBytes += int(s[i].Len) * c.agents
		}
	}
	return to
}

// append adds the URLs from up to to of b.
func (c *chunk) append(b *engine.Batch, from, to int) {
	if len(b.Agents) > 0 || c.streaks && shortStreaks(b.Sites[from:to]) {
		c.spread()
	}
	c.names.gathering.gather(c, b, from, to)
	c.rows += (to - from) * c.agents
}

// size returns the bytes of all texts that are not in dictionaries.
func (c *chunk) size() (n int) {
	for _, i := range c.texts {
		n += c.columns[i].(*textColumn).size()
	}
	return n
}

// countInvalid adds the bytes that were escaped in texts of dictionaries.
func (c *chunk) countInvalid() {
	for _, col := range c.columns {
		if d, ok := col.(*dictColumn); ok {
			c.invalid += d.invalid()
		}
	}
}

// fitRows returns how many of the rows, at least one, the chunk takes, which is not full. It
// depends on nothing but the rows.
func (c *chunk) fitRows(from []*chunk, rows []ref) int {
	n := min(len(rows), c.limits.rows-c.rows)
	if len(c.texts) == 0 {
		return n
	}
	for i, r := range rows[:n] {
		if c.textBytes >= c.limits.bytes {
			return i
		}
		for _, at := range c.texts {
			c.textBytes += len(from[r.chunk].columns[c.layout.source(at)].(*textColumn).row(r.row))
		}
	}
	return n
}

// filled reports whether the chunk takes no other row.
func (c *chunk) filled() bool { return c.rows >= c.limits.rows || c.textBytes >= c.limits.bytes }

// takeRows appends rows of other chunks, of the layout that is gathered.
func (c *chunk) takeRows(from []*chunk, rows []ref) {
	c.spread()
	c.rows += len(rows)
	for i, col := range c.columns {
		col.take(from, c.layout.source(i), rows)
	}
}

// source returns the index that a column has in the layout that is gathered.
func (l *layout) source(i int) int {
	if l.from == nil {
		return i
	}
	return l.from[i]
}

// memory returns how many bytes are allocated for the chunk, without the dictionaries.
func (c *chunk) memory() (size int) {
	for _, col := range c.columns {
		size += col.allocated()
	}
	return size
}

// encode appends the chunk with its dictionaries to dst.
func (c *chunk) encode(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(c.rows))
	for _, col := range c.columns {
		dst = col.encode(dst)
	}
	return dst
}

// decode reads what encode wrote into the chunk.
func (c *chunk) decode(b []byte) error {
	c.reset()
	d := wire.NewCursor(b)
	c.rows = d.Count()
	for _, col := range c.columns {
		col.decode(&d)
	}
	if !d.AtEnd() {
		return errBlock
	}
	return nil
}

// arrays returns the columns as arrays that share their memory.
func (c *chunk) arrays(texts dictTexts) []arrow.Array {
	all := make([]arrow.Array, len(c.columns))
	for i, col := range c.columns {
		all[i] = col.toArrow(c.rows, texts)
	}
	return all
}

// arrowFields returns the columns as Arrow describes them.
func (c *chunk) arrowFields() []arrow.Field {
	all := make([]arrow.Field, len(c.columns))
	for i, f := range c.layout.fields {
		all[i] = arrow.Field{Name: f.Name, Type: c.columns[i].dataType(), Nullable: f.Nullable}
	}
	return all
}
