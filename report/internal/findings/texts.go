package findings

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/internal/timespan"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/robots"
)

// A closing is the part that a text closes to search crawlers.
type closing struct {
	*File
	to   []string    // crawlers
	rule robots.Rule // that closes it
	n    int64       // requests of all clients; 0 if a path has few
	of   int64       // of so many

	shut                  // of a path
	dir         string    // in which it is
	made        []Part    // requests of crawlers for a path while they might; nil if these are few
	texts       []*File   // of the origin that close a path alike
	first, last time.Time // of their requests
}

// rulesFor returns the rules of a text for a crawler.
func (f *Facts) rulesFor(file *File, crawler string) []robots.Rule {
	rules, _ := file.Report.File.Select(robots.NewAgent(crawler, f.Dialect))
	return rules
}

// deniedBy returns the rule that denies a path; false if it is allowed.
func (f *Facts) deniedBy(rules []robots.Rule, raw string) (by robots.Rule, denied bool) {
	path, _ := f.Dialect.Path([]byte(raw), nil)
	if i := robots.Decide(rules, path, f.Dialect); i >= 0 && !rules[i].Allow && !robots.IsTxt(path) {
		return rules[i], true
	}
	return by, false
}

// closes returns the rule by which a text leaves a crawler none, or hardly any, of the site's requested paths.
func (f *Facts) closes(file *File, crawler string) (by robots.Rule, closed bool) {
	rules := f.rulesFor(file, crawler)
	if len(rules) == 0 {
		return by, false
	}
	by, root := f.deniedBy(rules, "/")
	if !root {
		return by, false
	}
	left, all := 0, 0
	for _, a := range file.Asked {
		if strings.HasPrefix(a.Path, robots.TxtPath) {
			continue
		}
		all++
		if _, denied := f.deniedBy(rules, a.Path); !denied {
			left++
		}
	}
	return by, float64(left) <= searchedShare*float64(all)
}

// isForNamed reports whether a text that closes a site to everyone, for whom no requests were decided, leaves it to a search engine.
func (f *Facts) isForNamed(file *File, one *Crawler) bool {
	if one != &everyone || f.judgesAll() {
		return false
	}
	_, closed := f.closes(file, "Googlebot")
	return !closed
}

