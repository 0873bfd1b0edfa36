package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// meantKeys are the keys that other lines are searched for, by their letters.
var meantKeys = map[string]string{
	"useragent": "User-agent", "disallow": "Disallow", "allow": "Allow", "sitemap": "Sitemap", "crawldelay": "Crawl-delay",
}

// parseGarbled returns the directive, such as "Disallow: /a", that a line would be without extra characters around its
// key, such as invisible ones, or with a proper colon; meant is "" if there is no such directive. why is the reason
// that the line is not read as that directive, and fault the offset of the character in raw. A line looks like a
// comment of another language, and is not reported, if its key directly follows "-", "_" or "*", follows several of
// these, or follows a "'" that is not an opening quotation mark.
func parseGarbled(raw string) (meant, why string, fault int) {
	var key strings.Builder
	blank, hyphen := false, false
	signs, off := 0, false // characters before the key that may make the line a comment; whether they do
	because := func(at int, format string, args ...any) { why, fault = fmt.Sprintf(format, args...), at }
	for at, r := range raw {
		ascii := r
		if 0xFF01 <= r && r <= 0xFF5E { // the full-width form of an ASCII character
			ascii -= 0xFEE0
		}
		switch {
		case 'a' <= ascii|0x20 && ascii|0x20 <= 'z':
			if ascii != r {
				because(at, "%q is not an ASCII letter", r)
			} else if blank && why == "" {
				because(at-1, "its key contains a blank")
			}
			key.WriteRune(ascii | 0x20)
			blank = false
		case ascii == '-' || ascii == '_':
			if key.Len() == 0 {
				because(at, "%q precedes its key", r)
				signs, off = signs+1, true
			} else if ascii == '_' {
				because(at, "its key contains an underscore")
			}
			hyphen = true
		case r < 0x80 && isSpace(byte(r)):
			if blank = key.Len() > 0; !blank && signs == 1 { // "- Disallow" is an item of a list
				off = false
			}
		case isInvisible(r):
			because(at, "it has %s", hiddenText(r))
		case strings.ContainsRune(":=;∶︰﹕", ascii):
			name := meantKeys[key.String()]
			if r != ':' {
				because(at, "it has %q instead of a colon", r)
			}
			value := raw[at+len(string(r)):]
			if name == "" || why == "" || off || name == "User-agent" && !hyphen { // "userAgent =" is code
				return "", "", 0
			}
			return name + ": " + trimInvisible(value), why, fault
		case key.Len() == 0 && strings.ContainsRune("\"'`*•·>", r):
			because(at, "%q precedes its key", r)
			switch {
			case r == '*':
				signs, off = signs+1, true
			case r == '\'' && !strings.HasSuffix(trimSpace(raw), "'"): // it is not an opening quotation mark
				signs, off = signs+2, true
			}
		default:
			return "", "", 0
		}
	}
	return "", "", 0
}

// hiddenText describes a character that is invisible or looks like a space.
func hiddenText(r rune) string {
	if unicode.IsSpace(r) {
		return fmt.Sprintf("%U instead of a space", r)
	}
	return fmt.Sprintf("the invisible character %U", r)
}

// trimInvisible returns a value without quotes, blanks and invisible characters at both ends.
func trimInvisible(value string) string {
	return strings.TrimFunc(value, func(r rune) bool { return isInvisible(r) || strings.ContainsRune("\"'`", r) })
}

// isInvisible reports whether a character is invisible. It excludes joiners, which words of some scripts need.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || r == '\u00ad' || strings.ContainsRune(noWidth, r)
}

// noWidth holds characters without a width, except for the soft hyphen, which is common in texts that were encoded
// twice.
const noWidth = "\u180e\u200b\u200e\u200f\u2060\ufeff"

// findJoined returns the offset of another directive inside a value, and the bytes before it that replace the line end:
// white space, or a written \n, \r or \r\n. It returns 0 and "" if there is none.
func findJoined(value string) (at int, end string) {
	for colon := range len(value) {
		if value[colon] != ':' {
			continue
		}
		at = colon
		for at > 0 && (isLetter(value[at-1]) || value[at-1] == '-') {
			at--
		}
		for _, end := range []string{`\r\n`, `\n`, `\r`, " ", "\t"} {
			n := 0 // the n of \n was read as a letter of the key
			if len(end) > 1 {
				n = 1
			}
			if at+n > colon || at+n < len(end) || value[at+n-len(end):at+n] != end {
				continue
			}
			if name := strings.ToLower(value[at+n : colon]); name != "useragent" && meantKeys[strings.ReplaceAll(name, "-", "")] != "" {
				return at + n, end
			}
		}
	}
	return 0, ""
}

// markLen is bomLen, except that it returns 0 if the text starts with a full-width letter, which shares its first byte
// with the mark.
func markLen(text string) int {
	if first, _ := utf8.DecodeRuneInString(text); 0xFF01 <= first && first <= 0xFF5E {
		return 0
	}
	return bomLen(text)
}

