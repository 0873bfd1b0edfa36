package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/conducts"
	"github.com/robobatch/robobatch/report/internal/impostors"
	"github.com/robobatch/robobatch/report/internal/listing"
	"github.com/robobatch/robobatch/report/internal/revisions"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/report/internal/sitemaps"
	"github.com/robobatch/robobatch/report/internal/timeline"
	"github.com/robobatch/robobatch/report/internal/useragents"
)

// A view is the data that the template reads.
type view struct {
	*Run
	Sections []Panel    // bytes left of MaxBytes
	Room     func() int // the bytes that are left of MaxBytes
	FromLog  bool
	Several  bool // crawlers that are asked for
	Agents   []string
	Dialect  string
	OldRules bool // whether the previous rules define violations, because a draft cannot be violated
	Requests int64
	Bad      int64
	Strays   int64
	URLs     int64
	Denied   int64 // verdicts
	Verdicts int64
	Violated int64
	Period   string
	Zone     string // whose days and hours are shown
	HasTimes bool
	NoTimes  int64
	Status   bool
	HasBytes bool // of responses, if each request has one verdict

	SparkStep   string // of the spark lines: "By day"
	Apart       int64  // requests that they leave out, see timeline.Series.Shown
	Crawlers    []Crawler
	Sums        []Crawler // of sets of crawlers, and of all
	Paths       pathView
	Time        *timeline.View
	Uncounted   int64 // requests that Listings do not count, because memory was full
	Incomplete  bool  // some numbers of rules that only matched are too small, because memory was full
	Served      *list
	Failed      *list
	Own         Crawler          // sum of the crawlers of the log
	Others      Crawler          // the other clients of the log
	Clients     *useragents.View // User-Agents of Others; nil without crawlers of the log
	Verified    []Crawler        // crawlers of the log with verification results; nil without address lists
	VerifiedSum *Crawler         // sum of Verified; nil if that has only one row
	Lists       int64
	ListDays    string          // dates of the lists; "" if unknown
	Impostors   *impostors.View // nil if there are none
	Conduct     *conducts.View  // nil if the run has no evidence of what crawlers knew
	Sitemaps    *sitemaps.View  // nil without sitemaps
	Training    *trainingView   // nil without preferences
	Listings    []listing.View
	Changes     *changesView // nil without rules before
	Revised     []revisions.Revision
	Causes      []Cause       // the findings
	Sites       *sitesView    // nil of one site
	Each        []crawlerView // of crawlers of the log
	Answered    int64         // requests of pages with a status
	Errors      int64         // those with 4xx or 5xx
}

// newView returns the data that the template reads.
func (c *Counter) newView(run *Run) *view {
	o := c.store.Options()
	v := &view{
		Run: run, FromLog: c.fromLog, Several: !c.fromLog && len(o.Agents) > 1, Agents: o.Agents, Dialect: o.Dialect.String(),
		Requests: c.rows, Bad: c.bad, Strays: c.strays, URLs: c.urls, Denied: c.denied, Verdicts: run.Stats.Rows,
		Violated: run.Stats.Violations, HasTimes: c.series.HasTimes(), NoTimes: c.series.None, Status: c.hasStatuses(),
	}
	v.Zone, v.HasBytes = c.clock.Name(), c.bytes >= 0 && !v.Several
	v.OldRules = c.fromLog && run.Old != "" && !c.byTime
	if v.HasTimes {
		within := c.series.Shown()
		v.Period = timeline.Text(within.First) + " to " + timeline.Text(within.Last) + " " + v.Zone
		if n := c.series.Outside(within); n > 0 {
			v.Period += ", except " + show.Plural(n, "request")
		}
	}
	for _, p := range c.panels {
		if p.view != nil && p.view(v) {
			v.Sections = append(v.Sections, Panel{ID: p.ID, Title: p.Title})
		}
	}
	return v
}

// nameOf returns a description of the rule or reason that denied a request.
func (c *Counter) nameOf(n int32) string {
	r := &c.denials.rules[n]
	switch {
	case r.line > 0:
		return fmt.Sprintf("line %d: %s", r.line, r.text)
	case r.line < 0:
		return "other rules"
	}
	texts := map[engine.Reason]string{
		engine.ReasonNoRobots: "no robots.txt in -rules", engine.ReasonUnreachable: "robots.txt was unreachable",
		engine.ReasonUnreachableExpired: "robots.txt was unreachable for over 30 days", engine.ReasonStatus4xx: "robots.txt: status 4xx",
		engine.ReasonRedirectLimit: "robots.txt: too many redirects", engine.ReasonTooLarge: "robots.txt is too large",
		engine.ReasonDefault: "no rule matches", engine.ReasonNoGroup: "no group applies to the crawler",
	}
	return cmp.Or(texts[r.reason], r.reason.String())
}

