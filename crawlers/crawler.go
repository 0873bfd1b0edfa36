// Package crawlers knows the crawlers of the web: the product token that each uses to look for its group
// in robots.txt, its name in the User-Agent header, and its operator's documentation of
// its habits.
//
// The table is data, crawlers.tsv, with a source for each row. It serves three questions: which crawlers are meant by a
// set such as "search" or "ai" ([Set]), which habits has the crawler of a product token ([Lookup]), and which crawler
// sent a User-Agent header ([Identify]). A header is the client's own claim: the package cannot detect impostors.
//
// It hides the table. Any package may import it; it imports none of this module.
package crawlers

import (
	_ "embed" // the tokens
	"slices"
	"strings"
)

// purposes are the reasons why crawlers fetch pages.
var purposes = []string{
	"search",       // a search engine's index
	"ai-training",  // text to train models with
	"ai-search",    // an index that a model answers from
	"ai-assistant", // a page that a person asks a model about
	"ads",          // the fitness of pages for advertisements
	"seo",          // audits and links, for whoever pays for them
	"social",       // previews of links that people share
	"feed",         // feeds that people subscribed to
	"archive",      // a copy of the web
	other,          // none of these
}

// other is the purpose of crawlers that have no other.
const other = "other"

// A Crawler is a row of the table. Its slices are shared and must not be changed.
type Crawler struct {
	Token    string   // the product token, as in "User-agent: Googlebot"
	Operator string   // who runs it
	Purposes []string // its reasons to fetch pages, as in "ai-training"; at least one
	Names    []string // its names in the User-Agent header; none if the token is a switch that nothing fetches by

	AliasOf     string // the crawler that sends this token, too: in each dialect it obeys that one's group if it has none of its own; "" means none
	Fallback    string // the token whose group it obeys if it has none of its own; "" means none
	IgnoresStar bool   // it does not heed groups for "*"
	Unbound     bool   // its operator says that robots.txt need not bind it, as a person asked for the page or it looks for abuse
	Unstated    bool   // its operator does not say that robots.txt binds all of its requests

	Ranges []Range  // the lists of addresses that its operator publishes; none: it publishes none that is known
	Hosts  []string // the ends of the names that its addresses have in DNS, such as "googlebot.com"

	Source  string // URL of the operator's documentation
	Checked string // when the row was last compared with it, as in 2026-01-31; "" is not yet
}

// A Range is a list of addresses as its operator publishes it.
type Range struct {
	Name string // of the file without its ending, after the operator's where others use it: "anthropic/bots"
	URL  string // where it is published; "" if that is not known
}

// aiSet is the name of the set of all purposes that begin with "ai-".
const aiSet = "ai"

// allSet is the name of the set of all crawlers.
const allSet = "all"

// Sets returns the names of the sets: "all", "ai", and each purpose.
func Sets() []string { return append([]string{allSet, aiSet}, purposes...) }

// Set returns the crawlers of a set in the order of the table, or nil if there is none. The
// set "ai" joins "ai-training", "ai-search" and "ai-assistant"; "all" is all of the table.
// Tokens that are a switch are among them.
func Set(name string) []Crawler {
	var set []Crawler
	for _, c := range known.all {
		if c.in(name) {
			set = append(set, c)
		}
	}
	return set
}

// in reports whether the crawler is of the set.
func (c *Crawler) in(set string) bool {
	return set == allSet || slices.ContainsFunc(c.Purposes, func(p string) bool {
		return p == set || set == aiSet && strings.HasPrefix(p, aiSet+"-")
	})
}

// InheritsDelay reports whether its operator says that it heeds the Crawl-delay for "*" beside a group of its own. F. Dubut,
// a program manager of Bing, wrote in 2019: "If you create a section for Bingbot specifically, all the default directives will
// be ignored (except Crawl-Delay)". Quoted in
// https://thrivesearch.com/robots-txt-tip-from-bing-include-all-relevant-directives-if-you-have-a-bingbot-section/
func (c *Crawler) InheritsDelay() bool { return c.Token == "bingbot" }

// Lookup returns the crawler of a product token, in any case, and whether there is one.
func Lookup(token string) (Crawler, bool) {
	i, ok := known.byToken[strings.ToLower(token)]
	if !ok {
		return Crawler{}, false
	}
	return known.all[i], true
}

//go:embed retired.tsv
var retiredText string

// A Retired is a product token that its operator no longer uses.
type Retired struct {
	Token    string
	Operator string
	Now      []string // the tokens that the operator uses now
	Source   string   // URL of the operator's page that names those
	Checked  string   // when that was last looked at, as in 2026-01-31
}

// retired are the tokens of retired.tsv, by their lower case.
var retired = func() map[string]Retired {
	all := map[string]Retired{}
	for line := range strings.SplitSeq(retiredText, "\n") {
		f := strings.Split(line, "\t")
		if len(f) < 5 || strings.HasPrefix(line, "#") || f[0] == "token" {
			continue
		}
		all[strings.ToLower(f[0])] = Retired{f[0], f[1], strings.Split(f[2], ","), f[3], f[4]}
	}
	return all
}()

// LookupRetired returns the retired product token, in any case, and whether it is one. A crawler of [Add] does not
// count.
func LookupRetired(token string) (Retired, bool) {
	r, ok := retired[strings.ToLower(token)]
	if _, own := Lookup(token); own {
		return Retired{}, false
	}
	return r, ok
}
