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

// A packer compresses src. The result depends on nothing but src, and may lie in the memory of dst,
// whose bytes do not count.
type packer func(dst, src []byte) []byte

// newPacker returns a packer of a codec at one of its levels, for one goroutine.
func newPacker(c Codec, level int) (packer, error) {
	switch c {
	case Zstd:
		enc := newZstd(zstd.EncoderLevelFromZstd(level))
		return func(dst, src []byte) []byte { return enc.EncodeAll(src, dst[:0]) }, nil
	case Snappy:
		return func(dst, src []byte) []byte { return s2.EncodeSnappy(dst[:cap(dst)], src) }, nil
	case Gzip:
		w, err := gzip.NewWriterLevel(nil, level)
		if err != nil {
			return nil, err
		}
		return func(dst, src []byte) []byte {
			buf := bytes.NewBuffer(dst[:0])
			w.Reset(buf)
			w.Write(src) //nolint:errcheck // memory accepts all bytes
			w.Close()    //nolint:errcheck // memory accepts all bytes
			return buf.Bytes()
		}, nil
	case Uncompressed:
		return func(_, src []byte) []byte { return src }, nil
	}
	return nil, fmt.Errorf("codec %d is unknown", c)
}

// zstdWindow is more than nearly all pages have. An encoder keeps as many bytes: with the windows of
// its levels, 4 to 16 MiB, and for speed twice that.
const zstdWindow = 2 << 20

// newZstd returns an encoder that writes no checksums: readers of Parquet do not look at them.
func newZstd(level zstd.EncoderLevel) *zstd.Encoder {
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true)) // the options are valid
	return enc
}
