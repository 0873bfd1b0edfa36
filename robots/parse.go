package robots

import (
	"slices"
	"strings"
)

// MaxBytes is the number of bytes of a robots.txt that are read, including a byte order mark: the 500 KiB of RFC 9309
// section 2.5.
const MaxBytes = 500 << 10

// Parse reads a robots.txt in a dialect. It never fails: lines that are not rules are skipped. It reads the first
// [MaxBytes] of the body, and discards a line that this limit cuts in two, because half a path would match more than
// the whole one. With the flag openIfTooLarge, a body over MaxBytes has no groups. Parse keeps no reference to body;
// the File shares one copy of it. Time and memory are linear in the length of body.
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
		f.CutLine = l.num // of the empty line that wholeLines left in its place
	}
	f.Groups = p.groups()
	return f
}

// wholeLines returns the lines that are read: those that are complete within MaxBytes. A line may end right after it.
// The result shares the memory of body.
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
	open    bool           // there was a user-agent line, so that rules belong to a group
	closed  bool           // the last group has a rule, so that the next user-agent line starts another
}

// A start is the position where a group begins in the parser's agents and rules.
type start struct {
	agent, rule int
	star        bool
	line        int32
}

// line adds the contents of a line to the groups. Lines that belong to no group are ignored.
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

// userAgent adds the name of a user-agent line to the current group. It first begins a new group, unless only
// user-agent lines precede this one in its group.
func (p *parser) userAgent(value string, line int32) {
	if p.closed || !p.open {
		p.starts = append(p.starts, start{agent: len(p.agents), rule: len(p.rules), line: line})
		p.open, p.closed = true, false
	}
	if token, star := p.dialect.parseUserAgent(value); star {
		p.starts[len(p.starts)-1].star = true
	} else if token != "" {
		p.agents = append(p.agents, token)
	}
}

// rule adds a rule to the current group and closes it. A rule without an effect is not added, but closes the group.
// Rules before the first group are ignored.
func (p *parser) rule(l *line) {
	if !p.open {
		return
	}
	p.closed = true
	allow, pattern := p.dialect.parseRule(l)
	if pattern == "" {
		return
	}
	if p.rules == nil {
		// A cheap estimate, seldom too small: nearly every rule has a colon, and no line with a rule is shorter than
		// "allow:/" and its end. With it, real files are read at 430 MB/s instead of 375 (BenchmarkParse).
		p.rules = make([]Rule, 0, min(strings.Count(p.text, ":"), len(p.text)/len("allow:/\n"))+1)
	}
	p.rules = append(p.rules, Rule{Allow: allow, Line: l.num, Value: l.value, Pattern: pattern})
}

