package rules

import (
	"bufio"
	"context"
	"fmt"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/listings"
)

// A sitemapList implements the command rules with -sitemaps: it lists the sitemaps in robots.txt files, and whether the
// crawlers may fetch them.
type sitemapList struct {
	*listing
	store engine.StoreOptions
}

// Run prints a line for each sitemap and crawler: the answer, the crawler, and the URL as written, separated by tabs.
// The URL comes last because, unlike the others, it may contain a tab.
func (s *sitemapList) Run(ctx context.Context) error {
	store, err := engine.BuildStore(s.rules.Responses(ctx), s.store)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(s.Out)
	err = listings.List(ctx, s.rules.Files.Responses(), s.opt, func(listed *listings.Listing) error {
		if listed.Report == nil {
			return nil
		}
		for _, sitemap := range listed.Report.Sitemaps {
			for _, agent := range s.store.Agents {
				answer, err := store.Verdict(sitemap.URL, agent)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "%s\t%s\t%s\n", sitemapAnswers[answer.Access], msg.Printable(agent), msg.Printable(sitemap.URL))
			}
		}
		return nil
	})
	s.rules.Warn(&s.Console)
	s.WarnOnce(pipeline.WarnAgents(&s.store, store))
	if err != nil {
		return err
	}
	return console.OutError(out.Flush())
}

// sitemapAnswers are the words that are printed for an Access: "unknown" if the URL is invalid, or if the rules have
// no robots.txt for its origin.
var sitemapAnswers = [...]string{engine.Unknown: "unknown", engine.Denied: "disallowed", engine.Allowed: "allowed"}
