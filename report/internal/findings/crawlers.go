package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/internal/timespan"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/report/internal/timeline"
	"github.com/robobatch/robobatch/robots"
)

// span returns the time from the first stretch in which some crawlers did something to the last.
func (f *Facts) span(crawlers []*Crawler, did func(Point) bool) (from, to time.Time) {
	first, last := len(f.Starts), -1
	for _, c := range crawlers {
		for i, p := range c.Points {
			if did(p) {
				first, last = min(first, i), max(last, i)
			}
		}
	}
	return f.times(first, last)
}

// times returns when a stretch begins and another ends, both in the log; no time if the first is after the last.
func (f *Facts) times(first, last int) (from, to time.Time) {
	if first > last {
		return from, to
	}
	from, to = f.start(first), f.start(last+1)
	if from.Before(f.From) {
		from = f.From
	}
	if to.After(f.To) {
		to = f.To
	}
	return from, to
}

// start returns when a stretch begins.
func (f *Facts) start(i int) time.Time {
	if i < len(f.Starts) {
		return time.Unix(f.Starts[i], 0).In(f.From.Location())
	}
	return time.Unix(f.Starts[len(f.Starts)-1], 0).Add(f.step()).In(f.From.Location())
}

// step is how long a stretch is.
func (f *Facts) step() time.Duration {
	if f.ByHour {
		return time.Hour
	}
	return 24 * time.Hour
}

// having returns the crawlers that have something, those with the most first, and their sum.
func (f *Facts) having(number func(*Crawler) int64) (all []*Crawler, sum int64) {
	for i := range f.Crawlers {
		if c := &f.Crawlers[i]; f.FromLog && number(c) > 0 {
			all, sum = append(all, c), sum+number(c)
		}
	}
	slices.SortStableFunc(all, func(a, b *Crawler) int { return cmp.Compare(number(b), number(a)) })
	return all, sum
}

// names returns the names of crawlers.
func names(all []*Crawler) (names []string) {
	for _, c := range all {
		names = append(names, show.Text(c.Name))
	}
	return names
}

// violated finds the crawlers that fetched disallowed URLs.
func violated(f *Facts) []Finding {
	all, sum := f.having(func(c *Crawler) int64 { return c.Violations })
	if len(all) == 0 {
		return nil
	}
	from, to := f.span(all, func(p Point) bool { return p.Violations > 0 })
	disallows := "robots.txt disallows"
	if f.Draft {
		disallows = "the rules before disallow"
	}
	text := fmt.Sprintf("%s fetched what %s to it: %s.", show.Text(all[0].Name), disallows, show.Plural(all[0].Violations, "time"))
	if len(all) > 1 {
		text = fmt.Sprintf("%s fetched what %s to them, %s alone %s.", list(names(all), "other crawler"), disallows, show.Text(all[0].Name), show.Plural(all[0].Violations, "time"))
	}
	if b := &f.Broken; b.Violations > 0 {
		line := "a line"
		if b.Line > 0 {
			line = fmt.Sprintf("line %d", b.Line)
		}
		these := show.Number(b.Violations)
		if b.Violations == sum {
			these = "All"
		}
		text += fmt.Sprintf(" %s of these requests broke %s of the robots.txt%s, %s.", these, line, f.of(show.Text(b.Origin)), brief(b.Rule))
	}
	found := f.findingOf(Violated, sum, f.Requests, from, to, text)
	for i := range found {
		found[i].Link, found[i].Title, found[i].Do = "crawlers", "Crawlers", "Tell the operators, or refuse these requests at the server: robots.txt alone does not hold them."
		if all[0].Judged {
			found[i].Link, found[i].Title = "conduct", "Conduct"
		}
		if f.Addresses {
			f.warn(&found[i], all)
			found[i].Text += all[0].knew(len(all) > 1, all[0].Unsure > 0)
		} else {
			found[i].Text += all[0].knew(len(all) > 1, false)
			found[i].Do = "First find out with -ranges whether it was them: anyone can send their names. Then tell the operators, or refuse these requests."
		}
		if f.Unlike {
			found[i].Text += " The answers to /robots.txt in the log contradict that it was there: see the warnings."
			found[i].Do = "First give the robots.txt of that time, with -rules."
		}
	}
	return found
}

