package robots

import (
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/crawlers"
)

// groups checks which names share a group, and which crawlers are blocked from the whole site.
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
	in.allClosed()
}

// namesText returns the first of some names, and how many more there are.
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

// indexers are the crawlers of the search engines that matter to most sites; the crawler of the dialect's own engine
// is added.
var indexers = []string{"Googlebot", "bingbot"}

// allClosed reports rules that block a search engine from the whole site.
func (in *inspector) allClosed() {
	f := in.report.File
	names := indexers
	if in.dialect.Has(yandexFamily) {
		names = append([]string{"YandexBot"}, names...)
	}
	budget := maxCovered
	closed, what := map[*Rule][]string{}, map[*Rule]string{}
	var order []*Rule
	var bound []int // the groups of the name before, which mostly bind the next, too
	var rule *Rule
	var open []Rule
	var left string
	for i, name := range names {
		agent := NewAgent(name, in.dialect)
		if groups := f.Binding(agent); i == 0 || !slices.Equal(groups, bound) {
			open, _ = f.Select(agent)
			bound = groups
			rule, left = in.dialect.closing(open, &budget)
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

// closing returns the rule that disallows everything, and a description of what remains allowed. It returns nil if
// there is none, or if an Allow rule for pages may take precedence.
func (d Dialect) closing(rules []Rule, budget *int) (rule *Rule, what string) {
	all := d.claimants(rules)
	var first *claimant
	for i := range all {
		if s := &all[i].shapes[0]; !all[i].Allow && s.text == "/" && !s.closed {
			first = &all[i]
			break
		}
	}
	if first == nil {
		return nil, ""
	}
	what = "nothing"
	for i := range all {
		r := &all[i]
		if !r.Allow || r.shapes[0].length < first.shapes[0].length && first.covers(r, budget) {
			continue
		}
		if !isNoPage(&r.shapes[0]) || len(r.shapes) > 1 {
			return nil, ""
		}
		what = "no page"
	}
	return first.Rule, what
}

// noPages are the extensions of files that are not pages: pages need them, or other clients than search engines read
// them.
var noPages = map[string]bool{
	"css": true, "js": true, "mjs": true, "json": true, "txt": true, "xml": true, "xsl": true, "ico": true, "png": true, "jpg": true, "jpeg": true,
	"gif": true, "svg": true, "webp": true, "woff": true, "woff2": true, "ttf": true,
}

// isNoPage reports whether a pattern only matches files that are not pages, which are often allowed on a blocked
// site. "/*.css" counts, although it also matches pages such as /a.css-tutorial.
func isNoPage(s *shape) bool {
	if strings.HasPrefix(s.text, "/.well-known/") {
		return true
	}
	dot := strings.LastIndexByte(s.text, '.')
	return dot > 0 && noPages[strings.ToLower(s.text[dot+1:])]
}

// known looks at the name of a user-agent line: whether it resembles a known crawler, and whether that crawler obeys
// robots.txt.
func (in *inspector) known(line int32, token ProductToken) {
	in.preferences = in.preferences || token.IsPolicy()
	switch letters := strings.NewReplacer("-", "", "_", ""); {
	case token.Equal(policyToken):
		return
	case token.IsPolicy() && hasPrefixFold(string(token), string(policyToken)):
		in.note(line, codeUnknownPolicy, "%q is read as one token, which no draft defines: write one name per line", shortened(string(token)))
		return
	case isSlip(strings.ToLower(string(token)), string(policyToken)), strings.EqualFold(letters.Replace(string(token)), letters.Replace(string(policyToken))):
		in.note(line, codeUnknownPolicy, "%q is not defined by any draft, so its rules have no effect: did you mean %s?", shortened(string(token)), policyToken)
		return
	case token.IsPolicy():
		in.note(line, codeUnknownPolicy, "%q is not defined by any known draft, so its rules have no effect", shortened(string(token)))
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
		if i := slices.IndexFunc(known, func(c crawlers.Crawler) bool { return isSlip(name, strings.ToLower(c.Token)) }); i >= 0 {
			near = known[i].Token
		}
		in.typos[name] = near
	}
	if near != "" {
		in.note(line, codeAgentTypo, "no known crawler has this name: did you mean %s?", near)
	}
}

// isSlip reports whether a name is probably a typo of another one. Short names often differ in one letter, so only an
// added, missing or transposed letter counts.
func isSlip(name, token string) bool {
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

// isSwap reports whether two neighbouring bytes of a have changed places in b, which is as long.
func isSwap(a, b string) bool {
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}
