package report

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/report/internal/impostors"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/report/internal/waste"
)

// A Diagnosis is the findings of a log, each made from one row, and the limits of the log.
type Diagnosis = diagnose.Diagnosis

// FindingCodes are the codes that findings of a [Diagnosis] may have.
var FindingCodes = diagnose.Codes

// addHour counts a row for the diagnosis, if it has a time.
func (c *Counter) addHour(b *engine.Batch, r *rowKey, denied bool, page uint32) error {
	if c.hours == nil || len(b.Times) == 0 || b.Times[r.row] == engine.NoTime {
		return nil
	}
	site, agent, status := b.Sites[r.row], r.agent, int64(diagnose.NoStatus)
	if r.faked {
		agent |= diagnose.Impostor
	}
	if c.status >= 0 && b.Kept[c.status].Present[r.row] {
		status = b.Kept[c.status].Ints[r.row]
	}
	var origin []byte
	if n, stray := site.Stray(); stray {
		origin = append(c.hourOrigin[:0], b.Strays[n]...)
	} else {
		origin = append(c.hourOrigin[:0], c.look.Origin(site)...)
	}
	c.hourOrigin = origin
	if !b.IsTxt(r.row) {
		path := pathOf(b.URL(r.row))
		err := c.hours.AddPage(origin, path, agent, status, b.Times[r.row])
		if err == nil && page > 0 && !r.faked && c.searchesFor(r.agent) {
			err = c.hours.AddSize(origin, path, agent, page, b.Times[r.row])
		}
		if err == nil && agent > 0 && !denied && !r.faked {
			err = c.hours.AddParameters(origin, path, agent, status, b.Times[r.row])
		}
		return err
	}
	size, client := int64(0), uint32(0)
	if c.method >= 0 {
		if method := b.Piece(b.Kept[c.method].Texts[r.row]); len(method) > 0 && !bytes.EqualFold(method, []byte("GET")) {
			status = diagnose.NoStatus
		}
	}
	if c.bytes >= 0 && b.Kept[c.bytes].Present[r.row] {
		size = b.Kept[c.bytes].Ints[r.row]
	}
	if len(b.Clients) > 0 {
		client = uint32(xxh3.Hash(b.Piece(b.Clients[r.row])))
	} else if len(b.UserAgents) > 0 {
		client = uint32(xxh3.Hash(b.Piece(b.UserAgents[r.row])))
	}
	return c.hours.AddTxt(origin, agent, status, size, client, b.Times[r.row])
}

// searchesFor reports whether a number is of a search crawler.
func (c *Counter) searchesFor(agent uint16) bool {
	for n := len(c.searches); n <= int(agent); n++ {
		name, _, _ := strings.Cut(c.callers.Names()[n], "/")
		c.searches = append(c.searches, n > 0 && isSearch(name))
	}
	return c.searches[agent]
}

// pathOf returns a URL without its origin.
func pathOf(url []byte) []byte {
	i := bytes.Index(url, []byte("://"))
	if i < 0 {
		return nil
	}
	end := bytes.IndexByte(url[i+3:], '/')
	if end < 0 {
		return nil
	}
	return url[i+3+end:]
}

// Diagnose returns the findings of the log, after Settle, with Options.Diagnoses and crawlers of the log.
func (c *Counter) Diagnose(run *Run) (Diagnosis, error) {
	log := &diagnose.Log{Statuses: c.status >= 0, Lists: c.fakes != nil, Sitemaps: c.listed != nil, Dialect: c.store.Options().Dialect, Failing: c.missing}
	counts := c.AgentCounts(run)
	for a, name := range c.callers.Names() {
		one := diagnose.Agent{Name: name, Search: a > 0 && isSearch(name)}
		if a < len(counts) {
			token, _, _ := strings.Cut(counts[a].Name, "/")
			one.Name, one.Search = token, a > 0 && isSearch(token)
			one.Verified = counts[a].Verified[ranges.Yes].Rows > 0
		}
		log.Agents = append(log.Agents, one)
	}
	if run.Old == "" || c.byTime { // else they are a draft, which nobody was sent
		log.Texts = c.texts(run)
	}
	c.addFacts(log)
	return diagnose.Find(c.hours, log)
}

// texts returns the texts that were in force, by origin and time. Where one is taken for all of the log, that has no time: files have that of
// their last change.
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