// parseRule returns the effect of an allow or disallow line, and its pattern in normal form: "" if the line has no
// effect. A line without a value may have the opposite effect of its key.
func (d Dialect) parseRule(l *line) (allow bool, pattern string) {
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

// PatternOf returns the Pattern of a rule with this Value. The rule must have an effect in the dialect.
func (d Dialect) PatternOf(value string) string {
	switch {
	case value == "":
		return "/"
	case value[0] != '/' && value[0] != '*' && d.Has(assumedSlash):
		return d.normalPattern("/" + value)
	}
	return d.normalPattern(value)
}

// groups cuts the collected agents and rules into groups, which share the memory of the parser. It returns nil if
// there are none.
func (p *parser) groups() []Group {
	if len(p.starts) == 0 {
		return nil
	}
	if cap(p.rules) > 2*len(p.rules) { // the estimate was far too high
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

// A kind is the kind of a line of robots.txt, by its key.
type kind uint8

const (
	kindOther kind = iota // unknown, or no directive at all
	kindUserAgent
	kindAllow
	kindDisallow
	kindSitemap
	kindCrawlDelay
	kindHost
	kindCleanParam
)

// A line is one line of robots.txt, taken apart. Its strings share the memory of the file.
type line struct {
	num       int32 // 1-based; CR LF ends one line, a lone CR or LF each another
	kind      kind
	directive bool   // it has a key and a value
	typo      bool   // the key is a tolerated misspelling
	noColon   bool   // white space replaces the colon
	comment   bool   // it has a comment
	tooLong   bool   // it is longer than the line limit, and the rest was dropped
	blank     bool   // it has nothing but white space and maybe a comment
	key       string // trimmed
	value     string // trimmed
}

// maxLine is the number of bytes of a line that are read with lineLimit: google/robotstxt reads into a buffer of 8
// times 2,083 bytes (the longest URL of old browsers), less one for the final NUL.
const maxLine = 2083*8 - 1

// A scanner splits a robots.txt into lines. The file's last line counts even if it is empty, as in
// google/robotstxt.
type scanner struct {
	dialect Dialect
	text    string
	pos     int   // start of the next line; len(text)+1 after the last
	lf, cr  int   // next LF and CR at or after pos, len(text) if there is none
	nul     int   // first NUL of the file, len(text) if there is none
	num     int32 // of the last line read
}

// newScanner returns a scanner before the first line. It skips a byte order mark.
func newScanner(text string, d Dialect) scanner {
	s := scanner{dialect: d, text: text, pos: bomLen(text)}
	s.lf = s.find('\n', s.pos)
	s.cr = s.find('\r', s.pos)
	s.nul = s.find(0, s.pos)
	return s
}

// bomLen returns the length of the UTF-8 byte order mark that text starts with, or of the first bytes of one; 0 if
// there are none.
func bomLen[T string | []byte](text T) int {
	const bom = "\xef\xbb\xbf"
	n := 0
	for n < len(bom) && n < len(text) && text[n] == bom[n] {
		n++
	}
	return n
}

// find returns the index of the first b at or after from, or the length of the text.
func (s *scanner) find(b byte, from int) int {
	if i := strings.IndexByte(s.text[from:], b); i >= 0 {
		return from + i
	}
	return len(s.text)
}

// next reads the next line into l, and reports whether there was one. The strings of l share the memory of the text.
func (s *scanner) next(l *line) bool {
	if s.pos > len(s.text) {
		return false
	}
	begin, end := s.pos, min(s.lf, s.cr)
	s.skipLineEnd(end)
	s.num++
	*l = line{num: s.num}
	raw := s.text[begin:end]
	if len(raw) > maxLine && s.dialect.Has(lineLimit) {
		raw, l.tooLong = raw[:maxLine], true
	}
	if s.nul < end {
		raw, _, _ = strings.Cut(raw, "\x00") // parsers written in C do not see the rest
	}
	s.dialect.splitLine(l, raw)
	return true
}

// skipLineEnd moves behind the line end at the given position. It searches for the next LF or CR only when it has
// passed the last one found, so a file without any CR is searched for it once.
func (s *scanner) skipLineEnd(end int) {
	s.pos = end + 1
	if end == s.cr && s.lf == end+1 && s.lf < len(s.text) {
		s.pos++
	}
	if s.pos > len(s.text) {
		return
	}
	if s.lf < s.pos {
		s.lf = s.find('\n', s.pos)
	}
	if s.cr < s.pos {
		s.cr = s.find('\r', s.pos)
	}
}

// splitLine sets key, value, kind and flags of l from the text of one line (RFC 9309 section 2.2). l must be zero,
// except for num and tooLong. Its strings share the memory of raw.
func (d Dialect) splitLine(l *line, raw string) {
	if i := strings.IndexByte(raw, '#'); i >= 0 {
		raw, l.comment = raw[:i], true
	}
	raw = trimSpace(raw)
	if raw == "" {
		l.blank = true
		return
	}
	sep := strings.IndexByte(raw, ':')
	if sep < 0 {
		if !d.Has(missingColon) {
			return
		}
		if sep = singleGap(raw); sep < 0 {
			return
		}
		l.noColon = true
	}
	key := trimSpace(raw[:sep])
	if key == "" {
		return
	}
	l.directive = true
	l.key = key
	l.value = trimSpace(raw[sep+1:])
	l.kind, l.typo = d.kindOf(key)
}

// singleGap returns the start of the only run of spaces and tabs in a trimmed line, or -1 unless there is exactly one.
func singleGap(s string) int {
	const gap = " \t"
	i := strings.IndexAny(s, gap)
	if i < 0 || strings.ContainsAny(strings.TrimLeft(s[i:], gap), gap) {
		return -1
	}
	return i
}

// trimSpace removes the characters of space at both ends.
func trimSpace(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// space holds the characters that count as white space.
const space = " \t\v\f"

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\v' || b == '\f' }

func isLineEnd(b byte) bool { return b == '\n' || b == '\r' }

// A File is a parsed robots.txt. It is immutable once parsed and safe for concurrent use.
type File struct {
	Groups    []Group // in order of appearance
	Truncated bool    // the body was longer than [MaxBytes], and the rest was not read
	CutLine   int32   // 1-based line that this limit cut in two, and that was discarded; 0 if none
}

// A Group holds consecutive user-agent lines and the rules that follow them (RFC 9309 section 2.1).
type Group struct {
	Agents []ProductToken // the product tokens named, as written, cut to token characters; empty ones are omitted
	Star   bool           // one of the user-agent lines is "*"
	Rules  []Rule         // in order of appearance; those that have no effect in the dialect are omitted
	Line   int32          // 1-based, of its first user-agent line
}

// Names reports whether a user-agent line of the group names the token. The empty token is never
// named.
func (g *Group) Names(t ProductToken) bool {
	return slices.ContainsFunc(g.Agents, t.Equal)
}

// A Rule is one allow or disallow line (RFC 9309 section 2.2.2).
type Rule struct {
	Allow   bool   // whether the paths that it decides may be fetched
	Line    int32  // 1-based
	Value   string // the value as written, after the comment is cut and white space trimmed; see String for ""
	Pattern string // Value in the normal form of the dialect: it is matched, and its length is the priority; see ReadablePattern
}

// String returns the rule as in the output column "rule": "Allow: /p" or "Disallow: /p". A rule without a value has
// the opposite effect of its key (see emptyRules): "Disallow: " allows.
func (r Rule) String() string {
	if r.Allow != (r.Value == "") {
		return "Allow: " + r.Value
	}
	return "Disallow: " + r.Value
}

// Select returns the rules for the agent, in file order: the rules of all groups that name its token, or else the
// rules of the first of its fallbacks that a group names, or else the rules of all groups for "*" (RFC 9309 section
// 2.2.1). ok is false if there is no such group. A group without rules allows everything, and ok is true. The rules
// may share memory with f: the caller must not change them.
func (f *File) Select(a Agent) (rules []Rule, ok bool) {
	groups := f.Binding(a)
	for _, i := range groups {
		if len(rules) == 0 {
			rules = slices.Clip(f.Groups[i].Rules)
		} else {
			rules = append(rules, f.Groups[i].Rules...)
		}
	}
	return rules, len(groups) > 0
}

// Binding returns the ascending indices of the groups whose rules [File.Select] merges for the agent; nil if no group
// binds it.
func (f *File) Binding(a Agent) (groups []int) {
	binds := f.binds(a)
	for i, g := range f.Groups {
		if binds(g) {
			groups = append(groups, i)
		}
	}
	return groups
}

// binds returns a function that reports whether a group binds the agent. These are the groups that name the
// first of its tokens that any group names, or else those for "*", unless the agent ignores them.
func (f *File) binds(a Agent) func(Group) bool {
	for _, t := range append([]ProductToken{a.Token}, a.Fallbacks...) {
		named := func(g Group) bool { return g.Names(t) }
		if slices.ContainsFunc(f.Groups, named) {
			return named
		}
	}
	return func(g Group) bool { return g.Star && !a.IgnoresStar }
}
