package weblog

import (
	"bytes"
	"slices"
)

// prefixes are the shapes of prefixes that log shippers add to each line: %d digits, %s spaces, %w a word, %k a
// Kubernetes name, %p a word with a slash, %t a word that ends in ":", %f a file name, %M a month, %C a clock, %D a
// date, %G a date and clock with slashes, %T a time, %S structured data, %F whether CRI has split the line, %j anything
// before a JSON object. The last ones are not prefixes: the lines are in a member of JSON objects, as written by
// Docker, Filebeat, Vector, journald, Loki and Google Cloud.
var prefixes = []string{
	"<%d>%d %T %w %w %w %w %S ", "%d <%d>%d %T %w %w %w %w %S ", // syslog of RFC 5424, also with the length that RFC 6587 adds
	"<%d>%d %T %w %w %w - ", "%d <%d>%d %T %w %w %w - ", // the same of Heroku
	"<%d>%M%s%d%s%C %w %t ", "<%d>%M%s%d%s%C %t ", "<%d>%T %w %t ", "<%d>%t ", // of RFC 3164, and what some send
	"%M%s%d%s%C %w %t ", "%T %w %t ", "%w %D %C %w %w %t ", "%t ", // its files, and journald's: short, short-iso, short-full, cat
	"%T %t ",        // Heroku
	"%T %w %F ",     // CRI
	"%T ", "%T %p ", // docker logs -t, aws logs tail
	"%d.%d %w %t ",        // journald's short-unix
	"%w%s| ", "%w%s| %T ", // docker compose logs, with -t
	"%G ",                       // Go's log, as of Caddy 1
	"[pod/%w] ", "[pod/%w] %T ", // kubectl logs --prefix, with --timestamps
	"%k %k ", "%k %k %T ", "%k %k %k ", // stern, with -t, and of all namespaces
	"%f:", "%f:%d:", "%d:", "%s%d\t", // grep -H, -Hn, -n, cat -n
	"\x1e", // of RFC 7464
	`{"log":`, `{"message":`, `{"MESSAGE":`, `{"msg":`, `{"line":`, `{"textPayload":`,
}

const anyJSON = "%j" // only where nothing else fits

// A prefixed parser reads lines after a prefix.
type prefixed struct {
	Parser
	shape string
	inner *jsonScanner // for lines in JSON objects
	opt   *Options
	clock Clock
}

// Behind returns a parser of lines after a prefix that Choose has returned.
func Behind(prefix string, p Parser, opt *Options) Parser {
	b := &prefixed{Parser: p, opt: opt}
	b.setShape(prefix)
	return b
}

// setShape sets the shape of the prefix.
func (p *prefixed) setShape(shape string) {
	if p.shape, p.inner = shape, nil; shape[0] == '{' {
		p.inner = &jsonScanner{}
		for _, name := range []string{wrapping(shape), NameTime, "timestamp", "@timestamp"} {
			p.inner.want(name)
		}
	}
}

// wrapping returns the JSON member that contains the lines, "" for other prefixes.
func wrapping(shape string) string {
	if shape == "" || shape[0] != '{' {
		return ""
	}
	return shape[2 : len(shape)-2]
}

// Parse parses a line. Lines without the prefix are messages of the program itself. If the rest has no time, the time
// of the prefix is used.
func (p *prefixed) Parse(line []byte, r *Row) Result {
	rest, moment, ok := p.cut(line)
	if r.reset(); !ok {
		return RefusedFormat
	} else if len(rest) == 0 {
		return NoRow
	}
	result := p.Parser.Parse(rest, r)
	if result == Continues { // the next line also has a prefix
		return RefusedQuote
	}
	if result == IsRow && moment != nil {
		if p.opt.Times && !p.opt.isNamed(roleTime) && r.Time == NoTime {
			r.Time, r.NoTime = p.clock.Read(moment), nil
		}
		if i := slices.Index(p.opt.Keep, NameTime); i >= 0 && r.Fields[i] == nil {
			r.Fields[i] = moment
		}
	}
	return result
}

