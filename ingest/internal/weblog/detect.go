package weblog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// DetectLines is the maximum number of lines at the beginning of a log that are used to detect its format.
const DetectLines = 32

// Detect returns the most likely format of lines, which are the first DetectLines of a log, or URLs if none is
// detected. opt may name the column of a table with the URL.
func Detect(lines [][]byte, opt Options) Format {
	if len(lines) == 0 {
		return URLs
	}
	for _, f := range formats {
		if f.header != nil && f.header(lines, opt) {
			return f.name
		}
	}
	signs := make([]byte, len(lines))
	for i, line := range lines {
		signs[i] = signsOf(line)
	}
	best, most := URLs, 0
	for _, f := range formats {
		votes := 0
		for i, line := range lines {
			if f.isLine(line, signs[i]) {
				votes++
			}
		}
		if votes > most {
			best, most = f.name, votes
		}
		if most == len(lines) {
			break
		}
	}
	if best == URLs {
		return detectTable(lines)
	}
	return best
}

// evenRows is the number of records that must have the same number of fields as the header row, if that has no known
// name.
const evenRows = 10

// separators are the possible separators of tables. If several have the same number of fields, the first one counts.
const separators = ",;\t|"

// A tableHead describes the start of a table: the lines before its header row, and its separator.
type tableHead struct {
	body   [][]byte // the lines from the header row on; empty if there is none
	notes  bool     // lines that begin with # precede it; a header row may also begin with #
	titled bool     // a title precedes it
	named  byte     // the separator according to a line before it, 0 if there is none
	even   byte     // the separator of which the first records have the same number, 0 if there is none
}

// headOf analyses the first lines of a log, at least one.
func headOf(lines [][]byte) (h tableHead) {
	h.named = separatorLine(lines[0])
	h.titled = h.named == 0 && hasTitle(lines)
	n := 0
	for n < len(lines) && lines[n][0] == '#' {
		n++
	}
	if h.named != 0 || h.titled {
		n = 1
	} else if h.notes = n > 0 && separatorOf(lines[:1]) == lineEnd; !h.notes {
		n = 0
	}
	h.body = lines[n:]
	h.even = evenSeparator(h.body)
	return h
}

// sep returns the separator: the named one, the one of which all records have the same number, or the most frequent one
// in the header row.
func (h *tableHead) sep() byte { return cmp.Or(h.named, h.even, mostSeparator(h.body)) }

// detectTable returns CSV or TSV if all lines have the same number of fields, with any names, otherwise URLs.
func detectTable(lines [][]byte) Format {
	h := headOf(lines)
	switch {
	case h.even == 0 || !mayBeHeader(h.body[0]) || h.body[0][0] == '#':
		return URLs
	case h.even == tab:
		return TSV
	}
	return CSV
}

// isTable reports whether lines begin with a header row with the chosen or a known name for the URL, possibly after
// notes. sep is tab, or 0 for all other separators.
func isTable(lines [][]byte, opt Options, sep byte) bool {
	h := headOf(lines)
	if len(h.body) == 0 || !mayBeHeader(h.body[0]) || bytes.Contains(h.body[0], []byte("://")) || (h.sep() == tab) != (sep == tab) {
		return false
	}
	t := newTable(Options{Named: opt.targets()}, h.sep()) // the parser reports other missing fields
	t.begun = true
	return t.readHeader(h.body[0]) == NoRow
}

// mayBeHeader reports whether a line can be a header row: it is not a URL, a path or an object.
func mayBeHeader(line []byte) bool {
	return line[0] != '{' && line[0] != '/' && !isURL(trimBlank(line))
}

