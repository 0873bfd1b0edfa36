package main

import (
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/coverage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/diff"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/expect"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/lint"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/progress"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/words"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// args are the flags as they were given. Each command sets those that it has.
type args struct {
	summary.Asked
	faults        cli.Faults // of the arguments, to which the plan adds those of the values
	rules, origin string
	acceptDamage  bool
	verifiedOnly  bool // of the job
	in            []string
	shard         string
	resume        bool
	redo          bool
	onError       string
	agents        []string
	crawlers      string
	out           string
	outFormat     string
	columns       string
	storage       storageForm
	stats         string
	rejects       string
	maxRejects    string
	requireRules  string
	requireRows   bool
	allowBad      bool
	urlColumn     string   // of pipe
	prefix        string   // of pipe
	pool          bool     // of pipe
	perStream     bool     // of pipe
	sitemaps      bool     // of rules
	rest          []string // arguments that are no flags
	print         string   // what is printed, of commands that answer people
	allRules      bool     // of explain, coverage
	fail          string   // of lint
	expect        string   // of check
	by            string   // of coverage
	baseline      string   // of lint
	writeBaseline string   // of lint
	old           string   // of diff
	oldAsOf       string   // of diff
	gates         []string // of diff
	whatIf        string   // of report
	page          string   // of the job, diff
	workers       int
	rounds        int // of bench
	maxMemory     string
	progress      string
	quiet         bool
	verbose       bool // of the job
}

// A set of commands, by bits. New commands get a bit, and stand in the sets of the flags that they
// share.
type commandSet uint16

const (
	forJob commandSet = 1 << iota
	forRules
	forCompile
	forPipe
	forBench
	forExplain
	forLint
	forCheck
	forDiff
	forMerge
	forCoverage
	forReport

	forAll      = forJob | forRules | forCompile | forPipe | forBench | forExplain | forLint | forCheck | forDiff | forCoverage | forReport
	forRuns     = forJob | forDiff | forCoverage | forReport                                              // those that take logs through the rules
	forLogs     = forRuns | forBench                                                                      // those that read logs
	forPacks    = forJob | forPipe | forBench | forExplain | forCheck | forDiff | forCoverage | forReport // those that take a pack
	forAnswers  = forJob | forPipe | forExplain | forCheck | forDiff | forCoverage | forReport            // those that answer with verdicts
	forProgress = forJob | forRules | forCompile | forDiff | forCoverage | forReport
)

// addCrawlers adds the crawlers of a file, before anybody looks for one.
func (a *args) addCrawlers(name string) (err error) {
	a.crawlers = name
	a.CrawlersHash, err = agents.AddCrawlers(name)
	return err
}

// splitKeep returns the Set of -keep, whose words stand in the record as they were written.
func splitKeep(to *[]string) func(string) error {
	return func(s string) error {
		*to = append(*to, strings.Split(s, ",")...)
		return nil
	}
}

// An entry is a line of the table of flags.
type entry struct {
	of commandSet
	cli.Flag
}

// flagsOf returns the flags of the commands in a set, in the order of the help. They set a.
func flagsOf(set commandSet, a *args) (flags []cli.Flag) {
	for _, section := range []struct {
		title   string
		entries []entry
	}{
		{"Input", rulesFlags(a)},
		{"Input", logFlags(a)},
		{"Question", agentFlags(a)},
		{"Question", questionFlags(a)},
		{"Output", answerFlags(a)},
		{"Output", outputFlags(a)},
		{"Output", streamFlags(a)},
		{"Output", limitFlags(a)},
		{"Output", storageFlags(a)},
		{"Run", seriesFlags(a)},
		{"Run", runFlags(a)},
	} {
		for _, e := range section.entries {
			if e.of&set != 0 {
				e.Section = section.title
				flags = append(flags, e.Flag)
			}
		}
	}
	return flags
}

//go:generate go test -count 1 -run TestFlagsDoc -update .

const (
	oneDirectory = "put all robots.txt into one directory"
	nameRules    = "name a directory of robots.txt files"
	namePack     = "name a pack of rules (robobatch compile makes one), or a directory of robots.txt files"
	nameLog      = "name a log of URLs, or - for standard input"
)

// rulesFlags are the flags that say which rules are read.
func rulesFlags(a *args) []entry {
	const (
		files = `
			The robots.txt files. A directory as robobatch takes it, a file of captures, or one
			robots.txt with -origin.`
		origin = `
			The origin of the one robots.txt that -rules names. Write it like
			https://www.example.com.`
		siteOfBase = " Default: the site of -base."
	)
	const before = `
		The rules before, to compare with. A directory, robots.txt, captures or pack, as for -rules.
		Default, with -old-as-of: those of -rules.`
	pack := cli.Flag{
		Name: "rules", Arg: "dir", Files: true, Needed: nameRules,
		Set: cli.Once(&a.rules, oneDirectory), Doc: `
			The robots.txt files. A directory of files named https_example.com.txt (for that
			origin), or example.com.txt or example.com/robots.txt (for http and https), or with
			captures (.warc, .jsonl); one such file; a pack of robobatch compile (.rbp), which is
			ready at once; or one robots.txt, with -origin. All may be objects of a store:
			s3://bucket/rules.rbp, or s3://bucket/rules/ for a directory.`,
	}
	piped, asked := pack, pack
	piped.Needed, asked.Needed = namePack, "" // explain can be asked for a code
	return []entry{
		{forDiff | forReport, cli.Flag{
			Name: "old", Arg: "dir", Files: true, Set: cli.Once(&a.old, oneDirectory), Doc: before,
		}},
		{forPacks &^ (forPipe | forExplain), pack},
		{forExplain, asked},
		{forPipe, piped},
		{forRules | forLint, cli.Flag{
			Name: "rules", Arg: "dir", Files: true, Needed: nameRules,
			Set: cli.Once(&a.rules, oneDirectory), Doc: files,
		}},
		{forCompile, cli.Flag{
			Name: "rules", Arg: "dir", Files: true, Needed: nameRules,
			Set: cli.Text(&a.rules), Doc: files,
		}},
		{forLogs | forExplain | forCheck, cli.Flag{
			Name: "origin", Arg: "url",
			Set: cli.Once(&a.origin, "one file is the robots.txt of one origin"), Doc: origin + siteOfBase,
		}},
		{forPipe, cli.Flag{
			Name: "origin", Arg: "url",
			Set: cli.Once(&a.origin, "one file is the robots.txt of one origin"), Doc: origin,
		}},
		{forCompile, cli.Flag{Name: "origin", Arg: "url", Set: cli.Text(&a.origin), Doc: origin}},
		{forRules | forLint, cli.Flag{
			Name: "origin", Arg: "url",
			Set: cli.Once(&a.origin, "leave it out to list all"), Doc: `
			List this origin only. If -rules names one robots.txt: the origin of that file.`,
		}},
		{forAll, cli.Flag{Name: "accept-damaged-rules", Set: cli.Bool(&a.acceptDamage), Doc: `
			Use what is left of damaged files of captures. By default it is an error if they end too
			early or have parts that cannot be unpacked, as nobody knows which rules are missing.`}},
	}
}

// logFlags are the flags that say which logs are read, and how.
func logFlags(a *args) []entry {
	in := cli.Flag{Name: "in", Arg: "log", Files: true, Needed: nameLog, Set: cli.Each(&a.in), Doc: `
		A log to read. It has a URL a line, or one of the formats below, compressed by zstd or
		gzip or not. A directory stands for all logs below it, by the ends of their names; a
		pattern such as 'logs/*.zst' for several, ** in it for any directories; @list.txt for a
		name a line; - is standard input. s3://bucket/key is an object of a store, s3://bucket/logs/
		a directory. May be repeated.`}
	maybe := in
	maybe.Needed = ""
	maybe.Doc += ` Default: none; paths made from the patterns of both sides are compared.`
	return []entry{
		{forLogs &^ forDiff, in},
		{forDiff, maybe},
		{forLogs, cli.Flag{
			Name: "format", Arg: "name", Values: words.Formats(), Default: "auto",
			Set: cli.Text(&a.Format), Doc: `
			Format of the logs. auto detects it from their first lines; the others are urls, combined
			(Apache, nginx), w3c (IIS), cloudfront, alb, json, csv, tsv, cdxj, parquet and warc.
			docs/FORMATS.md describes them.`,
		}},
		{forLogs, cli.Flag{Name: "base", Arg: "url", Set: cli.Text(&a.Base), Doc: `
			The site that the logs are of, if they have paths only. Write it like
			https://www.example.com.`}},
		{forExplain | forCheck, cli.Flag{Name: "base", Arg: "url", Set: cli.Text(&a.Base), Doc: `
			The site of URLs that are paths. Write it like https://www.example.com.`}},
		{forLogs, cli.Flag{Name: "url-field", Arg: "name", Set: cli.Text(&a.URLField), Doc: `
			The field with the URL, path or request, in formats that name their fields. In json it
			may be a path, as in request.uri.`}},
		{forLogs, cli.Flag{
			Name: "url-column", Arg: "name",
			Set: cli.Text(&a.URLField), Doc: "The same as -url-field, for tables.",
		}},
		{forPipe, cli.Flag{
			Name: "url-column", Arg: "name", Default: "url",
			Set: cli.Text(&a.urlColumn), Doc: `
			The column of the URLs. Its type is utf8, binary, a large or view form of them, or a
			dictionary of these.`,
		}},
		{forLogs, cli.Flag{
			Name: "host-field", Arg: "name",
			Set: cli.Text(&a.HostField), Doc: "The field with the host.",
		}},
		{forRuns, cli.Flag{
			Name: "ua-field", Arg: "name",
			Set: cli.Text(&a.UAField), Doc: "The field with the User-Agent.",
		}},
		{forLogs, cli.Flag{
			Name: "time-field", Arg: "name",
			Set: cli.Text(&a.TimeField), Doc: "The field with the time.",
		}},
		{forJob | forDiff, cli.Flag{
			Name: "keep", Arg: "fields", Values: words.Fields(), List: true,
			Set: splitKeep(&a.Keep), Doc: `
			Fields that become columns behind those of the verdicts. For example
			status,referer,time. A type may follow a name, as in price:float; the types are text,
			int, float, time and bool. May be repeated.`,
		}},
		{forRuns, cli.Flag{Name: "verified-only", Set: cli.Bool(&a.verifiedOnly), Doc: `
			Of a damaged log, keep only rows whose checksum was right. That is the checksum of the zstd
			frame or gzip member that they are in. Compressed logs are read twice; a pipe is stored in
			a temporary file.`}},
		{forLogs, cli.Flag{
			Name: "limit", Arg: "n", Default: "0",
			Set: cli.Int(&a.Limit), Doc: "Stop after n URLs. 0 reads all. With one output per input, after n of each.",
		}},
	}
}

// agentFlags are the flags that say for which crawlers is asked.
func agentFlags(a *args) []entry {
	const (
		sets = " @search, @ai and others name sets of known crawlers; @./list.txt is a file with a name " +
			"a line. May be repeated."
		star = " Default: *, a crawler that no group names."
	)
	return []entry{
		{forLogs &^ (forCoverage | forReport), cli.Flag{
			Name: "agent", Arg: "names", Values: words.Agents(), List: true,
			Set: cli.Words(&a.agents),
			Doc: "Crawlers to decide for, by product token. Commas separate them, and each " +
				"gives a row per URL." + sets + star,
		}},
		{forCoverage | forReport, cli.Flag{
			Name: "agent", Arg: "names", Values: words.Agents(), List: true,
			Set: cli.Words(&a.agents),
			Doc: "Crawlers to count for, by product token. Commas separate them, and a request counts " +
				"once for each." + sets + star,
		}},
		{forPipe, cli.Flag{
			Name: "agent", Arg: "names", Values: words.Agents(), List: true,
			Set: cli.Words(&a.agents),
			Doc: "Crawlers to decide for, by product token. Several give columns for each, as in " +
				"allowed_googlebot, and still one row." + sets + star,
		}},
		{forExplain, cli.Flag{
			Name: "agent", Arg: "names", Values: words.Agents(), List: true,
			Set: cli.Words(&a.agents),
			Doc: "Crawlers to answer for, by product token. Commas separate them." + sets + star,
		}},
		{forRules, cli.Flag{
			Name: "agent", Arg: "names", Values: words.Agents(), List: true,
			Set: cli.Words(&a.agents),
			Doc: "List only the rules that bind these crawlers. Commas separate them." + sets +
				" Default: every group.",
		}},
		{forLint, cli.Flag{
			Name: "agent", Arg: "names", Values: words.Agents(), List: true,
			Set: cli.Words(&a.agents),
			Doc: "Find only what concerns these crawlers. It stands in groups that bind them, or concerns the whole file, " +
				"such as names of crawlers that are misspelt. Commas separate them." + sets + " Default: every group.",
		}},
		{forAll &^ forCompile, cli.Flag{Name: "crawlers", Arg: "file", Set: a.addCrawlers, Doc: `
			A table of crawlers to know beside those of docs/AGENTS.md. Tabs separate its columns, and its first
			line names them: token must be there, and operator, purposes, names, habits may be.`}},
		{forJob, cli.Flag{Name: "agent-from-log", Set: cli.Bool(&a.AgentFromLog), Doc: `
			Decide each row for the crawler that its User-Agent names. It is known, or a group of the row's
			robots.txt names it. Adds the column violation.`}},
		{forDiff | forCoverage | forReport, cli.Flag{Name: "agent-from-log", Set: cli.Bool(&a.AgentFromLog), Doc: `
			Decide each row for the crawler that its User-Agent names. It is known, or a group of the row's
			robots.txt names it.`}},
		{forJob | forReport, cli.Flag{Name: "cache", Arg: "duration", Set: cli.Text(&a.Cache), Doc: `
			How long crawlers may use copies of a robots.txt, such as 90m. With -agent-from-log and
			-as-of log, violation is null where such a copy allows the URL. The max-age of a capture
			goes before it. 0: nobody has copies. Default: 24h.`}},
		{forRuns, cli.Flag{
			Name: "unknown-agents", Arg: "what", Values: words.UnknownAgents,
			Set: cli.Text(&a.UnknownAgents), Doc: `
			What -agent-from-log does with rows of other clients. star: only groups for * bind them.
			skip: they are left out. Default: star.`,
		}},
	}
}

// questionFlags are the flags that say what is asked, and how robots.txt is read.
func questionFlags(a *args) []entry {
	const (
		moment = "Use the captures that were in force at a moment. Write 2026-01-31T18:00:00Z, or " +
			"2026-01-31 for the start of that day in UTC."
		newest = " Default: the newest capture."
	)
	return []entry{
		{forAll, cli.Flag{
			Name: "dialect", Arg: "name", Values: robots.Dialects(), Default: "google",
			Set: cli.Text(&a.Dialect), Doc: `
			How to read robots.txt: rfc9309, google, google-2010 or yandex. robobatch help dialects
			tells how they differ.`,
		}},
		{forAll, cli.Flag{
			Name: "agent-chars", Arg: "set",
			Values: words.AgentChars, Default: "standard", Set: cli.Text(&a.AgentChars), Doc: `
			Characters that a crawler's name may have. standard: letters, - and _. extended: digits
			and dots, too.`,
		}},
		{forAll, cli.Flag{
			Name: "yandex-empty-allow", Arg: "what",
			Values: words.EmptyAllow, Default: "disallow", Set: cli.Text(&a.EmptyAllow), Doc: `
			What "Allow:" without a value does in the dialect yandex. disallow: it forbids all.
			ignore: nothing.`,
		}},
		{forAll, cli.Flag{
			Name: "yandex-strict-blank",
			Set:  cli.Bool(&a.StrictBlank), Doc: "Let an empty line end a section in the dialect yandex.",
		}},
		{forLogs, cli.Flag{
			Name: "as-of", Arg: "moment", Set: cli.Text(&a.AsOf),
			Doc: moment + " log: use for each row the captures in force at its own time." + newest,
		}},
		{forDiff | forReport, cli.Flag{
			Name: "old-as-of", Arg: "moment", Set: cli.Text(&a.oldAsOf),
			Doc: "The same for the rules before. Default: that of -as-of.",
		}},
		{forRules | forPipe | forExplain | forLint | forCheck, cli.Flag{
			Name: "as-of", Arg: "moment",
			Set: cli.Text(&a.AsOf), Doc: moment + newest,
		}},
		{forAnswers, cli.Flag{
			Name: "missing", Arg: "what", Values: words.Missing, Default: "allow",
			Set: cli.Text(&a.Missing), Doc: `
			The answer for an origin that has no robots.txt in -rules. One of allow, disallow and
			null.`,
		}},
		{forAnswers, cli.Flag{
			Name: "url-as-is",
			Set:  cli.Bool(&a.URLAsIs), Doc: "Match URLs byte for byte. Their escapes are not normalised.",
		}},
	}
}

// answerFlags are the flags of commands that answer people, and say what is printed.
func answerFlags(a *args) []entry {
	return []entry{
		{forExplain, cli.Flag{
			Name: "print", Arg: "form", Values: explainForms, Default: "text",
			Set: cli.Text(&a.print), Doc: `
			What is printed. text: lines for people. json: an object a line for each URL and crawler, as
			docs/explain.schema.json describes it.`,
		}},
		{forCheck, cli.Flag{Name: "expect", Arg: "file", Files: true, Needed: "name a file of lines such as: allow Googlebot /blog/", Set: cli.Text(&a.expect), Doc: `
			What is expected: a line for each, such as "disallow @ai /private/ rule=12". - is standard input.
			docs/CI.md describes it.`}},
		{forCheck, cli.Flag{
			Name: "print", Arg: "form", Values: expect.Forms, Default: "text",
			Set: cli.Text(&a.print), Doc: `
			What is printed. text: two lines for each expectation and crawler. json: an object a
			line, as docs/check.schema.json describes it. github: annotations of ten that failed,
			and the others for the summary of the step. junit.`,
		}},
		{forLint, cli.Flag{
			Name: "print", Arg: "form", Values: lint.Forms, Default: "text",
			Set: cli.Text(&a.print), Doc: `
			What is printed. text: for people; of many origins a table by code. json: an object a
			line, as docs/lint.schema.json describes it. sarif: SARIF 2.1.0 with the worst 5,000.
			github: annotations of the worst ten, and the others for the summary of the step. junit.`,
		}},
		{forCoverage, cli.Flag{
			Name: "print", Arg: "form", Values: coverage.Forms, Default: "text",
			Set: cli.Text(&a.print), Doc: `
			What is printed. text: tables for people. json: an object a line, the first about the log
			and one for each rule, as docs/coverage.schema.json describes them. markdown: for a
			comment. github: notices of rules that decided nothing, and the summary of the step.`,
		}},
		{forCoverage, cli.Flag{
			Name: "by", Arg: "key", Values: coverageBy, Set: cli.Text(&a.by),
			Doc: "What rules are counted by, apart from their file. agent: for each crawler by itself.",
		}},
		{forCoverage, cli.Flag{Name: "all", Set: cli.Bool(&a.allRules), Doc: `
			Print all rules. Otherwise 20 of those that decided, that only matched, and that did not.`}},
		{forCoverage, cli.Flag{Name: "out", Arg: "file", Files: true, Set: outputName(&a.out), Doc: `
			A file to write all rules to, as a table: x.parquet or x.jsonl (JSON Lines).
			docs/LOG.md has its columns.`}},
		{forLint, cli.Flag{Name: "out", Arg: "file", Files: true, Set: fileName(&a.out), Doc: `
			The file to write what is printed to. As text it has every finding. Default: standard
			output.`}},
		{forLint, cli.Flag{
			Name: "fail", Arg: "severity", Values: lint.Severities, Default: "error",
			Set: cli.Text(&a.fail), Doc: "Exit with code 1 for findings of this severity. Or of a worse one: error, warning, info.",
		}},
		{forLint, cli.Flag{Name: "baseline", Arg: "file", Files: true, Set: cli.Text(&a.baseline), Doc: `
			Leave out the findings that this file accepts. They are found again by their code and
			line, wherever that stands.`}},
		{forLint, cli.Flag{Name: "write-baseline", Arg: "file", Files: true, Set: fileName(&a.writeBaseline), Doc: `
			Accept all findings: write them to this file, for -baseline. The exit code is 0 then.`}},
		{forDiff, cli.Flag{
			Name: "print", Arg: "form", Values: diff.Forms, Default: "text",
			Set: cli.Text(&a.print), Doc: `
			What is printed. text: tables for people. json: one object, as docs/diff.schema.json
			describes it. markdown: for a comment on a pull request. github: annotations of gates
			that failed and of the rules to blame, and the summary of the step.`,
		}},
		{forDiff, cli.Flag{Name: "fail", Arg: "gates", Set: cli.Words(&a.gates), Doc: `
			Exit with code 1 if more changes. A gate is closed, opened, other_rule or changed, then
			perhaps a crawler or set, and a number or a share of the crawler's requests, as in
			closed=0.1%,closed:Googlebot=0,opened:@ai=0. May be repeated.`}},
		{forJob | forDiff, cli.Flag{Name: "report", Arg: "file", Files: true, Set: outputName(&a.page), Doc: `
			Write what the log says as one HTML page, too. x.html, as robobatch report writes it; what it
			counts has a quarter of -max-memory. docs/LOG.md describes the page.`}},
		{forReport | forJob | forDiff, cli.Flag{
			Name: "what-if", Arg: "how", Values: whatIfs, Default: "on", Set: cli.Text(&a.whatIf), Doc: `
			Whether the page of a report has the panel in which one edits a robots.txt. on: it does, where there is
			a text. off: it does not, and is smaller by 1 to 3 MB.`,
		}},
		{forExplain, cli.Flag{Name: "all", Set: cli.Bool(&a.allRules), Doc: `
			Print all rules that do not match. Otherwise only the ten nearest.`}},
	}
}

// outputFlags are the flags that say what is written.
func outputFlags(a *args) []entry {
	return []entry{
		{forJob, cli.Flag{Name: "out", Arg: "file", Files: true, Set: outputName(&a.out), Doc: `
			The file to write. x.parquet, x.arrow (Arrow IPC file), x.arrows (Arrow IPC stream),
			x.csv, x.tsv or x.jsonl (JSON Lines), these also with .zst or .gz behind; - is standard
			output; /dev/fd/3 and the like are that descriptor; s3://bucket/x.parquet is an object of a store
			(docs/CLUSTER.md). A name with / at its end is a directory: one
			output per input, in the directories that the inputs have, or with -partition-by one for all.
			Default: the name of the first log without
			.zst, .gz, .txt, .log, .urls and the like, plus .verdicts.parquet, in the working
			directory; stdin.verdicts.parquet for -in -.`}},
		{forRules, cli.Flag{Name: "sitemaps", Set: cli.Bool(&a.sitemaps), Doc: `
			Print only the sitemaps, and whether crawlers may fetch them. A line each has allowed,
			disallowed or unknown, the crawler, and the URL, with tabs between. unknown: the URL is
			none, or -rules has no robots.txt of its origin.`}},
		{forRules, cli.Flag{Name: "out", Arg: "file", Files: true, Set: outputName(&a.out), Doc: `
			The file to write. x.parquet or x.jsonl (JSON Lines); - is JSON Lines on standard
			output. Default: the name of the rules plus .rules.parquet, in the working directory.`}},
		{forMerge, cli.Flag{
			Name: "out", Arg: "dir", Files: true, Set: outputName(&a.out),
			Doc: "The directory of the outputs. Without the flag it is the first argument.",
		}},
		{forCompile, cli.Flag{Name: "out", Arg: "file", Files: true, Set: fileName(&a.out), Doc: `
			The pack to write, x.rbp. Default: the name of the rules plus .rbp, in the working
			directory.`}},
		{forReport, cli.Flag{Name: "out", Arg: "file", Files: true, Set: fileName(&a.out), Doc: `
			The page to write, x.html; - is standard output. Default: the name of the first log without
			.zst, .gz, .txt, .log, .urls and the like, plus .report.html, in the working directory.`}},
		{forDiff, cli.Flag{Name: "out", Arg: "file", Files: true, Set: outputName(&a.out), Doc: `
			The file to write the changed rows to. x.parquet, x.arrow, x.arrows, x.csv, x.tsv or
			x.jsonl, the last three also with .zst or .gz behind. Default: none.`}},
		{forJob | forDiff, cli.Flag{
			Name: "out-format", Arg: "name", Values: output.FormatNames(),
			Set: cli.Text(&a.outFormat), Doc: `
			Format of -out, if its name does not tell. One of parquet, arrow, arrows, csv, csv.zst,
			csv.gz, jsonl, jsonl.zst, jsonl.gz, tsv, tsv.zst and tsv.gz. Default: parquet, and arrows
			for -out - and other pipes.`,
		}},
		{forLogs &^ (forDiff | forCoverage | forReport), cli.Flag{
			Name: "columns", Arg: "list", Values: output.Columns(), List: true,
			Set: cli.Text(&a.columns), Doc: `
			The columns to write, in this order. Default:
			line,input,url,origin,agent,allowed,reason,rule_line,rule; canonical_url and violation
			are written only if they are named.`,
		}},
		{forPipe, cli.Flag{
			Name: "columns", Arg: "list", Values: output.VerdictColumns(), List: true,
			Set: cli.Text(&a.columns), Doc: `
			The columns to add, in this order. Default: origin,allowed,reason,rule_line,rule;
			canonical_url is added only if it is named, and so are reason and rule of several
			agents.`,
		}},
		{forJob, cli.Flag{
			Name: "layout", Arg: "how",
			Values: words.Layouts, Default: output.Long.String(), Set: cli.Text(&a.Layout), Doc: `
			Rows and columns of several agents. long: a row for each URL and agent. wide: a row per
			URL, with columns for each agent, such as allowed_googlebot,rule_line_googlebot, and
			reason and rule if -columns names them.`,
		}},
		{forJob, cli.Flag{
			Name: "where", Arg: "kinds", Values: output.WhereKinds(), List: true,
			Set: cli.Text(&a.Where), Doc: `
			Write only rows of these kinds. disallowed, allowed, violations (with -agent-from-log),
			bad (the URL is); several kinds, separated by commas, add up. A wide row counts for each
			of its agents. The summary counts all rows.`,
		}},
		{forJob, cli.Flag{
			Name: "stats", Arg: "file", Files: true,
			Set: outputName(&a.stats), Doc: "Write the summary as JSON, too. - is standard output.",
		}},
		{forJob, cli.Flag{Name: "rejects", Arg: "file", Files: true, Set: outputName(&a.rejects), Doc: `
			List rejected lines as JSON Lines. Those are the lines that were refused, and those
			whose URL is bad. With one output per input, a directory with / at its end.`}},
	}
}

// streamFlags are the flags that say how streams are answered.
func streamFlags(a *args) []entry {
	return []entry{
		{forPipe, cli.Flag{Name: "prefix", Arg: "text", Set: cli.Text(&a.prefix), Doc: `
			Text before the names of the added columns. For rows that have columns of the same
			names.`}},
		{forPipe, cli.Flag{Name: "pool", Set: cli.Bool(&a.pool), Doc: `
			Write no end mark behind a stream. For executable_pool of ClickHouse, which sends one
			stream after another and leaves the mark to be read as the beginning of the next answer.`}},
		{forPipe, cli.Flag{Name: "per-stream", Set: cli.Bool(&a.perStream), Doc: `
			Print the doubts of each stream when it has ended. The line behind them is
			"robobatch: end of stream 1", and so on. For a caller that keeps the program for several
			streams.`}},
	}
}

// limitFlags are the flags that say when a run must not pass.
func limitFlags(a *args) []entry {
	return []entry{
		{forJob, cli.Flag{Name: "max-rejects", Arg: "n", Set: cli.Text(&a.maxRejects), Doc: `
			Stop with exit code 1 if more lines are rejected: n, or n% of all.
			The rows before that are kept as x.partial.parquet.`}},
		{forJob, cli.Flag{Name: "require-rules", Arg: "share", Set: cli.NotEmpty(&a.requireRules, "write a share, such as 99%"), Doc: `
			End with exit code 1 if fewer rows have a robots.txt in -rules. The share is one such as
			99% of the rows with a URL. It is judged at the end, and all rows are kept as
			x.partial.parquet.`}},
		{forJob, cli.Flag{Name: "require-rows", Set: cli.Bool(&a.requireRows), Doc: `
			End with exit code 1 if the logs have no row. Without it that is a doubt.`}},
		{forJob, cli.Flag{Name: "allow-bad", Set: cli.Bool(&a.allowBad), Doc: `
			Take it as it is that no line of the logs gives a URL. Without it that ends with exit
			code 2, and the rows are kept as x.partial.parquet.`}},
		{forDiff, cli.Flag{Name: "max-rejects", Arg: "n", Set: cli.Text(&a.maxRejects), Doc: `
			Exit with code 1 if more lines of the logs are rejected. n lines, or n% of all.`}},
		{forDiff, cli.Flag{Name: "require-rules", Arg: "share", Set: cli.NotEmpty(&a.requireRules, "write a share, such as 99%"), Doc: `
			End with exit code 1 if fewer rows have a robots.txt in -rules. The share is one such as
			99% of the rows with a URL.`}},
		{forDiff, cli.Flag{Name: "require-rows", Set: cli.Bool(&a.requireRows), Doc: `
			End with exit code 1 if the logs have no row. Without it that is a doubt.`}},
		{forDiff, cli.Flag{Name: "allow-bad", Set: cli.Bool(&a.allowBad), Doc: `
			Take it as it is that no line of the logs gives a URL. Without it that ends with exit
			code 2.`}},
	}
}

// seriesFlags are the flags of a run with one output per input.
func seriesFlags(a *args) []entry {
	return []entry{
		{forJob, cli.Flag{
			Name: "on-error", Arg: "what", Values: onErrors, Default: "stop",
			Set: cli.Text(&a.onError), Doc: `
			What becomes of the run if an input cannot be read to its end. With one output per
			input. stop: it ends. skip: it goes on, lists the input in _failed.jsonl of -out, and
			ends with exit code 1.`,
		}},
		{forJob, cli.Flag{Name: "resume", Set: cli.Bool(&a.resume), Doc: `
			Do not do again what is done. With one output per input: an output stays if input, rules,
			flags and version are those that it was made with. If flags differ by which it would hold
			something else, that is an error. docs/CLUSTER.md has the details.`}},
		{forJob, cli.Flag{Name: "redo", Set: cli.Bool(&a.redo), Doc: `
			Have -resume make outputs anew that were made with other flags.`}},
		{forJob, cli.Flag{Name: "shard", Arg: "part", Set: cli.NotEmpty(&a.shard, "write 0/4, or auto"), Doc: `
			Do one of n parts of the inputs: i/n, i from 0. With one output per input. Parts have
			about as many bytes; no input is split. auto: as Slurm, Kubernetes, AWS Batch or Cloud
			Run number the task. robobatch merge adds the parts up.`}},
	}
}

// outputName returns the Set of a flag that names an output.
func outputName(to *string) func(string) error { return named(to, "name a file, or s3://") }

// fileName is outputName for an output that is always a file.
func fileName(to *string) func(string) error { return named(to, "name a file") }

// named returns the Set of a flag that names an output. remedy says which there are.
func named(to *string, remedy string) func(string) error {
	return func(name string) error {
		if scheme := place.Foreign(name); scheme != "" {
			return fmt.Errorf("%s is no place to write to: %s", scheme, remedy)
		}
		return cli.Text(to)(name)
	}
}

// storageFlags are the flags that say how rows are stored.
func storageFlags(a *args) []entry {
	return []entry{
		{forJob, cli.Flag{
			Name: "partition-by", Arg: "list", Values: output.Partitions(), List: true,
			Set: cli.Text(&a.storage.partitionBy), Doc: `
			Write a directory in the layout of Hive. As in
			out/agent=Googlebot/allowed=true/part-0.parquet, by one or more of origin, agent,
			allowed and date (the day in UTC of the log's time).`,
		}},
		{forJob, cli.Flag{
			Name: "partition-mode", Arg: "how", Values: output.PartitionModes(),
			Set: cli.Text(&a.storage.partitionMode), Doc: `
			What becomes of the output that a directory of -partition-by has already. replace: it
			goes, all of it. replace-partitions: partitions of which this run has rows are replaced,
			and all others stay. append: files are added to the partitions. Default: an error.`,
		}},
		{forJob, cli.Flag{
			Name: "sort", Arg: "order",
			Values: words.Sorts, Set: cli.Text(&a.storage.sort), Doc: `
			Order of the rows. none: as in the input. origin: by origin, and as in the input where
			it is the same. Default: none.`,
		}},
		{forJob | forDiff, cli.Flag{Name: "csv-safe", Set: cli.Bool(&a.storage.csvSafe), Doc: `
			Write an apostrophe before what spreadsheets would run, in CSV. Those are texts that begin
			with =, +, -, @, a tab or a carriage return; anyone may have put them into the log.`}},
		{forJob, cli.Flag{Name: "csv-bom", Set: cli.Bool(&a.storage.csvBOM), Doc: `
			Begin CSV with a byte order mark. Excel takes it for UTF-8 then.`}},
		{forJob, cli.Flag{
			Name: "csv-separator", Arg: "name", Values: output.Separators(),
			Set: cli.Text(&a.storage.csvSeparator), Doc: `
			What is between the fields of CSV. comma, semicolon, tab or bar, or the character
			itself. Default: comma; tab for .tsv.`,
		}},
		{forJob, cli.Flag{
			Name: "compression", Arg: "name", Values: output.Compressions(),
			Set: cli.Text(&a.storage.compression), Doc: `
			Compression of columns. zstd, snappy, gzip or none in Parquet, by default zstd; none,
			zstd or lz4 in Arrow, by default none.`,
		}},
		{forJob, cli.Flag{Name: "level", Arg: "n", Set: cli.Positive(&a.storage.level), Doc: `
			Level of the compression, in Parquet. 1 to 22 for zstd, by default 1; 1 to 9 for gzip,
			by default 6.`}},
		{forJob, cli.Flag{
			Name: "url-encoding", Arg: "name", Values: output.TextEncodings(),
			Set: cli.Text(&a.storage.urlEncoding), Doc: `
			Encoding of URLs and other texts that rarely repeat, in Parquet. auto: each page as it
			pays, DELTA_BYTE_ARRAY or PLAIN. plain: PLAIN, for readers that have no other. Default:
			auto.`,
		}},
		{forJob, cli.Flag{
			Name: "row-group", Arg: "n",
			Set: cli.Positive(&a.storage.rowGroup), Doc: "The most rows of a row group, in Parquet. Default: 524288.",
		}},
		{forJob, cli.Flag{
			Name: "bloom", Arg: "list", Values: words.TextColumns(), List: true,
			Set: cli.Text(&a.storage.bloom), Doc: `
			Columns of text that get Bloom filters, in Parquet. For example url,origin.`,
		}},
	}
}

// runFlags are the flags that say how a command runs.
func runFlags(a *args) []entry {
	const (
		mostMemory = `
			The memory that a run may take, such as 256MiB. A process holds at most a tenth
			more, and 16 MiB. Rules that do not fit are
			dropped, and loaded again where they are needed. Unless they are a pack already, they
			are first compiled into a temporary one `
		fewerWorkers = `Each worker needs some 15 MiB, 25 MiB in the
			wide layout; if there is no room, there are fewer workers, and a note. If there is
			none for one, the run does not start, and the error says what it needs: 64MiB, or
			128MiB for a report, and for a million origins 30 MiB more. `
		defaultMemory = `Default: 1280MiB for packs of more than 512 MiB,
			otherwise none.`
	)
	return []entry{
		{forAll &^ (forBench | forExplain | forCheck), cli.Flag{
			Name: "workers", Arg: "n", Default: "0",
			Set: cli.Int(&a.workers), Doc: `
			Goroutines that work. 0 is one per processor. The output does not depend on it.`,
		}},
		{forBench, cli.Flag{
			Name: "workers", Arg: "n", Default: "0",
			Set: cli.Int(&a.workers), Doc: "Goroutines that work. 0 measures one, and then one per processor.",
		}},
		{forBench, cli.Flag{Name: "rounds", Arg: "n", Default: "6", Set: cli.Int(&a.rounds), Doc: `
			How often each part is measured. benchstat needs 6 or more for a confidence interval.`}},
		{forJob, cli.Flag{
			Name: "max-memory", Arg: "size",
			Set: cli.NotEmpty(&a.maxMemory, memory.Remedy), Doc: mostMemory + `beside the output. The
			rows that -sort and -partition-by order take up to a quarter of it, and so do the
			dictionaries of an Arrow file, which grow with it: beyond that the run ends with an
			error, where Parquet and Arrow streams go on. ` + fewerWorkers + defaultMemory,
		}},
		{forDiff, cli.Flag{
			Name: "max-memory", Arg: "size",
			Set: cli.NotEmpty(&a.maxMemory, memory.Remedy), Doc: mostMemory + `in the directory for
			temporary files. A quarter, at most 256MiB, is for the URLs that changed: beyond that their
			distinct numbers are estimates, and marked. ` + fewerWorkers + defaultMemory,
		}},
		{forCoverage, cli.Flag{
			Name: "max-memory", Arg: "size",
			Set: cli.NotEmpty(&a.maxMemory, memory.Remedy), Doc: mostMemory + `beside the output. Half
			of it is for counts: beyond that numbers of URLs are estimates, and very many rules end the
			run with an error. ` + fewerWorkers + defaultMemory,
		}},
		{forReport, cli.Flag{
			Name: "max-memory", Arg: "size",
			Set: cli.NotEmpty(&a.maxMemory, memory.Remedy), Doc: mostMemory + `beside the output. Half
			of it is for counts: beyond that some numbers are estimates, and marked, and very many rules
			end the run with an error. ` + fewerWorkers + defaultMemory,
		}},
		{forPipe, cli.Flag{
			Name: "max-memory", Arg: "size",
			Set: cli.NotEmpty(&a.maxMemory, memory.Remedy), Doc: mostMemory + `in the directory for
			temporary files. ` + fewerWorkers + defaultMemory,
		}},
		{forProgress, cli.Flag{
			Name: "progress", Arg: "how",
			Values: progress.Names, Default: "auto", Set: cli.Text(&a.progress), Doc: `
			How progress is shown. bar; plain: lines; off; auto: a bar on a terminal, and lines
			elsewhere and where TERM=dumb says that the terminal cannot move its cursor. No terminal
			gets colours, whatever NO_COLOR says.`,
		}},
		{forAll&^forBench | forMerge, cli.Flag{Name: "quiet", Set: cli.Bool(&a.quiet), Doc: "Print errors and doubts only."}},
		{forJob | forMerge, cli.Flag{Name: "v", Set: cli.Bool(&a.verbose), Doc: `
			Print all of the summary. It has twelve lines otherwise: without reasons, lines of the logs,
			rules, rate and what is below the three agents and rules with the most rows.`}},
		{forJob, cli.Flag{Name: "version", Set: cli.Instead, Doc: "Print the version."}},
		{forAll | forMerge, cli.Flag{Name: "h", Set: cli.Help, Doc: "Print this help."}},
	}
}