// closings returns the texts that close their sites to search crawlers of the log.
func (f *Facts) closings() (all []closing) {
	for i := range f.Files {
		file := &f.Files[i]
		if file.Body == nil {
			continue
		}
		c := closing{File: file, n: file.Requests}
		for _, one := range f.searchers() {
			if by, closed := f.closes(file, one.Name); closed && !f.isForNamed(file, one) {
				c.to, c.rule = append(c.to, one.Name), cmp.Or(c.rule, by)
			}
		}
		if len(c.to) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// site names the origins of a file.
func (file *File) site() string {
	if file.Others > 0 {
		return show.Text(file.Origin) + " and " + show.Plural(file.Others, "other site")
	}
	return show.Text(file.Origin)
}

// of returns " of " and a site, but "" if the page has no other.
func (f *Facts) of(site string) string {
	if f.OneOrigin {
		return ""
	}
	return " of " + site
}

// closed finds sites that search crawlers are shut out of. Sites that have one text and never had another, and on
// which a staging host's name shows that nobody shall find them, are closed on purpose.
func closed(f *Facts) (found []Finding) {
	for _, c := range f.sites {
		if stagingHosts.MatchString(host(c.Origin)) {
			continue
		}
		who, whom := c.who()
		text := fmt.Sprintf("%s may fetch nothing%s: line %d of robots.txt, %s, closes the whole site.", who, f.of(c.site()), c.rule.Line, brief(c.rule.String()))
		for _, one := range f.findingOf(Closed, c.n, f.Requests, c.First, c.Last, text) {
			one.file, one.Unit, one.Link, one.Title = c.File, "requests of all clients", c.Link, "Rules"
			one.large = f.isLarge(c.File) && (c.First.IsZero() || timespan.Between(c.First, c.Last) >= closedLong)
			if one.When != "" {
				one.Unit += " came in that time"
			}
			if n, unit := f.own(&c); n > 0 {
				one.Number, one.Unit = n, unit
			}
			one.Do = "Unless the site shall leave search, take the line out: what may not be fetched drops out of the results."
			if who != whom {
				one.Do = "Unless these crawlers shall stay away, take the line out: what search crawlers may not fetch drops out of the results."
			}
			if f.isPast(c.File) {
				one.Text = fmt.Sprintf("The robots.txt%s shut out %s for a time: its line %d was %s, which closes the whole site.", f.of(c.site()), whom, c.rule.Line, brief(c.rule.String()))
				one.Do = "Another text is in force now. Ask the search engines to crawl the site again, and find out how the text got there."
			}
			found = append(found, one)
		}
	}
	return most(found, 2)
}

// who names the crawlers to which something is closed, at the beginning of a sentence and within it.
func (c *closing) who() (begins, within string) {
	if c.to[0] == everyone.Name {
		return "Crawlers that no group names", "crawlers that no group names"
	}
	within = list(c.to, "other search crawler")
	return within, within
}

// own returns a number of requests of the crawlers that a text shuts out, and its unit: those that they do not make any more
// or, if they made no more before, those that they made. It is 0 if all search crawlers are shut out, or the time is not known.
func (f *Facts) own(c *closing) (n int64, unit string) {
	others := slices.ContainsFunc(f.Crawlers, func(one Crawler) bool {
		return one.Search && one.Requests > 0 && !slices.Contains(c.to, one.Name)
	})
	if !others || c.First.IsZero() {
		return 0, ""
	}
	made, lost := int64(0), 0.
	for i := range f.Crawlers {
		one := &f.Crawlers[i]
		if !slices.Contains(c.to, one.Name) {
			continue
		}
		before, within, stretches, closed := int64(0), int64(0), 0, 0
		for n, p := range one.Points {
			switch {
			case !f.start(n + 1).After(c.First):
				before, stretches = before+p.Requests, stretches+1
			case !f.start(n).Before(c.First) && f.start(n).Before(c.Last):
				within, closed = within+p.Requests, closed+1
			}
		}
		made += within
		if stretches > 0 {
			lost += float64(before)/float64(stretches)*float64(closed) - float64(within)
		}
	}
	its, it := "its", "it"
	if len(c.to) > 1 {
		its, it = "their", "them"
	}
	if lost >= 1 {
		return int64(lost), "requests fewer than at " + its + " pace before"
	}
	return made, "requests of " + it
}

// isLarge reports whether a site has much of all requests.
func (f *Facts) isLarge(file *File) bool {
	return show.Share(max(file.AllAsked, file.Requests), f.Requests) >= siteShare
}

// putSitesFirst ranks the closing of a large site for a day or longer above the closing of paths.
func (f *Facts) putSitesFirst(found []Finding) {
	most := 0.
	for _, one := range found {
		if one.Kind == ClosedPath {
			most = max(most, one.score)
		}
	}
	for i := range found {
		if one := &found[i]; one.large {
			one.score = max(one.score, most+float64(one.Number))
		}
	}
}

// putOpenBelow ranks robots.txt files that are lost below the paths that fail for search crawlers.
func putOpenBelow(found []Finding) {
	least := math.Inf(1)
	for i := range found {
		if found[i].losesPages {
			least = min(least, found[i].score)
		}
	}
	for i := range found {
		if one := &found[i]; one.opens {
			one.score = losesNoPage(one.score, least)
		}
	}
}

// isPast reports whether another text has followed a text.
func (f *Facts) isPast(file *File) bool {
	return file.Changing && !file.Last.IsZero() && timespan.Between(file.Last, f.To) > f.slack()
}

// most leaves the findings with the highest scores, at most so many.
func most(found []Finding, n int) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(b.score, a.score) })
	return found[:min(len(found), n)]
}

// host returns the host of an origin.
func host(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}