// First returns the findings that are shown at once.
func (v *view) First() []Cause { return v.Causes[:min(len(v.Causes), ShownFindings)] }

// ShowsErrors reports whether the table of rules shows errors: only if each request has one verdict and the log has
// status codes.
func (v *view) ShowsErrors() bool { return v.Status && !v.Several }

// RuleColumns returns the number of columns of a robots.txt's table.
func (v *view) RuleColumns() int { return 5 + int(bit(v.HasBytes)+bit(v.ShowsErrors())) }

// Known returns the number of crawlers, without unidentified clients.
func (v *view) Known() int64 { return int64(len(v.Crawlers)) - int64(bit(v.Others.Requests > 0)) }

// Parts returns all sections in their order.
func (v *view) Parts() []Panel { return slices.Concat(v.Sections, v.Panels) }

// withoutFlags are the flags of the page that other commands do not accept or do not need.
var withoutFlags = map[string]string{
	"": " -old ", "coverage": " -old -cache -in-sitemap -ranges -ranges-age ", "diff": " -cache -in-sitemap -ranges -ranges-age ",
	"conduct": " -old -agent -agent-from-log -unknown-agents -in-sitemap -ranges -ranges-age ",
}

// Command returns a command line that runs another command on the logs and rules of the page. A sitemap is treated as
// a log of its URLs.
func (v *view) Command(what, end string) string {
	command, ins := what, v.Inputs
	if what == "sitemap" {
		command, ins = "-format sitemap -agent @search", nil
	}
	words := append(strings.Fields("robobatch "+command), "-rules", v.Rules)
	if what == "diff" {
		words = append(words, "-old", v.Old)
	}
	for _, in := range ins {
		words = append(words, "-in", in)
	}
	for _, f := range v.Flags {
		name, values := f.Name, []string{f.Value}
		if slices.Contains([]string{"-ranges", "-field", "-in-sitemap"}, name) { // they may be repeated
			values = strings.Split(f.Value, ",")
		}
		switch {
		case what == "sitemap" && name == "-in-sitemap":
			name = "-in"
		case what == "sitemap" && name != "-base" && name != "-origin", !strings.HasPrefix(name, "-"), strings.Contains(withoutFlags[what]+" -timezone -previous ", " "+name+" "):
			continue
		}
		for _, value := range values {
			if words = append(words, name); value != "true" {
				words = append(words, value)
			}
		}
	}
	for i, word := range words {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,") != "" {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ") + end
}

// Never returns a command line that prints the URLs of listed.tsv without requests in crawled.tsv. If the log names
// crawlers, the command ignores requests of unidentified clients and of impostors.
func (v *view) Never() string {
	isCrawler := ""
	if v.FromLog {
		isCrawler = `if ($2 != "*" && $3 != "no") `
	}
	return `awk -F'\t' 'NR == FNR { ` + isCrawler + `seen[$1] = 1; next } FNR > 1 && !seen[$1]++ { print $1 }' crawled.tsv listed.tsv`
}

// After returns the section that follows another.
func (v *view) After(id string) Panel {
	all := append(v.Parts(), Panel{ID: "end", Title: "the end"})
	return all[1+slices.IndexFunc(all, func(p Panel) bool { return p.ID == id })]
}

// Heading returns the heading of the page: the most requested host and the number of others; the name of the log if
// it has no host.
func (v *view) Heading() string {
	host, n := v.Host()
	if host == "" {
		return cmp.Or(v.Logs(), "robots.txt report")
	}
	others, noun := int64(n), "other host"
	if v.ManyOrigins() { // a host may have two
		others, noun = v.Stats.Origins-1, "other origin"
	}
	if others > 0 {
		return show.Text(host) + " and " + show.Plural(others, noun)
	}
	return host
}

// ManyOrigins reports whether the log has more origins than the run has names for.
func (v *view) ManyOrigins() bool { return v.Stats.Origins > engine.Top }

// Logs returns the names of the logs; "" if there are none.
func (v *view) Logs() string {
	switch n := len(v.Inputs); n {
	case 0:
		return ""
	case 1:
		return path.Base(strings.ReplaceAll(v.Inputs[0], `\`, "/"))
	default:
		return fmt.Sprintf("%d logs", n)
	}
}

// Textless returns the number of files whose lines the page omits to limit its size.
func (v *view) Textless() (n int64) {
	for i := range v.Listings {
		if f := &v.Listings[i]; f.Hidden > 0 && len(f.Lines) == 0 {
			n++
		}
	}
	return n
}

// Revisions returns the changes of robots.txt, combined if several origins have the same change.
func (v *view) Revisions() []revisions.Revision { return revisions.Alike(v.Revised) }
