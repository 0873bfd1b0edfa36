package flags

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// The values of -unknown-agents.
const (
	Star = "star"
	Skip = "skip"
)

// Values of flags that accept a few words.
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

// AgentNames returns the names of the sets of crawlers, and all product tokens. Callers share the slice and must not
// modify it.
func AgentNames() []string { return loadAgentNames() }

var loadAgentNames = sync.OnceValue(func() (words []string) {
	for _, set := range crawlers.Sets() {
		words = append(words, "@"+set)
	}
	for _, c := range crawlers.Set("all") {
		words = append(words, c.Token)
	}
	return words
})

// KeptTypes are the types that -keep accepts.
var KeptTypes = map[string]engine.KeptKind{
	"text": engine.KeptText, "int": engine.KeptInt, "float": engine.KeptFloat, "time": engine.KeptTime, "bool": engine.KeptBool,
}

// WhereMeant maps other words that people use to the kinds of -where.
var WhereMeant = map[string]string{
	"blocked": "disallowed", "block": "disallowed", "denied": "disallowed", "deny": "disallowed", "forbidden": "disallowed",
	"permitted": "allowed", "crawlable": "allowed", "invalid": "bad", "errors": "bad", "rejects": "bad",
}

// CommandsMeant maps other words that people use to commands and flags.
var CommandsMeant = map[string]string{
	"version": "-version", "list": "rules", "lint": "rules", "check": "rules", "validate": "rules", "sitemaps": "rules -sitemaps",
	"build": "compile", "pack": "compile", "stream": "pipe", "arrow": "pipe", "measure": "bench",
}

// Topics are the help topics besides the commands.
var Topics = []cli.Topic{
	{Name: "formats", About: "formats of logs, rules and output", Text: formatsText},
	{Name: "fields", About: "names of fields of logs, by their roles", Text: fieldsText},
	{Name: "agents", About: "crawlers, and sets of them", Text: agentsText},
	{Name: "columns", About: "the columns of the output", Text: columnsText},
	{Name: "dialects", About: "ways to read robots.txt", Text: dialectsText},
}

// formatsText returns the text of the help topic formats.
func formatsText() string {
	var sb strings.Builder
	sb.WriteString("Formats of logs, for -format:\n\n")
	for _, f := range ingest.Formats() {
		fmt.Fprintf(&sb, "  %-11s %s\n", f, f.About())
	}
	sb.WriteString(`
Each may be compressed with zstd or gzip, which is detected. If rows have no host, name it with
-base. If the log does not use the usual field names, name a field with -field url=name. -keep
writes fields as columns; a type may follow the name, as in -keep status,price:float:
`)
	fmt.Fprintf(&sb, "%s.\n", strings.Join(keptTypeNames(), ", "))
	sb.WriteString(`
Formats of rules, for -rules:

  a directory of robots.txt files, named by origin or host; see robobatch -h
  .warc, .jsonl (also .gz, .zst)   captures of robots.txt, alone or in such a directory
  .rbp                             a pack that robobatch compile made

Formats of output, named by the end of -out or by -out-format:

`)
	for f, name := range output.FormatNames() {
		fmt.Fprintf(&sb, "  .%-10s %s\n", name, aboutOutputs[output.Format(f)])
	}
	sb.WriteString("  -           standard output: an Arrow IPC stream, unless -out-format says otherwise\n\nMore: docs/OUTPUT.md, docs/FORMATS.md, docs/CAPTURES.md.\n")
	return sb.String()
}

// fieldsText returns the text of the help topic fields.
func fieldsText() string {
	var sb strings.Builder
	sb.WriteString("Known field names, by role of -field and by the program that writes them.\n")
	role, producer := "", ""
	var names []string
	flush := func() {
		if len(names) > 0 {
			fmt.Fprintf(&sb, "  %s:\n%s", producer, wrap(names, "    "))
		}
		names = nil
	}
	for field := range ingest.KnownFields() {
		if field.Role != role || field.Producer != producer {
			flush()
			if field.Role != role {
				fmt.Fprintf(&sb, "\n%s\n", field.Role)
			}
			role, producer = field.Role, field.Producer
		}
		names = append(names, field.Name)
	}
	flush()
	sb.WriteString("\nMore: docs/FORMATS.md.\n")
	return sb.String()
}

