package weblog

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// maxFields is the most fields of a pattern.
const maxFields = 64

// Of the fields to keep: parts of a request line.
const (
	partMethod   = -2
	partProtocol = -3
)

// A lineLog reads lines by patterns: of each, the first that fits.
type lineLog struct {
	common
	escapes
	patterns []*pattern
	fields   [maxFields][]byte
	port     [8]byte                // memory of a port behind its colon
	joined   func(line []byte) bool // nil if it cannot tell
}

// newLines returns the parser of lines of patterns, which reads no fields behind the last one that is wanted.
func newLines(f *format, opt Options) (*lineLog, error) {
	l := &lineLog{common: newCommon(opt), joined: f.joined}
	l.hash = f.hash
	var all []field
	for _, shape := range f.shapes() {
		p := *shape
		p.fields = slices.Clone(p.fields)
		all, l.patterns = append(all, p.fields...), append(l.patterns, &p)
		p.name(opt.Named)
	}
	slices.SortStableFunc(all, func(a, b field) int { return cmp.Compare(min(a.role-1, 2), min(b.role-1, 2)) }) // the host and the client first
	var names []string
	others := make([]string, 0, len(all))
	for _, field := range all {
		if others = append(others, field.written); !slices.Contains(names, field.name) {
			names = append(names, field.name)
		}
	}
	if slices.ContainsFunc(all, func(f field) bool { return f.role == roleRequest }) {
		names = append(names, NameMethod, NameProtocol)
	}
	for i, name := range slices.Concat(opt.Keep, slices.Sorted(maps.Values(opt.Named))) {
		if name != none && !slices.Contains(names, name) && !slices.Contains(others, name) && (i >= len(opt.Keep) || !opt.MayLack(name)) {
			return nil, noField(name, names)
		}
	}
	has := func(r role) bool {
		return slices.ContainsFunc(l.patterns, func(p *pattern) bool { return p.of[r] >= 0 })
	}
	wanted := []role{roleURL, roleRequest, roleScheme, roleHost, rolePort, rolePath, roleQuery, roleMethod}
	switch {
	case opt.Agents && opt.Need && !has(roleAgent):
		return nil, fmt.Errorf("%w: there are %s", ErrNoAgents, listed(names))
	case opt.Agents:
		wanted = append(wanted, roleAgent)
	}
	if opt.Times {
		wanted = append(wanted, roleTime)
	}
	client := roleClient
	if !has(client) {
		client = roleForwarded
	}
	if opt.Clients {
		if wanted = append(wanted, client); !has(client) {
			return nil, fmt.Errorf("%w: there are %s", ErrNoClients, listed(names))
		}
	}
	for _, p := range l.patterns {
		p.last, p.client = p.need, -1
		for _, role := range wanted {
			for i := p.of[role]; i >= 0; i = p.fields[i].earlier {
				p.last = max(p.last, i+1)
			}
		}
		if opt.Clients {
			p.client = p.of[client]
		}
		for _, name := range opt.Keep {
			i := p.place(name)
			if r := keptRole(name); r != roleNone && p.of[r] >= 0 || opt.isNamed(r) {
				i = p.of[r]
			}
			p.keep, p.last = append(p.keep, i), max(p.last, i+1)
		}
		p.skipWords(func(i int) bool {
			return slices.Contains(p.keep, i) || slices.ContainsFunc(wanted, func(r role) bool { return r == p.fields[i].role || i == p.of[r] })
		})
	}
	return l, nil
}

// skipWords marks the runs of words that nobody wants.
func (p *pattern) skipWords(isWanted func(i int) bool) {
	if last := &p.fields[p.last-1]; last.option != nil { // of which nobody wants more
		last.option, last.checked = nil, last.class != anyValue
	}
	for i := p.last - 1; i >= 0; i-- {
		f := &p.fields[i]
		colon := f.end == byColon && i+1 < p.last && p.fields[i+1].skip > 0 // its port is of the same word
		if isWanted(i) || f.end != byByte && f.end != byWord && !colon || f.until[0] != ' ' && !colon || f.checked && !colon || i+1 == p.need {
			continue
		}
		f.skip, f.words = 1, 1
		if i+1 == p.last {
			continue
		}
		if next := &p.fields[i+1]; next.skip > 0 && len(f.until) == 1 {
			f.skip, f.words, f.until, f.end, f.colon = next.skip+1, next.words+1, next.until, byWords, next.colon || colon
			if colon {
				f.words, f.checked = next.words, false
			}
		}
	}
}

// name makes fields the only ones of roles.
func (p *pattern) name(named map[string]string) {
	was := p.of
	for _, word := range slices.Sorted(maps.Keys(named)) {
		for _, other := range replaced[slices.Index(roleWords[:], word)] {
			if _, too := named[roleWords[other]]; !too {
				p.of[other] = -1
			}
		}
	}
	for word, name := range named {
		r := role(slices.Index(roleWords[:], word))
		i := max(-1, p.place(name))
		if p.of[r] = i; i >= 0 && i != was[r] {
			p.fields[i].earlier = -1
		}
		if r.isTarget() {
			p.need = max(p.need, i+1)
		}
	}
}

