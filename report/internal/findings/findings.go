// Package findings describes in a few sentences the facts of a report that call for action: the most important first,
// each with a number, since when, and the remedy. Package report imports it, and gives it the counts.
//
// A finding is a fact of the log, and never a guess: if a kind of fault cannot be seen, as the log has no statuses or
// there are no lists of addresses, the report says that it was not looked at. One table, limits, decides which facts are
// findings, and their order.
package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/internal/timespan"
	"github.com/robobatch/robobatch/report/internal/replies"
	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/report/internal/timeline"
	"github.com/robobatch/robobatch/report/internal/violations"
	"github.com/robobatch/robobatch/robots"
)

// A Finding is something to act on.
type Finding struct {
	Kind   Kind
	Text   string // a sentence; it may have texts in it that anyone wrote
	Number int64  // of requests that are affected, or might be
	Unit   string // the unit of Number, printed behind it
	When   string // since when, or from when to when; "" is not known
	Link   string // the id of the part of the page that shows more
	Title  string // of that part
	Do     string // the remedy

	from       time.Time // of a crawler that stopped or came less
	file       *File     // that the finding is about; nil is none
	score      float64
	losesPages bool // pages fail for search crawlers at the end of the log
	opens      bool // a robots.txt is lost, so that nothing is closed
	large      bool // a site that has much of all requests is closed, and not for a moment
}

// Facts are the facts about a log. The zero value is for no request.
type Facts struct {
	From, To  time.Time // of the requests that have a time; zero if none has
	Requests  int64
	FromLog   bool   // the crawlers are those of the log
	Dated     bool   // each request is decided by the text of its time
	Statuses  bool   // the log has them
	Addresses bool   // it is known who came from the addresses of the crawlers
	Compared  int64  // requests of crawlers whose addresses are in their lists, or are not
	Stale     int64  // the same, whose lists are of another time
	Unlisted  int64  // the same, without a list, or without an address
	Unlike    bool   // the answers in the log contradict the robots.txt that was broken most
	Unjudged  string // why it is not known what crawlers knew, where the log says enough; "" if it is
	Draft     bool   // Files are of a draft, which nobody was sent, and violations are of the rules before
	OneOrigin bool   // all requests are of one origin
	Dialect   robots.Dialect

	Crawlers []Crawler // those of the log, without other clients; or those that are asked for
	Starts   []int64   // of the stretches of time of Crawler.Points, in seconds
	All      []int64   // requests of all clients by stretch
	ByHour   bool      // stretches are hours; else days

	Files      []File
	Parameters []Parameter // of URLs that crawlers fetched and may, those with the most requests first

	Spaces []Space // those with the most requests first

	Outages []Outage
	Repairs []Repair // of rules of texts in force at the end
	Chain   []string // shapes of paths, in the order of the redirects; nil is not known
	Chained int64    // redirects along it

	Broken violations.Broken // the rule that most violations broke; the zero value is none

	Unserved  replies.UnservedTxt // the robots.txt that failed most often; the zero value is none
	Impostors *Impostors          // nil if there are none
	Changes   []Change            // in their order
	Sitemaps  *Sitemaps           // nil if there are none

	sites []closing           // that are closed, see closings; of Find
	known map[closingKey]shut // of closesTo
}

// A Crawler is the requests of a crawler, without those of its impostors.
type Crawler struct {
	Name       string
	Search     bool // it fetches for a search engine
	Named      bool // only a robots.txt names it: by another text, its requests are those of other clients
	Requests   int64
	Violations int64
	Judged     bool  // it is known what it knew
	Knew       int64 // of Violations, where it had been sent a robots.txt that disallows the request
	NeverAsked int64 // of Violations, where it had not asked for robots.txt
	Asked      int64 // requests of robots.txt
	Unsure     int64 // of Violations, which may not have come from it
	Stale      bool  // some of these as its lists are of another time
	Unlisted   bool  // some of these as there is no list of it
	Published  bool  // its operator publishes lists
	timeline.Answers
	Points  []Point   // by stretch of time
	Samples [3]Sample // of Redirected, Missed and Failed
}

// everyone stands for the crawlers that no group names.
var everyone = Crawler{Name: "*", Search: true, Requests: 1}

