package weblog

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// A ShapeError means that the lines of a log match no known format.
type ShapeError struct {
	Line    int      // the line with these fields; 1 is the first
	Fields  []string // as "$name value"
	Nearest string   // a description of the nearest format, with a leading space; "" if there is none
	Pattern string   // a pattern to start from; "" if none matches reliably
	guess   guesser
}

// leftOf returns the field that has a role in the suggested pattern; the zero Left if there is none.
func (e *ShapeError) leftOf(r role) Left {
	for i, f := range e.guess.fields {
		if f.fit != nil && f.role == r {
			return Left{Role: roleWords[r], Value: shortName(string(e.guess.values[i])), Pattern: e.Pattern}
		}
	}
	return Left{}
}

// Error describes the fields.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("unknown format%s; the fields of line %d seem to be %s", e.Nearest, e.Line, listed(e.Fields))
}

// CheckShape returns a ShapeError if lines were detected as a list of URLs, or as a table without a known name, but are
// neither. Up to 10 % of the lines of a list may be something else.
func CheckShape(f Format, lines [][]byte, opt Options) error {
	odd, known := 0, Auto // known is the format of the lines before the first line that does not match
	first := 0
	for i, line := range lines {
		if text := trimBlank(line); len(bytes.Fields(text)) < 3 || text[0] == '#' || (isURL(text) || text[0] == '/') && !isRecord(text) {
			continue
		}
		if g, _ := Choose([][]byte{line}, Auto, opt); g != URLs && first == i && f == URLs {
			known, first = g, i+1
		}
		odd++
	}
	switch {
	case len(lines) == 0, f == URLs && odd <= max(1, len(lines)/10) && odd < len(lines):
		return nil
	case f == CSV, f == TSV: // a row instead of names
		if f.info().header(lines, opt) {
			return nil
		}
		e := guess(lines)
		if e.Pattern == "" || e.Line > 1 {
			return nil
		}
		return e
	case f != URLs:
		return nil
	}
	first %= len(lines)
	e := guess(lines[first:])
	if e.Line += first; first > 0 {
		e.Pattern, e.Nearest = "", fmt.Sprintf(" in some of the first %d lines, although line %d has the format %s", len(lines), first, known)
	}
	return e
}

// isRecord reports whether a line has other fields than a URL.
func isRecord(line []byte) bool {
	g := guesser{keys: true, sep: ' '}
	g.read(line)
	n := 0
	for _, f := range g.fields {
		if r := f.role; r == roleTime || r == roleClient || r == roleRequest || r == roleMethod || r == roleProtocol || r == roleAgent {
			n++
		}
	}
	return n > 1
}

// A shape is a variable of nginx, and a test of its values.
type shape struct {
	name string
	role role
	fit  func(value []byte) bool
}

// shapes are tested in this order.
var shapes = []shape{
	{"request", roleRequest, func(v []byte) bool { _, _, protocol := splitRequest(v); return protocol != nil }},
	{"server_protocol", roleProtocol, isProtocol},
	{"time_iso8601", roleTime, func(v []byte) bool { return len(v) > 10 && v[4] == '-' && !HasBlank(v) && isMoment(v) }},
	{"time_local", roleTime, func(v []byte) bool { return len(v) > 10 && bytes.ContainsAny(v, "/ ") && isMoment(v) }},
	{"msec", roleTime, func(v []byte) bool { return len(v) > 9 && len(bytes.Trim(v, "0123456789.")) == 0 && isMoment(v) }},
	{"remote_addr", roleClient, isIP},
	{"status", roleStatus, isCode},
	{"body_bytes_sent", roleBytes, func(v []byte) bool { return number(v) >= 0 }},
	{"request_uri", roleURL, func(v []byte) bool { return (v[0] == '/' || isURL(v)) && !HasBlank(v) && v[len(v)-1] != ',' }},
	{"http_referer", roleReferer, isURL},
	{"request_method", roleMethod, isMethod},
	{"scheme", roleScheme, func(v []byte) bool { return string(v) == "http" || string(v) == "https" }},
	{"http_user_agent", roleAgent, isAgent},
	{"host", roleHost, isHostName},
}

// isAgent reports whether a value begins with a product and its version, like a User-Agent, and does not end in a
// number.
func isAgent(v []byte) bool {
	name, version, ok := bytes.Cut(firstWord(v), []byte{'/'})
	return ok && hasLetter(name) && len(version) > 0 && isDigit(version[0]) &&
		!bytes.ContainsAny(name, ".,:=[](){}/\"") && number(v[bytes.LastIndexByte(v, ' ')+1:]) < 0
}

