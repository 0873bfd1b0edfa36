package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxDecoded is the most bytes that a body may become by decoding. That is a hundred times the size that
	// is used, so more is a bomb.
	maxDecoded = 64 << 20

	// maxCodings is how many codings a body may have, one inside the other.
	maxCodings = 3

	// maxContentWindow is the largest zstd window, as RFC 9659 limits it for HTTP.
	maxContentWindow = 8 << 20
)

// A contentDecoder undoes content codings (RFC 9110 section 8.4). A body may have several, one
// inside the other.
type contentDecoder struct {
	layers [maxCodings]codingDecoder // the outermost first
}

// A codingDecoder undoes one coding. It keeps its decoders between bodies.
type codingDecoder struct {
	buf    *bufio.Reader
	gzip   gzip.Reader
	brotli brotli.Reader
	zstd   *zstd.Decoder
}

// decode undoes the codings in a Content-Encoding. Many crawlers store a body decoded and leave the
// field there, so a body that looks like text is returned as it is. The Reader fails with
// ErrEncoding or ErrBomb.
func (d *contentDecoder) decode(r io.Reader, codings []byte) (io.Reader, error) {
	if len(codings) == 0 {
		return r, nil
	}
	var names []string
	for name := range strings.SplitSeq(strings.ToLower(string(codings)), ",") {
		if name = strings.TrimSpace(name); name != "" && name != "identity" {
			names = append(names, name)
		}
	}
	if len(names) > maxCodings {
		return nil, fmt.Errorf("%w: %d content codings", ErrEncoding, len(names))
	}
	for i := range names {
		name := names[len(names)-1-i] // the last applied is the outermost
		layer := &d.layers[i]
		if layer.reset(r); layer.looksLikeText() {
			return layer.buf, nil
		}
		decoded, err := layer.open(name)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrEncoding, name, err)
		}
		r = &decodedReader{r: decoded, name: name, left: maxDecoded}
	}
	return r, nil
}

// reset makes d read from r.
func (d *codingDecoder) reset(r io.Reader) {
	if d.buf == nil {
		d.buf = bufio.NewReader(nil)
	}
	d.buf.Reset(r)
}

// looksLikeText reports whether the bytes that d is to decode look like text.
func (d *codingDecoder) looksLikeText() bool {
	head, _ := d.buf.Peek(512)
	// A body that starts with head looks like text where it has none of these. No compressed body
	// does: each has a control character, or bytes that are not UTF-8, near its start.
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		isCut := len(head)-i < utf8.UTFMax && !utf8.FullRune(head[i:])
		if r == utf8.RuneError && n == 1 && !isCut || r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' || r == 0x7f {
			return false
		}
		i += n
	}
	return true
}

// open returns a reader that decodes d.buf.
func (d *codingDecoder) open(name string) (_ io.Reader, err error) {
	switch name {
	case "gzip", "x-gzip":
		return &d.gzip, d.gzip.Reset(d.buf)
	case "deflate":
		head, _ := d.buf.Peek(2)
		if isZlib := len(head) == 2 && head[0]&0xf == 8 && (int(head[0])<<8|int(head[1]))%31 == 0; isZlib {
			return zlib.NewReader(d.buf)
		}
		return flate.NewReader(d.buf), nil // as some servers understood it
	case "br":
		return &d.brotli, d.brotli.Reset(d.buf)
	case "zstd":
		if d.zstd == nil {
			d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(maxContentWindow), zstd.WithDecoderMaxMemory(maxDecoded))
			if err != nil {
				return nil, err
			}
		}
		return d.zstd, d.zstd.Reset(d.buf)
	}
	return nil, errors.New("not a coding that is read: gzip, deflate, br and zstd are")
}

// Release gives back the memory that closing alone frees.
func (h *Reader) Release() {
	d := &h.decoder
	for i := range d.layers {
		if z := d.layers[i].zstd; z != nil {
			z.Close()
		}
	}
	d.layers = [maxCodings]codingDecoder{}
}

// A decodedReader reads a decoder up to a number of bytes, and names the coding in its errors.
type decodedReader struct {
	r    io.Reader
	name string
	left int64
}

// Read reads the decoded bytes.
func (d *decodedReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p[:min(int64(len(p)), d.left+1)])
	if d.left -= int64(n); d.left < 0 {
		return 0, fmt.Errorf("%w: %s", ErrBomb, d.name)
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %s: %w", ErrEncoding, d.name, err)
	}
	return n, err
}
