package columnar

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/output/parquet"
)

// Limits say when a chunk is full.
type Limits struct {
	Rows  int // maximum rows of the table
	Bytes int // maximum number of bytes of texts outside dictionaries, before escaping
}

// wideCells is the maximum number of verdicts of a chunk in the wide layout. It limits a chunk of many agents to a
// few megabytes, because a verdict takes up to 19 bytes. With twice as many, files are 3 % smaller and take the same
// time to write.
const wideCells = 512 << 10

// ForSchema returns the limits for chunks of a layout.
func (lim Limits) ForSchema(l *Schema) Limits {
	lim.Rows = l.MostRows(lim.Rows, wideCells)
	return lim
}

// MostRows returns the maximum number of rows for a limit on rows and a limit on verdicts.
func (l *Schema) MostRows(rows, cells int) int {
	if !l.Wide {
		return rows
	}
	return max(1, min(rows, cells/max(1, len(l.Agents))))
}

// A Chunk holds rows that are written together, by column. Its memory is reused for later rows.
type Chunk struct {
	Schema  *Schema
	Columns []column      // by field
	texts   []int         // indices of columns of type Text
	rules   []ruleColumns // by agent in the wide layout; one in the long
	Agents  int           // rows per URL
	Limits  Limits
	Names   *Numbering // shared by all chunks of a Writer

	Rows      int
	textBytes int   // as counted for Limits
	Invalid   int64 // bytes escaped, see output.Writer.InvalidBytes
	streaks   bool  // whether columns may have one value per streak, see gathering
}

// A Ref is a row of one of several chunks.
type Ref struct{ Chunk, Row uint32 }

// NewChunk returns an empty chunk that uses the dictionaries in names, which must have the same layout. agents is the
// number of rows per URL; in the wide layout, it is always 1.
func NewChunk(l *Schema, agents int, names *Numbering, lim Limits) *Chunk {
	c := &Chunk{Schema: l, Agents: agents, Limits: lim, Names: names}
	if l.Wide {
		c.Agents = 1
	}
	c.rules = make([]ruleColumns, max(1, len(l.Agents)))
	for i := range l.Fields {
		col := newColumn(&l.Fields[i], l.pages, names.Dicts[i])
		c.Columns = append(c.Columns, col)
		if l.Fields[i].Type == parquet.Text {
			c.texts = append(c.texts, i)
		}
		switch rules := &c.rules[l.Fields[i].agent]; l.Fields[i].spec.Name {
		case nameRule:
			rules.texts = col.(*dictColumn)
		case nameRuleLine:
			rules.lines = col.(*int32Column)
		}
	}
	c.Reset()
	return c
}

// Next returns an empty chunk for the next rows, with the dictionaries and layout of c.
func (c *Chunk) Next() *Chunk { return NewChunk(c.Schema, c.Agents, c.Names, c.Limits) }

// Use makes an empty chunk use the dictionaries in names, which must have the same layout.
func (c *Chunk) Use(names *Numbering) {
	if c.Names == names {
		return
	}
	c.Names = names
	for i, col := range c.Columns {
		if d, ok := col.(*dictColumn); ok {
			d.dict = names.Dicts[i]
		}
	}
}

// Reset empties the chunk, but not the dictionaries.
func (c *Chunk) Reset() {
	c.Rows, c.textBytes, c.Invalid = 0, 0, 0
	c.streaks = c.Schema.streaks && c.Agents == 1
	for i, col := range c.Columns {
		col.reset(c.streaks && c.Schema.Fields[i].spec.streaks)
	}
}

// expandStreaks makes each column store one value per row, for the present and for later rows.
func (c *Chunk) expandStreaks() {
	if !c.streaks {
		return
	}
	c.streaks = false
	for _, col := range c.Columns {
		col.expandStreaks()
	}
}

// Full reports whether another URL may not fit.
func (c *Chunk) Full() bool {
	return c.Rows > 0 && (c.Rows+c.Agents > c.Limits.Rows || c.textBytes >= c.Limits.Bytes)
}

// Fit returns the end of the range of b's URLs, beginning at from, that fit in the chunk: at least one if the chunk is
// not full. It already counts the bytes of their texts, so Append must follow with this range. The end depends only on
// the URLs, so chunks end at the same rows whatever the batches are.
func (c *Chunk) Fit(b *engine.Batch, from int) int {
	to := min(b.Len(), from+max(1, (c.Limits.Rows-c.Rows)/c.Agents))
	if len(c.texts) == 0 {
		return to
	}
	var buf [8][]engine.Span
	spans := buf[:0]
	for _, i := range c.texts {
		f := &c.Schema.Fields[i]
		spans = append(spans, f.spec.spans(b, f))
	}
	for i := from; i < to; i++ {
		if c.textBytes >= c.Limits.Bytes {
			return i
		}
		for _, s := range spans {
			c.textBytes += int(s[i].Len) * c.Agents
		}
	}
	return to
}