// searchers returns the search crawlers that have requests; if there are none, everyone.
func (f *Facts) searchers() (all []*Crawler) {
	for i := range f.Crawlers {
		if one := &f.Crawlers[i]; one.Search && one.Requests > 0 {
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		all = []*Crawler{&everyone}
	}
	return all
}

// judgesAll reports whether requests were decided for crawlers that no group names.
func (f *Facts) judgesAll() bool {
	return slices.ContainsFunc(f.Crawlers, func(c Crawler) bool { return c.Name == everyone.Name })
}

// A Sample has some of the answers of a kind.
type Sample struct {
	Rows []Answer
	Of   int64
}

// An Answer is a request's.
type Answer struct {
	At     time.Time // zero if it is not known
	Status int64
	Path   string // without its query
}

// A Point is the requests of a crawler in a stretch of time.
type Point struct {
	Requests, Violations int64
	timeline.Answers
}

// A File is a robots.txt that was in force.
type File struct {
	Origin      string
	Others      int64 // other origins that have the same text
	Link        string
	Requests    int64
	First, Last time.Time // of its requests; zero if they have no time
	Changing    bool      // the origin had another text, too
	Body        []byte    // nil if it is not known
	Report      *robots.Report
	Asked       []Asked          // paths that were asked for at its origins in all of the log, the most first
	AllAsked    int64            // requests of them, for other paths, too; 0 is unknown
	Made        map[string]int64 // by crawler, requests that it allowed
	Prefixes    []Prefix         // by path
	Rules       int              // that bind whoever is not named
	Never       int              // of these, that matched nothing
	Kept        int              // of these, whose paths sites close on purpose: crawlers that obey ask for none
	Beaten      []Beaten         // rules that another always wins over, by line
}

// A Beaten is a rule that another always wins over.
type Beaten struct {
	Line int32
	By   string // a sentence about the other, which calls the rule "it"
}

// An Asked is a path, and how many clients asked for it.
type Asked struct {
	Path     string
	Requests int64
	Within   int64 // of Requests, those while the file was in force, if File.Changing
}

// A Prefix is a directory of the origins of a file, and the requests for paths in it in all of the log.
type Prefix struct {
	Path     string           // it ends with "/", which alone is all of the site
	Requests int64            // of all clients
	Within   int64            // of Requests, those while the file was in force
	Made     map[string]int64 // by crawler, those that robots.txt allowed
	Sample   []string         // paths in it, each as likely as any other
}

// A Parameter is the requests of crawlers for URLs that have it.
type Parameter struct {
	Name                  string
	Requests, URLs, Paths int64
	Bare                  int64    // URLs whose path is asked for without a query, too
	Sized                 int64    // URLs whose size is known, and that of another URL of their path
	Same                  int64    // of Sized, those that are about as large
	IsCampaign            bool     // it says where a visitor comes from
	Rules                 []string // that close them; nil if none does
}

// Impostors are the clients that used the name of a crawler.
type Impostors struct {
	Requests int64
	Name     string // the one that was used most
	Names    int64  // how many others
	Network  string // from which most came
	Share    float64
}

// A Change is another text of an origin.
type Change struct {
	Origin      string
	At          time.Time
	Added, Gone []string // lines
	Requests    int64    // of the origin
}

// A Look is a kind of fault that was looked for, or why it was not.
type Look struct {
	What string
	Not  string // why it was not looked for; "" if it was
	Note string // on what was seen; "" is nothing to add
}

// Find returns the findings, the most important first, and how many more there are.
func Find(f *Facts) (found []Finding, more int) {
	f.sites = f.closings()
	for _, look := range []func(*Facts) []Finding{closed, misplaced, unserved, closedPaths, resting, failing, wasted, endless, violated, faked, redirected, missing, offered, offeredFailing, ineffective, idle} {
		found = append(found, look(f)...)
	}
	found = append(found, f.changed(found)...)
	for i := range found {
		found[i].Text = strings.ReplaceAll(found[i].Text, "….", "…")
	}
	f.putSitesFirst(found)
	putOpenBelow(found)
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(b.score, a.score) })
	if len(found) > Most {
		found, more = found[:Most], len(found)-Most
	}
	return found, more
}

