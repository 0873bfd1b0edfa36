package weblog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CSV and TSV are tables with a header: CSV with commas, semicolons or pipes, TSV with tabs.
const (
	CSV Format = "csv"
	TSV Format = "tsv"
)

var (
	csvFormat = format{
		name: CSV, anyField: true,
		about:  "a table with a header, and commas, semicolons or pipes",
		parser: func(opt Options) (Parser, error) { return newTable(opt, 0), nil },
		header: func(lines [][]byte, opt Options) bool { return isTable(lines, opt, 0) },
	}
	tsvFormat = format{
		name: TSV, anyField: true,
		about:  "a table with a header, and tabs",
		parser: func(opt Options) (Parser, error) { return newTable(opt, tab), nil },
		header: func(lines [][]byte, opt Options) bool { return isTable(lines, opt, tab) },
	}
)

// byteOrderMark may be in front of a table, also where it was joined to another.
const byteOrderMark = "\ufeff"

// The separators of tables. A table of one column has none: no field without quotes holds lineEnd.
const (
	tab     = '\t'
	lineEnd = '\n'
)

// table reads tables with a header, in comma separated values (RFC 4180) or with another separator.
// A field in quotes may hold separators, quotes, which are doubled, and line ends.
type table struct {
	common
	escapes
	sep      byte // 0 before the header of a CSV
	cols     columns
	header   header              // nil before it
	longest  int                 // bytes of the longest name that the header has
	initials [utf8.RuneSelf]bool // that its names may begin with
	fields   [][]byte
	notes    bool   // lines that begin with # are notes, as Google Analytics writes them above each table
	titled   bool   // the first line is a title, which is not read
	begun    bool   // the first line was read
	tables   int    // headers read
	first    sample // the rows behind the first header, until that is read
	foreign  bool   // the table behind a second header is another one, without URLs
	byValues int    // the column of the URL as the values of the first rows say; -1 if they say nothing
}

func newTable(opt Options, sep byte) *table {
	return &table{common: newCommon(opt), sep: sep, byValues: -1}
}

// Parse reads a record: a line, or more where the Result before was Continues.
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
	if len(t.fields) != len(t.header) {
		t.readGlued()
		return RefusedFields
	}
	if target := t.fields[t.cols.url]; len(target) <= t.longest && t.mayBeName(target) && t.isName(target) && t.reorder(t.fields) {
		return NoRow
	}
	return t.row(r)
}

// isName reports whether a field is a name of the header.
func (t *table) isName(field []byte) bool {
	name := string(bytes.TrimSpace(bytes.TrimPrefix(field, []byte(byteOrderMark))))
	return slices.ContainsFunc(t.header, func(known string) bool { return strings.EqualFold(known, name) })
}

// noteInitial notes which letters of ASCII a name may begin with.
func (t *table) noteInitial(name string) {
	first, _ := utf8.DecodeRuneInString(name)
	for r := unicode.SimpleFold(first); ; r = unicode.SimpleFold(r) {
		if r < utf8.RuneSelf {
			t.initials[r] = true
		}
		if r == first {
			return
		}
	}
}

// mayBeName reports whether a field may be a name of the header, as its first byte says.
func (t *table) mayBeName(field []byte) bool {
	return len(field) == 0 || field[0] <= ' ' || field[0] >= utf8.RuneSelf || t.initials[field[0]]
}

// reorder makes names the header of the rows that follow, and reports whether they are one: the header's names in any
// order, as where tables were joined. The columns stay with the names that they had.
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
	for _, column := range t.cols.all() {
		if *column >= 0 {
			*column = places[*column]
		}
	}
	return true
}

// readGlued reads the header behind a row without a line end, if there is one.
func (t *table) readGlued() {
	if !t.isGlued() {
		return
	}
	names := slices.Clone(t.fields[len(t.header)-1:])
	glued := names[0]
	for _, name := range t.header {
		rest := max(0, len(glued)-len(name))
		if names[0] = glued[rest:]; t.reorder(names) {
			return
		}
	}
}

// isGlued reports whether the fields are a row's, and a header's behind it, whose first name is part of
// the row's last field.
func (t *table) isGlued() bool {
	n := len(t.header)
	if n < 2 || len(t.fields) != 2*n-1 {
		return false
	}
	return !slices.ContainsFunc(t.fields[n:], func(field []byte) bool { return !t.isName(field) })
}

