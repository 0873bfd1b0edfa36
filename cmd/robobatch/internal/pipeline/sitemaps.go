package pipeline

import (
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/ingest/sitemapfiles"
	"github.com/robobatch/robobatch/robots"
)

// findSitemaps reads the sitemaps of -in-sitemap, if any, and sets what depends on them. If they exceed the memory
// limit, it still determines how much memory they need, so that Divide can suggest a sufficient limit.
func (p *Pipeline) findSitemaps(f *Flags) error {
	if len(f.Sitemaps.Paths) == 0 {
		return nil
	}
	opt := sitemapfiles.Options{Dialect: p.Now.Opt.Dialect, Window: p.Memory.Window}
	if p.Memory.Limit > 0 {
		opt.Most = p.Memory.SitemapRoom()
		p.Memory.SetLimit()
	}
	read, err := sitemapfiles.Read(f.Sitemaps.Paths, opt)
	if err != nil {
		return fmt.Errorf("-in-sitemap: %w", err)
	}
	p.Sitemaps, p.Memory.Sitemaps, p.Now.Opt.Sitemaps, p.Asked.SitemapsHash = read, read.Size, read.Set, read.Hash
	if site, err := robots.ParseOrigin(f.Logs.Base); err == nil && read.Set != nil {
		if origins := read.Set.Origins(); len(origins) > 0 && !slices.Contains(origins, site) {
			p.Hints = append(p.Hints, fmt.Sprintf("no URL in -in-sitemap is on %s, the site of -base; the first is on %s: http and https are different sites, and so are example.com and www.example.com", site, origins[0]))
		}
	}
	return nil
}

// sitemapWarnings maps sitemap problems to warnings, with the text before and after the number.
var sitemapWarnings = [...]struct {
	code                 warning.Code
	before, noun, behind string
}{
	sitemapfiles.Missing: {warning.MissingSitemaps, "not in the directory of the index that names them: ", "sitemap", ", not read: put them there, under the names in their URLs"},
	sitemapfiles.Unnamed: {warning.UnnamedSitemaps, "not named by the index of their directory: ", "sitemap", ", read, but perhaps unknown to crawlers"},
	sitemapfiles.Odd:     {warning.OddSitemaps, "invalid by the sitemap protocol: ", "fault", ", so crawlers may ignore URLs"},
	sitemapfiles.BadURL:  {warning.SitemapURLs, "skipped in sitemaps: ", "URL", ", which lack scheme or host, or are empty or too long"},
}

// WarnIndexes returns warnings about sitemap indexes among the logs. Call it after the logs are opened.
func (p *Pipeline) WarnIndexes() []warning.Warning {
	if p.Logs == nil {
		return nil
	}
	return warningsOf(p.Logs.SitemapNotes())
}

// warningsOf returns a warning about sitemaps for each note.
func warningsOf(notes []sitemapfiles.Note) (warnings []warning.Warning) {
	for _, n := range notes {
		d := &sitemapWarnings[n.Problem]
		text := d.before + msg.Count(n.Count, d.noun) + d.behind
		warnings = append(warnings, warning.Warning{Code: d.code, Text: text, Count: n.Count, Examples: n.First})
	}
	return warnings
}
