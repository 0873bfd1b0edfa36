package robots

import (
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/crawlers"
)

// groups notes groups for "*" that also name crawlers, and further groups for "*". It then notes rules that block
// a search engine from the whole site.
func (in *inspector) groups() {
	groups := in.report.File.Groups
	star := int32(0) // line of the first group for "*"
	for i := range groups {
		g := &groups[i]
		if !g.Star {
			continue
		}
		next, _ := slices.BinarySearch(in.stars, g.Line)
		line := in.stars[next] // the first "*" of the group
		if len(g.Agents) > 0 {
			in.note(line, codeJoinedGroups, "* and %s share a group, because no Allow or Disallow separates their names: its rules apply to all crawlers without their own group",
				namesText(g.Agents))
		}
		if star > 0 {
			in.note(line, codeStarGroups, "another group for *, merged with the group in line %d", star)
		} else {
			star = line
		}
	}
	in.noteAllClosed()
}

// namesText returns the first name, and the number of the others: "Foobot and 2 more names". There must be a name.
func namesText(names []ProductToken) string {
	switch n := len(names) - 1; n {
	case 0:
		return string(names[0])
	case 1:
		return string(names[0]) + " and another name"
	default:
		return string(names[0]) + " and " + strconv.Itoa(n) + " more names"
	}
}

// indexers are the crawlers of the search engines that matter to most sites. The crawler of the dialect's operator is
// added.
var indexers = []string{"Googlebot", "bingbot"}

// noteAllClosed notes rules that block a search engine from the whole site, once for each rule. It records the other
// search engines in the report, see Report.open.
func (in *inspector) noteAllClosed() {
	f := in.report.File
	names := indexers
	if in.dialect.Has(yandexFamily) {
		names = append([]string{"YandexBot"}, names...)
	}
	budget := maxCovered
	closed, what := map[*Rule][]string{}, map[*Rule]string{}
	var order []*Rule
	var bound []int // the groups of the previous name, mostly the same
	var rule *Rule
	var open []Rule
	var left string
	for i, name := range names {
		agent := NewAgent(name, in.dialect)
		if groups := f.Binding(agent); i == 0 || !slices.Equal(groups, bound) {
			open, _ = f.Select(agent)
			bound = groups
			rule, left = in.dialect.closingRule(open, &budget)
		}
		if rule == nil {
			in.report.open = append(in.report.open, indexer{name, open, workOf(open)})
			continue
		}
		i := slices.IndexFunc(order, func(r *Rule) bool { return r.Line == rule.Line })
		if i < 0 {
			i, order = len(order), append(order, rule)
		}
		closed[order[i]], what[order[i]] = append(closed[order[i]], name), left
	}
	for _, rule := range order {
		in.note(rule.Line, codeAllClosed, "%s may be fetched by %s", what[rule], strings.Join(closed[rule], ", "))
	}
}

// closingRule returns the rule that disallows the whole site, and what remains allowed, in words: "nothing", or "no
// page" if files that are not pages may be fetched. rule is nil if there is none, or if an Allow rule for pages may
// take precedence. budget is that of covers.
func (d Dialect) closingRule(rules []Rule, budget *int) (rule *Rule, remaining string) {
	all := d.candidates(rules)
	var first *candidate
	for i := range all {
		if s := &all[i].shapes[0]; !all[i].Allow && s.text == "/" && !s.closed {
			first = &all[i]
			break
		}
	}
	if first == nil {
		return nil, ""
	}
	remaining = "nothing"
	for i := range all {
		r := &all[i]
		if !r.Allow || r.shapes[0].length < first.shapes[0].length && first.covers(r, budget) {
			continue
		}
		text := r.shapes[0].text
		dot := strings.LastIndexByte(text, '.')
		// Files that are not pages are often allowed on a blocked site. "/*.css" counts, although it also matches pages such
		// as /a.css-tutorial.
		isFile := dot > 0 && noPages[strings.ToLower(text[dot+1:])] || strings.HasPrefix(text, "/.well-known/")
		if !isFile || len(r.shapes) > 1 {
			return nil, ""
		}
		remaining = "no page"
	}
	return first.Rule, remaining
}

// noPages are the extensions of files that are not pages: parts of pages, or files for clients other than search
// engines.
var noPages = map[string]bool{
	"css": true, "js": true, "mjs": true, "json": true, "txt": true, "xml": true, "xsl": true, "ico": true, "png": true, "jpg": true, "jpeg": true,
	"gif": true, "svg": true, "webp": true, "woff": true, "woff2": true, "ttf": true,
}

