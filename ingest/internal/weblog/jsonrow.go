package weblog

import (
	"bytes"
	"fmt"
)

// JSON is JSON Lines. CDXJ is the index of a web archive, as published by Common Crawl.
const (
	JSON Format = "json"
	CDXJ Format = "cdxj"
)

var (
	jsonFormat = format{
		name: JSON, aliases: []string{"jsonl", "ndjson", "caddy", "cloudflare"}, anyField: true,
		about:  "JSON Lines: Caddy, nginx, Cloudflare Logpush and others",
		parser: func(opt Options) (Parser, error) { return newJSON(opt), nil },
		byLine: true,
		line:   isJSON,
	}
	cdxjFormat = format{
		name:  CDXJ,
		about: "index of a web archive, as published by Common Crawl",
		parser: func(opt Options) (Parser, error) {
			if opt.Agents && opt.Need {
				return nil, fmt.Errorf("%w: an archive index has no such field", ErrNoAgents)
			}
			if opt.Clients {
				return nil, fmt.Errorf("%w: an archive index has no such field", ErrNoClients)
			}
			return cdxj{newJSON(opt)}, nil
		},
		line: isCDXJ,
	}
)

// isJSON reports whether a line looks like an object.
func isJSON(line []byte) bool { return line[0] == '{' && line[len(line)-1] == '}' }

// IsWrapped reports whether all lines are JSON objects whose field "log" contains a log line, as Docker writes them,
// and no object has a known field for the URL. It is false if such a field was named.
func IsWrapped(lines [][]byte, opt Options) bool { return isWrapped(lines, opt, "log") }

// isWrapped is IsWrapped for another member than "log"; it is false for "".
func isWrapped(lines [][]byte, opt Options, member string) bool {
	for _, line := range lines {
		wrapped, hasURL := false, opt.isNamed(roleURL)
		if !isJSON(line) || !flatten(line, func(name string, value []byte) {
			wrapped = wrapped || name == member && len(value) > 0
			hasURL = hasURL || len(value) > 0 && isURLName(name)
		}) || !wrapped || hasURL {
			return false
		}
	}
	return len(lines) > 0 && member != ""
}

// isCDXJ reports whether the second word of a line is a timestamp of 14 digits.
func isCDXJ(line []byte) bool {
	_, rest, _ := bytes.Cut(line, []byte{' '})
	second, _, _ := bytes.Cut(rest, []byte{' '})
	return len(second) == 14 && number(second) >= 0 && !isJSON(line) && !isURL(line)
}

// jsonLog reads JSON Lines: one object per line.
type jsonLog struct {
	named
	scan       jsonScanner
	caddy, tls int // slots of Caddy's fields for the scheme
	sampled    bool
}

// newJSON returns the parser of JSON lines.
func newJSON(opt Options) *jsonLog { return &jsonLog{named: named{common: newCommon(opt)}} }

// mostSampled is the maximum number of fields that are examined.
const mostSampled = 1000

// Sample finds the fields of the first lines, and their producer.
func (j *jsonLog) Sample(lines [][]byte) Choice {
	return j.sample(lines, func(line []byte, add func(name string, value []byte)) { flatten(line, add) })
}

// sample makes the plan from the fields that each returns for a line.
func (j *jsonLog) sample(lines [][]byte, each func(line []byte, add func(name string, value []byte))) (choice Choice) {
	var fields []sampled
	index := map[string]int{}
	for row, line := range lines {
		each(line, func(name string, value []byte) {
			i, ok := index[name]
			if !ok && len(fields) == mostSampled {
				return
			} else if !ok {
				i = len(fields)
				index[name] = i
				fields = append(fields, sampled{name: name, values: make([][]byte, len(lines))})
			}
			fields[i].values[row] = value
		})
	}
	j.setPlan(fields)
	choice.Took = j.plan.took(&j.opt)
	return choice
}

// setPlan makes a slot for each name that a wanted field may have.
func (j *jsonLog) setPlan(fields []sampled) {
	j.sampled = true
	j.plan = planOf(fields, &j.opt)
	j.plan.addGeneral(&j.opt)
	j.caddy, j.tls = j.scan.want("request.uri"), j.scan.want("request.tls")
	slots := map[string]int{}
	slotOf := func(name string) int {
		slot, ok := slots[name]
		if !ok {
			slot = j.scan.want(name)
			slots[name] = slot
		}
		return slot
	}
	j.read(func(p *pick, r role) (at, with int) {
		if at, with = slotOf(p.name), p.with; with >= 0 {
			with = slotOf(fields[with].name)
		}
		j.scan.roles[at] |= 1 << r
		return at, with
	})
	j.values, j.nested = j.scan.values, j.scan.nested
}

// Parse reads a line.
func (j *jsonLog) Parse(line []byte, r *Row) Result {
	r.reset()
	j.begin()
	if !j.scan.scan(line) || line[j.scan.space(0)] != '{' {
		return RefusedFormat
	}
	return j.row(r)
}

// begin makes a plan if Sample was not called, and removes the values of the previous line.
func (j *jsonLog) begin() {
	if !j.sampled {
		j.setPlan(nil)
	}
	j.buf = j.buf[:0]
}

// row makes a row of the values. Caddy logs an object about TLS for https requests. The object is missing if a proxy
// in front of Caddy ends TLS, so the known scheme of a site takes precedence.
func (j *jsonLog) row(r *Row) Result {
	j.found = j.scan.found
	switch {
	case j.values[j.tls] != nil:
		j.secure = "https"
	case j.values[j.caddy] != nil && j.scheme == "":
		j.secure = "http"
	default:
		j.secure = ""
	}
	return j.named.row(r)
}

// cdxj reads the index of a web archive: a sort key, a timestamp of 14 digits, and a JSON object with the URL.
type cdxj struct{ *jsonLog }

// Parse reads a line.
func (c cdxj) Parse(line []byte, r *Row) Result {
	r.reset()
	if line[0] == '!' || bytes.HasPrefix(line, []byte(" CDX")) { // a header line
		return NoRow
	}
	_, rest, _ := bytes.Cut(line, []byte{' '})
	moment, object, ok := bytes.Cut(rest, []byte{' '})
	if !ok || len(moment) != 14 {
		return RefusedFormat
	}
	result := c.jsonLog.Parse(object, r)
	if result != IsRow || c.opt.isNamed(roleTime) {
		return result
	}
	if c.opt.Times {
		r.Time = c.clock.Read(moment)
	}
	for i, name := range c.opt.Keep {
		if name == NameTime {
			r.Fields[i] = moment
		}
	}
	return IsRow
}
