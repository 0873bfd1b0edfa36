package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// dialects are the dialects in the order of the help.
var dialects = []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex}

// enumerated are the values of flags that take one of a few.
var enumerated = map[string][]string{
	"dialect":            dialectNames(),
	"format":             formatNames(),
	"agent-chars":        {"standard", "extended"},
	"yandex-empty-allow": {"disallow", "ignore"},
	"missing":            slices.Sorted(maps.Keys(missingNames)),
	"unknown-agents":     {unknownStar, unknownSkip},
	"layout":             {output.Long.String(), output.Wide.String()},
	"compression":        output.Compressions(),
	"sort":               {output.SortNone.String(), output.SortOrigin.String()},
	"progress":           {"auto", "bar", "plain", "off"},
	"out-format":         output.FormatNames(),
}

// listed are what can stand in flags that take several, separated by commas.
var listed = map[string][]string{
	"columns": output.Columns(),
	"where":   output.WhereKinds(),
	"bloom":   textColumns(),

	"partition-by": output.Partitions(),
	"agent":        agentWords(),
	"keep":         slices.Sorted(maps.Keys(ingest.FieldNames())),
}

func dialectNames() (names []string) {
	for _, d := range dialects {
		names = append(names, d.String())
	}
	return names
}

func formatNames() (names []string) {
	for _, f := range ingest.Formats() {
		names = append(names, f.String())
	}
	return names
}

// textColumns returns the columns that can have Bloom filters.
func textColumns() (names []string) {
	for _, name := range output.Columns() {
		if strings.HasSuffix(columnDocs[name].kind, "string") {
			names = append(names, name)
		}
	}
	return names
}

// agentWords returns the sets of crawlers, and their product tokens.
func agentWords() (words []string) {
	for _, set := range crawlers.Sets() {
		words = append(words, "@"+set)
	}
	for _, c := range crawlers.Set("all") {
		words = append(words, c.Token)
	}
	return words
}
