package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/sitemaps"
	"github.com/robobatch/robobatch/robots"
)

// addSitemapURL counts a URL with its requests for the panel of sitemaps: with crawlers of the log only their
// requests, otherwise all. It skips the URLs of robots.txt, because sitemaps need not list them.
func (c *Counter) addSitemapURL(u *aggregate.URL) {
	if c.sitemaps == nil || string(u.Text[u.Prefix:u.PathEnd]) == robots.TxtPath {
		return
	}
	var requests, served, failed int64
	bad, good := int64(0), int64(0) // of search crawlers
	for i := range u.Requests {
		r := &u.Requests[i]
		if c.isOther(c.kinds.all[r.Kind].agent) || c.kinds.all[r.Kind].faked {
			continue
		}
		requests += r.Rows
		served += r.Served
		failed += r.Failed
		if c.fromLog && c.status >= 0 && c.searchesFor(c.kinds.all[r.Kind].agent) {
			good += r.Served
			bad += int64(r.Missing) + r.Rows - r.Served - r.Failed
		}
	}
	c.sitemaps.AddURL(u.Text, requests, served, failed)
	if bad > good {
		c.sitemaps.SetMissing(u.Text, bad)
	}
}

// CheckSitemaps evaluates the URLs of the store's sitemaps for the page, if there are any. Call it after Settle. each
// yields the URLs of the sitemap files again.
func (c *Counter) CheckSitemaps(files int, each func(add func(url []byte, name string, line int64) error) error) error {
	if c.sitemaps == nil {
		return nil
	}
	view, err := c.sitemaps.Check(c.store, c.fromLog, c.sitemapCrawlers(), each)
	if err != nil {
		return err
	}
	view.Files, view.Statuses = int64(files), c.hasStatuses()
	c.listed = view
	return nil
}

// sitemapCrawlers returns the crawlers for which sitemap URLs are evaluated: the requested ones or, with crawlers of
// the log, the busiest ones and Googlebot.
func (c *Counter) sitemapCrawlers() (all []sitemaps.Crawler) {
	if !c.fromLog {
		for _, name := range c.store.Options().Agents {
			all = append(all, sitemaps.Crawler{Name: name, Search: isSearch(name)})
		}
		return all
	}
	names := c.callers.Names()
	requests := make([]int64, len(names))
	var busy []int
	for a, name := range names[:min(len(names), len(c.classes))] {
		for _, n := range c.classes[a] {
			requests[a] += n
		}
		if a > 0 && name != engine.OtherNamed && requests[a] > 0 {
			busy = append(busy, a)
		}
	}
	slices.SortFunc(busy, func(a, b int) int {
		return cmp.Or(cmp.Compare(requests[b], requests[a]), strings.Compare(names[a], names[b]))
	})
	for _, a := range busy[:min(len(busy), sitemaps.MaxCrawlers)] {
		all = append(all, sitemaps.Crawler{Name: names[a], Search: isSearch(names[a])})
	}
	if google := (sitemaps.Crawler{Name: "Googlebot", Search: true}); !slices.Contains(all, google) {
		all = append(all, google)
	}
	return all
}

// isSearch reports whether a crawler fetches for a search engine.
func isSearch(name string) bool { return hasPurpose(name, "search") }

// hasPurpose reports whether the table of crawlers lists a purpose for a crawler.
func hasPurpose(name, purpose string) bool {
	token, _, _ := strings.Cut(name, "/")
	known, _ := crawlers.Lookup(token)
	return slices.Contains(known.Purposes, purpose)
}
