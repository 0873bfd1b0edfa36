package fieldtext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// plainPrefix returns how many bytes at the start of text need no look: they are no control
// character, no quotation mark and not the byte special, which is ASCII. It looks at eight bytes at
// a time.
func plainPrefix(text []byte, special byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(text[n:])
		quote, other := w^(ones*'"'), w^(ones*uint64(special))
		// The lowest top bit that is set is of the first byte below the limit; those above it may
		// be wrong.
		if hit := ((w-ones*' ')&^w | (quote-ones)&^quote | (other-ones)&^other) & tops; hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
	}
	for n < len(text) && text[n] >= ' ' && text[n] != '"' && text[n] != special {
		n++
	}
	return n
}

// appendCSV appends text as a field of CSV. It is quoted where RFC 4180 wants that, and where a
// reader might take it for something else: if it is empty, which is null without quotes, has
// control characters, begins or ends with a space, begins with a single quote or # (a comment), or
// is \N (null to some).
func appendCSV(dst, text []byte, separator byte) []byte {
	if plainPrefix(text, separator) == len(text) && !looksOther(text) {
		return append(dst, text...)
	}
	return appendQuoted(append(dst, '"'), text)
}

// appendQuoted appends the rest after the first quotation mark of a field.
func appendQuoted(dst, text []byte) []byte {
	for i := bytes.IndexByte(text, '"'); i >= 0; i = bytes.IndexByte(text, '"') {
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
	return append(append(dst, text...), '"')
}

// looksOther reports whether some reader takes the text, unquoted, for another, though it has no
// special character.
func looksOther(text []byte) bool {
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

// appendJSON appends text, which is valid UTF-8, as a string of JSON, with as few escapes as there
// can be.
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

// appendJSONEscape appends a byte of ASCII as an escape.
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