// FewViolations says that there are some violations where no finding is; "" if there are none.
func FewViolations(found []Finding, violations int64) string {
	if least := limits[Violated].least; len(found) == 0 && violations > 0 && violations < least {
		return fmt.Sprintf("The log has %s: from %d on they are a finding.", show.Plural(violations, "violation"), least)
	}
	return ""
}

// warn says why some violations may not have come from these crawlers.
func (f *Facts) warn(one *Finding, crawlers []*Crawler) {
	unsure, stale := int64(0), false
	var missing, unpublished []string
	for _, c := range crawlers {
		if c.Unsure == 0 {
			continue
		}
		unsure, stale = unsure+c.Unsure, stale || c.Stale
		switch {
		case !c.Unlisted:
		case c.Published:
			missing = append(missing, show.Text(c.Name))
		default:
			unpublished = append(unpublished, show.Text(c.Name))
		}
	}
	if unsure == 0 {
		return
	}
	var why []string
	if stale {
		why = append(why, "the lists are of another time")
	}
	if len(missing) > 0 {
		why = append(why, "-ranges has no list of "+list(missing, "other crawler"))
	}
	if len(unpublished) > 0 {
		why = append(why, "no list of "+list(unpublished, "other crawler")+" is known")
	}
	if len(why) == 0 {
		why = append(why, "their addresses tell nothing")
	}
	one.Text += fmt.Sprintf(" %s may have come from others: %s.", show.Number(unsure), strings.Join(why, ", and "))
	if stale || len(missing) > 0 {
		one.Do = "Take lists of that time with -ranges to find out whether it was them. Then tell the operators, or refuse these requests."
	}
}

// knew returns a sentence on the rules that a crawler knew when it fetched disallowed URLs; "" if it was not judged. named
// says that the sentence before names others beside it, and unsure that it may have been others.
func (c *Crawler) knew(named, unsure bool) string {
	who := "It"
	switch {
	case unsure:
		who = "If it was " + show.Text(c.Name) + ", it"
	case named:
		who = show.Text(c.Name)
	}
	switch {
	case !c.Judged:
		return ""
	case c.Knew == c.Violations:
		return fmt.Sprintf(" %s knew of all %s: its copy of robots.txt disallowed them.", who, show.Number(c.Knew))
	case c.Knew > 0:
		return fmt.Sprintf(" %s knew of %s: its copy of robots.txt disallowed them.", who, show.Number(c.Knew))
	case c.NeverAsked > 0 && c.Asked == 0:
		return " " + who + " never asked for robots.txt in this log."
	case c.NeverAsked == c.Violations:
		return " " + who + " had no answer to a request for robots.txt before."
	case c.NeverAsked > 0:
		return fmt.Sprintf(" %s had no answer to a request for robots.txt before %s of its requests.", who, show.Number(c.NeverAsked))
	}
	if named {
		return " Nothing shows that the copy of robots.txt that " + who + " had disallowed its requests."
	}
	return " Nothing shows that its copy of robots.txt disallowed them."
}

// faked finds the clients that used the names of crawlers.
func faked(f *Facts) []Finding {
	i := f.Impostors
	if i == nil {
		return nil
	}
	name := show.Text(i.Name)
	if i.Names > 0 {
		name += " and " + show.Plural(i.Names, "other crawler")
	}
	text := fmt.Sprintf("Clients that are not %s use that name; %s of their requests came from %s.", name, show.Percent(i.Share), show.Text(i.Network))
	if i.Names > 0 {
		text = fmt.Sprintf("Clients that are not %s use their names; %s of their requests came from %s.", name, show.Percent(i.Share), show.Text(i.Network))
	}
	found := f.findingOf(Faked, i.Requests, f.Requests, time.Time{}, time.Time{}, text)
	for n := range found {
		found[n].Link, found[n].Title, found[n].Do = "impostors", "Impostors", "Refuse or slow down these networks. They are in no number of violations."
	}
	return found
}