// place returns the place of a field to keep by its name, the last of several; -1 if there is none.
func (p *pattern) place(name string) int {
	for i, f := range slices.Backward(p.fields) {
		if f.name == name || f.written == name {
			return i
		}
	}
	switch {
	case p.of[roleRequest] < 0:
	case name == NameMethod:
		return partMethod
	case name == NameProtocol:
		return partProtocol
	}
	return -1
}

// Parse reads a line.
func (l *lineLog) Parse(line []byte, r *Row) Result {
	r.reset()
	l.buf = l.buf[:0]
	why := RefusedFormat
	for _, p := range l.patterns {
		n, result := p.split(line, l.fields[:])
		if result == IsRow {
			return l.row(r, p, l.fields[:n])
		}
		why = max(why, result)
	}
	return why
}

// value returns the value of a field, or the first of those that count next for its role.
func (p *pattern) value(fields [][]byte, i int) []byte {
	for ; i >= 0; i = p.fields[i].earlier {
		if value := present(at(fields, i)); value != nil {
			return value
		}
	}
	return nil
}

// present returns text, or nil if it is empty or "-", which mean that there is no value.
func present(text []byte) []byte {
	if len(text) == 0 || string(text) == "-" {
		return nil
	}
	return text
}

// row makes the row of the fields.
func (l *lineLog) row(r *Row, p *pattern, fields [][]byte) Result {
	var host, client []byte
	if p.of[roleHost] >= 0 {
		host = p.value(fields, p.of[roleHost])
	}
	if p.client >= 0 {
		if client = p.value(fields, p.client); p.fields[p.client].role != roleClient { // whose field no server escapes
			client = l.unescape(client)
		}
	}
	var sender []byte // the address in front, or several, if that is the client's
	address := false
	if p.fields[0].class == vhostValue {
		first, _, several := bytes.Cut(fields[0], []byte{','})
		isHost := p.of[roleHost] == 0
		switch alone := isAddress(first); {
		case several && p.fields[0].quoted, alone && (len(l.host) > 0 || !isHost):
			if sender = fields[0]; isHost {
				host = nil
			}
		case alone:
			host, address = first, true
		}
		if p.client == 1 && sender != nil {
			client = sender
		}
	}
	where := place{host: host}
	if host != nil {
		where.byPort = schemeOfPort(host)
	}
	if p.of[roleScheme] >= 0 {
		where.scheme = schemeOf(p.value(fields, p.of[roleScheme]))
	}
	if port := p.of[rolePort]; port >= 0 && where.byPort == "" {
		where.byPort = schemeOfPort(append(append(l.port[:0], ':'), at(fields, port)...))
	}
	var request []byte
	var ok bool
	if i := p.of[roleRequest]; i >= 0 {
		request = l.unescape(fields[i])
		ok = l.request(r, request, &where)
	} else {
		ok = l.target(r, p, fields, &where)
	}
	if !ok {
		return l.fail(ErrNoBase)
	}
	r.Address = address && r.Scheme != ""
	if l.opt.Agents {
		i := p.of[roleAgent]
		r.HasAgent = i >= 0 && i < len(fields)
		r.Agent = present(l.unescape(p.value(fields, p.of[roleAgent])))
	}
	if p.client >= 0 && !l.setClient(r, client) {
		return Failed
	}
	if l.opt.Times {
		l.setTime(r, p.value(fields, p.of[roleTime]))
	}
	for k, i := range p.keep {
		text := p.value(fields, i)
		if i == 0 && sender != nil { // it is no host
			text = nil
		}
		if i < 0 || i == p.of[roleRequest] || i == p.of[roleClient] {
			text = l.kept(p, text, i, request, sender)
		} else {
			if text = l.unescape(text); l.opt.ClientAt != 0 && l.opt.Keep[k] == NameClient {
				text = trimBlank(addressAt(text, l.opt.ClientAt))
			}
		}
		r.Fields = append(r.Fields, present(text))
	}
	return IsRow
}

// kept returns a field to keep: a part of the request, or the client.
func (l *lineLog) kept(p *pattern, text []byte, i int, request, sender []byte) []byte {
	switch i {
	case partMethod:
		text, _, _ = splitRequest(request)
	case partProtocol:
		_, _, text = splitRequest(request)
	case p.of[roleRequest]:
		text = request
	case p.of[roleClient]:
		if sender != nil && i == 1 {
			text = sender
		}
		text = l.unescape(trimBlank(addressAt(text, cmp.Or(l.opt.ClientAt, 1))))
	}
	return text
}

// target sets the URL of a row of a field for it, or of a path and a query. It reports false if a path has no host.
func (l *lineLog) target(r *Row, p *pattern, fields [][]byte, where *place) bool {
	text := l.unescape(p.value(fields, p.of[roleURL]))
	if len(text) == 0 {
		text = l.withQuery(r, l.unescape(p.value(fields, p.of[rolePath])), l.unescape(p.value(fields, p.of[roleQuery])))
	}
	if string(p.value(fields, p.of[roleMethod])) == "CONNECT" && len(text) > 0 && text[0] != '/' {
		r.Target, r.Odd = text, OddConnect
		return true
	}
	return l.resolve(r, text, where)
}
