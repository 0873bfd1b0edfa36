// Package words lists the words that flags take, and explains them: dialects, formats, columns and
// crawlers. Help topics, completion and suggestions are made of it. Only cmd/robobatch imports it.
package words

import (
	"maps"
	"slices"
	"sync"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
)

// The values of -unknown-agents.
const (
	Star = "star"
	Skip = "skip"
)

// The values of flags that take one of a few.
var (
	UnknownAgents = []string{Star, Skip}
	AgentChars    = []string{"standard", "extended"}
	EmptyAllow    = []string{"disallow", "ignore"}
	Layouts       = []string{output.Long.String(), output.Wide.String()}
	Sorts         = []string{output.SortNone.String(), output.SortOrigin.String()}
)

// Missing are the values of -missing, in the order of [engine.Missing].
var Missing = []string{engine.MissingAllow: "allow", engine.MissingDisallow: "disallow", engine.MissingUnknown: "null"}

// Fields returns the fields that -keep knows.
func Fields() []string { return slices.Sorted(maps.Keys(ingest.FieldNames())) }

// Formats returns the names of the formats of logs.
func Formats() (names []string) {
	for _, f := range ingest.Formats() {
		names = append(names, f.String())
	}
	return names
}

// Agents returns the sets of crawlers, and their product tokens. The slice is shared: the flags of
// all commands have it.
func Agents() []string { return agents() }

var agents = sync.OnceValue(func() (words []string) {
	for _, set := range crawlers.Sets() {
		words = append(words, "@"+set)
	}
	for _, c := range crawlers.Set("all") {
		words = append(words, c.Token)
	}
	return words
})

// KeptTypes are the types that -keep can name.
var KeptTypes = map[string]engine.KeptKind{
	"text": engine.KeptText, "int": engine.KeptInt, "float": engine.KeptFloat, "time": engine.KeptTime, "bool": engine.KeptBool,
}

// WhereMeant are the kinds of -where by other words that people have for them.
var WhereMeant = map[string]string{
	"blocked": "disallowed", "block": "disallowed", "denied": "disallowed", "deny": "disallowed", "forbidden": "disallowed",
	"permitted": "allowed", "crawlable": "allowed", "invalid": "bad", "errors": "bad", "rejects": "bad",
}

// CommandsMeant are the commands and flags by other words that people have for them.
var CommandsMeant = map[string]string{
	"version": "-version", "list": "rules", "lint": "rules", "check": "rules", "validate": "rules", "sitemaps": "rules -sitemaps",
	"build": "compile", "pack": "compile", "stream": "pipe", "arrow": "pipe", "measure": "bench",
}
