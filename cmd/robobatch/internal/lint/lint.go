// Package lint turns diagnostics of package robots into findings for people and CI services, with a severity, the
// affected line and a remedy. Only cmd/robobatch imports it.
package lint

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
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
	capture    bool // File contains captures, so its line numbers are not those of the robots.txt
	occurrence int  // 1-based number among the findings of the file with the same Key
}

// A Place is the origin of a robots.txt, and where it was read.
type Place struct {
	File    string
	Origin  string
	Capture bool // File contains captures
}

// name returns the name of the text to which line numbers refer: the file, or the URL of a captured robots.txt.
func (p *Place) name() string {
	if p.Capture {
		return p.Origin + robots.TxtPath
	}
	return filepath.ToSlash(p.File)
}

// place returns the position of the finding.
func (f *Finding) place() *Place { return &Place{f.File, f.Origin, f.capture} }

// maxSource is the maximum length of the line in a finding, in bytes.
const maxSource = 500

// Findings returns the findings of a robots.txt, in the order of diagnostics, which must be ordered by line. body is
// the text of the robots.txt. For an HTML page, UTF-16, or a file without directives, it omits findings that nearly
// every line would have.
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
		if d.Grave {
			f.severity, f.Severity = Error, Error.String()
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
		if d.At > 0 && int(d.At) < len(lines.raw) {
			line = fieldtext.Valid(string(lines.raw[:d.At]))
			at = len(line)
		}
		f.Column = utf8.RuneCountInString(line[:at]) + 1
		seen[f.Key()]++
		f.occurrence = seen[f.Key()]
		findings = append(findings, f)
	}
	return findings
}

// ofPages are the codes of findings that nearly every line has if the file is not a robots.txt.
var ofPages = map[robots.Code]bool{
	"missing_colon": true, "no_directive": true, "unknown_field": true, "unused_field": true, "line_too_long": true, "nul": true, "not_utf8": true,
}

// A lineReader reads given lines of a file in ascending order.
type lineReader struct {
	rest []byte
	num  int32
	raw  []byte // the last requested line, truncated if very long
	last string // its text
}

// line returns the text of the line with a 1-based number, at most maxSource bytes of it. The number must not be
// lower than in the previous call. It also sets r.raw to the bytes of the line.
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
			r.raw = line[:min(len(line), maxSource)]
			r.last = fieldtext.Valid(string(r.raw))
		}
		r.rest = rest
	}
	return r.last
}

// atKey are the codes whose findings point at the key of a line; the others point at the value.
var atKey = map[robots.Code]bool{
	"typo": true, "loose_key": true, "unknown_field": true, "unused_field": true, "merge_conflict": true, "missing_colon": true, "no_directive": true,
	"html": true, "utf16": true, "not_robots": true, "garbled_line": true, "noindex_open": true, "bom": true, "nul": true, "not_utf8": true, "too_large": true, "cut_line": true, "line_too_long": true,
	"rule_without_group": true, "content_signal_outside_group": true, "before_rules": true, "blank_in_section": true, "joined_sections": true,
	"delay_only_group": true, "too_many_rules": true, "empty_allow": true,
}

// A Key identifies a finding in a baseline. It does not change if other parts of the file change.
type Key struct {
	Origin string `json:"origin"`
	Code   string `json:"code"`
	Source string `json:"source"` // the line, trimmed
}

// Key returns the key of the finding.
func (f *Finding) Key() Key { return Key{f.Origin, f.Code, strings.TrimSpace(f.Source)} }

//go:generate go test -count 1 -run TestPage -update .

// A Severity says how bad a finding is.
type Severity uint8

// The severities, worst first.
const (
	Error   Severity = iota // the file has a different effect than intended
	Warning                 // the file may have a different effect than intended
	Info                    // the effect is as intended, but may be surprising
)

// Severities are the names of the severities, worst first.
var Severities = []string{"error", "warning", "info"}

// A Gate is the number of severities that fail a check, counted from the worst: 1 is only errors; 0 means that
// nothing fails.
type Gate int

// Fails reports whether a severity fails.
func (g Gate) Fails(s Severity) bool { return int(s) < int(g) }

// String returns the name.
func (s Severity) String() string { return Severities[s] }

