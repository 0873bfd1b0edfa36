package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
)

// TestFlagsOfBytes holds for each flag of the main job whether outputs that are done are done again
// when it changes. A new flag must be in one of the two lists.
func TestFlagsOfBytes(t *testing.T) {
	changes := map[string]string{ // what is added to the base, after a bar what the base has more
		"base": "-base https://a.example", "format": "-format csv", "url-field": "-url-field u", "url-column": "-url-column u",
		"host-field": "-host-field h", "ua-field": "-ua-field u|-agent-from-log", "time-field": "-time-field t|-as-of log", "keep": "-keep status",
		"verified-only": "-verified-only", "accept-damaged-rules": "-accept-damaged-rules", "limit": "-limit 5", "agent": "-agent Googlebot",
		"agent-from-log": "-agent-from-log", "cache": "-cache 1h|-agent-from-log -as-of log", "unknown-agents": "-unknown-agents skip|-agent-from-log",
		"crawlers": "-crawlers ../../crawlers/crawlers.tsv", // those that are known, as the other tests run beside this one
		"dialect":  "-dialect rfc9309", "agent-chars": "-agent-chars extended", "yandex-empty-allow": "-yandex-empty-allow ignore|-dialect yandex",
		"yandex-strict-blank": "-yandex-strict-blank|-dialect yandex", "as-of": "-as-of 2026-01-31", "missing": "-missing null", "url-as-is": "-url-as-is",
		"out-format": "-out-format csv", "columns": "-columns url", "layout": "-layout wide", "where": "-where bad", "rejects": "-rejects r/",
		"sort": "-sort origin", "csv-safe": "-csv-safe|-out-format csv", "csv-bom": "-csv-bom|-out-format csv",
		"csv-separator": "-csv-separator tab|-out-format csv", "compression": "-compression gzip", "level": "-level 3", "url-encoding": "-url-encoding plain",
		"row-group": "-row-group 10", "bloom": "-bloom url",
	}
	same := strings.Fields(`in out rules origin stats max-rejects require-rules require-rows allow-bad partition-by partition-mode
		on-error resume redo shard report what-if workers max-memory progress quiet v version h`) // the rules have a hash, limits are judged again
	chosen := func(text string) series.Flags {
		t.Helper()
		a := &args{}
		p := program(a)
		arguments := append(strings.Fields("-rules x -in y -out out/"), strings.Fields(text)...)
		if err := p.Parse(&p.Commands[0], arguments); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		plan := &plan{Console: console.Console{Streams: console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}}, rejects: a.rejects, rules: &load.Rules{}}
		if err := plan.choose(a); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return plan.series.flags
	}
	for _, f := range program(new(args)).Command("").Flags {
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
