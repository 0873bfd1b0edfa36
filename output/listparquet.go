package output

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// A listParquet writes a listing as Parquet. It leaves all to the library, whose column writers are fast enough here:
// the errors that they lose are those of the sink, which keeps them.
type listParquet struct {
	file *file.Writer

	rows, bytes int // of the row group, which is in memory until it is written
	texts       [numListTexts][]parquet.ByteArray
	ints        [numListInts][]int32
	truncated   []bool
	fetchedAt   []int64
	size        []int64
	levels      map[string][]int16 // by name of a column that may be null: 1, or 0 for null
}

// When a row group of a listing ends.
const (
	listGroupRows  = 128 << 10
	listGroupBytes = 32 << 20
)

// The columns of texts and of 32-bit integers.
const (
	listOrigin = iota
	listSource
	listURL
	listOutcome
	listError
	listItem
	listAgents
	listCode
	listValue
	numListTexts
)

const (
	listStatus = iota
	listGroupID
	listLine
	numListInts
)

// A listColumn is a column of the schema. index is its place in listParquet's texts or ints.
type listColumn struct {
	name     string
	physical parquet.Type
	index    int
	nullable bool
}

// listColumns is the schema of listings.
var listColumns = []listColumn{
	{"origin", parquet.Types.ByteArray, listOrigin, false},
	{"source", parquet.Types.ByteArray, listSource, true},
	{"url", parquet.Types.ByteArray, listURL, true},
	{"outcome", parquet.Types.ByteArray, listOutcome, false},
	{"status", parquet.Types.Int32, listStatus, true},
	{"error", parquet.Types.ByteArray, listError, true},
	{"fetched_at", parquet.Types.Int64, 0, true},
	{"size", parquet.Types.Int64, 0, true},
	{"truncated", parquet.Types.Boolean, 0, true},
	{"item", parquet.Types.ByteArray, listItem, false},
	{"group_id", parquet.Types.Int32, listGroupID, true},
	{"agents", parquet.Types.ByteArray, listAgents, true},
	{"line", parquet.Types.Int32, listLine, true},
	{"code", parquet.Types.ByteArray, listCode, true},
	{"value", parquet.Types.ByteArray, listValue, true},
}

// node returns the column as Parquet describes it.
func (c listColumn) node() schema.Node {
	rep := parquet.Repetitions.Required
	if c.nullable {
		rep = parquet.Repetitions.Optional
	}
	switch {
	case c.physical == parquet.Types.ByteArray:
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.name, rep, schema.StringLogicalType{}, c.physical, 0, -1))
	case c.name == "fetched_at":
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.name, rep,
			schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), c.physical, 0, -1))
	}
	return schema.MustPrimitive(schema.NewPrimitiveNode(c.name, rep, c.physical, -1, 0))
}