// hasTitle reports whether the first line is the title of a table: a single field without a known name, before a header
// row of several names, one of which is known for URLs.
func hasTitle(lines [][]byte) bool {
	if len(lines) < 2 || lines[0][0] == '#' || !mayBeHeader(lines[0]) || !mayBeHeader(lines[1]) {
		return false
	}
	sep := separatorOf(lines[1:2])
	title, names := firstRecords(lines[:1], sep, 1), firstRecords(lines[1:2], sep, 1)
	if sep == lineEnd || len(title) == 0 || len(title[0]) != 1 || len(names) == 0 || isURLName(string(bytes.TrimSpace(title[0][0]))) {
		return false
	}
	known := false
	for _, name := range names[0] {
		if isURL(trimBlank(name)) || bytes.HasPrefix(name, []byte{'/'}) {
			return false
		}
		known = known || isURLName(string(bytes.TrimSpace(name)))
	}
	return known
}

// separatorOf returns the separator of a table without lines before it.
func separatorOf(lines [][]byte) byte { return cmp.Or(evenSeparator(lines), mostSeparator(lines)) }

// mostSeparator returns the most frequent separator in a header row; lineEnd if it has no separator.
func mostSeparator(lines [][]byte) byte {
	best, most := byte(lineEnd), 1
	for _, sep := range []byte(separators) {
		if first := firstRecords(lines, sep, 1); len(first) > 0 && len(first[0]) > most {
			best, most = sep, len(first[0])
		}
	}
	return best
}

// evenSeparator returns the separator that occurs equally often, outside quotes, in all first records. If several do,
// it returns the one with the most fields; 0 if there is none, or if there are fewer than two records.
func evenSeparator(lines [][]byte) (best byte) {
	fields := 1
	for _, sep := range []byte(separators) {
		records := firstRecords(lines, sep, evenRows)
		if len(records) < 2 || len(records[0]) <= fields {
			continue
		}
		if !slices.ContainsFunc(records, func(r [][]byte) bool { return len(r) != len(records[0]) }) {
			best, fields = sep, len(records[0])
		}
	}
	return best
}

// firstRecords returns the fields of at most most records at the start of a table. A record that is invalid with this
// separator has no fields. An incomplete record at the end is omitted.
func firstRecords(lines [][]byte, sep byte, most int) (records [][][]byte) {
	t := newTable(Options{}, sep)
	for len(lines) > 0 && len(records) < most {
		text, n := lines[0], 1
		result := t.split(text)
		for result == Continues && n < len(lines) {
			text = slices.Concat(text, []byte{'\n'}, lines[n])
			n++
			result = t.split(text)
		}
		if result == Continues && n > 1 { // the quote does not end: only its line is rejected
			n = 1
		} else if result == Continues {
			return records
		}
		lines = lines[n:]
		var record [][]byte
		if result == IsRow {
			for _, field := range t.values {
				record = append(record, bytes.Clone(field))
			}
		}
		records = append(records, record)
	}
	return records
}

// A Sampler is a Parser that analyses the first lines of its log before it reads them.
type Sampler interface {
	// Sample analyses at most DetectLines lines. Call it once, before Parse.
	Sample(lines [][]byte) Choice
}

// untilHeader returns the records up to the next header row with the names of the first.
func untilHeader(records [][][]byte) [][][]byte {
	head := headerOf(records[0])
	for i, record := range records[1:] {
		if head.placesIn(record) != nil {
			return records[:1+i]
		}
	}
	return records
}

// A Choice says which field has the URL, if that may be unexpected, and which fields are read.
type Choice struct {
	Field string // name of the field with the URL, if it was found by its values; otherwise ""
	Taken string // the field, if Other is also plausible; otherwise ""
	Other string // another field with a known name and different URLs
	Took  *Took  // nil if the fields have no names
}

// Sample finds the separator and the columns. It stores an error for readHeader.
func (t *table) Sample(lines [][]byte) (choice Choice) {
	if len(lines) == 0 {
		return choice
	}
	h := headOf(lines)
	if t.notes, t.titled = h.notes, h.titled; h.named != 0 || t.sep == 0 {
		t.sep = h.sep()
	}
	records := firstRecords(h.body, t.sep, DetectLines)
	if len(records) == 0 || len(records[0]) == 0 {
		return choice
	}
	if t.sampled = true; h.even != 0 && h.even != t.sep && len(records[0]) == 1 {
		t.err = fmt.Errorf("%w: %q", ErrSeparator, h.even)
		return choice
	}
	records = untilHeader(records)
	t.header = headerOf(records[0])
	choice = t.locate(records[1:])
	t.header = nil
	return choice
}

