package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A view is what the template reads.
type view struct {
	*Run
	FromLog  bool
	Several  bool // crawlers that are asked for
	Agents   []string
	Dialect  string
	Requests int64
	Bad      int64
	Strays   int64
	URLs     aggregate.Estimate
	Denied   int64 // verdicts
	Verdicts int64
	Violated int64
	Period   string
	HasTimes bool
	NoTimes  int64
	Status   bool

	SparkStep string // of the spark lines: "By day"
	Apart     int64  // requests that they leave out, see series.span
	Crawlers  []Crawler
	Sums      []Crawler // of sets of crawlers, and of all
	Paths     Path
	Sampled   bool // Paths, and what rules only matched, are counted from a sample
	Time      *timeView
	Paces     []Pace
	MorePace  int64
	Untold    int64 // requests that Listings do not count, for want of memory
	Lacking   bool  // so it is with rules that only matched
	Served    *list
	Failed    *list
	Fetched   bool    // Served has requests of a robots.txt itself, and no row for them
	Own       Crawler // the sum of the crawlers of the log
	Others    Crawler // the other clients of the log
	Listings  []fileView
	Changes   *changesView // nil without rules before
}

// A Crawler is a row of the crawlers.
type Crawler struct {
	Name, About string
	Requests    int64
	URLs        *aggregate.Estimate // nil if they are not counted, as those of several crawlers together
	Denied      int64
	Violations  int64
	Binding     string
	Classes     [statuses]int64
	Spark       string // the path of an SVG; "" is none
	SparkWidth  int
}

// newView returns what the template reads.
func (c *Counter) newView(run *Run) *view {
	c.finish()
	o := c.store.Options()
	v := &view{
		Run: run, FromLog: c.fromLog, Several: !c.fromLog && len(o.Agents) > 1, Agents: o.Agents, Dialect: o.Dialect.String(),
		Requests: c.rows, Bad: c.bad, Strays: c.strays, URLs: c.whole.URLs(), Denied: run.Stats.Denied, Verdicts: run.Stats.Rows,
		Violated: run.Stats.Violations, HasTimes: c.series.from <= c.series.to, NoTimes: c.series.none, Status: c.status >= 0,
	}
	within := c.series.span()
	if v.HasTimes {
		v.Period = within.first() + " to " + within.last() + " UTC"
		if n := c.series.outside(within); n > 0 {
			v.Period += ", but for " + plural(n, "request")
		}
	}
	sparks := c.series.points(within, 1, sparkPoints)
	if sparks != nil {
		v.SparkStep, v.Apart = "By "+sparks.Step, sparks.Before.sum.requests+sparks.After.sum.requests
	}
	v.Crawlers, v.Sums = c.crawlers(run, sparks)
	v.Own, v.Others = c.divide(v.Crawlers)
	v.Sampled = c.tree.nodes[0].level > 0
	v.Paths = c.tree.show(int64(c.verdicts), c.nameOf)
	v.Time = c.timeView(within)
	v.Paces, v.MorePace = c.shownPaces(run)
	if c.status >= 0 {
		v.Served = c.list("disallowed but served", func(r *request) int64 { return r.counts.served }, func(r *request) bool { return r.denies > 0 && !c.isRobots(r) }, c.deniedServed)
		v.Fetched = slices.ContainsFunc(c.requested.all, func(r request) bool { return r.denies > 0 && r.counts.served > 0 && c.isRobots(&r) })
		v.Failed = c.list("allowed but failing", func(r *request) int64 { return r.counts.failed }, func(r *request) bool { return int(r.denies) < c.verdicts }, c.allowedFailed)
	}
	if v.FromLog || v.Several {
		v.Listings = listings(run, c.agentName)
	} else {
		v.Listings = listings(run, nil)
	}
	v.Untold, v.Lacking = c.ruled.untold, c.ruled.lacks()
	v.Changes = c.changes(run.Changes)
	return v
}

// moment returns a time of a row.
func moment(t int64) time.Time { return time.UnixMicro(t).UTC() }