// aboutOutputs describes the formats of output.
var aboutOutputs = map[output.Format]string{
	output.Parquet:     "Parquet, compressed with zstd",
	output.ArrowFile:   "Arrow IPC file",
	output.ArrowStream: "Arrow IPC stream",
	output.CSV:         "comma-separated values with a header row",
	output.CSVZstd:     "the same, compressed with zstd",
	output.CSVGzip:     "the same, compressed with gzip",
	output.JSONL:       "JSON Lines: one object per line",
	output.JSONLZstd:   "the same, compressed with zstd",
	output.JSONLGzip:   "the same, compressed with gzip",
	output.TSV:         "CSV with tabs instead of commas",
	output.TSVZstd:     "the same, compressed with zstd",
	output.TSVGzip:     "the same, compressed with gzip",
}

// keptTypeNames returns the types that -keep accepts, in the order of [engine.KeptKind].
func keptTypeNames() []string {
	byKind := func(a, b string) int { return cmp.Compare(KeptTypes[a], KeptTypes[b]) }
	return slices.SortedFunc(maps.Keys(KeptTypes), byKind)
}

// textWidth is the length of the lines of lists.
const textWidth = 100

// agentsText returns the text of the help topic agents.
func agentsText() string {
	var sb strings.Builder
	sb.WriteString(`-agent takes product tokens, the names that crawlers compare with "User-agent:", and sets of them:

    robobatch -rules robots/ -in urls.zst -agent Googlebot,bingbot -agent @ai
    robobatch -rules robots/ -in urls.zst -agent @./our-crawlers.txt -agent '*'

* is a crawler without its own group. After @, a name with / or . is a file with one token per
line. With -agent-from-log each row is decided for the crawler that its User-Agent names.

Sets:
`)
	for _, set := range crawlers.Sets() {
		members := crawlers.Set(set)
		fmt.Fprintf(&sb, "\n  @%s (%d)\n", set, len(members))
		if set == "all" || set == "ai" {
			continue // unions of the others
		}
		sb.WriteString(wrap(tokensOf(members), "      "))
	}
	sb.WriteString("\n@ai contains the three sets that begin with ai-, and @all all crawlers above.\nHabits, sources, and how to compare lists: docs/AGENTS.md.\n")
	return sb.String()
}

func tokensOf(all []crawlers.Crawler) (tokens []string) {
	for _, c := range all {
		tokens = append(tokens, c.Token)
	}
	return tokens
}

// wrap returns the words, separated by commas, in lines of up to textWidth bytes that begin with the margin.
func wrap(words []string, margin string) string {
	text := cli.Fill(strings.Join(words, ", "), textWidth-len(margin))
	return margin + strings.ReplaceAll(text, "\n", "\n"+margin) + "\n"
}

// A columnDoc is the help text for a column. TestColumnDocs checks that the columns of an output have one each.
type columnDoc struct{ kind, null, about string }

// columnDocs are the columns by name.
var columnDocs = map[string]columnDoc{
	"line":              {"int64", "", "line of the decompressed input, from 1"},
	"input":             {"dictionary string", "", "name of the input, - for standard input"},
	"url":               {"string", "line too long", "as read"},
	"origin":            {"dictionary string", "bad URL", "normalised, as in https://example.com"},
	"agent":             {"dictionary string", "", "the crawler that the verdict is for"},
	"allowed":           {"bool", "no verdict", "the verdict; bad URLs have none"},
	"reason":            {"dictionary string", "", "what decided: see below"},
	"rule_line":         {"int32", "no rule", "line of the deciding rule in robots.txt, from 1"},
	"rule":              {"dictionary string", "no rule", "that rule, as written"},
	output.CanonicalURL: {"string", "bad URL", "the URL without parameters of Clean-param"},
	output.Violation:    {"bool", "unknown", "the crawler requested a disallowed URL"},
	"binding":           {"dictionary string", "", "whether robots.txt binds the crawler"},
	"verified":          {"dictionary string", "unknown", "was it the crawler? yes, no, stale, unpublished"},
	"verified_by":       {"dictionary string", "not yes", "list and prefix, or host name, that verify it"},

	"content_usage":        {"dictionary string", "no line", "values of Content-Usage (a draft)"},
	"content_usage_line":   {"int32", "no line", "the first line that applies"},
	"content_signal":       {"dictionary string", "no line", "values of Content-Signal (a draft)"},
	"content_signal_line":  {"int32", "no line", "the first line that applies"},
	"license":              {"dictionary string", "none", "the first valid License"},
	"use_train_ai":         {"bool", "no preference", "by all drafts: may it train a model?"},
	"use_search":           {"bool", "no preference", "by both: may a search show it?"},
	"use_ai_input":         {"bool", "no preference", "by Content-Signal: may it be the input of an AI?"},
	"policy_train_ai":      {"bool", "no rule", "by groups for __usage_ai-training (a draft)"},
	"policy_train_ai_line": {"int32", "no rule", "the line of the rule that decides"},
	"in_sitemap":           {"bool", "bad URL", "whether a sitemap contains the URL"},
}

