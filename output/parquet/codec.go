package parquet

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// A Codec is a compression of pages.
type Codec uint8

// The codecs.
const (
	Uncompressed Codec = iota
	Zstd               // levels 1 to 22
	Snappy             // no levels
	Gzip               // levels 1 to 9
)

// library are the codecs as the library names them.
var library = [...]compress.Compression{
	Uncompressed: compress.Codecs.Uncompressed, Zstd: compress.Codecs.Zstd,
	Snappy: compress.Codecs.Snappy, Gzip: compress.Codecs.Gzip,
}

// A packer appends the compressed src to dst. The result depends on nothing but src.
type packer func(dst, src []byte) []byte

// newPacker returns a packer of a codec at one of its levels, for one goroutine.
func newPacker(c Codec, level int) (packer, error) {
	switch c {
	case Zstd:
		enc := newZstd(zstd.EncoderLevelFromZstd(level))
		return func(dst, src []byte) []byte { return enc.EncodeAll(src, dst) }, nil
	case Snappy:
		return func(dst, src []byte) []byte { return s2.EncodeSnappy(dst[:cap(dst)], src) }, nil // dst is empty
	case Gzip:
		w, err := gzip.NewWriterLevel(nil, level)
		if err != nil {
			return nil, err
		}
		return func(dst, src []byte) []byte {
			buf := bytes.NewBuffer(dst)
			w.Reset(buf)
			w.Write(src) //nolint:errcheck // memory accepts all bytes
			w.Close()    //nolint:errcheck // memory accepts all bytes
			return buf.Bytes()
		}, nil
	case Uncompressed:
		return func(dst, src []byte) []byte { return append(dst, src...) }, nil
	}
	return nil, fmt.Errorf("codec %d is unknown", c)
}

// newZstd returns an encoder that writes no checksums: readers of Parquet do not look at them.
func newZstd(level zstd.EncoderLevel) *zstd.Encoder {
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true)) // the options are valid
	return enc
}

// A pooledZstd replaces the library's zstd, which makes a new encoder for every page. The library
// compresses dictionaries, and all pages of a Table.
type pooledZstd struct{ compress.Codec }

// The library has one codec for the whole process, so this package sets it once.
func init() { //nolint:gochecknoinits // the library's registry is global and not safe for concurrent use
	old, _ := compress.GetCodec(compress.Codecs.Zstd) // the library has it
	compress.RegisterCodec(compress.Codecs.Zstd, pooledZstd{old})
}

// encoders are by level, of which zstd.Encoder has four.
var encoders [zstd.SpeedBestCompression + 1]sync.Pool

// Encode compresses src at level 1.
func (z pooledZstd) Encode(dst, src []byte) []byte { return z.EncodeLevel(dst, src, 1) }

// EncodeLevel compresses src into dst, or into a new slice if dst is too short. A level below 1
// counts as 1.
func (pooledZstd) EncodeLevel(dst, src []byte, level int) []byte {
	l := zstd.EncoderLevelFromZstd(level)
	enc, ok := encoders[l].Get().(*zstd.Encoder)
	if !ok {
		enc = newZstd(l)
	}
	defer encoders[l].Put(enc)
	return enc.EncodeAll(src, dst[:0])
}