// nameOf names what denied a request.
func (c *Counter) nameOf(n int32) string {
	r := &c.denials.rules[n]
	switch {
	case r.line > 0:
		return fmt.Sprintf("line %d: %s", r.line, r.text)
	case r.line < 0:
		return "other rules"
	}
	return reasonText(r.reason)
}

// reasonText says why a verdict is what it is that no rule decided.
func reasonText(r engine.Reason) string {
	texts := map[engine.Reason]string{
		engine.ReasonNoRobots: "no robots.txt in the rules", engine.ReasonUnreachable: "robots.txt was unreachable",
		engine.ReasonUnreachableExpired: "robots.txt was unreachable for over 30 days", engine.ReasonStatus4xx: "robots.txt: status 4xx",
		engine.ReasonRedirectLimit: "robots.txt: too many redirects", engine.ReasonTooLarge: "robots.txt is too large",
		engine.ReasonDefault: "no rule matches", engine.ReasonNoGroup: "no group binds the crawler",
	}
	return cmp.Or(texts[r], r.String())
}

// crawlers returns the rows of crawlers, and sums of them.
func (c *Counter) crawlers(run *Run, sparks *Points) (all, sums []Crawler) {
	for a, name := range c.store.Options().Agents {
		counts := run.Stats.Agents[a]
		row := Crawler{Name: name, Denied: counts.Denied, Violations: counts.Violations, Requests: counts.Allowed + counts.Denied + counts.Unknown}
		token, _, _ := strings.Cut(name, "/")
		known, ok := crawlers.Lookup(token)
		if ok {
			row.About = known.Operator + ", " + strings.Join(known.Purposes, ", ")
		}
		switch c.look.Binding(a) {
		case engine.Bound:
			row.Binding = "yes"
		case engine.Exempt:
			row.Binding = "no"
		case engine.BindingUnknown:
			row.Binding = "unknown"
		}
		if c.fromLog {
			if row.Requests == 0 {
				continue
			}
			if a == 0 {
				row.Name, row.About = otherClients, "browsers, and crawlers that are not known"
			}
			urls := c.agents[a].URLs()
			row.URLs, row.Classes = &urls, c.classes[a]
			if sparks != nil {
				row.Spark, row.SparkWidth = spark(sparks.Cells[a])
			}
		}
		all = append(all, row)
	}
	slices.SortStableFunc(all, func(a, b Crawler) int {
		return cmp.Or(cmp.Compare(b.Violations, a.Violations), cmp.Compare(b.Denied, a.Denied), cmp.Compare(b.Requests, a.Requests))
	})
	for _, set := range []string{"search", "ai"} {
		if row, n := together(set, all); n > 1 || n == 1 && c.fromLog {
			if !c.fromLog {
				row.About += ", in verdicts"
			}
			sums = append(sums, row)
		}
	}
	if len(all) > 1 {
		sums = append(sums, c.allCrawlers(all, sparks))
	}
	return all, sums
}

// allCrawlers returns the sum of all rows of crawlers.
func (c *Counter) allCrawlers(all []Crawler, sparks *Points) Crawler {
	sum := Crawler{Name: "all", About: fmt.Sprintf("%d crawlers together, in verdicts", len(all))}
	for i := range all {
		sum.add(&all[i])
	}
	if !c.fromLog {
		return sum
	}
	urls := c.whole.URLs()
	sum.About, sum.URLs = "crawlers and other clients", &urls
	if sparks != nil {
		points := make([]int64, len(sparks.Starts))
		for _, cells := range sparks.Cells {
			for i, n := range cells {
				points[i] += n
			}
		}
		sum.Spark, sum.SparkWidth = spark(points)
	}
	return sum
}

// divide returns the sum of the crawlers of the log, and the row of its other clients.
func (c *Counter) divide(all []Crawler) (own, others Crawler) {
	for i := range all {
		switch row := &all[i]; {
		case !c.fromLog:
		case row.Name == otherClients:
			others = *row
		default:
			own.Requests += row.Requests
			own.Denied += row.Denied
		}
	}
	return own, others
}

