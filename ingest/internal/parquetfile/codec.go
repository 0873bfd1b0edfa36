package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// An unpacker decompresses pages, for one goroutine.
type unpacker struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

// errLength is the error of a page that has another length before compression than its header says.
var errLength = errors.New("it has another length than its header says")

// unpack returns the decompressed src, which has that size, in the memory of dst or in its own.
func (u *unpacker) unpack(codec compress.Compression, dst, src []byte, size int) (page []byte, err error) {
	switch codec {
	case compress.Codecs.Uncompressed:
		page = src
	case compress.Codecs.Snappy:
		page, err = unsnappy(dst, src, size)
	case compress.Codecs.Zstd:
		if u.zstd == nil {
			if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
				return nil, err
			}
		}
		page, err = u.zstd.DecodeAll(src, dst[:0])
	case compress.Codecs.Gzip:
		page, err = u.gunzip(dst, src, size)
	default:
		page, err = unpackOther(codec, src, size)
	}
	if err != nil {
		return nil, fmt.Errorf("it cannot be unpacked: %w", err)
	}
	if len(page) != size {
		return nil, errLength
	}
	return page, nil
}

// unsnappy unpacks src, which must give size bytes, into the memory of dst.
func unsnappy(dst, src []byte, size int) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err == nil && n != size {
		err = errLength
	}
	if err != nil {
		return nil, err
	}
	return s2.Decode(dst[:cap(dst)], src)
}

// gunzip unpacks src into the memory of dst, and ends after size + 1 bytes, so that the caller sees
// too many.
func (u *unpacker) gunzip(dst, src []byte, size int) ([]byte, error) {
	if u.gzip == nil {
		u.gzip = new(gzip.Reader)
	}
	if err := u.gzip.Reset(bytes.NewReader(src)); err != nil {
		return nil, err
	}
	buf := bytes.NewBuffer(dst[:0])
	_, err := io.Copy(buf, io.LimitReader(u.gzip, int64(size)+1))
	return buf.Bytes(), err
}

// unpackOther unpacks the other formats that the library knows. It panics at damaged data.
func unpackOther(codec compress.Compression, src []byte, size int) (page []byte, err error) {
	c, err := compress.GetCodec(codec)
	if err != nil {
		return nil, fmt.Errorf("it is compressed by %s, %w", codec, ErrUnsupported)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return c.Decode(slices.Grow([]byte(nil), size)[:size], src), nil
}
