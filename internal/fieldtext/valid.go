package fieldtext

import "unicode/utf8"

const upperHex = "0123456789ABCDEF"

// AppendValid appends text to dst with every byte that is not part of valid UTF-8 as %XX, and
// returns how many those were.
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

// Valid is AppendValid for strings.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b, _ := AppendValid(nil, []byte(s))
	return string(b)
}
