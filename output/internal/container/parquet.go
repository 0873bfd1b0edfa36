package container

import (
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/parquet"
)

// ParquetChunk limits a chunk, which becomes one page of every column: a page of URLs has the usual size of about 1
// MiB.
var ParquetChunk = columnar.Limits{Rows: 32 << 10, Bytes: 1 << 20}

// GroupLimits limit a row group: it ends when it reaches one of them. Its compressed pages are in memory until then.
type GroupLimits struct {
	Rows      int
	TextBytes int // size of the texts that are not in dictionaries
	DictBytes int // size of the texts in all dictionaries, as columnar.Numbering.Size counts them
}

// parquetGroup limits a row group to some tens of MiB, and gives readers enough row groups to read in parallel. Until a
// row group is written, a dictionary takes three times the size of its texts: as a table, as a page, and compressed.
var parquetGroup = GroupLimits{Rows: 512 << 10, TextBytes: 32 << 20, DictBytes: 8 << 20}

// wideGroupCells is the maximum number of verdicts in a row group of the wide layout.
const wideGroupCells = 16 << 20

// A ParquetFile writes every chunk as one page of each column. The dictionary may grow from page to page, because each
// page packs its indices with the number of bits that the dictionary needs at that time. It is written with the row
// group, after the last page.
type ParquetFile struct {
	sink     *Sink
	out      *parquet.Writer
	encoders *Encoders
	Limits   GroupLimits
	Chunk    columnar.Limits // of chunks, except the last of a row group

	rows      int // of the row group so far
	textBytes int // of the row group so far
}

// Encoders encode the pages of several files that one goroutine writes at the same time. The zero value is ready to
// use.
type Encoders struct {
	pool   pool[*parquet.Encoder]
	writer *parquet.Writer // of one of the files; nil before the first
}

// begin begins a file with the encoders and memory of earlier files, which must have the same fields and options. It
// makes them for the first file.
func (e *Encoders) begin(s *Sink, fields []parquet.Field, opt parquet.Options, workers int) (out *parquet.Writer, err error) {
	if e.writer != nil {
		return e.writer.Beside(s)
	}
	e.writer, err = parquet.NewWriter(s, fields, opt)
	e.pool = newPool(workers, func() (*parquet.Encoder, error) { return e.writer.NewEncoder() })
	return e.writer, err
}

// Write starts to encode a chunk as a page of each column, and ends the row group if it is full.
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

// nextLimits returns the limits of the next chunk, which must not extend beyond the row group.
func (p *ParquetFile) nextLimits() columnar.Limits {
	return columnar.Limits{Rows: min(p.Chunk.Rows, p.Limits.Rows-p.rows), Bytes: p.Chunk.Bytes}
}

// endGroup waits for the encoders, writes the row group, and empties the dictionaries.
func (p *ParquetFile) endGroup(names *columnar.Numbering) error {
	if err := p.wait(); err != nil {
		return err
	}
	if err := p.out.EndGroup(names.Texts); err != nil {
		return err
	}
	p.rows, p.textBytes = 0, 0
	names.Reset()
	return p.sink.firstError()
}

// wait waits for the chunks being encoded.
func (p *ParquetFile) wait() error { return p.encoders.pool.wait(func(*parquet.Encoder) {}) }

// Abort waits for the chunks being encoded.
func (p *ParquetFile) Abort() { p.wait() } //nolint:errcheck // the output is dropped

// Close ends the row group, and writes the footer with the metadata.
func (p *ParquetFile) Close(c *columnar.Chunk, md Metadata) error {
	if err := p.endGroup(c.Names); err != nil {
		return err
	}
	p.encoders.writer = p.out // the next file reuses its memory
	return p.out.Close(md.Keys, md.Values)
}