// hasMozilla reports whether a value contains the start of a browser's User-Agent.
func hasMozilla(v []byte) bool { return bytes.Contains(v, []byte("Mozilla/")) }

// isCode reports whether a value is a status of HTTP.
func isCode(v []byte) bool { return len(v) == 3 && number(v) >= 100 && number(v) < 600 }

// isIP reports whether a value is an address, optionally with a port. Its last parts may be masked, as in 192.0.2.x.
func isIP(v []byte) bool {
	_, err := netip.ParseAddr(masks.Replace(strings.ToLower(string(cutPort(v)))))
	return err == nil
}

// masks replaces the texts that hide parts of an IPv4 address.
var masks = strings.NewReplacer("xxx", "0", "xx", "0", "x", "0", ".-", ".0", ".*", ".0")

// isHostName reports whether a value is a domain, but not a masked address.
func isHostName(v []byte) bool { return isDomain(v) && !isIP(v) }

// isDomain reports whether a value is a host name with a dot, optionally with a port.
func isDomain(v []byte) bool {
	name, port, ported := bytes.Cut(v, []byte{':'})
	dot := bytes.LastIndexByte(name, '.')
	return 0 < dot && dot+1 < len(name) && isLower(name[dot+1]|0x20) && ported == (len(port) > 0) && number(port) >= 0 &&
		!bytes.ContainsFunc(name, func(r rune) bool {
			return r < 0x80 && !strings.ContainsRune("-._", r) && !isDigit(byte(r)) && !isLower(byte(r)|0x20)
		})
}

// A guesser assigns nginx variable names to the fields of lines, according to the values in one line. The values in
// the other lines may then refute a name.
type guesser struct {
	sep     byte
	keys    bool // values follow texts such as "status=", which are the same in all lines
	part    bool // more words follow the text
	refuted map[int]bool
	fields  []shape // fit is nil if no shape matches
	values  [][]byte
	pattern []byte
}

// mostGuessed is the maximum number of bytes of a line that are searched for fields. The time for unclosed brackets
// is quadratic.
const mostGuessed = 4 << 10

// guess names the fields of lines. The pattern matches at least nine in ten lines, including the one it was made from.
func guess(lines [][]byte) *ShapeError {
	lines = slices.Clone(lines)
	for i, line := range lines {
		lines[i] = line[:min(len(line), mostGuessed)]
	}
	sep := columnsOf(lines)
	best, most := &ShapeError{Line: 1}, 0
	for i, line := range lines[:min(len(lines), 8)] {
		for _, keys := range []bool{true, false} {
			g := guesser{sep: sep, keys: keys, refuted: map[int]bool{}}
			g.read(line)
			n := g.settle(line, lines)
			if i > 0 && n <= most || i == 0 && !keys && n == 0 {
				continue
			}
			best = &ShapeError{Line: i + 1, guess: g}
			for k, f := range g.fields {
				best.Fields = append(best.Fields, fmt.Sprintf("$%s %q", f.name, shortName(string(g.values[k]))))
			}
			if most = n; n > 0 {
				best.Pattern = string(g.pattern)
				break
			}
		}
	}
	share := 50
	for _, f := range formats {
		if name, s := f.stop(lines[0]); s > share {
			share, best.Nearest = s, fmt.Sprintf(" (closest to %s, except for field %s)", f.name, name)
		}
	}
	return best
}

// columnsOf returns the separator that most lines have equally often, and at least twice, outside quotes and
// brackets; a space if there is none.
func columnsOf(lines [][]byte) byte {
	for _, sep := range []byte("\t|;") {
		counts := map[int]int{} // number of lines, by how often they have the separator
		for _, line := range lines {
			n := 0
			for end := endOf(line, sep); end < len(line); n++ {
				line = line[end+1:]
				end = endOf(line, sep)
			}
			if counts[n]++; n > 1 && 2*counts[n] > len(lines) {
				return sep
			}
		}
	}
	return ' '
}

// closing returns the position of the quote or bracket that closes the one at the start of a text, followed by a
// separator or the end; 0 if there is none.
func closing(text []byte, sep byte) int {
	i := strings.IndexByte(`"[{(`, text[0])
	if i < 0 {
		return 0
	}
	for end := 1; end < len(text); end++ {
		if text[end] == `"]})`[i] && (end+1 == len(text) || text[end+1] == sep || text[end+1] == ' ') && !isEscaped(text[:end]) {
			return end
		}
	}
	return 0
}

