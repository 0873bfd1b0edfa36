package fieldtext

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// A Visible writes UTF-8 text for a terminal: characters that a terminal might obey, or would not
// show, become escapes such as \x1b and \u202e. Line feeds and tabs stay.
type Visible struct {
	w    io.Writer
	rest []byte // the first bytes of a character whose rest is to come
	buf  []byte
}

// NewVisible returns a Visible that writes to w.
func NewVisible(w io.Writer) *Visible { return &Visible{w: w} }

// Write writes the text. A character may lie in two of them.
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
