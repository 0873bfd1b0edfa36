package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/report/internal/diagnose"
)

// A findingsView is the findings at the top of the page: those that are listed first, and the rest, which is folded.
type findingsView struct{ First, More []findingView }

// A findingView is a finding, and its name in links.
type findingView struct {
	*diagnose.Row
	ID string
}

// Lines returns those of the groups that its remedy changes.
func (v findingView) Lines() []string {
	return strings.Split(strings.TrimSpace(v.Remedy.Text), "\n")[:strings.Count(v.Remedy.Text, "\n")]
}

// Left returns how many findings are folded.
func (v *findingsView) Left() int64 { return int64(len(v.More)) }

// newFindings returns the findings of a diagnosis.
func newFindings(d *Diagnosis) *findingsView {
	if len(d.Findings) == 0 {
		return nil
	}
	all := make([]findingView, len(d.Findings))
	for i := range all {
		all[i] = findingView{&d.Findings[i], fmt.Sprintf("finding-%d", i+1)}
	}
	first := min(len(all), ShownFindings)
	return &findingsView{all[:first], all[first:]}
}

// partsOfCodes are the sections of the page that have the numbers of findings. Others are about paths.
var partsOfCodes = map[string]string{
	diagnose.Outage: "answers", diagnose.RobotsFailed: "answers", diagnose.RobotsMissing: "answers", diagnose.CrawlerRefused: "answers", diagnose.ServerErrors: "answers",
	diagnose.SiteClosed: "rules", diagnose.RobotsOther: "rules", diagnose.SectionClosed: "rules", diagnose.ResourcesBlocked: "rules",
	diagnose.CrawlerStopped: "time", diagnose.CrawlerSlowed: "time", diagnose.CrawlerSurge: "time",
	diagnose.DelayIgnored: "conduct", diagnose.RulesIgnored: "conduct", diagnose.Impostors: "impostors", diagnose.SitemapBad: "sitemaps",
}

// PartOf returns the section of the page that has the numbers of a finding.
func (v *view) PartOf(code string) part {
	parts := v.Parts()
	if i := slices.IndexFunc(parts, func(p part) bool { return p.ID == partsOfCodes[code] }); i >= 0 {
		return parts[i]
	}
	return part{"paths", "Paths"}
}