// An answer is a kind of answers that crawlers get too often.
type answer struct {
	kind   Kind
	of     func(timeline.Answers) int64 // how many there are
	sample int                          // of Crawler.Samples
	verb   string                       // the fate of requests
	do     string
}

// often finds an answer: the crawlers of whose requests it is more than the share of limits, those that it hits worst first. It
// lasted from the first stretch with as many to the last, and is counted there.
func (f *Facts) often(a answer) []Finding {
	return f.lasted(a, f.hitBy(a, a.isOften), limits[a.kind].share)
}

// isOften reports whether a crawler got an answer too often, in all of the log.
func (a *answer) isOften(c *Crawler) bool {
	return show.Share(a.of(c.Answers), c.Answered) >= limits[a.kind].share
}

// hitBy returns the crawlers that got an answer and for which is holds, those that got most first.
func (f *Facts) hitBy(a answer, is func(*Crawler) bool) []*Crawler {
	all, _ := f.having(func(c *Crawler) int64 { return a.of(c.Answers) })
	return slices.DeleteFunc(all, func(c *Crawler) bool { return !is(c) })
}

// lasted finds an answer that some crawlers got, from the first stretch in which it is so great a share to the last, or in all of the
// log if it is nearly as great a share of the others.
func (f *Facts) lasted(a answer, hit []*Crawler, share float64) []Finding {
	if len(hit) == 0 {
		return nil
	}
	from, to, jumps := f.jump(a, hit, share)
	var said []string
	sum, answered := int64(0), int64(0)
	for _, c := range hit {
		in := c.Answers
		if jumps {
			in = f.within(c.Points, from, to)
		}
		got := a.of(in)
		sum, answered = sum+got, answered+in.Answered
		said = append(said, show.Percent(show.Share(got, in.Answered))+" of those of "+show.Text(c.Name))
	}
	said[0] = strings.Replace(said[0], "those", "the requests", 1)
	if jumps && (timespan.Between(f.From, from) > f.slack() || timespan.Between(to, f.To) > f.slack()) {
		said[0] += " in that time"
	}
	text := list(said, "other crawler") + " " + a.verb
	if jumps {
		text += f.commonest(a, hit, func(at time.Time) bool { return !at.Before(from) && at.Before(to) })
	} else {
		text += f.commonest(a, hit, func(time.Time) bool { return true })
	}
	found := f.findingOf(a.kind, sum, answered, from, to, text+".")
	for i := range found {
		if a.kind == Redirected {
			f.addChain(&found[i], a, from, to, jumps)
		}
		found[i].Link, found[i].Title, found[i].Do = "crawlers", "Crawlers", found[i].Do+a.do
		if a.kind == Failing {
			found[i].Link, found[i].Title = "answers", "Answers"
		}
	}
	return found
}

// jump returns the time from the first stretch in which an answer is so great a share to the last, but for strays, and true, if its share
// of the other stretches is less than jumpShare of its share in that time. Otherwise it returns the time of the log.
func (f *Facts) jump(a answer, hit []*Crawler, share float64) (from, to time.Time, jumps bool) {
	points := f.sum(hit)
	from, to = f.times(a.stretches(points, share))
	if from.IsZero() {
		return f.From, f.To, false
	}
	in := f.within(points, from, to)
	out := f.within(points, f.From, f.To).Sub(in)
	if show.Share(a.of(out), out.Answered) >= jumpShare*show.Share(a.of(in), in.Answered) {
		return f.From, f.To, false
	}
	return from, to, true
}

// stretches returns the first and the last stretch in which an answer is so great a share; the first is after the last if there is none.
// Those at either end are strays if together they have strayShare of these answers at most, and the share between is low.
func (a *answer) stretches(points []Point, share float64) (first, last int) {
	is := func(p Point) bool { return show.Share(a.of(p.Answers), p.Answered) >= share }
	back := slices.Clone(points)
	slices.Reverse(back)
	all := int64(0)
	for _, p := range points {
		if is(p) {
			all += a.of(p.Answers)
		}
	}
	if all == 0 {
		return 0, -1
	}
	strays := func(points []Point) int {
		met := int64(0)
		return slices.IndexFunc(points, func(p Point) bool {
			if is(p) {
				met += a.of(p.Answers)
			}
			return float64(met) > strayShare*float64(all)
		})
	}
	first, last = strays(points), len(points)-1-strays(back)
	in := answersOf(points[first : last+1])
	least := jumpShare * show.Share(a.of(in), in.Answered)
	joined := func(near []Point) (n int) {
		var between timeline.Answers
		for i, p := range near {
			between = between.Plus(p.Answers)
			if is(p) && show.Share(a.of(between), between.Answered) >= least {
				n, between = i+1, timeline.Answers{}
			}
		}
		return n
	}
	return first - joined(back[len(points)-first:]), last + joined(points[last+1:])
}

