package weblog

import (
	"bytes"
	"fmt"
	"strings"
)

// A ShapeError says that no format is known that has the lines of a log.
type ShapeError struct {
	Fields  []string // of the first line, each as name = value
	Nearest string   // how far the format that fits best does; "" if none fits at all
	Pattern string   // that reads the first line, to start from; "" if nothing in it looks like a URL
}

// Error lists the fields.
func (e *ShapeError) Error() string {
	return "no format that is known has such lines; the fields of the first one seem to be " + listed(e.Fields) + e.Nearest
}

// CheckShape returns a ShapeError if the lines were taken for a list of URLs, or for a table without a known name, and are
// neither: one line in ten of a list may be something else.
func CheckShape(f Format, lines [][]byte, opt Options) error {
	odd := 0
	for _, line := range lines {
		if text := trimBlank(line); len(bytes.Fields(text)) > 2 && !isURL(text) && text[0] != '/' && text[0] != '#' {
			odd++
		}
	}
	switch {
	case len(lines) == 0, f == URLs && odd <= max(1, len(lines)/10) && odd < len(lines):
		return nil
	case f == CSV, f == TSV: // a row in place of names
		if f.info().header(lines, opt) || !strings.Contains(guess(lines[0]).Pattern, "$status") {
			return nil
		}
	case f != URLs:
		return nil
	}
	return guess(lines[0])
}

// mostGuessed is how many bytes of a line are looked at for its fields: as many brackets that do not end cost their square.
const mostGuessed = 4 << 10

// guess names the fields of a line by their values, as nginx would.
func guess(line []byte) *ShapeError {
	line = line[:min(len(line), mostGuessed)]
	sep := byte(' ')
	for _, c := range []byte("\t|;") {
		if n := bytes.Count(line, []byte{c}); n > 1 && n*2 > bytes.Count(line, []byte{' '}) {
			sep = c
		}
	}
	e, given, pattern := &ShapeError{}, map[string]bool{}, []byte(nil)
	literal := func(text []byte) {
		for _, c := range text {
			if c == '$' || c == '\\' || c == '(' {
				pattern = append(pattern, '\\')
			}
			pattern = append(pattern, c)
		}
	}
	variable := func(value []byte) {
		if key := bytes.IndexByte(value, '='); key > 0 && len(bytes.Trim(value[:key], "abcdefghijklmnopqrstuvwxyz_")) == 0 {
			literal(value[:key+1])
			value = value[key+1:]
		}
		name := nameOf(value, given)
		if given[name] || name == "" {
			name = fmt.Sprintf("field_%d", len(e.Fields)+1)
		}
		given[name] = true
		e.Fields = append(e.Fields, fmt.Sprintf("$%s %q", name, shortName(string(value))))
		if pattern = append(append(pattern, '$'), name...); name == "remote_addr" && !isAddress(value) && bytes.Count(value, []byte{':'}) > 0 {
			pattern = append(pattern, ":$remote_port"...)
		}
	}
	for at := 0; at < len(line); {
		rest := line[at:]
		if rest[0] == sep {
			run := len(rest) - len(bytes.TrimLeft(rest, string(sep)))
			at += run
			if sep == ' ' && (at == len(line) || strings.IndexByte(`"[{(`, line[at]) < 0) { // two blanks are one or more
				run = min(run, 2)
			}
			literal(rest[:run])
			continue
		}
		if i := strings.IndexByte(`"[{(`, rest[0]); i >= 0 {
			end := 1
			for end < len(rest) && (rest[end] != `"]})`[i] || end+1 < len(rest) && rest[end+1] != sep || isEscaped(rest[:end])) {
				end++
			}
			if end < len(rest) {
				literal(rest[:1])
				variable(rest[1:end])
				literal(rest[end : end+1])
				at += end + 1
				continue
			}
		}
		word, more, _ := bytes.Cut(rest, []byte{sep})
		if two := rest[:min(len(rest), len(word)+1+len(firstWord(more)))]; sep == ' ' && len(word) > 9 && isMoment(two) { // a time with its zone
			word = two
		}
		variable(word)
		at += len(word)
	}
	if p, err := compilePattern(cutPasted(string(pattern))); err == nil {
		var fields [maxFields][]byte
		if n, result := p.split(line, fields[:]); result == IsRow && n == len(p.fields) {
			e.Pattern = string(pattern)
		}
	}
	most := 50
	for _, f := range formats {
		if name, share := f.stop(line); share > most {
			most, e.Nearest = share, fmt.Sprintf("; the nearest format is %s, which stops at its %s", f.name, name)
		}
	}
	return e
}

// nameOf returns the variable of nginx that a value looks like, "" for none. given are those that there are.
func nameOf(value []byte, given map[string]bool) string {
	_, _, protocol := splitRequest(value)
	target := given["request"] || given["request_uri"]
	switch {
	case protocol != nil:
		return "request"
	case isProtocol(value):
		return "server_protocol"
	case isMoment(value) && bytes.IndexByte(value, '-') > 0 && bytes.IndexByte(value, ' ') < 0:
		return "time_iso8601"
	case isMoment(value) && bytes.ContainsAny(value, "/ "):
		return "time_local"
	case isMoment(value):
		return "msec"
	case !given["remote_addr"] && isPeer(value) && number(value[:1]) >= 0:
		return "remote_addr"
	case isStatus(value) && !given["status"]:
		return "status"
	case given["status"] && number(value) >= 0 && len(value) > 0:
		return "body_bytes_sent"
	case !target && (isURL(value) || bytes.HasPrefix(value, []byte{'/'})):
		return "request_uri"
	case isURL(value):
		return "http_referer"
	case isMethod(value):
		return "request_method"
	case schemeOf(value) != "":
		return "scheme"
	case target && bytes.IndexByte(value, '/') > 0 && hasLetter(value), bytes.HasPrefix(value, []byte("Mozilla/")):
		return "http_user_agent"
	case isPeer(value):
		return "host"
	}
	return ""
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