// together returns the sum of the crawlers of a set, and how many there are.
func together(set string, all []Crawler) (sum Crawler, n int) {
	sum.Name = "@" + set
	names := map[string]bool{}
	for _, c := range crawlers.Set(set) {
		names[strings.ToLower(c.Token)] = true
	}
	for i := range all {
		row := &all[i]
		if token, _, _ := strings.Cut(row.Name, "/"); !names[strings.ToLower(token)] {
			continue
		}
		n++
		sum.add(row)
	}
	sum.About = fmt.Sprintf("%d of them together", n)
	return sum, n
}

// add adds the requests of a row.
func (c *Crawler) add(row *Crawler) {
	c.Requests += row.Requests
	c.Denied += row.Denied
	c.Violations += row.Violations
	for i, n := range row.Classes {
		c.Classes[i] += n
	}
}

// The size of a spark line.
const (
	sparkPoints = 60
	sparkWidth  = 120
	sparkHeight = 24
)

// spark returns bars as the path of an SVG, and how wide that is.
func spark(points []int64) (bars string, width int) {
	most := slices.Max(points)
	if most == 0 {
		return "", 0
	}
	step := min(12, float64(sparkWidth)/float64(len(points)))
	return columnsOf(points, most, column{step, max(1, step-1), sparkHeight}), int(math.Ceil(step * float64(len(points))))
}

// A column is the form of bars: from one to the next, their width, and the height of the highest.
type column struct {
	step, width float64
	height      int
}

// columnsOf returns bars as the path of an SVG.
func columnsOf(points []int64, most int64, form column) string {
	var sb strings.Builder
	for i, n := range points {
		if n == 0 {
			continue
		}
		h := max(1, float64(form.height)*float64(n)/float64(most))
		fmt.Fprintf(&sb, "M%s %dv-%sh%sv%sz", short(float64(i)*form.step), form.height, short(h), short(form.width), short(h))
	}
	return sb.String()
}

// short returns a coordinate with one digit behind the point.
func short(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}

// A timeView is the panel of time.
type timeView struct {
	Step   string
	Width  int
	Bars   string // all requests, as the path of an SVG
	Marked string // violations, or what is disallowed
	Grid   string // lines at Ticks
	Ticks  []tick
	Labels []string // of the time, from the first to the last stretch
	Peaks  []peak
	What   string // what is marked
	Denied string // the heading of requests that are disallowed
	Names  []string
	Rows   []timeRow
	Share  float64     // of the requests that Rows have
	Apart  []apartView // what Rows leave out
	Chart  chart
}

// A tick is a number of requests beside the bars.
type tick struct {
	Y    string
	Text string
}

// A peak is the stretch of time with the most of something.
type peak struct{ What, Number, When string }

// addScale adds what one reads the height and the time of bars by, the highest of which has so many
// requests: the numbers are 1, 2 or 5 times a power of ten apart.
func (t *timeView) addScale(most int64) {
	step := int64(1)
	for i := 0; most/step > 5; i++ {
		step = step * []int64{2, 5, 2}[i%3] / []int64{1, 2, 1}[i%3]
	}
	var grid strings.Builder
	for n := int64(0); n <= most; n += step {
		y := short(barsHeight - barsHeight*float64(n)/float64(most))
		t.Ticks = append(t.Ticks, tick{y, number(n)})
		fmt.Fprintf(&grid, "M0 %sh%d", y, barsWidth)
	}
	t.Grid = grid.String()
	labels := min(shownLabels, len(t.Rows))
	for i := range labels {
		t.Labels = append(t.Labels, t.Rows[i*(len(t.Rows)-1)/max(1, labels-1)].At)
	}
}

