package output

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// pages are a chunk as Parquet has it: a page of each column, compressed.
type pages struct {
	rows    int
	columns []page // by index in layout.picked
	kept    []page
	done    chan struct{} // gets a value when the pages are complete
}

// A page is a page of a column.
type page struct {
	dictLen int // texts in the column's dictionary, as of the end of the chunk
	data    []byte
	size    int // before compression
	stats   columnStats
	hashes  []uint64 // of its texts, for a Bloom filter
}

// A pageEncoder makes the pages of chunks, one chunk after the other. It keeps its memory.
type pageEncoder struct {
	packer packer
	bloom  []bool   // the columns with a Bloom filter, in their order
	spare  *columns // the chunk before, emptied; nil at first

	page  []byte  // before compression
	ids   []int32 // scratch
	bools []bool  // scratch

	ints   []int64   // scratch
	floats []float64 // scratch
	runs   []run     // scratch
}

// encode makes the pages of a chunk.
func (e *pageEncoder) encode(to *pages, c *columns, picked []column) {
	for group, g := range c.runs {
		if len(g.lengths)*longRuns > c.rows {
			c.spreadGroup(group)
		}
	}
	for i, col := range picked {
		p := &to.columns[i]
		p.stats = e.encodeColumn(c, col, p.dictLen)
		if col.base() == col {
			e.hash(p, e.bloom[i], c.texts[col].text)
		}
		e.finish(p)
	}
	for i := range c.kept {
		p := &to.kept[i]
		p.stats = e.encodeKept(&c.kept[i])
		e.hash(p, e.bloom[len(picked)+i], c.kept[i].texts.text)
		e.finish(p)
	}
}

// hash has the page remember the hashes of its texts, if they are wanted; a dictionary is hashed when it is complete.
func (e *pageEncoder) hash(p *page, wanted bool, plain []byte) {
	p.hashes = p.hashes[:0]
	if wanted {
		eachPlain(plain, func(text []byte) { p.hashes = append(p.hashes, bloomHash(text)) })
	}
}

// finish compresses the page that was made.
func (e *pageEncoder) finish(p *page) {
	p.size = len(e.page)
	p.data = e.packer.pack(p.data[:0], e.page)
}

// encodeColumn makes e.page the page of a column, and returns what it says of its values.
func (e *pageEncoder) encodeColumn(c *columns, col column, dictLen int) (stats columnStats) {
	e.page = e.page[:0]
	if lengths := c.runsOf(col); lengths != nil {
		return e.encodeRuns(c, col, lengths, dictLen)
	}
	switch col.base() {
	case colLine:
		e.page = appendDeltas(e.page, c.line)
		addInts(&stats, c.line)
	case colURL, colCanonical:
		stats.nulls = e.addLevels(c.texts[col].present, c.texts[col].nulls)
		e.page = append(e.page, c.texts[col].text...)
		stats.addPlain(c.texts[col].text)
	case colAllowed, colViolation:
		v := c.bools(col)
		stats.nulls = e.addLevels(v.present, v.nulls)
		values := compact(&e.bools, v)
		stats.addBools(values)
		e.page = packBits(e.page, values)
	case colRuleLine:
		v := c.ruleLines(col)
		stats.nulls = e.addLevels(v.present, v.nulls)
		lines := compact(&e.ids, v)
		for _, line := range lines {
			e.page = binary.LittleEndian.AppendUint32(e.page, uint32(line))
		}
		addInts(&stats, lines)
	default:
		ids := c.indices(col)
		if fields[col.base()].nullable {
			stats.nulls = e.addLevels(ids.present, ids.nulls)
		}
		width := bits.Len(uint(max(1, dictLen) - 1))
		e.page = appendHybrid(append(e.page, byte(width)), compact(&e.ids, ids), width)
	}
	return stats
}

// addLevels starts a page with what is null, and returns how many are.
func (e *pageEncoder) addLevels(present []int16, nulls int) int64 {
	e.page = append(e.page, 0, 0, 0, 0)
	if nulls == 0 {
		e.page = appendRun(e.page, 1, len(present), 1)
	} else {
		e.page = appendHybrid(e.page, present, 1)
	}
	binary.LittleEndian.PutUint32(e.page, uint32(len(e.page)-4))
	return int64(nulls)
}

// compact returns the values that are not null: all of them where they are, or a copy in the memory of scratch.
func compact[T any](scratch *[]T, v *valueColumn[T]) []T {
	if v.nulls == 0 {
		return v.values
	}
	dst := slices.Grow((*scratch)[:0], len(v.values))[:len(v.values)]
	n := 0
	for i, value := range v.values {
		dst[n] = value
		n += int(v.present[i])
	}
	*scratch = dst
	return dst[:n]
}