// headerOf returns a record as a header row.
func headerOf(record [][]byte) header {
	head := make(header, len(record))
	for i, name := range record {
		head[i] = string(bytes.TrimSpace(name))
	}
	return head
}

// rival returns a Choice if a second column also has a known name for the URL, and its values are of the same kind
// (URLs, or paths) but different.
func rival(fields []sampled, targets []pick) Choice {
	taken := fields[targets[0].at]
	urls, _ := holds(taken.values)
	for i, f := range fields {
		if u, p := holds(f.values); i == targets[0].at || u != urls || !p || !isURLName(f.name) {
			continue
		}
		for row, value := range f.values {
			if len(value) > 0 && !bytes.Equal(value, taken.values[row]) {
				return Choice{Taken: taken.name, Other: f.name}
			}
		}
	}
	return Choice{}
}

// onlyURLs returns the only column with URLs or, if there is none, with paths; "" if there is none. The error is an
// ErrManyURLs.
func onlyURLs(fields []sampled) (column string, err error) {
	var urls, paths []string
	for _, f := range fields {
		switch u, p := holds(f.values); {
		case u:
			urls = append(urls, f.name)
		case p:
			paths = append(paths, f.name)
		}
	}
	if urls == nil {
		urls = paths
	}
	switch len(urls) {
	case 0:
		return "", nil
	case 1:
		return urls[0], nil
	}
	return "", fmt.Errorf("%w: %s", ErrManyURLs, listed(urls))
}

// headless returns an ErrNoHeader for a table whose header row has values instead of names.
func headless(fields []sampled) error {
	for _, f := range fields {
		if _, target := holds([][]byte{[]byte(f.name)}); !target {
			continue
		} else if len(fields) > 4 && strings.HasPrefix(fields[4].name, "W3SVC") {
			return ErrNativeIIS
		}
		return fmt.Errorf("%w: it begins %q", ErrNoHeader, shortName(fields[0].name))
	}
	return nil
}

// IsHeadless reports whether lines that are read as URLs look like a table without a header row: a URL or path is
// followed by the same number of fields in all lines, which are numbers, percentages or URLs, separated by commas,
// semicolons or pipes.
func IsHeadless(lines [][]byte) bool {
	sep := evenSeparator(lines)
	if sep == 0 || sep == tab {
		return false
	}
	records := firstRecords(lines, sep, evenRows)
	for _, record := range records {
		if first := trimBlank(record[0]); len(first) == 0 || first[0] != '/' && !isURL(first) {
			return false
		}
		for _, value := range record[1:] {
			if value = trimBlank(value); !isNumber(value) && !isURL(value) {
				return false
			}
		}
	}
	return true
}

// IsURLHeader reports whether a line is the header row of a table of URLs: at least two names, one of which is known
// for URLs.
func IsURLHeader(line []byte) bool {
	if !bytes.ContainsAny(line, separators) {
		return false
	}
	fields := cutFields(nil, line, separatorOf([][]byte{line}))
	known := false
	for _, field := range fields {
		name := bytes.Trim(field, "\" \t")
		if len(name) == 0 || isNumber(name) || bytes.ContainsAny(name, "/:?=&%") {
			return false
		}
		known = known || isURLName(string(name))
	}
	return known && len(fields) > 1
}

// isNumber reports whether a value is a number or a percentage, possibly with points and commas.
func isNumber(value []byte) bool {
	digits := bytes.Trim(bytes.TrimSuffix(value, []byte("%")), "0123456789.,- ")
	return len(digits) == 0 && bytes.ContainsAny(value, "0123456789")
}
