package output

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// parquetChunk is one page of every column: a page of urls is about 1 MiB, as is usual.
var parquetChunk = limits{rows: 32 << 10, bytes: 1 << 20}

// groupLimits say when a row group ends: when one of them is reached. Its compressed pages are held in memory until then.
type groupLimits struct {
	rows      int
	urlBytes  int // of the columns of URLs
	dictBytes int // of the texts of all dictionaries
}

// parquetGroup bounds a row group to some tens of MiB, and gives readers, which work on several at a time, enough of them.
var parquetGroup = groupLimits{rows: 512 << 10, urlBytes: 64 << 20, dictBytes: 16 << 20}

// magic begins and ends a Parquet file.
const magic = "PAR1"

// A parquetFile writes every chunk as a page of each column. A page of indices is packed with as many bits as its
// dictionary has needed so far, so the dictionary may grow from page to page; it is written, with the row group, when
// the last page is known.
//
// It builds the pages itself and leaves headers, footer and schema to the library: see encode.go.
type parquetFile struct {
	sink    *sink
	picked  []column
	props   *parquet.WriterProperties
	builder *metadata.FileMetaDataBuilder
	limits  groupLimits
	groups  int // row groups written

	rows     int // of the group
	urlBytes int // of the group
	chunks   [numColumns]columnChunk

	page  []byte  // scratch
	ids   []int32 // scratch
	bools []bool  // scratch
}

// A columnChunk is a column of a row group.
type columnChunk struct {
	data  []byte // compressed pages, end to end
	pages []pageInfo
	nulls int64
	least int64 // of the values that are not null, if there are any; numbers only
	most  int64
}

// A pageInfo describes a page of a columnChunk.
type pageInfo struct {
	rows       int
	size       int // before compression
	compressed int
}

// newParquet starts a Parquet file.
func newParquet(s *sink, picked []column, version string) (*parquetFile, error) {
	registerZstd()
	props := []parquet.WriterProperty{
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithCreatedBy("robobatch version " + validString(version)),
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDictionaryDefault(false),
		parquet.WithEncodingFor(fields[colLine].name, parquet.Encodings.DeltaBinaryPacked),
	}
	nodes := make(schema.FieldList, len(picked))
	for i, col := range picked {
		nodes[i] = fields[col].parquetNode()
		if fields[col].kind == kindDictionary {
			props = append(props, parquet.WithDictionaryFor(fields[col].name, true))
		}
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	p := &parquetFile{sink: s, picked: picked, limits: parquetGroup, props: parquet.NewWriterProperties(props...)}
	p.builder = metadata.NewFileMetadataBuilder(schema.NewSchema(root), p.props, nil)
	_, err = s.Write([]byte(magic))
	return p, err
}

// parquetNode returns the field as Parquet describes it.
func (f field) parquetNode() schema.Node {
	rep := parquet.Repetitions.Required
	if f.nullable {
		rep = parquet.Repetitions.Optional
	}
	switch f.kind {
	case kindInt64:
		return schema.NewInt64Node(f.name, rep, -1)
	case kindInt32:
		return schema.NewInt32Node(f.name, rep, -1)
	case kindBool:
		return schema.NewBooleanNode(f.name, rep, -1)
	case kindText, kindDictionary:
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(f.name, rep, schema.StringLogicalType{},
			parquet.Types.ByteArray, 0, -1))
	}
	panic("a column of no kind")
}

// write adds a chunk to the row group.
func (p *parquetFile) write(c *columns) error {
	for _, col := range p.picked {
		p.addPage(col, c)
	}
	p.rows += c.rows
	p.urlBytes += len(c.texts[colURL].text) + len(c.texts[colCanonical].text)
	if p.rows >= p.limits.rows || p.urlBytes >= p.limits.urlBytes || c.names.size() >= p.limits.dictBytes {
		return p.endGroup(&c.names)
	}
	return nil
}

// addPage compresses the column of a chunk as a page.
func (p *parquetFile) addPage(col column, c *columns) {
	chunk := &p.chunks[col]
	p.page = p.page[:0]
	switch col {
	case colLine:
		p.page = appendDeltas(p.page, c.line)
		chunk.extend(slices.Min(c.line), slices.Max(c.line))
	case colURL, colCanonical:
		p.addLevels(chunk, c.texts[col].present, c.texts[col].nulls)
		p.addTexts(&c.texts[col])
	case colAllowed:
		p.addLevels(chunk, c.allowed.present, c.allowed.nulls)
		p.page = packBits(p.page, compact(&p.bools, &c.allowed))
	case colViolation:
		p.addLevels(chunk, c.violated.present, c.violated.nulls)
		p.page = packBits(p.page, compact(&p.bools, &c.violated))
	case colRuleLine:
		p.addLevels(chunk, c.ruleLine.present, c.ruleLine.nulls)
		lines := compact(&p.ids, &c.ruleLine)
		for _, line := range lines {
			p.page = binary.LittleEndian.AppendUint32(p.page, uint32(line))
		}
		if len(lines) > 0 {
			chunk.extend(int64(slices.Min(lines)), int64(slices.Max(lines)))
		}
	default:
		ids := &c.ids[col]
		if fields[col].nullable {
			p.addLevels(chunk, ids.present, ids.nulls)
		}
		width := bits.Len(uint(max(1, c.names.dicts[col].len()) - 1))
		p.page = appendHybrid(append(p.page, byte(width)), compact(&p.ids, ids), width)
	}
	before := len(chunk.data)
	chunk.data = pooledZstd{}.append(chunk.data, p.page)
	chunk.pages = append(chunk.pages, pageInfo{rows: c.rows, size: len(p.page), compressed: len(chunk.data) - before})
}