// noteMisread notes that people see another directive or value in a line than the one that is read, and why. It reports
// whether it noted something. raw is the line as written. The diagnostic has the offset of the fault in the line.
func (in *inspector) noteMisread(l *line, raw string) bool {
	isRead := l.directive && l.kind != kindOther
	value, start := raw, 0 // start is where the value begins in raw
	if isRead {
		value = l.value
		start = strings.Index(raw, l.key) + len(l.key)
		start += strings.Index(raw[start:], value)
	}
	note := func(at int, c Code, format string, args ...any) {
		in.note(l.num, c, format, args...)
		if l.num == 1 {
			at += in.skipped
		}
		in.report.Diagnostics[len(in.report.Diagnostics)-1].At = int32(at)
	}
	at, end := findJoined(value)
	if l.directive && l.kind == kindUserAgent && !strings.Contains(value, `\`) { // a colon cannot be part of a name
		for _, key := range []string{"user-agent:", "allow:", "disallow:"} {
			if i := strings.Index(strings.ToLower(value), key); i >= 0 {
				at, end = i, " "
			}
		}
	}
	switch {
	case end != "" && end[0] == '\\':
		note(start+at, codeJoinedLines, "it contains the two characters %s instead of a line break, so the rest is part of the line: %s", end, shorten(value[at:]))
		return true
	case end != "" && isRead:
		note(start+at, codeJoinedLines, "another directive begins inside this line: %s", shorten(value[at:]))
		return true
	}
	if isRead {
		at := strings.IndexFunc(value, isInvisible)
		bare := strings.TrimFunc(value, isInvisible)
		switch ends := bare != value; {
		case ends && at > 0 && strings.HasPrefix(value, bare):
			at = len(bare)
		case !ends:
			at = strings.IndexAny(value, noWidth)
		}
		token, star := in.dialect.parseUserAgent(value)
		meant, all := in.dialect.parseUserAgent(bare)
		isRead = l.kind == kindUserAgent && token == meant && star == all && (star || token != "") && !strings.ContainsAny(bare, noWidth)
		if at < 0 || bare == "" || isRead { // it is read as intended
			return false
		}
		hidden, _ := utf8.DecodeRuneInString(value[at:])
		if bare == value {
			bare = strings.ReplaceAll(bare, string(hidden), "")
		}
		note(start+at, codeGarbled, "%s is part of the value; it means %s", hiddenText(hidden), shorten(bare))
		return true
	}
	meant, why, fault := parseGarbled(raw)
	if meant != "" {
		note(fault, codeGarbled, "the line is ignored, as %s; it means %s", why, shorten(meant))
	}
	return meant != ""
}

// mostNoindex limits the number of groups and rules that are checked for all Noindex lines of a file, which would
// otherwise take quadratic time. None of 2,561 real files needs a tenth of it.
const mostNoindex = 1 << 20

// A noindexed is the state of the search for Noindex lines whose path is allowed.
type noindexed struct {
	groups int    // the number of groups before the last Noindex line
	looked int    // of mostNoindex
	rules  []Rule // that bind the crawlers of the last of these groups
}

// isNoindexOpen reports whether the rules so far allow the path of a Noindex line for the crawlers of its group. It is
// false without a group, for a value that is not a path, and once mostNoindex is exceeded.
func (in *inspector) isNoindexOpen(l *line) bool {
	path := strings.TrimSuffix(strings.ReplaceAll(l.value, "*", "0-any-0"), "$")
	groups, n := in.report.File.Groups, &in.noindexed
	if before := n.groups; n.looked < mostNoindex {
		for n.groups < len(groups) && groups[n.groups].Line < l.num {
			n.groups++
		}
		if n.groups > before {
			n.rules, n.looked = n.rules[:0], n.looked+len(groups)
			g := &groups[n.groups-1]
			for i := range groups {
				if &groups[i] == g || g.Star && groups[i].Star || slices.ContainsFunc(g.Agents, groups[i].Names) {
					n.rules = append(n.rules, groups[i].Rules...)
				}
			}
			n.looked += len(n.rules)
		}
	}
	if n.looked += len(n.rules); n.groups == 0 || n.looked > mostNoindex || !strings.HasPrefix(path, "/") {
		return false
	}
	rule := Decide(n.rules, []byte(path), in.dialect)
	return rule < 0 || n.rules[rule].Allow
}

// An indexer is a search engine's crawler that may fetch pages, with the rules for it.
type indexer struct {
	name  string
	rules []Rule
	work  int // see [workOf]
}

// An asset is a kind of file that pages need for rendering.
type asset struct {
	name string   // for people
	end  string   // the extension of the files
	dirs []string // common directories of such files
}

var assets = []asset{
	{"style sheets", ".css", []string{"/css", "/stylesheet", "/stylesheets"}},
	{"scripts", ".js", []string{"/js", "/javascript", "/javascripts"}},
}

// noteBlockedAssets notes rules that block style sheets or scripts for search engines that may fetch pages. Call it
// after noteAllClosed, which finds these.
func (in *inspector) noteBlockedAssets() {
	budget := maxCovered
	names, kind, remedies := map[int32][]string{}, map[int32]string{}, map[int32]string{}
	for _, x := range in.report.open {
		for i := range x.rules {
			r := &x.rules[i]
			path, what, remedy := assetOf(r)
			if path == nil {
				continue
			}
			if budget -= x.work * len(path); budget < 0 {
				return
			}
			if by := Decide(x.rules, path, in.dialect); x.rules[by].Line == r.Line && !Undefined(x.rules, by, path, in.dialect) {
				names[r.Line], kind[r.Line], remedies[r.Line] = append(names[r.Line], x.name), what, remedy
			}
		}
	}
	for line, list := range names {
		in.note(line, codeBlockedAssets, "%s may not fetch %s here, so pages are rendered without them: %s", strings.Join(list, ", "), kind[line], remedies[line])
	}
}

// assetOf returns a path of a style sheet or script that a Disallow rule matches by extension or directory, the kind of
// file for people, and a remedy. path is nil for an Allow rule, for other patterns, and for a rule that matches only a
// single file, which may be unused.
func assetOf(r *Rule) (path []byte, kind, remedy string) {
	text, closed := strings.CutSuffix(r.Pattern, "$")
	if r.Allow || len(text) > maxExample {
		return nil, "", ""
	}
	text = strings.TrimRight(text, "*")
	name, dir := strings.ToLower(strings.TrimRight(text, "?*")), strings.TrimSuffix(text, "/")
	for _, a := range assets {
		pattern, remedy := "", "delete the rule"
		if strings.HasSuffix(name, "*"+a.end) {
			pattern = text
		} else if !closed && slices.ContainsFunc(a.dirs, func(d string) bool { return strings.HasSuffix(strings.ToLower(dir), d) }) {
			pattern = dir + "/x" + a.end
			remedy = "add Allow: " + dir + "/*" + a.end // longer, so it wins
		}
		if paths := examplePaths(pattern); len(paths) > 0 && matches(r.Pattern, paths[0]) {
			return paths[0], a.name, remedy
		}
	}
	return nil, "", ""
}

// About returns the diagnostics of the file, and those that depend on its origin, sorted by line: sitemaps with http
// although the origin has https, and sitemaps of this site that the rules disallow. An origin with http may have https,
// too. If o is "", the origin is unknown; it is then assumed that all sitemaps belong to the site if they have the same
// host. The report is not changed, but the result may share its memory: do not change it.
func (r *Report) About(o Origin) []Diagnostic {
	all := slices.Clip(r.Diagnostics)
	site, _ := SplitURL([]byte(o))
	alone := o == "" && r.hasOneSite()
	budget := maxCovered
	for _, s := range r.Sitemaps {
		u, err := SplitURL([]byte(s.URL))
		if err != nil {
			continue
		}
		own, err := AppendOrigin(nil, u)
		if err != nil {
			continue
		}
		at, _ := SplitURL(own)
		if string(at.Scheme) == "http" && string(site.Scheme) == "https" && len(at.Port) == 0 && withoutWWW(at.Host) == withoutWWW(site.Host) {
			all = append(all, Diagnostic{Line: s.Line, Code: codeHTTPSitemap, Text: "the site has https: write https://" + shorten(string(at.Host)+string(u.Path))})
		}
		if text := r.forbidden(u, &budget); text != "" && (string(at.Host) == string(site.Host) && string(at.Port) == string(site.Port) || alone) {
			all = append(all, Diagnostic{Line: s.Line, Code: codeBlockedSitemap, Text: text})
		}
	}
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// withoutWWW returns a host without the prefix "www.".
func withoutWWW(host []byte) string { return strings.TrimPrefix(string(host), "www.") }

// forbidden returns a text about the search engines that may fetch pages but not this URL of the site, and the
// rule that disallows it for them. It is "" if all may fetch the URL, or if the budget is exhausted. Of several rules,
// it names the first, with its search engines.
func (r *Report) forbidden(u URL, budget *int) string {
	path, _ := r.dialect.Path(u.Path, nil)
	var names []string
	var rule *Rule
	for _, x := range r.open {
		if *budget -= x.work * len(path); *budget < 0 {
			return ""
		}
		i := Decide(x.rules, path, r.dialect)
		if i < 0 || x.rules[i].Allow || Undefined(x.rules, i, path, r.dialect) || rule != nil && rule.Line != x.rules[i].Line {
			continue
		}
		rule = &x.rules[i]
		names = append(names, x.name)
	}
	if rule == nil {
		return ""
	}
	return fmt.Sprintf("line %d disallows it for %s: %s", rule.Line, strings.Join(names, ", "), quoteRule(rule))
}

// hasOneSite reports whether all sitemaps have valid URLs with the same host, which is then assumed to be the host of
// the file. It is true without sitemaps.
func (r *Report) hasOneSite() bool {
	host := ""
	for _, s := range r.Sitemaps {
		u, err := SplitURL([]byte(s.URL))
		if err != nil || host != "" && !strings.EqualFold(host, string(u.Host)) {
			return false
		}
		host = string(u.Host)
	}
	return true
}
