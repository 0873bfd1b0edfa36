package pipe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The codecs of compressed buffers.
const (
	codecNone = -1
	codecLZ4  = 0
	codecZstd = 1
)

// prefixSize is the size of the prefix of a compressed buffer, which is its unpacked length; -1 means that it is not
// compressed.
const prefixSize = 8

// A record has the lists of a record batch, and its body.
type record struct {
	rows     int
	nodes    []byte // length and nulls of each column, 16 bytes
	buffers  []byte // offset and length of each buffer in the body, 16 bytes
	variadic []byte // by column of views: the number of further buffers, in 8 bytes each
	codec    int
	body     []byte
}

// readRecord reads the header of a record batch, or of the one in a dictionary. The record shares the memory of t and
// body.
func readRecord(t table, body []byte) (record, error) {
	r := record{codec: codecNone, body: body}
	r.nodes, _ = t.vector(recordNodes, 16)
	r.buffers, _ = t.vector(recordBuffers, 16)
	r.variadic, _ = t.vector(recordVariadic, 8)
	if c, ok := t.table(recordCompression); ok {
		r.codec = int(c.byte(compressionCodec))
	}
	rows := t.int64(recordLength)
	if rows < 0 || rows > math.MaxInt32 {
		return r, damagedError("%d rows", rows)
	}
	r.rows = int(rows)
	return r, nil
}

func int64At(list []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(list[8*i:])) }

// An unpacker unpacks buffers. It reuses their memory: they are valid until reset.
type unpacker struct {
	zstd *zstd.Decoder
	lz4  *lz4.Reader
	free [][]byte
	used [][]byte
}

// reset reclaims all buffers.
func (u *unpacker) reset() { u.free, u.used = append(u.free, u.used...), u.used[:0] }

// unpack returns a buffer without compression: a part of b if it is not compressed, otherwise memory that is valid
// until reset.
func (u *unpacker) unpack(b []byte, codec int) ([]byte, error) {
	if codec == codecNone || len(b) == 0 {
		return b, nil
	}
	if len(b) < prefixSize {
		return nil, damagedError("a compressed buffer of %d bytes", len(b))
	}
	size, packed := int64At(b, 0), b[prefixSize:]
	if size == -1 {
		return packed, nil
	}
	if size < 0 {
		return nil, damagedError("a buffer of %d bytes", size)
	}
	var r io.Reader
	var err error
	switch codec {
	case codecLZ4:
		if u.lz4 == nil {
			u.lz4 = lz4.NewReader(nil)
		}
		u.lz4.Reset(bytes.NewReader(packed))
		r = u.lz4
	case codecZstd:
		if u.zstd == nil {
			u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		}
		if err == nil {
			err = u.zstd.Reset(bytes.NewReader(packed))
		}
		r = u.zstd
	default:
		err = fmt.Errorf("%w: buffers are compressed by an unknown codec (%d): send them uncompressed", errUnsupported, codec)
	}
	if err != nil {
		return nil, err
	}
	var memory []byte
	if n := len(u.free); n > 0 {
		memory, u.free = u.free[n-1], u.free[:n-1]
	}
	memory, err = readGrowing(r, memory, size)
	u.used = append(u.used, memory)
	switch {
	case isEnd(err):
		return nil, damagedError("a compressed buffer is shorter than its length field")
	case err != nil:
		return nil, damagedError("a compressed buffer: %v", err)
	}
	return memory, nil
}
