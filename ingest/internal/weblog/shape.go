package weblog

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// A ShapeError says that no format is known that has the lines of a log.
type ShapeError struct {
	Line    int      // whose fields are told; 1 is the first
	Fields  []string // each as name = value
	Nearest string   // what is near; "" if nothing is
	Pattern string   // that reads the lines, to start from; "" if none is sure
	guess   guesser
}

// leftOf returns the field that the pattern has for a role, none without a Pattern if it has none.
func (e *ShapeError) leftOf(r role) Left {
	for i, f := range e.guess.fields {
		if f.fit != nil && f.role == r {
			return Left{Role: roleWords[r], Value: shortName(string(e.guess.values[i])), Pattern: e.Pattern}
		}
	}
	return Left{}
}

// Error lists the fields.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("no format that is known has such lines%s; the fields of line %d seem to be %s", e.Nearest, e.Line, listed(e.Fields))
}

// CheckShape returns a ShapeError if the lines were read as a list of URLs, or as a table without a known name, and are
// neither: up to 10% of the lines of a list may be something else.
func CheckShape(f Format, lines [][]byte, opt Options) error {
	odd, known := 0, Auto // known is the format of the lines in front of the first odd one
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
	case f == CSV, f == TSV: // a row in place of names
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
		e.Pattern, e.Nearest = "", fmt.Sprintf(" as all of the first %d: line %d is of %s, and others are not", len(lines), first, known)
	}
	return e
}

// isRecord reports whether a line holds more than a URL.
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

// A shape is a variable of nginx, and what its values look like.
type shape struct {
	name string
	role role
	fit  func(value []byte) bool
}

// shapes are tried in this order.
var shapes = []shape{
	{"request", roleRequest, func(v []byte) bool { _, _, protocol := splitRequest(v); return protocol != nil }},
	{"server_protocol", roleProtocol, isProtocol},
	{"time_iso8601", roleTime, func(v []byte) bool { return len(v) > 10 && v[4] == '-' && !HasBlank(v) && isMoment(v) }},
	{"time_local", roleTime, func(v []byte) bool { return len(v) > 10 && bytes.ContainsAny(v, "/ ") && isMoment(v) }},
	{"msec", roleTime, func(v []byte) bool { return len(v) > 9 && len(bytes.Trim(v, "0123456789.")) == 0 && isMoment(v) }},
	{"remote_addr", roleClient, isIP},
	{"status", roleStatus, func(v []byte) bool { return len(v) == 3 && isStatus(v) }},
	{"body_bytes_sent", roleBytes, func(v []byte) bool { return number(v) >= 0 }},
	{"request_uri", roleURL, func(v []byte) bool { return (v[0] == '/' || isURL(v)) && !HasBlank(v) && v[len(v)-1] != ',' }},
	{"http_referer", roleReferer, isURL},
	{"request_method", roleMethod, isMethod},
	{"scheme", roleScheme, func(v []byte) bool { return string(v) == "http" || string(v) == "https" }},
	{"http_user_agent", roleAgent, isAgent},
	{"host", roleHost, isDomain},
}

// isAgent reports whether a value begins as a User-Agent does, with a product and its version, and does not end in a number.
func isAgent(v []byte) bool {
	name, version, ok := bytes.Cut(firstWord(v), []byte{'/'})
	return ok && hasLetter(name) && len(version) > 0 && isDigit(version[0]) &&
		!bytes.ContainsAny(name, ".,:=[](){}/\"") && number(v[bytes.LastIndexByte(v, ' ')+1:]) < 0
}

// hasMozilla reports whether a value has the begin of a browser's User-Agent.
func hasMozilla(v []byte) bool { return bytes.Contains(v, []byte("Mozilla/")) }

// isIP reports whether a value is an address, maybe with a port.
func isIP(v []byte) bool {
	_, err := netip.ParseAddr(string(cutPort(v)))
	return err == nil
}

// isDomain reports whether a value is the name of a host with a dot, maybe with a port.
func isDomain(v []byte) bool {
	name, port, ported := bytes.Cut(v, []byte{':'})
	dot := bytes.LastIndexByte(name, '.')
	return 0 < dot && dot+1 < len(name) && isLower(name[dot+1]|0x20) && ported == (len(port) > 0) && number(port) >= 0 &&
		!bytes.ContainsFunc(name, func(r rune) bool {
			return r < 0x80 && !strings.ContainsRune("-._", r) && !isDigit(byte(r)) && !isLower(byte(r)|0x20)
		})
}

// A guesser names the fields of lines by their values, as nginx would: each by the value that one line has, and then by those
// of all, which may refute it.
type guesser struct {
	sep     byte
	keys    bool // texts as "status=" stand in front of values, the same in all lines
	part    bool // words follow the text
	refuted map[int]bool
	fields  []shape // fit is nil if nothing is like it
	values  [][]byte
	pattern []byte
}

// mostGuessed is the number of bytes of a line in which fields are searched: as many brackets that do not end cost
// their square.
const mostGuessed = 4 << 10

