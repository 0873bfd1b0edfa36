// Package diagnose finds problems between a site and its crawlers. Each finding is one [Row] over the counts of a log,
// from which its sentence, numbers, dates and remedy are derived. All thresholds are in one table in limits.go, and all
// sentences in one in sentences.go. The comment at the head of a function find… says what proves its findings. Package
// report imports it.
//
// [Counts] are exact, made in one pass, for any memory and order of rows. Chains of redirects are estimates in large
// logs, see [Chains]. [Find] reads the counts twice: first for the tables of crawlers and sites, then for the
// directories, one after the other.
package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/robots"
)

// A Diagnosis is the result of [Find].
type Diagnosis struct {
	Findings  []Row       `json:"findings"` // most important first
	Limits    []Row       `json:"limits"`   // of the log: what cannot be determined
	Unchecked []Unchecked `json:"unchecked"`
	AllClear  bool        `json:"all_clear"` // no finding and no violation, and enough data to say so

	Violations int64 `json:"violations"` // requests of crawlers that robots.txt disallowed

	Sites  []string  `json:"sites"` // at most mostSites sites of the log, by number of requests
	From   time.Time `json:"from,omitzero"`
	To     time.Time `json:"to,omitzero"`
	Warned bool      `json:"-"` // an input does not match its declared format
}

// Shown is the number of findings shown at once; others are folded below.
const Shown = 7

// An Unchecked lists codes that were not checked, and what they need.
type Unchecked struct {
	Codes []string `json:"codes"`
	Needs string   `json:"needs"`
}

// listUnchecked returns the codes that were not checked, each with what it needs; never nil. Some codes that need
// captures are also checked if sizes in the log prove that a text without a time was in force.
func (log *Log) listUnchecked(c *Counts) []Unchecked {
	all, lasted := []Unchecked{}, c.dates[1]-c.dates[0]
	for _, one := range []struct {
		isMissing bool
		needs     string
		codes     []string
	}{
		{c.isEmpty(), "times in the log", Codes},
		{!log.Statuses, "status codes in the log", []string{Outage, RobotsFailed, CrawlerRefused, RobotsMissing, RobotsOther, ServerErrors, NotFoundSection, RedirectChain, SitemapBad, SoftNotFound}},
		{!c.isEmpty() && lasted < day, "a log of at least a day", []string{Outage, RobotsFailed, CrawlerRefused, RobotsMissing, RobotsOther, ServerErrors}},
		{!c.isEmpty() && lasted < leastLog, "a log of at least four days", []string{CrawlerStopped, CrawlerSlowed, CrawlerSurge}},
		{!slices.ContainsFunc(log.Texts, func(t Text) bool { return !t.At.IsZero() }), "dated copies of robots.txt, -as-of log", []string{SiteClosed, RobotsOther, SectionClosed, ResourcesBlocked, RulesIgnored}},
		{log.Bytes == 0, "sizes in the log", []string{RobotsOther, BytesHog, SoftNotFound}},
		{len(log.Conducts) == 0, "status codes in the log, and rules that were in force", []string{DelayIgnored, RulesIgnored}},
		{!log.Lists, "-ranges", []string{Impostors}},
		{!log.Sitemaps, "-in-sitemap", []string{SitemapBad, SoftNotFound}},
	} {
		if one.isMissing {
			all = append(all, Unchecked{one.codes, one.needs})
		}
	}
	return all
}

// Verdict says what it means that nothing was found; "" if there are findings.
func (d *Diagnosis) Verdict() string {
	text := "Nothing was found, but the log is too small to show that all is well. That needs status codes, times, and 100 page requests by one search crawler, most of them successful."
	switch {
	case len(d.Findings) > 0:
		return ""
	case d.Violations > 0:
		text = "No problem was found, but crawlers made " + show.Plural(d.Violations, "request") + " that robots.txt disallows."
	case d.Warned:
		text = "No problem was found."
	case d.AllClear:
		text = "Nothing was found that requires action."
	}
	if d.Warned {
		text += " Check the inputs first: the numbers may be wrong."
	}
	return text
}

