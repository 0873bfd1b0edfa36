package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/crawlers"
)

// A Report holds the contents of a robots.txt and the mistakes in it. It is immutable and safe for concurrent use.
type Report struct {
	File        *File // its rules, as [Parse] reads them
	Odd         Oddity
	Delays      []DelayGroup
	Sitemaps    []Sitemap
	Hosts       []Host
	CleanParams CleanParams
	Preferences *Preferences // nil if no line states any
	Diagnostics []Diagnostic // sorted by line; [Report.About] adds those that depend on the origin

	dialect Dialect
	open    []indexer // search engines that may fetch pages
}

// Inspect reads a robots.txt like [Parse]. In every dialect, it also reads the directives that do not affect access:
// Crawl-delay, Sitemap, Host, Clean-param, preferences and licenses. It never fails, and keeps no reference to body. It
// takes several times as long as Parse; except for sorting, time and memory are linear in the length of body.
func Inspect(body []byte, d Dialect) *Report {
	r := &Report{File: Parse(body, d), dialect: d}
	r.Odd = OddityOf(body, r.File)
	text := string(wholeLines(body))
	in := inspector{dialect: d, report: r, skipped: markLen(text), lines: map[string]int32{}, typos: map[string]string{}}
	in.start(text)
	s := newScanner(text, d)
	var l line
	for {
		begin, end := s.pos, min(s.lf, s.cr)
		if !s.next(&l) {
			break
		}
		if l.num == 1 {
			begin = in.skipped
		}
		in.line(&l, text[begin:end])
	}
	if r.Odd == OddText && !slices.ContainsFunc(r.Diagnostics, func(d Diagnostic) bool { return d.Code == codeGarbled || d.Code == codeJoinedLines }) {
		in.note(1, codeNoRobots, "the file has no directives, so crawlers may fetch everything")
	}
	in.endDelayGroup(true)
	in.size(len(text) < min(len(body), MaxBytes), l.num)
	in.groups()
	in.inherit()
	in.noteBlockedAssets()
	in.noteUselessRules()
	in.checkPreferences(body)
	slices.SortStableFunc(r.Diagnostics, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return r
}

// An inspector makes a Report.
type inspector struct {
	dialect Dialect
	report  *Report

	skipped     int   // bytes of a byte order mark
	open        bool  // there was a user-agent line, as in parser
	closed      bool  // the last delay group has a rule or a Crawl-delay, so that the next user-agent line starts another
	ruled       bool  // the last delay group has a rule
	delayAt     int32 // line of its last Crawl-delay
	delayOnly   []int // indices of the diagnostics of the preceding delay groups without rules
	blank       bool  // there was an empty line in this section, and no rule since
	early       int32 // line of the first Crawl-delay or Host of this section before any rule; 0 if there is none
	parted      bool  // there was an empty line, and no directive since
	count       int   // rules with an effect so far
	noindexed   noindexed
	host        bool              // there was a valid host line
	misread     bool              // people see another value in this line than the one that is read
	preferences bool              // there was a line of preferences
	stars       []int32           // the user-agent lines with "*"
	lines       map[string]int32  // the first user-agent line of each other name, in lower case
	typos       map[string]string // by name in lower case: the known crawler that may be meant, or ""
}

// note appends a diagnostic to the report. format and args are those of [fmt.Sprintf].
func (in *inspector) note(line int32, c Code, format string, args ...any) {
	in.report.Diagnostics = append(in.report.Diagnostics, Diagnostic{Line: line, Code: c, Text: fmt.Sprintf(format, args...)})
}

// start notes a byte order mark, of UTF-8 or UTF-16, and a start that looks like HTML. text is the whole file.
func (in *inspector) start(text string) {
	switch {
	case in.skipped > 0:
		in.note(1, codeBOM, "the file starts with a byte order mark, which is skipped")
	case isUTF16(text):
		in.note(1, codeUTF16, "the file is UTF-16, which is not decoded: save it as UTF-8")
	}
	if page := pageStart(text); page >= 0 {
		skipped := text[:page]
		lines := strings.Count(skipped, "\n") + strings.Count(skipped, "\r") - strings.Count(skipped, "\r\n")
		in.note(int32(lines)+1, codeHTML, "the file looks like HTML; only lines with directives are read")
	}
}

// size notes the effect of [MaxBytes], if the file is larger. line is the last line that was read; if cut is
// set, the limit cuts that line in two.
func (in *inspector) size(cut bool, line int32) {
	switch {
	case !in.report.File.Truncated:
		return
	case in.dialect.Has(openIfTooLarge):
		in.note(line, codeTooLarge, "the file is larger than %d bytes, so its rules do not count", MaxBytes)
	default:
		in.note(line, codeTooLarge, "the file is larger than %d bytes; the rest after this line is not read", MaxBytes)
	}
	if cut {
		in.note(line, codeCutLine, "the size limit cuts this line in two; it is not read")
	}
}

// The limits of Yandex's documentation: characters of a rule, and rules.
const (
	yandexRuleLength = 1024
	yandexRules      = 2048
)

// isConflict reports whether a line is a conflict marker of Git and other tools: a character seven times, then a space
// or the end of the line.
func isConflict(raw string) bool {
	const size = 7
	if len(raw) < size || strings.IndexByte("<=>|", raw[0]) < 0 || strings.Trim(raw[:size], raw[:1]) != "" {
		return false
	}
	return strings.TrimRight(raw[size:], "\r\n") == "" || raw[size] == ' '
}

// line notes everything that is wrong with one line, and updates the state for the lines after it. raw is the line
// as written. Nothing else is noted about a conflict marker, or about a line without effect that people see as a
// directive (see noteMisread).
func (in *inspector) line(l *line, raw string) {
	in.bytes(l, raw)
	switch {
	case isConflict(raw):
		in.note(l.num, codeConflict, "this line marks a merge conflict: both sides' rules may be present")
	case l.blank && !l.comment:
		in.blank, in.parted = true, true
	case l.blank:
	case !l.directive:
		if in.noteMisread(l, raw) {
			return
		}
		in.note(l.num, codeNoDirective, "not a directive: key and colon are missing")
	default:
		if in.misread = in.noteMisread(l, raw); in.misread && l.kind == kindOther {
			return
		}
		in.key(l)
		in.comment(l, raw)
		in.directive(l)
		in.parted = false
	}
}

// bytes notes NUL bytes and invalid UTF-8 in a line, and a length above a limit of the dialect. raw is the line as
// written.
func (in *inspector) bytes(l *line, raw string) {
	if strings.IndexByte(raw, 0) >= 0 {
		in.note(l.num, codeNUL, "a NUL byte; the rest of this line is not read")
	}
	if !utf8.ValidString(raw) {
		in.note(l.num, codeNotUTF8, "not UTF-8; each byte beyond ASCII is compared as %%XX")
	}
	rule := l.kind == kindAllow || l.kind == kindDisallow
	switch {
	case l.tooLong:
		in.note(l.num, codeLineTooLong, "longer than %d bytes; the rest is not read", maxLine)
	case in.dialect.Has(sectionLimits) && rule && utf8.RuneCountInString(l.value) > yandexRuleLength:
		in.note(l.num, codeLineTooLong, "longer than the permitted %d characters; it is read nevertheless", yandexRuleLength)
	}
}

// comment looks for a rule in which a "#" was probably not meant to begin a comment: neither a blank nor another
// "#" follows it, and it follows the value directly, or begins it. raw is the line as written.
func (in *inspector) comment(l *line, raw string) {
	if !l.comment || l.kind != kindAllow && l.kind != kindDisallow {
		return
	}
	before, comment, _ := strings.Cut(raw, "#")
	allow, pattern := in.dialect.parseRule(l)
	switch {
	case comment != "" && (isSpace(comment[0]) || comment[0] == '#'): // a comment as people write it
	case l.value == "" && comment != "":
		effect := "has no effect"
		if pattern != "" {
			effect = map[bool]string{true: "allows everything", false: "forbids everything"}[allow]
		}
		in.note(l.num, codeCommented, "# begins a comment, so the rule has no value and %s; write %%23 for a # in a path", effect)
	case l.value == "", isSpace(before[len(before)-1]):
	default:
		code, effect := codeCutRule, ""
		if everything := shapeOf(pattern); !allow && everything.key() == "/*" {
			code, effect = codeCutClosing, " and disallows everything"
		}
		in.note(l.num, code, "# begins a comment, so the rule is %s%s; write %%23 for a # in a path", quoteRule(&Rule{Allow: allow, Value: l.value}), effect)
	}
}

// directive checks the value of a line with a key, and adds the line to the report if it is a Crawl-delay,
// Sitemap, Host or Clean-param.
func (in *inspector) directive(l *line) {
	r := in.report
	switch l.kind {
	case kindUserAgent:
		in.userAgent(l)
	case kindAllow, kindDisallow:
		in.rule(l)
	case kindCrawlDelay:
		seconds, ok := parseDelay(l.value)
		if !ok {
			in.note(l.num, codeBadDelay, "not a number of seconds, so it sets no delay")
		}
		if !in.open {
			in.noteNoGroup(l)
			return
		}
		in.closed, in.delayAt = true, l.num
		in.recordEarlyLine(l)
		if g := &r.Delays[len(r.Delays)-1]; ok && g.Line == 0 {
			g.Line, g.Seconds = l.num, seconds
		}
	case kindSitemap:
		r.Sitemaps = append(r.Sitemaps, Sitemap{l.num, l.value})
		u, err := SplitURL([]byte(l.value))
		if err == nil {
			_, err = AppendOrigin(nil, u) // its host and port
		}
		if err != nil {
			in.note(l.num, codeBadSitemap, "not an absolute URL: %v", err)
		}
	case kindHost:
		valid := validHost(l.value)
		r.Hosts = append(r.Hosts, Host{l.num, l.value, valid})
		if !valid {
			in.note(l.num, codeBadHost, "not a domain name; the line is ignored")
		} else if in.host {
			in.note(l.num, codeExtraHost, "not the first Host; the line is ignored")
		}
		in.host = in.host || valid
		in.recordEarlyLine(l)
	case kindCleanParam:
		c, ok := in.dialect.parseCleanParam(l.value)
		if !ok {
			in.note(l.num, codeBadCleanParam, "not parameters joined by & with an optional path, of at most %d bytes; the line is ignored", maxCleanParam)
			return
		}
		c.Line = l.num
		r.CleanParams = append(r.CleanParams, c)
	case kindOther:
		in.checkExtension(l)
	}
}

// userAgent checks a user-agent line, and adds its name to the current delay group. It first starts a new delay
// group if the last one is closed, or if there is none.
func (in *inspector) userAgent(l *line) {
	if in.closed || !in.open {
		if in.closed && !in.parted && in.dialect.Has(sectionLimits) {
			in.note(l.num, codeJoinedSections, "an empty line should separate it from the previous section")
		}
		in.endDelayGroup(false)
		in.report.Delays = append(in.report.Delays, DelayGroup{})
		in.open, in.closed, in.ruled, in.early = true, false, false, 0
	}
	in.blank = false
	g := &in.report.Delays[len(in.report.Delays)-1]
	token, star := in.dialect.parseUserAgent(l.value)
	switch {
	case star:
		g.Star = true
		in.stars = append(in.stars, l.num)
	case token == "" && in.dialect.Has(wholeNames) && strings.ContainsAny(l.value, space):
		in.note(l.num, codeAgentSpace, "names no crawler: a name has no spaces")
	case token == "":
		in.note(l.num, codeAgentNever, "%q is not a valid name, so it names no crawler: a name starts with %s", l.value, in.nameBytes())
	default:
		g.Agents = append(g.Agents, token)
		if name := strings.ToLower(string(token)); in.lines[name] == 0 {
			in.lines[name] = l.num
		}
		in.known(l.num, token)
		switch rest := l.value[len(token):]; {
		case in.isNameList(rest):
			in.note(l.num, codeAgentList, "read as %q: every name needs a line of its own", string(token))
		case nextName(rest) != "":
			in.note(l.num, codeAgentSpace, "read as %q: a name ends at the first space", string(token))
		case rest != "":
			in.note(l.num, codeAgentCut, "read as %q: a name contains only %s", string(token), in.nameBytes())
		}
	}
}

// nameBytes describes the bytes that the name of a crawler may contain.
func (in *inspector) nameBytes() string {
	if in.dialect.Has(WideTokens) {
		return "letters, digits, -, _ and ."
	}
	return "letters, - and _ (digits and dots are an option)"
}

// nextName returns the text after a separator (blanks, commas, semicolons, bars) if it starts like another name; ""
// otherwise. rest is the text after the first name of a user-agent line.
func nextName(rest string) string {
	next := strings.TrimLeft(rest, " \t,;|")
	if next == rest || next == "" || !isLetter(next[0]) && next[0] != '_' {
		return ""
	}
	return next
}

// isNameList reports whether the text after the first name of a user-agent line names another crawler: any name after a
// comma, semicolon or bar, as in "Googlebot, Foobot"; after only blanks, a known name or a policy token, as in
// "Googlebot Bingbot".
func (in *inspector) isNameList(rest string) bool {
	next := nextName(rest)
	if next == "" {
		return false
	}
	if strings.ContainsAny(rest[:len(rest)-len(next)], ",;|") {
		return true
	}
	_, known := crawlers.Lookup(string(in.dialect.token(next)))
	return known || ProductToken(next).IsPolicy()
}

// noteNoGroup notes a line that belongs to no group.
func (in *inspector) noteNoGroup(l *line) {
	in.note(l.num, codeNoGroup, "no user-agent line precedes it, so it is ignored")
}

// recordEarlyLine records a Crawl-delay or Host that precedes all rules of its section. rule notes it if a rule
// follows.
func (in *inspector) recordEarlyLine(l *line) {
	if in.open && !in.ruled && in.early == 0 {
		in.early = l.num
	}
}

// endDelayGroup ends the current delay group, and notes it if it has a Crawl-delay but no rule. last means that the
// file ends here. Otherwise the text assumes that a rule follows in a later group; if none does, it is corrected at the
// end of the file.
func (in *inspector) endDelayGroup(last bool) {
	const free = "the group has a Crawl-delay but no rule: its crawlers may fetch everything"
	switch {
	case in.ruled:
		in.delayOnly = nil
	case last: // no rule follows the preceding groups either
		for _, i := range in.delayOnly {
			in.report.Diagnostics[i].Text = free
		}
	}
	switch {
	case !in.closed || in.ruled:
	case last || in.dialect.Has(delayInSection):
		in.note(in.delayAt, codeDelayOnly, free)
	default:
		in.delayOnly = append(in.delayOnly, len(in.report.Diagnostics)) // a rule may still follow
		in.note(in.delayAt, codeDelayOnly, "the group has a Crawl-delay but no rule: the next group's rules also apply to its crawlers")
	}
	in.closed = false
}

// rule checks an allow or disallow line and its place in its group. It also notes an earlier line that should
// follow the rules of its section, see recordEarlyLine. A rule outside any group is noted, and not checked further.
func (in *inspector) rule(l *line) {
	if !in.open {
		in.noteNoGroup(l)
		return
	}
	if in.early > 0 && in.dialect.Has(sectionLimits) {
		in.note(in.early, codeBeforeRules, "it precedes the rules of its section; other crawlers may expect it after them")
	}
	in.closed, in.ruled, in.early = true, true, 0
	if in.dialect.Has(sectionLimits) && in.blank {
		in.note(l.num, codeBlankInSection, "an empty line separates it from its section")
		in.blank = false
	}
	_, pattern := in.dialect.parseRule(l)
	if pattern != "" {
		if in.count++; in.dialect.Has(sectionLimits) && in.count == yandexRules+1 {
			in.note(l.num, codeTooManyRules, "more than the permitted %d rules; they are read nevertheless", yandexRules)
		}
	}
	switch {
	case l.value == "" && l.kind == kindAllow:
		in.note(l.num, codeEmptyAllow, "an Allow without a value %s", map[bool]string{true: "has no effect", false: "forbids everything"}[pattern == ""])
	case schemeLen([]byte(l.value)) > 0:
		in.note(l.num, codeFullURL, "%s", in.fullURL(l.value))
	case trimInvisible(l.value) != "" && !in.misread && l.value[0] != '/' && l.value[0] != '*':
		in.note(l.num, codeNoSlash, "%s%s", in.describeNoSlash(), meantRule(l.value))
	}
	if i := strings.IndexByte(l.value, '$'); i >= 0 && i < len(l.value)-1 {
		in.note(l.num, codeMiddleDollar, "$ means the end of a URL only at the end of a rule; here it is a literal $")
	}
	if strings.ContainsAny(l.value, " \t") && !in.dialect.Has(fullEscapes) && !in.misread {
		text := "URLs have %20 instead of a space, so it matches nothing: write %20"
		if isPathList(l.value) {
			text = "several paths in one rule, which matches none of them: write one line for each"
		}
		in.note(l.num, codeSpace, "%s", text)
	}
	if escape, plain := needlessEscape(l.value); plain != 0 && !in.dialect.Has(fullEscapes) {
		in.note(l.num, codeEscape, "rules and URLs are compared as written, and nearly all URLs have %c instead of %s: write %c", plain, escape, plain)
	}
}

// isPathList reports whether a value consists of at least two paths that each start with "/" or "*", separated by white
// space, commas, semicolons or bars.
func isPathList(value string) bool {
	paths := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(space+",;|", r) })
	return len(paths) > 1 && !slices.ContainsFunc(paths, func(path string) bool { return path[0] != '/' && path[0] != '*' })
}