func newListParquet(s *sink, opt ListOptions) (*listParquet, error) {
	registerZstd()
	nodes := make(schema.FieldList, len(listColumns))
	for i, c := range listColumns {
		nodes[i] = c.node()
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	version := cmp.Or(opt.Version, "devel")
	p := &listParquet{
		file: file.NewParquetWriter(s, root, file.WithWriterProps(parquet.NewWriterProperties(
			parquet.WithVersion(parquet.V2_LATEST), parquet.WithCreatedBy("robobatch version "+validString(version)),
			parquet.WithCompression(compress.Codecs.Zstd),
		))),
		levels: map[string][]int16{},
	}
	pairs := append([][2]string{{KeyVersion, version}, {KeyDialect, opt.Dialect.String()}}, opt.Metadata...)
	for _, pair := range pairs {
		if err := p.file.AppendKeyValueMetadata(pair[0], validString(pair[1])); err != nil {
			return nil, fmt.Errorf("metadata %s: %w", pair[0], err)
		}
	}
	return p, nil
}

// add takes a row in.
func (p *listParquet) add(r *listRow) error {
	p.text(listOrigin, r.origin, true)
	p.text(listSource, r.source, r.source != "")
	p.text(listURL, r.url, r.url != "")
	p.text(listOutcome, r.outcome, true)
	p.text(listItem, r.item, true)
	p.text(listAgents, r.agents, r.agents != "")
	p.text(listCode, r.code, r.code != "")
	if r.value != nil {
		p.text(listValue, *r.value, true)
	} else {
		p.text(listValue, "", false)
	}
	p.number(listGroupID, r.group)
	p.number(listLine, r.line)
	p.response(r)
	if p.rows++; p.rows >= listGroupRows || p.bytes >= listGroupBytes {
		return p.endGroup()
	}
	return nil
}

// response adds what the row says of the response.
func (p *listParquet) response(r *listRow) {
	resp := r.response
	known := resp != nil
	dated := known && datable(resp.FetchedAt)
	p.level("fetched_at", dated)
	p.level("size", known)
	p.level("truncated", known)
	if !known {
		p.text(listError, "", false)
		p.number(listStatus, 0)
		return
	}
	p.text(listError, r.reason, r.reason != "")
	p.number(listStatus, int32(resp.Status))
	p.size = append(p.size, resp.Size)
	p.truncated = append(p.truncated, r.truncated)
	if dated {
		p.fetchedAt = append(p.fetchedAt, resp.FetchedAt.UnixMicro())
	}
}

func (p *listParquet) level(name string, present bool) {
	level := int16(0)
	if present {
		level = 1
	}
	p.levels[name] = append(p.levels[name], level)
}

func (p *listParquet) text(i int, s string, present bool) {
	p.level(textNames[i], present)
	if present {
		p.texts[i] = append(p.texts[i], parquet.ByteArray(validString(s)))
		p.bytes += len(s)
	}
}

func (p *listParquet) number(i int, n int32) {
	p.level(intNames[i], n != 0)
	if n != 0 {
		p.ints[i] = append(p.ints[i], n)
	}
}

// textNames and intNames are the names of the columns by their index.
var textNames, intNames = namesOf(parquet.Types.ByteArray), namesOf(parquet.Types.Int32)

func namesOf(t parquet.Type) (names [max(numListTexts, numListInts)]string) {
	for _, c := range listColumns {
		if c.physical == t {
			names[c.index] = c.name
		}
	}
	return names
}

// endGroup writes the rows so far.
func (p *listParquet) endGroup() error {
	group := p.file.AppendRowGroup()
	for _, c := range listColumns {
		w, err := group.NextColumn()
		if err == nil {
			err = p.writeColumn(w, c)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	if err := group.Close(); err != nil {
		return fmt.Errorf("row group: %w", err)
	}
	p.reset()
	return nil
}

// writeColumn writes a column of the row group.
func (p *listParquet) writeColumn(w file.ColumnChunkWriter, c listColumn) (err error) {
	levels := p.levels[c.name]
	if !c.nullable {
		levels = nil
	}
	switch w := w.(type) {
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(p.texts[c.index], levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(p.ints[c.index], levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(p.truncated, levels, nil)
	case *file.Int64ColumnChunkWriter:
		values := p.size
		if c.name == "fetched_at" {
			values = p.fetchedAt
		}
		_, err = w.WriteBatch(values, levels, nil)
	}
	if err != nil {
		return err
	}
	return w.Close()
}

func (p *listParquet) reset() {
	p.rows, p.bytes = 0, 0
	for i := range p.texts {
		p.texts[i] = p.texts[i][:0]
	}
	for i := range p.ints {
		p.ints[i] = p.ints[i][:0]
	}
	p.truncated, p.fetchedAt, p.size = p.truncated[:0], p.fetchedAt[:0], p.size[:0]
	for name := range p.levels {
		p.levels[name] = p.levels[name][:0]
	}
}

// close writes the last row group and the footer.
func (p *listParquet) close() error {
	if p.rows > 0 {
		if err := p.endGroup(); err != nil {
			return err
		}
	}
	if err := p.file.Close(); err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	return nil
}