// guess names the fields of lines. The pattern reads nine in ten of them, the line that it is of among them.
func guess(lines [][]byte) *ShapeError {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i] = lines[i][:min(len(lines[i]), mostGuessed)]
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
			share, best.Nearest = s, fmt.Sprintf(" (they are nearest to %s, but for its field %s)", f.name, name)
		}
	}
	return best
}

// columnsOf returns the separator that most lines have outside of quotes and brackets, equally often and at least twice; else a blank.
func columnsOf(lines [][]byte) byte {
	for _, sep := range []byte("\t|;") {
		counts := map[int]int{} // lines, by how often they have it
		for _, line := range lines {
			n := -1
			for more := true; more; n++ {
				end := endOf(line, sep)
				more = end < len(line)
				line = line[min(end+1, len(line)):]
			}
			if counts[n]++; n > 1 && 2*counts[n] > len(lines) {
				return sep
			}
		}
	}
	return ' '
}

// closing returns the place of the quote or bracket that ends what a text begins with, 0 if it begins with none. Behind it is
// a separator or nothing.
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

// endOf returns where a separator is that no quotes or brackets hold, or else the end.
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

// words names the fields of a text that blanks separate.
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
		if g.shapeOf(rest).role == roleAgent { // up to its last word
			word = rest
		}
		g.part = len(word) < len(rest)
		g.add(word)
		g.part = false
		at += len(word)
	}
}

// blanks adds blanks, in front of a text. Two are one or more.
func (g *guesser) blanks(blanks, text []byte) {
	if len(text) == 0 || strings.IndexByte(`"[{(`, text[0]) < 0 {
		blanks = blanks[:min(len(blanks), 2)]
	}
	g.literal(blanks)
}

// literal adds a text that all lines have.
func (g *guesser) literal(text []byte) {
	for _, c := range text {
		if c == '$' || c == '\\' || c == '(' {
			g.pattern = append(g.pattern, '\\')
		}
		g.pattern = append(g.pattern, c)
	}
}

// keyOf returns a text as "status=", with its sign, and what stands behind it.
func (g *guesser) keyOf(text []byte) (key, value []byte) {
	n := len(text) - len(bytes.TrimLeft(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"))
	if !g.keys || n == 0 || n+1 >= len(text) || text[n] != '=' && (text[n] != ':' || g.sep == ' ') || bytes.HasPrefix(text[n+1:], []byte("//")) {
		return nil, text
	}
	return text[:n+1], text[n+1:]
}

// shapeOf returns the shape of a value, with its key. Where another field has the role, or it was refuted, fit is nil.
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

// add adds a field, and a literal for its key.
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

// settle leaves names only to fields that they fit in all lines, and returns how many these are; 0 if the pattern is not sure
// to read the lines.
func (g *guesser) settle(line []byte, lines [][]byte) (named int) {
	for range maxFields {
		p, err := compilePattern(cutPasted(string(g.pattern)))
		if err != nil {
			return 0
		}
		columns, read := make([][][]byte, len(p.fields)), 0
		for i, text := range append(lines[:len(lines):len(lines)], line) {
			var fields [maxFields][]byte
			if n, result := p.split(text, fields[:]); result != IsRow || n != len(p.fields) {
				if i == len(lines) {
					return 0
				}
				continue
			}
			k := 0
			if i < len(lines) {
				read++
			}
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

// refute returns the first field whose name the values of some lines deny, or another field claims as well; -1 if there is none.
func (g *guesser) refute(columns [][][]byte) int {
	for i, f := range g.fields {
		values := columns[i]
		isRival := func(k int) bool {
			if other := g.fields[k]; f.fit == nil || other.fit != nil || other.role != f.role {
				return false
			} else if f.role == roleAgent {
				return slices.ContainsFunc(columns[k], hasMozilla)
			}
			return most(columns[k], f.fit) && !slices.EqualFunc(values, columns[k], bytes.Equal) && (f.role != roleClient || most(columns[k], isPublic))
		}
		least := 9
		if f.role == roleAgent { // some have no version
			least = 5
		}
		switch {
		case f.fit == nil:
		case f.role == roleURL && g.has(roleRequest), fitShare(values, f.fit, least, 10) != fits:
			return i
		case f.role == roleAgent && fitShare(values, func(v []byte) bool { return isURL(v) || isIP(v) }, 1, 10) == fits:
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

// stop returns the name of the field at which the pattern that fits a line best stops, and how many in a hundred fields of
// it the line has; "" if a line fits.
func (f *format) stop(line []byte) (name string, share int) {
	var fields [maxFields][]byte
	for _, p := range f.shapes() {
		n, result := p.split(line, fields[:])
		if result == IsRow {
			return "", 0
		}
		if s := 100 * n / p.need; s >= share {
			name, share = p.fields[n].name, s
		}
	}
	return name, share
}

// Stop returns the name of the field of a format at which a line is not of it, "" if it is, or the format has no patterns.
func Stop(f Format, line []byte) string {
	name, _ := f.info().stop(line)
	return name
}
