package output

import (
	"slices"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/parquet"
)

// parquetChunk is one page of every column: a page of urls is about 1 MiB, as is usual.
var parquetChunk = limits{rows: 32 << 10, bytes: 1 << 20}

// groupLimits say when a row group ends: when it reaches one of them. Its compressed pages are held
// in memory until then.
type groupLimits struct {
	rows      int
	textBytes int // of the texts that are not in dictionaries
	dictBytes int // of the texts of all dictionaries, as numbering.size counts them
}

// parquetGroup bounds a row group to some tens of MiB, and gives readers, which work on several at
// a time, enough of them. While it is made, a dictionary takes three times the bytes of its texts:
// in the dictionary, as a page, and compressed.
var parquetGroup = groupLimits{rows: 512 << 10, textBytes: 32 << 20, dictBytes: 8 << 20}

// wideGroupCells is the most verdicts of a row group in the wide layout.
const wideGroupCells = 16 << 20

// A parquetFile writes every chunk as a page of each column. A page of numbers is packed with as
// many bits as its dictionary has needed so far, so the dictionary may grow from page to page; it
// is written, with the row group, when the last page is known.
type parquetFile struct {
	sink     *sink
	out      *parquet.Writer
	encoders pool[*parquet.Encoder]
	limits   groupLimits
	chunk    limits // of a chunk that is far from the end of the row group

	rows      int // of the group
	textBytes int // of the group
}

// newParquet starts a Parquet file.
func newParquet(s *sink, l *layout, opt Options) (*parquetFile, error) {
	c, level, err := opt.Compression.choose(Parquet, opt.Level)
	if err != nil {
		return nil, err
	}
	if err := checkBloom(l, Parquet, opt.Bloom); err != nil {
		return nil, err
	}
	fields := make([]parquet.Field, len(l.fields))
	for i, f := range l.fields {
		fields[i] = f.Field
		fields[i].Bloom = slices.Contains(opt.Bloom, f.Name)
		if f.Type == parquet.Text {
			fields[i].Delta = opt.Texts == AutoEncoding
		}
	}
	p := &parquetFile{sink: s, limits: parquetGroup, chunk: parquetChunk.forLayout(l)}
	if p.limits.rows = l.mostRows(p.limits.rows, wideGroupCells); opt.RowGroup > 0 {
		p.limits.rows = opt.RowGroup
	}
	p.out, err = parquet.NewWriter(s, fields, parquet.Options{
		CreatedBy: "robobatch version " + fieldtext.Valid(opt.Version), Codec: parquetCodecs[c], Level: level,
	})
	if err != nil {
		return nil, err
	}
	p.encoders = newPool(opt.Workers, p.out.NewEncoder)
	return p, nil
}

// write adds a chunk to the row group.
func (p *parquetFile) write(c *chunk) (*chunk, error) {
	p.rows += c.rows
	p.textBytes += c.size()
	w, err := p.encoders.get()
	if err != nil {
		return nil, err
	}
	to, names := p.out.Begin(c.rows, c.names.texts), c.names
	next := p.encoders.run(w, c, func() {
		for i, col := range c.columns {
			col.page(w.encoder, to, i)
		}
	})
	if p.rows+next.agents > p.limits.rows || p.textBytes >= p.limits.textBytes || names.size() >= p.limits.dictBytes {
		if err := p.endGroup(names); err != nil {
			return next, err
		}
	}
	next.limits = p.nextLimits()
	return next, nil
}

// nextLimits returns the limits of the next chunk: it ends where the row group has to.
func (p *parquetFile) nextLimits() limits {
	return limits{rows: min(p.chunk.rows, p.limits.rows-p.rows), bytes: p.chunk.bytes}
}

// endGroup writes the row group and forgets the dictionaries.
func (p *parquetFile) endGroup(names *numbering) error {
	p.abort()
	if err := p.out.EndGroup(names.texts); err != nil {
		return err
	}
	p.rows, p.textBytes = 0, 0
	names.reset()
	return p.sink.failed()
}

// abort waits for what is being encoded.
func (p *parquetFile) abort() { p.encoders.wait(func(*parquet.Encoder) {}) }

// close ends the row group and writes the footer.
func (p *parquetFile) close(c *chunk, md metadataPairs) error {
	if err := p.endGroup(c.names); err != nil {
		return err
	}
	return p.out.Close(md.keys, md.values)
}
