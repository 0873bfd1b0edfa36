// Command generate makes robots.txt files of many origins, and a log of their URLs, from real ones:
//
//	go run -C bench ./generate -origins 30000 -rules ../rules.jsonl.zst -urls 10000000 -order shuffled -frames 8 -out ../urls.zst
//
// -rules or -out can be omitted. The same flags and source tree give the same bytes. The input is testdata/quickstart
// of the source tree, or the larger collection next to it if that exists.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/robots"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(2)
	}
}

// A request has the values of the flags.
type request struct {
	spec   madeup.Spec
	rules  string
	out    string
	order  madeup.Order
	frames int

	crawlers int // 0 means that the log is a list of URLs
	delay    int // seconds
}

func parse(arguments []string) (r request, err error) {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	r.spec.AddFlags(flags, 10_000_000)
	flags.StringVar(&r.rules, "rules", "", "where to write their robots.txt: x.jsonl, x.jsonl.zst, or a directory")
	flags.StringVar(&r.out, "out", "", "where to write the log: x.zst, or any other name for plain text")
	flags.IntVar(&r.frames, "frames", 1, "zstd frames of the log")
	flags.IntVar(&r.crawlers, "crawlers", 0, "write a table of requests of this many crawlers, with times; 0 writes a list of URLs")
	flags.IntVar(&r.delay, "crawl-delay", 0, "seconds of a Crawl-delay of all robots.txt for everybody; 0 is none but those that they have")
	flags.StringVar((*string)(&r.order), "order", string(madeup.Grouped), "of the URLs: grouped by origin, or shuffled")
	if err := flags.Parse(arguments); err != nil {
		return r, err
	}
	if r.order != madeup.Grouped && r.order != madeup.Shuffled {
		return r, fmt.Errorf("unknown order %q: use grouped or shuffled", r.order)
	}
	if flags.NArg() > 0 || r.rules == "" && r.out == "" {
		return r, errors.New("name what to write by -rules, -out, or both")
	}
	if r.crawlers < 0 || r.delay < 0 {
		return r, errors.New("-crawlers, -crawl-delay: at least 0")
	}
	if err := madeup.CheckCrawlers(r.crawlers); err != nil {
		return r, fmt.Errorf("-crawlers: %w", err)
	}
	if r.frames < 1 {
		return r, errors.New("-frames: at least 1")
	}
	if !strings.HasSuffix(r.out, ".zst") {
		r.frames = 0
	}
	return r, nil
}

func run(arguments []string) error {
	r, err := parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	base, err := corpus.Find(".")
	if err != nil {
		return err
	}
	g, err := madeup.New(base, r.spec)
	if err != nil {
		return err
	}
	if r.rules != "" {
		if err := madeup.WriteRules(r.rules, r.withDelay(g.Responses())); err != nil {
			return err
		}
	}
	if r.out == "" {
		return nil
	}
	return madeup.WriteFile(r.out, func(w io.Writer) error {
		if r.crawlers > 0 {
			return g.WriteRequests(w, r.order, r.frames, r.crawlers)
		}
		return g.WriteLog(w, r.order, r.frames)
	})
}

// withDelay adds a Crawl-delay to all robots.txt files.
func (r *request) withDelay(all iter.Seq2[robots.Response, error]) iter.Seq2[robots.Response, error] {
	if r.delay == 0 {
		return all
	}
	group := fmt.Sprintf("\nUser-agent: *\nCrawl-delay: %d\n", r.delay)
	return func(yield func(robots.Response, error) bool) {
		for response, err := range all {
			response.Body = append(response.Body[:len(response.Body):len(response.Body)], group...)
			if !yield(response, err) {
				return
			}
		}
	}
}