// known notes a name in a user-agent line that no known crawler has but that resembles a known one, that its
// operator no longer uses, or whose crawler does not obey robots.txt. A policy token that no draft defines is noted as
// well.
func (in *inspector) known(line int32, token ProductToken) {
	in.preferences = in.preferences || token.IsPolicy()
	switch letters := strings.NewReplacer("-", "", "_", ""); {
	case token.Equal(policyToken):
		return
	case token.IsPolicy() && hasPrefixFold(string(token), string(policyToken)):
		in.note(line, codeUnknownPolicy, "%q is read as one token, which no draft defines: write one name per line", shorten(string(token)))
		return
	case isTypo(strings.ToLower(string(token)), string(policyToken)), strings.EqualFold(letters.Replace(string(token)), letters.Replace(string(policyToken))):
		in.note(line, codeUnknownPolicy, "%q is not defined by any draft, so its rules have no effect: did you mean %s?", shorten(string(token)), policyToken)
		return
	case token.IsPolicy():
		in.note(line, codeUnknownPolicy, "%q is not defined by any known draft, so its rules have no effect", shorten(string(token)))
		return
	}
	if c, ok := crawlers.Lookup(string(token)); ok {
		if c.Unbound {
			in.note(line, codeAgentIgnores, "the operator of %s says that robots.txt does not bind it", c.Token)
		}
		return
	}
	if r, ok := crawlers.LookupRetired(string(token)); ok {
		in.note(line, codeAgentRetired, "%s no longer uses this name: its crawlers are %s", r.Operator, strings.Join(r.Now, ", "))
		return
	}
	name := strings.ToLower(string(token))
	near, seen := in.typos[name]
	if !seen {
		known := crawlers.Set("all")
		if i := slices.IndexFunc(known, func(c crawlers.Crawler) bool { return isTypo(name, strings.ToLower(c.Token)) }); i >= 0 {
			near = known[i].Token
		}
		in.typos[name] = near
	}
	if near != "" {
		in.note(line, codeAgentTypo, "no known crawler has this name: did you mean %s?", near)
	}
}

// isTypo reports whether a name is probably a typo of a token. Both must be in lower case. They need at least six bytes
// each, and the same first byte. They may differ by one edit, by two if both have ten bytes, or by a swap of two
// adjacent bytes. Names below nine bytes often differ in one letter, so a changed letter does not count for them: only
// an added, missing or swapped one does.
func isTypo(name, token string) bool {
	const short, medium, long = 6, 9, 10
	shorter := min(len(name), len(token))
	if shorter < short || name[0] != token[0] || max(len(name), len(token))-shorter > 2 {
		return false
	}
	switch distance(name, token) {
	case 1:
		return len(name) != len(token) || shorter >= medium
	case 2:
		return shorter >= long || len(name) == len(token) && isSwap(name, token)
	}
	return false
}