// addLevels starts a page with what is null, and counts it.
func (p *parquetFile) addLevels(chunk *columnChunk, present []int16, nulls int) {
	chunk.nulls += int64(nulls)
	p.page = append(p.page, 0, 0, 0, 0)
	p.page = appendHybrid(p.page, present, 1)
	binary.LittleEndian.PutUint32(p.page, uint32(len(p.page)-4))
}

// addTexts appends the texts that are not null to the page.
func (p *parquetFile) addTexts(t *textColumn) {
	p.page = slices.Grow(p.page, len(t.text)+4*len(t.present))
	for i, present := range t.present {
		if present != 0 {
			text := t.text[t.offsets[i]:t.offsets[i+1]]
			p.page = binary.LittleEndian.AppendUint32(p.page, uint32(len(text)))
			p.page = append(p.page, text...)
		}
	}
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

// extend widens the range of values.
func (c *columnChunk) extend(least, most int64) {
	if c.least == 0 { // nothing yet: lines count from 1
		c.least = least
	}
	c.least, c.most = min(c.least, least), max(c.most, most)
}

// reset empties the chunk and keeps its memory.
func (c *columnChunk) reset() { *c = columnChunk{data: c.data[:0], pages: c.pages[:0]} }

// endGroup writes the row group and forgets the dictionaries.
func (p *parquetFile) endGroup(names *numbering) error {
	group := p.builder.AppendRowGroup()
	start := p.sink.pos
	for i, col := range p.picked {
		if err := p.writeColumn(group.NextColumnChunk(), i, col, &names.dicts[col]); err != nil {
			return fmt.Errorf("column %s: %w", fields[col].name, err)
		}
		p.chunks[col].reset()
	}
	group.SetNumRows(p.rows)
	if err := group.Finish(p.sink.pos-start, int16(p.groups)); err != nil {
		return fmt.Errorf("row group: %w", err)
	}
	p.groups++
	p.rows, p.urlBytes = 0, 0
	names.reset()
	return p.sink.err()
}

// writeColumn writes a column of the row group: its dictionary, if it has one, and its pages.
func (p *parquetFile) writeColumn(meta *metadata.ColumnChunkMetaDataBuilder, i int, col column, d *dictionary) error {
	w, err := file.NewPageWriter(p.sink, compress.Codecs.Zstd, 1, meta, int16(p.groups), int16(i),
		memory.DefaultAllocator, false, nil, nil)
	if err != nil {
		return err
	}
	encoding := p.props.EncodingFor(fields[col].name)
	hasDict := fields[col].kind == kindDictionary
	if hasDict {
		encoding = p.props.DictionaryIndexEncoding()
		p.page = d.appendPlain(p.page[:0])
		page := file.NewDictionaryPage(memory.NewBufferBytes(p.page), int32(d.len()), p.props.DictionaryPageEncoding())
		_, err = w.WriteDictionaryPage(page)
		page.Release()
		if err != nil {
			return err
		}
	}
	chunk := &p.chunks[col]
	data := chunk.data
	for _, info := range chunk.pages {
		page := file.NewDataPageV1(memory.NewBufferBytes(data[:info.compressed]), int32(info.rows), encoding,
			parquet.Encodings.RLE, parquet.Encodings.RLE, int32(info.size))
		_, err := w.WriteDataPage(page)
		page.Release()
		if err != nil {
			return err
		}
		data = data[info.compressed:]
	}
	meta.SetStats(chunk.stats(fields[col].kind))
	return w.Close(hasDict, false)
}

// appendPlain appends all texts in PLAIN encoding.
func (d *dictionary) appendPlain(dst []byte) []byte {
	for i := range d.len() {
		text := d.at(int32(i))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
		dst = append(dst, text...)
	}
	return dst
}

// stats returns the number of nulls and, for numbers, the range.
func (c *columnChunk) stats(k kind) (s metadata.EncodedStatistics) {
	s.SetNullCount(c.nulls)
	if c.most == 0 {
		return s
	}
	s.Signed = true
	switch k {
	case kindInt64:
		s.SetMin(binary.LittleEndian.AppendUint64(nil, uint64(c.least)))
		s.SetMax(binary.LittleEndian.AppendUint64(nil, uint64(c.most)))
	case kindInt32:
		s.SetMin(binary.LittleEndian.AppendUint32(nil, uint32(c.least)))
		s.SetMax(binary.LittleEndian.AppendUint32(nil, uint32(c.most)))
	case kindBool, kindText, kindDictionary:
	}
	return s
}

// close ends the row group and writes the footer.
func (p *parquetFile) close(c *columns, md metadataPairs) error {
	if p.rows > 0 {
		if err := p.endGroup(&c.names); err != nil {
			return err
		}
	}
	for i, key := range md.keys {
		if err := p.builder.AppendKeyValueMetadata(key, md.values[i]); err != nil {
			return fmt.Errorf("metadata %s: %w", key, err)
		}
	}
	footer, err := p.builder.Finish()
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	n, err := footer.WriteTo(p.sink, nil)
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	end := binary.LittleEndian.AppendUint32(nil, uint32(n))
	_, err = p.sink.Write(append(end, magic...))
	return err
}
