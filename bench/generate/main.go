// Command generate makes robots.txt files of many origins, and a log of their URLs, from real ones:
//
//	go run -C bench ./generate -origins 30000 -rules ../rules.jsonl.zst -urls 10000000 -order shuffled -frames 8 -out ../urls.zst
//
// -rules or -out can be omitted. The same flags and source tree give the same bytes. The input is testdata/quickstart
// of the source tree, or the larger collection next to it if that exists.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/robots"
)

func main() { tool.Main("generate", run) }

// run reads the flags, and writes the rules and the log that they name.
func run(_ context.Context, arguments []string) error {
	var spec madeup.Spec
	var order madeup.Order
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	spec.AddFlags(flags, 10_000_000)
	rules := flags.String("rules", "", "where to write their robots.txt: x.jsonl, x.jsonl.zst, or a directory")
	out := flags.String("out", "", "where to write the log: x.zst, or any other name for plain text")
	frames := flags.Int("frames", 1, "zstd frames of the log")
	crawlers := flags.Int("crawlers", 0, "write a table of requests of this many crawlers, with times; 0 writes a list of URLs")
	delay := flags.Int("crawl-delay", 0, "seconds of a Crawl-delay of all robots.txt for everybody; 0 is none but those that they have")
	flags.StringVar((*string)(&order), "order", string(madeup.Grouped), "of the URLs: grouped by origin, or shuffled")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	tokens, err := madeup.Crawlers(max(0, *crawlers))
	switch {
	case order != madeup.Grouped && order != madeup.Shuffled:
		return fmt.Errorf("unknown order %q: use grouped or shuffled", order)
	case flags.NArg() > 0 || *rules == "" && *out == "":
		return errors.New("name what to write by -rules, -out, or both")
	case *crawlers < 0 || *delay < 0:
		return errors.New("-crawlers, -crawl-delay: at least 0")
	case err != nil:
		return fmt.Errorf("-crawlers: %w", err)
	case *frames < 1:
		return errors.New("-frames: at least 1")
	case !strings.HasSuffix(*out, ".zst"):
		*frames = 0
	}
	base, err := corpus.Find(".")
	if err != nil {
		return err
	}
	g, err := madeup.New(base, spec)
	if err != nil {
		return err
	}
	if *rules != "" {
		err := madeup.WriteRules(*rules, func(yield func(robots.Response, error) bool) {
			for r, err := range g.Responses() {
				if *delay > 0 {
					r.Body = fmt.Appendf(r.Body, "\nUser-agent: *\nCrawl-delay: %d\n", *delay)
				}
				if !yield(r, err) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
	}
	if *out == "" {
		return nil
	}
	return madeup.WriteFile(*out, func(w io.Writer) error {
		if *crawlers > 0 {
			return g.WriteRequests(w, order, *frames, tokens)
		}
		return g.WriteLog(w, order, *frames)
	})
}
