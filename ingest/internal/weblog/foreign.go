package weblog

import (
	"bytes"
	"regexp"
)

// Texts in lines of unsupported formats.
var (
	errorLine = regexp.MustCompile(`^(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[[a-z]+\] |\[[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d(?:\.\d+)? \d{4}\] \[)`)
	tcpLine   = regexp.MustCompile(`(?:^| )[^ ]+:\d+ \[\d\d/[A-Z][a-z]{2}/\d{4}:[\d:.]+\] [^ ]+ [^ ]+/[^ ]+ [\d/+-]+ \+?\d+ [-A-Za-z]{2} `)
	xmlLine   = regexp.MustCompile(`^(?:\x{FEFF})?[ \t]*<[^\d]`)
)

// LacksFields reports whether most lines, including the first one, look like rows of W3C, but are not preceded by
// #Fields. Other lines that begin with # are ignored.
func LacksFields(lines [][]byte) bool {
	rows, all := 0, 0
	for _, line := range lines {
		switch {
		case bytes.HasPrefix(line, fieldsDirective) && all == 0:
			return false
		case line[0] == '#':
			continue
		case isW3CRequest(line):
			rows++
		case all == 0:
			return false
		}
		all++
	}
	return 2*rows > all
}

// A Foreign is a kind of text that is not a log in any supported format. The zero value means a supported format.
type Foreign string

// The kinds.
const (
	ForeignXML    Foreign = "XML or HTML"
	ForeignErrors Foreign = "an error log"
	ForeignTCP    Foreign = "a log of TCP connections, which has no URLs,"
)

// ForeignOf returns the kind of the first lines of a log that was detected as f; "" if f is possible. For lists of
// URLs, no line may be a URL; for tables, the header row must also be such a line.
func ForeignOf(f Format, lines [][]byte) Foreign {
	if len(lines) == 0 || f != URLs && f != CSV && f != TSV {
		return ""
	}
	first := foreignLine(lines[0])
	if first == ForeignXML || f != URLs && first == "" {
		return first
	}
	counts := map[Foreign]int{}
	for _, line := range lines {
		if isURL(trimBlank(line)) {
			return ""
		}
		counts[foreignLine(line)]++
	}
	for _, kind := range []Foreign{ForeignErrors, ForeignTCP} {
		if 2*counts[kind] > len(lines) {
			return kind
		}
	}
	return ""
}

// foreignLine returns the kind of a line, "" if there is none.
func foreignLine(line []byte) Foreign {
	switch {
	case xmlLine.Match(line):
		return ForeignXML
	case errorLine.Match(line):
		return ForeignErrors
	case tcpLine.Match(line):
		return ForeignTCP
	}
	return ""
}
