package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// maxChunkLine is the longest line of a chunk's size that is taken for one, extensions included.
const maxChunkLine = 4 << 10

var errChunked = fmt.Errorf("%w: the chunks of the body are damaged or cut off", ErrHTTP)

// dechunk undoes the chunked transfer coding (RFC 9112 section 7.1). Many crawlers store what they have undone already,
// with the header field still there: what does not start like a chunk is the body itself.
func dechunk(r *bufio.Reader) io.Reader {
	head, _ := r.Peek(maxChunkLine)
	line, _, ok := bytes.Cut(head, []byte("\n"))
	if _, err := chunkSize16(line); !ok || err != nil {
		return r
	}
	return &chunkReader{r: r}
}

// chunkSize16 returns the size of a chunk from its line.
func chunkSize16(line []byte) (int64, error) {
	text, _, _ := bytes.Cut(trimEnd(line), []byte(";"))
	text = bytes.TrimSpace(text)
	if len(text) > 15 {
		return 0, strconv.ErrRange
	}
	n, err := strconv.ParseUint(string(text), 16, 63)
	return int64(n), err
}

// A chunkReader reads the data of chunks.
type chunkReader struct {
	r    *bufio.Reader
	left int64 // of this chunk
	open bool  // a chunk was read, whose line end is still to come
	err  error
}

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

// next reads the line of the next chunk. The last one, of size 0, ends the body; what comes after it does not matter.
func (c *chunkReader) next() error {
	if c.open {
		if end, err := c.line(); err != nil || len(end) > 0 {
			return errors.Join(errChunked, err)
		}
	}
	line, err := c.line()
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

func (c *chunkReader) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if err == io.EOF || errors.Is(err, bufio.ErrBufferFull) || err == nil && len(line) > maxChunkLine {
		return nil, errChunked
	}
	return trimEnd(line), err
}
