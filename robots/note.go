package robots

import (
	"slices"
	"strings"
)

// A Directive is the key, in lower case, of lines other than Allow and Disallow that compiled rules keep, see [Notes].
type Directive string

// The directives.
const (
	CleanParamLines Directive = "clean-param" // see [CleanParams]
	CrawlDelayLines Directive = "crawl-delay" // seconds, as [Report.CrawlDelay] reads them

	// The directives of drafts, see [Preferences].

	UsageLines   Directive = "content-usage"
	SignalLines  Directive = "content-signal"
	LicenseLines Directive = "license"

	// PolicyLines are the rules of the groups for the token __usage_ai-training. They bind all crawlers. The Value of
	// a Note is a rule as written, or "Allow: " and its [Dialect.IndexPattern].
	PolicyLines Directive = "policy-train-ai"
)

// A noteSpec describes how the lines of a directive are read. A new directive needs one.
type noteSpec struct {
	directive Directive
	grouped   bool // a line binds the crawlers of the preceding user-agent lines; otherwise all crawlers
	noColon   bool // dialects that read rules without a colon also read these lines without one
	early     bool // lines before the first group are kept, in no group

	valid func(d Dialect, value string) bool // other lines are ignored; nil if any value is valid
	of    ProductToken                       // the lines are the rules for this token; "" if they are those with the key
	ends  Directive                          // lines of this directive also end a run of user-agent lines; "" means none
}

// noteSpecs are all directives whose lines are kept.
var noteSpecs = []noteSpec{
	{directive: CleanParamLines, noColon: true, valid: func(d Dialect, value string) bool { _, ok := d.parseCleanParam(value); return ok }},
	{directive: CrawlDelayLines, noColon: true, valid: func(_ Dialect, value string) bool { _, ok := parseDelay(value); return ok }, grouped: true},
	{directive: UsageLines, grouped: true, ends: SignalLines},
	{directive: SignalLines, grouped: true, ends: UsageLines, early: true},
	{directive: LicenseLines, valid: validLicense},
	{directive: PolicyLines, of: policyToken},
}

// Directives returns all directives whose lines are kept.
func Directives() (all []Directive) {
	for _, s := range noteSpecs {
		all = append(all, s.directive)
	}
	return all
}

// A Note is one line of a directive.
type Note struct {
	Line  int32  // 1-based
	Value string // as written, after the comment is cut and white space trimmed
	Group int    // index in Notes.Groups; -1 before the first; unused if there are no Groups
}

// Notes are the lines of one directive in a robots.txt, at least one. They are
// immutable and safe for concurrent use.
type Notes struct {
	Directive Directive

	// Groups are the runs of user-agent lines, without rules; none if the directive binds all crawlers. They differ
	// from the groups of the rules: a line of the directive ends a run in every dialect, as an Allow does.
	Groups []Group
	Lines  []Note // in order of appearance
}

// Of returns the notes that bind the agent: the notes of the groups that [File.Binding] returns. An agent with a group
// of its own never inherits from the groups for "*". Notes before the first group bind agents that no other note binds.
func (n *Notes) Of(a Agent) []Note {
	if len(n.Groups) == 0 {
		return n.Lines
	}
	return n.OfGroups((&File{Groups: n.Groups}).Binding(a))
}

// OfGroups returns the notes of the groups with these ascending indices. If the groups have none, it returns the notes
// before the first group.
func (n *Notes) OfGroups(groups []int) (own []Note) {
	for _, note := range n.Lines {
		if _, ok := slices.BinarySearch(groups, note.Group); ok {
			own = append(own, note)
		}
	}
	if len(own) == 0 {
		for _, note := range n.Lines {
			if note.Group < 0 {
				own = append(own, note)
			}
		}
	}
	return own
}

// NotesOf returns the notes of a robots.txt, one Notes for each of the directives with a line, in the order of
// [Directives]; nil if there are none. Nearly all bodies have none of the keys, and are not read line by line. The
// result does not share the memory of body.
func NotesOf(body []byte, d Dialect, directives []Directive) (all []Notes) {
	if len(directives) == 0 {
		return nil
	}
	text := string(wholeLines(body))
	var named uint // a bit for each of the noteSpecs that may have lines in the text
	for s := newScanner(text, d); s.pos <= len(text); {
		begin, end := s.pos, min(s.lf, s.cr)
		s.skipLineEnd(end)
		for begin < end && isSpace(text[begin]) {
			begin++
		}
		if begin == end || lower(text[begin]) != 'c' && lower(text[begin]) != 'l' { // tested by TestNoteInitials
			continue
		}
		for i := range noteSpecs {
			if hasPrefixFold(text[begin:end], string(noteSpecs[i].directive)) {
				named |= 1 << i
			}
		}
	}
	for i, s := range noteSpecs {
		if s.of != "" && strings.Contains(text, "__") {
			named |= 1 << i
		}
		if named&(1<<i) != 0 && slices.Contains(directives, s.directive) {
			if n := s.read(text, d); len(n.Lines) > 0 {
				all = append(all, n)
			}
		}
	}
	return all
}

// read returns the valid lines of the directive in a text, or, with s.of, the rules for that token. The result
// does not share the memory of text.
func (s *noteSpec) read(text string, d Dialect) Notes {
	n := Notes{Directive: s.directive}
	if s.of != "" {
		rules, _ := Parse([]byte(text), d).Select(Agent{Token: s.of, IgnoresStar: true})
		for _, r := range rules {
			n.Lines = append(n.Lines, Note{r.Line, r.String(), -1})
			if index, ok := d.IndexPattern(r); ok {
				n.Lines = append(n.Lines, Note{r.Line, "Allow: " + index, -1})
			}
		}
		return n
	}
	open, closed := false, false // as in parser
	lines := newScanner(text, d)
	var l line
	for lines.next(&l) {
		switch {
		case l.kind == kindUserAgent && s.grouped:
			if closed || !open {
				n.Groups, open, closed = append(n.Groups, Group{Line: l.num}), true, false
			}
			n.Groups[len(n.Groups)-1].addAgent(l.value, d)
		case l.isKey(s.directive) || s.noColon && l.noColon && l.hasKey(s.directive):
			if (open || !s.grouped || s.early && len(n.Groups) == 0) && (s.valid == nil || s.valid(d, l.value)) {
				n.Lines = append(n.Lines, Note{Line: l.num, Value: strings.Clone(l.value), Group: len(n.Groups) - 1})
			}
			closed = true
		case s.ends != "" && l.isKey(s.ends), l.kind == kindAllow, l.kind == kindDisallow, l.kind == kindCrawlDelay && d.Has(delayInSection):
			closed = true
		}
	}
	return n
}

// isKey reports whether a line has this key, in any case, and its colon.
func (l *line) isKey(key Directive) bool { return l.directive && !l.noColon && l.hasKey(key) }

// hasKey reports whether a line has this key, in any case.
func (l *line) hasKey(key Directive) bool {
	return len(l.key) == len(key) && hasPrefixFold(l.key, string(key))
}

// addAgent adds the crawler that the value of a user-agent line names.
func (g *Group) addAgent(value string, d Dialect) {
	if token, star := d.parseUserAgent(value); star {
		g.Star = true
	} else if token != "" {
		g.Agents = append(g.Agents, ProductToken(strings.Clone(string(token))))
	}
}
