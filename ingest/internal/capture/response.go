package capture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/robots"
)

// Faults of a stored message.
var (
	ErrHTTP     = errors.New("the record contains no valid HTTP response")
	ErrEncoding = errors.New("the body cannot be decoded")
	ErrBomb     = errors.New("the body becomes longer than 64 MiB when decoded")
)

// MaxBody is the number of bytes of a robots.txt that are read: the parser's limit plus one byte, to detect longer
// files.
const MaxBody = robots.MaxBytes + 1

// maxInterim is the maximum number of responses like "100 Continue" before the final one.
const maxInterim = 4

// A Reader reads stored HTTP messages (RFC 9112). It reuses its memory for the next message.
type Reader struct {
	Head Header // of the last message read

	buf     *bufio.Reader
	decoder contentDecoder
	body    []byte // scratch
}

// A Response is the part of a stored response that rules need.
type Response struct {
	Status   int
	Location string // target of a redirect
	Body     []byte // the first MaxBody bytes, decoded; nil unless the status is 2xx
	Size     int64  // size of the whole body
	Missing  int64  // missing bytes compared to Content-Length, if that alone gives the length of the body

	HasMaxAge bool          // the response limits how long a copy may be used
	MaxAge    time.Duration // max-age of its Cache-Control
	IsEmpty   bool          // no message at all, which is also an ErrHTTP
}

// ReadResponse reads the status, the target of a redirect and, if the status is 2xx, the body of a response. Other
// statuses have no robots.txt in their body. The errors are ErrHTTP, ErrEncoding, ErrBomb, and those of r. The caller
// owns the body.
func (h *Reader) ReadResponse(r io.Reader) (c Response, err error) {
	h.start(r)
	if _, err := h.buf.Peek(1); err == io.EOF {
		c.IsEmpty = true
		return c, fmt.Errorf("%w: it is empty", ErrHTTP)
	}
	if c.Status, err = h.readStatus(); err != nil {
		return c, err
	}
	c.Location = string(h.Head.Get("Location"))
	c.MaxAge, c.HasMaxAge = maxAge(h.Head.Get("Cache-Control"))
	if c.Status/100 == 2 {
		err = h.readBody(&c)
	}
	return c, err
}

// ReadHead reads the header of a request into Head, or, if isResponse is set, the header of a response after interim
// ones. The errors are those of ReadResponse and [Header.Read].
func (h *Reader) ReadHead(r io.Reader, isResponse bool) error {
	h.start(r)
	if !isResponse {
		return h.Head.Read(h.buf, nil)
	}
	_, err := h.readStatus()
	return err
}

// start makes h read from r.
func (h *Reader) start(r io.Reader) {
	if h.buf == nil {
		h.buf = bufio.NewReaderSize(nil, 64<<10)
	}
	h.buf.Reset(r)
}

// readStatus reads the header of a response to h.Head, after at most maxInterim interim ones, and returns its status.
func (h *Reader) readStatus() (status int, err error) {
	for range maxInterim {
		if err := h.Head.Read(h.buf, nil); err != nil {
			if errors.Is(err, ErrLongHeader) || err == io.ErrUnexpectedEOF {
				err = fmt.Errorf("%w: the header: %w", ErrHTTP, err)
			}
			return 0, err
		}
		version, rest, _ := bytes.Cut(h.Head.first, []byte(" ")) // "HTTP/1.1 200 OK"
		code, _, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
		status, err = strconv.Atoi(string(code))
		if err != nil || len(code) != 3 || status < 100 || !bytes.HasPrefix(version, []byte("HTTP/")) {
			return 0, fmt.Errorf("%w: the status line is %q", ErrHTTP, fault.Short(h.Head.first))
		}
		next, _ := h.buf.Peek(5)
		if status/100 != 1 || !bytes.Equal(next, []byte("HTTP/")) {
			break
		}
	}
	return status, nil
}

// maxAge returns the max-age of a Cache-Control (RFC 9111 section 5.2.2.1), and whether it is valid.
func maxAge(control []byte) (time.Duration, bool) {
	for directive := range bytes.SplitSeq(control, []byte(",")) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(directive), []byte("="))
		if bytes.EqualFold(name, []byte("max-age")) {
			seconds, err := strconv.ParseUint(string(value), 10, 32) // RFC 9111 section 1.2.2: treat larger values as infinite
			if errors.Is(err, strconv.ErrRange) {
				seconds, err = math.MaxUint32, nil
			}
			return time.Duration(seconds) * time.Second, err == nil
		}
	}
	return 0, false
}

