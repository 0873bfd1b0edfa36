package capture

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxHeader bounds the header of a record, and of the HTTP response in it, in bytes.
const maxHeader = 256 << 10

// ErrLongHeader is the error of a header that is too long to be one.
var ErrLongHeader = errors.New("over 256 KiB, or a line over 64 KiB")

// A Header is the header of a WARC record or an HTTP message: a first line, and named fields. All
// slices that it returns are valid until the next Read.
type Header struct {
	raw    []byte // without the line ends; the memory is used again
	first  []byte
	fields []field
}

// A field is a line of a header.
type field struct{ name, value []byte }

// Read reads a header and the empty line that ends it. check is called with each line, if it is not
// nil. The errors are ErrLongHeader, io.ErrUnexpectedEOF, r's and check's.
func (h *Header) Read(r *bufio.Reader, check func(line []byte) error) error {
	h.raw, h.fields = h.raw[:0], h.fields[:0]
	ends := make([]int, 0, 32)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull) || len(h.raw)+len(line) > maxHeader:
			return ErrLongHeader
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		if check != nil {
			if err := check(line); err != nil {
				return err
			}
		}
		if line = trimEnd(line); len(line) == 0 {
			break
		}
		h.raw = append(h.raw, line...)
		if isFolded := line[0] == ' ' || line[0] == '\t'; isFolded && len(ends) > 1 {
			ends[len(ends)-1] = len(h.raw)
			continue
		}
		ends = append(ends, len(h.raw))
	}
	// Set the first line and the fields.
	h.first = nil
	start := 0
	for i, end := range ends {
		line := h.raw[start:end]
		start = end
		if i == 0 {
			h.first = line
			continue
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok {
			h.fields = append(h.fields, field{bytes.TrimSpace(name), bytes.TrimSpace(value)})
		}
	}
	return nil
}

// First returns the first line.
func (h *Header) First() []byte { return h.first }

// IsEmpty reports whether nothing of the header was read yet.
func (h *Header) IsEmpty() bool { return len(h.raw) == 0 }

// Get returns the value of the first field of that name, in any case, or nil.
func (h *Header) Get(name string) []byte {
	for _, f := range h.fields {
		if len(f.name) == len(name) && strings.EqualFold(string(f.name), name) {
			return f.value
		}
	}
	return nil
}

// trimEnd cuts off LF or CRLF.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}
