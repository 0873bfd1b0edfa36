package output

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
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

// groupLimits returns the limits of row groups.
func (o Options) groupLimits(columns layout) groupLimits {
	l := parquetGroup.forLayout(columns)
	if o.RowGroup > 0 {
		l.rows = o.RowGroup
	}
	return l
}

// A parquetFile writes every chunk as a page of each column. A page of indices is packed with as many bits as its
// dictionary has needed so far, so the dictionary may grow from page to page; it is written, with the row group, when
// the last page is known.
//
// It builds the pages itself, several chunks at once, and leaves headers, footer and schema to the library: see
// encode.go and page.go.
type parquetFile struct {
	sink *sink
	layout
	props   *parquet.WriterProperties
	builder *metadata.FileMetaDataBuilder
	limits  groupLimits
	chunk   limits // of a chunk that is far from the end of the row group
	groups  int    // row groups written

	compression Compression
	level       int
	bloom       []bool // the columns with a Bloom filter, in their order
	bloomers    []bloomer

	rows     int // of the group
	urlBytes int // of the group
	chunks   []*pages
	spare    []*pages // whose memory the next group uses

	workers int
	idle    chan *pageEncoder // those with nothing to do
	made    int               // encoders, at most workers
	dict    []byte            // scratch
}

// newParquet starts a Parquet file. As many goroutines as there are workers encode chunks, with one worker the caller's.
func newParquet(s *sink, l layout, opt Options) (*parquetFile, error) {
	registerZstd()
	compression, level, err := opt.Compression.settle(Parquet, opt.Level)
	if err != nil {
		return nil, err
	}
	bloom, err := bloomed(l.fields(), Parquet, opt.Bloom)
	if err != nil {
		return nil, err
	}
	props := []parquet.WriterProperty{
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithCreatedBy("robobatch version " + validString(opt.Version)),
		parquet.WithCompression(parquetCodecs[compression]),
		parquet.WithDictionaryDefault(false),
		parquet.WithEncodingFor(fields[colLine].name, parquet.Encodings.DeltaBinaryPacked),
	}
	nodes := make(schema.FieldList, 0, len(l.picked)+len(l.kept))
	for _, f := range l.fields() {
		nodes = append(nodes, f.parquetNode())
		if f.kind == kindDictionary {
			props = append(props, parquet.WithDictionaryFor(f.name, true))
		}
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	p := &parquetFile{
		sink: s, layout: l, props: parquet.NewWriterProperties(props...),
		limits: opt.groupLimits(l), chunk: parquetChunk.forLayout(l),
		compression: compression, level: level, bloom: bloom,
	}
	p.workers = max(1, opt.Workers)
	p.idle = make(chan *pageEncoder, p.workers)
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
	case kindTime:
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(f.name, rep, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros),
			parquet.Types.Int64, 0, -1))
	case kindFloat:
		return schema.NewFloat64Node(f.name, rep, -1)
	}
	panic("a column of no kind")
}

// write adds a chunk to the row group.
func (p *parquetFile) write(c *columns) (*columns, error) {
	p.rows += c.rows
	p.urlBytes += c.textBytes()
	agents, names := c.agents, c.names
	next := p.encode(c)
	if p.rows+agents > p.limits.rows || p.urlBytes >= p.limits.urlBytes || names.size() >= p.limits.dictBytes {
		if err := p.endGroup(names); err != nil {
			return next, err
		}
	}
	next.limits = p.chunkLimits()
	return next, nil
}

// chunkLimits returns the limits of the next chunk: it ends where the row group has to.
func (p *parquetFile) chunkLimits() limits {
	return limits{rows: min(p.chunk.rows, p.limits.rows-p.rows), bytes: p.chunk.bytes}
}

// encode has the pages of a chunk made, and returns empty columns.
func (p *parquetFile) encode(c *columns) *columns {
	to := p.newPages(c)
	p.chunks = append(p.chunks, to)
	e := p.encoder()
	if p.workers == 1 {
		p.run(e, c, to)
		return c
	}
	next := e.spare
	e.spare = c
	if next == nil {
		next = newColumns(p.layout, c.agents, c.names, c.limits)
	}
	go p.run(e, c, to)
	return next
}

// run makes the pages of a chunk and empties it.
func (p *parquetFile) run(e *pageEncoder, c *columns, to *pages) {
	e.encode(to, c, p.picked)
	c.reset()
	to.done <- struct{}{}
	p.idle <- e
}

// encoder waits for an encoder that has nothing to do.
func (p *parquetFile) encoder() *pageEncoder {
	if p.made < p.workers && len(p.idle) == 0 {
		p.made++
		return &pageEncoder{packer: newPacker(p.compression, p.level), bloom: p.bloom}
	}
	return <-p.idle
}

// newPages returns empty pages for a chunk.
func (p *parquetFile) newPages(c *columns) *pages {
	to := &pages{columns: make([]page, len(p.picked)), kept: make([]page, len(p.kept)), done: make(chan struct{}, 1)}
	if n := len(p.spare); n > 0 {
		to = p.spare[n-1]
		p.spare = p.spare[:n-1]
	}
	to.rows = c.rows
	for i, col := range p.picked {
		to.columns[i].dictLen = c.names.dict(col).len()
	}
	return to
}