// addFacts adds what others count.
func (c *Counter) addFacts(log *diagnose.Log) {
	var named []string // parameters that make URLs without end
	for _, s := range c.spaces.Rows() {
		if s.Kind == waste.Facets || s.Kind == waste.Duplicates || !s.InQuery {
			continue
		}
		one := diagnose.Space{Text: spaceTexts[s.Kind], Origin: s.Origin, Path: shared(s.Examples), URLs: s.URLs, Requests: s.Requests, By: map[int]int64{}, Rules: s.Rules}
		for _, by := range s.By {
			one.By[by.Crawler] += by.Requests
		}
		named = append(named, s.Names...)
		log.Spaces = append(log.Spaces, one)
	}
	log.Spaces = append(log.Spaces, c.many...)
	parameters, _ := c.waste.Rows()
	for _, p := range parameters {
		if !slices.Contains(named, p.Name) && !p.NamesPages() && !p.IsCampaign() && p.Values() >= diagnose.LeastValues { // one value beside the number of a page makes no pages
			log.Parameters = append(log.Parameters, diagnose.Parameter{Name: p.Name, URLs: p.URLs, Paths: p.Paths, Bare: p.Bare, Sized: p.Sized, Same: p.Same, Rules: p.Rules()})
		}
	}
	log.Bytes, log.Hog, log.Soft = c.sent, c.hog, c.soft
	for i := range c.hogs[1:len(log.Agents)] {
		log.Hogs = append(log.Hogs, c.hogs[1+i].End())
	}
	slices.SortStableFunc(log.Hogs, func(a, b diagnose.Hog) int { return cmp.Compare(b.Bytes, a.Bytes) })
	log.Chain.Shapes, log.Chain.Redirects = c.chains.Longest()
	if v := c.listed; v != nil {
		log.Listing = diagnose.Listing{Listed: v.Listed, Missing: v.Missing, MissingIn: v.MissingIn, Requests: v.MissingAsked}
	}
	for a := 1; a < len(log.Agents) && c.conducts != nil; a++ {
		row := c.conducts.RowOf(c.callers.Names()[a])
		known, _ := crawlers.Lookup(log.Agents[a].Name)
		log.Conducts = append(log.Conducts, diagnose.Conduct{
			Agent: a, Requests: row.Requests - row.Impostors, Knew: row.Broke[conduct.Knew], First: row.FirstKnew, Last: row.LastKnew, Gaps: row.Gaps, Short: row.ShortGaps,
			Listed: c.fakes != nil && len(known.Ranges) > 0,
		})
	}
	if c.impostors == nil {
		return
	}
	log.Networks = map[int]string{}
	for a := range log.Agents {
		i := slices.IndexFunc(c.impostors.Networks, func(n impostors.Network) bool { return len(n.Names) > 0 && n.Names[0].Name == log.Agents[a].Name })
		if i >= 0 {
			log.Networks[a] = c.impostors.Networks[i].Prefix
		}
	}
}

// shared returns the directory that paths have in common.
func shared(paths []string) string {
	common := paths[0]
	for _, path := range paths {
		for !strings.HasPrefix(path, common) {
			common = common[:len(common)-1]
		}
	}
	return common[:strings.LastIndexByte(common, '/')+1]
}

// addHog counts the bytes that crawlers took of a URL, of its directory and of all, and looks whether one took more than any took of another;
// of equal ones the first stands. Of a URL that it fetches once a day nobody is told.
func (c *Counter) addHog(u *aggregate.URL) {
	if c.hours == nil {
		return
	}
	for i := range u.Requests {
		one := diagnose.Hog{Agent: int(c.kinds.all[u.Requests[i].Kind].agent)}
		if c.isOther(uint16(one.Agent)) || c.kinds.all[u.Requests[i].Kind].faked {
			continue
		}
		own := &c.hogs[one.Agent]
		own.Add(one.Agent, u.Text[:u.Prefix], u.Text[u.Prefix:u.PathEnd], u.Requests[i].Rows, u.Requests[i].Bytes)
		if u.Requests[i].Bytes == 0 {
			continue
		}
		for j := range u.Requests {
			if r, k := &u.Requests[j], &c.kinds.all[u.Requests[j].Kind]; int(k.agent) == one.Agent && !k.faked {
				one.Bytes, one.Requests = one.Bytes+r.Bytes, one.Requests+r.Rows
			}
		}
		if one.Bytes > c.hog.Bytes && c.hours.IsOften(one.Requests) {
			one.Origin, one.Path = string(u.Text[:u.Prefix]), show.Text(string(u.Text[u.Prefix:]))
			c.hog = one
		}
	}
}

// addFailing counts a URL for its directories, if requests of search crawlers for it found nothing, or it failed.
func (c *Counter) addFailing(u *aggregate.URL) {
	if c.hours == nil {
		return
	}
	page := diagnose.Page{By: c.once[:0]}
	for i := range u.Requests {
		r := &u.Requests[i]
		k := &c.kinds.all[r.Kind]
		if c.isFree(k) && r.Rows == 1 && !slices.Contains(page.By, int(k.agent)) {
			page.By = append(page.By, int(k.agent))
		} else {
			page.Again = true
		}
		page.Failing = page.Failing || r.Errors > 0
		if k.agent > 0 && !k.faked {
			page.Missing = page.Missing || r.Missing > 0
			if c.searchesFor(k.agent) && r.Page > 0 && c.sitemaps != nil {
				page.Size = r.Page
			}
		}
	}
	if c.once = page.By; c.sitemaps != nil && (page.Size > 0 || len(page.By) > 0) {
		page.Listed = c.sitemaps.Lists(u.Text)
	}
	if page.Missing || page.Failing || page.Size > 0 || len(page.By) > 0 {
		c.failing.Add(u.Text[:u.PathEnd], u.Prefix, page)
	}
}