// A Code is a kind of finding, with its explanation.
type Code struct {
	Name     robots.Code
	Severity Severity
	What     string // explanation, in one or two sentences
	Do       string // the remedy
	Bad      string // a robots.txt with the problem; Rules bytes of generated rules follow it
	Rules    int    // number of bytes of generated, distinct rules to append to the bad file; 0 means none
	Good     string // the fixed file
	Dialect  string // the dialect in which it occurs; "" means google
}

// Lookup returns the code of that name, and whether there is one.
func Lookup(name robots.Code) (Code, bool) {
	i, ok := slices.BinarySearchFunc(Codes, name, func(c Code, name robots.Code) int {
		return strings.Compare(string(c.Name), string(name))
	})
	if !ok {
		return Code{Name: name}, false
	}
	return Codes[i], true
}

// Text explains the code in lines of at most 80 columns, with an example. fill wraps a text at a width.
func (c *Code) Text(fill func(text string, width int) string) string {
	const width = 80
	text := string(c.Name) + ": " + c.Severity.String() + "\n\n" + fill(c.What, width) + "\n\n" + fill(c.Do, width) + "\n"
	if c.Dialect != "" {
		text += "\nIn the dialect " + c.Dialect + ".\n"
	}
	return text + "\nBad:\n\n" + Indent(c.badExample()) + "\nGood:\n\n" + Indent(c.Good)
}

// badExample returns the example with the problem, including generated rules. They are not generated for the variable
// Codes, because that would add 6 ms to every start of the program.
func (c *Code) badExample() string {
	var sb strings.Builder
	sb.WriteString(c.Bad)
	for i := 0; sb.Len() < len(c.Bad)+c.Rules; i++ {
		sb.WriteString("Disallow: /x" + strconv.Itoa(i) + "/\n")
	}
	return sb.String()
}

// Maximum sizes of an example.
const (
	exampleLines = 8
	exampleWidth = 60
)

// Indent returns at most the first exampleLines lines of a file, with each line indented and truncated, and with
// invisible bytes escaped.
func Indent(file string) string {
	var sb strings.Builder
	n := 0
	for line := range strings.Lines(file) {
		if n++; n > exampleLines {
			sb.WriteString("    ...\n")
			break
		}
		line = strings.NewReplacer("\ufeff", `\uFEFF`, "\x00", `\x00`, "\xff", `\xff`, "\xfe", `\xfe`).Replace(strings.TrimSuffix(line, "\n"))
		if len(line) > exampleWidth {
			line = line[:exampleWidth] + "..."
		}
		sb.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return sb.String()
}

// ofFile are the codes whose findings concern all crawlers, whatever the group of the line: they are about directives
// outside groups, about bytes, or about names in User-agent lines, which decide which crawlers a group binds.
var ofFile = map[robots.Code]bool{
	"agent_cut": true, "agent_list": true, "agent_never_matches": true, "agent_retired": true, "agent_space": true, "agent_typo": true,
	"bad_clean_param": true, "bad_host": true, "bad_sitemap": true, "blocked_sitemap": true, "bom": true, "content_signal_outside_group": true, "cut_line": true, "extra_host": true,
	"garbled_line": true, "joined_lines": true, "merge_conflict": true, "not_robots": true,
	"html": true, "http_sitemap": true, "license_not_absolute": true, "no_directive": true, "not_utf8": true, "nul": true, "rule_without_group": true, "too_large": true,
	"too_many_rules": true, "unknown_policy_group": true, "utf16": true,
}

// DiagnosticsFor returns the diagnostics of a report that concern the crawlers: those in groups that bind one of
// them, and those that affect the whole file. diagnostics must be ordered by line; the slice is not changed.
func DiagnosticsFor(report *robots.Report, diagnostics []robots.Diagnostic, asked []robots.Agent) []robots.Diagnostic {
	bound := map[int]bool{}
	for _, who := range asked {
		for _, i := range report.File.Binding(who) {
			bound[i] = true
		}
	}
	group := -1 // the group of the line
	groups := report.File.Groups
	return slices.DeleteFunc(slices.Clone(diagnostics), func(d robots.Diagnostic) bool {
		for group+1 < len(groups) && groups[group+1].Line <= d.Line {
			group++
		}
		return group >= 0 && !bound[group] && !ofFile[d.Code]
	})
}