// meantRule returns a hint for a rule that starts with neither "/" nor "*", if it is in quotation marks or seems to be
// a regular expression; "" otherwise.
func meantRule(value string) string {
	bare := strings.Trim(value, "\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb")
	switch {
	case bare != value && (strings.HasPrefix(bare, "/") || strings.HasPrefix(bare, "*")):
		return "; without the quotation marks it is " + shorten(bare)
	case strings.ContainsAny(value, `^(\[`) || strings.Contains(value, ".*"):
		return "; regular expressions are not supported: * matches any text, and $ the end"
	}
	return ""
}

// needlessEscape returns the first escape (%XX) of an unreserved character (RFC 3986 section 2.3), and that character;
// "" and 0 if there is none.
func needlessEscape(text string) (escape string, plain byte) {
	for i := 0; i+2 < len(text); i++ {
		if text[i] != '%' {
			continue
		}
		n, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
		if c := byte(n); err == nil && (isLetter(c) || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0) {
			return text[i : i+3], c
		}
	}
	return "", 0
}

// fullURL returns the text about a rule that is a URL: its effect, its path and its site. It names the site
// because the URL may belong to another one, and then its path is not what the author means.
func (in *inspector) fullURL(value string) string {
	u, err := SplitURL([]byte(value))
	if err != nil {
		return in.describeNoSlash()
	}
	path := string(u.Path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return in.describeNoSlash() + "; it would mean " + shorten(path) + " of the site " + shorten(string(u.Host))
}

// describeNoSlash describes the effect of a rule that starts with neither "/" nor "*".
func (in *inspector) describeNoSlash() string {
	switch {
	case in.dialect.Has(assumedSlash):
		return "read as if it started with /"
	case in.dialect.Has(rootedOnly):
		return "a rule starts with / or *; it is ignored"
	}
	return "it does not start with /, so it matches nothing"
}

// unused are keys without effect that google/robotstxt or a draft defines, in lower case.
var unused = map[string]bool{
	"content-signal": true, "content-usage": true, "domain": true, "license": true, "noarchive": true, "nofollow": true, "noindex": true,
	"request-rate": true, "revisit-after": true, "visit-time": true,
}

// key checks how the key of a line is written, and whether it has an effect in the dialect. An unknown key gets
// the nearest known one as a suggestion, and a grave diagnostic if the line seems to be a misspelled rule or user-agent
// line.
func (in *inspector) key(l *line) {
	switch {
	case l.noColon && isPreferenceKey(l.key):
		in.note(l.num, codeNoColon, "the colon after the key is missing, so the line has no effect")
	case l.noColon:
		in.note(l.num, codeNoColon, "the colon after the key is missing; the line is read nevertheless")
	}
	switch l.kind {
	case kindCrawlDelay, kindHost, kindCleanParam:
		if !in.dialect.Has(delayInSection) {
			in.note(l.num, codeUnused, "%q has no effect in this dialect", l.key)
		}
	case kindOther:
		kind, typo := typoKeys.kindOf(l.key)
		switch {
		case isPreferenceKey(l.key) && !l.noColon:
			in.note(l.num, codeUnused, "%q changes no verdict: it states what may be done with pages (a draft)", l.key)
		case strings.EqualFold(l.key, "noindex") && in.isNoindexOpen(l):
			in.note(l.num, codeNoindexOpen, "no large search engine reads Noindex, and no rule disallows %s", shorten(l.value))
		case unused[strings.ToLower(l.key)]:
			in.note(l.num, codeUnused, "%q has no effect in this dialect", l.key)
		case typo:
			in.note(l.num, codeTypo, "%q is not read as %s; the line is ignored", l.key, keyName(kind))
		default:
			text := "the line is ignored"
			name := nearestKey(l.key)
			switch first := l.key[0]; {
			case first < 0x80 && !isLetter(first): // such as // or ;, which begin comments in other languages
				name, text = "", "the line is ignored; only # begins a comment"
			case name != "":
				text += "; did you mean " + name + "?"
			}
			in.note(l.num, codeUnknown, "%q is an unknown key; %s", l.key, text)
			in.report.Diagnostics[len(in.report.Diagnostics)-1].Grave = isRuleSlip(strings.ToLower(l.key), name, l.value)
		}
	case kindUserAgent, kindAllow, kindDisallow, kindSitemap:
		name := keyName(l.kind)
		if l.typo {
			in.note(l.num, codeTypo, "%q is read as %s", l.key, name)
		} else if len(l.key) != len(name) {
			in.note(l.num, codeLooseKey, "%q is read as %s, because it begins with it", l.key, name)
		}
	}
}

// preferenceKeys are the keys of preferences.
var preferenceKeys = []Directive{UsageLines, SignalLines, LicenseLines}

// isPreferenceKey reports whether a key states preferences. Case is ignored.
func isPreferenceKey(key string) bool {
	return slices.Contains(preferenceKeys, Directive(strings.ToLower(key)))
}

// isRuleSlip reports whether an unknown key is a typo of "user-agent", "disallow" or "allow". key is in lower case, and
// name is the known key nearest to it. For the last two, the value must be empty or a path. For "allow", only one
// letter may differ, or two be swapped, because there are words that differ in two.
func isRuleSlip(key, name, value string) bool {
	switch path := value == "" || value[0] == '/' || value[0] == '*'; name {
	case "user-agent":
		return true
	case "disallow":
		return path
	case "allow":
		return path && (distance(key, name) == 1 || len(key) == len(name) && isSwap(key, name))
	}
	return false
}

// keyName returns the correct spelling of the key of a kind, in lower case; "" for kindOther.
func keyName(k kind) string {
	for i := range spellings {
		if spellings[i].kind == k {
			return spellings[i].prefix
		}
	}
	return ""
}

// nearestKey returns the known key with the least edit distance from key, ignoring case; "" if there is none within two
// edits. More than two letters of the known key must be right.
func nearestKey(key string) string {
	const most = 2
	best, name := most+1, ""
	try := func(right string) {
		if len(key) > len(right)+most {
			return
		}
		if n := distance(strings.ToLower(key), right); n < best && n < len(right)-most {
			best, name = n, right
		}
	}
	for i := range spellings {
		if !spellings[i].typo {
			try(spellings[i].prefix)
		}
	}
	for _, key := range preferenceKeys {
		try(string(key))
	}
	return name
}

// distance returns the Levenshtein distance of two strings, in bytes: additions, removals and changes, but not swaps,
// cost 1.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // row[j] is the distance of the part of a that was read to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
