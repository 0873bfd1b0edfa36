package weblog

import "bytes"

// Formats of lines with names and values, which are read as if they were JSON.
const (
	Logfmt Format = "logfmt" // key=value, as of Heroku's router
	LTSV   Format = "ltsv"   // label:value between tabs
)

var (
	logfmtFormat = format{
		name: Logfmt, aliases: []string{"heroku"}, anyField: true,
		about:  "key=value: Heroku's router and others",
		parser: func(opt Options) (Parser, error) { return &pairs{inner: newJSON(opt), sep: ' ', sign: '='}, nil },
		line:   isLogfmt,
	}
	ltsvFormat = format{
		name: LTSV, anyField: true,
		about:  "label:value between tabs",
		parser: func(opt Options) (Parser, error) { return &pairs{inner: newJSON(opt), sep: tab, sign: ':'}, nil },
		line:   isLTSV,
	}
)

// isLogfmt reports whether a line has a method and a path, and begins with a name.
func isLogfmt(line []byte) bool {
	return bytes.IndexByte(firstWord(line), '=') > 0 && bytes.Contains(line, []byte("method=")) && bytes.Contains(line, []byte(" path=")) && !isJSON(line)
}

// isLTSV reports whether a line has three fields between tabs, all with a label.
func isLTSV(line []byte) bool {
	n := 0
	for more := true; more; n++ {
		var field []byte
		field, line, more = bytes.Cut(line, []byte{tab})
		label, value, ok := bytes.Cut(field, []byte{':'})
		if !ok || bytes.HasPrefix(value, []byte{' '}) || len(label) == 0 || !isLower(label[0]|0x20) || isURL(field) || bytes.ContainsAny(label, " .\"{/") {
			return false
		}
	}
	return n > 2
}

// pairs reads names and values.
type pairs struct {
	escapes
	inner     *jsonLog
	sep, sign byte
	json      []byte // of the line
}

// otherNames are what names of Heroku and of ltsv.org mean: a name that JSON has, too. The host of LTSV is the client if it
// is an address.
var otherNames = map[string]string{"fwd": "client_ip", "protocol": "scheme", "req": "request", "host": "client_ip"}

// Err returns why the log as a whole cannot be read, after Failed.
func (p *pairs) Err() error { return p.inner.Err() }

// Parse reads a line.
func (p *pairs) Parse(line []byte, r *Row) Result {
	if result := p.toJSON(line); result != IsRow {
		r.reset()
		return result
	}
	return p.inner.Parse(p.json, r)
}

// Sample looks at the first lines.
func (p *pairs) Sample(lines [][]byte) Choice {
	var objects [][]byte
	for _, line := range lines {
		if p.toJSON(line) == IsRow {
			objects = append(objects, bytes.Clone(p.json))
		}
	}
	return p.inner.Sample(objects)
}

// toJSON makes a line an object. A value in quotes may have blanks, and quotes behind backslashes; words without a sign are
// passed by.
func (p *pairs) toJSON(line []byte) Result {
	p.json, p.buf = append(p.json[:0], '{'), p.buf[:0]
	for len(line) > 0 {
		end := bytes.IndexByte(line, p.sep)
		if end < 0 {
			end = len(line)
		}
		name, value, ok := bytes.Cut(line[:end], []byte{p.sign})
		if p.sep == ' ' && len(value) > 0 && value[0] == '"' {
			value = line[len(name)+2:]
			n := 0
			for n < len(value) && (value[n] != '"' || isEscaped(value[:n])) {
				n++
			}
			if n == len(value) {
				return RefusedQuote
			}
			value, end = p.unescape(value[:n]), len(name)+2+n+1
		} else if len(value) > 1 && value[0] == '[' && value[len(value)-1] == ']' { // a time
			value = value[1 : len(value)-1]
		} else if p.sep == tab { // of nginx and Apache
			value = p.unescape(value)
		}
		if line = line[min(end+1, len(line)):]; !ok || string(value) == "-" {
			continue
		}
		other := otherNames[string(name)]
		if string(name) == NameHost && (p.sep != tab || !isAddress(value)) || string(name) == NameProtocol && schemeOf(value) == "" {
			other = ""
		}
		if other != "" {
			p.pair([]byte(other), value)
		}
		if other == "" || string(name) != NameHost {
			p.pair(name, value)
		}
	}
	if len(p.json) == 1 {
		return RefusedFormat
	}
	p.json[len(p.json)-1] = '}'
	return IsRow
}

// pair appends a name and a value.
func (p *pairs) pair(name, value []byte) {
	p.string(name)
	p.json = append(p.json, ':')
	p.string(value)
	p.json = append(p.json, ',')
}

// string appends a text in quotes.
func (p *pairs) string(text []byte) {
	p.json = append(p.json, '"')
	for _, c := range text {
		switch {
		case c < ' ':
			p.json = append(append(p.json, `\u00`...), "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			continue
		case c == '"', c == '\\':
			p.json = append(p.json, '\\')
		}
		p.json = append(p.json, c)
	}
	p.json = append(p.json, '"')
}