// abort waits for what is being encoded.
func (p *parquetFile) abort() {
	for ; p.made > 0; p.made-- {
		<-p.idle
	}
}

// endGroup writes the row group and forgets the dictionaries.
func (p *parquetFile) endGroup(names *numbering) error {
	for _, chunk := range p.chunks {
		<-chunk.done
	}
	group := p.builder.AppendRowGroup()
	start := p.sink.pos
	for i, f := range p.fields() {
		pageOf, dict := p.pagesOf(i, names)
		if err := p.writeColumn(group.NextColumnChunk(), columnChunk{i, f, pageOf, dict}); err != nil {
			return fmt.Errorf("column %s: %w", f.name, err)
		}
	}
	if err := p.writeBlooms(); err != nil {
		return err
	}
	p.spare = append(p.spare, p.chunks...)
	p.chunks = p.chunks[:0]
	group.SetNumRows(p.rows)
	if err := group.Finish(p.sink.pos-start, p.ordinal()); err != nil {
		return fmt.Errorf("row group: %w", err)
	}
	p.groups++
	p.rows, p.urlBytes = 0, 0
	names.reset()
	return p.sink.err()
}

// ordinal returns the number of the row group. Of more than it can count, the last all have the same: no reader of files
// that are not encrypted looks at it.
func (p *parquetFile) ordinal() int16 { return int16(min(p.groups, math.MaxInt16)) }

// A bloomer is a column of the row group that has a Bloom filter: it is told where that is.
type bloomer struct {
	hashes []uint64
	at     func(offset int64)
}

// writeBlooms writes the Bloom filters of the row group, behind it.
func (p *parquetFile) writeBlooms() error {
	for _, b := range p.bloomers {
		b.at(p.sink.pos)
		if err := newBloomFilter(b.hashes).writeTo(p.sink); err != nil {
			return err
		}
	}
	p.bloomers = p.bloomers[:0]
	return nil
}

// A columnChunk is a column of a row group.
type columnChunk struct {
	index int
	field field
	page  func(*pages) *page // its page of a chunk
	dict  *dictionary        // nil if it has none
}

// pagesOf returns where the pages of column i are, and its dictionary.
func (p *parquetFile) pagesOf(i int, names *numbering) (func(*pages) *page, *dictionary) {
	if k := i - len(p.picked); k >= 0 {
		return func(to *pages) *page { return &to.kept[k] }, nil
	}
	return func(to *pages) *page { return &to.columns[i] }, names.dict(p.picked[i])
}

// writeColumn writes a column of the row group: its dictionary, if it has one, and its pages.
func (p *parquetFile) writeColumn(meta *metadata.ColumnChunkMetaDataBuilder, col columnChunk) error {
	w, err := file.NewPageWriter(p.sink, parquetCodecs[p.compression], p.level, meta, p.ordinal(), int16(col.index),
		memory.DefaultAllocator, false, nil, nil)
	if err != nil {
		return err
	}
	encoding := p.props.EncodingFor(col.field.name)
	hasDict := col.field.kind == kindDictionary
	if hasDict {
		encoding = p.props.DictionaryIndexEncoding()
		p.dict = col.dict.appendPlain(p.dict[:0])
		page := file.NewDictionaryPage(memory.NewBufferBytes(p.dict), int32(col.dict.len()), p.props.DictionaryPageEncoding())
		_, err = w.WriteDictionaryPage(page)
		page.Release()
		if err != nil {
			return err
		}
	}
	var stats columnStats
	var hashes []uint64
	for _, chunk := range p.chunks {
		c := col.page(chunk)
		page := file.NewDataPageV1(memory.NewBufferBytes(c.data), int32(chunk.rows), encoding,
			parquet.Encodings.RLE, parquet.Encodings.RLE, int32(c.size))
		_, err := w.WriteDataPage(page)
		page.Release()
		if err != nil {
			return err
		}
		stats.merge(c.stats)
		hashes = append(hashes, c.hashes...)
	}
	if hasDict {
		stats.addDictionary(col.dict)
		hashes = col.dict.hashes(p.bloom[col.index])
	}
	if p.bloom[col.index] {
		p.bloomers = append(p.bloomers, bloomer{hashes, func(at int64) { meta.Contents().MetaData.BloomFilterOffset = &at }})
	}
	meta.SetStats(stats.encode(col.field.kind))
	return w.Close(hasDict, false)
}

// hashes returns those of all texts for a Bloom filter, if they are wanted.
func (d *dictionary) hashes(wanted bool) (all []uint64) {
	if wanted {
		for i := range d.len() {
			all = append(all, bloomHash(d.at(int32(i))))
		}
	}
	return all
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

// close ends the row group and writes the footer.
func (p *parquetFile) close(c *columns, md metadataPairs) error {
	if p.rows > 0 {
		if err := p.endGroup(c.names); err != nil {
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
