package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// Paths used to test a rule on a directory: a page in it, and resources of pages.
var (
	pageProbe   = "0-0"
	assetProbes = []string{"0-0.css", "0-0.js"}
)

// A ruleSet holds the rules of a text that bind a crawler.
type ruleSet struct {
	rules  []robots.Rule
	closed float64 // page requests of all clients for directories that it closes
}

// A closure is a rule that closes directories from a given text on.
type closure struct {
	text      int
	rule      string
	resources bool
}

// A closed is what a rule closes.
type closed struct {
	line     int32
	before   map[uint16]float64 // by affected crawler: requests in the time before
	made     map[uint16]float64 // since then
	last     string             // the last directory that was counted
	visitors float64            // served requests of unidentified clients in the whole log
	until    int                // the first text that does not close it; the number of texts if all do
}

// A ruleBook holds the texts of a site and what they close for search crawlers. Each directory is tested with a path in
// it.
type ruleBook struct {
	*grid
	site    *site
	texts   []Text
	agents  []uint16 // crawlers with requests
	of      [][]int  // by text and agent, the index of sets
	sets    []*ruleSet
	path    string  // path of the directory
	pages   table   // its pages
	all     float64 // page requests of all clients
	closed  map[closure]*closed
	decided [2][]int // by set: the rule that closes pages or resources of the directory; -1 means none
}

// ruleBookOf returns the texts of a site; nil if there are none, or if a text without a time was not provably in
// force.
func (g *grid) ruleBookOf(s *site) *ruleBook {
	b := &ruleBook{grid: g, site: s, texts: g.textsOf(s.origin), closed: map[closure]*closed{}}
	b.texts = slices.DeleteFunc(b.texts, func(t Text) bool { return t.At.Unix() > g.to })
	if len(b.texts) == 0 || b.texts[0].At.IsZero() && !g.wasSent(&b.texts[0], g.from, g.to) {
		return nil
	}
	b.agents = slices.DeleteFunc(g.crawlers(), func(a uint16) bool { return total(g.traffic[a]).n == 0 })
	known := map[string]int{}
	for _, t := range b.texts {
		file, row := robots.Inspect(t.Body, g.Dialect).File, make([]int, len(b.agents))
		for i, a := range b.agents {
			agent, dialect := robots.NewAgent(g.Agents[a].Name, g.Dialect), g.Dialect
			if own, d, ok := robots.DocumentedAgent(g.Agents[a].Name, g.Dialect); ok {
				agent, dialect = own, d
			}
			rules, _ := file.Select(agent)
			lines := fmt.Sprint(dialect, rules)
			if _, ok := known[lines]; !ok {
				known[lines] = len(b.sets)
				b.sets = append(b.sets, &ruleSet{rules: rules})
			}
			row[i] = known[lines]
		}
		b.of = append(b.of, row)
	}
	return b
}

// addCell adds a cell of a directory. Cells must come by directory. A nil ruleBook ignores them.
func (b *ruleBook) addCell(path string, k cellKey, one count) {
	if b == nil {
		return
	}
	if path != b.path {
		b.endDirectory()
		b.path, b.pages = path, table{}
	}
	b.pages.addCount(k, one)
}

// closingRule returns the index of the rule of a set that closes the last path; -1 if any of the paths is open.
func (b *ruleBook) closingRule(set *ruleSet, paths ...string) (rule int) {
	for _, path := range paths {
		if rule = robots.Decide(set.rules, []byte(path), b.Dialect); rule < 0 || set.rules[rule].Allow {
			return -1
		}
	}
	return rule
}

// endDirectory evaluates the current directory with all texts. It does nothing if the directory has no cells.
func (b *ruleBook) endDirectory() {
	if len(b.pages) == 0 {
		return
	}
	pages, assets := b.pages.sum(isPage).n, b.pages.sum(isLayout).n
	b.all += pages
	b.decided = [2][]int{make([]int, len(b.sets)), make([]int, len(b.sets))}
	for i, set := range b.sets {
		page, asset := -1, -1
		if pages > 0 {
			page = b.closingRule(set, b.path+pageProbe)
		}
		if assets > 0 {
			asset = b.closingRule(set, b.path+assetProbes[0], b.path+assetProbes[1])
		}
		b.decided[0][i], b.decided[1][i] = page, asset
		set.closed += pages * float64(bit(page >= 0))
	}
	for i := range b.texts {
		for j, a := range b.agents {
			if b.isSearch(a) {
				b.countClosed(i, j, a, false)
				b.countClosed(i, j, a, true)
			}
		}
	}
	b.pages = nil
}