// Find returns the findings of a log. If c is nil, nothing is checked. Nothing may be added to c afterwards. The error
// is about its temporary file.
func Find(c *Counts, log *Log) (d Diagnosis, err error) {
	d = Diagnosis{Violations: log.Violations, Findings: []Row{}, Limits: []Row{}, Unchecked: []Unchecked{{Codes, "crawlers of the log: -agent-from-log"}}, Sites: []string{}}
	if c == nil {
		return d, nil
	}
	if d.Unchecked = log.listUnchecked(c); c.isEmpty() {
		return d, nil
	}
	g, err := newGrid(c, log)
	if err != nil {
		return d, err
	}
	d.From, d.To = timeOf(g.from), timeOf(g.to)
	for _, s := range g.sites {
		d.Sites = append(d.Sites, s.origin)
	}
	if total(g.sumTraffic(g.traffic[1:len(g.Agents)])).n == 0 {
		g.limits = append(g.limits, Row{Code: NoCrawlers, From: timeOf(g.from), To: timeOf(g.to)})
	}
	g.findGaps()
	if log.Statuses {
		for _, s := range g.sites {
			g.findRefused(s)
			g.findTxt(s)
		}
	}
	if err := g.surveyAll(); err != nil {
		return d, err
	}
	g.findStopped()
	g.findSurges()
	g.findSlowed()
	g.findConduct()
	g.findImpostors()
	g.findListed()
	d.Findings, d.Limits = g.rank(), append(d.Limits, g.limits...)
	for i := range d.Limits {
		g.completeRow(&d.Limits[i])
		g.writeSentence(&d.Limits[i])
	}
	for _, a := range g.searches() {
		var pages, good count
		for _, s := range g.sites {
			pages.add(s.pages.sum(byAgent(a), isPage))
			good.add(s.pages.sum(byAgent(a), isServed))
		}
		if pages.n < leastCrawl {
			continue
		}
		if d.AllClear = len(d.Findings) == 0 && log.Statuses && log.Violations == 0 && 2*good.n >= pages.n && pages.last-good.last < day; !d.AllClear {
			break // gets no page, now or at all
		}
	}
	return d, nil
}

// causeOrder returns the precedence of a code among causes, the lowest first. CrawlerSurge and the codes after it have
// equal precedence.
func causeOrder(code string) int {
	return min(slices.Index(Codes, code), slices.Index(Codes, CrawlerSurge))
}

// rank returns the rows to show, the most important first; never nil. Rows that follow from another row become its
// effects. It fills in the derived fields, the sentences and remedies.
func (g *grid) rank() []Row {
	rows := slices.DeleteFunc(g.rows, func(r Row) bool { return !g.isShown(&r) })
	for i := range rows {
		r := &rows[i]
		g.completeRow(r)
		if r.lost == 0 { // only a cost
			r.lost = float64(r.Requests) / 4
			if slices.Contains([]string{RobotsMissing, BytesHog, CrawlerSurge}, r.Code) {
				r.lost = float64(r.Requests) / 10
			}
		}
		if r.Severity = r.lost; r.Ongoing {
			r.Severity *= 3
		}
		if len(r.Agents) > 0 && !slices.ContainsFunc(g.agentNumbers(r), g.isSearch) {
			r.Severity /= 4
		}
		r.Severity = rounded(r.Severity)
		for j := 1; j < len(g.Texts) && r.Begins == "known"; j++ { // a change within the day before, except of comments
			now, last := &g.Texts[j], &g.Texts[j-1]
			if now.Origin == last.Origin && (r.Origin == "" || r.Origin == now.Origin) && now.At.After(r.From.Add(-24*time.Hour)) && !now.At.After(r.From) && g.comparableRules(now) != g.comparableRules(last) {
				r.Evidence.TextChange = now.At.UTC().Format(time.RFC3339)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(causeOrder(a.Code), causeOrder(b.Code)), cmp.Compare(b.Severity, a.Severity), a.From.Compare(b.From), cmp.Compare(a.Path, b.Path), slices.Compare(a.Agents, b.Agents))
	})
	causes := make([]int, len(rows))
	for i := range rows {
		causes[i] = slices.IndexFunc(rows, func(c Row) bool { return g.explains(&c, &rows[i]) })
	}
	for i, cause := range causes {
		for cause >= 0 && causes[cause] >= 0 {
			cause = causes[cause]
		}
		if r := &rows[i]; cause >= 0 {
			rows[cause].Effects = append(rows[cause].Effects, Effect{r.Code, r.Agents, r.Path, r.From, r.To, r.Requests})
		}
	}
	left := []Row{}
	for i := range rows {
		if causes[i] < 0 {
			g.writeSentence(&rows[i])
			left = append(left, rows[i])
		}
	}
	score := func(r *Row) float64 {
		if r.Code == RulesIgnored && r.Class == "C" { // others may have caused it
			return 0
		}
		return r.Severity * map[string]float64{"A": 1, "B": .5, "C": .25}[r.Class]
	}
	slices.SortStableFunc(left, func(a, b Row) int { return cmp.Or(cmp.Compare(score(&b), score(&a)), b.To.Compare(a.To)) })
	all := slices.Clone(left)
	return slices.DeleteFunc(left, func(r Row) bool { // no remedy may open what another one closes
		return r.Code == SectionClosed && slices.ContainsFunc(all, func(o Row) bool {
			return o.Code == EndlessURLs && o.Origin == r.Origin && (strings.HasPrefix(r.Path, o.Path) || isBelow(o.Path, r.Path) && score(&o) > score(&r))
		})
	})
}

