package report

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/conducts"
	"github.com/robobatch/robobatch/report/internal/diagnose"
	"github.com/robobatch/robobatch/report/internal/impostors"
	"github.com/robobatch/robobatch/report/internal/listing"
	"github.com/robobatch/robobatch/report/internal/revisions"
	"github.com/robobatch/robobatch/report/internal/timeline"
	"github.com/robobatch/robobatch/report/internal/useragents"
)

// A panel is a section of the page, with its own counts. Each function may be nil, which means that there is nothing
// to do.
type panel struct {
	ID, Title string
	rows      func(decided, b *engine.Batch) error // counts a batch, given as evaluated and in the form of [engine.Batch.ForCrawlers]
	end       func() error                         // ends the count, after all URLs
	facts     func(log *diagnose.Log)              // gives what findings need to know
	view      func(v *view) bool                   // fills in its part of the view, and reports whether the page has the section
	close     func()                               // removes temporary files
}

// Section returns the HTML of a section: the template named like its ID.
func (v *view) Section(id string) (template.HTML, error) {
	var text strings.Builder
	err := page().ExecuteTemplate(&text, id, v)
	return template.HTML(text.String()), err //nolint:gosec // it is a template's, which escapes
}

// newPanels returns the panels in the order of the page.
func (c *Counter) newPanels(memory int64, opt *Options) []panel {
	training := training{counter: c}
	return []panel{
		{ID: "overview", Title: "What to do", view: c.viewOverview},
		{ID: "periods", Title: "Two periods", view: func(v *view) bool { return v.Periods != nil }},
		{ID: "sites", Title: "Sites", view: c.viewSites},
		c.crawlersPanel(memory, opt.TempDir),
		{ID: "rules", Title: "Rules", view: func(v *view) bool {
			name := c.agentName
			if !v.FromLog && !v.Several {
				name = nil
			}
			v.Listings, v.Uncounted, v.Incomplete = listing.New(v.Files, name), c.rules.uncounted, c.rules.Left()
			return true
		}},
		{ID: "paths", Title: "Paths", view: func(v *view) bool {
			v.Paths = c.pathView(c.root, c.root.Requests)
			return true
		}},
		{ID: "time", Title: "Time", view: func(v *view) bool {
			within := c.series.Shown()
			var spans []timeline.Span
			var first []string // crawlers of findings
			for _, f := range v.First() {
				if f.Begins != "log_start" || f.Ends != "log_end" {
					spans = append(spans, timeline.Span{From: c.clock.Shown(f.From.UnixMicro()) / 1e6, To: c.clock.Shown(f.To.UnixMicro()) / 1e6, No: f.No})
				}
				first = append(first, f.Agents[:min(1, len(f.Agents))]...)
			}
			var changes []time.Time
			if v.IsDated() {
				changes = append(changes, v.Periods.At)
			}
			for i := range v.Revised {
				changes = append(changes, v.Revised[i].At)
			}
			v.Time = c.series.View(within, timeline.Options{
				FromLog: c.fromLog, Several: c.verdicts > 1, Name: c.agentName, Changes: changes, Errors: v.Status, Spans: spans, First: first,
			})
			return v.Time != nil
		}},
		c.conductPanel(opt),
		c.impostorsPanel(memory, opt.TempDir),
		{ID: "training", Title: "AI training", rows: training.addBatch, view: training.view},
		{ID: "answers", Title: "Answers", view: func(v *view) bool {
			if v.Status {
				v.Served, v.Failed = c.list("disallowed but served", &c.served), c.list("allowed but failing", &c.failed)
			}
			return v.Status
		}},
		{ID: "sitemaps", Title: "Sitemaps", facts: func(log *diagnose.Log) {
			if v := c.listed; v != nil {
				log.Sitemaps, log.Listing = true, diagnose.Listing{Listed: v.Listed, Missing: v.Missing, MissingIn: v.MissingIn, Requests: v.MissingAsked}
			}
		}, view: func(v *view) bool {
			v.Sitemaps = c.listed
			return v.Sitemaps != nil
		}},
		{ID: "changes", Title: "Changes", view: func(v *view) bool {
			others := ""
			if c.fromLog {
				others = v.Agents[0]
			}
			v.Changes = newChanges(v.Run.Changes, others)
			return v.Changes != nil
		}},
	}
}