// misplaced finds texts that are no robots.txt, and such as were written for another site.
func misplaced(f *Facts) (found []Finding) {
	for i := range f.Files {
		file := &f.Files[i]
		kind, text, do := f.misplacedText(file)
		if text == "" {
			continue
		}
		for _, one := range f.findingOf(kind, file.Requests, f.Requests, file.First, file.Last, text) {
			one.file, one.Unit, one.Link, one.Title, one.Do = file, "requests while it was in force", file.Link, "Rules", do
			one.opens = file.Report.Odd.IsOdd()
			if f.isPast(file) {
				one.Text += " Another text is in force now."
				one.Do = "Find out how it got there, so that it does not come again."
			}
			found = append(found, one)
		}
	}
	return most(found, 2)
}

// misplacedText returns the fault of a text, and the remedy; "" if it has none.
func (f *Facts) misplacedText(file *File) (kind Kind, text, do string) {
	if file.Body == nil {
		return kind, "", ""
	}
	if odd := file.Report.Odd; odd.IsOdd() {
		site := file.site()
		if f.OneOrigin {
			site = "the site"
		}
		what := map[bool]string{true: "no readable text", false: "no robots.txt"}[odd.Binary()]
		if odd == robots.OddHTML {
			what = "an HTML page"
		}
		if f.isPast(file) {
			return Misplaced, fmt.Sprintf("For a time %s sent %s as robots.txt: crawlers found no rules in it, and could fetch everything.", site, what), ""
		}
		return Misplaced, fmt.Sprintf("What %s sends as robots.txt is %s, so crawlers find no rules in it and may fetch everything.", site, what),
			"Have the server answer /robots.txt with the file, or with 404 if there is none."
	}
	if stagingHosts.MatchString(host(file.Origin)) {
		return kind, "", ""
	}
	if kind = Foreign; slices.ContainsFunc(f.sites, func(c closing) bool { return c.File == file }) {
		kind = Misplaced
	}
	what := "The robots.txt" + f.of(file.site())
	if f.isPast(file) {
		what = "The robots.txt" + f.of(file.site()) + " that stood for a time"
	}
	line := 0
	for raw := range bytes.Lines(file.Body) {
		line++
		if _, comment, ok := bytes.Cut(raw, []byte("#")); ok {
			if word := stagingWords.Find(comment); word != nil {
				return kind, fmt.Sprintf("%s seems to be for a test site: the comment in line %d says “%s”.", what, line, brief(string(word))), "Put the file for this site in its place."
			}
		}
	}
	for _, s := range file.Report.Sitemaps {
		u, err := robots.SplitURL([]byte(s.URL))
		if name := host(string(u.Prefix)); err == nil && stagingHosts.MatchString(name) && name != host(file.Origin) {
			return kind, fmt.Sprintf("%s seems to be for a test site: its sitemap in line %d is on %s.", what, s.Line, brief(name)), "Put the file for this site in its place."
		}
	}
	return kind, "", ""
}

// closedPaths finds the directories that search crawlers may not fetch, though many clients ask for them, or these crawlers did
// while they might.
func closedPaths(f *Facts) (found []Finding) {
	var closed []closing
	for i := range f.Files {
		file := &f.Files[i]
		if file.Body == nil || slices.ContainsFunc(f.sites, func(c closing) bool { return c.File == file }) {
			continue
		}
		for _, c := range f.pathsOf(file) {
			closed = addClosing(closed, c)
		}
	}
	for i := range closed {
		c := &closed[i]
		past := f.isPast(c.File)
		if past && !f.isPassing(c) {
			continue
		}
		for _, one := range f.findingOf(ClosedPath, max(c.n, c.sum()), max(c.n, c.sum()), c.first, c.last, "") {
			one.Number, one.Unit, one.Link, one.Title = c.least, "requests of all clients", c.Link, "Rules"
			atLeast := ""
			if c.Others > 0 || !c.exact {
				atLeast, one.Unit = "at least ", one.Unit+", at least"
			}
			where := ", the path of " + atLeast + show.Percent(show.Share(c.least, c.of)) + " of the site's requests"
			if len(c.made) > 0 {
				where, one.Number, one.Unit = c.where(), c.sum(), "requests of crawlers while they might"
			}
			if !f.isAlone(c) {
				one.When = "" // other texts stand between its first and its last request
			}
			who, whom := c.who()
			format := "%s may not fetch %s%s%s: line %d, %s.%s"
			one.Do = "If people shall find these pages by search, allow them. Try it in What if."
			if past {
				who, format = whom, "For a time %s might not fetch %s%s%s: line %d was %s.%s"
				one.Do = "Another text is in force now. Find out how the line got there, so that it does not come again."
			}
			one.Text = fmt.Sprintf(format, who, c.name(), f.of(c.site()), where, c.rule.Line, brief(c.rule.String()), c.shares())
			found = append(found, one)
		}
	}
	return most(found, 2)
}

