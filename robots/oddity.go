package robots

import (
	"bytes"
	"strings"
)

// An Oddity is the reason why bytes are not a valid robots.txt. A crawler that gets them reads them all the same, and
// finds few rules or none: so does [Parse].
type Oddity uint8

// The oddities.
const (
	NotOdd      Oddity = iota // at least one line is a directive
	OddBlank                  // there is nothing but comments: legal, and everything is allowed
	OddText                   // there is text, and no line is a directive
	OddHTML                   // it looks like an HTML page
	OddUTF16                  // it starts with a byte order mark of UTF-16
	OddUTF16LE                // it has no mark, and looks like UTF-16 with the low bytes first
	OddUTF16BE                // the same with the high bytes first
	OddUTF32                  // it starts with a byte order mark of UTF-32
	OddNUL                    // it has NUL bytes
	OddGzip                   // it starts as gzip does,
	OddZstd                   // zstd,
	OddXZ                     // xz,
	OddBzip2                  // bzip2,
	OddZip                    // zip,
	OddParquet                // or Parquet
	NumOddities = int(iota)
)

// oddities are the names and, of some, the first bytes.
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

// String returns a word for it. The diagnostics of the file that [Inspect] knows have the same: html, utf16
// and nul.
func (o Oddity) String() string { return oddities[o].name }

// IsOdd reports whether it does not look like a robots.txt: all but NotOdd and OddBlank.
func (o Oddity) IsOdd() bool { return o > OddBlank }

// Binary reports whether it is binary data: neither lines of text nor a page.
func (o Oddity) Binary() bool { return o >= OddUTF16 }

// OddityOf returns the oddity of a body. f is the result of Parse for it; nil is none. It
// takes a small part of the time of Parse, unless there is no group.
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

// pageStart returns where a body starts to look like an HTML page, after a byte order mark and white space; -1 if it
// does not.
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

// isKnown reports whether a line has a key that any crawler reads. Text in sentences may begin like a key and hold a
// colon somewhere: "Allowed memory size exhausted: …".
func isKnown(l *line) bool {
	switch {
	case l.noColon:
		return l.kind == kindUserAgent || l.kind == kindAllow || l.kind == kindDisallow
	case l.kind == kindOther:
		return unused[strings.ToLower(l.key)]
	}
	return l.kind == kindUserAgent || !strings.ContainsAny(l.key, " \t")
}