// answersOf returns the answers in stretches.
func answersOf(points []Point) (sum timeline.Answers) {
	for _, p := range points {
		sum = sum.Plus(p.Answers)
	}
	return sum
}

// within returns the answers from a stretch that begins at a time to one that ends at another.
func (f *Facts) within(points []Point, from, to time.Time) (in timeline.Answers) {
	for i, p := range points {
		if f.start(i+1).After(from) && f.start(i).Before(to) {
			in = in.Plus(p.Answers)
		}
	}
	return in
}

// commonest names the status and the path that most of the answers have whose time counts; "" if none is clearly before all others.
func (f *Facts) commonest(a answer, hit []*Crawler, counts func(at time.Time) bool) (said string) {
	statuses, paths := map[string]float64{}, map[string]float64{}
	for _, c := range hit {
		s := &c.Samples[a.sample]
		for _, row := range s.Rows {
			if counts(row.At) {
				weight := float64(s.Of) / float64(len(s.Rows))
				statuses[strconv.FormatInt(row.Status, 10)] += weight
				paths[row.Path] += weight
			}
		}
	}
	status := clearest(statuses, 0)
	if status == "" {
		return ""
	}
	said = ", most often " + status
	path := commonPath(paths)
	switch {
	case path == "/":
		return said
	case strings.HasSuffix(path, "/"):
		return said + " and below " + brief(path)
	}
	return said + " and for " + brief(path)
}

// commonPath returns the path, or the directory, that has half of the weight of the directory above it: the longest.
func commonPath(paths map[string]float64) string {
	for top := "/"; ; {
		below := map[string]float64{}
		for path, weight := range paths {
			if rest, is := strings.CutPrefix(path, top); is {
				if end := strings.IndexByte(rest, '/'); end >= 0 {
					rest = rest[:end+1]
				}
				below[rest] += weight
			}
		}
		next := clearest(below, .5)
		if next == "" {
			return top
		}
		if top += next; !strings.HasSuffix(next, "/") {
			return top
		}
	}
}

// clearest returns the text with the greatest weight, if that is so much of all and clearly before the others; "" if none is.
func clearest(weights map[string]float64, least float64) (text string) {
	first, second, all := 0., 0., 0.
	for one, weight := range weights {
		all += weight
		if weight > first {
			text, first, second = one, weight, first
		} else {
			second = max(second, weight)
		}
	}
	if first < least*all || first-second < clearLead*all {
		return ""
	}
	return text
}

// failing finds paths that fail, and crawlers that get errors of the server beside them: often or, in a log that is long beside it, in an outage.
func failing(f *Facts) []Finding {
	a := answer{
		Failing, func(n timeline.Answers) int64 { return n.Failed }, 2, "were answered by an error of the server (5xx)",
		"Repair these pages: crawlers come less to a server that fails, and pages that keep failing drop out of search.",
	}
	found, told := f.failingPaths()
	f = f.without(told)
	found = append(found, f.often(a)...)
	return append(found, f.lasted(a, f.hitBy(a, func(c *Crawler) bool { return !a.isOften(c) && outage(c) }), outageShare)...)
}

// outage reports whether errors of the server hit a crawler in stretches of time in which it got little else, as often as a finding
// takes.
func outage(c *Crawler) bool {
	failed := int64(0)
	for _, p := range c.Points {
		if show.Share(p.Failed, p.Answered) >= outageShare {
			failed += p.Failed
		}
	}
	return failed >= limits[Failing].least
}

