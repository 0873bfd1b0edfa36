package report

import (
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/report/internal/revisions"
	"github.com/robobatch/robobatch/report/internal/show"
)

// A Cause is a finding with its number on the page, combined with equal findings of other origins.
type Cause struct {
	*diagnose.Row
	No    int
	Where string // the affected origins, if the log has several; "" if the sentence names them or all are affected
	Same  []*diagnose.Row
}

// Headline returns the sentence of the finding, with the origins to which it applies.
func (f Cause) Headline() string {
	if f.Where == "" {
		return f.Sentence
	}
	return f.Where + ": " + f.Sentence
}

// Lines returns the lines of the robots.txt groups that the remedy changes.
func (f Cause) Lines() []string {
	return strings.Split(strings.TrimSpace(f.Remedy.Text), "\n")[:strings.Count(f.Remedy.Text, "\n")]
}

// Causes returns the findings of a diagnosis. Findings of several origins at the same time are combined if they have
// the same cause.
func Causes(d *Diagnosis) (all []Cause) {
	for i := range d.Findings {
		r := &d.Findings[i]
		n := slices.IndexFunc(all, func(c Cause) bool {
			isSame := func(o *diagnose.Row) bool { return o.Origin == r.Origin }
			return r.Origin != "" && c.Origin != "" && !isSame(c.Row) && !slices.ContainsFunc(c.Same, isSame) &&
				c.Code == r.Code && c.Path == r.Path && c.Evidence.Rule == r.Evidence.Rule && c.Evidence.Status == r.Evidence.Status && !r.From.After(c.To) && !c.From.After(r.To)
		})
		if n >= 0 {
			all[n].Same = append(all[n].Same, r)
		} else {
			all = append(all, Cause{Row: r, No: len(all) + 1})
		}
	}
	for i := range all {
		c := &all[i]
		if others := int64(len(c.Same)); others > 0 {
			c.Where = c.Origin + " and " + show.Plural(others, "other origin")
		} else if len(d.Sites) > 1 && !strings.Contains(c.Sentence, c.Origin) {
			c.Where = c.Origin
		}
	}
	return all
}

// Alike returns the number of other origins whose robots.txt has gained the rule of a finding, since one day before
// the finding. They have no finding of their own: their requests are too few, or they are not among the origins that
// are examined separately.
func (v *view) Alike(c Cause) int64 {
	origins := map[string]bool{}
	for _, r := range v.Revised {
		if !r.At.Before(c.From.Add(-24*time.Hour)) && r.At.Before(c.To) && slices.ContainsFunc(r.Added, func(l revisions.Line) bool { return l.Text == c.Evidence.Rule }) {
			origins[r.Origin] = true
		}
	}
	for _, own := range append(c.Same, c.Row) {
		delete(origins, own.Origin)
	}
	return int64(len(origins))
}

// Checked returns the codes that were checked.
func (v *view) Checked() []string {
	return slices.DeleteFunc(slices.Clone(FindingCodes), func(code string) bool {
		return slices.ContainsFunc(v.Diagnosis.Unchecked, func(u diagnose.Unchecked) bool { return slices.Contains(u.Codes, code) })
	})
}

// Follows returns the effects of a finding, combined by code. The finding itself is excluded.
func (f Cause) Follows() (all []diagnose.Effect) {
	isTraffic := func(code string) bool { return code == diagnose.CrawlerStopped || code == diagnose.CrawlerSlowed }
	for _, e := range f.Effects {
		if isTraffic(f.Code) && isTraffic(e.Code) && !slices.ContainsFunc(e.Agents, func(a string) bool { return !slices.Contains(f.Agents, a) }) {
			continue
		}
		i := slices.IndexFunc(all, func(o diagnose.Effect) bool { return o.Code == e.Code && o.Path == e.Path })
		if i < 0 {
			i, all = len(all), append(all, diagnose.Effect{Code: e.Code, Path: e.Path})
		}
		for _, a := range e.Agents {
			if !slices.Contains(all[i].Agents, a) {
				all[i].Agents = append(all[i].Agents, a)
			}
		}
	}
	return all
}

// checks maps codes to what they check.
var checks = map[string]string{
	diagnose.Outage: "outages", diagnose.RobotsFailed: "failed fetches of robots.txt", diagnose.CrawlerRefused: "refused crawlers", diagnose.SiteClosed: "closed sites",
	diagnose.RobotsOther: "other robots.txt served", diagnose.RobotsMissing: "missing robots.txt", diagnose.SectionClosed: "closed sections", diagnose.ResourcesBlocked: "blocked CSS and scripts",
	diagnose.ServerErrors: "server errors", diagnose.CrawlerStopped: "stopped crawlers", diagnose.CrawlerSlowed: "slower crawlers", diagnose.CrawlerSurge: "surges of crawlers",
	diagnose.NotFoundSection: "missing sections", diagnose.RedirectChain: "redirect chains", diagnose.ParameterCrawl: "crawled parameters", diagnose.EndlessURLs: "endless URLs",
	diagnose.BytesHog: "large downloads", diagnose.DelayIgnored: "ignored Crawl-delay", diagnose.RulesIgnored: "ignored rules", diagnose.Impostors: "impostors",
	diagnose.SitemapBad: "failing URLs of sitemaps", diagnose.SoftNotFound: "soft 404s",
}

// partsOfCodes maps finding codes to the sections of the page that have their numbers. Codes that are missing belong
// to the section of paths.
var partsOfCodes = map[string]string{
	diagnose.Outage: "answers", diagnose.RobotsFailed: "answers", diagnose.RobotsMissing: "answers", diagnose.CrawlerRefused: "answers", diagnose.ServerErrors: "answers",
	diagnose.SiteClosed: "rules", diagnose.RobotsOther: "rules", diagnose.SectionClosed: "rules", diagnose.ResourcesBlocked: "rules",
	diagnose.CrawlerStopped: "time", diagnose.CrawlerSlowed: "time", diagnose.CrawlerSurge: "time",
	diagnose.DelayIgnored: "conduct", diagnose.RulesIgnored: "conduct", diagnose.Impostors: "impostors", diagnose.SitemapBad: "sitemaps",
}

// PartOf returns the ID of the section that has the numbers of a finding.
func (v *view) PartOf(code string) Panel {
	parts := v.Parts()
	if i := slices.IndexFunc(parts, func(p Panel) bool { return p.ID == partsOfCodes[code] }); i >= 0 {
		return parts[i]
	}
	return Panel{ID: "paths", Title: "Paths"}
}
