package lint

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/cli"
)

// Forms are the output forms of findings.
var Forms = []string{"text", "json", "sarif", "github", "junit", "markdown"}

// maxKept is the maximum number of findings kept for forms that print the worst first.
const maxKept = 5_000

// A Printer prints findings in one form. It is for one goroutine; [Printer.Close] completes it.
type Printer struct {
	out *bufio.Writer
	opt Options

	counts  [3]int64     // by severity
	origins int64        // number of origins with findings
	files   []string     // files without findings, for JUnit only
	kept    [3][]Finding // by severity, the first ones
	left    int64        // number of findings that were not kept
	byCode  map[string]*tally
}

// Options configure the output.
type Options struct {
	Form    string // one of [Forms]
	Version string // of the program
	All     bool   // text: print all findings
	Fail    Gate   // JUnit: the findings that are failures
}

// A tally counts the findings of one code.
type tally struct {
	code     Code
	count    int64
	origins  int64
	examples []Finding // the first finding of each of the worst origins
	worst    []int     // their number of findings with this code
}

// NewPrinter returns a printer.
func NewPrinter(w io.Writer, opt Options) *Printer {
	return &Printer{out: bufio.NewWriter(w), opt: opt, byCode: map[string]*tally{}}
}

// Counts returns the number of findings of each severity, worst severity first.
func (p *Printer) Counts() []int64 { return p.counts[:] }

// Add adds the findings of one robots.txt, and copies what it keeps of them. Call it with an empty list for a
// robots.txt without findings. JSON, and text with all findings, are printed at once; other forms by Close.
func (p *Printer) Add(place *Place, findings []Finding) error {
	if len(findings) == 0 {
		if len(p.files) < maxKept {
			p.files = append(p.files, place.name())
		}
		return nil
	}
	p.origins++
	here := map[string]int{}
	for i := range findings {
		f := &findings[i]
		p.counts[f.severity]++
		here[f.Code]++
		if p.opt.Form == "json" {
			if err := msg.WriteJSON(p.out, f); err != nil {
				return err
			}
			continue
		}
		if p.opt.All && p.opt.Form == "text" {
			p.out.WriteString(f.text())
			continue
		}
		if kept := &p.kept[f.severity]; len(*kept) < maxKept {
			*kept = append(*kept, *f)
		} else {
			p.left++
		}
	}
	// Count the findings of one origin by code.
	for i := range findings {
		f := &findings[i]
		n := here[f.Code]
		if n == 0 {
			continue // already counted
		}
		here[f.Code] = 0
		t := p.byCode[f.Code]
		if t == nil {
			t = &tally{code: Code{Severity: f.severity}}
			p.byCode[f.Code] = t
		}
		t.count += int64(n)
		t.origins++
		at, _ := slices.BinarySearchFunc(t.worst, n, func(have, n int) int {
			if have >= n { // the first of equal ones stays in front
				return -1
			}
			return 1
		})
		if at < examples {
			t.worst = slices.Insert(t.worst, at, n)[:min(len(t.worst)+1, examples)]
			t.examples = slices.Insert(t.examples, at, *f)[:min(len(t.examples)+1, examples)]
		}
	}
	return nil
}

// examples is the number of examples per code in the table.
const examples = 3

// worstFindings returns up to most findings, worst first, and the number of the others.
func (p *Printer) worstFindings(most int) (findings []Finding, left int64) {
	for _, kept := range p.kept {
		findings = append(findings, kept...)
	}
	left = p.left
	if len(findings) > most {
		left += int64(len(findings) - most)
		findings = findings[:most]
	}
	return findings, left
}