// missing finds crawlers that ask for pages that are not there, or are refused.
func missing(f *Facts) []Finding {
	return f.often(answer{
		Missing, func(n timeline.Answers) int64 { return n.Missed }, 1, "found no page, or were refused (4xx)",
		"Look where these URLs are linked, and whether a firewall refuses crawlers that shall come.",
	})
}

// redirected finds crawlers that are sent elsewhere.
func redirected(f *Facts) []Finding {
	return f.often(answer{
		Redirected, func(n timeline.Answers) int64 { return n.Redirected }, 0, "were answered by a redirect (3xx)",
		"Link to the last address at once, in pages and in sitemaps: each redirect costs a fetch.",
	})
}

// addChain adds the redirects of other crawlers to a finding about redirects, and where most of all lead.
func (f *Facts) addChain(one *Finding, a answer, from, to time.Time, jumps bool) {
	all, sum := int64(0), int64(0)
	for i := range f.Crawlers {
		c := &f.Crawlers[i]
		if sum += c.Redirected; jumps {
			all += a.of(f.within(c.Points, from, to))
		} else {
			all += a.of(c.Answers)
		}
	}
	one.score *= float64(all) / float64(one.Number)
	one.Number, one.Unit = all, "requests of all crawlers"
	if n := len(f.Chain) - 1; n > 0 && 2*f.Chained >= sum {
		shapes := make([]string, 0, len(f.Chain))
		for _, shape := range f.Chain {
			shapes = append(shapes, brief(shape))
		}
		way := strings.Join(shapes, " → ")
		if n == 1 {
			one.Text += " Most lead along " + way + "."
		} else {
			one.Text += fmt.Sprintf(" Most are %d in a row: %s.", n, way)
			one.Do = "Let the first redirect lead to the last address. "
		}
	}
}

// isSized reports whether it is known for enough URLs of a parameter whether they show the same page as others.
func (p *Parameter) isSized() bool { return p.IsCampaign || p.Sized > 0 && 4*p.Sized >= p.URLs }

// showsSame reports whether the values of a parameter give the same pages: it says where visitors come from, or two of three of the
// sizes that are known are those of others of their path. So a page of two sizes passes, as in a list and in a grid.
func (p *Parameter) showsSame() bool { return p.IsCampaign || p.isSized() && 3*p.Same >= 2*p.Sized }

// spends reports whether crawlers spend much of so many requests on a parameter that makes many URLs of few paths, which are pages
// without it, too.
func (f *Facts) spends(p *Parameter, all int64) bool {
	if p.Paths == 0 || p.URLs < fanOut*p.Paths || 2*p.Bare < p.URLs {
		return false
	}
	left := f.beside(p)
	return left >= limits[Wasted].least && show.Share(left, all) >= limits[Wasted].share
}

// unsized says which parameter would be a finding if its URLs show the same page, and too few sizes say whether they do.
func (f *Facts) unsized() string {
	_, all := f.having(func(c *Crawler) int64 { return c.Requests })
	for i := range f.Parameters {
		if p := &f.Parameters[i]; !p.isSized() && f.spends(p, all) {
			return fmt.Sprintf("not on the parameter “%s”, as the log has too few sizes of its pages to tell whether they are the same", brief(p.Name))
		}
	}
	return ""
}

// wasted finds the parameter on which crawlers spend most, if that is much and shows the same pages again.
func wasted(f *Facts) []Finding {
	_, all := f.having(func(c *Crawler) int64 { return c.Requests })
	for _, p := range f.Parameters {
		if !p.showsSame() || !f.spends(&p, all) {
			continue
		}
		text := fmt.Sprintf("Crawlers spent %s of their requests on the parameter “%s”: %s of %s.",
			show.Percent(show.Share(p.Requests, all)), brief(p.Name), show.Plural(p.URLs, "URL"), show.Plural(p.Paths, "path"))
		if !p.IsCampaign {
			text += fmt.Sprintf(" Of the sizes that are known, %s are those of other URLs of their path.", show.Percent(show.Share(p.Same, p.Sized)))
		}
		found := f.findingOf(Wasted, p.Requests, all, time.Time{}, time.Time{}, text)
		for i := range found {
			found[i].Link, found[i].Title, found[i].Do = "waste", "Paths", "If these URLs only show the same pages again, keep crawlers from them."
			if len(p.Rules) > 0 {
				found[i].Do = "If these URLs only show the same pages again, close them by " + strings.Join(p.Rules, " and ") + ". Try it in What if."
			}
		}
		return found
	}
	return nil
}

