package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/words"
	"github.com/robobatch/robobatch/internal/cli"
)

// A command is what robobatch does under a name. Its plan checks the flags and finds the inputs; it
// writes nothing.
type command struct {
	set          commandSet // of itself alone
	name, about  string
	intro, rest  string
	takes        string // in place of arguments, for a message
	takesOneRule bool   // an argument may be meant as the value of -rules
	arguments    string // that it takes, in the synopsis; "" is none
	plan         func(a *args, std console.Streams) (guard.Task, error)
}

// commands are all but help, the main job first.
var commands = []command{
	{set: forJob, plan: planJob, intro: `
robobatch decides for every URL of a log whether robots.txt lets a crawler fetch it.

    robobatch -rules dir -in urls.zst

reads the URLs of urls.zst, one a line, finds the robots.txt of each URL's origin in dir, writes a row per URL to
urls.verdicts.parquet and prints a summary. It opens no network connection unless a name begins with s3://.`, rest: `
Exit codes: 0 done; 1 more rejects than -max-rejects allows, less than -require-rules or -require-rows ask for, or with
-on-error skip inputs that failed; 2 an error of usage, input or output; 129, 130, 131 and 143 after SIGHUP, SIGINT, SIGQUIT and SIGTERM. The output gets its name when it is complete. If a log turns out to be damaged, the
rows before the damage are kept as x.partial.parquet, and the exit code is 2.`},

	{
		set: forExplain, plan: planExplanation, name: "explain", about: "tell why a crawler may or may not fetch a URL",
		arguments: "URL...", intro: `
robobatch explain tells why a crawler may or may not fetch a URL.

    robobatch explain -rules robots.txt -agent Googlebot https://www.example.com/shop/

prints the verdict, the robots.txt that is in force, the group that binds the crawler, and the rules that match, the
first of which decides. Without arguments it reads URLs from standard input, one a line. A path is of the site of -base.
It opens no network connection unless a name begins with s3://.`,
	},

	{
		set: forCheck, plan: planChecking, name: "check", about: "tell whether robots.txt files do what is expected of them", takesOneRule: true,
		takes: "check takes flags only, see robobatch check -h", intro: `
robobatch check tells whether robots.txt files do what is expected of them.

    robobatch check -rules robots.txt -base https://www.example.com -expect robots.expect

reads lines such as "allow Googlebot /blog/" and "disallow @ai / rule=12", and prints for each whether it is so, and the
rule that decides. It opens no network connection unless a name begins with s3://.`, rest: `
Exit codes: 0 all is as expected; 1 it is not; 2 an error of usage or input.`,
	},

	{
		set: forDiff, plan: planDiffing, name: "diff", about: "tell what a new robots.txt changes, by a log or without", takesOneRule: true,
		takes: "diff takes flags only, see robobatch diff -h", intro: `
robobatch diff tells what new rules change: which requests of a log they close and open, for which crawlers, and which
rules are to blame.

    robobatch diff -old robots.txt -rules new.txt -base https://www.example.com -in access.log -agent-from-log

decides each request by both, for the crawler that made it, and prints the changes. -out writes the changed rows.
Without -in, paths made from the patterns of both sides take the place of a log. It opens no network connection unless
a name begins with s3://. docs/LOG.md describes it.`, rest: `
Exit codes: 0 done; 1 more changes than -fail allows, or less than -require-rules, -require-rows and -max-rejects ask for;
2 an error of usage, input or output.`,
	},

	{
		set: forLint, plan: planLinting, name: "lint", about: "tell what is wrong with robots.txt files, for people and for CI", takesOneRule: true,
		takes: "lint takes flags only, see robobatch lint -h", intro: `
robobatch lint tells what is wrong with robots.txt files, for people and for services of continuous integration.

    robobatch lint -rules robots.txt -origin https://www.example.com

prints each finding with its line, a severity and a remedy. robobatch explain and the code of a finding tell more. It
opens no network connection unless a name begins with s3://.`, rest: `
Exit codes: 0 no finding that -fail asks for; 1 there is one; 2 an error of usage, input or output.`,
	},

	{
		set: forCoverage, plan: planCoverage, name: "coverage", about: "tell which rules decide the requests of a log, and which never do", takesOneRule: true,
		takes: "coverage takes flags only, see robobatch coverage -h", intro: `
robobatch coverage tells which rules of robots.txt files decide the requests of a log, and which never do.

    robobatch coverage -rules robots.txt -base https://www.example.com -in access.log

prints for each rule how many requests and distinct URLs it decided, how many it matched while another rule decided, and
when last. What matches nothing in one log may be needed in another. docs/LOG.md tells more. It opens no network
connection unless a name begins with s3://.`,
	},

	{
		set: forReport, plan: planReport, name: "report", about: "write what a log says of its rules as one HTML page, to hand on", takesOneRule: true,
		takes: "report takes flags only, see robobatch report -h", intro: `
robobatch report writes what a log says of robots.txt files, and of crawlers, as one HTML page.

    robobatch report -rules robots.txt -base https://www.example.com -in access.log -agent-from-log

writes access.report.html. The page has crawlers and their violations, what each line of robots.txt decided, paths, times
and answers, and with -old what the rules changed. It needs no network and no other file. docs/LOG.md tells more. It
opens no network connection unless a name begins with s3://.`,
	},

	{
		set: forRules, plan: planListing, name: "rules", about: "list the rules, and what is wrong with them", takesOneRule: true,
		takes: "rules takes flags only, see robobatch rules -h", intro: `
robobatch rules lists what robots.txt files say, and what is wrong with them.

    robobatch rules -rules dir

writes a table to dir.rules.parquet, with a row for each group, rule, crawl delay, sitemap, host, clean-param and
diagnostic of each origin, its line, and status, time and size of the fetch. It opens no network connection unless a name begins with s3://.`,
	},

	{
		set: forCompile, plan: planCompilation, name: "compile", about: "compile rules into a pack, which -rules takes and which is ready at once",
		takesOneRule: true, takes: "compile takes flags only, see robobatch compile -h", intro: `
robobatch compile compiles robots.txt files into a pack: one file that robobatch -rules takes, and starts with at once.

    robobatch compile -rules dir

writes dir.rbp. The pack is for one dialect; any crawler and any moment can be asked for. It opens no network connection unless a name begins with s3://.
docs/LAKE.md says when to compile first.`,
	},

	{
		set: forPipe, plan: planPipe, name: "pipe", about: "add verdicts to an Arrow stream, for engines that call a program",
		takes: "pipe takes flags only, and rows on standard input: see robobatch pipe -h", intro: `
robobatch pipe adds verdicts to the rows of an Arrow IPC stream, for engines that send rows to a program and read them back.

    … | robobatch pipe -rules rules.rbp | …

reads a stream with a column url on standard input, and writes it to standard output with the same rows and columns, batch
by batch, and the columns of the verdicts behind them. It opens no network connection unless a name begins with s3://. docs/LAKE.md has examples.`, rest: `
Exit codes: 0 done, or standard output was closed; 2 an error of usage or input. The batches before a fault are written
then, and the stream has no end mark.`,
	},

	{
		set: forMerge, plan: planMerging, name: "merge", about: "add up the shards of a run, once all are done",
		arguments: "DIR STATS...", intro: `
robobatch merge adds up the shards of a run with one output per input.

    robobatch merge out/

reads what the shards wrote at their ends, out/_stats.0-of-4.json and so on, or the files of -stats that are named. It
checks that they are of one run, that none is missing, and that all outputs are there. It prints the summary of all, and
writes it to out/_SUCCESS. It opens no network connection unless a name begins with s3://.`, rest: `
Exit codes: 0 all outputs are complete; 1 inputs failed: they are listed, and there is no _SUCCESS; 2 an error of usage
or input, or the files are not those of one run.`,
	},

	{
		set: forBench, plan: planBench, name: "bench", about: "measure a run on your own rules and logs, for benchstat",
		takes: "bench takes flags only, see robobatch bench -h", intro: `
robobatch bench measures a run on your own rules and logs, and prints what benchstat reads.

    robobatch bench -rules dir -in urls.zst

prints, in several rounds, a line each for parsing the rules, compiling them, reading the logs and the whole run, with
processor time, rates, allocations and peak memory. For a pack it measures opening it, and the run loads its rules. It
writes to a temporary directory and opens no network connection unless a name begins with s3://.`,
	},
}