// read names the fields of a line.
func (g *guesser) read(line []byte) {
	g.fields, g.values, g.pattern = g.fields[:0], g.values[:0], g.pattern[:0]
	for len(line) > 0 {
		cell := line
		if n := endOf(line, g.sep); g.sep != ' ' {
			cell = line[:n]
		}
		line = line[len(cell):]
		text := bytes.Trim(cell, " ")
		front := cell[:len(cell)-len(bytes.TrimLeft(cell, " "))]
		if _, value := g.keyOf(text); g.sep != ' ' && len(value) > 0 && (!HasBlank(value) && closing(value, g.sep) == 0 || g.shapeOf(value).fit != nil) {
			g.blanks(front, text)
			g.add(text)
		} else {
			g.words(cell[:len(front)+len(text)])
		}
		g.blanks(cell[len(front)+len(text):], nil)
		if len(line) > 0 {
			g.literal(line[:1])
			line = line[1:]
		}
	}
}

// endOf returns the position of the first separator outside quotes and brackets, or the end of the line.
func endOf(line []byte, sep byte) int {
	for at := 0; at < len(line); at++ {
		if end := closing(line[at:], sep); end > 0 {
			at += end
		} else if line[at] == sep {
			return at
		}
	}
	return len(line)
}

// words names the fields of a text that are separated by spaces.
func (g *guesser) words(text []byte) {
	for at := 0; at < len(text); {
		rest := text[at:]
		if n := len(rest) - len(bytes.TrimLeft(rest, " ")); n > 0 {
			at += n
			g.blanks(rest[:n], rest[n:])
			continue
		}
		if end := closing(rest, ' '); end > 0 {
			g.literal(rest[:1])
			g.add(rest[1:end])
			g.literal(rest[end : end+1])
			at += end + 1
			continue
		}
		word := firstWord(rest)
		for end, n := len(word), 0; n < 3 && end < len(rest); n++ { // a time with its zone
			end += 1 + len(firstWord(rest[end+1:]))
			if len(word) > 9 && isMoment(rest[:end]) {
				word = rest[:end]
			}
		}
		if g.shapeOf(rest).role == roleAgent { // up to the end of the text
			word = rest
		}
		g.part = len(word) < len(rest)
		g.add(word)
		g.part = false
		at += len(word)
	}
}

// blanks adds spaces before a text. Two mean at least one.
func (g *guesser) blanks(blanks, text []byte) {
	if len(text) == 0 || strings.IndexByte(`"[{(`, text[0]) < 0 {
		blanks = blanks[:min(len(blanks), 2)]
	}
	g.literal(blanks)
}

// literal adds a text that is the same in all lines.
func (g *guesser) literal(text []byte) {
	for _, c := range text {
		if c == '$' || c == '\\' || c == '(' {
			g.pattern = append(g.pattern, '\\')
		}
		g.pattern = append(g.pattern, c)
	}
}

