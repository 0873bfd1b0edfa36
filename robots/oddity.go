package robots

import (
	"bytes"
	"strings"
)

// An Oddity is the reason why bytes are not a valid robots.txt. A crawler reads them nevertheless and finds few or no
// rules, and so does [Parse].
type Oddity uint8

// The oddities.
const (
	NotOdd     Oddity = iota // at least one line is a directive
	OddBlank                 // at most comments: this is valid, and everything is allowed
	OddText                  // text without directives
	OddHTML                  // it looks like an HTML page
	OddUTF16                 // it starts with a byte order mark of UTF-16
	OddUTF16LE               // it has no mark, and looks like UTF-16, little endian
	OddUTF16BE               // it has no mark, and looks like UTF-16, big endian
	OddUTF32                 // it starts with a byte order mark of UTF-32
	OddNUL                   // it has NUL bytes
	OddGzip                  // it starts with the bytes of the format, as for the following ones
	OddZstd
	OddXZ
	OddBzip2
	OddZip
	OddParquet
	NumOddities = int(iota)
)

// oddities are the names, and the first bytes of formats.
var oddities = [NumOddities]struct{ name, magic string }{
	NotOdd:     {"none", ""},
	OddBlank:   {"blank", ""},
	OddText:    {"text", ""},
	OddHTML:    {"html", ""},
	OddUTF16:   {"utf16", ""},
	OddUTF16LE: {"utf16", ""},
	OddUTF16BE: {"utf16", ""},
	OddUTF32:   {"utf32", ""},
	OddNUL:     {"nul", ""},
	OddGzip:    {"gzip", "\x1f\x8b"},
	OddZstd:    {"zstd", "\x28\xb5\x2f\xfd"},
	OddXZ:      {"xz", "\xfd7zXZ\x00"},
	OddBzip2:   {"bzip2", "BZh91AY&SY"},
	OddZip:     {"zip", "PK\x03\x04"},
	OddParquet: {"parquet", "PAR1"},
}

// String returns a name. The codes of diagnostics have the same names: html, utf16 and nul.
func (o Oddity) String() string { return oddities[o].name }

// IsOdd reports whether it is anything but NotOdd and OddBlank.
func (o Oddity) IsOdd() bool { return o > OddBlank }

// Binary reports whether it is binary data instead of text or HTML.
func (o Oddity) Binary() bool { return o >= OddUTF16 }

// OddityOf returns the oddity of a body, of which it examines the first MaxBytes. f is the result of Parse for the
// body, or nil. If f has a group, OddityOf takes a small part of the time of Parse.
func OddityOf(body []byte, f *File) Oddity {
	body = body[:min(len(body), MaxBytes)]
	for o := OddGzip; int(o) < NumOddities; o++ {
		if bytes.HasPrefix(body, []byte(oddities[o].magic)) {
			return o
		}
	}
	switch {
	case bytes.HasPrefix(body, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(body, []byte("\x00\x00\xfe\xff")):
		return OddUTF32
	case isUTF16(body):
		return OddUTF16
	}
	if bytes.IndexByte(body, 0) >= 0 {
		// In UTF-16 without a byte order mark, nearly every second byte of the start of a robots.txt is NUL.
		const looked = 64
		var nuls [2]int
		head := body[:min(len(body), looked)&^1]
		for i, b := range head {
			if b == 0 {
				nuls[i&1]++
			}
		}
		switch most := len(head) * 3 / 8; {
		case nuls[0] == 0 && nuls[1] > most:
			return OddUTF16LE
		case nuls[1] == 0 && nuls[0] > most:
			return OddUTF16BE
		}
		return OddNUL
	}
	if pageStart(body) >= 0 {
		return OddHTML
	}
	if f != nil && len(f.Groups) > 0 {
		return NotOdd
	}
	s := newScanner(string(body), typoKeys|missingColon) // it finds the directives of all dialects
	odd := OddBlank
	var l line
	for s.next(&l) {
		switch {
		case l.blank:
		case l.directive && isKnown(&l):
			return NotOdd
		default:
			odd = OddText
		}
	}
	return odd
}

// isUTF16 reports whether a body starts with a byte order mark of UTF-16.
func isUTF16[T string | []byte](body T) bool {
	return len(body) >= 2 && (body[0] == 0xff && body[1] == 0xfe || body[0] == 0xfe && body[1] == 0xff)
}

// pageStart returns the offset of the first tag if a body looks like HTML, after a byte order mark and white space; -1
// otherwise.
func pageStart[T string | []byte](body T) int {
	i := bomLen(body)
	for i < len(body) && (isSpace(body[i]) || isLineEnd(body[i])) {
		i++
	}
	if i+1 < len(body) && body[i] == '<' && (isLetter(body[i+1]) || body[i+1] == '!' || body[i+1] == '?') {
		return i
	}
	return -1
}

// isKnown reports whether a line has a key that some crawler reads. A line without a colon must be a user-agent line or
// a rule. A key with a blank does not count, because a sentence may start like a key and contain a colon: "Allowed
// memory size exhausted: …".
func isKnown(l *line) bool {
	switch {
	case l.noColon:
		return l.kind == kindUserAgent || l.kind == kindAllow || l.kind == kindDisallow
	case l.kind == kindOther:
		return unused[strings.ToLower(l.key)]
	}
	return l.kind == kindUserAgent || !strings.ContainsAny(l.key, " \t")
}
