package report

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/robots"
)

// A Diagnosis holds the findings of a log, and the limits of what the log can show.
type Diagnosis = diagnose.Diagnosis

// FindingCodes are all codes of findings that a [Diagnosis] may contain.
var FindingCodes = diagnose.Codes

// ShownFindings is the number of findings shown at once; others are folded below.
const ShownFindings = diagnose.Shown

// addHour counts a row for the diagnosis, if it has a time.
func (c *Counter) addHour(b *engine.Batch, r *rowKey, denied bool, page uint32) error {
	if c.hours == nil || len(b.Times) == 0 || b.Times[r.row] == engine.NoTime {
		return nil
	}
	agent, status := r.agent, max(diagnose.NoStatus, intOf(b, c.status, r.row))
	if r.faked {
		agent |= diagnose.Impostor
	}
	client := uint32(0)
	if r.isTxt || status/100 == 5 {
		if len(b.Clients) > 0 {
			client = uint32(xxh3.Hash(b.Piece(b.Clients[r.row])))
		} else if len(b.UserAgents) > 0 {
			client = uint32(xxh3.Hash(b.Piece(b.UserAgents[r.row])))
		}
	}
	origin := c.originOf(b, r.row)
	if !r.isTxt {
		if r.faked || !c.searchesFor(r.agent) {
			page = 0
		}
		c.request = diagnose.Request{Origin: origin, Path: pathOf(b.URL(r.row)), Agent: agent, Status: status, Client: client, At: b.Times[r.row], Size: page, Named: agent > 0 && !denied && !r.faked}
		return c.hours.AddPage(&c.request)
	}
	if !c.isGet(b, r.row) {
		status = diagnose.NoStatus
	}
	return c.hours.AddTxt(origin, agent, status, max(0, intOf(b, c.bytes, r.row)), client, b.Times[r.row])
}

// originOf returns the origin of a row. It is valid until the next call.
func (c *Counter) originOf(b *engine.Batch, row int) []byte {
	c.rowOrigin = c.rowOrigin[:0]
	if n, stray := b.Sites[row].Stray(); stray {
		c.rowOrigin = append(c.rowOrigin, b.Strays[n]...)
	} else {
		c.rowOrigin = append(c.rowOrigin, c.look.Origin(b.Sites[row])...)
	}
	return c.rowOrigin
}

// searchesFor reports whether a number belongs to a search crawler.
func (c *Counter) searchesFor(agent uint16) bool {
	for n := len(c.searches); n <= int(agent); n++ {
		c.searches = append(c.searches, n > 0 && isSearch(c.callers.Names()[n]))
	}
	return c.searches[agent]
}

// pathOf returns a URL without its origin.
func pathOf(url []byte) []byte {
	from := bytes.IndexByte(url, ':') + len("://")
	end := bytes.IndexByte(url[min(from, len(url)):], '/')
	if end < 0 {
		return nil
	}
	return url[from+end:]
}

// Diagnose returns the findings of the log. Call it after Settle. Without crawlers of the log there are none.
func (c *Counter) Diagnose(run *Run) (Diagnosis, error) {
	if c.hours == nil {
		return diagnose.Find(nil, &diagnose.Log{})
	}
	log := &c.log
	log.Zone, log.Statuses, log.Dialect, log.Violations = c.zone, c.hasStatuses(), c.store.Options().Dialect, run.Stats.Violations
	log.Agents, log.Conducts, log.Networks = nil, nil, map[int]string{}
	for a, n := range c.AgentCounts(run) {
		token, _, _ := strings.Cut(n.Name, "/")
		known, _ := crawlers.Lookup(token)
		log.Agents = append(log.Agents, diagnose.Agent{Name: token, Search: a > 0 && isSearch(token), Verified: n.Verified[ranges.Yes].Rows > 0, Listed: len(known.Ranges) > 0})
	}
	if run.Old == "" || c.byTime { // otherwise the rules are a draft that the site never served
		log.Texts = c.texts(run)
	}
	for _, p := range c.panels {
		if p.facts != nil {
			p.facts(log)
		}
	}
	d, err := diagnose.Find(c.hours, log)
	for i := range d.Findings {
		f := &d.Findings[i]
		for _, t := range log.Texts { // keep the last one
			if t.Origin != f.Origin || t.Body == nil {
				continue
			}
			switch rule, _ := strings.CutPrefix(f.Evidence.Rule, "Disallow: "); {
			case f.Remedy.Pattern != "":
				f.Remedy.Text = regroup(t.Body, log.Dialect, f, "")
			case f.Ongoing && (f.Code == diagnose.SectionClosed || f.Code == diagnose.ResourcesBlocked || f.Code == diagnose.SiteClosed):
				f.Remedy.Text = regroup(t.Body, log.Dialect, f, rule)
			}
		}
		if f.Remedy.Tried = len(f.Remedy.Examples); f.Remedy.Text == "" {
			f.Remedy.Pattern, f.Remedy.Tried = "", 0
		}
	}
	return d, err
}