// countClosed counts what a text closes for a crawler although the previous text did not. text and column are indices
// of texts and agents. resources chooses the resources of pages instead of the pages.
func (b *ruleBook) countClosed(text, column int, agent uint16, resources bool) {
	decided := b.decided[bit(resources)]
	set := b.of[text][column]
	if decided[set] < 0 || text > 0 && decided[b.of[text-1][column]] >= 0 {
		return
	}
	rule := &b.sets[set].rules[decided[set]]
	key := closure{text, rule.Value, resources}
	c := b.closed[key]
	if c == nil {
		c = &closed{line: rule.Line, before: map[uint16]float64{}, made: map[uint16]float64{}}
		b.closed[key] = c
	}
	until := text + 1
	for until < len(b.texts) && decided[b.of[until][column]] >= 0 {
		until++
	}
	c.until = max(c.until, until)
	in := b.setTimeRange(&Row{}, text, until)
	isOf := isPage
	if resources {
		isOf = isLayout
	}
	before := b.slotsBefore(in)
	if c.last != b.path { // another crawler may have counted the visitors already
		c.last = b.path
		c.visitors += b.pages.sum(byAgent(0), isOf, func(k cellKey) bool { return isServed(cellKey{status: k.status &^ isAsset}) }).n
	}
	c.before[agent] += b.pages.sum(byAgent(agent), isOf, before.hasKey).n
	c.made[agent] += b.pages.sum(byAgent(agent), isOf, in.hasKey).n
}

// slotsBefore returns the slots before those of a text that are compared with them.
func (b *ruleBook) slotsBefore(in segment) segment {
	return segment{max(0, in.from-int(max(sectionBefore, (b.to-b.from)/2)/b.step)), in.from}
}

// setTimeRange sets the time range of a row to that of the texts from text up to until, exclusive. It returns the
// slots in which they were in force.
func (b *ruleBook) setTimeRange(r *Row, text, until int) segment {
	in := segment{0, b.slots}
	r.From, r.To, r.Ongoing = timeOf(b.from), timeOf(b.to), until == len(b.texts)
	if from := b.texts[text].At.Unix(); from > b.from {
		r.From, in.from = timeOf(from), b.slotOf(from)+1
	}
	if !r.Ongoing {
		to := b.texts[until].At.Unix()
		r.To, in.to = timeOf(to), max(in.from, b.slotOf(to))
	}
	return in
}

// addFindings adds the rows of a site after its last cell: of texts that close nearly all of it, and of rules that
// close a part for other crawlers. A nil ruleBook has none.
func (b *ruleBook) addFindings() {
	if b == nil {
		return
	}
	b.endDirectory()
	shut := make([]map[uint16]bool, len(b.texts)) // by text: crawlers that may fetch hardly anything
	for i := range b.texts {
		shut[i] = map[uint16]bool{}
		for j, a := range b.agents {
			if set := b.sets[b.of[i][j]]; b.all > 0 && set.closed >= siteShare*b.all && b.closingRule(set, "/"+pageProbe) >= 0 {
				shut[i][a] = true
			}
		}
	}
	for i, until := 0, 0; i < len(shut); i = until {
		for until < len(shut) && maps.Equal(shut[i], shut[until]) {
			until++
		}
		if slices.ContainsFunc(b.agents, func(a uint16) bool { return b.isSearch(a) && shut[i][a] }) {
			b.addClosedSite(i, until, shut)
		}
	}
	keys := slices.SortedFunc(maps.Keys(b.closed), func(x, y closure) int {
		return cmp.Or(cmp.Compare(x.text, y.text), cmp.Compare(x.rule, y.rule), cmp.Compare(bit(x.resources), bit(y.resources)))
	})
	for _, key := range keys {
		c := b.closed[key]
		maps.DeleteFunc(c.before, func(a uint16, _ float64) bool { return shut[key.text][a] })
		b.addClosedPart(key, c)
	}
}

// addClosedSite adds the row of texts, from text up to until, that close the site for the same crawlers. The proof:
// their rules close the front page and directories with nearly all requests. It is certain for Googlebot and bingbot,
// or if an earlier text let the crawlers in. Otherwise it is only suspected: the site may intend it.
func (b *ruleBook) addClosedSite(text, until int, shut []map[uint16]bool) {
	r := Row{Code: SiteClosed, Class: "C", Origin: b.site.origin, Path: "/"}
	in := b.setTimeRange(&r, text, until)
	by, named := map[uint16]float64{}, true
	for j, a := range b.agents {
		switch {
		case !b.isSearch(a):
			if shut[text][a] {
				r.also = append(r.also, b.Agents[a].Name)
			}
			continue
		case !shut[text][a]:
			r.Evidence.Unaffected++
			continue
		}
		by[a] = max(1, total(b.traffic[a]).n)
		if made, expected := b.profileOf(a, in).sums(in); in.length() < b.slots {
			r.lost += max(0, expected-made)
		}
		for earlier := range text {
			named = named && shut[earlier][a]
		}
		if name := b.Agents[a].Name; name == "Googlebot" || name == "bingbot" || text > 0 && b.texts[text].At.Unix() > b.from && !named {
			r.Class = "A"
		}
		if set := b.sets[b.of[text][j]]; r.Evidence.Line == 0 {
			rule := &set.rules[b.closingRule(set, "/"+pageProbe)]
			r.Evidence.Line, r.Evidence.Rule = int(rule.Line), "Disallow: "+rule.Value
		}
	}
	r.Agents, r.Requests = b.agentsOf(by), int64(math.Round(r.lost))
	if in.length() == b.slots { // the requests that it prevented are unknown
		r.lost = leastFailing
	}
	if r.duration() < seenBefore && !slices.ContainsFunc(b.site.txt, func(a answer) bool { return b.isSearch(a.agent) && a.at >= r.From.Unix() && a.at <= r.To.Unix() }) {
		return
	}
	b.addRow(r)
}

