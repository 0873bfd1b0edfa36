package weblog

import (
	"bytes"
	"slices"
	"strings"
)

// fieldsDirective begins the line that names the fields of those behind it.
var fieldsDirective = []byte("#Fields:")

// W3C is the extended log format, as IIS writes it; CloudFront is the format of Amazon's standard logs, with
// tabs.
const (
	W3C        Format = "w3c"
	CloudFront Format = "cloudfront"
)

var (
	w3cFormat = format{
		name: W3C, aliases: []string{"iis"},
		about:  "W3C extended log files: IIS",
		parser: func(opt Options) (Parser, error) { return newW3C(opt, false), nil },
		header: isW3C,
	}
	cloudFrontFormat = format{
		name:   CloudFront,
		about:  "standard logs of Amazon CloudFront",
		parser: func(opt Options) (Parser, error) { return newW3C(opt, true), nil },
		header: isCloudFront,
	}
)

// isW3C reports whether the first line is a directive.
func isW3C(lines [][]byte, _ Options) bool {
	return slices.ContainsFunc([]string{"#Version:", "#Software:", string(fieldsDirective)}, func(directive string) bool {
		return bytes.HasPrefix(lines[0], []byte(directive))
	})
}

// isCloudFront reports whether one of the lines names a field that only Amazon CloudFront has.
func isCloudFront(lines [][]byte, opt Options) bool {
	return isW3C(lines, opt) && slices.ContainsFunc(lines, func(line []byte) bool {
		return bytes.HasPrefix(line, fieldsDirective) && bytes.Contains(line, []byte("x-edge-location"))
	})
}

// w3c reads the W3C extended log file format. Fields are separated by spaces, or by tabs if a line
// has one. IIS writes "+" for spaces, CloudFront percent-encodes; both is undone in headers of the
// request, and left in URLs. Other writers put fields in quotes, which may hold spaces.
type w3c struct {
	common
	escapes
	percent     bool // fields are percent-encoded
	cols        columns
	stem, query int  // columns of the two halves of a URL; -1 if there are none
	number      int  // of fields; 0 before the header
	quoted      bool // fields of the line had quotes
	header      header
	fields      [][]byte
	unquoted    [][]byte // memory of cutQuoted
	when        []byte   // memory of a time of two columns
}

func newW3C(opt Options, percent bool) *w3c { return &w3c{common: newCommon(opt), percent: percent} }

// Parse reads a line.
func (w *w3c) Parse(line []byte, r *Row) Result {
	r.reset()
	if line[0] == '#' {
		return w.directive(line)
	}
	if w.number == 0 {
		return RefusedHeader
	}
	sep := byte(' ')
	if bytes.IndexByte(line, '\t') >= 0 {
		sep = '\t'
	}
	w.buf = w.buf[:0]
	w.fields = cutFields(w.fields[:0], line, sep)
	w.quoted = w.mayHaveQuotes(line) && w.cutQuoted(line, sep)
	if len(w.fields) != w.number {
		return RefusedFields
	}
	return w.row(r)
}

// mayHaveQuotes reports whether fields of the line, which was cut without a look at quotes, may be in quotes. A
// User-Agent without a space may be the only one.
func (w *w3c) mayHaveQuotes(line []byte) bool {
	return line[0] == '"' || len(w.fields) != w.number || bytes.HasPrefix(at(w.fields, w.cols.agent), []byte{'"'})
}

// cutQuoted cuts the line again, and takes fields out of their quotes. Two quotes in such a field stand for one. It
// reports whether that makes as many fields as the header has; if not, the fields stay as they are.
func (w *w3c) cutQuoted(line []byte, sep byte) bool {
	fields := w.unquoted[:0]
	defer func() { w.unquoted = fields }()
	for more := true; more; {
		if len(fields) == w.number {
			return false
		}
		var field []byte
		if line, more = bytes.CutPrefix(line, []byte{'"'}); !more {
			field, line, more = bytes.Cut(line, []byte{sep})
			fields = append(fields, field)
			continue
		}
		begin := len(w.buf)
		for {
			text, rest, ok := bytes.Cut(line, []byte{'"'})
			if !ok {
				return false
			}
			w.buf, line = append(w.buf, text...), rest
			if line, ok = bytes.CutPrefix(line, []byte{'"'}); !ok {
				break
			}
			w.buf = append(w.buf, '"')
		}
		fields = append(fields, w.buf[begin:len(w.buf):len(w.buf)])
		if more = len(line) > 0; more && line[0] != sep {
			return false
		} else if more {
			line = line[1:]
		}
	}
	if len(fields) != w.number {
		return false
	}
	w.fields, fields = fields, w.fields
	return true
}

