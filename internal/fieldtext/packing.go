package fieldtext

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A Packing is how lines of text are compressed.
type Packing uint8

// The packings.
const (
	NotPacked Packing = iota
	Zstd              // level 1, with checksums
	Gzip              // level 1
)

// A Packer compresses pieces of text, each to a zstd frame or gzip member of its own: pieces in a row
// are read as one text by all readers, and can be unpacked in parallel. It keeps its memory.
type Packer struct {
	zstd *zstd.Encoder
	gzip *gzip.Writer
	text bytes.Buffer // for gzip
	out  []byte       // for zstd
}

// NewPacker returns a Packer; a Packer of NotPacked leaves pieces as they are.
func NewPacker(p Packing) *Packer {
	switch p {
	case Zstd:
		return &Packer{zstd: must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true)))}
	case Gzip:
		return &Packer{gzip: must(gzip.NewWriterLevel(nil, gzip.BestSpeed))}
	case NotPacked:
	}
	return &Packer{}
}

// must returns the result of constant options, which cannot fail.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// Pack returns the piece as it is to be written, valid until the next call.
func (p *Packer) Pack(piece []byte) ([]byte, error) {
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
