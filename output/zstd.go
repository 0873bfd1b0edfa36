package output

import (
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// registerZstd makes [pooledZstd] the codec of all Parquet files that this process writes or reads with arrow/go: its
// own makes a new encoder for every page. The bytes it writes depend on nothing but the page.
var registerZstd = sync.OnceFunc(func() { compress.RegisterCodec(compress.Codecs.Zstd, pooledZstd{}) })

// pooledZstd is zstd at level 1, without checksums, which Parquet readers do not look at. Methods panic where the
// interface has no error to return; the library recovers and returns it.
type pooledZstd struct{}

// newEncoder returns an encoder of pages.
func newEncoder() *zstd.Encoder {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return enc
}

var encoders = sync.Pool{New: func() any { return newEncoder() }}

var decoders = sync.Pool{New: func() any {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	return dec
}}

// append appends the compressed src to dst.
func (pooledZstd) append(dst, src []byte) []byte {
	enc := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(enc)
	return enc.EncodeAll(src, dst)
}

// Encode compresses src to dst, or to a new slice if dst is too short.
func (z pooledZstd) Encode(dst, src []byte) []byte { return z.append(dst[:0], src) }

// EncodeLevel is Encode: there is one level.
func (z pooledZstd) EncodeLevel(dst, src []byte, _ int) []byte { return z.Encode(dst, src) }

// CompressBound returns the length that no compressed page of n bytes exceeds, headers included.
func (pooledZstd) CompressBound(n int64) int64 { return n + n>>7 + 64 }

// Decode decompresses src to dst, or to a new slice if dst is too short.
func (pooledZstd) Decode(dst, src []byte) []byte {
	dec := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(dec)
	out, err := dec.DecodeAll(src, dst[:0])
	if err != nil {
		panic(fmt.Errorf("decompress a page: %w", err))
	}
	return out
}

// NewReader decompresses a stream.
func (pooledZstd) NewReader(r io.Reader) io.ReadCloser {
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	return dec.IOReadCloser()
}

// NewWriter compresses a stream.
func (pooledZstd) NewWriter(w io.Writer) io.WriteCloser {
	enc, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	return enc
}

// NewWriterLevel is NewWriter: there is one level.
func (z pooledZstd) NewWriterLevel(w io.Writer, _ int) (io.WriteCloser, error) {
	return z.NewWriter(w), nil
}