// Joined reports whether a line is several records.
func (p *prefixed) Joined(line []byte) bool {
	j, ok := p.Parser.(Joiner)
	return ok && j.Joined(line)
}

// Sample analyses the first lines without their prefixes.
func (p *prefixed) Sample(lines [][]byte) (choice Choice) {
	if s, ok := p.Parser.(Sampler); ok {
		rest, _ := p.cutAll(lines)
		choice = s.Sample(rest)
	}
	return choice
}

// cut returns the line after the prefix, and the time in the prefix.
func (p *prefixed) cut(line []byte) (rest, moment []byte, ok bool) {
	if j := p.inner; j != nil {
		if !j.scan(line) || j.values[0] == nil || j.nested[0] {
			return nil, nil, false
		}
		for _, moment = range j.values[1:] {
			if moment != nil {
				break
			}
		}
		return bytes.TrimRight(j.values[0], "\r\n"), moment, true
	}
	at := 0
	for i := 0; i < len(p.shape); i++ {
		if c := p.shape[i]; c != '%' {
			if at >= len(line) || line[at] != c {
				return nil, nil, false
			}
			at++
			continue
		}
		i++
		n := lengthOf(p.shape[i], line[at:])
		if n == 0 {
			return nil, nil, false
		}
		switch text := line[at : at+n]; p.shape[i] {
		case 'T', 'G':
			moment = text
		case 'j': // of zap and others, which write columns
			text, _, _ = bytes.Cut(text, []byte{tab})
			for _, text = range [][]byte{firstWord(text), text} {
				if isMoment(text) && !isDay(text) {
					moment = text
				}
			}
		}
		at += n
	}
	return line[at:], moment, at == len(line) || line[at] != ' '
}

// momentShapes are the starts of parts that are one word.
var momentShapes = map[byte]string{'C': "00:00:00", 'G': "0000/00/00_00:00:00", 'T': "0000-00-00T00:00:00"}

// lengthOf returns the length of a part of a shape at the start of text, 0 if text does not match.
func lengthOf(part byte, text []byte) int {
	word := firstWord(text)
	switch part {
	case 'd':
		return len(text) - len(bytes.TrimLeft(text, "0123456789"))
	case 's':
		return len(text) - len(bytes.TrimLeft(text, " "))
	case 'f':
		if n := bytes.IndexAny(text, ": \"[{"); n > 0 && text[n] == ':' {
			return n
		}
	case 't':
		if n := len(word); n > 1 && word[n-1] == ':' {
			return n
		}
	case 'p':
		if bytes.IndexByte(word, '/') > 0 {
			return len(word)
		}
	case 'k':
		if len(word) > 0 && isLower(word[0]) && len(bytes.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-")) == 0 {
			return len(word)
		}
	case 'w':
		return len(bytes.TrimSuffix(word, []byte{']'})) // of kubectl
	case 'M':
		if len(text) > 3 && monthOf(text[:3]) > 0 {
			return 3
		}
	case 'C', 'G', 'T':
		if part == 'G' {
			word = text[:min(len(text), len("2026/01/31 18:00:00"))]
		}
		if hasShape(text, momentShapes[part]) {
			return len(word)
		}
	case 'D':
		if hasShape(text, "0000-00-00_") {
			return len("0000-00-00")
		}
	case 'S':
		if len(text) > 0 && text[0] == '-' {
			return 1
		}
		return bytes.Index(text, []byte("] ")) + 1
	case 'F':
		if string(word) == "F" || string(word) == "P" {
			return 1
		}
	case 'j':
		n := bytes.IndexByte(text, '{')
		if n > 0 && isBlank(text[n-1]) && len(trimBlank(text[:n])) > 0 && bytes.HasPrefix(trimBlank(text[n+1:]), []byte{'"'}) {
			return n
		}
	}
	return 0
}

// cutAll returns the lines after their prefixes, and the total length of the prefixes.
func (p *prefixed) cutAll(lines [][]byte) (rests [][]byte, size int) {
	for _, line := range lines {
		if rest, _, ok := p.cut(line); ok && len(rest) > 0 {
			rests = append(rests, bytes.Clone(rest))
			size += len(line) - len(rest)
		}
	}
	return rests, size
}

