package weblog

import (
	"bytes"
	"strings"
)

// escapes decodes escapes into memory that it reuses. Parsers empty buf before each line.
type escapes struct {
	buf   []byte
	hash  bool // HAProxy's: #HH
	plain bool // the line has no backslashes
}

// unescape decodes a field of Apache, nginx or a load balancer.
func (e *escapes) unescape(field []byte) (text []byte) {
	if e.plain && !e.hash {
		return field
	} else if e.hash {
		text, e.buf = undo(field, e.buf, '#', percent)
	} else {
		text, e.buf = unescape(field, e.buf)
	}
	return text
}

// withQuery joins a path with a query from another field. A path that already has a query stays as it is.
func (e *escapes) withQuery(r *Row, path, query []byte) []byte {
	if len(query) > 0 && query[0] == '?' {
		query = query[1:]
	}
	if present(query) == nil || present(path) == nil {
		return path
	}
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		r.Queries = !bytes.Equal(path[i+1:], query)
		return path
	}
	begin := len(e.buf)
	e.buf = append(append(append(e.buf, path...), '?'), query...)
	return e.buf[begin:len(e.buf):len(e.buf)]
}

// unescape decodes the escapes of Apache and nginx: \xHH, \u00HH for ASCII, \" and \\, and the letters of C. Other
// backslashes stay. See undo.
func unescape(text, dst []byte) (unescaped, buf []byte) { return undo(text, dst, '\\', escaped) }

// unpercent decodes percent-encoding. See undo.
func unpercent(text, dst []byte) (unescaped, buf []byte) { return undo(text, dst, '%', percent) }

// unplus appends text to dst with spaces for "+". In crawlers' "; +https://", only the first of two becomes a space.
// Texts of IIS have many "+"; with undo, its lines take 4 % longer.
func unplus(text, dst []byte) (unescaped, buf []byte) {
	start := len(dst)
	dst = append(dst, text...)
	for i, b := range dst[start:] {
		if b == '+' && (i == 0 || text[i-1] != '+') {
			dst[start+i] = ' '
		}
	}
	return dst[start:], dst
}

// undo replaces each escape sequence that begins with the byte mark. decode returns the byte and the length of the
// sequence, or 0. Without a sequence, undo returns text itself; otherwise it appends to dst, and returns the appended
// text and dst for reuse.
func undo(text, dst []byte, mark byte, decode func([]byte) (byte, int)) (unescaped, buf []byte) {
	i := bytes.IndexByte(text, mark)
	if i < 0 {
		return text, dst
	}
	start := len(dst)
	for ; i >= 0; i = bytes.IndexByte(text, mark) {
		dst = append(dst, text[:i]...)
		b, n := decode(text[i:])
		dst = append(dst, b)
		text = text[i+n:]
	}
	dst = append(dst, text...)
	return dst[start:], dst
}

// percent decodes %HH, or #HH, at the start of text, and returns the length.
func percent(text []byte) (b byte, n int) {
	if len(text) >= 3 && unhex[text[1]] < 16 && unhex[text[2]] < 16 {
		return unhex[text[1]]<<4 | unhex[text[2]], 3
	}
	return text[0], 1
}

// escaped decodes the escape at the start of text, and returns the length.
func escaped(text []byte) (b byte, n int) {
	const letters, meanings = `"\'nrtbvf`, "\"\\'\n\r\t\b\v\f"
	if len(text) >= 4 && text[1] == 'x' && unhex[text[2]] < 16 && unhex[text[3]] < 16 {
		return unhex[text[2]]<<4 | unhex[text[3]], 4
	}
	if len(text) >= 6 && string(text[1:4]) == "u00" && unhex[text[4]] < 8 && unhex[text[5]] < 16 { // of escape=json
		return unhex[text[4]]<<4 | unhex[text[5]], 6
	}
	if len(text) >= 2 {
		if i := strings.IndexByte(letters, text[1]); i >= 0 {
			return meanings[i], 2
		}
	}
	return '\\', 1
}

// unhex maps hexadecimal digits to their values, other bytes to 16.
var unhex = func() (t [256]byte) {
	for i := range t {
		t[i] = 16
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()
