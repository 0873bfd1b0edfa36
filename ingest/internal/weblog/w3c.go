package weblog

import (
	"bytes"
	"slices"
	"strings"
)

// The start of the line that names the fields of the following lines, and its equivalent in logs of Zeek.
var (
	fieldsDirective = []byte("#Fields:")
	zeekFields      = []byte("#fields\t")
)

// isFields reports whether a line names the following fields.
func isFields(line []byte) bool {
	return bytes.HasPrefix(line, fieldsDirective) || bytes.HasPrefix(line, zeekFields)
}

// W3C is the extended log format, as written by IIS. CloudFront is the format of Amazon's standard logs, with tabs.
const (
	W3C        Format = "w3c"
	CloudFront Format = "cloudfront"
)

var (
	w3cFormat = format{
		name: W3C, aliases: []string{"iis", "zeek"},
		about:  "W3C extended log files: IIS, and Zeek's http.log",
		parser: func(opt Options) (Parser, error) { return newW3C(opt, plusCode), nil },
		header: isW3C,
	}
	cloudFrontFormat = format{
		name:   CloudFront,
		about:  "standard logs of Amazon CloudFront",
		parser: func(opt Options) (Parser, error) { return newW3C(opt, percentCode), nil },
		header: isCloudFront,
	}
)

// isW3C reports whether the first line is a directive.
func isW3C(lines [][]byte, _ Options) bool {
	return slices.ContainsFunc([]string{"#Version:", "#Software:", string(fieldsDirective), "#separator ", string(zeekFields)}, func(directive string) bool {
		return bytes.HasPrefix(lines[0], []byte(directive))
	})
}

// isCloudFront reports whether a line names a field that only Amazon CloudFront has.
func isCloudFront(lines [][]byte, opt Options) bool {
	return isW3C(lines, opt) && slices.ContainsFunc(lines, func(line []byte) bool {
		return bytes.HasPrefix(line, fieldsDirective) && bytes.Contains(line, []byte("x-edge-location"))
	})
}

// A w3c reads the W3C extended log file format. Fields are separated by spaces, or by tabs if a line has one. IIS
// writes "+" for spaces, and CloudFront percent-encodes; both are decoded in request headers, but not in URLs. Other
// writers put fields in quotes, which may contain spaces.
type w3c struct {
	named
	number int // of fields; 0 before the header
	agent  int // the column of the User-Agent, whose value may be in quotes even without spaces; -1 if there is none
	header header
	quoted table    // of lines with fields in quotes
	first  [][]byte // the first lines
}

func newW3C(opt Options, code code) *w3c {
	return &w3c{named: named{common: newCommon(opt), isHeaded: true, code: code}, agent: -1, quoted: table{isLoose: true}}
}

// Sample reads the header in the lines, and the rows after it.
func (w *w3c) Sample(lines [][]byte) (choice Choice) {
	if i := slices.IndexFunc(lines, isFields); i >= 0 {
		w.first = lines[i+1:]
		if next := slices.IndexFunc(w.first, isFields); next >= 0 {
			w.first = w.first[:next]
		}
		var r Row
		if w.Parse(lines[i], &r) == NoRow {
			choice.Took = w.plan.took(&w.opt)
		}
		w.err, w.first = nil, nil
	}
	return choice
}

// Parse reads a line.
func (w *w3c) Parse(line []byte, r *Row) Result {
	r.reset()
	if line[0] == '#' {
		return w.directive(line)
	}
	if w.number == 0 {
		return RefusedHeader
	}
	if w.cut(line); len(w.values) != w.number {
		return RefusedFields
	}
	return w.row(r)
}

// cut splits a line.
func (w *w3c) cut(line []byte) {
	sep := byte(' ')
	if bytes.IndexByte(line, '\t') >= 0 {
		sep = '\t'
	}
	w.buf = w.buf[:0]
	w.values = cutFields(w.values[:0], line, sep)
	if w.mayHaveQuotes(line) {
		w.cutQuoted(line, sep)
	}
}

// mayHaveQuotes reports whether the line, which was split without regard to quotes, may have quoted fields. A
// User-Agent without a space may be the only one.
func (w *w3c) mayHaveQuotes(line []byte) bool {
	return line[0] == '"' || len(w.values) != w.number || bytes.HasPrefix(at(w.values, w.agent), []byte{'"'})
}

// cutQuoted splits the line again, with quotes. If the number of fields then differs from the header, they stay as they
// are.
func (w *w3c) cutQuoted(line []byte, sep byte) {
	if w.quoted.sep = sep; w.quoted.split(line) == IsRow && len(w.quoted.values) == w.number {
		w.values, w.quoted.values = w.quoted.values, w.values
	}
}

// directive reads a line that begins with "#".
func (w *w3c) directive(line []byte) Result {
	if !isFields(line) {
		return NoRow
	}
	if line[len("#")] == 'f' {
		w.code = asIs
	}
	head := strings.Fields(string(line[len(zeekFields):])) // which is as long as the other
	if slices.Equal(head, w.header) {
		return NoRow
	}
	w.header, w.number = head, len(head)
	fields := make([]sampled, w.number)
	for i, name := range head {
		fields[i].name = name
	}
	for _, line := range w.first {
		if w.cut(line); len(w.values) == w.number && line[0] != '#' {
			for i, value := range w.values {
				fields[i].values = append(fields[i].values, slices.Clone(value))
			}
		}
	}
	w.plan = planOf(fields, &w.opt)
	err := checkFields(&w.opt, head, w.plan)
	if err == nil && len(w.plan.of[roleURL]) == 0 {
		err = ErrNoURL
	}
	if err != nil {
		w.header = nil
		return w.fail(err)
	}
	w.read(func(p *pick, _ role) (at, with int) { return p.at, p.with })
	w.agent = -1
	if agents := w.plan.of[roleAgent]; len(agents) > 0 {
		w.agent = agents[0].at
	}
	return NoRow
}
