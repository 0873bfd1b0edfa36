package main

import (
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/conduct"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/coverage"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/diff"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/explain"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/job"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/lint"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/page"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipe"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/rules"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
	"github.com/robobatch/robobatch/internal/cli"
)

// commands lists all commands except help, with the main job first.
var commands = []func() flags.Command{
	job.Command,
	explain.Command,
	lint.Command,
	explain.CheckCommand,
	diff.Command,
	page.Command,
	coverage.Command,
	rules.CensusCommand,
	conduct.Command,
	rules.Command,
	rules.CompileCommand,
	pipe.Command,
	series.MergeCommand,
	series.CheckCommand,
	job.BenchCommand,
}

// tasks are the headings that group the commands in the help.
var tasks = map[string]string{"explain": "One robots.txt", "report": "A log", "rules": "Many sites, and large logs"}

// gone lists flags of the previous version and their replacements, see [cli.Program].
var gone = map[string]string{
	"conduct shard": onePass, "parts": onePass, "conduct merge": onePass,

	"csv-safe": "use -csv safe", "csv-bom": "use -csv bom", "csv-separator": "use -csv, as in -csv semicolon",
	"require-rows": "use -no-rows fail", "allow-bad": "use -no-rows allow", "redo": "use -resume=redo", "url-column": "use -field url=name",
	"url-field": "use -field url=name", "host-field": "use -field host=name", "ua-field": "use -field agent=name",
	"time-field": "use -field time=name", "client-field": "use -field client=name, and -client-at n if it has several addresses",

	"bloom":        "use -sort origin: readers then skip row groups by the minimum and maximum of a column",
	"url-encoding": "write -out x.csv or x.arrows for readers that do not know DELTA_BYTE_ARRAY",

	"write-baseline": "use -approve", "old-as-of": "use -old with a date or time",

	"intact-only": unverified, "verified-only": unverified,
}

const unverified = "use only the rows before the line that the error and -stats name: no checksum has verified the later ones"

const onePass = "conduct reads all logs in one run: name them with -in"

//go:generate go test -count 1 -run TestFlagsDoc -update .

// newProgram returns the program and its commands, in the order of commands. Both are for one call of the program,
// because parsing sets variables of their flags.
func newProgram() (*cli.Program, []flags.Command) {
	p := &cli.Program{
		Name: "robobatch", About: "decide for every URL of a log whether a crawler may fetch it",
		Version: process.Version(), Date: process.Day(), Topics: flags.Topics, Intro: flagsIntro,
		Gone: gone,
	}
	all := make([]flags.Command, len(commands))
	for i, newCommand := range commands {
		c := newCommand()
		c.Task = tasks[c.Name]
		if c.Unexpected == nil {
			c.Unexpected = func(argument string) string {
				switch {
				case c.OneRule && c.Rules.Path == "" && c.Name == "diff":
					return "use -old for the previous robots.txt, and -rules for the new one, for example: -old " + msg.File(argument) + " -rules new.txt"
				case c.OneRule && c.Rules.Path == "" && takesLogs(&c):
					return fmt.Sprintf("use -rules %[1]s if it is a robots.txt, or -in %[1]s if it is a log", msg.File(argument))
				case c.OneRule && c.Rules.Path == "":
					return "use -rules " + msg.File(argument)
				case c.Name != "" && takesLogs(&c):
					return "every log needs its own -in, for example: -in " + msg.File(argument)
				case c.Name != "":
					return fmt.Sprintf("%s accepts only flags: see robobatch %s -h", c.Name, c.Name)
				case argument == "help" || argument != "" && p.Command(argument) != nil:
					return fmt.Sprintf("put the command before all flags, as in robobatch %s -h", argument)
				}
				return "every log needs its own -in; quote a pattern so that the shell does not expand it: -in a.zst -in 'b*.zst'"
			}
		}
		if h := slices.IndexFunc(c.Flags, func(f cli.Flag) bool { return f.Name == "h" }); !slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Name == "v" }) && h >= 0 {
			c.Flags = slices.Insert(slices.Clone(c.Flags), h, flags.StackFlag(c.Flags[h].Section))
		}
		all[i] = c
		p.Commands = append(p.Commands, c.Command)
	}
	return p, all
}

// takesLogs reports whether a command has the flag -in.
func takesLogs(c *flags.Command) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Name == "in" })
}

// flagsIntro is the beginning of docs/FLAGS.md.
const flagsIntro = `
Made from the flags of the commands in ` + "`cmd/robobatch/internal`" + ` by ` + "`go generate ./cmd/robobatch`" + `: do not edit.

Write ` + "`-name value`, `-name=value`" + ` or two dashes; a command comes before all flags.
` + "`robobatch -h`" + ` prints the most important flags, ` + "`robobatch -h all`" + ` all of them, and ` + "`robobatch rules -h`" + `
those of one command; ` + "`robobatch help man`" + ` prints a man page, and ` + "`robobatch help bash`, `zsh` or `fish`" + ` completion.
The commands that have a flag are listed after it. Exit codes are in [FAILURES.md](FAILURES.md).`