// Close prints what Add has not printed yet, and flushes the output. It does not close the writer.
func (p *Printer) Close() error {
	var err error
	switch p.opt.Form {
	case "text":
		// Print the findings one by one, or as a table if they come from many origins.
		if !p.opt.All && p.origins <= manyOrigins && p.left == 0 {
			findings, _ := p.worstFindings(maxKept * len(p.kept))
			slices.SortStableFunc(findings, func(a, b Finding) int {
				return cmp.Or(cmp.Compare(a.place().name(), b.place().name()), cmp.Compare(a.Line, b.Line))
			})
			for i := range findings {
				p.out.WriteString(findings[i].text())
			}
		} else if !p.opt.All {
			p.printTable()
		}
		p.out.WriteString(p.countText())
	case "sarif":
		findings, left := p.worstFindings(maxKept)
		err = writeSARIF(p.out, findings, left, p.opt.Version)
	case "github", "markdown":
		findings, left := p.worstFindings(maxKept)
		notes := make([]ci.Note, len(findings))
		for i := range findings {
			notes[i] = findings[i].annotation()
		}
		if p.opt.Form == "markdown" {
			p.out.WriteString("### robots.txt: mistakes\n\n" + p.countText() + ci.Fold(notes, left))
		} else {
			err = ci.GitHub(p.out, notes, left)
		}
	case "junit":
		// Print a case for each finding, which fails depending on the severity, and one for each file without findings.
		var cases []ci.Case
		var failures int64 // omitted ones
		for severity, n := range p.counts {
			if p.opt.Fail.Fails(Severity(severity)) {
				failures += n
			}
		}
		for _, file := range p.files {
			cases = append(cases, ci.Case{Class: file, Name: "no findings"})
		}
		findings, left := p.worstFindings(maxKept)
		for i := range findings {
			f := &findings[i]
			c := ci.Case{Class: f.place().name(), Name: fmt.Sprintf("%s line %d", f.Code, f.Line)}
			if text := f.Severity + ": " + f.Text + "\n" + f.Do; p.opt.Fail.Fails(f.severity) {
				c.Failure = text
				failures--
			} else {
				c.Note = text
			}
			cases = append(cases, c)
		}
		if left > 0 {
			more := ci.Case{Class: "robobatch lint", Name: "more findings", Note: msg.Number(left) + " more findings omitted"}
			if failures > 0 {
				more.Failure, more.Note = more.Note, ""
			}
			cases = append(cases, more)
		}
		err = ci.JUnit(p.out, "robobatch lint", cases)
	}
	if err != nil {
		return err
	}
	return p.out.Flush()
}

// countText returns the number of findings in words.
func (p *Printer) countText() string {
	return msg.Count(p.counts[Error], "error") + ", " + msg.Count(p.counts[Warning], "warning") + ", " + msg.Count(p.counts[Info], "remark") + "\n"
}

// annotation returns the finding as an annotation. For a capture, whose lines are not those of a file, the position
// is part of the text.
func (f *Finding) annotation() ci.Note {
	level := f.Severity
	if f.severity == Info {
		level = "notice"
	}
	n := ci.Note{Level: level, File: filepath.ToSlash(f.File), Line: f.Line, Column: f.Column, Title: f.Code, Text: f.Text + ". " + f.Do, Site: cmp.Or(f.Origin, f.place().name())}
	if f.capture {
		n.Line, n.Column, n.Text = 0, 0, fmt.Sprintf("%s:%d: %s", f.place().name(), f.Line, n.Text)
	}
	return n
}

// manyOrigins is the number of origins with findings from which on the text output is a table by code.
const manyOrigins = 5

// printTable prints how often each code occurs, with up to three examples; the most severe codes come first.
func (p *Printer) printTable() {
	codes := slices.SortedFunc(maps.Keys(p.byCode), func(a, b string) int {
		x, y := p.byCode[a], p.byCode[b]
		return cmp.Or(cmp.Compare(x.code.Severity, y.code.Severity), cmp.Compare(y.count, x.count), cmp.Compare(a, b))
	})
	for _, name := range codes {
		t := p.byCode[name]
		fmt.Fprintf(p.out, "%-8s%-30s%10s in %s\n", t.code.Severity, name, msg.Number(t.count), msg.Count(t.origins, "origin"))
		for i := range t.examples {
			f := &t.examples[i]
			place := fmt.Sprintf("%s%s:%d  ", indent, cli.Fit(msg.Line(f.Origin), longOrigin), f.Line)
			p.out.WriteString(place + cli.Fit(msg.Line(f.Source), width-cli.Columns(place)) + "\n")
		}
	}
}

// Columns of the text.
const (
	width      = 80
	indent     = "    "
	quote      = indent + "| "
	maxText    = 400 // for the fault, over several lines
	longOrigin = 40  // for an origin in the table
)

