package weblog

import "bytes"

// An escapes undoes escapes and keeps the memory for it. Parsers cut buf to nothing at each line.
type escapes struct{ buf []byte }

// unescape returns the text that a field of Apache, nginx or a load balancer stands for.
func (e *escapes) unescape(field []byte) (text []byte) {
	text, e.buf = unescape(field, e.buf)
	return text
}

// unescape undoes the escapes of Apache and nginx: \xHH, \" and \\, and the letters of C. It returns text itself if
// there are none; else what it appends to dst, which it returns second to be used again. A backslash that escapes
// nothing stays.
func unescape(text, dst []byte) (unescaped, buf []byte) {
	i := bytes.IndexByte(text, '\\')
	if i < 0 {
		return text, dst
	}
	start := len(dst)
	for i >= 0 {
		dst = append(dst, text[:i]...)
		b, n := escaped(text[i:])
		dst = append(dst, b)
		text = text[i+n:]
		i = bytes.IndexByte(text, '\\')
	}
	dst = append(dst, text...)
	return dst[start:], dst
}

// escaped returns the byte that the escape at the start of text stands for, and its length.
func escaped(text []byte) (b byte, n int) {
	if len(text) < 2 {
		return '\\', 1
	}
	switch text[1] {
	case 'x':
		if len(text) >= 4 && unhex[text[2]] < 16 && unhex[text[3]] < 16 {
			return unhex[text[2]]<<4 | unhex[text[3]], 4
		}
	case '"', '\\', '\'':
		return text[1], 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'b':
		return '\b', 2
	case 'v':
		return '\v', 2
	case 'f':
		return '\f', 2
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

// unpercent undoes percent-encoding, as unescape does its escapes.
func unpercent(text, dst []byte) (unescaped, buf []byte) {
	i := bytes.IndexByte(text, '%')
	if i < 0 {
		return text, dst
	}
	start := len(dst)
	dst = append(dst, text[:i]...)
	for ; i < len(text); i++ {
		b := text[i]
		if b == '%' && i+2 < len(text) && unhex[text[i+1]] < 16 && unhex[text[i+2]] < 16 {
			b = unhex[text[i+1]]<<4 | unhex[text[i+2]]
			i += 2
		}
		dst = append(dst, b)
	}
	return dst[start:], dst
}

// unplus replaces "+" by spaces, as unescape does its escapes.
func unplus(text, dst []byte) (unescaped, buf []byte) {
	if bytes.IndexByte(text, '+') < 0 {
		return text, dst
	}
	start := len(dst)
	for _, b := range text {
		if b == '+' {
			b = ' '
		}
		dst = append(dst, b)
	}
	return dst[start:], dst
}

// quoted returns the text up to the quote that ends it, which no backslash escapes, and what follows that quote. ok is
// false if there is none.
func quoted(text []byte) (inside, rest []byte, ok bool) {
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return nil, nil, false
		}
		i += n
		backslashes := 0
		for backslashes < i && text[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return text[:i], text[i+1:], true
		}
	}
}