// viewOverview fills in the parts of the view that several sections use: crawlers, sums, and findings.
func (c *Counter) viewOverview(v *view) bool {
	sparks := c.series.Points(c.series.Shown(), 1, timeline.SparkPoints)
	if sparks != nil {
		v.SparkStep, v.Apart = "By "+sparks.Step, sparks.Apart()
	}
	v.Crawlers, v.Sums = c.crawlers(v.Run, sparks)
	for i := range v.Crawlers {
		if row := &v.Crawlers[i]; row.Name == otherClients {
			v.Others = *row
		} else if c.fromLog {
			v.Own.addRow(row)
		}
	}
	for _, classes := range c.classes {
		for class, n := range classes[1:] {
			v.Answered += n
			v.Errors += n * int64(bit(class+1 >= 4))
		}
	}
	if from, to, ok := c.series.Shown().Times(); ok && c.byTime {
		v.Revised = slices.DeleteFunc(revisions.Of(slices.Clone(v.Run.Revisions)), func(r revisions.Revision) bool { return !r.At.After(from) || r.At.After(to) })
	}
	v.Each = c.sections.view(c.agentName)
	v.Causes = Causes(&v.Diagnosis)
	return true
}

// addVerified adds the verification results: which requests of crawlers came from their operators.
func (v *view) addVerified(lists *ranges.Lists) {
	v.Lists = int64(lists.Len())
	if oldest, newest, ok := lists.Span(); ok {
		v.ListDays = oldest.Format(time.DateOnly)
		if last := newest.Format(time.DateOnly); last != v.ListDays {
			v.ListDays += " to " + last
		}
	}
	sum := &Crawler{Name: "all crawlers"}
	for i := range v.Crawlers {
		if row := &v.Crawlers[i]; row.Name != otherClients {
			v.Verified = append(v.Verified, *row)
			sum.addRow(row)
		}
	}
	slices.SortStableFunc(v.Verified, func(a, b Crawler) int {
		return cmp.Or(cmp.Compare(b.verified[ranges.No].Rows, a.verified[ranges.No].Rows), cmp.Compare(b.Requests, a.Requests))
	})
	if len(v.Verified) > 1 {
		v.VerifiedSum = sum
	}
}

// crawlersPanel returns the panel of crawlers. It also counts unidentified clients by User-Agent, and requests for
// robots.txt.
func (c *Counter) crawlersPanel(memory int64, dir string) panel {
	var seen *useragents.View
	p := panel{ID: "crawlers", Title: "Crawlers", view: func(v *view) bool {
		v.Clients = seen
		if lists := c.store.Options().Ranges; lists != nil {
			v.addVerified(lists)
		}
		return true
	}}
	if !c.fromLog {
		return p
	}
	clients := useragents.New(max(1, memory/8), dir)
	p.close = clients.Close
	p.rows = func(_, b *engine.Batch) error {
		for i := range b.Len() {
			if agent := c.callers.Number(b, i); agent != 0 {
				if b.Sites[i] != engine.NoSite && b.IsTxt(i) && (len(b.Verified) == 0 || b.Verified[i] != ranges.No) {
					c.sections.addTxt(c, b, i, agent)
				}
				continue
			}
			var header []byte
			if len(b.UserAgents) > 0 {
				header = b.Piece(b.UserAgents[i])
			}
			if err := clients.AddRow(header, b.Verdicts[i].Access == engine.Denied); err != nil {
				return err
			}
		}
		return nil
	}
	p.end = func() (err error) {
		seen, err = clients.View()
		return err
	}
	return p
}