// text formats a finding: its place and code, the line of robots.txt with a caret below it, and the remedy. Lines
// have at most 80 columns. Only the name of the file or the URL of a capture is never truncated, so that editors can
// open it.
func (f *Finding) text() string {
	var sb strings.Builder
	name := msg.Line(f.place().name())
	if strings.HasPrefix(name, "::") { // GitHub treats a log line with this prefix as a command
		name = "./" + name
	}
	fmt.Fprintf(&sb, "%s:%d:%d %s %s\n%s", name, f.Line, f.Column, f.Severity, f.Code, wrap(cli.Fit(msg.Line(f.Text), maxText)))
	source := strings.ReplaceAll(f.Source, "\t", " ")
	if line := msg.Line(source); strings.TrimSpace(line) != "" {
		shown := cli.Fit(line, width-len(quote))
		sb.WriteString(quote + shown + "\n")
		before := msg.Line(string([]rune(source)[:f.Column-1]))
		if shown == line || strings.HasPrefix(shown, before) {
			sb.WriteString(quote + strings.Repeat(" ", cli.Columns(before)) + "^\n")
		}
	}
	sb.WriteString(wrap(f.Do))
	return msg.NoCommands(sb.String())
}

// wrap returns a text in indented lines of at most 80 columns.
func wrap(s string) string {
	const columns = width - len(indent)
	return indent + strings.ReplaceAll(cli.Fill(cli.FitWords(s, columns), columns), "\n", "\n"+indent) + "\n"
}

// The parts of SARIF 2.1.0 (OASIS, 27 March 2020) that the output uses.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool      `json:"tool"`
		ColumnKind string         `json:"columnKind"`
		Results    []sarifResult  `json:"results"`
		Properties map[string]any `json:"properties,omitempty"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifText    `json:"shortDescription"`
		Help    sarifText    `json:"help"`
		Default sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int32     `json:"startLine"`
		StartColumn int       `json:"startColumn"`
		Snippet     sarifText `json:"snippet"`
	}
)

// sarifLevels maps severities to levels.
var sarifLevels = []string{"error", "warning", "note"}

// writeSARIF writes the findings as a SARIF 2.1.0 log, with all codes as rules. left is the number of omitted findings.
func writeSARIF(w io.Writer, findings []Finding, left int64, version string) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "robobatch", Version: version, InformationURI: "https://github.com/robobatch/robobatch", Rules: make([]sarifRule, len(Codes)),
		}},
		ColumnKind: "unicodeCodePoints", Results: make([]sarifResult, len(findings)),
	}
	for i, c := range Codes {
		run.Tool.Driver.Rules[i] = sarifRule{string(c.Name), sarifText{c.What}, sarifText{c.Do}, sarifDefault{sarifLevels[c.Severity]}}
	}
	for i := range findings {
		run.Results[i] = findings[i].toSARIF()
	}
	if left > 0 {
		run.Properties = map[string]any{"findingsLeftOut": left}
	}
	text, err := json.MarshalIndent(sarifLog{
		"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run},
	}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(msg.EscapeJSON(text), '\n'))
	return err
}

// toSARIF returns the finding as a result of SARIF. Its fingerprint does not depend on the line number.
func (f *Finding) toSARIF() sarifResult {
	key := f.Key()
	text := key.Origin + "\x00" + key.Code + "\x00" + key.Source
	if f.occurrence > 1 { // distinguishes equal lines
		text += "\x00" + strconv.Itoa(f.occurrence)
	}
	sum := xxh3.Hash128([]byte(text)).Bytes()
	index := slices.IndexFunc(Codes, func(c Code) bool { return string(c.Name) == f.Code })
	uri := url.URL{Path: filepath.ToSlash(f.File)}
	artifact := uri.String()
	if f.capture {
		artifact = f.place().name()
	}
	return sarifResult{
		RuleID: f.Code, RuleIndex: index, Level: sarifLevels[f.severity], Message: sarifText{f.Text + ". " + f.Do},
		Locations: []sarifLocation{{sarifPhysical{
			sarifArtifact{artifact}, sarifRegion{max(f.Line, 1), f.Column, sarifText{f.Source}},
		}}},
		Fingerprints: map[string]string{"originCodeLine/v1": hex.EncodeToString(sum[:])},
	}
}