// isPassing reports whether a closing that is past seems to have come by mistake: it came in the time of the log, and a later text
// that is meant for the site opens the path to one of its crawlers.
func (f *Facts) isPassing(c *closing) bool {
	if timespan.Between(f.From, c.first) <= f.slack() {
		return false
	}
	return slices.ContainsFunc(f.Files, func(o File) bool {
		if o.Origin != c.Origin || o.Body == nil || !o.Last.After(c.last) {
			return false
		}
		_, fault, _ := f.misplacedText(&o)
		return fault == "" && slices.ContainsFunc(c.to, func(name string) bool {
			return !f.closesAt(f.rulesFor(&o, name), cmp.Or(c.path, c.dir))
		})
	})
}

// addClosing adds the closing of a path. A path of a site is one closing, by the last of the texts that close it. It has the
// requests and the time of earlier ones that closed the same to these crawlers, too.
func addClosing(all []closing, c closing) []closing {
	c.first, c.last, c.texts = c.First, c.Last, []*File{c.File}
	for i := range all {
		o := &all[i]
		if o.Origin != c.Origin || o.dir != c.dir || o.name() != c.name() && o.File == c.File {
			continue
		}
		early, late := *o, c
		if o.last.After(c.last) {
			early, late = c, *o
		}
		if early.name() == late.name() && !slices.ContainsFunc(late.to, func(name string) bool { return !slices.Contains(early.to, name) }) {
			late.n, late.of, late.least, late.exact = late.n+early.n, late.of+early.of, late.least+early.least, late.exact && early.exact
			if early.first.Before(late.first) {
				late.first = early.first
			}
			late.texts = append(late.texts, early.texts...)
		}
		*o = late
		return all
	}
	return append(all, c)
}

// isAlone reports whether no other text of the site stood in the time of a closing: by the changes of the site, if its text is one
// and these are known, or by the requests of its texts.
func (f *Facts) isAlone(c *closing) bool {
	changes := 0
	for i := range f.Changes {
		if one := &f.Changes[i]; one.Origin == c.Origin {
			if changes++; one.At.After(c.first) && one.At.Before(c.last) {
				return false
			}
		}
	}
	if changes > 0 && c.Others == 0 && len(c.texts) == 1 {
		return true
	}
	for i := range f.Files {
		file := &f.Files[i]
		if file.Origin == c.Origin && !slices.Contains(c.texts, file) && file.First.Before(c.last) && file.Last.After(c.first) {
			return false
		}
	}
	return true
}

// sum returns how many requests crawlers made for the path.
func (c *closing) sum() (sum int64) {
	for _, m := range c.made {
		sum += m.Requests
	}
	return sum
}

// where says how much of its requests a crawler made for the path; "" if several did.
func (c *closing) where() string {
	if len(c.made) > 1 {
		return ""
	}
	it := "it"
	if len(c.to) > 1 {
		it = show.Text(c.made[0].Crawler)
	}
	return fmt.Sprintf(", where %s made %s of its requests while it might", it, show.Percent(show.Share(c.made[0].Requests, c.made[0].Of)))
}

// shares is a sentence on the same for several crawlers; "" if there is one, or none.
func (c *closing) shares() string {
	if len(c.made) < 2 {
		return ""
	}
	var said []string
	least, others := 1., 0
	for i, m := range c.made {
		share := show.Share(m.Requests, m.Of)
		if i < 2 || len(c.made) == 3 {
			said = append(said, fmt.Sprintf("%s (%s)", show.Percent(share), show.Text(m.Crawler)))
		} else {
			least, others = min(least, share), others+1
		}
	}
	if others > 0 {
		said = append(said, fmt.Sprintf("at least %s (%d others)", show.Percent(least), others))
	}
	return " While they might, they made " + list(said, "") + " of their requests there."
}

