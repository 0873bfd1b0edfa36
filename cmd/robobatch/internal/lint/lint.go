// Package lint makes findings for people and for services of continuous integration out of the
// diagnostics of package robots: with a severity, the line that they are about, and a remedy. Only
// cmd/robobatch imports it.
package lint

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/robots"
)

// A Finding is a diagnostic of one robots.txt.
type Finding struct {
	File     string `json:"file"`
	Origin   string `json:"origin"`
	Line     int32  `json:"line"`   // 1-based
	Column   int    `json:"column"` // 1-based, in characters
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Text     string `json:"text"`   // the fault
	Source   string `json:"source"` // the line, cut off where it is very long
	Do       string `json:"do"`     // the remedy

	severity   Severity
	capture    bool // File has captures, whose lines are others than those of the robots.txt
	occurrence int  // 1-based, of the findings of the file with the same key
}

// A Place is whose robots.txt it is, and where it was read.
type Place struct {
	File    string
	Origin  string
	Capture bool // File has captures
}

// name returns the name of the text whose lines are counted: the file, or the URL of a captured robots.txt.
func (p *Place) name() string {
	if p.Capture {
		return p.Origin + robots.TxtPath
	}
	return filepath.ToSlash(p.File)
}

// place returns where the finding is.
func (f *Finding) place() *Place { return &Place{f.File, f.Origin, f.capture} }

// maxSource is how many bytes of a line a finding has.
const maxSource = 500

// Findings returns the findings of a robots.txt, in the order of its lines. If the text is an HTML page or UTF-16, it
// leaves out findings that nearly every line would have.
func Findings(place *Place, body []byte, diagnostics []robots.Diagnostic) []Finding {
	findings := make([]Finding, 0, len(diagnostics))
	lines := lineReader{rest: body}
	seen := map[Key]int{}
	page := slices.ContainsFunc(diagnostics, func(d robots.Diagnostic) bool { return d.Code == "html" || d.Code == "utf16" || d.Code == "not_robots" })
	for _, d := range diagnostics {
		if page && ofPages[d.Code] {
			continue
		}
		code, _ := Lookup(d.Code)
		f := Finding{
			File: place.File, Origin: place.Origin, capture: place.Capture, Line: d.Line, Code: string(d.Code), severity: code.Severity, Severity: code.Severity.String(),
			Text: fieldtext.Valid(d.Text), Do: code.Do, Source: lines.line(d.Line),
		}
		line := f.Source
		at := 0
		if !atKey[d.Code] {
			if colon := strings.IndexByte(line, ':'); colon >= 0 {
				at = colon + 1
			}
		}
		for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
			at++
		}
		if at == len(line) {
			at = 0
		}
		f.Column = utf8.RuneCountInString(line[:at]) + 1
		seen[f.Key()]++
		f.occurrence = seen[f.Key()]
		findings = append(findings, f)
	}
	return findings
}

// ofPages are the codes that nearly every line of a file has that is no robots.txt at all.
var ofPages = map[robots.Code]bool{
	"missing_colon": true, "no_directive": true, "unknown_field": true, "unused_field": true, "line_too_long": true, "nul": true, "not_utf8": true,
}

// A lineReader finds the lines of a file, one after the other.
type lineReader struct {
	rest []byte
	num  int32
	last string
}

// line returns the line of that number, which is not before the last one that was asked for.
func (r *lineReader) line(num int32) string {
	for r.num < num {
		line, rest := r.rest, []byte(nil)
		if end := bytes.IndexAny(r.rest, "\r\n"); end >= 0 {
			line, rest = r.rest[:end], r.rest[end+1:]
			if r.rest[end] == '\r' {
				rest = bytes.TrimPrefix(rest, []byte("\n"))
			}
		}
		if r.num++; r.num == num {
			r.last = fieldtext.Valid(string(line[:min(len(line), maxSource)]))
		}
		r.rest = rest
	}
	return r.last
}

// atKey are the codes that are about the key of a line, or about all of it; the others are about the
// value.
var atKey = map[robots.Code]bool{
	"typo": true, "loose_key": true, "unknown_field": true, "unused_field": true, "missing_colon": true, "no_directive": true,
	"html": true, "utf16": true, "not_robots": true, "garbled_line": true, "noindex_open": true, "bom": true, "nul": true, "not_utf8": true, "too_large": true, "cut_line": true, "line_too_long": true,
	"rule_without_group": true, "content_signal_outside_group": true, "before_rules": true, "blank_in_section": true, "joined_sections": true,
	"delay_only_group": true, "too_many_rules": true, "empty_allow": true,
}

// A Key tells a finding again when the file has changed elsewhere.
type Key struct {
	Origin string `json:"origin"`
	Code   string `json:"code"`
	Source string `json:"source"` // the line, without white space around it
}

// Key returns the key of the finding.
func (f *Finding) Key() Key { return Key{f.Origin, f.Code, strings.TrimSpace(f.Source)} }