// readHeader reads the first record, or the line in front of it where Excel names the
// separator.
func (t *table) readHeader(line []byte) Result {
	if sep := separatorLine(line); sep != 0 && !t.begun {
		t.sep, t.begun = sep, true
		return NoRow
	}
	if t.titled && !t.begun {
		t.begun = true
		return NoRow
	}
	t.begun = true
	if t.sep == 0 {
		t.sep = separatorOf([][]byte{line})
	}
	if result := t.split(line); result != IsRow {
		return result
	}
	t.longest, t.initials = 0, [utf8.RuneSelf]bool{}
	for _, field := range t.fields {
		t.header = append(t.header, string(bytes.TrimSpace(field)))
		t.longest = max(t.longest, len(field)+len(byteOrderMark))
		t.noteInitial(t.header[len(t.header)-1])
	}
	if t.tables++; t.tables > 1 {
		t.first = nil
		err := t.err
		t.locate()
		t.foreign = t.err != nil
		t.err = err
		return NoRow
	}
	if t.err == nil {
		t.locate()
	}
	if t.err != nil {
		return Failed
	}
	return NoRow
}

// separatorLine returns the separator that a line as "sep=;" names, which Excel puts in front of a
// table; 0 if it is none.
func separatorLine(line []byte) byte {
	if rest, ok := bytes.CutPrefix(line, []byte("sep=")); ok && len(rest) == 1 {
		return rest[0]
	}
	return 0
}

// locate finds the columns by the header. It sets err if there is none that was named, for the URL, or
// for the User-Agent where that is needed.
func (t *table) locate() {
	if t.cols, t.err = t.header.locate(t.opt, t.first); t.err != nil {
		return
	}
	if t.opt.URL == "" && t.byValues >= 0 && t.tables <= 1 {
		t.cols.url = t.byValues
	}
	if t.cols.url < 0 {
		t.cols.url = t.header.find(exportNames...)
	}
	switch {
	case t.cols.url < 0:
		t.err = noURL(t.header)
	case t.opt.Agents && t.opt.Need && t.cols.agent < 0:
		t.err = fmt.Errorf("%w: there are %s", ErrNoAgents, listed(t.header))
	}
}

// split cuts a record into fields.
func (t *table) split(text []byte) Result {
	t.fields, t.buf = t.fields[:0], t.buf[:0]
	for {
		field, rest, result := t.field(text)
		if result != IsRow {
			return result
		}
		t.fields = append(t.fields, field)
		if rest == nil {
			return IsRow
		}
		text = rest[1:]
	}
}

// field returns the first field of text, and the text behind it: nil at the end, else from the
// separator on.
func (t *table) field(text []byte) (field, rest []byte, result Result) {
	if len(text) > 0 && text[0] == '"' {
		return t.quotedField(text[1:])
	}
	n := bytes.IndexByte(text, t.sep)
	if n >= 0 {
		text, rest = text[:n], text[n:]
	}
	if t.sep != tab && t.sep != lineEnd && bytes.IndexByte(text, '"') >= 0 { // between tabs a quote is as good as any other character
		return nil, nil, RefusedQuote
	}
	return text, rest, IsRow
}

// quotedField is field for text behind an opening quote.
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

// joined returns the text in t.buf from begin on, followed by last.
func (t *table) joined(begin int, last []byte) []byte {
	if len(t.buf) == begin {
		return last
	}
	t.buf = append(t.buf, last...)
	return t.buf[begin:]
}

// row makes the row of the fields.
func (t *table) row(r *Row) Result {
	if !t.urlOrRequest(r, trimBlank(t.fields[t.cols.url]), place{scheme: schemeOf(at(t.fields, t.cols.scheme)), host: at(t.fields, t.cols.host)}) {
		return t.fail(ErrNoBase)
	}
	r.Blank = HasBlank(r.Target)
	if t.opt.Agents {
		r.HasAgent = t.cols.agent >= 0
		r.Agent = present(at(t.fields, t.cols.agent))
	}
	if !t.setClient(r, at(t.fields, t.cols.client)) {
		return Failed
	}
	t.setTime(r, at(t.fields, t.cols.time))
	for _, i := range t.cols.keep {
		r.Fields = append(r.Fields, present(at(t.fields, i)))
	}
	return IsRow
}