// isShown reports whether a row has enough requests. A surge is only a cost, so its share of the crawler's own
// requests does not count.
func (g *grid) isShown(r *Row) bool {
	switch r.Code {
	case RobotsFailed, RobotsMissing, RobotsOther, SitemapBad:
		return true
	case SiteClosed:
		if r.Class == "A" && r.Requests == 0 { // no requests all the time
			return true
		}
	}
	n := r.Requests
	if r.Code == ResourcesBlocked {
		n = max(n, r.Evidence.Visitors)
	}
	if float64(n) >= max(leastShown, leastShownShare*g.requests) {
		return true
	}
	return r.Code != CrawlerSurge && n > 0 && slices.ContainsFunc(g.agentNumbers(r), func(a uint16) bool {
		return float64(n) >= leastOwnShare*total(g.traffic[a]).n
	})
}

// comparableRules returns the groups and rules of a text without line numbers, in a form that can be compared.
func (g *grid) comparableRules(t *Text) string {
	groups := slices.Clone(robots.Inspect(t.Body, g.Dialect).File.Groups)
	for i := range groups {
		groups[i].Line, groups[i].Rules = 0, slices.Clone(groups[i].Rules)
		for j := range groups[i].Rules {
			groups[i].Rules[j].Line = 0
		}
	}
	return fmt.Sprint(groups)
}

// effects maps the code of a cause to the codes that may follow from it.
var effects = map[string][]string{
	RobotsFailed:     {CrawlerStopped, CrawlerSlowed, SiteClosed, RobotsMissing},
	Outage:           {RobotsFailed, ServerErrors, CrawlerStopped, CrawlerSlowed, NotFoundSection},
	CrawlerRefused:   {CrawlerStopped, CrawlerSlowed, ServerErrors, RobotsFailed, RobotsMissing},
	SiteClosed:       {CrawlerStopped, CrawlerSlowed, SectionClosed, ResourcesBlocked},
	RobotsOther:      {RulesIgnored, SectionClosed, SiteClosed},
	RobotsMissing:    {RulesIgnored},
	SectionClosed:    {CrawlerStopped, CrawlerSlowed},
	ResourcesBlocked: {SectionClosed},
	CrawlerStopped:   {CrawlerSlowed, CrawlerSurge},
	NotFoundSection:  {SitemapBad},
	SitemapBad:       {NotFoundSection},
}

// explains reports whether the row r follows from the row cause: its agents are among those of the cause, and at least
// half of its time is within the time of the cause. A site that is down explains why robots.txt failed, and not the
// other way round.
func (g *grid) explains(cause, r *Row) bool {
	if !slices.Contains(effects[cause.Code], r.Code) || cause.Origin != "" && r.Origin != "" && cause.Origin != r.Origin {
		return false
	}
	within, isSame, fits := *cause, cause.Path == r.Path, true
	switch r.Code {
	case RobotsFailed:
		fits = cause.Code == Outage && cause.Path == "/"
	case CrawlerStopped, CrawlerSlowed: // may begin later and last longer; a section cannot lose more than it had
		within.To = within.To.Add(24 * time.Hour)
		early := time.Duration(effectEarly)
		if r.Code == CrawlerSlowed { // its beginning is the most likely hour
			early = day
		}
		fits = !r.From.Before(cause.From.Add(-early*time.Second)) && (cause.Code != SectionClosed || float64(r.Requests) <= 2*cause.Evidence.Share*r.Evidence.Expected)
	case SectionClosed:
		fits = cause.Code != ResourcesBlocked || isSame
	case SitemapBad: // nearly all disappeared with their section or the site
		return cause.Path == "/" || isSame && 5*r.Evidence.Paths >= 4*r.Evidence.URLs
	case NotFoundSection: // a part of what a sitemap lists, or of what fails
		if cause.Code == SitemapBad {
			return isBelow(r.Path, cause.Path)
		}
		fits = isSame
	case ServerErrors:
		fits = isSame
	}
	others := 0
	for _, a := range r.Agents {
		others += bit(!slices.Contains(cause.Agents, a) && !slices.Contains(cause.also, a))
	}
	if r.Evidence.Kind == allStopped { // a few crawlers that it does not bind may have stopped with the others
		others -= len(r.Agents) / 4
	}
	isOf := len(cause.Agents) == 0 || len(r.Agents) > 0 && others <= 0 || r.Code == ServerErrors || r.Code == NotFoundSection
	return fits && isOf && 2*sharedSeconds(&within, r) >= float64(r.duration())
}