// pathsOf returns the directories of a site that are closed to search crawlers, each the shortest one that is, without those that
// are closed on purpose as far as their names say. The name of the first directory always says so; that of another one does not if
// a crawler made many requests there while it might, and not for URLs without end.
func (f *Facts) pathsOf(file *File) (all []closing) {
	if file.AllAsked == 0 {
		return nil
	}
	for _, one := range f.searchers() {
		if one == &everyone && !f.judgesAll() {
			continue
		}
		top, total, of := "", int64(0), file.AllAsked
		for i := range file.Prefixes {
			p := &file.Prefixes[i]
			made := Part{one.Name, p.Made[one.Name], total}
			if one == &everyone { // these are of many crawlers
				made.Requests = 0
			}
			if p.Path == "/" {
				total = made.Requests
				if file.Changing {
					of = p.Within
				}
				continue
			}
			c := closing{File: file, dir: p.Path, of: of}
			if n := p.while(file); show.Share(n, of) >= limits[ClosedPath].share {
				c.n = n
			}
			isCrawled := made.Requests >= limits[ClosedPath].least && show.Share(made.Requests, total) >= limits[ClosedPath].share/10
			if !isCrawled && c.n == 0 || top != "" && strings.HasPrefix(p.Path, top) {
				continue
			}
			if c.shut = f.closesTo(one, file, p); c.by.Line == 0 {
				continue
			}
			c.rule = c.by
			top, made.Of = p.Path, f.madeElsewhere(one, file, p, total)
			isCrawled = isCrawled && show.Share(made.Requests, made.Of) >= limits[ClosedPath].share && !f.isTrap(file, one.Name, p)
			first, below, _ := strings.Cut(p.Path[1:], "/")
			if meantPaths.MatchString(first) || meantPaths.MatchString(below) && !isCrawled || !isCrawled && c.n == 0 {
				continue
			}
			n := slices.IndexFunc(all, func(o closing) bool { return o.dir == p.Path && o.path == c.path })
			if n < 0 {
				c.addTo(f, p)
				n, all = len(all), append(all, c)
			}
			if isCrawled {
				all[n].made = append(all[n].made, made)
			}
		}
	}
	slices.SortFunc(all, func(a, b closing) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.dir, b.dir), cmp.Compare(a.path, b.path))
	})
	return all
}

// A closingKey is a text, the crawlers that its groups bind, and a directory.
type closingKey struct {
	file          *File
	binding, path string
}

// closesTo returns what is closed of a directory to a search crawler of the log: nothing if it is open, or the crawler is another.
func (f *Facts) closesTo(one *Crawler, file *File, p *Prefix) shut {
	if !one.Search || one.Requests == 0 || file.Body == nil {
		return shut{}
	}
	key := closingKey{file, fmt.Sprint(file.Report.File.Binding(robots.NewAgent(one.Name, f.Dialect))), p.Path}
	by, is := f.known[key]
	if !is {
		if f.known == nil {
			f.known = map[closingKey]shut{}
		}
		by = f.shutOf(f.rulesFor(file, one.Name), file, p)
		f.known[key] = by
	}
	return by
}

// madeElsewhere returns how many requests a crawler made by the texts of a site that leave a directory open, of total in all. If
// some texts are not known, it returns total.
func (f *Facts) madeElsewhere(one *Crawler, file *File, p *Prefix, total int64) (made int64) {
	all := int64(0)
	for i := range f.Files {
		if o := &f.Files[i]; o.Origin == file.Origin {
			if all += o.Made[one.Name]; f.closesTo(one, o, cmp.Or(o.prefixAt(p.Path), p)).by.Line == 0 {
				made += o.Made[one.Name]
			}
		}
	}
	if all < total {
		return total
	}
	return made
}