// regroup returns the groups for the crawlers of a finding, changed by the remedy: its pattern is added, or a rule is
// removed. A line in a separate group could have no effect, or free the crawler from the rules that bind it. If the
// finding affects only some crawlers of a group, these get their own group, and their names are removed from the old
// one. The result is empty if the new text does not give the expected verdicts.
func regroup(body []byte, d robots.Dialect, f *diagnose.Row, gone string) string {
	file, patterns := robots.Inspect(body, d).File, []string{f.Remedy.Pattern}
	if name, isParameter := strings.CutPrefix(f.Remedy.Pattern, "/*?"); isParameter { // maybe second in a query
		patterns = append(patterns, "/*&"+name)
	}
	agentOf := func(name string) (robots.Agent, robots.Dialect) {
		if agent, own, ok := robots.DocumentedAgent(name, d); ok {
			return agent, own
		}
		return robots.NewAgent(name, d), d
	}
	isOwn := f.Code == diagnose.SiteClosed || f.Code == diagnose.BytesHog
	var groups []string
	for _, name := range f.Agents {
		agent, own := agentOf(name)
		binding, isNamed := file.Binding(agent), false
		var lines, left, rules, old []string
		for _, other := range f.Agents {
			if one, _ := agentOf(other); isOwn && slices.Equal(file.Binding(one), binding) {
				lines = append(lines, "User-agent: "+other)
			}
		}
		for _, n := range binding {
			for _, token := range file.Groups[n].Agents {
				isOne := slices.ContainsFunc(f.Agents, func(a string) bool { return token.Equal(robots.ProductToken(a)) })
				if isNamed = isNamed || isOne; !isOwn || !isOne {
					left = append(left, "User-agent: "+string(token))
				}
			}
			if file.Groups[n].Star {
				left = append(left, "User-agent: *")
			}
		}
		if len(lines) == 0 {
			lines = left
		}
		if len(lines) == 0 {
			lines = []string{"User-agent: *"}
		}
		bound, _ := file.Select(agent)
		for _, r := range bound {
			if old = append(old, r.String()); gone == "" || r.Allow || r.Value != gone {
				rules = append(rules, r.String())
			}
		}
		for _, p := range patterns {
			if p != "" {
				rules = append(rules, "Disallow: "+p)
			}
		}
		group := strings.Join(append(lines, rules...), "\n") + "\n"
		changed, _ := robots.Inspect([]byte(group), own).File.Select(agent)
		isOpen := func(path string) bool {
			rule := robots.Decide(changed, []byte(path), own)
			return rule < 0 || changed[rule].Allow
		}
		probes := slices.Clip(f.Remedy.Examples)
		if !strings.HasSuffix(f.Remedy.Pattern, "$") {
			probes = append(probes, strings.ReplaceAll(f.Remedy.Pattern, "*", "0")+"0")
		}
		if gone != "" && !isOpen(f.Path+"0") || gone == "" && slices.ContainsFunc(probes, isOpen) {
			return ""
		}
		if isOwn && isNamed && len(left) > 0 {
			group += "\n" + strings.Join(append(left, old...), "\n") + "\n"
		}
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return strings.Join(groups, "\n")
}

// texts returns the texts that were in force, by origin and time. A text that is assumed for the whole log has no
// time, because a file's time is only that of its last change.
func (c *Counter) texts(run *Run) (all []diagnose.Text) {
	for _, t := range run.Revisions {
		one := diagnose.Text{Origin: t.Origin, At: t.Sent, Body: t.Body}
		if n := len(all); !c.byTime {
			if one.At = (time.Time{}); n > 0 && all[n-1].Origin == t.Origin {
				all = all[:n-1]
			}
		}
		all = append(all, one)
	}
	return all
}

// endFacts completes the facts about URLs for the diagnosis.
func (c *Counter) endFacts() {
	var others []diagnose.Space
	log := &c.log
	log.Failing, log.Soft, others = c.failing.End()
	log.Parameters, log.Spaces = c.waste.End()
	for _, s := range others {
		if !slices.ContainsFunc(log.Spaces, func(o diagnose.Space) bool { return o.Origin == s.Origin && o.Text == s.Text && o.Path == s.Path }) {
			log.Spaces = append(log.Spaces, s)
		}
	}
	log.Hogs = []diagnose.Hog{c.hog}
	for i := range c.hogs {
		if all := c.hogs[i].End(); all.Bytes > 0 {
			log.Hogs = append(log.Hogs, all)
		}
	}
	slices.SortStableFunc(log.Hogs[1:], func(a, b diagnose.Hog) int { return cmp.Compare(b.Bytes, a.Bytes) })
	log.Chain.Shapes, log.Chain.Redirects = c.chains.Longest()
}

// diagnoseURL updates the diagnosis with a URL and all its requests.
func (c *Counter) diagnoseURL(u *aggregate.URL) {
	visit, page, size := &c.visit, diagnose.Page{By: c.once[:0]}, aggregate.Request{}
	*visit = diagnose.Visit{URL: u.Text, Origin: u.Prefix, PathEnd: u.PathEnd, Spent: visit.Spent[:0]}
	taking := c.taking[:0]
	for i := range u.Requests {
		r := &u.Requests[i]
		k := &c.kinds.all[r.Kind]
		size.AddPage(r.Page)
		if visit.Served += r.Served; c.status < 0 {
			visit.Served += r.Rows
		}
		page.Failing = page.Failing || r.Errors > 0
		isFree := k.agent > 0 && k.denies == 0 && !k.faked
		switch isKnown := slices.Contains(page.By, int(k.agent)); {
		case !isFree:
			page.Again = true
		case !isKnown:
			page.By = append(page.By, int(k.agent))
			fallthrough
		default:
			page.Twice = page.Twice || isKnown || r.Rows > 1
		}
		if isFree {
			visit.Failed += r.Failed
			visit.AddSpent(int(k.agent), r.Rows)
		}
		if k.agent == 0 {
			visit.Others += r.Rows
		}
		if k.agent == 0 || k.faked {
			continue
		}
		page.Missing = page.Missing || r.Missing > 0
		if c.searchesFor(k.agent) && r.Page > 0 && c.sitemaps != nil {
			page.Size = r.Page
		}
		n := slices.IndexFunc(taking, func(h diagnose.Hog) bool { return h.Agent == int(k.agent) })
		if n < 0 {
			n, taking = len(taking), append(taking, diagnose.Hog{Agent: int(k.agent)})
		}
		taking[n].Bytes += r.Bytes
		taking[n].Requests += r.Rows
	}
	for i := range taking { // among equal sizes, the first URL counts; a URL that a crawler requests once a day is not reported
		one := &taking[i]
		c.hogs[one.Agent].Add(one.Agent, u.Text[:u.Prefix], u.Text[u.Prefix:u.PathEnd], one.Requests, one.Bytes)
		if one.Bytes > c.hog.Bytes && c.hours.IsOften(one.Requests) {
			c.hog = *one
			c.hog.Origin, c.hog.Path = string(u.Text[:u.Prefix]), show.Text(string(u.Text[u.Prefix:]))
		}
	}
	if c.taking = taking; !robots.IsTxt(u.Text[u.Prefix:]) {
		visit.Size = int64(size.Page)
		c.waste.Add(visit)
	}
	if c.once = page.By; c.sitemaps != nil && (page.Size > 0 || len(page.By) > 0 || visit.Served > 0) {
		page.Listed = c.sitemaps.Lists(u.Text)
	}
	c.failing.Add(u.Text[:u.PathEnd], u.Prefix, page)
}
