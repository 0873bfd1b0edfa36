package output

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A packing is how lines of text are compressed.
type packing uint8

const (
	packNone packing = iota
	packZstd         // level 1, with checksums
	packGzip         // level 1
)

// A linePacker compresses pieces of text, each to a zstd frame or gzip member of its own: what follows another is read as one
// text by all readers, and can be unpacked in parallel. It keeps its memory.
type linePacker struct {
	zstd *zstd.Encoder
	gzip *gzip.Writer
	text bytes.Buffer // for gzip
	out  []byte       // for zstd
}

// newLinePacker returns a linePacker; that of packNone leaves pieces as they are.
func newLinePacker(p packing) *linePacker {
	switch p {
	case packZstd:
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return &linePacker{zstd: enc}
	case packGzip:
		w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			panic(err) // the level is a constant
		}
		return &linePacker{gzip: w}
	case packNone:
	}
	return &linePacker{}
}

// pack returns the piece as it is to be written, valid until the next call.
func (p *linePacker) pack(piece []byte) ([]byte, error) {
	switch {
	case p.zstd != nil:
		p.out = p.zstd.EncodeAll(piece, p.out[:0])
		return p.out, nil
	case p.gzip != nil:
		p.text.Reset()
		p.gzip.Reset(&p.text)
		if _, err := p.gzip.Write(piece); err != nil {
			return nil, err
		}
		err := p.gzip.Close()
		return p.text.Bytes(), err
	}
	return piece, nil
}