// program returns the command line. Its flags set a.
func program(a *args) *cli.Program {
	p := &cli.Program{
		Name: "robobatch", About: "decide for every URL of a log whether a crawler may fetch it",
		Version: version(), Date: builtOn(), Topics: words.Topics, Intro: flagsIntro,
	}
	for _, c := range commands {
		p.Commands = append(p.Commands, cli.Command{
			Name: c.name, About: c.about, Intro: c.intro, Rest: c.rest, Flags: flagsOf(c.set, a),
			Stray:     func(argument string) string { return c.stray(argument, a, p) },
			Arguments: c.arguments, Take: func(argument string) { a.rest = append(a.rest, argument) },
		})
	}
	return p
}

// stray says what to do about an argument that is no flag.
func (c *command) stray(argument string, a *args, p *cli.Program) string {
	switch {
	case c.takesOneRule && a.rules == "":
		return "use -rules " + say.File(argument)
	case c.name != "":
		return c.takes
	case argument == "help" || argument != "" && p.Command(argument) != nil:
		return fmt.Sprintf("a command comes before all flags, as in robobatch %s -h", argument)
	}
	return "every log needs its own -in; quote a pattern, so that the shell leaves it alone: -in a.zst -in 'b*.zst'"
}

// flagsIntro is the beginning of docs/FLAGS.md.
const flagsIntro = `
Made from the table in ` + "`cmd/robobatch/flags.go`" + ` by ` + "`go generate ./cmd/robobatch`" + `: do not edit.

A flag is written ` + "`-name value`, `-name=value`" + ` or with two dashes; a command comes before all flags.
` + "`robobatch -h`" + ` and ` + "`robobatch rules -h`" + ` print the same for one command.
` + "`robobatch help man`" + ` prints a man page, and ` + "`robobatch help bash`, `zsh` or `fish`" + ` completion.`

// The linker sets these in packages, which internal/dist makes: the version, as the module would have
// it, and the day of the commit.
var release, releaseDay string

// version returns the version of the release, or of the module that the command was built from, or
// "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case release != "":
		return release
	case !ok || info.Main.Version == "" || info.Main.Version == "(devel)":
		return "devel"
	}
	return info.Main.Version
}

// builtOn returns the day of the commit that the program was built from, if that is known.
func builtOn() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil || releaseDay != "" {
		return releaseDay
	}
	for _, s := range info.Settings {
		if day, _, ok := strings.Cut(s.Value, "T"); ok && s.Key == "vcs.time" {
			return day
		}
	}
	return ""
}
