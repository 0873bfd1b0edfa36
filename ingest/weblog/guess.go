package weblog

import (
	"bytes"
	"slices"
)

// GuessLines is how many lines vote for a format.
const GuessLines = 32

// Guess returns the format that lines, the first ones of a log, look like. Where nothing is known it is URLs. opt says
// which column of a table would hold the URL.
func Guess(lines [][]byte, opt Options) Format {
	if len(lines) == 0 {
		return URLs
	}
	switch f := guessHeader(lines[0], opt); {
	case f == W3C && slices.ContainsFunc(lines, isCloudFront):
		return CloudFront
	case f != Auto:
		return f
	}
	var votes [NumFormats]int
	for _, line := range lines[:min(GuessLines, len(lines))] {
		votes[guessLine(line)]++
	}
	best := URLs
	for f := range votes {
		if Format(f) != Auto && votes[f] > votes[best] {
			best = Format(f)
		}
	}
	return best
}

// guessHeader returns the format of a log that begins with a header, Auto if line is none.
func guessHeader(line []byte, opt Options) Format {
	if bytes.HasPrefix(line, []byte("#Version:")) || bytes.HasPrefix(line, []byte("#Software:")) || bytes.HasPrefix(line, fieldsDirective) {
		return W3C
	}
	if bytes.HasPrefix(line, []byte("WARC/1.")) {
		return WARC
	}
	if bytes.Contains(line, []byte("://")) || len(line) > 0 && (line[0] == '{' || line[0] == '/') {
		return Auto
	}
	for _, f := range []Format{TSV, CSV} {
		t := &table{opt: Options{URL: opt.URL}} // other fields that are missing are for the parser to name
		if f == TSV {
			if bytes.IndexByte(line, '\t') < 0 {
				continue
			}
			t.sep = '\t'
		}
		if t.readHeader(line) == NoRow && (len(t.header) > 1 || slices.Contains([]string{"url", "URL"}, t.header[0])) {
			return f
		}
	}
	return Auto
}

// isCloudFront reports whether a line is the header of a log of Amazon CloudFront.
func isCloudFront(line []byte) bool {
	return bytes.HasPrefix(line, fieldsDirective) && bytes.Contains(line, []byte("x-edge-location"))
}

// guessLine returns the format of one line, Auto if it tells nothing.
func guessLine(line []byte) Format {
	first, rest, _ := bytes.Cut(line, []byte{' '})
	second, _, _ := bytes.Cut(rest, []byte{' '})
	switch {
	case line[0] == '{' && line[len(line)-1] == '}':
		return JSON
	case isURL(line):
		return URLs
	case schemeOf(first) != "" && ParseTime(second) != NoTime:
		return ALB
	case len(second) == 14 && number(second) >= 0:
		return CDXJ
	}
	var r Row
	var c combined
	c.host = []byte{'x'}
	if c.Parse(line, &r) == IsRow {
		return Combined
	}
	return Auto
}
