// Package crawlers contains a table of web crawlers: the product token by which each finds its group in robots.txt,
// its name in the User-Agent header, and its habits as its operator documents them.
//
// The table is the file crawlers.tsv, with a source for each row. It answers three questions: which crawlers belong
// to a set such as "search" or "ai" ([Set]), which habits the crawler with a product token has ([Lookup]), and
// which crawler a User-Agent header names ([Identify]). A header is the client's own claim: the package cannot
// detect impostors.
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
	Operator string   // the company or person that runs it
	Purposes []string // why it fetches pages, such as "ai-training"; at least one
	Names    []string // its names in the User-Agent header; empty if the token is only a switch

	AliasOf     string // a crawler that also sends this token; without a group of its own, this one obeys that crawler's; "" if absent
	Fallback    string // the token whose group it obeys if it has no group of its own; "" if absent
	IgnoresStar bool   // it ignores groups for "*"
	Unbound     bool   // its operator says that robots.txt need not bind it: it acts for a person or looks for abuse
	Unstated    bool   // its operator does not say that robots.txt binds all of its requests

	Ranges []Range  // the address lists that its operator publishes; empty if none is known
	Hosts  []string // suffixes of the DNS names of its addresses, such as "googlebot.com"

	Source  string // URL of the operator's documentation
	Checked string // when the row was last compared with Source, such as 2026-01-31; "" if never
}

// A Range is an address list that an operator publishes.
type Range struct {
	Name string // file name without extension, after the operator's if others share it: "anthropic/bots"
	URL  string // where it is published; "" if unknown
}

// aiSet is the name of the set of all purposes that begin with "ai-".
const aiSet = "ai"

// allSet is the name of the set of all crawlers.
const allSet = "all"

// Sets returns the names of the sets: "all", "ai", and each purpose.
func Sets() []string { return append([]string{allSet, aiSet}, purposes...) }

// Set returns the crawlers of a set in the order of the table, or nil if the set is unknown. The set "ai" joins
// "ai-training", "ai-search" and "ai-assistant"; "all" is the whole table. The sets include tokens that are only
// switches.
func Set(name string) []Crawler {
	var set []Crawler
	for _, c := range known.all {
		if c.isIn(name) {
			set = append(set, c)
		}
	}
	return set
}

// isIn reports whether the crawler belongs to the set.
func (c *Crawler) isIn(set string) bool {
	return set == allSet || slices.ContainsFunc(c.Purposes, func(p string) bool {
		return p == set || set == aiSet && strings.HasPrefix(p, aiSet+"-")
	})
}

// InheritsDelay reports whether the crawler obeys the Crawl-delay for "*" even if it has a group of its own. F.
// Dubut, a program manager of Bing, wrote in 2019: "If you create a section for Bingbot specifically, all the
// default directives will be ignored (except Crawl-Delay)". Quoted in
// https://thrivesearch.com/robots-txt-tip-from-bing-include-all-relevant-directives-if-you-have-a-bingbot-section/
func (c *Crawler) InheritsDelay() bool { return c.Token == "bingbot" }

// Lookup returns the crawler with a product token, in any case, and whether there is one. The slices of the result are
// shared: do not change them.
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
	Source   string   // URL of the operator's page with these tokens
	Checked  string   // when that page was last read, such as 2026-01-31
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

// LookupRetired returns the retired product token, in any case, and whether it is one. The token of a crawler in the
// table or from [Add] is not retired.
func LookupRetired(token string) (Retired, bool) {
	r, ok := retired[strings.ToLower(token)]
	if _, own := Lookup(token); own {
		return Retired{}, false
	}
	return r, ok
}
