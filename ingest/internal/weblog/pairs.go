package weblog

import "bytes"

// Formats of lines with names and values, which are then handled like JSON.
const (
	Logfmt Format = "logfmt" // key=value, as written by Heroku's router
	LTSV   Format = "ltsv"   // label:value, separated by tabs
)

var (
	logfmtFormat = format{
		name: Logfmt, aliases: []string{"heroku"}, anyField: true,
		about:  "key=value: Heroku's router and others",
		byLine: true,
		parser: func(opt Options) (Parser, error) { return &pairs{inner: newJSON(opt), sep: ' ', sign: '='}, nil },
		line:   isLogfmt,
	}
	ltsvFormat = format{
		name: LTSV, anyField: true,
		about:  "label:value, separated by tabs",
		byLine: true,
		parser: func(opt Options) (Parser, error) { return &pairs{inner: newJSON(opt), sep: tab, sign: ':'}, nil },
		line:   isLTSV,
	}
)

// isLogfmt reports whether a line begins with a name, has at least three names, and one of them is known for the URL.
func isLogfmt(line []byte) bool {
	if bytes.Count(line, []byte{'='}) < 3 {
		return false
	}
	n, known := 0, false
	for word := range bytes.SplitSeq(line, []byte{' '}) {
		name, _, ok := bytes.Cut(word, []byte{'='})
		isName := ok && len(name) > 0 && isLower(name[0]|0x20) && !bytes.ContainsAny(name, `"/:?&{[`)
		if n == 0 && !isName {
			return false
		}
		if isName {
			n++
			known = known || isURLName(string(name))
		}
	}
	return n > 2 && known
}

// isLTSV reports whether a line has at least three fields separated by tabs, all with a label.
func isLTSV(line []byte) bool {
	if bytes.Count(line, []byte{tab}) < 2 {
		return false
	}
	for more := true; more; {
		var field []byte
		field, line, more = bytes.Cut(line, []byte{tab})
		label, value, ok := bytes.Cut(field, []byte{':'})
		if !ok || bytes.HasPrefix(value, []byte{' '}) || len(label) == 0 || !isLower(label[0]|0x20) || isURL(field) || bytes.ContainsAny(label, " .\"{/") {
			return false
		}
	}
	return true
}

// pairs reads names and values.
type pairs struct {
	escapes
	inner     *jsonLog
	sep, sign byte
}

// Err returns why the whole log cannot be read, after Failed.
func (p *pairs) Err() error { return p.inner.Err() }

// Parse reads a line.
func (p *pairs) Parse(line []byte, r *Row) Result {
	r.reset()
	p.buf = p.buf[:0]
	p.inner.begin()
	s := &p.inner.scan
	s.reset(line)
	result := RefusedFormat
	for len(line) > 0 {
		name, value, rest, ok := p.next(line)
		if !ok {
			return RefusedQuote
		}
		if line = rest; value != nil {
			result = IsRow
			if child := s.child(&s.root, name, false); child != nil {
				s.store(child, value, false)
			}
		}
	}
	if result == IsRow {
		return p.inner.row(r)
	}
	return result
}

// Sample plans for the fields of the first lines.
func (p *pairs) Sample(lines [][]byte) Choice {
	return p.inner.sample(lines, func(line []byte, add func(name string, value []byte)) {
		for ok := true; ok && len(line) > 0; {
			var name, value []byte
			if name, value, line, ok = p.next(line); value != nil {
				add(string(name), value)
			}
		}
	})
}

// next returns the first name and value of a line, and the rest. A value in quotes may contain spaces, and quotes after
// backslashes; ok is false if it does not end. Words without "=" or ":", and "-", have no value.
func (p *pairs) next(line []byte) (name, value, rest []byte, ok bool) {
	end := bytes.IndexByte(line, p.sep)
	if end < 0 {
		end = len(line)
	}
	name, value, isPair := bytes.Cut(line[:end], []byte{p.sign})
	if p.sep == ' ' && len(value) > 0 && value[0] == '"' {
		value = line[len(name)+2:]
		n := 0
		for n < len(value) && (value[n] != '"' || isEscaped(value[:n])) {
			n++
		}
		if n == len(value) {
			return nil, nil, nil, false
		}
		value, end = p.unescape(value[:n]), len(name)+2+n+1
	} else if len(value) > 1 && value[0] == '[' && value[len(value)-1] == ']' { // a time
		value = value[1 : len(value)-1]
	} else if p.sep == tab { // of nginx and Apache
		value = p.unescape(value)
	}
	if !isPair || string(value) == "-" {
		value = nil
	}
	if p.sep == tab && string(name) == NameHost && isAddress(value) { // what ltsv.org calls so
		name = []byte("client_ip")
	}
	return name, value, line[min(end+1, len(line)):], true
}
