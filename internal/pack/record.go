package pack

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/robobatch/robobatch/internal/wire"
)

// NoText is the Text of a capture without a text.
const NoText = -1

// A Capture is one fetch of a robots.txt, or of a URL that one redirects to.
type Capture struct {
	At       time.Time // zero if unknown
	File     bool      // At is the modification time of a file
	Status   int       // HTTP status code; 0 for a network failure
	Size     int64     // of the body, in bytes
	MaxAge   int64     // seconds for which a copy may be used, according to the response; negative if unknown
	Text     int       // number of its text, see [Writer.AddText], or NoText
	Location string    // target of a redirect, as in the response
	Error    string    // error of the fetch
}

// A Record has all captures of one name: an origin, or the URL of a redirect target.
type Record struct {
	Name     []byte
	Captures []Capture // in the order of adding
}

// Flags for the fields in the encoding of a capture. The fields follow the status in this order.
const (
	hasTime = 1 << iota
	hasText
	hasSize
	hasLocation
	hasError
	isFile // has no field
	hasMaxAge
)

// appendCapture appends the encoding of a capture to dst: flags, status, and the fields that it has.
func appendCapture(dst []byte, c *Capture) []byte {
	at := len(dst)
	dst = append(dst, 0)
	dst = binary.AppendVarint(dst, int64(c.Status))
	if !c.At.IsZero() {
		dst[at] |= hasTime
		dst = binary.AppendVarint(dst, c.At.Unix())
		dst = binary.AppendUvarint(dst, uint64(c.At.Nanosecond()))
	}
	if c.Text != NoText {
		dst[at] |= hasText
		dst = binary.AppendUvarint(dst, uint64(c.Text))
	}
	if c.Size != 0 {
		dst[at] |= hasSize
		dst = binary.AppendVarint(dst, c.Size)
	}
	if c.Location != "" {
		dst[at] |= hasLocation
		dst = wire.AppendText(dst, c.Location)
	}
	if c.Error != "" {
		dst[at] |= hasError
		dst = wire.AppendText(dst, c.Error)
	}
	if c.File {
		dst[at] |= isFile
	}
	if c.MaxAge >= 0 {
		dst[at] |= hasMaxAge
		dst = binary.AppendUvarint(dst, uint64(c.MaxAge))
	}
	return dst
}

// readRecord decodes a record into r, and reports whether it is valid and the cursor is at its end. A capture must not
// have a text number of texts or more. r.Name shares memory with the Cursor; the memory of r.Captures is reused.
func readRecord(c *wire.Cursor, r *Record, texts uint32) bool {
	r.Name, r.Captures = c.Text(), r.Captures[:0]
	for range c.Count() {
		if c.Bad() {
			return false
		}
		flags := c.Byte()
		out := Capture{Status: int(c.Varint()), Text: NoText, File: flags&isFile != 0, MaxAge: -1}
		if flags&hasTime != 0 {
			seconds, nanoseconds := c.Varint(), c.Uvarint()
			if nanoseconds >= 1e9 {
				return false
			}
			out.At = time.Unix(seconds, int64(nanoseconds)).UTC()
		}
		if flags&hasText != 0 {
			text := c.Uvarint()
			if text >= uint64(texts) {
				return false
			}
			out.Text = int(text)
		}
		if flags&hasSize != 0 {
			out.Size = c.Varint()
		}
		if flags&hasLocation != 0 {
			out.Location = string(c.Text())
		}
		if flags&hasError != 0 {
			out.Error = string(c.Text())
		}
		if flags&hasMaxAge != 0 {
			if out.MaxAge = int64(c.Uvarint()); out.MaxAge < 0 {
				return false
			}
		}
		r.Captures = append(r.Captures, out)
	}
	return c.AtEnd()
}

// maxChunk is the maximum size of a chunk or a record, in bytes.
const maxChunk = math.MaxInt32