// sum returns the sums of some crawlers by stretch of time.
func (f *Facts) sum(crawlers []*Crawler) []Point {
	all := make([]Point, len(f.Starts))
	for _, c := range crawlers {
		for n, p := range c.Points {
			all[n].Requests += p.Requests
			all[n].Answers = all[n].Plus(p.Answers)
		}
	}
	return all
}

// resting finds crawlers that stopped, or came much less.
func resting(f *Facts) (found []Finding) {
	n := f.whole()
	if !f.FromLog || n == 0 {
		return nil
	}
	for i := range f.Crawlers {
		c := &f.Crawlers[i]
		if len(c.Points) <= n || f.isUnnamed(c) {
			continue
		}
		one := f.stopped(c, n)
		if one == nil {
			one = f.slowed(c, n)
		}
		if len(one) > 0 && !f.shutOut(c, one[0].from) {
			found = append(found, one...)
		}
	}
	return most(found, 2)
}

// isUnnamed reports whether only texts name a crawler, and not each: then its requests may go on without its name.
func (f *Facts) isUnnamed(c *Crawler) bool {
	token := robots.NewAgent(c.Name, f.Dialect).Token
	return c.Named && slices.ContainsFunc(f.Files, func(file File) bool {
		return file.Changing && (file.Body == nil || !slices.ContainsFunc(file.Report.File.Groups, func(g robots.Group) bool { return g.Names(token) }))
	})
}

// whole returns how many stretches are complete: all but the last. It is 0 if these are too few to compare.
func (f *Facts) whole() int {
	n := len(f.Starts)
	if f.ByHour && n < leastHours || !f.ByHour && n < fewDays {
		return 0
	}
	return n - 1
}

// leastFall returns how many stretches there must be before and after a fall.
func (f *Facts) leastFall() int {
	if f.ByHour {
		return fallHours
	}
	return fallDays
}

// leastRest returns how many of so many stretches a crawler that stopped has no request at the end.
func (f *Facts) leastRest(n int) int {
	least := restDays
	if f.ByHour {
		least = restHours
	}
	return max(least, int(math.Ceil(restShare*float64(n))))
}

// firstFall returns the first of so many stretches from which on a fall can be told: before it a burst looks like one.
func (f *Facts) firstFall(n int) int {
	return max(f.leastFall(), int(math.Ceil(beforeShare*float64(n))))
}

// fallsSeen says in which time a crawler must have begun to come less for resting to find it.
func (f *Facts) fallsSeen() string {
	n, unit, layout := f.whole(), "days", time.DateOnly
	if f.ByHour {
		unit, layout = "hours", minute
	}
	from, to := f.firstFall(n), n-min(f.leastFall(), f.leastRest(n))
	if from > to {
		return ""
	}
	return fmt.Sprintf("only if that began from %s to %s, as the log has too few %s before or after to compare", f.start(from).Format(layout), f.start(to).Format(layout), unit)
}

// stopped finds that a crawler that came all the time comes no more.
func (f *Facts) stopped(c *Crawler, n int) []Finding {
	if len(c.Points) > n && c.Points[n].Requests > 0 {
		return nil
	}
	first, last, present, longest, before := -1, -1, 0, 0, int64(0)
	for i, p := range c.Points[:n] {
		if p.Requests == 0 {
			continue
		}
		if first < 0 {
			first = i
		} else {
			longest = max(longest, i-last-1)
		}
		last, present, before = i, present+1, before+p.Requests
	}
	if first < 0 {
		return nil
	}
	rest, came := n-1-last, last-first+1
	if rest < f.leastRest(n) || float64(rest) < longerRest*float64(longest) ||
		float64(present) < presentShare*float64(came) || came < rest || !f.goesOn(last+1, n) {
		return nil
	}
	missing := int64(float64(before) / float64(came) * float64(rest))
	text := fmt.Sprintf("%s stopped: it made %s, and none since.", show.Text(c.Name), show.Plural(before, "request"))
	return f.rested(Stopped, c, missing, last+1, text)
}

