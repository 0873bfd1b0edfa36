package weblog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// CSV and TSV are tables with a header: CSV with commas, semicolons or pipes, TSV with tabs.
const (
	CSV Format = "csv"
	TSV Format = "tsv"
)

var (
	csvFormat = format{
		name: CSV, anyField: true,
		about:  "a table with a header row, separated by commas, semicolons or pipes",
		parser: func(opt Options) (Parser, error) { return newTable(opt, 0), nil },
		header: func(lines [][]byte, opt Options) bool { return isTable(lines, opt, 0) },
	}
	tsvFormat = format{
		name: TSV, anyField: true,
		about:  "a table with a header row, separated by tabs",
		parser: func(opt Options) (Parser, error) { return newTable(opt, tab), nil },
		header: func(lines [][]byte, opt Options) bool { return isTable(lines, opt, tab) },
	}
)

// byteOrderMark may precede a table, also one that was appended to another.
const byteOrderMark = "\ufeff"

// The separators of tables. A table with one column has lineEnd, which no unquoted field contains.
const (
	tab     = '\t'
	lineEnd = '\n'
)

// table reads tables with a header row, as comma-separated values (RFC 4180) or with another separator. A field in
// quotes may contain separators, doubled quotes and line ends.
type table struct {
	named
	sep     byte   // 0 before the header of a CSV
	header  header // nil before it
	notes   bool   // lines that begin with # are notes, which Google Analytics writes above each table
	titled  bool   // the first line is a title, which is skipped
	begun   bool   // the first line was read
	tables  int    // number of header rows read
	foreign bool   // the second header row belongs to another table without URLs
	sampled bool   // the first header row was found by Sample
	isLoose bool   // unquoted fields may contain quotes
}

func newTable(opt Options, sep byte) *table {
	return &table{named: named{common: newCommon(opt), isTable: true, isHeaded: true}, sep: sep}
}

// Parse parses a record: a line, or several lines after Continues.
func (t *table) Parse(line []byte, r *Row) Result {
	r.reset()
	if t.notes && line[0] == '#' {
		t.header = nil
		return NoRow
	}
	if t.header == nil {
		return t.readHeader(line)
	}
	if t.foreign {
		return RefusedHeader
	}
	if result := t.split(line); result != IsRow {
		return result
	}
	if len(t.values) != len(t.header) {
		t.readGlued()
		return RefusedFields
	}
	if target := t.values[t.of[roleURL][0].at]; (len(target) == 0 || target[0] != '/' && !isURL(target)) && t.isName(target) && t.reorder(t.values) {
		return NoRow
	}
	return t.row(r)
}

// isName reports whether a field is a name in the header row.
func (t *table) isName(field []byte) bool {
	name := string(bytes.TrimSpace(bytes.TrimPrefix(field, []byte(byteOrderMark))))
	return slices.ContainsFunc(t.header, func(known string) bool { return strings.EqualFold(known, name) })
}

// reorder makes names the header row of the following rows, and reports whether they are one: the names of the header
// row in any order, as in concatenated tables. The columns keep their names.
func (t *table) reorder(names [][]byte) bool {
	places := t.header.placesIn(names)
	if places == nil {
		return false
	}
	reordered := make(header, len(t.header))
	for i, at := range places {
		reordered[at] = t.header[i]
	}
	t.header = reordered
	t.eachPlace(func(column int) int { return places[column] })
	return true
}

// readGlued reads a header row that follows a row without a line end between them, if there is one.
func (t *table) readGlued() {
	if !t.isGlued() {
		return
	}
	names := slices.Clone(t.values[len(t.header)-1:])
	glued := names[0]
	for _, name := range t.header {
		rest := max(0, len(glued)-len(name))
		if names[0] = glued[rest:]; t.reorder(names) {
			return
		}
	}
}

// isGlued reports whether the fields are a row followed by a header row, whose first name is part of the last field of
// the row.
func (t *table) isGlued() bool {
	n := len(t.header)
	if n < 2 || len(t.values) != 2*n-1 {
		return false
	}
	return !slices.ContainsFunc(t.values[n:], func(field []byte) bool { return !t.isName(field) })
}

