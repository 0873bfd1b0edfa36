package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/robobatch/robobatch/robots"
)

// maxInterim is how many responses like "100 Continue" may come before the one that counts.
const maxInterim = 4

// A capture is what the block of a record says.
type capture struct {
	response robots.Response
	isBare   bool  // the block is empty: a revisit record has no header of its own
	fault    error // what is wrong with the block, whose borders are right; nil if nothing is
}

// An httpReader reads HTTP responses as crawlers store them (RFC 9112).
type httpReader struct {
	buf     *bufio.Reader
	head    header
	decoder contentDecoder
	body    []byte // scratch
}

// read reads a response: its status, where it redirects to, and, of a status 2xx, its body, since no other status has a
// body that is a robots.txt.
func (h *httpReader) read(r io.Reader) (c capture, err error) {
	h.start(r)
	if _, err := h.buf.Peek(1); err == io.EOF {
		c.isBare = true
		return c, fmt.Errorf("%w: it is empty", ErrHTTP)
	}
	if c.response.Status, err = h.readHead(); err != nil {
		return c, err
	}
	c.response.Location = string(h.head.get("Location"))
	if c.response.Status/100 == 2 {
		err = h.readBody(&c.response)
	}
	return c, err
}

// start makes h read from r.
func (h *httpReader) start(r io.Reader) {
	if h.buf == nil {
		h.buf = bufio.NewReaderSize(nil, sourceBuffer)
	}
	h.buf.Reset(r)
}

// readHead reads the header of a response, behind interim ones, and returns its status.
func (h *httpReader) readHead() (status int, err error) {
	for range maxInterim {
		if err := h.head.read(h.buf, nil); err != nil {
			if errors.Is(err, errLongHeader) || err == io.ErrUnexpectedEOF { //nolint:errorlint // the header's own
				err = fmt.Errorf("%w: the header: %w", ErrHTTP, err)
			}
			return 0, err
		}
		if status, err = parseStatus(h.head.first); err != nil {
			return 0, err
		}
		next, _ := h.buf.Peek(5)
		if status/100 != 1 || !bytes.Equal(next, []byte("HTTP/")) {
			break
		}
	}
	return status, nil
}

// parseStatus returns the code of a line like "HTTP/1.1 200 OK".
func parseStatus(line []byte) (int, error) {
	version, rest, _ := bytes.Cut(line, []byte(" "))
	code, _, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	n, err := strconv.Atoi(string(code))
	if err != nil || len(code) != 3 || n < 100 || !bytes.HasPrefix(version, []byte("HTTP/")) {
		return 0, fmt.Errorf("%w: the status line is %q", ErrHTTP, cut(line))
	}
	return n, nil
}

// readBody reads the body into r.
func (h *httpReader) readBody(r *robots.Response) error {
	var text io.Reader = h.buf
	if bytes.Contains(bytes.ToLower(h.head.get("Transfer-Encoding")), []byte("chunked")) {
		text = dechunk(h.buf)
	}
	text, err := h.decoder.decode(text, h.head.get("Content-Encoding"))
	if err != nil {
		return err
	}
	if h.body == nil {
		h.body = make([]byte, MaxBody)
	}
	n, err := io.ReadFull(text, h.body)
	r.Body, r.Size = bytes.Clone(h.body[:n]), int64(n)
	if err == nil {
		var rest int64
		rest, err = io.Copy(io.Discard, text)
		r.Size += rest
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF { //nolint:errorlint // of ReadFull: the body is short; other layers wrap theirs
		err = nil
	}
	return err
}
