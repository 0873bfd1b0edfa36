package container

import (
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/parquet"
)

// ParquetChunk is one page of every column: a page of urls is about 1 MiB, as is usual.
var ParquetChunk = columnar.Limits{Rows: 32 << 10, Bytes: 1 << 20}

// GroupLimits say when a row group ends: when it reaches one of them. Its compressed pages are held
// in memory until then.
type GroupLimits struct {
	Rows      int
	TextBytes int // of the texts that are not in dictionaries
	DictBytes int // of the texts of all dictionaries, as columnar.Numbering.Size counts them
}

// parquetGroup bounds a row group to some tens of MiB, and gives readers, which work on several at
// a time, enough of them. While it is made, a dictionary takes three times the bytes of its texts:
// in the dictionary, as a page, and compressed.
var parquetGroup = GroupLimits{Rows: 512 << 10, TextBytes: 32 << 20, DictBytes: 8 << 20}

// wideGroupCells is the most verdicts of a row group in the wide layout.
const wideGroupCells = 16 << 20

// A ParquetFile writes every chunk as a page of each column. A page of numbers is packed with as
// many bits as its dictionary has needed so far, so the dictionary may grow from page to page; it
// is written, with the row group, when the last page is known.
type ParquetFile struct {
	sink     *Sink
	out      *parquet.Writer
	encoders *Encoders
	Limits   GroupLimits
	Chunk    columnar.Limits // of a chunk that is far from the end of the row group

	rows      int // of the group
	textBytes int // of the group
}

// Encoders encode the pages of several files that are written beside one another, by one goroutine. The zero
// value has none yet.
type Encoders struct {
	pool   pool[*parquet.Encoder]
	writer *parquet.Writer // of one of the files
}

// begin begins a file.
func (e *Encoders) begin(s *Sink, fields []parquet.Field, opt parquet.Options, workers int) (out *parquet.Writer, err error) {
	if e.writer != nil {
		return e.writer.Beside(s)
	}
	e.writer, err = parquet.NewWriter(s, fields, opt)
	e.pool = newPool(workers, func() (*parquet.Encoder, error) { return e.writer.NewEncoder() })
	return e.writer, err
}

// Write adds a chunk to the row group.
func (p *ParquetFile) Write(c *columnar.Chunk) (*columnar.Chunk, error) {
	p.rows += c.Rows
	p.textBytes += c.Size()
	w, err := p.encoders.pool.takeWorker()
	if err != nil {
		return nil, err
	}
	defer p.encoders.pool.giveBack(w)
	to, names := p.out.Begin(c.Rows, c.Names.Texts), c.Names
	next := p.encoders.pool.run(w, c, func() {
		for i, col := range c.Columns {
			col.Page(w.encoder, to, i)
		}
	})
	if p.rows+next.Agents > p.Limits.Rows || p.textBytes >= p.Limits.TextBytes || names.Size() >= p.Limits.DictBytes {
		if err := p.endGroup(names); err != nil {
			return next, err
		}
	}
	next.Limits = p.nextLimits()
	return next, nil
}

// nextLimits returns the limits of the next chunk: it ends where the row group has to.
func (p *ParquetFile) nextLimits() columnar.Limits {
	return columnar.Limits{Rows: min(p.Chunk.Rows, p.Limits.Rows-p.rows), Bytes: p.Chunk.Bytes}
}

// endGroup writes the row group and forgets the dictionaries.
func (p *ParquetFile) endGroup(names *columnar.Numbering) error {
	if err := p.wait(); err != nil {
		return err
	}
	if err := p.out.EndGroup(names.Texts); err != nil {
		return err
	}
	p.rows, p.textBytes = 0, 0
	names.Reset()
	return p.sink.failed()
}

// wait waits for the chunks being encoded.
func (p *ParquetFile) wait() error { return p.encoders.pool.wait(func(*parquet.Encoder) {}) }

// Abort waits for the chunks being encoded.
func (p *ParquetFile) Abort() { p.wait() } //nolint:errcheck // nobody is left to report it to

// Close ends the row group and writes the footer.
func (p *ParquetFile) Close(c *columnar.Chunk, md Metadata) error {
	if err := p.endGroup(c.Names); err != nil {
		return err
	}
	p.encoders.writer = p.out // whose memory the next file takes over
	return p.out.Close(md.Keys, md.Values)
}