// keyOf splits a text such as "status=200" into the key, including "=" or ":", and the value.
func (g *guesser) keyOf(text []byte) (key, value []byte) {
	n := len(text) - len(bytes.TrimLeft(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"))
	if !g.keys || n == 0 || n+1 >= len(text) || text[n] != '=' && (text[n] != ':' || g.sep == ' ') || bytes.HasPrefix(text[n+1:], []byte("//")) {
		return nil, text
	}
	return text[:n+1], text[n+1:]
}

// shapeOf returns the shape of a value, which may follow its key. fit is nil if another field has the role, or the name
// was refuted.
func (g *guesser) shapeOf(text []byte) shape {
	key, value := g.keyOf(text)
	rows := entriesOf(string(bytes.TrimRight(key, "=:")), "")
	target := g.has(roleURL) || g.has(roleRequest)
	for _, s := range shapes {
		switch {
		case len(value) == 0, s.role == roleBytes && !g.has(roleStatus), s.role == roleURL && target, s.role == roleReferer && !target, !s.fit(value):
		case s.role == roleAgent && (g.part || !target && !bytes.HasPrefix(value, []byte("Mozilla/"))):
		case len(rows) > 0 && rows[0].role != s.role && (!rows[0].role.isTarget() || !s.role.isTarget()):
		case len(key) > 0 && len(rows) == 0 && (s.role == roleClient || s.role == roleHost || s.role == roleStatus || s.role == roleBytes):
		case g.has(s.role), g.refuted[len(g.fields)]:
			if s.role == roleStatus {
				continue
			}
			return shape{role: s.role}
		default:
			return s
		}
	}
	return shape{}
}

// add adds a field, and its key as a literal.
func (g *guesser) add(text []byte) {
	s := g.shapeOf(text)
	key, value := g.keyOf(text)
	g.literal(key)
	if s.fit == nil {
		s.name = fmt.Sprintf("field_%d", len(g.fields)+1)
	}
	g.fields, g.values = append(g.fields, s), append(g.values, value)
	g.pattern = append(append(g.pattern, '$'), s.name...)
	if s.role == roleClient && len(cutPort(value)) < len(value) && value[0] != '[' {
		g.pattern = append(g.pattern, ":$remote_port"...)
	}
}

// settle removes names that do not fit the values in all lines, and returns the number of fields that still have a
// name; 0 if the pattern does not match the lines reliably.
func (g *guesser) settle(line []byte, lines [][]byte) (named int) {
	for range maxFields {
		p, err := compilePattern(cutPasted(string(g.pattern)))
		if err != nil {
			return 0
		}
		columns, read := make([][][]byte, len(p.fields)), -1 // line is read twice
		for i, text := range append(lines, line) {
			var fields [maxFields][]byte
			if n, result := p.split(text, fields[:], false); result != IsRow || n != len(p.fields) {
				if i == len(lines) {
					return 0
				}
				continue
			}
			read++
			k := 0
			for at, f := range p.fields {
				if f.written != "remote_port" {
					columns[k], k = append(columns[k], trimBlank(fields[at])), k+1
				}
			}
		}
		if 10*read < 9*len(lines) {
			return 0
		}
		bad := g.refute(columns)
		if bad < 0 {
			for i, f := range g.fields {
				if f.fit != nil {
					named++
				}
				isLong := f.fit != nil && (f.role == roleAgent || f.role == roleRequest || f.role == roleURL)
				if !isLong && slices.ContainsFunc(columns[i], func(v []byte) bool { return hasMozilla(v) || bytes.Contains(v, []byte(" HTTP/")) }) { // a part of a User-Agent or of a request
					return 0
				}
			}
			return named
		}
		g.refuted[bad] = true
		g.read(line)
	}
	return 0
}

// has reports whether a field has a role.
func (g *guesser) has(r role) bool {
	return slices.ContainsFunc(g.fields, func(f shape) bool { return f.fit != nil && f.role == r })
}

// refute returns the index of the first field whose name does not match the values of some lines, or matches another
// field as well; -1 if there is none.
func (g *guesser) refute(columns [][][]byte) int {
	for i, f := range g.fields {
		if f.fit == nil {
			continue
		}
		values, least := columns[i], 9
		if f.role == roleAgent { // some have no version
			least = 5
		}
		isRival := func(k int) bool {
			if other := g.fields[k]; other.fit != nil || other.role != f.role {
				return false
			} else if f.role == roleAgent {
				return slices.ContainsFunc(columns[k], hasMozilla)
			}
			return most(columns[k], f.fit) && !slices.EqualFunc(values, columns[k], bytes.Equal) && (f.role != roleClient || most(columns[k], isPublic))
		}
		if f.role == roleURL && g.has(roleRequest) || fitShare(values, f.fit, least, 10) != fits ||
			f.role == roleAgent && fitShare(values, func(v []byte) bool { return isURL(v) || isIP(v) }, 1, 10) == fits {
			return i
		}
		for k := range g.fields {
			if isRival(k) {
				return i
			}
		}
	}
	return -1
}

// stop returns the name of the field at which the best matching pattern of a format fails for a line, and the
// percentage of its fields that match; "" if a pattern matches.
func (f *format) stop(line []byte) (name string, share int) {
	var fields [maxFields][]byte
	for _, p := range f.shapes() {
		n, result := p.split(line, fields[:], false)
		if result == IsRow {
			return "", 0
		}
		if s := 100 * n / p.need; s >= share {
			name, share = p.fields[n].name, s
		}
	}
	return name, share
}

// Stop returns the name of the field at which a line fails to match a format, "" if it matches, or the format has no
// patterns.
func Stop(f Format, line []byte) string {
	name, _ := f.info().stop(line)
	return name
}