// addPeak adds the first stretch with the most of something, if there is any; of several days by the hour
// also the first day.
func (t *timeView) addPeak(what string, numbers []int64) {
	most := slices.Max(numbers)
	if most == 0 {
		return
	}
	at := t.Rows[slices.Index(numbers, most)].At
	switch t.Step {
	case "hour":
	case "day":
		t.Peaks = append(t.Peaks, peak{what, number(most), "on the day " + at})
		return
	default:
		t.Peaks = append(t.Peaks, peak{what, number(most), "in the " + t.Step + " from " + at})
		return
	}
	t.Peaks = append(t.Peaks, peak{what, number(most), "in the hour of " + at})
	var days []string
	var sums []int64
	for i := range numbers {
		if day := t.Rows[i].At[:len(time.DateOnly)]; len(days) == 0 || days[len(days)-1] != day {
			days, sums = append(days, day), append(sums, 0)
		}
		sums[len(sums)-1] += numbers[i]
	}
	if len(days) > 1 {
		most = slices.Max(sums)
		t.Peaks = append(t.Peaks, peak{what, number(most), "on the day " + days[slices.Index(sums, most)]})
	}
}

// A timeRow is a stretch of time: requests, those that are disallowed for one crawler at least,
// violations, and the requests of each crawler.
type timeRow struct {
	At     string
	All    int64
	Denied int64
	Bad    int64
	By     []int64
}

// A chart is what the script draws.
type chart struct {
	Starts []int64     `json:"starts"`
	Lines  []chartLine `json:"lines"`
	Marks  []chartLine `json:"marks"`
	Step   string      `json:"step"`
	What   string      `json:"what"`
}

// A chartLine is a crawler, and its number in each stretch.
type chartLine struct {
	Name   string  `json:"name"`
	Values []int64 `json:"values"`
}

// What the panel of time shows.
const (
	timePoints   = 200
	timeCrawlers = 6
	barsWidth    = 1000
	barsHeight   = 160
	shownLabels  = 5
)

