package report

import (
	"slices"
	"strings"

	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/report/internal/timeline"
)

// A findingsView holds the findings at the top of the page: those shown first, and the rest, which is folded.
type findingsView struct{ First, More []findingView }

// A findingView is a finding, its number, and the same finding for other origins.
type findingView struct {
	*diagnose.Row
	No   int
	Same []*diagnose.Row
}

// Lines returns the lines of the groups that the remedy changes.
func (f findingView) Lines() []string {
	return strings.Split(strings.TrimSpace(f.Remedy.Text), "\n")[:strings.Count(f.Remedy.Text, "\n")]
}

// newFindings returns the findings of a diagnosis. Findings of several origins with one cause are combined.
func newFindings(d *Diagnosis) *findingsView {
	if len(d.Findings) == 0 {
		return nil
	}
	type cause struct {
		code, path, rule string
		status           int
	}
	var all []findingView
	at := map[cause]int{}
	for i := range d.Findings {
		r := &d.Findings[i]
		one := cause{r.Code, r.Path, r.Evidence.Rule, r.Evidence.Status}
		if n, known := at[one]; known && r.Origin != "" && !slices.ContainsFunc(append(all[n].Same, all[n].Row), func(o *diagnose.Row) bool { return o.Origin == r.Origin }) {
			all[n].Same = append(all[n].Same, r)
			continue
		}
		if r.Origin != "" {
			at[one] = len(all)
		}
		all = append(all, findingView{r, len(all) + 1, nil})
	}
	first := min(len(all), ShownFindings)
	return &findingsView{all[:first], all[first:]}
}

// Follows returns the effects of a finding, combined by code, without repeating the finding itself.
func (f findingView) Follows() (all []diagnose.Effect) {
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

// spans returns the time range of the first findings, and the affected crawlers.
func (v *findingsView) spans(shown func(int64) int64) (spans []timeline.Span, agents []string) {
	if v == nil {
		return nil, nil
	}
	for _, f := range v.First {
		if f.Begins != "log_start" || f.Ends != "log_end" {
			spans = append(spans, timeline.Span{From: shown(f.From.UnixMicro()) / 1e6, To: shown(f.To.UnixMicro()) / 1e6, No: f.No})
		}
		agents = append(agents, f.Agents[:min(1, len(f.Agents))]...)
	}
	return spans, agents
}

// partsOfCodes maps codes to the sections of the page with their numbers. Other codes are about paths.
var partsOfCodes = map[string]string{
	diagnose.Outage: "answers", diagnose.RobotsFailed: "answers", diagnose.RobotsMissing: "answers", diagnose.CrawlerRefused: "answers", diagnose.ServerErrors: "answers",
	diagnose.SiteClosed: "rules", diagnose.RobotsOther: "rules", diagnose.SectionClosed: "rules", diagnose.ResourcesBlocked: "rules",
	diagnose.CrawlerStopped: "time", diagnose.CrawlerSlowed: "time", diagnose.CrawlerSurge: "time",
	diagnose.DelayIgnored: "conduct", diagnose.RulesIgnored: "conduct", diagnose.Impostors: "impostors", diagnose.SitemapBad: "sitemaps",
}

// PartOf returns the section of the page with the numbers of a finding.
func (v *view) PartOf(code string) Panel {
	parts := v.Parts()
	if i := slices.IndexFunc(parts, func(p Panel) bool { return p.ID == partsOfCodes[code] }); i >= 0 {
		return parts[i]
	}
	return Panel{ID: "paths", Title: "Paths"}
}