// readBody reads the body to c.Body and c.Size, and sets c.Missing. It reads all of the body, but keeps only MaxBody
// bytes.
func (h *Reader) readBody(c *Response) error {
	var text io.Reader = h.buf
	length, err := strconv.ParseInt(string(h.Head.Get("Content-Length")), 10, 64)
	plain := err == nil && len(h.Head.Get("Content-Encoding")) == 0
	if bytes.Contains(bytes.ToLower(h.Head.Get("Transfer-Encoding")), []byte("chunked")) {
		// Many crawlers store the decoded body but keep the field, so a body may not begin with a chunk.
		head, _ := h.buf.Peek(maxChunkLine)
		line, _, ok := bytes.Cut(head, []byte("\n"))
		if _, err := chunkSize16(line); ok && err == nil {
			text = &chunkReader{r: h.buf}
		}
		plain = false
	}
	text, err = h.decoder.decode(text, h.Head.Get("Content-Encoding"))
	if err != nil {
		return err
	}
	if h.body == nil {
		h.body = make([]byte, MaxBody)
	}
	n, err := io.ReadFull(text, h.body)
	c.Body, c.Size = bytes.Clone(h.body[:n]), int64(n)
	if err == nil {
		var rest int64
		rest, err = io.Copy(io.Discard, text)
		c.Size += rest
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	if plain {
		c.Missing = max(0, length-c.Size)
	}
	return err
}

// maxChunkLine is the maximum length of a line with the size of a chunk, including extensions.
const maxChunkLine = 4 << 10

var errChunked = fmt.Errorf("%w: the chunks of the body are damaged or cut off", ErrHTTP)

// chunkSize16 parses the size of a chunk from its line, which may have extensions and a line end.
func chunkSize16(line []byte) (int64, error) {
	text, _, _ := bytes.Cut(trimEnd(line), []byte(";"))
	text = bytes.TrimSpace(text)
	if len(text) > 15 {
		return 0, strconv.ErrRange
	}
	n, err := strconv.ParseUint(string(text), 16, 63)
	return int64(n), err
}

// A chunkReader decodes the chunked transfer coding (RFC 9112 section 7.1).
type chunkReader struct {
	r    *bufio.Reader
	left int64 // remaining bytes of this chunk
	open bool  // the line end of a chunk is still unread
	err  error
}

// Read reads the bytes in the chunks. Its errors repeat: io.EOF after the last chunk, errChunked, or those of the
// source.
func (c *chunkReader) Read(p []byte) (int, error) {
	for c.left == 0 && c.err == nil {
		c.err = c.next()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err == io.EOF {
		err = errChunked
	}
	c.err = err
	return n, err
}

// next reads the line of the next chunk. The last chunk has size 0 and ends the body. Bytes after it are ignored.
func (c *chunkReader) next() error {
	if c.open {
		if end, err := c.readLine(); err != nil || len(end) > 0 {
			return errors.Join(errChunked, err)
		}
	}
	line, err := c.readLine()
	if err != nil {
		return err
	}
	c.open = true
	if c.left, err = chunkSize16(line); err != nil {
		return errChunked
	}
	if c.left == 0 {
		return io.EOF
	}
	return nil
}

func (c *chunkReader) readLine() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if err == io.EOF || errors.Is(err, bufio.ErrBufferFull) || err == nil && len(line) > maxChunkLine {
		return nil, errChunked
	}
	return trimEnd(line), err
}

const (
	// maxDecoded is the maximum size of a decoded body in bytes. It is a hundred times the size that is used, so a larger
	// body is a decompression bomb.
	maxDecoded = 64 << 20

	// maxCodings is the maximum number of nested codings of a body.
	maxCodings = 3

	// maxContentWindow is the largest zstd window that RFC 9659 allows for HTTP.
	maxContentWindow = 8 << 20
)

// A contentDecoder decodes content codings (RFC 9110 section 8.4), which may be nested.
type contentDecoder struct {
	layers [maxCodings]codingDecoder // the outermost first
}

// A codingDecoder decodes one coding. It reuses its decoders.
type codingDecoder struct {
	buf    *bufio.Reader
	gzip   gzip.Reader
	brotli brotli.Reader
	zstd   *zstd.Decoder
}

// decode returns a reader that decodes the codings in a Content-Encoding. Many crawlers store the decoded body but keep
// the field, so a body that looks like text is returned unchanged. The reader fails with ErrEncoding or ErrBomb, and is
// valid until the next call.
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
		name := names[len(names)-1-i] // the last one applied is the outermost
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

// looksLikeText reports whether the first 512 bytes of the input of d look like text. It does not consume them.
func (d *codingDecoder) looksLikeText() bool {
	head, _ := d.buf.Peek(512)
	// A body whose head contains none of these looks like text. Compressed bodies always have a control character, or
	// bytes that are not UTF-8, near the start.
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

// open returns a reader that decodes d.buf, which has the coding with that name. The reader is valid until the next
// call.
func (d *codingDecoder) open(name string) (_ io.Reader, err error) {
	switch name {
	case "gzip", "x-gzip":
		return &d.gzip, d.gzip.Reset(d.buf)
	case "deflate":
		head, _ := d.buf.Peek(2)
		if isZlib := len(head) == 2 && head[0]&0xf == 8 && (int(head[0])<<8|int(head[1]))%31 == 0; isZlib {
			return zlib.NewReader(d.buf)
		}
		return flate.NewReader(d.buf), nil // raw deflate, which some servers send
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
	return nil, errors.New("unsupported coding: use gzip, deflate, br or zstd")
}

// Release frees memory before closing.
func (h *Reader) Release() {
	d := &h.decoder
	for i := range d.layers {
		if z := d.layers[i].zstd; z != nil {
			z.Close()
		}
	}
	d.layers = [maxCodings]codingDecoder{}
}

// A decodedReader reads a limited number of bytes from a decoder, and names the coding in its errors.
type decodedReader struct {
	r    io.Reader
	name string
	left int64
}

// Read reads the decoded bytes. The error is io.EOF, ErrEncoding, or ErrBomb after the limit.
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
