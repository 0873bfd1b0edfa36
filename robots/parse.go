package robots

import (
	"slices"
	"strings"
)

// MaxBytes is the number of bytes of a robots.txt that are read, including a byte order mark: the 500 KiB of RFC 9309
// section 2.5.
const MaxBytes = 500 << 10

// Parse reads a robots.txt as the dialect does. It never fails: lines that are not rules are skipped. It reads the
// first [MaxBytes] of the body; a line that this limit cuts in two is discarded, as half a path would match more than
// the whole one. With the flag openIfTooLarge a body over MaxBytes has no groups. Parse keeps no reference to body; the
// File shares one copy of it. Time and memory are linear in the length of body.
func Parse(body []byte, d Dialect) *File {
	f := &File{Truncated: len(body) > MaxBytes}
	if f.Truncated && d.Has(openIfTooLarge) {
		return f
	}
	text := string(wholeLines(body))
	p := parser{dialect: d, text: text}
	lines := newScanner(text, d)
	var l line
	for lines.next(&l) {
		p.line(&l)
	}
	if f.Truncated && len(text) < MaxBytes {
		f.CutLine = l.num // the empty rest after the last whole line stands for the discarded one
	}
	f.Groups = p.groups()
	return f
}

// wholeLines returns the lines that are read: all of them, or those that fit MaxBytes whole. A line whose end is right
// after the limit fits.
func wholeLines(body []byte) []byte {
	if len(body) <= MaxBytes {
		return body
	}
	n := MaxBytes
	for n > 0 && !isLineEnd(body[n-1]) && (n < MaxBytes || !isLineEnd(body[n])) {
		n--
	}
	return body[:n]
}

// A parser collects the groups of a file line by line (RFC 9309 section 2.1, and the state machine
// of google/robotstxt, which agrees): a run of user-agent lines, interrupted by anything but a
// rule, starts a group.
type parser struct {
	dialect Dialect
	text    string         // the whole file
	starts  []start        // one for each group
	agents  []ProductToken // of all groups
	rules   []Rule         // of all groups
	open    bool           // there is a group that rules belong to
	closed  bool           // the last group has seen a rule, so that the next user-agent line starts another
}

// A start is where a group begins in the parser's agents and rules.
type start struct {
	agent, rule int
	star        bool
	line        int32
}

// line reads a line of a robots.txt.
func (p *parser) line(l *line) {
	switch l.kind {
	case kindUserAgent:
		p.userAgent(l.value, l.num)
	case kindAllow, kindDisallow:
		p.rule(l)
	case kindCrawlDelay:
		p.closed = p.closed || p.dialect.Has(delayInSection)
	case kindOther, kindSitemap, kindHost, kindCleanParam: // no part of any group
	}
}

// userAgent reads a user-agent line, which begins a group unless another one stands before it.
func (p *parser) userAgent(value string, line int32) {
	if p.closed || !p.open {
		p.starts = append(p.starts, start{agent: len(p.agents), rule: len(p.rules), line: line})
		p.open, p.closed = true, false
	}
	if token, star := p.dialect.named(value); star {
		p.starts[len(p.starts)-1].star = true
	} else if token != "" {
		p.agents = append(p.agents, token)
	}
}

// rule adds a rule to the current group and closes it. Rules before the first group are ignored.
func (p *parser) rule(l *line) {
	if !p.open {
		return
	}
	p.closed = true
	allow, pattern := p.dialect.meaning(l)
	if pattern == "" {
		return
	}
	if p.rules == nil {
		p.rules = make([]Rule, 0, p.maxRules())
	}
	p.rules = append(p.rules, Rule{Allow: allow, Line: l.num, Value: l.value, Pattern: pattern})
}

// meaning returns the meaning of an allow or disallow line, and its pattern, which is empty if the line
// has no effect.
func (d Dialect) meaning(l *line) (allow bool, pattern string) {
	allow = l.kind == kindAllow
	switch {
	case l.value == "" && (!d.Has(emptyRules) || allow && d.Has(EmptyAllowIgnored)):
		return allow, ""
	case l.value == "":
		return !allow, d.PatternOf(l.value)
	case l.value[0] != '/' && l.value[0] != '*' && d.Has(rootedOnly):
		return allow, ""
	}
	return allow, d.PatternOf(l.value)
}

// PatternOf returns the Pattern of a rule that has an effect, by its Value.
func (d Dialect) PatternOf(value string) string {
	switch {
	case value == "":
		return "/"
	case value[0] != '/' && value[0] != '*' && d.Has(assumedSlash):
		return d.pattern("/" + value)
	}
	return d.pattern(value)
}

// maxRules returns a cheap estimate of how many rules there are, seldom too small. Each has a
// colon, mostly, and no line with a rule is shorter than "allow:/" and its end. Real files are read
// at 430 MB/s with it, at 375 without (BenchmarkParse).
func (p *parser) maxRules() int {
	return min(strings.Count(p.text, ":"), len(p.text)/len("allow:/\n")) + 1
}

// groups cuts the collected agents and rules into groups.
func (p *parser) groups() []Group {
	if len(p.starts) == 0 {
		return nil
	}
	if cap(p.rules) > 2*len(p.rules) { // nothing like the estimate
		p.rules = slices.Clone(p.rules)
	}
	groups := make([]Group, len(p.starts))
	agents, rules := len(p.agents), len(p.rules)
	for i := len(p.starts) - 1; i >= 0; i-- {
		s := p.starts[i]
		groups[i] = Group{
			Agents: p.agents[s.agent:agents:agents],
			Star:   s.star,
			Rules:  p.rules[s.rule:rules:rules],
			Line:   s.line,
		}
		agents, rules = s.agent, s.rule
	}
	return groups
}