// conductPanel returns the panel about what crawlers knew of the rules. It counts only if the run has the evidence
// for that.
func (c *Counter) conductPanel(opt *Options) panel {
	p, o := panel{ID: "conduct", Title: "Conduct"}, c.store.Options()
	if !c.fromLog || !o.Evidence || opt.Status <= 0 || opt.Conduct > 0 && 2*conduct.Least(c.store.NumSites()) > opt.Conduct {
		return p
	}
	counts := conducts.New(c.store, conduct.Options{
		Memory: opt.Conduct, TempDir: opt.TempDir, Cache: o.Cache, Status: opt.Status, Method: opt.Method, Bytes: opt.Bytes, Texts: opt.Texts,
	})
	p.close = counts.Close
	p.rows = func(decided, _ *engine.Batch) error { return counts.Write(decided) }
	p.end = func() error {
		err := counts.Judge(c.series.Shown(), c.clock.Shown)
		c.mismatches = counts.Mismatches()
		return err
	}
	p.facts = func(log *diagnose.Log) {
		for a, name := range c.callers.Names()[1:] { // without other clients
			row := counts.RowOf(name)
			log.Conducts = append(log.Conducts, diagnose.Conduct{
				Agent: a + 1, Requests: row.Requests - row.Impostors, Knew: row.Broke[conduct.Knew], First: row.FirstKnew, Last: row.LastKnew, Gaps: row.Gaps, Short: row.ShortGaps,
			})
		}
	}
	p.view = func(v *view) bool {
		v.Conduct = counts.View()
		return v.Conduct != nil
	}
	return p
}

// impostorsPanel returns the panel about impostors. It counts only if there are address lists.
func (c *Counter) impostorsPanel(memory int64, dir string) panel {
	p := panel{ID: "impostors", Title: "Impostors"}
	if !c.fromLog || c.store.Options().Ranges == nil {
		return p
	}
	var seen *impostors.View
	counts := impostors.New(max(1, memory/16), dir)
	c.taken, p.close = impostors.NewTaken(), counts.Close
	p.rows = func(_, b *engine.Batch) error {
		for i, answer := range b.Verified {
			if answer != ranges.No {
				continue
			}
			one := impostors.Count{Requests: 1, Bytes: max(0, c.bytesOf(b, i))}
			if b.Verdicts[i].Access == engine.Denied {
				one.Denied = 1
			}
			network := ranges.ParseClient(b.Piece(b.Clients[i])).Network
			if err := counts.AddRow(network, b.URL(i), c.callers.Number(b, i), one); err != nil {
				return err
			}
		}
		return nil
	}
	p.end = func() (err error) {
		if seen, err = counts.View(c.agentName); err == nil {
			seen.Taken, seen.URLs, seen.HasBytes = c.taken.Items(), c.fakeURLs, c.bytes >= 0
			impostors.ByRequests(seen.Taken)
		}
		return err
	}
	p.facts = func(log *diagnose.Log) {
		log.Lists = true
		for a := range log.Agents {
			i := slices.IndexFunc(seen.Networks, func(n impostors.Network) bool { return len(n.Names) > 0 && n.Names[0].Name == log.Agents[a].Name })
			if i >= 0 {
				log.Networks[a] = seen.Networks[i].Prefix
			}
		}
	}
	p.view = func(v *view) bool {
		if seen != nil && seen.All.Requests > 0 {
			v.Impostors = seen
		}
		return v.Impostors != nil
	}
	return p
}

// addTaken adds the requests of impostors for a URL.
func (c *Counter) addTaken(u *aggregate.URL, hash uint64) {
	if c.taken == nil {
		return
	}
	var url impostors.URL
	for i := range u.Requests {
		r := &u.Requests[i]
		k := &c.kinds.all[r.Kind]
		if !k.faked {
			continue
		}
		url.Requests += r.Rows
		url.Bytes += r.Bytes
		if k.denies > 0 {
			url.Denied += r.Rows
		}
	}
	if url.Requests == 0 {
		return
	}
	c.fakeURLs++
	if c.taken.Takes(url.Requests, hash) {
		url.Text = impostors.Shown(u.Text, len(u.Text))
		c.taken.AddItem(url.Requests, hash, url)
	}
}