// shutOut reports whether a large site was closed to a crawler when it stopped, or came less: another finding tells it.
func (f *Facts) shutOut(c *Crawler, from time.Time) bool {
	return slices.ContainsFunc(f.Files, func(file File) bool {
		if file.Body == nil || file.First.IsZero() || file.First.Sub(from).Abs() > 2*f.step() || !f.isLarge(&file) {
			return false
		}
		_, closed := f.closes(&file, c.Name)
		return closed
	})
}

// rested returns a finding of a crawler that makes fewer requests than before, from a stretch on.
func (f *Facts) rested(kind Kind, c *Crawler, missing int64, from int, text string) []Finding {
	found := f.findingOf(kind, missing, f.Requests, f.start(from), f.To, text)
	for i := range found {
		found[i].from, found[i].Unit, found[i].Link, found[i].Title = f.start(from), "requests fewer than at its pace before", "time", "Time"
		found[i].Do = "Look at what changed then: robots.txt, a firewall, errors of the server."
		if !c.Search {
			found[i].score /= 4
			found[i].Do = "If it was not you who refused it, look at what changed then."
		}
	}
	return found
}

// goesOn reports whether all other clients still come in the stretches from a to b, so that it is not the log that ends.
func (f *Facts) goesOn(a, b int) bool {
	before, after := int64(0), int64(0)
	for i := range b {
		if i < a {
			before += f.All[i]
		} else {
			after += f.All[i]
		}
	}
	return a > 0 && float64(after)/float64(b-a) >= quietShare*float64(before)/float64(a)
}

// slowed finds that a crawler comes much less from a day on.
func (f *Facts) slowed(c *Crawler, n int) []Finding {
	from, before, after := f.fell(c.Points[:n])
	if from < 0 || !f.goesOn(from, n) {
		return nil
	}
	days := f.step().Hours() / 24
	a, b := show.Plural(int64(math.Round(after/days)), "request"), show.Number(int64(math.Round(before/days)))
	text := fmt.Sprintf("%s came much less: %s a day, where it made %s before.", show.Text(c.Name), a, b)
	return f.rested(Slowed, c, int64((before-after)*float64(n-from)), from, text)
}

// fell returns the stretch from which on there are much fewer requests, with the median of the stretches before it and the
// mean from it on; -1 if there is none. It takes the stretch that has the greatest difference between the two. The times before
// and after must be steady: a rhythm, a burst at the beginning and a slow decline are no fall.
func (f *Facts) fell(points []Point) (from int, before, after float64) {
	n, least := len(points), f.leastFall()
	from = -1
	for s := f.firstFall(n); s+least <= n; s++ {
		usual, last := median(points[:s]), median(points[s-least:s])
		if few := float64(points[s].Requests); last < usual/2 || few >= lessShare*min(usual, last) || float64(points[s-1].Requests) < lessShare*usual {
			continue
		}
		steady, low, longest := 0, 0, 0
		for _, p := range points[:s] {
			if 2*float64(p.Requests) >= usual {
				steady++
			}
			if low++; float64(p.Requests) >= lessShare*usual {
				low = 0
			}
			longest = max(longest, low)
		}
		sum, more := int64(0), 0
		for _, p := range points[s:] {
			if sum += p.Requests; float64(p.Requests) >= lessShare*usual {
				more++
			}
		}
		late := float64(sum) / float64(n-s)
		if float64(steady) >= presentShare*float64(s) && float64(n-s) >= longerRest*float64(longest) &&
			late < lessShare*usual && float64(more) <= moreShare*float64(n-s) && (from < 0 || usual-late > before-after) {
			from, before, after = s, usual, late
		}
	}
	return from, before, after
}

// median returns the median of the requests in some stretches.
func median(points []Point) float64 {
	all := make([]int64, 0, len(points))
	for _, p := range points {
		all = append(all, p.Requests)
	}
	slices.Sort(all)
	return float64(all[(len(all)-1)/2]+all[len(all)/2]) / 2
}
