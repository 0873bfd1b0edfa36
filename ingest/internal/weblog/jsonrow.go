package weblog

import (
	"bytes"
	"fmt"
)

// JSON is JSON Lines; CDXJ the index of a web archive, as Common Crawl publishes it.
const (
	JSON Format = "json"
	CDXJ Format = "cdxj"
)

var (
	jsonFormat = format{
		name: JSON, aliases: []string{"jsonl", "ndjson", "caddy", "cloudflare"}, anyField: true,
		about:  "JSON Lines: Caddy, nginx, Cloudflare Logpush and others",
		parser: func(opt Options) (Parser, error) { return newJSON(opt), nil },
		line:   isJSON,
	}
	cdxjFormat = format{
		name:  CDXJ,
		about: "index of a web archive, as Common Crawl publishes it",
		parser: func(opt Options) (Parser, error) {
			if opt.Agents && opt.Need {
				return nil, fmt.Errorf("%w: the index of an archive has none", ErrNoAgents)
			}
			if opt.Clients {
				return nil, fmt.Errorf("%w: the index of an archive has none", ErrNoClients)
			}
			return cdxj{newJSON(opt)}, nil
		},
		line: isCDXJ,
	}
)

// isJSON reports whether a line looks like an object.
func isJSON(line []byte) bool { return line[0] == '{' && line[len(line)-1] == '}' }

// IsWrapped reports whether all lines are JSON objects whose field "log" holds a line of a log, as Docker writes
// them, and none has a field that is known for the URL. It is false if one was named.
func IsWrapped(lines [][]byte, opt Options) bool {
	if opt.URL != "" {
		return false
	}
	inner, outer := newJSON(Options{URL: "log"}), newJSON(Options{})
	for _, line := range lines {
		if !isJSON(line) || !inner.scan.scan(line) || len(inner.scalar(inner.url)) == 0 || !outer.scan.scan(line) || outer.any(outer.url) != nil {
			return false
		}
	}
	return len(lines) > 0
}

// isCDXJ reports whether the second word of a line is a time of 14 digits.
func isCDXJ(line []byte) bool {
	_, rest, _ := bytes.Cut(line, []byte{' '})
	second, _, _ := bytes.Cut(rest, []byte{' '})
	return len(second) == 14 && number(second) >= 0 && !isJSON(line) && !isURL(line) && !albFormat.isLine(line)
}

// slots are the values that may hold one thing. The first value that a line has counts.
type slots struct{ from, up int }

// jsonLog reads JSON Lines: an object a line.
type jsonLog struct {
	common
	scan jsonScanner

	url, host, scheme, agent, client, time slots
	caddy, tls                             slots // Caddy's own fields, that tell it the scheme
	keep                                   []keptSlots
}

// keptSlots are the values that may hold a column to keep.
type keptSlots struct {
	slots
	status bool // the first value that is a status counts, if there is one
}

// newJSON returns the parser of JSON lines, with a slot for each name under which a wanted field may
// stand.
func newJSON(opt Options) *jsonLog {
	j := &jsonLog{common: newCommon(opt)}
	j.url = j.want(candidates(nameURL, opt.URL))
	j.host = j.want(candidates(NameHost, opt.Host))
	j.scheme = j.want(known[nameScheme])
	j.caddy, j.tls = j.want([]string{"request.uri"}), j.want([]string{"request.tls"})
	if opt.Agents {
		j.agent = j.want(candidates(NameAgent, opt.Agent))
	}
	if opt.Clients {
		j.client = j.want(candidates(NameClient, opt.Client))
	}
	if opt.Times {
		j.time = j.want(candidates(NameTime, opt.Time))
	}
	for _, name := range opt.Keep {
		if name == NameTime && opt.Time != "" {
			name = opt.Time
		}
		j.keep = append(j.keep, keptSlots{j.want(toKeep(name)), name == NameStatus})
	}
	return j
}

// want makes the values at the paths wanted.
func (j *jsonLog) want(paths []string) slots {
	from := len(j.scan.values)
	for i, path := range paths {
		j.scan.root.want(path, from+i)
	}
	j.scan.values = append(j.scan.values, make([][]byte, len(paths))...)
	j.scan.nested = append(j.scan.nested, make([]bool, len(paths))...)
	return slots{from, from + len(paths)}
}

// scalar returns the first of the values that is not empty, and no object or array.
func (j *jsonLog) scalar(s slots) []byte {
	for i, v := range j.scan.values[s.from:s.up] {
		if len(v) > 0 && !j.scan.nested[s.from+i] {
			return v
		}
	}
	return nil
}

// any returns the first of the values that is there.
func (j *jsonLog) any(s slots) []byte {
	for _, v := range j.scan.values[s.from:s.up] {
		if v != nil {
			return v
		}
	}
	return nil
}

// kept returns the value of a column to keep.
func (j *jsonLog) kept(k keptSlots) []byte {
	if k.status {
		for _, v := range j.scan.values[k.from:k.up] {
			if isStatus(v) {
				return v
			}
		}
	}
	return j.any(k.slots)
}

// Parse reads a line.
func (j *jsonLog) Parse(line []byte, r *Row) Result {
	r.reset()
	if !j.scan.scan(line) || line[j.scan.space(0)] != '{' {
		return RefusedFormat
	}
	return j.row(r)
}

// row makes the row of the values.
func (j *jsonLog) row(r *Row) Result {
	if !j.urlOrRequest(r, j.scalar(j.url), j.place()) { // null, empty or missing: a row all the same
		return j.fail(ErrNoBase)
	}
	if j.opt.Agents {
		agent := j.scalar(j.agent)
		r.Agent, r.HasAgent = present(agent), agent != nil
	}
	if !j.setClient(r, j.scalar(j.client)) {
		return Failed
	}
	j.setTime(r, j.scalar(j.time))
	for _, k := range j.keep {
		r.Fields = append(r.Fields, j.kept(k))
	}
	return IsRow
}

// place returns the origin, as far as the line names it. Caddy marks https by an object about TLS.
// That is missing if TLS ended at a proxy in front, so a site with a scheme of its own keeps it.
func (j *jsonLog) place() place {
	host := j.scalar(j.host)
	scheme, byPort := schemeOf(j.scalar(j.scheme)), schemeOfPort(host)
	switch {
	case scheme != "", byPort != "":
	case j.any(j.tls) != nil:
		scheme = "https"
	case j.any(j.caddy) != nil && j.site.scheme == "":
		scheme = "http"
	}
	return place{scheme, host, byPort}
}

// cdxj reads the index of a web archive: a sort key, a time of 14 digits, and JSON with the URL.
type cdxj struct{ *jsonLog }

// Parse reads a line.
func (c cdxj) Parse(line []byte, r *Row) Result {
	r.reset()
	if line[0] == '!' || bytes.HasPrefix(line, []byte(" CDX")) { // a header
		return NoRow
	}
	_, rest, _ := bytes.Cut(line, []byte{' '})
	moment, object, ok := bytes.Cut(rest, []byte{' '})
	if !ok || len(moment) != 14 || !c.scan.scan(object) || object[c.scan.space(0)] != '{' {
		return RefusedFormat
	}
	result := c.row(r)
	if result == IsRow && c.opt.Times && c.opt.Time == "" {
		r.Time = c.clock.Read(moment)
	}
	if result != IsRow || c.opt.Time != "" {
		return result
	}
	for i, name := range c.opt.Keep {
		if name == NameTime {
			r.Fields[i] = moment
		}
	}
	return IsRow
}
