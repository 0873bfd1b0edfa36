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

// pooledZstd is zstd, by default at level 1, without checksums, which Parquet readers do not look at. Methods panic where the
// interface has no error to return; the library recovers and returns it.
type pooledZstd struct{}

// newEncoder returns an encoder of pages.
func newEncoder(level zstd.EncoderLevel) *zstd.Encoder {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return enc
}

// encoders are by their level, of which the library has four.
var encoders [zstd.SpeedBestCompression + 1]sync.Pool

var decoders = sync.Pool{New: func() any {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	return dec
}}

// Encode is EncodeLevel at level 1.
func (z pooledZstd) Encode(dst, src []byte) []byte { return z.EncodeLevel(dst, src, 1) }

// EncodeLevel compresses src to dst, or to a new slice if dst is too short. A level below 1 counts as 1.
func (pooledZstd) EncodeLevel(dst, src []byte, level int) []byte {
	l := zstd.EncoderLevelFromZstd(level)
	enc, ok := encoders[l].Get().(*zstd.Encoder)
	if !ok {
		enc = newEncoder(l)
	}
	defer encoders[l].Put(enc)
	return enc.EncodeAll(src, dst[:0])
}

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
