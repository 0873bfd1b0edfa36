package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/timespan"
	"github.com/robobatch/robobatch/report/internal/findings"
	"github.com/robobatch/robobatch/report/internal/listing"
	"github.com/robobatch/robobatch/report/internal/replies"
	"github.com/robobatch/robobatch/report/internal/revisions"
	"github.com/robobatch/robobatch/report/internal/waste"
)

// A findingsView is the beginning of the page.
type findingsView struct {
	All   []findings.Finding // the most important first
	More  int64              // others
	Looks []findings.Look
	Few   string // says that there are violations, where these are too few for a finding
}

// searchSet is the purpose of crawlers that fetch for a search engine.
const searchSet = "search"

// beaten is the code of a rule that another always wins over.
const beaten = "shadowed_rule"

// findings returns the beginning of the page.
func (c *Counter) findings(v *view, within timespan.Span) findingsView {
	f := &findings.Facts{
		Requests: c.rows, FromLog: c.fromLog, Dated: c.byTime, Statuses: c.status >= 0, Addresses: c.store.Options().Ranges != nil, Dialect: c.store.Options().Dialect, Unjudged: c.unjudged, Draft: v.OldRules, OneOrigin: v.Stats.Origins == 1,
	}
	f.From, f.To, _ = within.Times()
	if !c.series.HasTimes() {
		f.From, f.To = time.Time{}, time.Time{}
	}
	c.addPoints(f, v, within)
	requests := map[string]int64{} // by origin
	for i := range v.Listings {
		l := &v.Listings[i]
		file := findings.File{
			Origin: l.Origin, Others: int64(l.Origins - 1), Link: "rules", Requests: l.Requests, First: l.First, Last: l.Last, Changing: l.Changing, AllAsked: l.AllAsked,
			Body: l.Text, Report: l.Report, Made: c.byName(l.Made),
		}
		for _, path := range l.Asked {
			file.Asked = append(file.Asked, findings.Asked(path))
		}
		for _, p := range l.Prefixes {
			file.Prefixes = append(file.Prefixes, findings.Prefix{Path: p.Path, Requests: p.Requests, Within: p.Within, Made: c.byName(p.Made), Sample: p.Sample})
		}
		if l.Report == nil {
			file.Body = nil
		}
		file.Rules, file.Never, file.Kept = neverOf(l)
		if len(l.Lines) > 0 {
			file.Link = "file-" + strconv.Itoa(i)
		}
		for _, fault := range l.Findings {
			if fault.Code == beaten {
				file.Beaten = append(file.Beaten, findings.Beaten{Line: fault.Line, By: fault.Text})
			}
		}
		f.Files = append(f.Files, file)
		requests[l.Origin] += l.Requests
	}
	if !v.OldRules { // these are rules of the draft
		f.Broken = c.broken.Most()
	}
	f.Unlike = slices.ContainsFunc(c.Misfits(), func(m conduct.Misfit) bool {
		return m.Disproves() && (f.Broken.Origin == "" || m.Origin == f.Broken.Origin)
	})
	for _, p := range v.Waste {
		if p.Pages {
			continue
		}
		f.Parameters = append(f.Parameters, findings.Parameter{Name: p.Name, Requests: p.Requests, URLs: p.URLs, Paths: p.Paths, Bare: p.Bare, Sized: p.Sized, Same: p.Same, IsCampaign: p.IsCampaign(), Rules: p.Rules()})
	}
	for i := range v.Spaces {
		f.Spaces = append(f.Spaces, v.Spaces[i].fact())
	}
	for _, r := range v.Revised {
		change := findings.Change{Origin: r.Origin, At: r.At, Requests: requests[r.Origin]}
		for _, line := range r.Added {
			change.Added = append(change.Added, line.Text)
		}
		for _, line := range r.Gone {
			change.Gone = append(change.Gone, line.Text)
		}
		f.Changes = append(f.Changes, change)
	}
	if i := v.Impostors; i != nil && len(i.Names) > 0 && len(i.Networks) > 0 {
		f.Impostors = &findings.Impostors{
			Requests: i.All.Requests, Name: i.Names[0].Name, Names: int64(len(i.Names) - 1), Network: i.Networks[0].Prefix,
			Share: float64(i.Networks[0].Requests) / float64(i.All.Requests),
		}
	}
	for _, o := range c.outages.Places(findings.FailingShare) {
		f.Outages = append(f.Outages, c.outageOf(&o))
	}
	f.Repairs = c.repairs
	f.Chain, f.Chained = c.chains.Longest()
	f.Sitemaps, f.Unserved = c.sitemapFacts(), c.txt.Unserved
	all, more := findings.Find(f)
	return findingsView{all, int64(more), findings.Looks(f), findings.FewViolations(all, v.Violated)}
}