// Append adds the URLs b.URLs[from:to] with their verdicts. It does not keep b after the call.
func (c *Chunk) Append(b *engine.Batch, from, to int) {
	if len(b.Agents) > 0 || c.streaks && hasShortStreaks(b.Sites[from:to]) {
		c.expandStreaks()
	}
	c.Names.gathering.gather(c, b, from, to)
	c.Rows += (to - from) * c.Agents
}

// Size returns the bytes of all texts that are not in dictionaries.
func (c *Chunk) Size() (n int) {
	for _, i := range c.texts {
		n += c.Columns[i].(*TextColumn).size()
	}
	return n
}

// CountInvalid adds to c.Invalid the number of bytes that were escaped in texts of dictionaries. Call it once, when
// the chunk has all its rows.
func (c *Chunk) CountInvalid() {
	for _, col := range c.Columns {
		d, ok := col.(*dictColumn)
		if !ok || d.dict.escapes == nil {
			continue
		}
		d.expandStreaks() // rarely needed
		for i, id := range d.All {
			if len(d.Present) == 0 || d.Present[i] != 0 {
				c.Invalid += int64(d.dict.escapes[id])
			}
		}
	}
}

// FitRows returns how many of the rows fit in the chunk, which must not be full: at least one. It already counts the
// bytes of their texts, so TakeRows must follow with these rows. The result depends only on the rows.
func (c *Chunk) FitRows(from []*Chunk, rows []Ref) int {
	n := min(len(rows), c.Limits.Rows-c.Rows)
	if len(c.texts) == 0 {
		return n
	}
	var buf [8]*TextColumn
	texts, of := buf[:0], ^uint32(0)
	for i, r := range rows[:n] {
		if c.textBytes >= c.Limits.Bytes {
			return i
		}
		if r.Chunk != of {
			of, texts = r.Chunk, texts[:0]
			for _, at := range c.texts {
				texts = append(texts, from[of].Columns[c.Schema.gatheredIndex(at)].(*TextColumn))
			}
		}
		for _, t := range texts {
			c.textBytes += int(t.offsets[r.Row+1] - t.offsets[r.Row])
		}
	}
	return n
}

// countSameChunk returns the number of rows at the start that are in the same chunk. There must be at least one row.
func countSameChunk(rows []Ref) int {
	n := 1
	for n < len(rows) && rows[n].Chunk == rows[0].Chunk {
		n++
	}
	return n
}

// FullForRow reports whether no further row fits. Unlike Full, it does not require room for all rows of a URL.
func (c *Chunk) FullForRow() bool { return c.Rows >= c.Limits.Rows || c.textBytes >= c.Limits.Bytes }

// TakeRows appends rows of other chunks, which must have the gathered layout. Their dictionaries may differ from those
// of c, which get the texts that they lack.
func (c *Chunk) TakeRows(from []*Chunk, rows []Ref) {
	c.expandStreaks()
	c.Rows += len(rows)
	for i, col := range c.Columns {
		col.appendRows(from, c.Schema.gatheredIndex(i), rows)
	}
}

// gatheredIndex returns the index of a column in the gathered layout.
func (l *Schema) gatheredIndex(i int) int {
	if l.from == nil {
		return i
	}
	return l.from[i]
}

// Memory returns how many bytes are allocated for the chunk, without the dictionaries.
func (c *Chunk) Memory() (size int) {
	for _, col := range c.Columns {
		size += col.allocated()
	}
	return size
}

// Encode appends the chunk with its dictionaries to dst, for Decode.
func (c *Chunk) Encode(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(c.Rows))
	for _, col := range c.Columns {
		dst = col.encode(dst)
	}
	return dst
}

// Decode replaces the content of the chunk by the output of Encode. Afterwards, its dictionaries return texts, but
// must not get new ones.
func (c *Chunk) Decode(b []byte) error {
	c.Reset()
	d := wire.NewCursor(b)
	c.Rows = d.Count()
	for _, col := range c.Columns {
		col.decode(&d)
	}
	if !d.AtEnd() {
		return errBlock
	}
	return nil
}

// Arrays returns the columns as arrays that share their memory. texts says which texts the arrays of dictionaries
// have.
func (c *Chunk) Arrays(texts DictTexts) []arrow.Array {
	all := make([]arrow.Array, len(c.Columns))
	for i, col := range c.Columns {
		all[i] = col.toArrow(c.Rows, texts)
	}
	return all
}

// ArrowFields returns the columns as Arrow describes them.
func (c *Chunk) ArrowFields() []arrow.Field {
	all := make([]arrow.Field, len(c.Columns))
	for i, f := range c.Schema.Fields {
		all[i] = arrow.Field{Name: f.Name, Type: c.Columns[i].dataType(), Nullable: f.Nullable}
	}
	return all
}