// timeView returns the panel of a time, nil without times.
func (c *Counter) timeView(within span) *timeView {
	p := c.series.points(within, 0, timePoints)
	if p == nil {
		return nil
	}
	t := &timeView{Step: p.Step, Width: barsWidth, What: "disallowed", Denied: "Disallowed"}
	switch {
	case c.fromLog:
		t.What = "violations"
	case c.verdicts > 1:
		t.What, t.Denied = "disallowed for one crawler at least", "Disallowed for one at least"
	}
	layout := "2006-01-02"
	if p.Step == "hour" {
		layout = "2006-01-02 15:04"
	}
	var order []int // crawlers, the busiest first
	sums := make([]int64, len(p.Cells))
	for a, cells := range p.Cells {
		for _, n := range cells {
			sums[a] += n
		}
		if sums[a] > 0 {
			order = append(order, a)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	order = order[:min(len(order), timeCrawlers)]
	if !c.fromLog {
		order = nil
	}
	all, marked := make([]int64, len(p.Starts)), make([]int64, len(p.Starts))
	for i, at := range p.Starts {
		row := timeRow{At: time.Unix(at, 0).UTC().Format(layout)}
		for a := range p.Cells {
			row.All += p.Cells[a][i]
			row.Denied += p.Denied[a][i]
			row.Bad += p.Bad[a][i]
		}
		for _, a := range order {
			row.By = append(row.By, p.Cells[a][i])
		}
		all[i], marked[i] = row.All, row.Bad
		if !c.fromLog {
			marked[i] = row.Denied
		}
		t.Rows = append(t.Rows, row)
	}
	t.addApart(p, order)
	most := max(1, slices.Max(all))
	t.Bars, t.Marked = bars(all, most), bars(marked, most)
	t.addScale(most)
	t.addPeak("requests", all)
	t.addPeak(t.What, marked)
	t.Chart = chart{Starts: p.Starts, Step: p.Step, What: t.What}
	t.Chart.Lines = append(t.Chart.Lines, chartLine{"all requests", all})
	t.Chart.Marks = append(t.Chart.Marks, chartLine{t.What, marked})
	for _, a := range order {
		name := c.agentName(a)
		t.Names = append(t.Names, name)
		t.Chart.Lines = append(t.Chart.Lines, chartLine{shown(name), p.Cells[a]})
		t.Chart.Marks = append(t.Chart.Marks, chartLine{shown(name), p.Bad[a]})
	}
	return t
}

// agentName returns the name of a crawler of the log as the page shows it.
func (c *Counter) agentName(a int) string {
	if c.fromLog && a == 0 {
		return otherClients
	}
	return c.store.Options().Agents[a]
}

// bars returns bars as the path of an SVG.
func bars(points []int64, most int64) string {
	step := float64(barsWidth) / float64(len(points))
	return columnsOf(points, most, column{step, max(1, step*0.85), barsHeight})
}

// shownPaces returns how fast crawlers fetched, and how many requests the rows do not count.
func (c *Counter) shownPaces(run *Run) (all []Pace, more int64) {
	more = c.paces.others
	for i, key := range c.paces.busiest() {
		p := c.paces.all[key]
		if i >= shownPaces {
			more += p.requests
			continue
		}
		row := Pace{Agent: c.store.Options().Agents[key.agent], Requests: p.requests, Back: p.back, Delay: -1, Origin: p.origin}
		token, _, _ := strings.Cut(row.Agent, "/")
		if known, ok := crawlers.Lookup(token); ok {
			row.Ignored = known.IgnoresDelay()
		}
		gap, long := p.median()
		row.Seconds, row.Median = gap.Seconds(), strconv.FormatFloat(gap.Seconds(), 'f', 1, 64)+" s"
		row.Long = long
		_, row.Gaps = p.faster(0)
		for f := range run.Files {
			file := &run.Files[f]
			if file.Report == nil || file.Older || file.Origin != string(row.Origin) {
				continue
			}
			if delay, ok := file.Report.CrawlDelay(robots.NewAgent(row.Agent, c.store.Options().Dialect)); ok {
				row.Delay = delay
				row.Fast, _ = p.faster(delay)
				row.Share = share(row.Fast, row.Gaps)
			}
		}
		all = append(all, row)
	}
	return all, more
}

// A list is the most requested URLs of a kind.
type list struct {
	Name   string // what the URLs are
	Verb   string // what the server did with their requests
	Total  int64
	Others int64 // requests of the same kind of clients that are no known crawlers; they are not listed
	Listed int64
	Rows   []listRow
	Ruled  bool   // rules stand beside some
	Missed uint32 // a URL that is not here has at most so many requests
}

// A listRow is a URL.
type listRow struct {
	URL, Crawler, By string
	Requests         int64
	Of               int64 // all requests of it
	Missed           int64
}

// shownURLs is how many URLs a list has.
const shownURLs = 100

// list returns the requests with the most rows of a kind.
func (c *Counter) list(name string, rows func(r *request) int64, is func(r *request) bool, total parted) *list {
	_, verb, _ := strings.Cut(name, " but ")
	l := &list{Name: name, Verb: strings.ToUpper(verb[:1]) + verb[1:], Total: total.own, Others: total.others, Missed: c.requested.floor}
	var found []*request
	for i := range c.requested.all {
		if r := &c.requested.all[i]; is(r) && rows(r) > 0 && !c.isOther(r.agent) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *request) int {
		return cmp.Or(cmp.Compare(rows(b), rows(a)), slices.Compare(c.requested.url(a), c.requested.url(b)), cmp.Compare(a.agent, b.agent), cmp.Compare(a.key, b.key))
	})
	for _, r := range found[:min(len(found), shownURLs)] {
		row := listRow{URL: string(c.requested.url(r)), Requests: rows(r), Of: r.counts.rows, Missed: int64(r.missed)}
		if c.fromLog {
			row.Crawler = c.agentName(int(r.agent))
		}
		if answer := c.kinds.all[r.kind].answer; answer >= 0 {
			row.By, l.Ruled = c.nameOf(c.denials.all[answer][0].rule-1), true
		}
		l.Listed += row.Requests
		l.Rows = append(l.Rows, row)
	}
	return l
}

// isRobots reports whether a request of a known crawler is for a robots.txt itself, which crawlers have to fetch.
func (c *Counter) isRobots(r *request) bool {
	name, _, _ := strings.Cut(string(c.requested.url(r)[r.prefix:]), "?")
	return name == "/robots.txt" && !c.isOther(r.agent)
}

// Known returns how many crawlers there are, without other clients.
func (v *view) Known() (n int) {
	for i := range v.Crawlers {
		if v.Crawlers[i].Name != otherClients {
			n++
		}
	}
	return n
}

// otherClients stands for clients that are no known crawlers.
const otherClients = "other clients"

// A part is a section of the page.
type part struct{ ID, Title string }

// Parts returns the sections in their order.
func (v *view) Parts() []part {
	all := []part{{"overview", "Overview"}, {"crawlers", "Crawlers"}, {"rules", "Rules"}, {"paths", "Paths"}}
	if v.Time != nil {
		all = append(all, part{"time", "Time"})
	}
	if v.Status {
		all = append(all, part{"answers", "Answers"})
	}
	if v.Changes != nil {
		all = append(all, part{"changes", "Changes"})
	}
	for i := range v.Panels {
		all = append(all, part{v.Panels[i].ID, v.Panels[i].Title})
	}
	return all
}

// After returns the section that follows another.
func (v *view) After(id string) part {
	all := append(v.Parts(), part{"end", "the end"})
	return all[1+slices.IndexFunc(all, func(p part) bool { return p.ID == id })]
}

// Heading returns the heading of the page: the host with the most requests, and how many others there are; or the
// log, if it has no host.
func (v *view) Heading() string {
	rows := map[string]int64{}
	for _, o := range v.Stats.TopOrigins {
		if _, host, _ := strings.Cut(o.Origin, "://"); o.Rows > 0 {
			rows[cmp.Or(host, o.Origin)] += o.Rows
		}
	}
	if len(rows) == 0 {
		return cmp.Or(v.Logs(), "robots.txt report")
	}
	hosts := slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b)) })
	others, noun := int64(len(hosts)-1), "other host"
	if v.ManyOrigins() { // a host may have two
		others, noun = v.Stats.Origins-1, "other origin"
	}
	if others > 0 {
		return shown(hosts[0]) + " and " + plural(others, noun)
	}
	return hosts[0]
}

