// Command robobatch decides for every URL of a log whether the robots.txt of its origin lets a
// crawler fetch it, and writes one row per URL to a table. Run robobatch -h for its flags.
//
// The table of commands is in commands.go. The packages below internal implement the commands: Plan checks the flags
// and finds the inputs, and returns a task, which main runs. Commands over logs share internal/pipeline, and all
// share the groups of flags in internal/flags. Errors of libraries get their remedies in internal/warning. Exit
// codes: 0 done, or standard output was closed by its reader; 1 a limit or requirement that a flag sets is not met
// (-max-rejects, -require-rules, -no-rows fail), or -on-error skip skipped inputs; 2 an error of usage, input or
// output, or a panic; 75 object storage or the network failed after retries; 129, 130, 131 and 143 after SIGHUP,
// SIGINT, SIGQUIT and SIGTERM.
//
// CONTRIBUTING.md has the steps that add a flag.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	_ "github.com/robobatch/robobatch/cmd/robobatch/internal/collector"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/storage"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe then returns an error instead
	os.Exit(run(os.Args[1:], console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// The exit codes, apart from those of a [process.SignalError].
const (
	exitDone      = 0
	exitPolicy    = 1 // a limit that was asked for is passed
	exitError     = 2
	exitTemporary = 75 // EX_TEMPFAIL: a store or the network failed after retries
)

// run runs the command and returns its exit code. It prints errors, and panics as errors, on std.Err.
func run(arguments []string, std console.Streams) int {
	title := ""
	err := panics.Catch(func() (err error) {
		title, err = start(arguments, std)
		return err
	})
	if p, ok := errors.AsType[*panics.Error](err); ok {
		text := "robobatch: " + strings.ReplaceAll(err.Error(), "\n", "\nrobobatch: ") + "\n"
		if slices.Contains(arguments, "-v") {
			text += p.Stack
		}
		io.WriteString(std.Err, msg.Printable(text)) //nolint:errcheck // there is nowhere left to say it
		return exitError
	}
	if err == nil || outputs.IsClosedPipe(err) {
		return exitDone
	}
	if errors.Is(err, errBare) {
		io.WriteString(std.Err, bareText) //nolint:errcheck // there is nowhere left to say it
		return exitError
	}
	report := "robobatch: " + strings.ReplaceAll(err.Error(), "\n", "\nrobobatch: ") + "\n"
	if _, ok := errors.AsType[*cli.UsageError](err); ok {
		report += "Run " + title + " -h for help.\n"
	}
	io.WriteString(std.Err, msg.Printable(report)) //nolint:errcheck // there is nowhere left to say it
	if i, ok := errors.AsType[*process.SignalError](err); ok {
		return i.ExitCode()
	}
	if storage.IsTemporary(err) {
		return exitTemporary
	}
	if outputs.IsPolicy(err) {
		return exitPolicy
	}
	return exitError
}

// start parses the flags, makes the plan and runs it. It passes the faults of the flags to the plan, which adds the
// faults of their values. title is the name of the command for messages about its flags, also after an error.
func start(arguments []string, std console.Streams) (title string, err error) {
	p, all := newProgram()
	title = p.Name
	if len(arguments) == 0 {
		return title, errBare
	}
	name := ""
	if len(arguments) > 1 && slices.Contains([]string{"-h", "--h", "-help", "--help"}, arguments[0]) && arguments[1] != "" {
		if p.Command(arguments[1]) != nil { // as in robobatch -h report
			arguments[0], arguments[1] = arguments[1], arguments[0]
		} else if text, err := p.HelpOn(arguments[1]); err == nil {
			return title, std.PrintOut(text)
		}
	}
	if !strings.HasPrefix(arguments[0], "-") {
		name, arguments = arguments[0], arguments[1:]
		if name == "help" {
			return title, help(p, arguments, std)
		}
		if name == "" || p.Command(name) == nil {
			return title, unknownCommand(p, name)
		}
	}
	c := &all[slices.IndexFunc(all, func(c flags.Command) bool { return c.Name == name })]
	title = p.Title(&c.Command)
	var faults cli.Faults
	switch err := p.Parse(&c.Command, arguments); {
	case errors.Is(err, cli.ErrHelp):
		return title, std.PrintOut(p.Help(&c.Command, errors.Is(err, cli.ErrHelpAll)))
	case errors.Is(err, cli.ErrInstead):
		return title, std.PrintOut("robobatch " + process.Version() + "\n")
	default:
		faults.Add("", err)
	}
	remedies := warning.Remedies{Logs: c.TakesLogs(), Packs: c.Packs, Keeps: c.Name == ""}
	t, err := c.Plan(std, faults)
	if c.Rules != nil {
		remedies.Origin = c.Rules.Origin
	}
	if err == nil {
		err = process.CheckAddresses()
	}
	if err == nil {
		err = process.Run(t)
	}
	return title, remedies.Add(err)
}

// errBare is the error of a call without arguments.
var errBare = errors.New("missing arguments")

// bareText is printed by a call without arguments.
const bareText = `robobatch decides for every URL of a log whether a crawler may fetch it. Three commands to try:

    robobatch -rules robots.txt -base https://www.example.com -in access.log
    robobatch explain -rules robots.txt -agent GPTBot https://www.example.com/shop/
    robobatch lint -rules robots.txt

The first decides each URL of a log, the second explains one verdict, and the third finds mistakes in a robots.txt.
robobatch -h prints the most important flags, and robobatch -h all prints all flags.
`

// help is the command help: it prints the help on the topic in arguments, or the general help without one.
func help(p *cli.Program, arguments []string, std console.Streams) error {
	if len(arguments) > 1 {
		return cli.Usage("unexpected argument %q: help takes one topic", arguments[1])
	}
	word := ""
	if len(arguments) == 1 && !strings.HasPrefix(arguments[0], "-") {
		word = arguments[0]
	}
	text, err := p.HelpOn(word)
	if err != nil {
		return err
	}
	return std.PrintOut(text)
}

// unknownCommand returns the error for a first argument that is not a command. It suggests a similar command, or -in
// if the argument is a file.
func unknownCommand(p *cli.Program, name string) error {
	known := slices.Sorted(slices.Values(p.Names()))
	err := fmt.Errorf("unknown command %q: use %s, or none to decide the URLs of a log", name, strings.Join(known, ", "))
	if info, statErr := os.Stat(name); statErr == nil && !info.IsDir() {
		return &cli.UsageError{Err: fmt.Errorf("%w; to read a log, use -in %s", err, msg.File(name))}
	}
	return &cli.UsageError{Err: cli.HintOrMeant(err, name, known, flags.CommandsMeant)}
}