// readHeader reads the header row, or the line before it in which Excel names the separator.
func (t *table) readHeader(line []byte) Result {
	sep := separatorLine(line)
	isAbove := !t.begun && (sep != 0 || t.titled)
	if t.begun = true; isAbove {
		t.sep = cmp.Or(sep, t.sep)
		return NoRow
	}
	if t.sep == 0 {
		t.sep = separatorOf([][]byte{line})
	}
	if result := t.split(line); result != IsRow {
		return result
	}
	t.header = headerOf(t.values)
	if t.tables++; t.tables > 1 {
		err := t.err
		t.locate(nil)
		t.foreign = t.err != nil
		t.err = err
		return NoRow
	}
	if !t.sampled {
		t.locate(nil)
	}
	if t.err != nil {
		return Failed
	}
	return NoRow
}

// separatorLine returns the separator in a line such as "sep=;", which Excel writes before a table; 0 for other lines.
func separatorLine(line []byte) byte {
	if rest, ok := bytes.CutPrefix(line, []byte("sep=")); ok && len(rest) == 1 {
		return rest[0]
	}
	return 0
}

// locate finds the columns, according to the header row and the first rows. If no column has a known name for the
// URL, the only column with URLs, or else with paths, is used, and the choice names it. It sets err if a required
// column is missing.
func (t *table) locate(rows [][][]byte) (choice Choice) {
	fields := make([]sampled, len(t.header))
	for i, name := range t.header {
		fields[i] = sampled{name: name, values: make([][]byte, len(rows))}
		for k, row := range rows {
			fields[i].values[k] = trimBlank(at(row, i))
		}
	}
	if t.err = headless(fields); t.err != nil {
		return choice
	}
	t.plan = planOf(fields, &t.opt)
	targets := t.plan.of[roleURL]
	if t.err = checkFields(&t.opt, t.header, t.plan); t.err != nil {
		return choice
	}
	if len(targets) == 0 || targets[0].fit != fits {
		if choice.Field, t.err = onlyURLs(fields); choice.Field != "" {
			t.plan.of[roleURL] = []pick{t.plan.pickOf(choice.Field)}
		} else if t.err == nil && len(targets) == 0 {
			t.err = fmt.Errorf("%w: the fields are %s", ErrNoURL, listed(t.header))
		}
		if t.err != nil {
			return choice
		}
	} else if !t.opt.isNamed(roleURL) {
		choice = rival(fields, targets)
	}
	t.read(func(p *pick, _ role) (at, with int) { return p.at, p.with })
	choice.Took = t.plan.took(&t.opt)
	return choice
}

// split splits a record into fields.
func (t *table) split(text []byte) Result {
	t.values, t.buf = t.values[:0], t.buf[:0]
	for {
		field, rest, result := t.field(text)
		if result != IsRow {
			return result
		}
		t.values = append(t.values, field)
		if rest == nil {
			return IsRow
		}
		text = rest[1:]
	}
}

// field returns the first field of text, and the rest of text from the separator on: nil at the end.
func (t *table) field(text []byte) (field, rest []byte, result Result) {
	if len(text) > 0 && text[0] == '"' {
		return t.quotedField(text[1:])
	}
	n := bytes.IndexByte(text, t.sep)
	if n >= 0 {
		text, rest = text[:n], text[n:]
	}
	if !t.isLoose && t.sep != tab && t.sep != lineEnd && bytes.IndexByte(text, '"') >= 0 { // in tables separated by tabs, a quote has no special meaning
		return nil, nil, RefusedQuote
	}
	return text, rest, IsRow
}

// quotedField is field for text after an opening quote.
func (t *table) quotedField(text []byte) (field, rest []byte, result Result) {
	begin := len(t.buf)
	for {
		n := bytes.IndexByte(text, '"')
		switch {
		case n < 0:
			return nil, nil, Continues
		case n+1 == len(text):
			return t.joined(begin, text[:n]), nil, IsRow
		case text[n+1] == t.sep:
			return t.joined(begin, text[:n]), text[n+1:], IsRow
		case text[n+1] != '"':
			return nil, nil, RefusedQuote
		}
		t.buf = append(t.buf, text[:n+1]...)
		text = text[n+2:]
	}
}

// joined returns t.buf[begin:] followed by last.
func (t *table) joined(begin int, last []byte) []byte {
	if len(t.buf) == begin {
		return last
	}
	t.buf = append(t.buf, last...)
	return t.buf[begin:]
}