// isTrap reports whether half of a crawler's requests for a directory were for URLs without end, which one closes on purpose.
func (f *Facts) isTrap(file *File, crawler string, p *Prefix) bool {
	spent := int64(0)
	for i := range f.Spaces {
		s := &f.Spaces[i]
		for _, by := range s.By {
			if s.Origin == file.Origin && by.Crawler == crawler && strings.HasPrefix(s.Example, p.Path) {
				spent += by.Requests
			}
		}
	}
	return 2*spent >= p.Made[crawler]
}

// An edit is a change that stands, or that a later change undid.
type edit struct {
	Change
	until time.Time // zero if it stands
}

// edits returns the edits that some changes of an origin make, in the order of their begin.
func edits(all []Change) (made []edit) {
	for _, c := range all {
		last := len(made) - 1
		for last >= 0 && !made[last].until.IsZero() {
			last--
		}
		if last >= 0 && len(c.Added)+len(c.Gone) > 0 && sameLines(c.Added, made[last].Gone) && sameLines(c.Gone, made[last].Added) {
			made[last].until = c.At
		} else {
			made = append(made, edit{Change: c})
		}
	}
	return made
}

// sameLines reports whether two lists have the same lines.
func sameLines(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// changed finds the origin whose robots.txt changed while the log went on. It leaves out the changes that other findings tell.
func (f *Facts) changed(others []Finding) (found []Finding) {
	of := map[string][]Change{}
	for _, c := range f.Changes {
		of[c.Origin] = append(of[c.Origin], c)
	}
	most := int64(0)
	for origin, all := range of {
		var left []edit
		number := int64(0)
		for _, e := range slices.Backward(edits(all)) {
			if !slices.ContainsFunc(others, func(one Finding) bool { return one.tells(&e, all) }) {
				left, number = append(left, e), number+1
				if !e.until.IsZero() {
					number++
				}
			}
		}
		slices.SortStableFunc(left, func(a, b edit) int { return cmp.Compare(b.standing(), a.standing()) })
		how := "changed"
		if number < int64(len(all)) {
			how = "also changed"
		}
		if number > 1 {
			how += fmt.Sprintf(" %d times", number)
		}
		var said []string
		for i := range left[:min(len(left), 2)] {
			said = append(said, left[i].say())
		}
		if len(left) > len(said) {
			said = append(said, fmt.Sprintf("and %d more", len(left)-len(said)))
		}
		text := fmt.Sprintf("The robots.txt%s %s: %s.", f.of(show.Text(origin)), how, strings.Join(said, "; "))
		for _, one := range f.findingOf(Changed, number, 0, time.Time{}, time.Time{}, text) {
			one.Unit, one.Link, one.Title, one.Do = "changes", "time", "Time", "Look whether each change was meant."
			if number == 1 {
				one.Unit = "change"
			}
			if n := all[0].Requests; found == nil || n > most || n == most && one.Text < found[0].Text {
				found, most = []Finding{one}, n
			}
		}
	}
	return found
}

// tells reports whether a finding tells of an edit, as it is about the text that the edit brought. all are the changes of the
// origin.
func (one *Finding) tells(e *edit, all []Change) bool {
	if one.file == nil || one.file.Origin != e.Origin || one.file.First.IsZero() {
		return false
	}
	brought := time.Time{}
	for i := range all {
		if !all[i].At.After(one.file.First) {
			brought = all[i].At
		}
	}
	return brought.Equal(e.At)
}

// standing is 1 for an edit that stands, and 0 for one that was undone.
func (e *edit) standing() int {
	if e.until.IsZero() {
		return 1
	}
	return 0
}

// say says which lines an edit brought and took.
func (e *edit) say() string {
	when, added, gone := "on "+e.At.Format(minute)+" ", linesOf(e.Added), linesOf(e.Gone)
	if !e.until.IsZero() {
		when = "from " + e.At.Format(minute) + " to " + e.until.Format(minute) + " "
		switch {
		case added == "":
			return when + gone + wereOf(e.Gone) + "missing"
		case gone == "":
			return when + added + wereOf(e.Added) + "in it"
		}
		return when + added + wereOf(e.Added) + "in it instead of " + gone
	}
	switch {
	case added+gone == "":
		return when + "nothing but the order of its lines changed"
	case added == "":
		return when + gone + " went"
	case gone == "":
		return when + added + " came"
	}
	return when + added + " came instead of " + gone
}

// wereOf returns the verb for so many lines.
func wereOf(lines []string) string {
	if len(lines) == 1 {
		return " was "
	}
	return " were "
}

// linesOf names lines by the one that says most; "" if there are none.
func linesOf(lines []string) string {
	switch n := len(lines); n {
	case 0:
		return ""
	case 1:
		return "“" + brief(lines[0]) + "”"
	default:
		return fmt.Sprintf("“%s” and %s", brief(telling(lines)), show.Plural(int64(n-1), "more line"))
	}
}

// telling returns the line that says most: the shortest Disallow, as that closes most, or the first line.
func telling(lines []string) string {
	best := ""
	for _, line := range lines {
		if len(line) >= 9 && strings.EqualFold(line[:9], "disallow:") && len(strings.TrimSpace(line[9:])) > 0 && (best == "" || len(line) < len(best)) {
			best = line
		}
	}
	return cmp.Or(best, lines[0])
}

// idle finds rules without effect.
func idle(f *Facts) (found []Finding) {
	for i := range f.Files {
		file := &f.Files[i]
		var said []string
		if n := len(file.Beaten); n > 0 {
			lines := make([]string, 0, n)
			for _, rule := range file.Beaten {
				lines = append(lines, strconv.Itoa(int(rule.Line)))
			}
			said = append(said, fmt.Sprintf("%s never decides anything, as another rule always wins (%s)", show.Plural(int64(n), "rule"), "line "+list(lines, "other")))
			if n > 1 {
				said[0] = strings.Replace(strings.Replace(said[0], "never decides", "never decide", 1), "(line ", "(lines ", 1)
			}
		}
		l := &limits[Idle]
		if file.Rules >= leastRules && file.Requests >= leastTried && show.Share(int64(file.Never-file.Kept), int64(file.Rules-file.Kept)) >= l.share {
			said = append(said, fmt.Sprintf("%d of %d rules matched none of %s", file.Never, file.Rules, show.Plural(file.Requests, "request")))
		}
		if len(said) == 0 {
			continue
		}
		one := Finding{
			Kind: Idle, Text: fmt.Sprintf("In the robots.txt%s %s.", f.of(file.site()), strings.Join(said, ", and ")), score: l.weight * float64(file.Requests),
			Number: int64(cmp.Or(len(file.Beaten), file.Never)), Unit: "without effect", Link: file.Link, Title: "Rules", Do: "Look whether they are spelt as the paths of the site are. Leave those that crawlers obey: nobody asks for what they close.",
		}
		if len(file.Beaten) > 0 {
			one.Do = file.beatenBy()
		}
		if file.Requests >= l.least {
			found = append(found, one)
		}
	}
	return most(found, 1)
}

// beatenBy says which rules win over others, and the remedy.
func (file *File) beatenBy() string {
	const most = 3
	said := make([]string, 0, most)
	for _, rule := range file.Beaten[:min(len(file.Beaten), most)] {
		by := rule.By
		if len(file.Beaten) > 1 {
			by = strings.Replace(by, " over it", fmt.Sprintf(" over line %d", rule.Line), 1)
		}
		said = append(said, brief(by))
	}
	do := strings.ToUpper(said[0][:1]) + strings.Join(said, "; ")[1:] + ". "
	if len(file.Beaten) > most {
		do += "The others stand beside their lines. "
	}
	if len(said) > 1 {
		do += "Of each two, t"
	} else {
		do += "T"
	}
	return do + "ake out the one that is not meant."
}

// unmatched says how many rules of the texts in force at the end matched nothing; "" if each did.
func (f *Facts) unmatched() string {
	last := map[string]*File{}
	for i := range f.Files {
		if file := &f.Files[i]; last[file.Origin] == nil || file.Last.After(last[file.Origin].Last) {
			last[file.Origin] = file
		}
	}
	never, rules := 0, 0
	for _, file := range last {
		never, rules = never+file.Never, rules+file.Rules
	}
	if never == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d rules matched nothing, see Rules", never, rules)
}
