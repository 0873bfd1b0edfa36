package job

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
	"github.com/robobatch/robobatch/internal/cli"
)

// streams are those of the process.
var streams = console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}

// parse parses flags of the main job, and returns its plan.
func parse(t *testing.T, text string, plan func(g *given) (*plan, error)) (*plan, error) {
	t.Helper()
	g := new(given)
	c := g.command()
	p := &cli.Program{Name: "robobatch", Commands: []cli.Command{c.Command}}
	if err := p.Parse(&p.Commands[0], strings.Fields(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return plan(g)
}

// TestStopWhileLoading stops a run while it reads the rules.
func TestStopWhileLoading(t *testing.T) {
	const quickstart = "../../../../testdata/quickstart/"
	dir := t.TempDir()
	text := "-rules " + quickstart + "rules -in " + quickstart + "urls.zst -out " + filepath.Join(dir, "x.parquet") + " -progress off -quiet"
	p, err := parse(t, text, func(g *given) (*plan, error) { return g.newPlan(streams, cli.Faults{}) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newJob(p).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("run returns %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v left, %v", left, err)
	}
}

// TestFlagsOfBytes checks, for each flag of the main job, whether -resume makes complete outputs again when the flag
// changes. A new flag must be in one of the two lists.
func TestFlagsOfBytes(t *testing.T) {
	const lists = "../../../../crawlers/ranges/testdata"
	hosts := filepath.Join(t.TempDir(), "hosts.tsv")
	if err := os.WriteFile(hosts, []byte("45.90.1.7\tcrawl.googlebot.com\t45.90.1.7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	changes := map[string]string{ // arguments that are added to the base; those after a bar are also added to the base of the comparison
		"base": "-base https://a.example", "format": "-format csv", "field": "-field url=u",
		"keep": "-keep status", "client-at": "-client-at 1|-agent-from-log -ranges " + lists,
		"accept-damaged-rules": "-accept-damaged-rules", "limit": "-limit 5", "agent": "-agent Googlebot",
		"agent-from-log": "-agent-from-log", "cache": "-cache 1h|-agent-from-log -as-of log", "unknown-agents": "-unknown-agents skip|-agent-from-log",
		"crawlers": "-crawlers ../../../../crawlers/crawlers.tsv", // the known crawlers, because other tests run at the same time
		"dialect":  "-dialect rfc9309", "agent-chars": "-agent-chars extended", "yandex-empty-allow": "-yandex-empty-allow ignore|-dialect yandex",
		"as-of": "-as-of 2026-01-31", "missing": "-missing null", "url-as-is": "-url-as-is",
		"out-format": "-out-format csv", "columns": "-columns url", "layout": "-layout wide", "where": "-where bad", "rejects": "-rejects r/",
		"sort": "-sort origin", "csv": "-csv safe|-out-format csv",
		"compression": "-compression gzip", "level": "-level 3",
		"row-group": "-row-group 10",
		"ranges":    "-ranges " + lists + "|-agent-from-log", "ranges-age": "-ranges-age 36h|-agent-from-log -ranges " + lists,
		"in-sitemap": "-in-sitemap x", "hosts": "-hosts " + hosts + "|-agent-from-log",
	}
	same := strings.Fields(`in out rules origin stats max-rejects require-rules no-rows partition-by partition-mode
		on-error resume shard report what-if timezone workers max-memory progress quiet v version h`) // the rules have a hash, limits are judged again
	chosen := func(text string) series.Flags {
		t.Helper()
		p, err := parse(t, "-rules x -in y -out out/ "+text, func(g *given) (*plan, error) {
			p := &plan{rejects: g.rejects}
			return p, p.choose(g, streams, cli.Faults{})
		})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return p.series.flags
	}
	main := Command()
	for _, f := range main.Flags {
		sample, ok := changes[f.Name]
		if slices.Contains(same, f.Name) == ok {
			t.Errorf("-%s is in none of the lists, or in both", f.Name)
		}
		if !ok {
			continue
		}
		more, base, _ := strings.Cut(sample, "|")
		if names := chosen(base).Differ(chosen(base + " " + more)); len(names) == 0 {
			t.Errorf("-%s: outputs that are done stay", f.Name)
		}
	}
	for _, same := range []string{"-workers 1", "-max-memory 256MiB", "-shard 1/4", "-quiet", "-on-error skip", "-resume", "-missing allow"} {
		if names := chosen("").Differ(chosen(same)); len(names) > 0 {
			t.Errorf("%s: %q differ", same, names)
		}
	}
}
