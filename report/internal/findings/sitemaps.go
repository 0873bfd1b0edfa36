package findings

import (
	"fmt"
	"time"

	"github.com/robobatch/robobatch/report/internal/show"
)

// Sitemaps are the URLs that sitemaps list.
type Sitemaps struct {
	Listed  int64
	Closed  int64 // to a search crawler
	Failing int64

	Origin, Rule string // the rule that closes most of them
	Line         int64  // 0 if no rule does
}

// offered finds URLs that sitemaps offer and robots.txt closes to search crawlers.
func offered(f *Facts) []Finding {
	s := f.Sitemaps
	if s == nil {
		return nil
	}
	text := fmt.Sprintf("Of %s in sitemaps, robots.txt disallows %s to one search crawler or more.", show.Plural(s.Listed, "URL"), show.Number(s.Closed))
	if s.Line > 0 {
		text += fmt.Sprintf(" Most by line %d of the robots.txt%s, %s.", s.Line, f.of(show.Text(s.Origin)), brief(s.Rule))
	}
	return f.ofSitemaps(Offered, s.Closed, text, "Take them out of the sitemap, or open them: search engines report such pages as errors.")
}

// offeredFailing finds URLs of sitemaps that fail.
func offeredFailing(f *Facts) []Finding {
	s := f.Sitemaps
	if s == nil {
		return nil
	}
	text := fmt.Sprintf("Sitemaps offer %s whose answers to crawlers are mostly errors (4xx, 5xx), of %s.", show.Plural(s.Failing, "URL"), show.Number(s.Listed))
	return f.ofSitemaps(OfferedFailing, s.Failing, text, "Repair these pages, or take them out of the sitemap.")
}

// ofSitemaps returns a finding about so many URLs of sitemaps.
func (f *Facts) ofSitemaps(kind Kind, urls int64, text, do string) []Finding {
	found := f.findingOf(kind, urls, f.Sitemaps.Listed, time.Time{}, time.Time{}, text)
	for i := range found {
		found[i].Unit, found[i].Link, found[i].Title, found[i].Do = "of the URLs of sitemaps", "sitemaps", "Sitemaps", do
	}
	return found
}