// Choose returns the prefix of the first lines of a log ("" if there is none), and the format of the text after it.
// It chooses the pair that matches best; if several match equally well, the one with the shortest prefix. A named
// format is not changed.
func Choose(lines [][]byte, named Format, opt Options) (f Format, prefix string) {
	f = named
	if named == Auto {
		f = Detect(lines, opt)
	}
	if named == URLs || len(lines) == 0 {
		return f, ""
	}
	most, least := f.info().right(lines, opt), 0
	if most == 2*len(lines) { // nothing can be better
		return f, ""
	}
	var p prefixed
	try := func(shape string) (fits bool) {
		p.setShape(shape)
		rests, size := p.cutAll(lines)
		if len(rests) == 0 || named == Auto && 10*len(rests) < 9*len(lines) {
			return false
		}
		g := named
		if named == Auto {
			g = Detect(rests, opt)
		}
		if n := g.info().right(rests, opt); g != URLs && (n > most || n == most && prefix != "" && size < least) {
			f, prefix, most, least = g, shape, n, size
		}
		return true
	}
	var outer []string // the prefixes that match
	for _, shape := range prefixes {
		if try(shape) && shape[0] != '{' {
			outer = append(outer, shape)
		}
	}
	for _, shape := range outer { // one program after another
		for _, inner := range prefixes {
			if most < 2*len(lines) && inner[0] != '{' {
				try(shape + inner)
			}
		}
	}
	if most == 0 {
		try(anyJSON)
	}
	return f, prefix
}

// right returns how well lines match a format: the sum of the points of each line, see [pattern.points]. Lines in
// JSON members of other lines do not count.
func (f *format) right(lines [][]byte, opt Options) (all int) {
	if f.name == JSON && slices.ContainsFunc(prefixes, func(shape string) bool { return isWrapped(lines, opt, wrapping(shape)) }) {
		return 0
	}
	if f.header != nil {
		if f.header(lines, opt) {
			return 2 * len(lines)
		}
		return 0
	}
	for _, line := range lines {
		most := 0
		if f.line != nil && f.line(line) {
			most = 2
		}
		for _, p := range f.shapes() {
			most = max(most, p.points(line))
		}
		all += most
	}
	return all
}

// points returns 2 for a line that matches a pattern with a plausible client and host. It returns 1 if they are not
// plausible, but the user has no space, as the rest of a prefix would; and 0 for a line that does not match, or has an
// invalid time.
func (p *pattern) points(line []byte) int {
	var fields [maxFields][]byte
	n, result := p.split(line, fields[:], false)
	moment, client, host := p.value(fields[:n], roleTime), p.value(fields[:n], roleClient), p.value(fields[:n], roleHost)
	odd := client != nil && !isPeer(client) || host != nil && !isPeer(host)
	switch {
	case result != IsRow, moment != nil && !isMoment(moment), (odd || client == nil) && HasBlank(p.value(fields[:n], roleUser)):
		return 0
	case odd, host == nil && p.fields[0].class == vhostValue:
		return 1
	}
	return 2
}

// value returns the first value of a role.
func (p *pattern) value(fields [][]byte, r role) []byte {
	for _, one := range p.plan.of[r] {
		if value := present(at(fields, one.at)); value != nil {
			return value
		}
	}
	return nil
}

// isPeer reports whether a text is an address or host name, optionally with a port, or begins a list of them.
func isPeer(text []byte) bool {
	text, _, _ = bytes.Cut(text, []byte{','})
	if isAddress(bytes.Trim(text, "[]")) || isDomain(text) {
		return true
	}
	if i := bytes.LastIndexByte(text, ':'); i >= 0 && number(text[i+1:]) >= 0 && i+1 < len(text) {
		text = text[:i]
	}
	return isAddress(bytes.Trim(text, "[]")) || string(text) == "localhost"
}