// ManyOrigins reports whether there are more origins than the run has names of.
func (v *view) ManyOrigins() bool { return v.Stats.Origins > engine.Top }

// Logs names the logs, "" if there are none.
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

// More64 returns More as templates count.
func (r *Run) More64() int64 { return int64(r.More) }

// Stated reports whether robots.txt states a delay.
func (p *Pace) Stated() bool { return p.Delay >= 0 }

// Told reports whether the page says how many gaps are shorter than the delay: robots.txt states one, and
// the gaps are known.
func (p *Pace) Told() bool { return p.Stated() && !p.Jumbled() }

// AnyJumbled reports whether some crawler's requests are out of order.
func (v *view) AnyJumbled() bool {
	return slices.ContainsFunc(v.Paces, func(p Pace) bool { return p.Jumbled() })
}

// AnyDelay reports whether robots.txt states a delay for some crawler.
func (v *view) AnyDelay() bool {
	return slices.ContainsFunc(v.Paces, func(p Pace) bool { return p.Stated() })
}

// DelayText returns the delay as the page shows it.
func (p *Pace) DelayText() string {
	if p.Delay < 0 {
		return "none"
	}
	return strconv.FormatFloat(p.Delay, 'f', -1, 64) + " s"
}

// mostBack is the share of requests that go back in time from which on the gaps tell nothing: those that
// go back are left out, and those beside them are too long.
const mostBack = 0.02

// Jumbled reports whether too many requests go back in time for the gaps to tell anything.
func (p *Pace) Jumbled() bool { return share(p.Back, p.Requests) > mostBack }

// MedianText returns the median as the page shows it.
func (p *Pace) MedianText() string {
	if p.Jumbled() {
		return "–"
	}
	return p.Median
}

// OriginText returns the origin as a text.
func (p *Pace) OriginText() string { return string(p.Origin) }

// Shares returns the shares of answers from 2xx to 5xx.
func (c Crawler) Shares() (all [4]string) {
	known := int64(0)
	for _, n := range c.Classes[1:] {
		known += n
	}
	for i := range all {
		if all[i] = "–"; known > 0 {
			all[i] = percent(share(c.Classes[i+2], known))
		}
	}
	return all
}