// directive reads a line that begins with "#".
func (w *w3c) directive(line []byte) Result {
	names, ok := bytes.CutPrefix(line, fieldsDirective)
	if !ok {
		return NoRow
	}
	w.header = strings.Fields(string(names))
	w.number = len(w.header)
	opt := w.opt
	opt.Keep = slices.DeleteFunc(slices.Clone(opt.Keep), func(name string) bool { return name == NameTime })
	var err error
	if w.cols, err = w.header.locate(opt, nil); err != nil {
		return w.fail(err)
	}
	w.stem, w.query = w.header.find("cs-uri-stem"), w.header.find("cs-uri-query")
	if w.opt.URL != "" {
		w.stem = -1
	}
	if w.cols.url < 0 && w.stem < 0 {
		return w.fail(ErrNoURL)
	}
	if date, clock := w.header.find("date"), w.header.find("time"); w.opt.Time == "" && date >= 0 && clock >= 0 {
		w.cols.time, w.cols.clock = date, clock
	}
	return NoRow
}

// row makes the row of the fields.
func (w *w3c) row(r *Row) Result {
	if !w.resolve(r, w.target(), w.place()) {
		return w.fail(ErrNoBase)
	}
	if w.opt.Agents {
		r.HasAgent = w.cols.agent >= 0
		r.Agent = present(w.agent(at(w.fields, w.cols.agent)))
	}
	if !w.setClient(r, w.clientText()) {
		return Failed
	}
	if w.opt.Times {
		r.Time = w.clock.Read(w.whenText())
	}
	k := 0
	for _, name := range w.opt.Keep {
		if name == NameTime {
			r.Fields = append(r.Fields, w.whenText())
			continue
		}
		r.Fields = append(r.Fields, present(w.keepField(w.cols.keep[k])))
		k++
	}
	return IsRow
}

// target returns the path, of its halves if there are two. A URL that is written as "-" stands for
// none.
func (w *w3c) target() []byte {
	if w.stem < 0 {
		return w.fields[w.cols.url]
	}
	stem, query := w.fields[w.stem], present(at(w.fields, w.query))
	if query == nil {
		return stem
	}
	begin := len(w.buf)
	w.buf = append(w.buf, stem...)
	w.buf = append(w.buf, '?')
	w.buf = append(w.buf, query...)
	return w.buf[begin:]
}

// place returns the row's facts about the origin. The host has its own port.
func (w *w3c) place() place {
	p := place{scheme: schemeOf(at(w.fields, w.cols.scheme)), host: at(w.fields, w.cols.host)}
	switch port := at(w.fields, w.cols.port); string(port) {
	case "443":
		p.byPort = "https"
	case "80":
		p.byPort = "http"
	}
	return p
}

// keepField returns a field as it is to be kept: names in parentheses are headers.
func (w *w3c) keepField(i int) []byte {
	if i < 0 {
		return nil
	}
	if i == w.cols.agent {
		return w.agent(w.fields[i])
	}
	if strings.Contains(w.header[i], "(") {
		return w.decode(w.fields[i])
	}
	return w.fields[i]
}

// decode undoes the writer's changes to a header of the request. There are none to a text in quotes with spaces.
func (w *w3c) decode(field []byte) (text []byte) {
	if w.quoted && bytes.IndexByte(field, ' ') >= 0 {
		return field
	}
	if w.percent {
		text, w.buf = unpercent(field, w.buf)
	} else {
		text, w.buf = unplus(field, w.buf)
	}
	return text
}

// agent is decode for the User-Agent, which older logs of CloudFront have percent-encoded twice.
func (w *w3c) agent(field []byte) []byte {
	text := w.decode(field)
	if w.percent && isTwicePercent(field) {
		return w.decode(text)
	}
	return text
}

// isTwicePercent reports whether a field is percent-encoded twice: it has escapes, and each is one of the "%" of
// another. A client's own escapes stand beside blanks, which are encoded once.
func isTwicePercent(field []byte) bool {
	escapes := bytes.Count(field, []byte{'%'})
	if escapes == 0 {
		return false
	}
	for rest := field; ; {
		i := bytes.Index(rest, []byte("%25"))
		if i < 0 {
			return escapes == 0
		}
		rest = rest[i+3:]
		if len(rest) < 2 || unhex[rest[0]] > 15 || unhex[rest[1]] > 15 {
			return false
		}
		escapes--
	}
}

// clientText returns the field with the client's address, nil if it is not wanted.
func (w *w3c) clientText() []byte {
	if w.cols.client < 0 {
		return nil
	}
	return w.decode(w.fields[w.cols.client])
}

// whenText returns the time as text, nil if there is none.
func (w *w3c) whenText() []byte {
	if w.cols.time < 0 {
		return nil
	}
	if w.cols.clock < 0 {
		return w.fields[w.cols.time]
	}
	w.when = append(append(append(w.when[:0], w.fields[w.cols.time]...), ' '), w.fields[w.cols.clock]...)
	return w.when
}
