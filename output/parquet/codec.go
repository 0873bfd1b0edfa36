package parquet

import (
	"bytes"
	"fmt"

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