// meantPaths are words in the names of paths that sites close for crawlers on purpose.
var meantPaths = regexp.MustCompile(`(?i)(^|[^a-z]|site|[a-df-z])search|recherche|checkout|warenkorb|basket|customer|account|konto|profile|log-?(in|out)|sign-?(in|up|out)|registration|admin|wp-|xmlrpc|graphql|wishlist|trackback|` +
	`(^|[^a-z])(panier|commande|compte|connexion|inscription|carrito|cesta|cuenta|buscar|busqueda|pedido|carrello|carrinho|pesquisa|ricerca|ordine|winkelwagen|winkelmand|zoeken|bestelling|koszyk|szukaj|varukorg|kassa|korzina|poisk)([^a-z]|$)|` +
	`(^|[^a-z])([a-z]*cart|suche?|find|query|install|installation|installer|setup|order|user|member|register|auth|cgi|api|ajax|rest|private?|intern(al)?|te?mp|cache|session|track(ing)?|pixel|beacon|stat(istic)?|print|feed|rss|tag|filter|sort|compare|download|export|calendar|comment)s?([^a-z]|$)`)

// addClosedPart adds the row of a rule that closes a section for crawlers that fetched from it before, or closes
// resources for crawlers that render pages. The proof: at least 2 % of the pages that a crawler requested before are
// there; or if the rule always existed, sitemaps list 50 URLs there, and visitors get these pages. Resources must be
// what visitors or crawlers load. Sites close paths such as /cart/ on purpose.
func (b *ruleBook) addClosedPart(key closure, c *closed) {
	r := Row{Code: SectionClosed, Origin: b.site.origin, Path: key.rule, Evidence: Evidence{Line: int(c.line), Rule: "Disallow: " + key.rule, Visitors: int64(c.visitors)}}
	if i := strings.IndexAny(key.rule, "*$"); i >= 0 {
		r.Path = key.rule[:i]
	}
	in := b.setTimeRange(&r, key.text, c.until)
	earlier := b.slotsBefore(in)
	by, isMuch, renders, fetched, harm := map[uint16]float64{}, false, false, 0., 0.
	for _, a := range slices.Sorted(maps.Keys(c.before)) {
		name, before := b.Agents[a].Name, c.before[a]
		by[a] = 1 + before
		fetched += before
		if earlier.length() > 0 { // as many as before, minus the actual ones
			r.lost += max(0, before*float64(in.length())/float64(earlier.length())-c.made[a])
		}
		if name == "Googlebot" || name == "bingbot" {
			renders = true
			harm += resourcesHarm * b.site.ownPages(a, in)
		}
		share := before / max(1, b.site.ownPages(a, earlier))
		if isMuch = isMuch || share >= sectionShare && before >= leastShown; share > r.Evidence.Share && before >= leastShown && !key.resources {
			r.Evidence.Share, r.Evidence.Crawler = rounded(share), name
			r.Evidence.Before = rounded(before / (float64(earlier.length()) * float64(b.step) / day))
		}
	}
	switch r.Agents, r.Requests = b.agentsOf(by), int64(math.Round(r.lost)); {
	case key.resources:
		r.Code, r.lost = ResourcesBlocked, max(r.lost, harm)
		isMuch = renders && (c.visitors >= resourcesLeast || fetched >= leastShown) && key.rule != "/" && key.rule != "/*"
	case len(by) == 0 || strings.HasPrefix(key.rule, "/") && meantPaths.MatchString(key.rule):
		return
	case key.text == 0: // always closed: the requests that it prevented are unknown
		people := b.site.pages.sum(byAgent(0), isServed).n
		r.Class, r.Evidence.URLs = "C", b.Failing[r.Origin+r.Path].Listed
		r.Requests, r.lost = r.Evidence.URLs, float64(r.Evidence.URLs)
		isMuch = r.Requests >= sectionListed && c.visitors >= sectionVisited*people
	case earlier.length() == 0:
		return
	}
	if isMuch {
		b.addRow(r)
	}
}