// Looks returns the things that were looked for.
func Looks(f *Facts) []Look {
	noLog, noTime, noStatus := "", "", ""
	if !f.FromLog {
		noLog = "the crawlers of the log were not asked for, with -agent-from-log"
	}
	if f.From.IsZero() {
		noTime = "the log has no times"
	}
	if !f.Statuses {
		noStatus = "the log has no statuses"
	}
	rest := Look{What: "crawlers that came less or stopped", Not: cmp.Or(noLog, noTime)}
	if rest.Not == "" {
		if rest.Note = f.fallsSeen(); f.whole() == 0 || rest.Note == "" {
			rest.Not, rest.Note = fmt.Sprintf("the log has less than %d days, and less than %d hours", fewDays, leastHours), ""
		}
	}
	noDates, noTexts, noSitemaps := "", "", ""
	if f.Sitemaps == nil {
		noSitemaps = "there are no sitemaps, with -in-sitemap"
	}
	if !f.Dated {
		noDates = "one robots.txt was taken for all times: give captures, with -as-of log"
	}
	if !slices.ContainsFunc(f.Files, func(file File) bool { return file.Body != nil }) {
		noTexts = "no text of a robots.txt is there"
	}
	shut := Look{What: "search crawlers that are shut out of a site or of its busiest paths", Not: noTexts}
	switch {
	case f.searchers()[0] != &everyone:
	case f.judgesAll():
		shut.What = "sites and their busiest paths that are closed to crawlers that no group names"
	default:
		shut.What = "sites that are closed to crawlers that no group names, and to search crawlers"
	}
	if f.FromLog && !f.Dated {
		shut.Note = "by the text of today alone, as no older ones were given"
	}
	if f.Draft {
		shut.Note = "by the draft, which no crawler was sent"
	}
	knew := Look{What: "what these crawlers knew of robots.txt", Not: cmp.Or(noLog, noTime, noStatus, f.Unjudged)}
	if f.Unlike {
		knew.Note = "the answers in the log contradict this robots.txt, see the warnings"
	}
	return []Look{
		shut,
		{What: "texts that were not meant for the site", Not: noTexts},
		{What: "crawlers that fetched what is disallowed", Not: noLog},
		knew,
		{What: "requests spent on parameters, calendars, session ids and other URLs without end", Not: noLog, Note: f.unsized()},
		{What: "impostors", Not: cmp.Or(noLog, f.uncompared()), Note: f.partlyCompared()},
		{What: "errors and redirects", Not: cmp.Or(noLog, noStatus)},
		rest,
		{What: "changes of robots.txt", Not: cmp.Or(noDates, noTime)},
		{What: "a robots.txt that the server never sends", Not: noStatus},
		{What: "URLs of sitemaps that are closed to search crawlers or fail", Not: noSitemaps},
		{What: "rules without effect", Not: noTexts, Note: f.unmatched()},
	}
}

// uncompared says why the addresses of crawlers, or nearly all, could not be compared; "" if they could.
func (f *Facts) uncompared() string {
	switch {
	case !f.Addresses:
		return "there are no lists of addresses, with -ranges"
	case f.Stale > 9*f.Compared:
		return fmt.Sprintf("the lists of -ranges are of another time than %s of %s", show.Number(f.Stale), show.Plural(f.Stale+f.Compared, "request"))
	case f.Compared == 0 && f.Unlisted > 0:
		return "-ranges has no list of these crawlers, or their addresses tell nothing"
	}
	return ""
}

// partlyCompared says that the addresses of some could not be.
func (f *Facts) partlyCompared() string {
	if f.Stale == 0 {
		return ""
	}
	return fmt.Sprintf("not in %s, as the lists of -ranges are of another time", show.Plural(f.Stale, "request"))
}

// findingOf returns a list of one finding, or an empty one if it is below the limits: of so many requests that could be
// affected, and over a time.
func (f *Facts) findingOf(kind Kind, affected, of int64, from, to time.Time, text string) []Finding {
	l := &limits[kind]
	if affected < l.least || show.Share(affected, of) < l.share {
		return nil
	}
	days := max(0, timespan.Between(from, to).Days())
	one := Finding{Kind: kind, Text: text, Number: affected, Unit: "requests", score: (l.weight + l.days*days) * float64(affected)}
	if !from.IsZero() {
		one.When = f.when(from, to)
	}
	return []Finding{one}
}

// when says from when to when something lasted.
func (f *Facts) when(from, to time.Time) string {
	began, goesOn := timespan.Between(f.From, from) <= f.slack(), timespan.Between(to, f.To) <= f.slack()
	lasted := timespan.Between(from, to)
	isShort := lasted < 2*timespan.Day
	begin, end := moment(from, isShort), moment(to, isShort)
	switch {
	case began && goesOn:
		return "in the whole log of " + length(timespan.Between(f.From, f.To))
	case goesOn:
		return "since " + begin + ", for " + length(lasted)
	case from.Equal(to):
		return "at " + begin
	}
	return "from " + begin + " to " + end + ", " + length(lasted)
}

// minute is the layout of a moment.
const minute = "2006-01-02 15:04"

// moment names a time: with its hour, if that matters, or if it is not where a day begins, as for numbers by day.
func moment(at time.Time, withHour bool) string {
	if !withHour && at.Equal(at.Truncate(24*time.Hour)) {
		return at.Format(time.DateOnly)
	}
	return at.Format(minute)
}

// slack is how far from an end of the log something may begin or end that lasted to the end.
func (f *Facts) slack() timespan.Length { return max(timespan.Hour, timespan.Between(f.From, f.To)/50) }

// length says how long a time is.
func length(l timespan.Length) string {
	if hours := l.Hours(); hours < 48 {
		return show.Plural(int64(max(1, math.Round(hours))), "hour")
	}
	return show.Plural(int64(math.Round(l.Days())), "day")
}

// list names the first of some things, and says how many others there are.
func list(names []string, noun string) string {
	const most = 3
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return names[0]
	case n <= most:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	default:
		return strings.Join(names[:most-1], ", ") + " and " + show.Plural(int64(n-most+1), noun)
	}
}

// brief returns the beginning of a text that anyone may have written.
func brief(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