// isSwap reports whether b is a with two adjacent bytes swapped. Both must have the same length. It is false if they
// are equal.
func isSwap(a, b string) bool {
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// An inheritance finds groups whose authors may assume that the rules for "*" also apply to their crawlers.
type inheritance struct {
	dialect     Dialect
	file        *File
	lines       map[string]int32 // see inspector
	star        []Rule           // the rules for "*"
	read        bool             // closing and disallowing are set
	closing     *Rule            // the rule for "*" that disallows everything; nil if there is none
	disallowing []starRule       // the other rules for "*" that disallow something
	budget      int
}

// A starRule is a Disallow rule, with paths that it disallows.
type starRule struct {
	rule  *Rule
	key   string // the key of its shape
	paths [][]byte
}

// inherit notes groups for named crawlers that allow paths which the rules for "*" disallow, unless that seems
// intended: the group allows everything, has only an empty Disallow, repeats a rule for "*", or has its own rules while
// "*" is blocked from the whole site. At most maxNamedRules of the rules are named in each diagnostic.
func (in *inspector) inherit() {
	f := in.report.File
	h := inheritance{dialect: in.dialect, file: f, lines: in.lines, budget: maxCovered}
	for i := range f.Groups {
		if f.Groups[i].Star {
			h.star = append(h.star, f.Groups[i].Rules...)
		}
	}
	if len(h.star) == 0 {
		return
	}
	sets, _ := f.bindings()
	for _, set := range sets {
		names := h.heirs(set)
		if len(names) == 0 {
			continue
		}
		lost := h.lost(f.rulesOf(set.groups))
		if len(lost) == 0 {
			continue
		}
		var first []string
		for _, r := range lost[:min(len(lost), maxNamedRules)] {
			first = append(first, "line "+strconv.Itoa(int(r.Line))+" "+quoteRule(r))
		}
		text := strings.Join(first, ", ")
		switch n := len(lost) - maxNamedRules; {
		case n == 1:
			text += " and another"
		case n > 1:
			text += " and " + strconv.Itoa(n) + " more"
		}
		in.note(h.lines[strings.ToLower(string(names[0]))], codeNotInherited, "the rules for * do not bind %s: %s", namesText(names), text)
	}
}

// heirs returns the crawlers of a set that would obey the rules for "*" if the file did not name them. There are none
// if a group of the set is for "*" too.
func (h *inheritance) heirs(set binding) (names []ProductToken) {
	for _, g := range set.groups {
		if h.file.Groups[g].Star {
			return nil
		}
	}
	for _, name := range set.agents {
		c, _ := crawlers.Lookup(string(name))
		a := NewAgent(string(name), h.dialect)
		if c.Unbound || a.IgnoresStar || a.Token == "" {
			continue
		}
		for _, other := range a.Fallbacks {
			if h.lines[strings.ToLower(string(other))] > 0 {
				a.IgnoresStar = true // it would obey that group
			}
		}
		if !a.IgnoresStar {
			names = append(names, name)
		}
	}
	return names
}

// lost returns the rules for "*" that disallow paths which rules, those of a set of crawlers, allow; none if that
// seems intended, see inherit. The first call examines the rules for "*".
func (h *inheritance) lost(rules []Rule) (lost []*Rule) {
	own := map[string]bool{} // the patterns of its Disallow rules
	for i := range rules {
		s := shapeOf(rules[i].Pattern)
		if rules[i].Allow && s.text == "/" && !s.closed {
			return nil
		}
		if !rules[i].Allow {
			own[s.key()] = true
		}
	}
	if len(rules) == 0 {
		return nil
	}
	if !h.read {
		h.read = true
		h.closing, _ = h.dialect.closingRule(h.star, &h.budget)
		starWork := workOf(h.star)
		for i := range h.star {
			r := &h.star[i]
			paths, shape := examplePaths(r.Pattern), shapeOf(r.Pattern)
			if h.closing == nil && !r.Allow && h.decidesAll(h.star, starWork, paths, false) {
				h.disallowing = append(h.disallowing, starRule{r, shape.key(), paths})
			}
		}
	}
	switch {
	case h.closing != nil && len(own) > 0:
		return nil
	case h.closing != nil:
		return []*Rule{h.closing}
	}
	work := workOf(rules)
	for _, s := range h.disallowing {
		if own[s.key] {
			return nil
		}
		if h.decidesAll(rules, work, s.paths, true) {
			lost = append(lost, s.rule)
		}
	}
	return lost
}

// decidesAll reports whether the rules allow all of the paths, or disallow all of them if allow is false. work is
// workOf(rules). It is false if there is no path, if a verdict is undefined, or if the budget is exhausted.
func (h *inheritance) decidesAll(rules []Rule, work int, paths [][]byte, allow bool) bool {
	for _, path := range paths {
		if h.budget -= work * len(path); h.budget < 0 {
			return false
		}
		i := Decide(rules, path, h.dialect)
		if (i < 0 || rules[i].Allow) != allow || Undefined(rules, i, path, h.dialect) {
			return false
		}
	}
	return len(paths) > 0
}

// workOf returns the cost of [Decide] with these rules for each byte of a path, in steps: 1 for a rule, plus the length
// of its pattern if that has a wildcard.
func workOf(rules []Rule) (work int) {
	for i := range rules {
		if work++; hasWildcard(rules[i].Pattern) {
			work += len(rules[i].Pattern)
		}
	}
	return work
}

// maxExample is the length of the longest pattern for which [examplePaths] returns paths.
const maxExample = 1024

// examplePaths returns one or two paths that a pattern matches; if it has no end anchor, the second path continues
// after the pattern. Each "*" is an x in them. It returns nil if the pattern is empty, longer than maxExample, or does
// not match its example.
func examplePaths(pattern string) (paths [][]byte) {
	text, closed := strings.CutSuffix(pattern, "$")
	if len(text) > maxExample || text == "" {
		return nil
	}
	text = strings.ReplaceAll(text, "*", "x")
	if text[0] != '/' {
		text = "/" + text
	}
	paths = [][]byte{[]byte(text)}
	if !closed {
		paths = append(paths, []byte(text+"x"))
	}
	if !matches(pattern, paths[0]) {
		return nil
	}
	return paths
}

// maxNamedRules is the number of rules that inherit names.
const maxNamedRules = 3
