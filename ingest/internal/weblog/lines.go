package weblog

import (
	"bytes"
	"cmp"
	"slices"
)

// maxFields is the maximum number of fields in a pattern.
const maxFields = 64

// A lineLog reads lines by patterns. The first pattern that matches a line counts.
type lineLog struct {
	named
	patterns []*pattern
	shapes   []*pattern // patterns with all fields
	fields   [maxFields][]byte
	usual    bool                   // splitUsual may apply
	joined   func(line []byte) bool // reports whether a line is several records; nil if unknown
}

// newLines returns the parser for the patterns of a format. It reads no fields after the last wanted one.
func newLines(f *format, opt Options) (*lineLog, error) {
	l := &lineLog{named: named{common: newCommon(opt), isLine: true}, shapes: f.shapes(), joined: f.joined}
	l.hash, l.usual = f.hash, f.name != ALB
	var all []field
	plans := make([]*plan, 0, len(f.patterns))
	for _, shape := range f.shapes() {
		p := *shape
		p.fields = slices.Clone(p.fields)
		all, l.patterns, plans = append(all, p.fields...), append(l.patterns, &p), append(plans, p.settle(&opt))
	}
	if !slices.ContainsFunc(plans, func(p *plan) bool { return p.of[roleClient] != nil }) {
		for _, p := range plans {
			p.of[roleClient] = p.of[roleForwarded]
		}
	}
	slices.SortStableFunc(all, func(a, b field) int { return cmp.Compare(min(a.role-1, 2), min(b.role-1, 2)) }) // host and client first
	var names []string
	for _, field := range all {
		if !slices.Contains(names, field.name) {
			names = append(names, field.name)
		}
	}
	if slices.ContainsFunc(all, func(f field) bool { return f.role == roleRequest }) {
		names = append(names, NameMethod, NameProtocol)
	}
	if err := checkFields(&opt, names, plans...); err != nil {
		return nil, err
	}
	for i, p := range l.patterns {
		l.plan = plans[i]
		isWanted := map[int]bool{}
		l.read(func(one *pick, _ role) (at, with int) {
			isWanted[one.at] = true
			p.last = max(p.last, one.at+1)
			return one.at, -1
		})
		p.wanted, p.plan, l.wanted = l.wanted, l.plan, nil
		for _, s := range p.wanted.all() {
			for _, spot := range s {
				if len(s) > 1 || p.fields[spot.at].role.isTarget() && !p.wanted.request {
					p.optional = append(p.optional, spot.at)
				}
			}
		}
		p.fronted = p.fields[0].class == vhostValue
		p.skipWords(isWanted)
	}
	return l, nil
}

// settle returns the plan of a pattern, including the fields that the user named for roles.
func (p *pattern) settle(opt *Options) *plan {
	settled := *p.plan
	settled.name(opt)
	if settled.of[roleURL] = slices.Concat(settled.of[roleURL], settled.of[rolePath]); settled.of[roleRequest] != nil {
		settled.of[roleURL] = settled.of[roleRequest][:1]
	}
	p.last = p.need
	return &settled
}

// skipWords marks sequences of unwanted words.
func (p *pattern) skipWords(isWanted map[int]bool) {
	if last := &p.fields[p.last-1]; last.option != nil { // nothing after it is wanted
		last.option, last.checked = nil, last.class != anyValue
	}
	for i := p.last - 1; i >= 0; i-- {
		f := &p.fields[i]
		colon := f.end == byColon && i+1 < p.last && p.fields[i+1].skip > 0 // its port is part of the same word
		if isWanted[i] || i == 0 && p.fronted || f.end != byByte && f.end != byWord && !colon || f.until[0] != ' ' && !colon || f.checked && !colon || i+1 == p.need {
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

// Parse reads a line.
func (l *lineLog) Parse(line []byte, r *Row) Result {
	r.reset()
	l.buf, l.plain = l.buf[:0], l.usual && bytes.IndexByte(line, '\\') < 0
	why := RefusedFormat
	for _, p := range l.patterns {
		n, result := p.split(line, l.fields[:], l.plain)
		if result != IsRow {
			why = max(why, result)
			continue
		}
		if n < p.last { // the others are those of a line before
			clear(l.fields[n:p.last])
		}
		address := p.fronted && l.settleFront(p)
		for _, i := range p.optional {
			if field := l.fields[i]; len(field) == 1 && field[0] == '-' {
				l.fields[i] = field[:0]
			}
		}
		if l.wanted != p.wanted {
			l.values, l.wanted, l.found = l.fields[:p.last], p.wanted, p.wanted.has
		}
		result = l.row(r)
		r.Address = address && r.Scheme != ""
		return result
	}
	return why
}

// settleFront decides whether one or more addresses at the start of a line are a virtual host or the client: they are the
// client if the site is known or named elsewhere, unless they are private and one public address follows. It reports whether
// the host is an address.
func (l *lineLog) settleFront(p *pattern) (_ bool) {
	first, _, several := bytes.Cut(l.fields[0], []byte{','})
	hosts, clients := p.plan.of[roleHost], p.plan.of[roleClient]
	isHost := len(hosts) > 0 && hosts[0].at == 0
	alone := isAddress(first)
	switch {
	case several && p.fields[0].quoted, alone && (len(l.host) > 0 || !isHost):
		// Apache: %h %{X-Forwarded-For}i. Of a list, the line has only the first address in this field.
		isProxy := isPrivate(first) && isPublic(l.fields[1]) && bytes.IndexByte(l.fields[1], ',') < 0
		if len(clients) > 0 && clients[0].at == 1 && !isProxy {
			l.fields[1] = l.fields[0]
		}
		l.fields[0] = nil
	case alone:
		l.fields[0] = first
		return true
	}
	return false
}

// present returns text, or nil if it is empty or "-", which mean that a value is absent.
func present(text []byte) []byte {
	if len(text) == 0 || string(text) == "-" {
		return nil
	}
	return text
}