// outageOf returns the facts of an outage.
func (c *Counter) outageOf(o *replies.Outage) findings.Outage {
	at := func(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
	all := findings.Outage{Origin: o.Origin, Path: o.Path, From: at(o.From), To: at(o.To), Every: !o.Others}
	for i := range o.By {
		p := &o.By[i]
		all.By = append(all.By, findings.Failed{Part: findings.Part{Crawler: c.agentName(p.Crawler), Requests: p.Failed, Of: p.Answered}, Statuses: p.Statuses, Hours: p.Hours})
	}
	return all
}

// byName returns numbers by crawler by their names.
func (c *Counter) byName(of map[int]int64) map[string]int64 {
	by := make(map[string]int64, len(of))
	for a, n := range of {
		by[c.agentName(a)] += n
	}
	return by
}

// fact returns the facts of a space.
func (s *spaceView) fact() findings.Space {
	one := findings.Space{On: spaceTexts[s.Kind], Origin: s.Origin, Names: s.Names, InQuery: s.InQuery, Requests: s.Requests, URLs: s.URLs, Example: s.Examples[0], Rules: s.Rules, Others: s.Others}
	for _, by := range s.Spent {
		one.By = append(one.By, findings.Part{Crawler: by.Name, Requests: by.Requests, Of: by.Of})
	}
	return one
}

// spaceTexts are the names of kinds of spaces, for findings.
var spaceTexts = map[waste.Kind]string{
	waste.Calendar: "a calendar without end", waste.Sessions: "URLs with session ids", waste.Repeats: "paths whose segments come again and again",
	waste.Duplicates: "duplicates that Clean-param names", waste.Facets: "combined filters",
}

// neverOf returns how many rules of a text bind everybody who is not named, how many of these matched nothing, and how many of those
// sites keep all the same. Rules for one crawler match nothing if it obeys them.
func neverOf(l *listing.View) (rules, never, kept int) {
	if l.Report == nil {
		return 0, 0, 0
	}
	star, meant := map[int32]bool{}, map[int32]bool{}
	for _, g := range l.Report.File.Groups {
		for _, r := range g.Rules {
			star[r.Line], meant[r.Line] = g.Star, findings.IsMeant(r.Pattern)
		}
	}
	for i := range l.Uses {
		if use := &l.Uses[i]; star[use.Line] {
			if rules++; use.Decided.Requests+use.Matched.Requests == 0 {
				never++
				if meant[use.Line] {
					kept++
				}
			}
		}
	}
	return rules, never, kept
}

// addPoints adds the crawlers, without impostors, and their requests by stretches of time: days, or hours of a short log.
func (c *Counter) addPoints(f *findings.Facts, v *view, within timespan.Span) {
	step := 1
	if timespan.Between(f.From, f.To) < 8*timespan.Day {
		step = 0
	}
	points, faked := c.series.Points(within, step, 1<<12), c.faked.Points(within, step, 1<<12)
	if points != nil && (points.Step == "hour" || points.Step == "day") {
		f.Starts, f.ByHour, f.All = points.Starts, points.Step == "hour", make([]int64, len(points.Starts))
		for _, cells := range points.Cells {
			for i, n := range cells {
				f.All[i] += n
			}
		}
	}
	for a, counts := range c.AgentCounts(v.Run) {
		if c.fromLog && a == 0 {
			continue
		}
		token, _, _ := strings.Cut(counts.Name, "/")
		known, _ := crawlers.Lookup(token)
		one := findings.Crawler{Name: counts.Name, Named: a >= len(c.store.Options().Agents), Search: slices.Contains(known.Purposes, searchSet), Violations: counts.Violations, Requests: counts.Allowed + counts.Denied + counts.Unknown - counts.Verified[ranges.No].Rows}
		f.Compared += counts.Verified[ranges.Yes].Rows + counts.Verified[ranges.No].Rows
		f.Stale += counts.Verified[ranges.Stale].Rows
		f.Unlisted += counts.Verified[ranges.Unpublished].Rows + counts.Verified[ranges.Null].Rows
		one.Unsure = one.Violations - min(one.Violations, counts.Verified[ranges.Yes].Denied)
		one.Stale, one.Unlisted, one.Published = counts.Verified[ranges.Stale].Denied > 0, counts.Verified[ranges.Unpublished].Denied > 0, len(known.Ranges) > 0
		if c.fromLog {
			own := &c.own[a]
			one.Answers = own.Answers
			for i := range own.samples {
				one.Samples[i] = c.sampleOf(&own.samples[i])
			}
		}
		if v.Conduct != nil {
			row := c.conducts.RowOf(counts.Name)
			one.Judged, one.Asked, one.Knew, one.NeverAsked = true, row.Robots, row.Broke[conduct.Knew], row.Broke[conduct.NeverAsked]
		}
		if f.Starts != nil && c.fromLog && a < len(points.Cells) {
			one.Points = make([]findings.Point, len(f.Starts))
			for i := range one.Points {
				one.Points[i] = findings.Point{Requests: points.Cells[a][i], Violations: points.Bad[a][i], Answers: points.Answers[a][i]}
				if faked != nil && a < len(faked.Cells) {
					one.Points[i].Requests -= faked.Cells[a][i]
					one.Points[i].Answers = one.Points[i].Sub(faked.Answers[a][i])
				}
			}
		}
		f.Crawlers = append(f.Crawlers, one)
	}
}

// revised returns the revisions of texts in the time of the log, by time.
func (c *Counter) revised(run *Run, within timespan.Span) (all []revisions.Revision) {
	from, to, ok := within.Times()
	if !ok || !c.byTime {
		return nil
	}
	for _, r := range revisions.Of(slices.Clone(run.Revisions)) {
		if r.At.After(from) && !r.At.After(to) {
			all = append(all, r)
		}
	}
	return all
}

// moments returns when texts were revised.
func (v *view) moments() (all []time.Time) {
	for i := range v.Revised {
		all = append(all, v.Revised[i].At)
	}
	return all
}

// The limits of the revisions on the page.
const (
	shownRevisions = 60
	shownLines     = 40 // of a revision that came, and of those that went
)

// ShownRevisions returns the revisions that the page shows: the first ones.
func (v *view) ShownRevisions() []revisions.Revision {
	return v.Revised[:min(len(v.Revised), shownRevisions)]
}

// MoreRevisions returns how many others there are.
func (v *view) MoreRevisions() int64 { return int64(max(0, len(v.Revised)-shownRevisions)) }

// sampleOf returns a sample of answers by the clock of the page.
func (c *Counter) sampleOf(s *replies.Sample) findings.Sample {
	all := findings.Sample{Of: int64(s.Came)}
	for _, row := range s.Rows {
		one := findings.Answer{Status: row.Status, Path: row.Path}
		if row.At != engine.NoTime {
			one.At = time.UnixMicro(c.clock.Shown(row.At)).UTC()
		}
		all.Rows = append(all.Rows, one)
	}
	return all
}
