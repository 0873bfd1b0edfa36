package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// dialects are the dialects in the order of the help.
var dialects = []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex}

// The values of -unknown-agents.
const (
	unknownStar = "star"
	unknownSkip = "skip"
)

// The values of flags that take one of a few.
var (
	unknownAgentsNames = []string{unknownStar, unknownSkip}
	agentCharsNames    = []string{"standard", "extended"}
	emptyAllowNames    = []string{"disallow", "ignore"}
	layoutNames        = []string{output.Long.String(), output.Wide.String()}
	sortNames          = []string{output.SortNone.String(), output.SortOrigin.String()}
)

// missingNames are the values of -missing, in the order of [engine.Missing].
var missingNames = []string{engine.MissingAllow: "allow", engine.MissingDisallow: "disallow", engine.MissingUnknown: "null"}

// keepNames returns the fields that -keep knows.
func keepNames() []string { return slices.Sorted(maps.Keys(ingest.FieldNames())) }

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
