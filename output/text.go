package output

import (
	"unicode/utf8"

	"github.com/robobatch/robobatch/engine"
)

const upperHex = "0123456789ABCDEF"

// appendValid appends text to dst with every byte that is not part of valid UTF-8 as %XX, and returns how many those
// were.
func appendValid(dst, text []byte) ([]byte, int) {
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

// validString is appendValid for strings.
func validString(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b, _ := appendValid(nil, []byte(s))
	return string(b)
}

// validPiece reports whether a piece of valid UTF-8 is valid too: whether it starts and ends between runes.
func validPiece(data []byte, s engine.Span) bool {
	end := int(s.Off + s.Len)
	return utf8.RuneStart(data[s.Off]) && (end == len(data) || utf8.RuneStart(data[end]))
}