// wideText describes the columns per agent.
const wideText = `With -layout wide there is one row per line, and each agent has its own columns instead of agent:

  allowed_TOKEN, rule_line_TOKEN     as allowed and rule_line above
  reason_TOKEN, rule_TOKEN           as reason and rule; written only if -columns names these

TOKEN is the agent in lower case, with _ instead of other characters than letters and digits, so
that SQL accepts the names without quotes: allowed_googlebot_image. For * it is star. Agents that
would share a column are an error. In -columns, allowed, reason, rule_line and rule mean the
columns of all agents, in the order of -agent: with -agent '*,GPTBot', url,allowed,rule are url,
allowed_star, allowed_gptbot, rule_star and rule_gptbot.

-where writes only the rows with a verdict that it names; a wide row needs one agent with it.
`

// columnsText returns the text of the help topic columns.
func columnsText() string {
	var sb strings.Builder
	sb.WriteString("One row for each agent and input line, in input order. -columns selects and orders columns:\n\n")
	fmt.Fprintf(&sb, "  %-15s %-18s %-14s %s\n", "column", "type", "null", "meaning")
	usual := output.Long.DefaultColumns()
	for _, name := range output.Columns() {
		d := columnDocs[name]
		mark := ""
		if !slices.Contains(usual, name) {
			mark = " *"
		}
		fmt.Fprintf(&sb, "  %-15s %-18s %-14s %s\n", name+mark, d.kind, cmp.Or(d.null, "never"), d.about)
	}
	sb.WriteString("\n* only if named; violation also with -agent-from-log, verified and verified_by with -ranges,\nin_sitemap with -in-sitemap. Columns of -keep follow.\n\n" + wideText + "\nThe values of reason:\n\n")
	reasons := make([]string, 0, engine.NumReasons)
	for r := range engine.Reason(engine.NumReasons) {
		reasons = append(reasons, r.String())
	}
	sb.WriteString(wrap(reasons, "  ") + "\nMore: docs/OUTPUT.md; for the columns of robobatch rules, docs/RULES.md.\n")
	return sb.String()
}

// aboutDialects names the specification of each dialect.
var aboutDialects = map[string]string{
	"google":      "the default: Google's documentation since 2019, and its open parser",
	"rfc9309":     "RFC 9309, the standard",
	"google-2010": "Google's documentation before 2019, when there was no standard",
	"yandex":      "Yandex's documentation for webmasters",
}

// dialectsText returns the text of the help topic dialects.
func dialectsText() string {
	var sb strings.Builder
	sb.WriteString("-dialect selects the specification by which robots.txt is read:\n\n")
	for _, name := range robots.Dialects() {
		fmt.Fprintf(&sb, "  %-12s %s\n", name, aboutDialects[name])
	}
	sb.WriteString(`
The main differences:

  misspelt keys         google reads common ones; others ignore them
  rule without a value  in yandex the opposite of its key; no effect in others
  value without a /     google-2010 assumes one; yandex drops the rule; in others it matches nothing
  percent-encoding      rfc9309 normalises it in full; others only upper-case its digits
  wildcards             in google-2010 the precedence of rules with a * is undefined
  length of a rule      in bytes; yandex does not count * and a final $, google-2010 a final *
  /robots.txt itself    always allowed in rfc9309; like any URL in others
  server errors         yandex allows all URLs; others none, rfc9309 and google for 30 days
  habits of crawlers    such as ignoring *: applied in all but rfc9309

Options: -agent-chars for all dialects; -yandex-empty-allow for yandex.
All differences, with examples: docs/DIALECTS.md.
`)
	return sb.String()
}
