package fieldtext

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// plainPrefix returns the length of the prefix of text that has no control characters, no quotation marks, and not the
// ASCII byte special. It checks eight bytes at a time.
func plainPrefix(text []byte, special byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(text[n:])
		quote, other := w^(ones*'"'), w^(ones*uint64(special))
		// The lowest top bit that is set belongs to the first byte that needs a check. Higher ones may be wrong.
		if hit := ((w-ones*' ')&^w | (quote-ones)&^quote | (other-ones)&^other) & tops; hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
	}
	for n < len(text) && text[n] >= ' ' && text[n] != '"' && text[n] != special {
		n++
	}
	return n
}

// appendCSV appends text as a CSV field. It is quoted if RFC 4180 requires it, or if a reader might misread it: an
// empty text (null if unquoted), a text with control characters, with a space at either end, with a leading single
// quote or # (a comment), or \N (null for some readers).
func appendCSV(dst, text []byte, separator byte) []byte {
	if plainPrefix(text, separator) == len(text) && !isMisreadable(text) {
		return append(dst, text...)
	}
	return appendQuoted(append(dst, '"'), text)
}

// appendQuoted appends text, with quotation marks doubled, and the closing quotation mark. The opening one must already
// be in dst.
func appendQuoted(dst, text []byte) []byte {
	for i := bytes.IndexByte(text, '"'); i >= 0; i = bytes.IndexByte(text, '"') {
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
	return append(append(dst, text...), '"')
}

// isMisreadable reports whether some readers would misread text as an unquoted field, although it has no special
// character.
func isMisreadable(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	switch text[0] {
	case ' ', '\'', '#':
		return true
	case '\\':
		return string(text) == `\N`
	}
	return text[len(text)-1] == ' '
}

// appendJSON appends a text, which must be valid UTF-8, as a JSON string with as few escapes as possible.
func appendJSON(dst, text []byte) []byte {
	dst = append(dst, '"')
	for {
		n := plainPrefix(text, '\\')
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return append(dst, '"')
		}
		dst = appendJSONEscape(dst, text[n])
		text = text[n+1:]
	}
}

// appendJSONEscape appends an ASCII byte as an escape: \n, or \u001B if JSON has no short form.
func appendJSONEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', upperHex[b>>4], upperHex[b&15])
}

const upperHex = "0123456789ABCDEF"

// AppendValid appends text to dst, and escapes every byte that is not part of valid UTF-8 as %XX. It returns the
// extended buffer and the number of escaped bytes.
func AppendValid(dst, text []byte) ([]byte, int) {
	if utf8.Valid(text) {
		return append(dst, text...), 0
	}
	escaped := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, '%', upperHex[text[0]>>4], upperHex[text[0]&15])
			escaped++
		} else {
			dst = append(dst, text[:size]...)
		}
		text = text[size:]
	}
	return dst, escaped
}

// Valid returns s with every byte that is not part of valid UTF-8 escaped as %XX.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b, _ := AppendValid(nil, []byte(s))
	return string(b)
}

// A Visible writes UTF-8 text for a terminal: invisible characters and those that control a terminal are escaped, such
// as \x1b and \u202e. Line feeds and tabs remain.
type Visible struct {
	w    io.Writer
	rest []byte // an incomplete character at the end of the last call
	buf  []byte
}

// NewVisible returns a Visible that writes to w.
func NewVisible(w io.Writer) *Visible { return &Visible{w: w} }

// Write writes the text. A character may be split between calls: an incomplete one at the end waits for the next call,
// and is lost without one. After an error, the number of bytes is 0.
func (v *Visible) Write(p []byte) (int, error) {
	text := append(v.rest, p...)
	v.buf = v.buf[:0]
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1, r < ' ' && r != '\n' && r != '\t', r == 0x7f:
			v.buf = fmt.Appendf(v.buf, `\x%02x`, text[0])
		case r == '\n', r == '\t', unicode.IsPrint(r):
			v.buf = append(v.buf, text[:size]...)
		default:
			v.buf = fmt.Appendf(v.buf, `\u%04x`, r)
		}
		text = text[size:]
	}
	v.rest = append(v.rest[:0], text...)
	if _, err := v.w.Write(v.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}
